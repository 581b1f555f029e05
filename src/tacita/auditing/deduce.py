"""Deduction: the interval of every hidden cell, computed with the true table or without it.

:func:`deduce` is for the office: attacker ``k``'s interval ``[min y_i, max y_i]`` for each hidden cell.
:func:`expose` is for anyone: it has only a release, as a reader does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from tacita.auditing.audit import find_allowed_moves, list_releases
from tacita.auditing.extremes import ExtremeQuestion, find_extremes
from tacita.auditing.region import make_blocks, peel
from tacita.core.attacker import Insider, to_unit_bounds
from tacita.core.errors import InputError, ReleaseError
from tacita.core.exact import UNBOUNDED, Cells, Floats, Mask, Units
from tacita.core.heartbeat import with_heartbeat
from tacita.core.release import Release
from tacita.core.run import Run
from tacita.core.tables.cell_selection import CellList, read_cells
from tacita.core.tables.equations import Equations
from tacita.core.tables.frames import Framed, codes_to_arrow, make_arrow_table
from tacita.core.tables.structure import Structure
from tacita.problem.problem import Problem, start_run

if TYPE_CHECKING:
    import pyarrow as pa

SOLVER_DIGITS = 6
"""Decimals of a unit that a linear program gets right."""


@dataclass(frozen=True, eq=False)
class Deduction(Framed):
    """Interval ``[low, high]`` of each requested hidden cell, in plain numbers; NaN if the time ran out."""

    structure: Structure
    cells: Cells
    low: Floats
    high: Floats

    def __len__(self) -> int:
        return int(self.cells.size)

    @property
    def known(self) -> Mask:
        """Whether an attacker can deduce the exact value of the cell, for each of ``cells``."""
        return np.asarray(self.low == self.high)

    def to_arrow(self) -> pa.Table:
        """Return a table of the deduced interval per hidden cell: codes, ``low``, ``high``, ``known``."""
        columns = {"low": self.low, "high": self.high, "known": self.known}
        return make_arrow_table(codes_to_arrow(self.structure, self.cells), columns)

    def of(self, cell: int) -> tuple[float, float]:
        """Return the deduced interval (low, high) of one requested hidden cell, in plain numbers."""
        found = np.flatnonzero(self.cells == cell)
        if found.size == 0:
            fault = f"not among the hidden cells that were asked for: there are {len(self):,} of them"
            raise InputError(fault, place=f"({self.structure.name(cell)})")
        return float(self.low[found[0]]), float(self.high[found[0]])


@with_heartbeat("deducing")
def deduce(
    problem: Problem,
    release: Release | Sequence[Release],
    insider: Insider | None = None,
    run: Run | None = None,
    cells: CellList | None = None,
) -> Deduction:
    """Return the interval that an attacker (the outsider by default) can compute for every hidden cell.

    Tables of counts get integer bounds: what an attacker who knows that cells are counts can deduce.

    Parameters
    ----------
    release
        One release, or several whose windows hold together, as in :func:`~tacita.auditing.audit.audit`.
    cells
        Only these, as far as they are hidden: two linear programs each, over their connected components.
    """
    run = start_run(problem, run)
    table = problem.table
    low, high = find_allowed_moves(problem, release, insider)
    requested = list_releases(release)[-1].hidden
    if cells is not None:
        requested = requested & read_cells(table, cells, "cells")
    hidden = np.flatnonzero(requested)
    free = peel(table.equations, low < high)
    rhs = np.zeros(len(table.equations), dtype=np.int64)
    low, high = np.where(free, low, 0), np.where(free, high, 0)
    ends = _find_ends(table.equations, rhs, low, high, requested, table.integer, run)
    units = (table.units[hidden] + table.unit * end[hidden] for end in ends)
    return Deduction(table.structure, hidden, *(to_values(end, table.decimals) for end in units))


@with_heartbeat("deducing")
def expose(
    release: Release,
    lower: ArrayLike | None = 0.0,
    upper: ArrayLike | None = None,
    integer: bool = False,
    run: Run | None = None,
) -> Deduction:
    """Return the interval that anyone can deduce for each hidden cell of a release, without the true table.

    Parameters
    ----------
    lower, upper
        What readers know of every cell beforehand (numbers, or one per cell; None: nothing).
    integer
        Readers know that cells are integers.

    Raises
    ------
    ReleaseError
        No table at all satisfies what is published.
    """
    run = (run or Run()).begin()
    structure = release.structure
    known = to_unit_bounds(
        -np.inf if lower is None else lower, np.inf if upper is None else upper, release.decimals
    )
    low, high = np.maximum(release.low, known[0]), np.minimum(release.high, known[1])
    unit = 10**release.decimals if integer else 1
    low = np.where(low <= -UNBOUNDED, low, -(-low // unit))
    high = np.where(high >= UNBOUNDED, high, high // unit)
    if (wrong := np.flatnonzero(low > high)).size:
        raise ReleaseError(
            f"nothing is possible for {structure.names(wrong)}: the release contradicts the bounds"
        )
    low, high = _determine_cells(structure, low, high, unit)
    equations = structure.equations
    rhs = equations.rhs // unit - np.asarray(equations.matrix @ np.where(low < high, 0, low))
    requested = release.low < release.high
    ends = _find_ends(equations, rhs, low, high, requested, integer, run)
    hidden = np.flatnonzero(requested)
    return Deduction(structure, hidden, *(to_values(unit * end[hidden], release.decimals) for end in ends))


def to_values(units: Floats, decimals: int) -> Floats:
    """Return ends of deduced intervals in units as plain numbers, rounded to what a solver gets right."""
    return np.round(units, SOLVER_DIGITS) / 10.0**decimals + 0.0


def _find_ends(
    equations: Equations, rhs: Units, low: Units, high: Units, requested: Mask, integer: bool, run: Run
) -> tuple[Floats, Floats]:
    """Return the ends of the deduced interval of each requested cell; other entries are bounds."""
    least, most = low.astype(np.float64), high.astype(np.float64)
    questions = [
        ExtremeQuestion(block, low[block.cells], high[block.cells], integer, columns)
        for block in make_blocks(equations, low < high, rhs)
        if (columns := np.flatnonzero(requested[block.cells])).size
    ]
    answers = run.map(find_extremes, questions, phase="intervals")
    for question, (down, up) in zip(questions, answers, strict=True):
        own = question.block.cells[question.columns]
        least[own], most[own] = down, up
    return least, most


def _determine_cells(structure: Structure, low: Units, high: Units, unit: int) -> tuple[Units, Units]:
    """Return each cell's bounds after deducing the values of cells alone in an equation, repeatedly."""
    low, high = low.copy(), high.copy()
    equations = structure.equations
    rows, cells, coefficients = equations.row_of_entry, equations.cells, equations.coefficients
    while True:
        free = low < high
        open_cells = np.bincount(rows[free[cells]], minlength=len(equations))
        rest = equations.rhs // unit - np.asarray(equations.matrix @ np.where(free, 0, low))
        wrong = np.flatnonzero((open_cells == 0) & (rest != 0))
        if wrong.size:
            raise ReleaseError(
                f"what is published does not add up: {structure.describe_equation(int(wrong[0]))}"
            )
        single = free[cells] & (open_cells[rows] == 1)
        if not single.any():
            return low, high
        value = rest[rows[single]] // coefficients[single]
        exactly = value * coefficients[single] == rest[rows[single]]
        cell = cells[single]
        fits = exactly & (value >= low[cell]) & (value <= high[cell])
        if not fits.all():
            bad = cell[~fits]
            raise ReleaseError(
                f"no possible value is left for {structure.names(bad)}: the release contradicts itself"
            )
        low[cell], high[cell] = value, value
