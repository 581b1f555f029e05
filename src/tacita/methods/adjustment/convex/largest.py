"""The least largest change: ``min t : M x = 0, lower <= x <= upper, w |x| <= t``.

For a given ``t`` cells have the bounds ``-t / w`` and ``t / w`` besides their own, and a linear program says
how much off balance the equations stay at least. If it is not 0, its prices ``y`` prove that ``t`` is too
small (*Farkas*):

    h(t) = sum_i max { g_i x : x within its bounds for t } < 0,      g = M' y.

``h`` rises with ``t`` along straight pieces, and below its zero every ``t`` is too small. That zero is tried
next (*Newton*), hot from the last basis. The first ``t`` at which nothing is off balance is the least, and
the last prices, divided by the slope of ``h`` at its zero, prove it.
"""

from __future__ import annotations

import numpy as np

from tacita.core.errors import InfeasibleError, SolverError
from tacita.core.exact import Floats
from tacita.core.run import Run
from tacita.methods.adjustment.convex.boxed import NONE_WITHIN, Boxed, PricedPoint
from tacita.methods.adjustment.convex.moving import Moving
from tacita.solvers.highs import Ended

TRIES = 200
BALANCED = 1e-9
"""What may stay off balance, in parts of the changes that are forced."""


def by_largest(boxed: Boxed, run: Run) -> PricedPoint:
    """The adjustment whose dearest change is cheapest.

    Raises
    ------
    InfeasibleError
        There is none: prices prove it.
    StoppedError
        The time was over.
    SolverError
        No largest change came out as enough.
    """
    moving, proof = Moving(boxed, slack=True), np.zeros(boxed.equations)
    least = boxed.loss(boxed.resting)
    forced = float(np.abs(boxed.residual(boxed.resting)).sum())
    for _ in range(TRIES):
        lower, upper = _within(boxed, least)
        moving.set_room(moving.room(lower, upper))
        if moving.solve(run) is not Ended.OPTIMAL:
            raise SolverError("HiGHS found no solution of a program that always has one: report the table")
        if moving.off_balance() <= BALANCED * forced:
            return PricedPoint(moving.changes(), proof, moving.pivots)
        prices = moving.prices()
        further = _zero(boxed, prices, least)
        if further is None:
            if boxed.contradicted(prices):
                raise InfeasibleError(NONE_WITHIN)
            break
        least, slope = further
        proof = prices / slope
    raise SolverError("the least largest change was not found: try another formulation")


def _within(boxed: Boxed, most: float) -> tuple[Floats, Floats]:
    """Bounds of cells none of which costs more than ``most``."""
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(boxed.weight > 0.0, most / boxed.weight, np.inf)
    # The dearest of the forced changes is allowed, whatever rounding says.
    resting = boxed.resting
    return (
        np.minimum(np.maximum(boxed.lower, -room), resting),
        np.maximum(np.minimum(boxed.upper, room), resting),
    )


def _zero(boxed: Boxed, prices: Floats, least: float) -> tuple[float, float] | None:
    """The zero of ``h`` above ``least`` and the slope before it; None if there is none."""
    pull = boxed.pulls(prices)
    strength, weight = np.abs(pull), boxed.weight
    strength[strength <= 1e-12 * float(np.abs(prices).max(initial=0.0))] = 0.0
    cap = np.where(pull > 0.0, boxed.upper, -boxed.lower)
    heavy = (strength > 0.0) & (weight > 0.0)
    free = np.flatnonzero((strength > 0.0) & (weight == 0.0))
    grows = np.flatnonzero(heavy)
    grows = grows[weight[grows] * cap[grows] > least]
    order = grows[np.argsort(weight[grows] * cap[grows])]
    full = np.flatnonzero(heavy & (weight * np.where(heavy, cap, 0.0) <= least))
    turns, rates = weight[order] * cap[order], strength[order] / weight[order]
    height = float(
        (strength[free] * cap[free]).sum() + (strength[full] * cap[full]).sum() + rates.sum() * least
    )
    # Rates of the cells that still grow in each piece, which ends where the next of them is full.
    slopes = np.cumsum(rates[::-1])[::-1]
    starts = np.append(least, turns)[:-1]
    for start, turn, slope in zip(starts.tolist(), turns.tolist(), slopes.tolist(), strict=True):
        if height + slope * (turn - start) >= 0.0:
            return start - height / slope, slope
        height += slope * (turn - start)
    return None
