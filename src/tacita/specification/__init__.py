"""What the user specified: projects, their written form, and the problem that is compiled from them.

Imports: core, rules, attackers, problem, methods, tabulation, storage, formats, publication, verify.
"""
