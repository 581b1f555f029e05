"""Convex adjustment in every norm, once the directions of sensitive cells are given.

Every formulation is a function from a :class:`~.convex_program.ConvexProgram` to a
:class:`~.convex_program.PrimalDualPoint`. It raises an ``InfeasibleError`` only where that is proven, a
``StoppedError`` when the time is over, and a ``SolverError`` where dual values prove neither a solution nor
that there is none.
"""
