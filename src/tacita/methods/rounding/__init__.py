"""Controlled rounding: bases that can protect, goals, and the search for the nearest table of multiples."""
