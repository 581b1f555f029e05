"""Linear and integer programs, flows and networks: one file per solver.

Imports: core.
"""
