"""From microdata to a table.

Imports: core.
"""
