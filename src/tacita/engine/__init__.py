"""What the methods share to find releases: nothing here judges one.

Imports: core, attackers, problem, solvers.
"""
