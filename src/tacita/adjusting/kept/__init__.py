"""Statistics that adjustments keep."""
