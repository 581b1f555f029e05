"""Columns of a block that move together: ``z_i = z_j`` or ``z_i = -z_j`` where two are alone in an equation.

In sparse tables every third equation has two hidden cells. With one column for all that are tied, other
equations get shorter, which ties further columns. A program over what is left has half the rows.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csc_array, csr_array

from tacita.core.exact import Cells, Floats, Units


class TiedColumns:
    """The equations of a block over ties: column ``i`` changes by ``sign[i]`` times the change of its tie.

    Attributes
    ----------
    tie
        The number of each column's tie.
    size
        How many columns each tie has.
    rows, columns
        The equations between ties, by rows and by columns.
    """

    def __init__(self, rows: csr_array) -> None:
        n = rows.shape[1]
        self.tie, self.sign = np.arange(n), np.ones(n)
        self.rows = rows.astype(np.float64)
        while (parent := self._find_parents()) is not None:
            self._merge(*parent)
        self.columns = csc_array(self.rows)
        self.size = np.bincount(self.tie).astype(np.float64)
        self._order = np.argsort(self.tie, kind="stable")
        self._starts = np.searchsorted(self.tie[self._order], np.arange(self.size.size))

    def find_room(self, low: Units, high: Units) -> tuple[Floats, Floats]:
        """Return how far up and down each tie of an audited block can move, given the bounds of columns."""
        same = self.sign > 0
        up, down = np.where(same, high, -low), np.where(same, -low, high)
        least_up, least_down = (
            np.minimum.reduceat(side[self._order], self._starts).astype(np.float64) for side in (up, down)
        )
        return least_up, least_down

    def expand(self, move: Floats) -> Floats:
        """Return a move of ties as a move of the columns of an audited block."""
        return np.asarray(self.sign * move[self.tie])

    def _find_parents(self) -> tuple[Cells, Floats] | None:
        """Return for each tie one with a lower number that it moves with, or itself, and the sign; None if no
        equation ties any.
        """
        first = self.rows.indptr[:-1][np.diff(self.rows.indptr) == 2]
        one, other = self.rows.indices[first], self.rows.indices[first + 1]
        ratio = -self.rows.data[first] / self.rows.data[first + 1]
        equal = np.abs(ratio) == 1
        if not equal.any():
            return None
        one, other, ratio = one[equal], other[equal], ratio[equal]
        parent, sign = np.arange(self.rows.shape[1]), np.ones(self.rows.shape[1])
        later = np.maximum(one, other)
        parent[later], sign[later] = np.minimum(one, other), ratio
        # Each parent's number is lower, so that chains end.
        while (above := parent[parent] != parent).any():
            sign[above] *= sign[parent[above]]
            parent[above] = parent[parent[above]]
        return parent, sign

    def _merge(self, parent: Cells, sign: Floats) -> None:
        """Merge ties of an audited block with their parents, and drop equations without entries."""
        kept, number = np.unique(parent, return_inverse=True)
        joins = csr_array((sign, (np.arange(parent.size), number)), shape=(parent.size, kept.size))
        merged = csr_array(self.rows @ joins)
        merged.eliminate_zeros()
        self.rows = merged[np.flatnonzero(np.diff(merged.indptr))]
        self.sign = self.sign * sign[self.tie]
        self.tie = number[self.tie]
