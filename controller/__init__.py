"""The core of the jackpot controller: pure domain, the Redis store, and the use cases over them."""
