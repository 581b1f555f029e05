"""The nouns: tables, levels, attackers, releases, and the exact numbers that they are made of; no solver.

Imports: nothing.
"""
