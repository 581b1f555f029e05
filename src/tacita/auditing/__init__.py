"""The attackers' problems, the verdicts on releases and their proofs, whatever method made them.

Imports: core, attackers, problem, solvers, verify.
"""
