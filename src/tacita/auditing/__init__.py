"""The attacker's problem, its verdicts and their proofs. Nothing here knows a method.

Imports: core, attackers, problem, solvers, verify.
"""
