"""Files of tables: one module for each format, and what they share to read numbers, codes and columns.

Imports: core, rules, attackers, problem, tabulation, storage, verify.
"""
