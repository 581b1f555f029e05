"""Contributors with several leaf cells: what they contribute to the cells above.

Contributor ``r`` has entries ``x_r(c)`` in leaf cells ``c``. To a cell ``A`` they contribute ``x_r(A)``, the
sum over the ``c`` below ``A``. A cell ``A`` is *shared* if two or more leaf cells of one contributor lie
below it; only there does merging change anything. The search for shared cells goes one dimension at a time:
entries are grouped by contributor and the ancestors chosen so far, and a group of one is dropped, since
whatever is chosen next it stays one.

*Contributors with a few leaf cells, by inclusion and exclusion.* The cells above all of some leaf cells ``S``
are the cells above one cell, their *join*: in each dimension the lowest code above all their codes. (With
several trees over one dimension there may be no lowest one.) So for a contributor with leaf cells ``E`` and
any cell ``A``

    [A is above some of E]          =  sum over S of  (-1)**(|S| + 1)                 [A is above join(S)]
    largest weight among E below A  =  sum over S of  (-1)**(|S| + 1) min weight in S [A is above join(S)]

where ``S`` runs over the subsets of ``E`` except the empty one. Where all entries have one sign, the
contribution to ``A`` is the largest in size of the sums over the ``S`` with ``A`` above ``join(S)``. Counts,
weights and candidates for the largest are therefore noted at the joins alone and rolled up once for all
contributors, however many cells lie above.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tacita.core.exact import Cells, Mask, Units
from tacita.core.tables.contributions import Shares
from tacita.core.tables.dimension import Codes, Dimension
from tacita.core.tables.rollup import find_runs, find_stride, list_ancestors


@dataclass(frozen=True, eq=False)
class Entries:
    """What contributor ``who[r]`` has in the leaf cell with key ``keys[r]``: the sum of their records there.

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
class MergedEntries:
    """Contributor ``who[g]`` in cell ``keys[g]``, by entries ``rows[starts[g]:starts[g + 1]]``."""

    who: Cells
    keys: Cells
    rows: Cells
    starts: Cells

    @property
    def sizes(self) -> Cells:
        """The number of leaf cells that each pair of contributor and cell merges."""
        return np.diff(self.starts, append=self.rows.size)

    def add(self, column: Units) -> Units:
        """Return the sum of a column of entries for each pair of contributor and cell."""
        if not self.starts.size:
            return np.zeros(0, dtype=np.int64)
        return np.asarray(np.add.reduceat(column[self.rows], self.starts))

    def max(self, column: Units) -> Units:
        """Return the maximum of a column of entries for each pair of contributor and cell."""
        if not self.starts.size:
            return np.zeros(0, dtype=np.int64)
        return np.asarray(np.maximum.reduceat(column[self.rows], self.starts))


def merge_entries(
    dimensions: Sequence[Dimension], who: Cells, keys: Cells, shared_only: bool
) -> MergedEntries:
    """Return all pairs of contributor and cell in microdata, or those of shared cells; ``who`` ascends."""
    rows = np.arange(who.size)
    starts = find_runs(who)
    group = np.repeat(np.arange(starts.size), np.diff(starts, append=who.size))
    above = np.zeros(who.size, dtype=np.int64)
    for d, dimension in enumerate(dimensions):
        source, code = list_ancestors(dimension, decode_keys(dimensions, d, keys[rows]))
        wanted = group[source] * len(dimension.codes) + code
        order = np.argsort(wanted, kind="stable")
        wanted = wanted[order]
        starts = find_runs(wanted)
        sizes = np.diff(starts, append=wanted.size)
        if shared_only:
            order = order[np.repeat(sizes > 1, sizes)]
            sizes = sizes[sizes > 1]
            starts = np.cumsum(sizes) - sizes
        group = np.repeat(np.arange(starts.size), sizes)
        above = above[source[order]] + code[order].astype(np.int64) * find_stride(dimensions, d)
        rows = rows[source[order]]
    first = rows[starts]
    return MergedEntries(who[first], above[starts], rows, starts)


