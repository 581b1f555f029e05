"""Intervals in place of numbers."""
