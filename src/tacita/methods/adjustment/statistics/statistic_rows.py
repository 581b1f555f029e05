"""Linear constraints on statistics, and the smallest widening that makes them feasible.

Rows are ``middle - room <= gradient z <= middle + room``, in percent. Where they are infeasible, the smallest
multiple ``e`` of their tolerances by which they must be widened is a linear program,

    min e    s.t.  M z = 0,   lower <= z <= upper,   |gradient z - middle| <= room + e tol  for each row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tacita.core.errors import SolverError, StoppedError
from tacita.core.exact import UNBOUNDED, Cells, Floats
from tacita.core.run import Run
from tacita.methods.adjustment.task import AdjustmentTask, SideConstraints
from tacita.solvers.highs import Ended, solve_mip
from tacita.solvers.linear_program import LinearProgram

LEAST = 1e-6
"""Rounding error in percent: no change is measured against a smaller tolerance."""
HAIR = 1e-4
"""Relative excess of the widening over the smallest, beyond a solver's own tolerance."""
WIDE = 1e6
"""Largest finite bound of a variable in the program that widens."""


@dataclass(frozen=True, eq=False)
class StatisticRow:
    """A linear constraint on a statistic, over some cells."""

    cells: Cells
    gradient: Floats
    middle: float
    room: float
    tolerance: float

    @property
    def scale(self) -> float:
        """The largest coefficient of this constraint on a statistic of the adjustment."""
        return float(np.abs(self.gradient).max(initial=0.0))


def to_side(rows: Sequence[StatisticRow], size: int) -> SideConstraints:
    """Return rows on statistics as side constraints of an adjustment task, their largest entries 1."""
    from scipy.sparse import csr_array

    entries = [np.empty(0), *(row.gradient / row.scale for row in rows)]
    columns = [np.empty(0, dtype=np.int64), *(row.cells for row in rows)]
    starts = np.cumsum([column.size for column in columns])
    return SideConstraints(
        rows=csr_array((np.concatenate(entries), np.concatenate(columns), starts), shape=(len(rows), size)),
        least=np.array([(row.middle - row.room) / row.scale for row in rows]),
        most=np.array([(row.middle + row.room) / row.scale for row in rows]),
    )


def with_side(task: AdjustmentTask, side: SideConstraints) -> AdjustmentTask:
    """Return the adjustment task with further side constraints on statistics."""
    from scipy.sparse import csr_array, vstack

    if task.side is None:
        return replace(task, side=side)
    rows = csr_array(vstack([task.side.rows, side.rows]))
    least, most = np.append(task.side.least, side.least), np.append(task.side.most, side.most)
    return replace(task, side=SideConstraints(rows, least, most))


def widen_rows(task: AdjustmentTask, rows: Sequence[StatisticRow], run: Run) -> list[StatisticRow]:
    """Return the rows on statistics with just enough room for an adjustment to be feasible.

    Rows of tolerance 0 are widened only if all others are not enough.
    """
    for least in (0.0, LEAST):
        shares = [max(row.tolerance, least) for row in rows]
        found = solve_mip(_build_widening_program(task, rows, shares), run)
        if found.status is Ended.OPTIMAL:
            more = found.bound * (1 + HAIR)
            return [replace(r, room=r.room + more * share) for r, share in zip(rows, shares, strict=True)]
        if found.status is not Ended.INFEASIBLE:
            raise StoppedError("stopped while tolerances were widened", remedy="allow more time")
    raise SolverError(
        "the task has changes, yet none at any tolerance of its statistics", remedy="report the table"
    )


def _build_widening_program(
    task: AdjustmentTask, rows: Sequence[StatisticRow], shares: Sequence[float]
) -> LinearProgram:
    """Return the linear program of the least widening ``e`` of the rows on an adjustment's statistics."""
    from scipy.sparse import csr_array, hstack, vstack

    lower, upper = task.lower.astype(np.float64), task.upper.astype(np.float64)
    lower[task.lower <= -UNBOUNDED], upper[task.upper >= UNBOUNDED] = -np.inf, np.inf
    bounds = np.abs(np.append(lower, upper))
    unit = max(1.0, float(bounds[np.isfinite(bounds)].max(initial=0.0)) / WIDE)
    side = to_side(rows, len(task))
    share = np.array([s / row.scale for s, row in zip(shares, rows, strict=True)])
    given = task.side or replace(side, rows=side.rows[:0], least=np.empty(0), most=np.empty(0))
    equations, none = np.zeros(task.matrix.shape[0]), np.full(share.size, np.inf)
    matrix = vstack([task.matrix, given.rows, side.rows, side.rows])
    column = np.concatenate([equations, np.zeros(given.least.size), share, -share]) / unit
    return LinearProgram(
        cost=np.append(np.zeros(len(task)), 1.0),
        lower=np.append(lower / unit, 0.0),
        upper=np.append(upper / unit, np.inf),
        rows=csr_array(hstack([matrix, csr_array(column[:, None])])),
        row_lower=np.concatenate([equations, given.least, side.least, -none]) / unit,
        row_upper=np.concatenate([equations, given.most, none, side.most]) / unit,
    )
