"""Unbiased rounding: every cell keeps its expected value."""
