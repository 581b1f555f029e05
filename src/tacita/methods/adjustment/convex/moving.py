"""A linear program in moves of cells, kept hot in HiGHS.

    min  sum c_j m_j      s.t.  M x = 0,   x = resting + rises - falls,   0 <= m <= room

``resting`` is the change nearest to none within the bounds. A cell that need not move can rise and fall; one
that has to move goes further only the way it went. All moves 0 is a basis, and with costs that are not
negative a dual feasible one: the dual simplex spends its pivots on the few equations that forced changes put
off balance.

Where an equation meets many cells that all cost about the same, in tables of three and more dimensions,
pivots multiply. Then an interior point with crossover takes over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacita.core.errors import SolverError, StoppedError
from tacita.core.exact import Cells, Floats
from tacita.core.run import Run
from tacita.methods.adjustment.convex.boxed import Boxed
from tacita.solvers.highs import DUAL_SIMPLEX, Ended, quiet, run_heard

if TYPE_CHECKING:
    from highspy.highs import HighsCallbackEvent

PIVOTS = 2
"""Pivots per equation after which the simplex gives up. Tables with hierarchies in two dimensions need 0.1 to
1, cubes of 20 and 30 codes 6 and more, where the interior point takes a third and a tenth of the time."""
FEWEST_PIVOTS = 2000
"""Pivots that the simplex has in any case; in three and more dimensions it has no more."""


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
        self._highs = quiet(presolve="off")
        self._highs.setOptionValue("solver", "simplex")
        self._highs.setOptionValue("simplex_strategy", DUAL_SIMPLEX)
        self._load(self.room(boxed.lower, boxed.upper))

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
        boxed, moves = self.boxed, self._values()
        x = boxed.resting.copy()
        x[self.rising] += moves[: self.rising.size]
        x[self.falling] -= moves[self.rising.size : self.cells.size]
        return np.clip(x, boxed.lower, boxed.upper)

    def off_balance(self) -> float:
        """What all slacks together leave off balance."""
        return float(self._values()[self.cells.size :].sum())

    def prices(self) -> Floats:
        return np.array(self._highs.getSolution().row_dual)

    def set_costs(self, costs: Floats) -> None:
        self._highs.changeColsCost(costs.size, np.arange(costs.size, dtype=np.int32), costs)

    def set_room(self, room: Floats) -> None:
        """New bounds of the moves."""
        cells = np.arange(self.cells.size, dtype=np.int32)
        self._highs.changeColsBounds(cells.size, cells, np.zeros(cells.size), room[: cells.size])

    def solve(self, run: Run) -> Ended:
        """Optimal or infeasible.

        Raises
        ------
        StoppedError
            The time was over.
        """
        more = 0 if _cubic(self.boxed) else PIVOTS * self.boxed.equations
        self._highs.setOptionValue("simplex_iteration_limit", max(FEWEST_PIVOTS, more))
        status = self._run(run)
        if status is Ended.STOPPED and not run.over:
            status = self._interior(run)
        if status is Ended.STOPPED:
            raise StoppedError("the time was over before the adjustment was found: allow more of it")
        return status

    def _values(self) -> Floats:
        return np.array(self._highs.getSolution().col_value)

    def _interior(self, run: Run) -> Ended:
        """Interior point and crossover, from the beginning; later solves go on from the corner it ends in."""
        highs = self._highs
        highs.clearSolver()
        highs.setOptionValue("simplex_iteration_limit", 2**31 - 1)
        highs.setOptionValue("solver", "ipm")
        highs.setOptionValue("presolve", "on")
        status = self._run(run)
        highs.setOptionValue("solver", "simplex")
        highs.setOptionValue("presolve", "off")
        return status

    def _run(self, run: Run) -> Ended:
        def hear(event: HighsCallbackEvent) -> None:
            if run.over:
                event.interrupt()

        # One long call: a simplex that is interrupted and goes on spends more on that than on pivots.
        run_heard(self._highs, run, hear)
        done = self._highs.getInfo()
        counts = (done.simplex_iteration_count, done.ipm_iteration_count, done.crossover_iteration_count)
        self.pivots += sum(max(count, 0) for count in counts)
        run.tell("adjusting", self.pivots)
        return self._status()

    def _status(self) -> Ended:
        ended = self._highs.getModelStatus().name
        if ended == "kOptimal":
            return Ended.OPTIMAL
        # Costs and moves are not negative, so the loss cannot fall without end.
        if ended in ("kInfeasible", "kUnboundedOrInfeasible"):
            return Ended.INFEASIBLE
        if ended in ("kTimeLimit", "kIterationLimit", "kInterrupt", "kUnknown"):
            return Ended.STOPPED
        raise SolverError(f"HiGHS ended with '{ended}', which proves nothing: report the table")

    def _load(self, room: Floats) -> None:
        import highspy

        program, columns = highspy.HighsLp(), self.columns
        count, rows = columns.shape
        program.num_row_, program.num_col_ = rows, count
        program.col_cost_ = np.concatenate([np.zeros(self.cells.size), np.ones(count - self.cells.size)])
        program.col_lower_, program.col_upper_ = np.zeros(count), room
        program.row_lower_ = program.row_upper_ = -self.boxed.residual(self.boxed.resting)
        program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        program.a_matrix_.start_ = columns.indptr.astype(np.int32)
        program.a_matrix_.index_ = columns.indices.astype(np.int32)
        program.a_matrix_.value_ = columns.data
        if self._highs.passModel(program) == highspy.HighsStatus.kError:
            raise SolverError("HiGHS did not accept the linear program of an adjustment: report the table")


def _cubic(boxed: Boxed) -> bool:
    """Whether most cells are parts of three totals or more; totals have the rarer sign in an equation."""
    sign = np.sign(boxed.by_cell.data)
    common = np.sign(np.bincount(boxed.by_cell.indices, sign, boxed.equations))
    parts = boxed.by_cell.copy()
    parts.data = (sign == common[boxed.by_cell.indices]).astype(np.float64)
    return bool(np.median(parts.sum(axis=1)) >= 3.0)
