"""`make bench`: what the product can take, measured against its limits, its parts and a row-lock peer."""
