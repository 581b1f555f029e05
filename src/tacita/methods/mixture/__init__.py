"""Several methods in one table, each for its own cells."""
