"""Sums of cells that readers know more of than the windows of the cells imply.

From a method that keeps a sum of cells ``G`` near the truth readers know

    | sum of y_i over G  -  sum of v_i over G |  <=  reach

besides the windows. The table does not list the sum, so that no audit of its cells covers this. Here the sum
is a cell of its own, ``s = sum of y_i``, with the window that readers know, and every level is checked again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tacita.core.attacker import Outsider
from tacita.core.errors import InfeasibleError
from tacita.core.exact import UNBOUNDED, Cells
from tacita.core.levels import Levels
from tacita.core.release import Release
from tacita.core.run import Run
from tacita.core.tables.equations import Equations
from tacita.core.tables.structure import Structure
from tacita.engine.attack.requirements import Requirements
from tacita.methods.protection.missed_levels import find_missed
from tacita.problem.problem import Problem


@dataclass(frozen=True, eq=False)
class KnownSum:
    """Cells whose published sum readers know to be at most ``reach`` units from the true one."""

    name: str
    cells: Cells
    reach: int


def find_missed_with_sums(
    problem: Problem, release: Release, sums: Sequence[KnownSum], run: Run
) -> Requirements:
    """Return requirements that a method's release misses against readers who know sums of cells too."""
    table = problem.table
    moved = [int((release.value - table.units)[known.cells].sum()) for known in sums]
    reach = np.array([known.reach for known in sums], dtype=np.int64)
    shift = np.array(moved, dtype=np.int64)
    above = np.minimum(release.high, UNBOUNDED // 2) - table.units
    below = table.units - np.maximum(release.low, -UNBOUNDED // 2)
    wide = _add_sum_cells(problem, sums)
    return find_missed(
        wide, np.concatenate([above, reach + shift]), np.concatenate([below, reach - shift]), run
    )


def check_levels_with_sums(problem: Problem, release: Release, sums: Sequence[KnownSum], run: Run) -> None:
    """Raise an error if a method's readers who know sums can deduce more of a cell than levels allow."""
    missing = find_missed_with_sums(problem, release, sums, run)
    if len(missing):
        cells = problem.table.structure.names(np.unique(missing.cell))
        raise InfeasibleError(
            "the windows protect it, but not against a reader who knows which subtotals are kept within a "
            f"base ({'; '.join(known.name for known in sums[:5])})",
            place=cells,
            remedy="Leave subtotals with this cell out, or use a larger base.",
        )


def _add_sum_cells(problem: Problem, sums: Sequence[KnownSum]) -> Problem:
    """Return the problem with a cell for every sum that a method's readers know, without common bounds."""
    table, count = problem.table, len(sums)
    n = len(table) + count
    rows = [(c.tolist(), m.tolist(), rhs) for c, m, rhs in table.equations]
    rows += [
        ([*known.cells.tolist(), len(table) + k], [*([1] * known.cells.size), -1], 0)
        for k, known in enumerate(sums)
    ]
    labels = tuple(map(str, range(n)))
    structure = Structure((), np.empty((n, 0), dtype=np.int32), Equations.from_rows(rows, n), labels=labels)
    units = np.concatenate([table.units, [table.units[known.cells].sum() for known in sums]])
    wide = replace(
        table,
        structure=structure,
        units=units.astype(np.int64),
        count=None,
        population=None,
        contributions=None,
        holding_count=None,
        holdings=None,
        shadow=None,
        structural=None,
        columns={},
    )
    nothing, levels = np.zeros(count, dtype=np.int64), problem.levels
    known = problem.outsider
    return Problem(
        wide,
        Levels(
            np.concatenate([levels.sensitive, nothing > 0]),
            np.concatenate([levels.lower, nothing]),
            np.concatenate([levels.upper, nothing]),
            np.concatenate([levels.sliding, nothing]),
        ),
        [
            Outsider(
                np.concatenate([known.lower, nothing - UNBOUNDED]),
                np.concatenate([known.upper, nothing + UNBOUNDED]),
            ),
            *problem.insiders,
        ],
        cost="unit",
    )
