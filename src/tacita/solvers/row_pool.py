"""HiGHS as a master program that grows by rows: ``min c x : rows x >= rhs, l <= x <= u``.

New rows cut the last optimum off and leave its basis dual feasible, so the dual simplex goes on from it.
Rows can be dropped and variables taken out between solves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tacita.core.exact import Cells, Floats, Mask
from tacita.core.run import Run
from tacita.solvers.highs import Ended, quiet, solve_in_slices

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, eq=False)
class Row:
    """``sum value * x[index] >= rhs``."""

    index: Cells
    value: Floats
    rhs: float
    origin: object = None
    """What the row was made from, for whoever made it."""

    def slack(self, x: Floats) -> float:
        """Negative where ``x`` violates the row."""
        return float(self.value @ x[self.index]) - self.rhs


@dataclass(frozen=True, eq=False)
class Optimum:
    """Value, point, reduced costs (0 for variables that were taken out), slacks and prices of added rows."""

    value: float
    x: Floats
    reduced: Floats
    slack: Floats
    prices: Floats


class GrowingRows:
    """A linear program kept hot while rows come and go.

    Parameters
    ----------
    cost, lower, upper
        Of the variables.
    rows, row_lower, row_upper
        Rows that stay.
    """

    def __init__(
        self,
        cost: Floats,
        lower: Floats,
        upper: Floats,
        rows: csr_array,
        row_lower: Floats,
        row_upper: Floats,
    ) -> None:
        import highspy

        self._highs = quiet(presolve="off")
        self._permanent, self.size = rows.shape[0], cost.size
        self._columns, self._place = np.arange(cost.size), np.arange(cost.size)
        self._rhs = np.zeros(0)
        self.ended = Ended.STOPPED
        program = highspy.HighsLp()
        program.num_row_, program.num_col_ = rows.shape
        program.col_cost_, program.col_lower_, program.col_upper_ = cost, lower, upper
        program.row_lower_, program.row_upper_ = row_lower, row_upper
        program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        program.a_matrix_.start_ = rows.indptr.astype(np.int32)
        program.a_matrix_.index_ = rows.indices.astype(np.int32)
        program.a_matrix_.value_ = rows.data.astype(np.float64)
        self._highs.passModel(program)

    def add(self, rows: Sequence[Row]) -> None:
        """More rows, after those that are there."""
        if not rows:
            return
        parts = [(self._place[row.index], row.value) for row in rows]
        parts = [(at[at >= 0], value[at >= 0]) for at, value in parts]
        lengths = [at.size for at, _ in parts]
        rhs = np.array([row.rhs for row in rows])
        self._rhs = np.concatenate([self._rhs, rhs])
        self._highs.addRows(
            len(rows),
            rhs,
            np.full(len(rows), np.inf),
            int(sum(lengths)),
            np.cumsum([0, *lengths[:-1]]).astype(np.int32),
            np.concatenate([at for at, _ in parts]).astype(np.int32),
            np.concatenate([value for _, value in parts]),
        )

    def drop(self, gone: Mask) -> None:
        """Forget added rows, by their position among those that were added and kept."""
        at = np.flatnonzero(gone).astype(np.int32) + self._permanent
        if at.size:
            self._highs.deleteRows(int(at.size), at)
            self._rhs = self._rhs[~gone]

    def remove(self, variables: Cells) -> None:
        """Take out variables that are 0 for good."""
        at = np.sort(self._place[variables]).astype(np.int32)
        self._highs.deleteCols(int(at.size), at)
        self._columns = np.delete(self._columns, at)
        self._place = np.full(self.size, -1)
        self._place[self._columns] = np.arange(self._columns.size)

    def solve(self, run: Run) -> Optimum | None:
        """The optimum, or None if the program is infeasible or the time is over: see ``ended``."""
        self.ended = solve_in_slices(self._highs, run)
        if self.ended is not Ended.OPTIMAL:
            return None
        solution = self._highs.getSolution()
        x, reduced = np.zeros(self.size), np.zeros(self.size)
        x[self._columns], reduced[self._columns] = solution.col_value, solution.col_dual
        slack = np.array(solution.row_value)[self._permanent :] - self._rhs
        prices = np.array(solution.row_dual)[self._permanent :]
        return Optimum(self._highs.getObjectiveValue(), x, reduced, slack, prices)
