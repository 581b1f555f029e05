"""Six ways to a table."""
