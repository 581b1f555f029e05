"""The search for releases of least loss, shared by the methods; the audit judges them.

Imports: core, attackers, problem, solvers, storage.
"""
