"""Bounds that follow from an equation: ``m_i x_i = - sum_{j != i} m_j x_j``, so that where all other cells
are bounded, the last one is.

A cell that weighs nothing and has no bound of its own gains without end from the least error in prices; with
bounds that the others imply it does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tacita.core.exact import Floats

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Rows = NDArray[np.int32]

ROUNDS = 10
"""Levels of totals of totals that are followed."""


def implied_bounds(by_cell: csr_array, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """Bounds in which infinite ones are replaced by what the equations ``M x = 0`` imply, where they do."""
    lower, upper = lower.copy(), upper.copy()
    row, entry = by_cell.indices, by_cell.data
    cell = np.repeat(np.arange(lower.size), np.diff(by_cell.indptr))
    rows = by_cell.shape[1]
    for _ in range(ROUNDS):
        unbounded = np.isinf(lower) | np.isinf(upper)
        if not unbounded.any():
            break
        low, high = entry * lower[cell], entry * upper[cell]
        low, high = np.minimum(low, high), np.maximum(low, high)
        # m_i x_i lies between these, if all other cells of its equation are bounded.
        least, most = -_of_others(high, row, rows, np.inf), -_of_others(low, row, rows, -np.inf)
        first, second = least / entry, most / entry
        np.maximum.at(lower, cell, np.where(unbounded[cell], np.minimum(first, second), -np.inf))
        np.minimum.at(upper, cell, np.where(unbounded[cell], np.maximum(first, second), np.inf))
    return lower, upper


def _of_others(ends: Floats, row: Rows, rows: int, without: float) -> Floats:
    """Per entry, the sum of the other ends in its equation; infinite, as they all would be, if one is."""
    infinite = np.isinf(ends)
    finite = np.where(infinite, 0.0, ends)
    others = np.bincount(row, infinite, rows)[row] - infinite
    return np.where(others > 0, without, np.bincount(row, finite, rows)[row] - finite)
