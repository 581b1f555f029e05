"""Suppression patterns of large tables: each requirement is met within a neighbourhood of its cell."""
