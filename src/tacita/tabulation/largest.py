"""The largest contributions of every cell, from those of the leaf cells.

For a cell ``A`` and a contributor ``r`` let ``f(r, A)`` be the largest of their entries in the leaf cells
below ``A``. The list of ``A`` holds the ``n`` contributors with the largest ``f(r, A)``. Since a maximum may
be taken over maxima, such lists merge: the list of a total follows from the lists of its parts, each
contributor kept once. For a contributor with one leaf cell below ``A``, ``f`` is the contribution; the others
are entered later with their sum, which can only be larger, so nobody who was cut off a list can come back
into it.

Lists are ordered by size, and among equals by contributor, so that equal input gives equal lists.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tacita.core.exact import Cells, Mask, Units
from tacita.core.tables.rollup import Rollup, Step, find_runs

NOBODY = -1
_LAST = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class Largest:
    """Per cell the ``n`` largest absolute contributions, who made them, and how many each stands for.

    Where there are fewer, ``sizes`` and ``who`` are -1.
    """

    sizes: Units
    who: Cells
    copies: Cells

    @property
    def depth(self) -> int:
        return int(self.sizes.shape[1])

    @classmethod
    def empty(cls, cells: int, depth: int) -> Largest:
        """Return empty lists of the largest contributions, for so many cells."""
        shape = (cells, depth)
        return cls(np.full(shape, NOBODY), np.full(shape, NOBODY), np.zeros(shape, dtype=np.int64))

    def rolled_up(self, rollup: Rollup, repeated: bool) -> Largest:
        """Return the largest contributions of every cell, totals included, merged from those of leaves."""
        lists = self
        for step in rollup.steps:
            lists = lists.merged(step, repeated)
        return lists

    def merged(self, step: Step, repeated: bool) -> Largest:
        """Return the largest contributions of the targets of a roll-up step, from those of its sources."""
        # Most cells of a step have one source: their lists are taken over as they are.
        sources = np.diff(step.starts, append=step.source.size)
        first = step.source[step.starts]
        result = Largest(self.sizes[first], self.who[first], self.copies[first])
        several = np.flatnonzero(sources > 1)
        if several.size:
            rows = step.source[(sources > 1)[step.target]]
            starts = np.cumsum(sources[several]) - sources[several]
            best = self._merge_lists(
                rows, starts, np.repeat(np.arange(several.size), sources[several]), repeated
            )
            result.sizes[several], result.who[several], result.copies[several] = (
                best.sizes,
                best.who,
                best.copies,
            )
        return result

    def _merge_lists(self, rows: Cells, starts: Cells, target: Cells, repeated: bool) -> Largest:
        """Return the largest contributions in the lists ``rows[starts[t]:starts[t + 1]]`` for each ``t``."""
        width = self.depth + 1
        closed = ((0, 0), (0, 1))
        sizes = np.pad(self.sizes, closed, constant_values=NOBODY).ravel()
        who = np.pad(self.who, closed, constant_values=NOBODY).ravel()
        copies = np.pad(self.copies, closed).ravel()
        at = rows * width
        result = Largest.empty(starts.size, self.depth)
        for rank in range(self.depth):
            size, person = sizes[at], who[at]
            best = np.maximum.reduceat(size, starts)
            leading = size == best[target]
            chosen = np.minimum.reduceat(np.where(leading, person, _LAST), starts)
            taken = leading & (person == chosen[target])
            result.sizes[:, rank] = best
            result.who[:, rank] = chosen
            result.copies[:, rank] = np.maximum.reduceat(np.where(taken, copies[at], 0), starts)
            at = at + (taken & (person >= 0))
            if repeated:
                at = self._skip_chosen(at, who, result.who[:, : rank + 1], target)
        return result

    @staticmethod
    def _skip_chosen(at: Cells, who: Cells, chosen: Cells, target: Cells) -> Cells:
        """Return the list heads, each moved past contributors that its cell has already listed."""
        moving = np.arange(at.size)
        while moving.size:
            person = who[at[moving]]
            seen = (person >= 0) & (person[:, None] == chosen[target[moving]]).any(axis=1)
            moving = moving[seen]
            at[moving] += 1
        return at

    def admits(self, cells: Cells, who: Cells, sizes: Units) -> Mask:
        """Return a mask of the contributors large enough for the lists of these cells, each alone."""
        least, last = self.sizes[cells, -1], self.who[cells, -1]
        return np.asarray((sizes > least) | ((sizes == least) & (who <= last)))

    def with_entries(self, cells: Cells, who: Cells, sizes: Units, copies: Cells) -> Largest:
        """Return the lists of the largest with further contributors, each by their largest entry there."""
        keep = self.admits(cells, who, sizes)
        cells, who, sizes, copies = cells[keep], who[keep], sizes[keep], copies[keep]
        if cells.size == 0:
            return self
        touched, local = np.unique(cells, return_inverse=True)
        where = np.concatenate([np.repeat(np.arange(touched.size), self.depth), local])
        person = np.concatenate([self.who[touched].ravel(), who])
        size = np.concatenate([self.sizes[touched].ravel(), sizes])
        copy = np.concatenate([self.copies[touched].ravel(), copies])
        order = np.lexsort((-copy, -size, person, where))
        order = order[person[order] >= 0]
        again = np.zeros(order.size, dtype=bool)
        again[1:] = (where[order[1:]] == where[order[:-1]]) & (person[order[1:]] == person[order[:-1]])
        order = order[~again]
        order = order[np.lexsort((person[order], -size[order], where[order]))]
        starts = find_runs(where[order])
        rank = np.arange(order.size) - np.repeat(starts, np.diff(starts, append=order.size))
        order, rank = order[rank < self.depth], rank[rank < self.depth]
        result = Largest(self.sizes.copy(), self.who.copy(), self.copies.copy())
        for into, entries in ((result.sizes, size), (result.who, person), (result.copies, copy)):
            into[touched[where[order]], rank] = entries[order]
        return result

    def with_copies(self) -> Largest:
        """Return the lists of the largest, each entry as often as its weight stands for, once with a name."""
        if (self.copies <= 1).all():
            return self
        ends = np.cumsum(self.copies, axis=1)
        result = Largest.empty(*self.sizes.shape)
        rows = np.arange(self.sizes.shape[0])
        for rank in range(self.depth):
            source = (ends <= rank).sum(axis=1)
            here = source < self.depth
            entry = source[here]
            result.sizes[here, rank] = self.sizes[rows[here], entry]
            original = ends[rows[here], entry] - self.copies[rows[here], entry] == rank
            result.who[here, rank] = np.where(original, self.who[rows[here], entry], NOBODY)
        return replace(result, copies=(result.sizes >= 0).astype(np.int64))
