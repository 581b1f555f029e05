"""Suppression: cells that are not published."""
