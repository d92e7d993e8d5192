"""Schema migrations, oldest first."""
