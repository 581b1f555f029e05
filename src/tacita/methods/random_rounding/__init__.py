"""Sensitive cells rounded at random, the others moved by least squares."""
