"""Celery: what happens after the acknowledgement. Messages are hints; the work itself is in the journal."""
