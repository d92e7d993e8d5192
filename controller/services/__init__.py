"""Use cases: load, decide, store. No SQL and no HTTP; what they need from those is a protocol."""
