"""What can be deduced: the interval of every hidden cell, with the truth at hand or without it.

:func:`deduce` answers for the office: attacker ``k``'s interval ``[min y_i, max y_i]`` for each hidden cell.
:func:`expose` answers for anyone: it is given a release and nothing else, as a reader would be, and tells
which hidden cells are no secret.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from tacita.auditing.audit import in_order, moves_allowed
from tacita.auditing.extremes import Question, extremes
from tacita.auditing.region import blocks, peel
from tacita.core.attacker import Insider, bounds_in_units
from tacita.core.errors import InputError, ReleaseError
from tacita.core.exact import UNBOUNDED, Cells, Floats, Mask, Units
from tacita.core.release import Release
from tacita.core.run import Run
from tacita.core.tables.chosen import CellList, read_cells
from tacita.core.tables.equations import Equations
from tacita.core.tables.frames import Framed, arrow_table, codes_of_cells
from tacita.core.tables.structure import Structure
from tacita.problem.problem import Problem, start_run

if TYPE_CHECKING:
    import pyarrow as pa

SOLVER_DIGITS = 6
"""Decimals of a unit that a linear program can be trusted with."""


@dataclass(frozen=True, eq=False)
class Deduction(Framed):
    """Interval ``[low, high]`` of each hidden cell that was asked for, in plain numbers; NaN where the time
    ran out.
    """

    structure: Structure
    cells: Cells
    low: Floats
    high: Floats

    def __len__(self) -> int:
        return int(self.cells.size)

    @property
    def known(self) -> Mask:
        """Cells (among ``cells``) that are no secret at all: a single value is possible."""
        return np.asarray(self.low == self.high)

    def to_arrow(self) -> pa.Table:
        """Return one row per hidden cell that was asked for: codes, ``low``, ``high``, ``known``."""
        columns = {"low": self.low, "high": self.high, "known": self.known}
        return arrow_table(codes_of_cells(self.structure, self.cells), columns)

    def of(self, cell: int) -> tuple[float, float]:
        """The interval of one hidden cell."""
        found = np.flatnonzero(self.cells == cell)
        if found.size == 0:
            raise InputError(
                f"({self.structure.name(cell)}) is not among the hidden cells that were asked for: there are "
                f"{len(self):,} of them"
            )
        return float(self.low[found[0]]), float(self.high[found[0]])


def deduce(
    problem: Problem,
    release: Release | Sequence[Release],
    insider: Insider | None = None,
    run: Run | None = None,
    cells: CellList | None = None,
) -> Deduction:
    """The interval that an attacker (the outsider by default) computes for every hidden cell.

    Whole-number tables get whole-number bounds: what an attacker who knows that cells are counts can deduce.

    Parameters
    ----------
    release
        One release, or several whose windows hold together, as in :func:`~tacita.auditing.audit.audit`.
    cells
        Only these, as far as they are hidden: two linear programs each, over the part of the table that
        hangs together with them.
    """
    run = start_run(problem, run)
    table = problem.table
    low, high = moves_allowed(problem, release, insider)
    asked = in_order(release)[-1].hidden
    if cells is not None:
        asked = asked & read_cells(table, cells, "cells")
    hidden = np.flatnonzero(asked)
    free = peel(table.equations, low < high)
    rhs = np.zeros(len(table.equations), dtype=np.int64)
    low, high = np.where(free, low, 0), np.where(free, high, 0)
    least, most = _ends(table.equations, rhs, low, high, asked, table.whole, run)
    ends = (
        _in_values(table.units[hidden] + table.unit * end[hidden], table.decimals) for end in (least, most)
    )
    return Deduction(table.structure, hidden, *ends)


def expose(
    release: Release,
    lower: ArrayLike | None = 0.0,
    upper: ArrayLike | None = None,
    whole: bool = False,
    run: Run | None = None,
) -> Deduction:
    """What anyone can deduce from a release: no truth needed.

    Parameters
    ----------
    lower, upper
        What readers know of every cell beforehand (numbers, or one per cell; None: nothing).
    whole
        Readers know that cells are whole numbers.

    Raises
    ------
    ReleaseError
        No table at all satisfies what is published.
    """
    run = (run or Run()).begin()
    structure = release.structure
    known = bounds_in_units(
        -np.inf if lower is None else lower, np.inf if upper is None else upper, release.decimals
    )
    low, high = np.maximum(release.low, known[0]), np.minimum(release.high, known[1])
    unit = 10**release.decimals if whole else 1
    low = np.where(low <= -UNBOUNDED, low, -(-low // unit))
    high = np.where(high >= UNBOUNDED, high, high // unit)
    if (wrong := np.flatnonzero(low > high)).size:
        raise ReleaseError(
            f"nothing is possible for {structure.names(wrong)}: the release contradicts the bounds"
        )
    low, high = _worked_out(structure, low, high, unit)
    equations = structure.equations
    rhs = equations.rhs // unit - np.asarray(equations.matrix @ np.where(low < high, 0, low))
    asked = release.low < release.high
    least, most = _ends(equations, rhs, low, high, asked, whole, run)
    hidden = np.flatnonzero(asked)
    ends = (_in_values(unit * end[hidden], release.decimals) for end in (least, most))
    return Deduction(structure, hidden, *ends)


def _in_values(units: Floats, decimals: int) -> Floats:
    """Units as values, without the last digits of a solver's zero."""
    return np.round(units, SOLVER_DIGITS) / 10.0**decimals + 0.0


def _ends(
    equations: Equations, rhs: Units, low: Units, high: Units, asked: Mask, whole: bool, run: Run
) -> tuple[Floats, Floats]:
    """Smallest and largest value of each cell asked for; those with ``low == high`` have it already."""
    least, most = low.astype(np.float64), high.astype(np.float64)
    found = [block for block in blocks(equations, low < high, rhs) if asked[block.cells].any()]
    questions = [
        Question(block, low[block.cells], high[block.cells], whole, np.flatnonzero(asked[block.cells]), run)
        for block in found
    ]
    for done, (question, (down, up)) in enumerate(
        zip(questions, run.map(extremes, questions), strict=True), start=1
    ):
        own = question.block.cells[question.columns]
        least[own], most[own] = down, up
        run.tell("intervals", done, len(questions))
    return least, most


def _worked_out(structure: Structure, low: Units, high: Units, unit: int) -> tuple[Units, Units]:
    """Cells that an equation with no other hidden cell determines, one after the other."""
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
