"""Runs weighed against each other."""
