"""A linear program in moves of cells, kept warm.

    min  sum c_j m_j      s.t.  M x = 0,   x = resting + rises - falls,   0 <= m <= room

``resting`` is the change nearest to none within the bounds. A cell that need not move can rise and fall; one
that has to move goes further only the way it went. All moves 0 is a basis, and with costs that are not
negative a dual feasible one: the dual simplex spends its pivots on the few equations that forced changes put
off balance.

Where an equation meets many cells that all cost about the same, in tables of three and more dimensions,
pivots multiply. Then an interior point with crossover takes over.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tacita.core.errors import StoppedError
from tacita.core.exact import Cells, Floats
from tacita.core.run import Run
from tacita.methods.adjustment.convex.boxed import Boxed
from tacita.solvers.highs import Ended, Session
from tacita.solvers.linear_program import LinearProgram

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
        return self._session.prices()

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
