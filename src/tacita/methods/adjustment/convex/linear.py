"""Least absolute changes as a linear program: ``min sum w |x| : M x = 0, lower <= x <= upper``.

A simplex judges reduced costs by an absolute tolerance, and weights of ``1 / value`` may be as small as that
tolerance. Hence *refinement*: with prices ``y`` of a first solution the same program is solved with the costs
``f (c - M' y)``, hot from the last basis, and the prices become ``y + y' / f``. What was a reduced cost
within the tolerance is one beyond it when ``f`` is large, until the loss and what the prices prove agree.
"""

from __future__ import annotations

import numpy as np

from tacita.core.errors import InfeasibleError, SolverError
from tacita.core.run import Run
from tacita.methods.adjustment.convex.boxed import NONE_WITHIN, Boxed, PricedPoint
from tacita.methods.adjustment.convex.moving import Moving
from tacita.solvers.highs import Ended

GAP = 1e-9
"""Gap at which refinement ends."""
WORST_GAP = 1e-6
"""Gap that is accepted when refinement comes to no smaller one."""
FINER = 2.0**13
REFINEMENTS = 5


def by_linear(boxed: Boxed, run: Run) -> PricedPoint:
    """The least sum of absolute changes.

    Raises
    ------
    InfeasibleError
        There is none: HiGHS or its prices prove it.
    StoppedError
        The time was over.
    SolverError
        The prices do not prove the loss.
    """
    moving = Moving(boxed)
    cost = boxed.weight[moving.cells]
    # A resting cell that has to move pays for that whatever else it does.
    factor = 1.0 / (float(cost.max(initial=0.0)) or 1.0)
    prices, best, best_gap = np.zeros(boxed.equations), None, np.inf
    for _ in range(REFINEMENTS):
        moving.set_costs((cost - moving.columns @ prices) * factor)
        if moving.solve(run) is Ended.INFEASIBLE:
            raise InfeasibleError(NONE_WITHIN)
        prices = prices + moving.prices() / factor
        x = moving.changes()
        value = boxed.loss(x)
        gap = (value - boxed.bound(x, prices)) / (value or 1.0)
        if gap < best_gap:
            best, best_gap = PricedPoint(x, prices, moving.pivots), gap
        if best_gap <= GAP:
            break
        factor *= FINER
    if best is None or best_gap > WORST_GAP:
        raise SolverError("the prices of HiGHS do not prove the loss it found: try another formulation")
    return best
