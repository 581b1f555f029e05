"""Linear programs of an adjustment in moves of its cells, warm-started.

    min  sum c_j m_j      s.t.  M x = 0,   x = least_change + rises - falls,   0 <= m <= room

``least_change`` is the change nearest to 0 within the bounds. A cell that need not change can rise and fall;
one that must can only go further. All moves 0 is a basis, dual feasible where costs are not negative: the
dual simplex spends its pivots on the few equations that forced changes put out of balance.

In tables of three and more dimensions, where equations have many cells of about the same cost, the number of
pivots explodes. Then an interior point method with crossover takes over.

**Least absolute changes**, ``min sum w |x| : M x = 0, lower <= x <= upper``.

A simplex judges reduced costs by an absolute tolerance, and weights of ``1 / value`` may be as small as that
tolerance. Hence *iterative refinement*: with dual values ``y`` of a first solution the same program is solved
with the costs ``f (c - M' y)``, from the last basis, and the dual values become ``y + y' / f``. With large
``f`` reduced costs within the tolerance exceed it, until the loss and its lower bound agree.

**The least largest change**, ``min t : M x = 0, lower <= x <= upper, w |x| <= t``.

For a given ``t`` cells have the bounds ``-t / w`` and ``t / w`` besides their own, and a linear program finds
the least violation of the equations. If it is not 0, its dual values ``y`` prove that ``t`` is too small
(*Farkas*):

    h(t) = sum_i max { g_i x : x within its bounds for t } < 0,      g = M' y.

``h`` is increasing and piecewise linear, and every ``t`` below its zero is too small. That zero is the next
``t`` (*Newton*), from the last basis. The first ``t`` without a violation is the least, and the last dual
values, divided by the slope of ``h`` at its zero, prove it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tacita.core.errors import SolverError
from tacita.core.exact import Cells, Floats
from tacita.core.run import Run
from tacita.methods.adjustment.convex.convex_program import (
    ConvexProgram,
    PrimalDualPoint,
    make_infeasible_error,
    make_timeout_error,
)
from tacita.solvers.highs import Ended, Session
from tacita.solvers.linear_program import LinearProgram

PIVOTS = 2
"""Pivots per equation after which the simplex gives up. Tables with hierarchies in two dimensions need 0.1 to
1, cubes of 20 and 30 codes 6 and more, where the interior point takes a third and a tenth of the time."""
FEWEST_PIVOTS = 2000
"""Fewest pivots that the simplex is given, and the most in three and more dimensions."""
GAP = 1e-9
"""Relative gap at which refinement ends."""
WORST_GAP = 1e-6
"""Relative gap that is accepted after the last refinement."""
FINER = 2.0**13
REFINEMENTS = 5
TRIES = 200
BALANCED = 1e-9
"""Violation of the equations that counts as none, relative to the changes that are forced."""


class MoveProgram:
    """The linear program of the moves; with ``slack`` equations may be violated, at a cost of 1."""

    def __init__(self, program: ConvexProgram, slack: bool = False) -> None:
        from scipy.sparse import eye_array, vstack

        self.program, self.slack, self.pivots = program, slack, 0
        least_change = program.least_change
        self.rising = np.flatnonzero((program.upper > least_change) & (least_change >= 0.0))
        self.falling = np.flatnonzero((program.lower < least_change) & (least_change <= 0.0))
        columns = [program.by_cell[self.rising], -program.by_cell[self.falling]]
        if slack:
            eye = eye_array(program.equations, format="csr")
            columns += [eye, -eye]
        self.columns = vstack(columns, format="csr")
        count = self.columns.shape[0]
        cost = np.append(np.zeros(self.cells.size), np.ones(count - self.cells.size))
        room, missing = self.room(program.lower, program.upper), -program.residual(least_change)
        linear = LinearProgram(cost, np.zeros(count), room, self.columns.T, missing, missing)
        self._session = Session(linear, primal=False, bounded=True)

    @property
    def cells(self) -> Cells:
        """The cell of each move (rise or fall) in the linear program of the adjustment."""
        return np.concatenate([self.rising, self.falling])

    def room(self, lower: Floats, upper: Floats) -> Floats:
        """Return the upper bounds of the adjustment program's variables when cells have these bounds."""
        least_change = self.program.least_change
        rises, falls = (upper - least_change)[self.rising], (least_change - lower)[self.falling]
        slacks = np.full(2 * self.program.equations if self.slack else 0, np.inf)
        return np.concatenate([rises, falls, slacks])

    def changes(self) -> Floats:
        """Return the change of every cell in the solved linear program of the adjustment."""
        program, moves = self.program, self._session.read_point()
        x = program.least_change.copy()
        x[self.rising] += moves[: self.rising.size]
        x[self.falling] -= moves[self.rising.size : self.cells.size]
        return np.clip(x, program.lower, program.upper)

    def violation(self) -> float:
        """Return the sum by which the solved program violates the equations of the adjustment."""
        return float(self._session.read_point()[self.cells.size :].sum())

    def duals(self) -> Floats:
        return self._session.read_duals()

    def set_costs(self, costs: Floats) -> None:
        self._session.set_costs(np.arange(costs.size), costs)

    def set_room(self, room: Floats) -> None:
        """Set the upper bounds of the cells' moves in the linear program of the adjustment."""
        count = self.cells.size
        self._session.set_bounds(np.arange(count), np.zeros(count), room[:count])

    def solve(self, run: Run) -> Ended:
        """Solve the linear program of the adjustment; return whether it is optimal or infeasible."""
        more = 0 if _has_many_totals(self.program) else PIVOTS * self.program.equations
        self._session.limit_pivots(max(FEWEST_PIVOTS, more))
        # One long call: a simplex that is interrupted and goes on spends more on that than on pivots.
        status = self._solve_counted(self._session.solve_at_once, run)
        if status is Ended.STOPPED and not run.over:
            status = self._solve_counted(self._session.solve_by_interior_point, run)
        if status is Ended.STOPPED:
            raise make_timeout_error()
        return status

    def _solve_counted(self, solve: Callable[[Run], Ended], run: Run) -> Ended:
        status = solve(run)
        self.pivots += self._session.count_iterations()
        run.report("adjusting", self.pivots)
        return status


