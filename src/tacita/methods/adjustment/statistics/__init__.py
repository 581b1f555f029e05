"""Statistics that adjustments preserve."""
