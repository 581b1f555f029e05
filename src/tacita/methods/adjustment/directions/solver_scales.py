"""Scales of the cells and equations of a task in programs for solvers.

Cells of a table may differ by eleven orders of magnitude, while tolerances of solvers are absolute. With
``z_i = d_i x_i`` every ``x_i`` reaches to about a thousand, and equation ``q`` is divided by the largest of
its ``|m_qi| d_i``. So moves of small cells hardly count in equations of large ones, and count in full among
others of their size. All scales are powers of two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tacita.core.exact import UNBOUNDED, Floats, Units
from tacita.methods.adjustment.task import AdjustmentTask, DirectionChoice

if TYPE_CHECKING:
    from scipy.sparse import csr_array

REACH = 10
"""Cells reach to ``2**REACH``."""


@dataclass(frozen=True, eq=False)
class SolverScales:
    """Equations and side constraints of a task in scaled units.

    Attributes
    ----------
    rows
        Scaled coefficients of scaled changes.
    forced
        Scaled coefficients of the sensitive cells' changes in units.
    least, most
        Bounds of the scaled rows.
    cell, row
        ``d_i`` per cell, and the divisor of every row.
    """

    rows: csr_array
    forced: csr_array
    least: Floats
    most: Floats
    cell: Floats
    row: Floats

    @classmethod
    def of(cls, task: AdjustmentTask, choice: DirectionChoice) -> SolverScales:
        from scipy.sparse import csr_array, diags_array, vstack

        matrix = csr_array(task.matrix.astype(np.float64))
        least = most = np.zeros(matrix.shape[0])
        if task.side is not None:
            matrix = csr_array(vstack([matrix, task.side.rows.astype(np.float64)]))
            least, most = np.append(least, task.side.least), np.append(most, task.side.most)
        reach = find_reaches(task, choice)
        cell = _find_next_power(reach) * 2.0**-REACH
        largest = np.asarray(abs(matrix @ diags_array(np.where(reach > 0, cell, 0.0))).max(axis=1).todense())
        row = np.where(largest.ravel() > 0, _find_next_power(largest.ravel()), 1.0)
        thinner = diags_array(1.0 / row) @ matrix
        return cls(
            csr_array(thinner @ diags_array(cell)),
            csr_array(csr_array(thinner)[:, choice.cells]),
            least / row,
            most / row,
            cell,
            row,
        )

    def scaled(self, units: Units | Floats) -> Floats:
        """Return cells' bounds in the adjustment program's scaled units, infinite where there is none."""
        infinite = np.where(units > 0, np.inf, -np.inf)
        return np.where(np.abs(units) < UNBOUNDED, units / self.cell, infinite)


def find_reaches(task: AdjustmentTask, choice: DirectionChoice) -> Floats:
    """Return how far an adjustment may move each cell, in units; the largest least move where unlimited."""
    both = np.maximum(np.abs(task.lower), np.abs(task.upper))
    rises, falls = (
        np.where(choice.can_rise, choice.up_most, 0),
        np.where(choice.can_fall, choice.down_most, 0),
    )
    both[choice.cells] = np.maximum(rises, falls)
    least = np.where(choice.can_rise, choice.up_least, 0) + np.where(choice.can_fall, choice.down_least, 0)
    return np.where(both < UNBOUNDED, both, max(1, int(least.max(initial=1)))).astype(np.float64)


def _find_next_power(size: Floats) -> Floats:
    """Return the power of two that is next above each number, to scale the program of an adjustment."""
    return np.ldexp(1.0, np.frexp(np.maximum(size, 2.0**-40))[1])
