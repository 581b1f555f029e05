"""Bounds of many insiders by cell: who can rule out a move, a change of the table that leaves their bounds.

Moves that prove something against the outsider are compared with the bounds of all insiders at once. Per cell
the bounds are sorted, so that insiders whom a change contradicts are one range, and the others cost nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacita.attackers.insider_list import list_ranges
from tacita.core.exact import Cells

Changes = NDArray[np.int64] | NDArray[np.float64]


class InsiderBounds:
    """Insider ``who[r]`` thinks possible that cell ``cells[r]`` changes by ``low[r]`` to ``high[r]``."""

    def __init__(self, who: Cells, cells: Cells, low: Changes, high: Changes, n_cells: int) -> None:
        edges = np.cumsum(np.bincount(cells, minlength=n_cells))
        self._first, self._last = np.concatenate([[0], edges[:-1]]), edges
        below = np.lexsort((low, cells))
        above = np.lexsort((-high, cells))
        self._below = low[below], who[below]
        self._above = -high[above], who[above]

    def find_ruled_out(self, move: Cells, cells: Cells, least: Changes, most: Changes) -> tuple[Cells, Cells]:
        """Return pairs of insider and move (a change of the table) that the insider's bounds rule out.

        Parameters
        ----------
        move, cells
            Entry ``e`` says that ``move[e]`` changes ``cells[e]``.
        least, most
            By how much. A fraction is given as the integers below and above it.
        """
        pairs = [
            self._find_above(bounds, who, move, cells, change)
            for (bounds, who), change in ((self._below, least), (self._above, -most))
        ]
        who, moves = (np.concatenate(column) for column in zip(*pairs, strict=True))
        size = int(move.max(initial=0)) + 1
        distinct = np.unique(who * size + moves)
        return distinct // size, distinct % size

    def _find_above(
        self, bounds: Changes, who: Cells, move: Cells, cells: Cells, change: Changes
    ) -> tuple[Cells, Cells]:
        """Return pairs of insider and move where the insider's bound is above the change, by bisection."""
        low, last = self._first[cells], self._last[cells]
        high = last.copy()
        while (searching := low < high).any():
            middle = (low + high) // 2
            holds = searching.copy()
            holds[searching] = bounds[middle[searching]] <= change[searching]
            low = np.where(holds, middle + 1, low)
            high = np.where(searching & ~holds, middle, high)
        sizes = last - low
        return who[list_ranges(low, sizes)], np.repeat(move, sizes)