def _has_many_totals(program: ConvexProgram) -> bool:
    """Return whether most cells to adjust are parts of three totals or more (the rarer sign in a row)."""
    sign = np.sign(program.by_cell.data)
    common = np.sign(np.bincount(program.by_cell.indices, sign, program.equations))
    parts = program.by_cell.copy()
    parts.data = (sign == common[program.by_cell.indices]).astype(np.float64)
    return bool(np.median(parts.sum(axis=1)) >= 3.0)


def minimise_l1(program: ConvexProgram, run: Run) -> PrimalDualPoint:
    """Return the adjustment with the least weighted sum of absolute changes, and its dual values."""
    moves = MoveProgram(program)
    cost = program.weight[moves.cells]
    # The cost of forced changes is constant and left out.
    factor = 1.0 / (float(cost.max(initial=0.0)) or 1.0)
    duals, best, best_gap = np.zeros(program.equations), None, np.inf
    for _ in range(REFINEMENTS):
        moves.set_costs((cost - moves.columns @ duals) * factor)
        if moves.solve(run) is Ended.INFEASIBLE:
            raise make_infeasible_error()
        duals = duals + moves.duals() / factor
        x = moves.changes()
        value = program.loss(x)
        gap = (value - program.bound(x, duals)) / (value or 1.0)
        if gap < best_gap:
            best, best_gap = PrimalDualPoint(x, duals, moves.pivots), gap
        if best_gap <= GAP:
            break
        factor *= FINER
    if best is None or best_gap > WORST_GAP:
        raise SolverError(
            "the dual values of HiGHS do not prove the loss it found", remedy="try another formulation"
        )
    return best


def minimise_linf(program: ConvexProgram, run: Run) -> PrimalDualPoint:
    """Return the adjustment with the least largest weighted change, and its dual values."""
    moves, proof = MoveProgram(program, slack=True), np.zeros(program.equations)
    least = program.loss(program.least_change)
    forced = float(np.abs(program.residual(program.least_change)).sum())
    for _ in range(TRIES):
        lower, upper = _limit_changes(program, least)
        moves.set_room(moves.room(lower, upper))
        if moves.solve(run) is not Ended.OPTIMAL:
            raise SolverError(
                "HiGHS found no solution of a program that always has one", remedy="report the table"
            )
        if moves.violation() <= BALANCED * forced:
            return PrimalDualPoint(moves.changes(), proof, moves.pivots)
        duals = moves.duals()
        further = _find_next_largest(program, duals, least)
        if further is None:
            if program.proves_infeasible(duals):
                raise make_infeasible_error()
            break
        least, slope = further
        proof = duals / slope
    raise SolverError("the least largest change was not found", remedy="try another formulation")


def _limit_changes(program: ConvexProgram, most: float) -> tuple[Floats, Floats]:
    """Return bounds on the changes of an adjustment within which no cell costs more than ``most``."""
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(program.weight > 0.0, most / program.weight, np.inf)
    # Forced changes are allowed, whatever rounding errors do.
    least_change = program.least_change
    return (
        np.minimum(np.maximum(program.lower, -room), least_change),
        np.maximum(np.minimum(program.upper, room), least_change),
    )


def _find_next_largest(program: ConvexProgram, duals: Floats, least: float) -> tuple[float, float] | None:
    """Return the next ``t`` of a ``linf`` adjustment, where ``h`` is 0, and its slope there; or None."""
    g = program.dual_slopes(duals)
    strength, weight = np.abs(g), program.weight
    strength[strength <= 1e-12 * float(np.abs(duals).max(initial=0.0))] = 0.0
    cap = np.where(g > 0.0, program.upper, -program.lower)
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
    # Slopes of the linear parts of h; each part ends where the next cell reaches its own bound.
    slopes = np.cumsum(rates[::-1])[::-1]
    starts = np.append(least, turns)[:-1]
    for start, turn, slope in zip(starts.tolist(), turns.tolist(), slopes.tolist(), strict=True):
        if height + slope * (turn - start) >= 0.0:
            return start - height / slope, slope
        height += slope * (turn - start)
    return None
