"""Changes, windows and statistics of a given release, of any method: what losses are computed from."""

from __future__ import annotations

import numpy as np

from tacita.core.errors import ReleaseError
from tacita.core.exact import UNBOUNDED, Floats, Mask
from tacita.core.release import Release
from tacita.methods.adjustment.statistics.measures import measure_changes
from tacita.problem.problem import Problem


def measure_shown_changes(problem: Problem, release: Release, cells: Mask | None = None) -> Floats:
    """Return published minus true number per cell, in units, for a method's loss; 0 outside ``cells``.

    Raises
    ------
    ReleaseError
        The release is of another table, or some cell shows no number.
    """
    _refuse_other_tables(problem, release)
    measured = np.ones(len(problem.table), dtype=bool) if cells is None else cells
    if (silent := np.flatnonzero(measured & ~release.shown)).size:
        raise ReleaseError(
            "shows no number, so that its change cannot be measured",
            place=problem.table.structure.names(silent),
            remedy="measure it as suppression or as intervals",
        )
    finer = 10.0 ** (release.decimals - problem.table.decimals)
    return np.where(measured, release.value / finer - problem.table.units, 0.0)


def measure_window_reaches(problem: Problem, release: Release) -> tuple[Floats, Floats]:
    """Return how far each cell's window reaches above and below the truth, in values, for a method's loss,
    within the outsider's bounds; infinite where it is unbounded.
    """
    _refuse_other_tables(problem, release)
    table, finer = problem.table, 10.0 ** (release.decimals - problem.table.decimals)
    low = np.where(release.low <= -UNBOUNDED, -np.inf, release.low / finer)
    high = np.where(release.high >= UNBOUNDED, np.inf, release.high / finer)
    known_low, known_high = problem.outsider.lower, problem.outsider.upper
    low = np.maximum(low, np.where(known_low <= -UNBOUNDED, -np.inf, known_low))
    high = np.minimum(high, np.where(known_high >= UNBOUNDED, np.inf, known_high))
    one = 10.0**table.decimals
    return (high - table.units) / one, (table.units - low) / one


def find_inexact_cells(problem: Problem, release: Release) -> Mask:
    """Return which cells a release does not give exactly, for the loss of a method."""
    _refuse_other_tables(problem, release)
    return release.hidden


def measure_shown_statistics(problem: Problem, release: Release) -> dict[str, float]:
    """Return by how many percent a release of any method changes mean, variance, correlation and slope.

    They are those of :mod:`tacita.methods.adjustment.statistics.measures`, over the inner cells that show a
    number; hidden cells have no part in them, before and after. Empty where fewer than two are shown.
    """
    _refuse_other_tables(problem, release)
    cells = release.shown & ~problem.table.structure.is_total
    if cells.sum() < 2:
        return {}
    return measure_changes(problem.table.values, release.value / 10.0**release.decimals, cells)


def _refuse_other_tables(problem: Problem, release: Release) -> None:
    if not release.structure.same_cells(problem.table.structure):
        raise ReleaseError(
            "the release lists other cells than the table", remedy="measure releases of this table"
        )
