"""Several steps in one call: a protected crosstab of records, and what each level of detail would hide.

Imports: core, rules, attackers, problem, tabulation, methods, auditing.
"""
