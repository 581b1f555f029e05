"""A linear program that grows by rows: ``min c x : rows x >= rhs, l <= x <= u``.

New rows cut the last optimum off and leave its basis dual feasible, so the dual simplex goes on from it.
Rows can be dropped and variables removed between solves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacita.core.exact import Cells, Floats, Mask
from tacita.core.run import Run
from tacita.solvers.highs import Ended, Session
from tacita.solvers.linear_program import LinearProgram


@dataclass(frozen=True, eq=False)
class CutRow:
    """``sum value * x[index] >= rhs``."""

    index: Cells
    value: Floats
    rhs: float
    origin: object = None
    """What the row was made from, for whoever made it."""

    def compute_slack(self, x: Floats) -> float:
        """Return the row's slack at point ``x`` of the linear program, negative where ``x`` violates it."""
        return float(self.value @ x[self.index]) - self.rhs


@dataclass(frozen=True, eq=False)
class Optimum:
    """Value, point, reduced costs (0 for removed variables), slacks and dual values of added rows."""

    value: float
    x: Floats
    reduced: Floats
    slack: Floats
    duals: Floats


class GrowingRows:
    """A linear program, warm-started while rows are added and dropped; its own rows stay."""

    def __init__(self, program: LinearProgram) -> None:
        self._session = Session(program, primal=False)
        self._permanent, self.size = program.rows.shape
        self._columns, self._place = np.arange(self.size), np.arange(self.size)
        self._rhs = np.zeros(0)
        self.ended = Ended.STOPPED

    def add(self, rows: Sequence[CutRow]) -> None:
        """Add rows to the linear program, after those that were added before."""
        if not rows:
            return
        parts = [(self._place[row.index], row.value) for row in rows]
        parts = [(at[at >= 0], value[at >= 0]) for at, value in parts]
        rhs = np.array([row.rhs for row in rows])
        self._rhs = np.concatenate([self._rhs, rhs])
        self._session.add_rows(rhs, [at for at, _ in parts], [value for _, value in parts])

    def drop(self, gone: Mask) -> None:
        """Drop added rows of the linear program, marked among those that have not been dropped before."""
        if gone.any():
            self._session.delete_rows(np.flatnonzero(gone) + self._permanent)
            self._rhs = self._rhs[~gone]

    def remove(self, variables: Cells) -> None:
        """Remove variables that are fixed at 0 from the linear program."""
        at = np.sort(self._place[variables])
        self._session.delete_columns(at)
        self._columns = np.delete(self._columns, at)
        self._place = np.full(self.size, -1)
        self._place[self._columns] = np.arange(self._columns.size)

    def solve(self, run: Run) -> Optimum | None:
        """Return the linear program's optimum, or None if infeasible or the time is over: see ``ended``."""
        session = self._session
        self.ended = session.solve(run)
        if self.ended is not Ended.OPTIMAL:
            return None
        x, reduced = np.zeros(self.size), np.zeros(self.size)
        x[self._columns], reduced[self._columns] = session.read_point(), session.read_reduced_costs()
        slack = session.read_row_values()[self._permanent :] - self._rhs
        return Optimum(session.value, x, reduced, slack, session.read_duals()[self._permanent :])
