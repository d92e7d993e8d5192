"""SQL: the ledger, the audit log, what is in force, and who may call. The only package that builds SQL."""
