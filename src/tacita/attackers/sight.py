"""Who sees through a move: a change of the table that leaves the bounds of an insider.

Moves that convince the outsider are shown to all insiders at once. Per cell the bounds of all who know it are
sorted, so that those whom a change contradicts stand together, and the others cost nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacita.core.exact import Cells

Changes = NDArray[np.int64] | NDArray[np.float64]


class Sight:
    """Insider ``who[r]`` thinks possible that cell ``cells[r]`` changes by ``low[r]`` to ``high[r]``."""

    def __init__(self, who: Cells, cells: Cells, low: Changes, high: Changes, n_cells: int) -> None:
        edges = np.cumsum(np.bincount(cells, minlength=n_cells))
        self._first, self._last = np.concatenate([[0], edges[:-1]]), edges
        below = np.lexsort((low, cells))
        above = np.lexsort((-high, cells))
        self._below = low[below], who[below]
        self._above = -high[above], who[above]

    def through(self, move: Cells, cells: Cells, least: Changes, most: Changes) -> tuple[Cells, Cells]:
        """Pairs of insider and move where the insider can rule the move out.

        Parameters
        ----------
        move, cells
            Entry ``e`` says that ``move[e]`` changes ``cells[e]``.
        least, most
            By how much. A fraction is given as the integers below and above it.
        """
        pairs = [
            self._beyond(bounds, who, move, cells, change)
            for (bounds, who), change in ((self._below, least), (self._above, -most))
        ]
        who, seen = (np.concatenate(column) for column in zip(*pairs, strict=True))
        size = int(move.max(initial=0)) + 1
        distinct = np.unique(who * size + seen)
        return distinct // size, distinct % size

    def _beyond(
        self, bounds: Changes, who: Cells, move: Cells, cells: Cells, change: Changes
    ) -> tuple[Cells, Cells]:
        """Those whose lower bound is above the change."""
        low, last = self._first[cells], self._last[cells]
        high = last.copy()
        while (searching := low < high).any():
            middle = (low + high) // 2
            holds = searching.copy()
            holds[searching] = bounds[middle[searching]] <= change[searching]
            low = np.where(holds, middle + 1, low)
            high = np.where(searching & ~holds, middle, high)
        sizes = last - low
        rows = np.arange(sizes.sum()) + np.repeat(low - (np.cumsum(sizes) - sizes), sizes)
        return who[rows], np.repeat(move, sizes)
