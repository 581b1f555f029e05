"""Seven ways to a table."""
