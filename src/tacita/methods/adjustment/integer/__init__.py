"""Rounding of a solver's changes to integer steps that satisfy equations and bounds exactly."""
