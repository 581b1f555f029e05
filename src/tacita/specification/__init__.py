"""What the user said: projects, their tables, rules and wishes, and the problem that they state.

Imports: core, rules, attackers, problem, methods, storage, formats, publication, verify.
"""
