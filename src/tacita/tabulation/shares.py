"""Contributors with several leaf cells: what they contribute to the cells above.

Contributor ``r`` has entries ``x_r(c)`` in leaf cells ``c``. To a cell ``A`` he contributes ``x_r(A)``, the
sum over the ``c`` below ``A``. He *shares* ``A`` with himself if two or more of his leaf cells lie below it;
only there does merging change anything. The search for shared cells goes one dimension at a time: entries are
grouped by contributor and the ancestors chosen so far, and a group of one is dropped, since whatever is
chosen next it stays one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacita.core.exact import Cells, Mask, Units
from tacita.core.tables.contributions import Shares
from tacita.core.tables.dimension import Codes, Dimension
from tacita.core.tables.rollup import each_ancestor, key_stride, run_starts


@dataclass(frozen=True, eq=False)
class Entries:
    """What contributor ``who[r]`` has in the leaf cell with key ``keys[r]``: the sum of his records there.

    ``weighted`` is what they add to the cell's value, ``weight`` the largest weight among them, in
    millionths.
    """

    who: Cells
    keys: Cells
    own: Units
    weighted: Units
    weight: Units

    def part(self, rows: slice | Mask) -> Entries:
        return Entries(*(c[rows] for c in (self.who, self.keys, self.own, self.weighted, self.weight)))


@dataclass(frozen=True, eq=False)
class Merged:
    """Pairs of contributor ``who[g]`` and cell key ``keys[g]``; the entries below are
    ``rows[starts[g]:starts[g + 1]]``.
    """

    who: Cells
    keys: Cells
    rows: Cells
    starts: Cells

    @property
    def sizes(self) -> Cells:
        """How many leaf cells each pair merges."""
        return np.diff(self.starts, append=self.rows.size)

    def add(self, column: Units) -> Units:
        """Sums of a column of entries."""
        if not self.starts.size:
            return np.zeros(0, dtype=np.int64)
        return np.asarray(np.add.reduceat(column[self.rows], self.starts))

    def most(self, column: Units) -> Units:
        """Maxima of a column of entries."""
        if not self.starts.size:
            return np.zeros(0, dtype=np.int64)
        return np.asarray(np.maximum.reduceat(column[self.rows], self.starts))


def merge(dimensions: Sequence[Dimension], who: Cells, keys: Cells, shared_only: bool) -> Merged:
    """All pairs of contributor and cell, or only those where several entries come together; ``who``
    ascends.
    """
    rows = np.arange(who.size)
    starts = run_starts(who)
    group = np.repeat(np.arange(starts.size), np.diff(starts, append=who.size))
    above = np.zeros(who.size, dtype=np.int64)
    for d, dimension in enumerate(dimensions):
        source, code = each_ancestor(dimension, codes_in(dimensions, d, keys[rows]))
        wanted = group[source] * len(dimension.codes) + code
        order = np.argsort(wanted, kind="stable")
        wanted = wanted[order]
        starts = run_starts(wanted)
        sizes = np.diff(starts, append=wanted.size)
        if shared_only:
            order = order[np.repeat(sizes > 1, sizes)]
            sizes = sizes[sizes > 1]
            starts = np.cumsum(sizes) - sizes
        group = np.repeat(np.arange(starts.size), sizes)
        above = above[source[order]] + code[order].astype(np.int64) * key_stride(dimensions, d)
        rows = rows[source[order]]
    first = rows[starts]
    return Merged(who[first], above[starts], rows, starts)


def codes_in(dimensions: Sequence[Dimension], d: int, keys: Cells) -> Codes:
    """The codes of cells, given by their keys, in dimension ``d``."""
    return (keys // key_stride(dimensions, d) % len(dimensions[d].codes)).astype(np.int32)


@dataclass(frozen=True, eq=False)
class LeafShares:
    """Answers what contributors put into any cell, from their leaf entries; ``who`` ascends.

    ``cell_keys`` are the keys of the table's cells in order.
    """

    dimensions: tuple[Dimension, ...]
    cell_keys: Cells
    who: Cells
    keys: Cells
    own: Units

    def __call__(self, who: Cells) -> Shares:
        """Everything that some contributors put into any cell."""
        wanted = np.unique(who)
        low, high = np.searchsorted(self.who, wanted), np.searchsorted(self.who, wanted, side="right")
        counts = high - low
        rows = np.arange(counts.sum()) + np.repeat(low - (np.cumsum(counts) - counts), counts)
        found = merge(self.dimensions, self.who[rows], self.keys[rows], shared_only=False)
        return Shares(found.who, np.searchsorted(self.cell_keys, found.keys), found.add(self.own[rows]))
