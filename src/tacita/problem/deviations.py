"""How far the shown numbers of a release are from the truth, relative to it and as a distribution.

With ``v`` shown and ``a`` true, over the cells that show a number. A hidden cell shows none, so it has no
part in any of these; that it is lost is counted elsewhere (:mod:`tacita.problem.quality`).

| field | is | over |
|---|---|---|
| ``relative`` | mean of ``100 abs(v - a) / abs(a)`` | cells with ``a != 0``, totals included |
| ``relative_median`` | their median | the same |
| ``relative_largest`` | their maximum | the same |
| ``rank`` | Spearman's rank correlation of ``v`` and ``a``, mean ranks for ties | inner cells |
| ``hellinger`` | ``sqrt(sum (sqrt(v / sum v) - sqrt(a / sum a))^2 / 2)``, 0 to 1 | inner cells of counts |
| ``chi_square`` | ``sum (v - a)^2 / a`` | inner cells of counts with ``a > 0`` |

Inner cells are those that are no total of others. A number beside a true zero has no relative error; ``l1``
has its distance. What is not defined is NaN: means of no cells, ranks that are all equal, distances of counts
for tables of amounts, or where a count is shown as negative.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan, sqrt

import numpy as np

from tacita.core.exact import Floats, rescale
from tacita.core.release import Release
from tacita.core.tables.table import Table


@dataclass(frozen=True)
class Deviations:
    """Deviations of the shown numbers of a release from the true ones; relative ones are in percent."""

    relative: float = nan
    relative_median: float = nan
    relative_largest: float = nan
    rank: float = nan
    hellinger: float = nan
    chi_square: float = nan


def compute_changes(table: Table, release: Release) -> Floats:
    """Return shown minus true number of each cell of a released table; NaN where no number is shown."""
    decimals = max(table.decimals, release.decimals)
    true, shown = rescale(table.units, table.decimals, decimals), release.with_decimals(decimals).value
    return np.where(release.shown, shown - true, np.nan) / 10.0**decimals


def compute_relative_changes(table: Table, release: Release) -> Floats:
    """Return shown minus true number of each cell in percent of the true one; NaN where this is zero or no
    number is shown.
    """
    true = table.values
    found = np.full(len(table), np.nan)
    np.divide(100.0 * compute_changes(table, release), np.abs(true), out=found, where=true != 0)
    return found


def measure_deviations(table: Table, release: Release) -> Deviations:
    """Return the deviations of a release's shown numbers from the values of the table."""
    relative = np.abs(compute_relative_changes(table, release))
    relative = relative[~np.isnan(relative)]
    inner = release.shown & ~table.structure.is_total
    true, shown = table.values[inner], release.value[inner] / 10.0**release.decimals
    return Deviations(
        float(relative.mean()) if relative.size else nan,
        float(np.median(relative)) if relative.size else nan,
        float(relative.max()) if relative.size else nan,
        correlate_ranks(true, shown),
        measure_hellinger(true, shown) if table.integer else nan,
        measure_chi_square(true, shown) if table.integer else nan,
    )


def correlate_ranks(true: Floats, shown: Floats) -> float:
    """Return Spearman's rank correlation of true and shown numbers; NaN where one of them does not vary."""
    ranks = [_rank(numbers) for numbers in (true, shown)]
    if true.size < 2 or any((own == own[0]).all() for own in ranks):
        return nan
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def measure_hellinger(true: Floats, shown: Floats) -> float:
    """Return the Hellinger distance between the distributions of true and shown counts, from 0 to 1; NaN
    where one of them sums up to zero or has a negative count.
    """
    if not (true.sum() > 0 and shown.sum() > 0) or min(true.min(), shown.min()) < 0:
        return nan
    apart = np.sqrt(shown / shown.sum()) - np.sqrt(true / true.sum())
    return sqrt(float(apart @ apart) / 2)


def measure_chi_square(true: Floats, shown: Floats) -> float:
    """Return ``sum (shown - true)^2 / true`` over true counts above zero; NaN where there is none."""
    filled = true > 0
    changes = shown[filled] - true[filled]
    return float((changes**2 / true[filled]).sum()) if filled.any() else nan


def _rank(numbers: Floats) -> Floats:
    """Return the rank of each number for a rank correlation, equal ones the mean of theirs."""
    _, which, times = np.unique(numbers, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(times) - (times - 1) / 2)[which], dtype=np.float64)
