"""Linear programs of an adjustment in moves of its cells, kept warm.

    min  sum c_j m_j      s.t.  M x = 0,   x = resting + rises - falls,   0 <= m <= room

``resting`` is the change nearest to none within the bounds. A cell that need not move can rise and fall; one
that has to move goes further only the way it went. All moves 0 is a basis, and with costs that are not
negative a dual feasible one: the dual simplex spends its pivots on the few equations that forced changes put
off balance.

Where an equation meets many cells that all cost about the same, in tables of three and more dimensions,
pivots multiply. Then an interior point with crossover takes over.

**Least absolute changes**, ``min sum w |x| : M x = 0, lower <= x <= upper``.

A simplex judges reduced costs by an absolute tolerance, and weights of ``1 / value`` may be as small as that
tolerance. Hence *refinement*: with prices ``y`` of a first solution the same program is solved with the costs
``f (c - M' y)``, hot from the last basis, and the prices become ``y + y' / f``. What was a reduced cost
within the tolerance is one beyond it when ``f`` is large, until the loss and what the prices prove agree.

**The least largest change**, ``min t : M x = 0, lower <= x <= upper, w |x| <= t``.

For a given ``t`` cells have the bounds ``-t / w`` and ``t / w`` besides their own, and a linear program says
how much off balance the equations stay at least. If it is not 0, its prices ``y`` prove that ``t`` is too
small (*Farkas*):

    h(t) = sum_i max { g_i x : x within its bounds for t } < 0,      g = M' y.

``h`` rises with ``t`` along straight pieces, and below its zero every ``t`` is too small. That zero is tried
next (*Newton*), hot from the last basis. The first ``t`` at which nothing is off balance is the least, and
the last prices, divided by the slope of ``h`` at its zero, prove it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tacita.core.errors import InfeasibleError, SolverError, StoppedError
from tacita.core.exact import Cells, Floats
from tacita.core.run import Run
from tacita.methods.adjustment.convex.boxed import NONE_WITHIN, Boxed, PricedPoint
from tacita.solvers.highs import Ended, Session
from tacita.solvers.linear_program import LinearProgram

PIVOTS = 2
"""Pivots per equation after which the simplex gives up. Tables with hierarchies in two dimensions need 0.1 to
1, cubes of 20 and 30 codes 6 and more, where the interior point takes a third and a tenth of the time."""
FEWEST_PIVOTS = 2000
"""Pivots that the simplex has in any case; in three and more dimensions it has no more."""
GAP = 1e-9
"""Gap at which refinement ends."""
WORST_GAP = 1e-6
"""Gap that is accepted when refinement comes to no smaller one."""
FINER = 2.0**13
REFINEMENTS = 5
TRIES = 200
BALANCED = 1e-9
"""What may stay off balance, in parts of the changes that are forced."""


class Moving:
    """The program of the moves of a task.

    Parameters
    ----------
    slack
        Every equation may stay off balance, at a cost of 1.
    """

    def __init__(self, boxed: Boxed, slack: bool = False) -> None:
        from scipy.sparse import eye_array, vstack

        self.boxed, self.slack, self.pivots = boxed, slack, 0
        resting = boxed.resting
        self.rising = np.flatnonzero((boxed.upper > resting) & (resting >= 0.0))
        self.falling = np.flatnonzero((boxed.lower < resting) & (resting <= 0.0))
        columns = [boxed.by_cell[self.rising], -boxed.by_cell[self.falling]]
        if slack:
            eye = eye_array(boxed.equations, format="csr")
            columns += [eye, -eye]
        self.columns = vstack(columns, format="csr")
        count = self.columns.shape[0]
        cost = np.append(np.zeros(self.cells.size), np.ones(count - self.cells.size))
        room, missing = self.room(boxed.lower, boxed.upper), -boxed.residual(resting)
        program = LinearProgram(cost, np.zeros(count), room, self.columns.T, missing, missing)
        self._session = Session(program, primal=False, bounded=True)

    @property
    def cells(self) -> Cells:
        """The cell of each move."""
        return np.concatenate([self.rising, self.falling])

    def room(self, lower: Floats, upper: Floats) -> Floats:
        """How far each column may go when cells have these bounds."""
        resting = self.boxed.resting
        rises, falls = (upper - resting)[self.rising], (resting - lower)[self.falling]
        slacks = np.full(2 * self.boxed.equations if self.slack else 0, np.inf)
        return np.concatenate([rises, falls, slacks])

    def changes(self) -> Floats:
        """``x``, within its bounds."""
        boxed, moves = self.boxed, self._session.point()
        x = boxed.resting.copy()
        x[self.rising] += moves[: self.rising.size]
        x[self.falling] -= moves[self.rising.size : self.cells.size]
        return np.clip(x, boxed.lower, boxed.upper)

    def off_balance(self) -> float:
        """What all slacks together leave off balance."""
        return float(self._session.point()[self.cells.size :].sum())

    def prices(self) -> Floats:
        return self._session.duals()

    def set_costs(self, costs: Floats) -> None:
        self._session.set_costs(np.arange(costs.size), costs)

    def set_room(self, room: Floats) -> None:
        """New bounds of the moves."""
        count = self.cells.size
        self._session.set_bounds(np.arange(count), np.zeros(count), room[:count])

    def solve(self, run: Run) -> Ended:
        """Optimal or infeasible.

        Raises
        ------
        StoppedError
            The time was over.
        """
        more = 0 if _cubic(self.boxed) else PIVOTS * self.boxed.equations
        self._session.limit_pivots(max(FEWEST_PIVOTS, more))
        # One long call: a simplex that is interrupted and goes on spends more on that than on pivots.
        status = self._counted(self._session.solve_at_once, run)
        if status is Ended.STOPPED and not run.over:
            status = self._counted(self._session.solve_by_interior_point, run)
        if status is Ended.STOPPED:
            raise StoppedError("the time was over before the adjustment was found: allow more of it")
        return status

    def _counted(self, solve: Callable[[Run], Ended], run: Run) -> Ended:
        status = solve(run)
        self.pivots += self._session.iterations()
        run.tell("adjusting", self.pivots)
        return status


def _cubic(boxed: Boxed) -> bool:
    """Whether most cells are parts of three totals or more; totals have the rarer sign in an equation."""
    sign = np.sign(boxed.by_cell.data)
    common = np.sign(np.bincount(boxed.by_cell.indices, sign, boxed.equations))
    parts = boxed.by_cell.copy()
    parts.data = (sign == common[boxed.by_cell.indices]).astype(np.float64)
    return bool(np.median(parts.sum(axis=1)) >= 3.0)


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