def decode_keys(dimensions: Sequence[Dimension], d: int, keys: Cells) -> Codes:
    """Return the codes in dimension ``d`` of tabulated cells, given by their keys."""
    return (keys // find_stride(dimensions, d) % len(dimensions[d].codes)).astype(np.int32)


@dataclass(frozen=True, eq=False)
class JoinedSubset:
    """One subset for each of many contributors: the key of its join, and what is to be noted there.

    ``sign`` is ``(-1)**(|S| + 1)``; ``lightest`` and ``heaviest`` are the least and the largest weight in it.
    """

    sign: int
    keys: Cells
    own: Units
    lightest: Units
    heaviest: Units


def have_joins(dimensions: Sequence[Dimension]) -> bool:
    """Return whether any two cells have a join, the lowest cell above both: with one tree per dimension."""
    return all(len(dimension.trees) == 1 for dimension in dimensions)


def join_subsets(dimensions: Sequence[Dimension], entries: Entries, rows: Cells) -> Iterator[JoinedSubset]:
    """Yield the joins of each two or more of the entries ``rows[i]``, for all contributors ``i`` at once."""
    paths = [_list_ancestor_paths(dimension) for dimension in dimensions]
    strides = [find_stride(dimensions, d) for d in range(len(dimensions))]
    codes: dict[int, list[Codes]] = {}
    noted: dict[int, tuple[Units, Units, Units]] = {}
    for subset in range(1, 2 ** rows.shape[1]):
        # A subset is a binary number: its last member, and the subset of the others.
        member = subset.bit_length() - 1
        others = subset - (1 << member)
        if not others:
            at = rows[:, member]
            codes[subset] = [decode_keys(dimensions, d, entries.keys[at]) for d in range(len(dimensions))]
            noted[subset] = entries.own[at], entries.weight[at], entries.weight[at]
            continue
        last = 1 << member
        codes[subset] = [
            _join(path, one, other)
            for path, one, other in zip(paths, codes[others], codes[last], strict=True)
        ]
        own, light, heavy = noted[others]
        added, weight, _ = noted[last]
        noted[subset] = own + added, np.minimum(light, weight), np.maximum(heavy, weight)
        keys = np.zeros(len(rows), dtype=np.int64)
        for code, stride in zip(codes[subset], strides, strict=True):
            keys += code.astype(np.int64) * stride
        yield JoinedSubset(1 if subset.bit_count() % 2 else -1, keys, *noted[subset])


def _list_ancestor_paths(dimension: Dimension) -> Codes:
    """Return as row ``l`` the ancestor of each code ``l`` steps below the root, or the code itself."""
    starts, ancestors = dimension.ancestors
    depths = np.diff(starts)
    steps = np.arange(depths.max())[:, None]
    return np.asarray(ancestors[np.maximum(starts[1:] - 1 - steps, starts[:-1])])


def _join(paths: Codes, one: Codes, other: Codes) -> Codes:
    """Return the lowest code above two codes, where entries of a contributor join, for many pairs."""
    result = one.copy()
    differing = np.flatnonzero(one != other)
    one, other = one[differing], other[differing]
    common = paths[0][one]
    for path in paths[1:]:
        step = path[one]
        common = np.where(step == path[other], step, common)
    result[differing] = common
    return result


@dataclass(frozen=True, eq=False)
class LeafShares:
    """The shares of contributors in any cell, from their leaf entries; ``who`` ascends.

    ``cell_keys`` are the keys of the table's cells in order.
    """

    dimensions: tuple[Dimension, ...]
    cell_keys: Cells
    who: Cells
    keys: Cells
    own: Units

    def __call__(self, who: Cells) -> Shares:
        """Return everything that some contributors in the microdata put into any cell, in units."""
        wanted = np.unique(who)
        low, high = np.searchsorted(self.who, wanted), np.searchsorted(self.who, wanted, side="right")
        counts = high - low
        rows = np.arange(counts.sum()) + np.repeat(low - (np.cumsum(counts) - counts), counts)
        found = merge_entries(self.dimensions, self.who[rows], self.keys[rows], shared_only=False)
        return Shares(found.who, np.searchsorted(self.cell_keys, found.keys), found.add(self.own[rows]))
