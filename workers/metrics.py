"""What the workers count. Gauges of state are read at scrape time by the API, which every node can do."""

from prometheus_client import Counter

DRAINED = Counter("jackpot_drained_entries_total", "Journal entries taken into the ledger", ["link"])
MISMATCHES = Counter(
    "jackpot_ledger_mismatches_total", "Journal batches that contradict the ledger", ["link"]
)
