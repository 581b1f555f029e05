"""Problems: a table with its levels, attackers and costs; and what releases of it lose.

Imports: core, rules, attackers.
"""
