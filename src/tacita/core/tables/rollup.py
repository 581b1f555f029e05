"""From the cells at the leaves to every total above them.

A leaf cell ``(c_1, .., c_k)`` belongs to each cell ``(p_1, .., p_k)`` where ``p_d`` is ``c_d`` or an ancestor
of it. The roll-up goes one dimension at a time: each step repeats every cell for each ancestor of its code
there and merges equal cells. So the work grows with the non-empty cells times the depth, never with the
product of the classifications.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacita.core.exact import Cells
from tacita.core.tables.dimension import Codes, Dimension
from tacita.core.tables.structure import cell_keys


@dataclass(frozen=True, eq=False)
class Step:
    """One dimension rolled up: cell ``source[r]`` takes part in ``target[r]``, which ascends."""

    source: Cells
    target: Cells
    starts: Cells

    def add(self, column: Cells) -> Cells:
        """Return the sums of an additive column over the sources of each target."""
        return np.asarray(np.add.reduceat(column[self.source], self.starts))


@dataclass(frozen=True, eq=False)
class Rollup:
    """The cells above leaf cells, ascending in ``keys`` (see :func:`cell_keys`), and the steps there.

    ``possible`` cells have keys, though most may be empty.
    """

    codes: Codes
    keys: Cells
    steps: tuple[Step, ...]
    possible: int

    def find(self, keys: Cells) -> Cells:
        """Return the positions of cells, all of which exist, from their keys."""
        if self._places is not None:
            return self._places[keys]
        return np.searchsorted(self.keys, keys)

    @cached_property
    def _places(self) -> Cells | None:
        """The position of each possible key, where few are empty: ten times faster than searching."""
        if self.possible > 4 * self.keys.size:
            return None
        places = np.full(self.possible, -1, dtype=np.int64)
        places[self.keys] = np.arange(self.keys.size)
        return places

    def add(self, column: Cells) -> Cells:
        """Return an additive column of the leaf cells, summed for every cell."""
        for step in self.steps:
            column = step.add(column)
        return column


def roll_up(dimensions: Sequence[Dimension], codes: Codes) -> Rollup:
    """Return all cells above the given ones, which may repeat, and may be totals with own data."""
    keys = cell_keys(dimensions, codes)
    steps = []
    for d, dimension in enumerate(dimensions):
        source, above = each_ancestor(dimension, codes[:, d])
        stride = key_stride(dimensions, d)
        wanted = keys[source] + (above.astype(np.int64) - codes[source, d]) * stride
        order = np.argsort(wanted, kind="stable")
        wanted = wanted[order]
        starts = run_starts(wanted)
        target = np.repeat(np.arange(starts.size), np.diff(starts, append=wanted.size))
        steps.append(Step(source[order], target, starts))
        first = order[starts]
        codes = codes[source[first]]
        codes[:, d] = above[first]
        keys = wanted[starts]
    possible = math.prod(len(dimension.codes) for dimension in dimensions)
    return Rollup(codes, keys, tuple(steps), possible)


def each_ancestor(dimension: Dimension, codes: Codes) -> tuple[Cells, Codes]:
    """Return each row repeated for its code and all its ancestors: the rows' positions and the codes."""
    starts, ancestors = dimension.ancestors
    first, counts = starts[codes], np.diff(starts)[codes]
    source = np.repeat(np.arange(codes.size), counts)
    within = np.arange(source.size) - np.repeat(np.cumsum(counts) - counts - first, counts)
    return source, ancestors[within]


def key_stride(dimensions: Sequence[Dimension], d: int) -> int:
    """Return what one step in the code of dimension ``d`` adds to a cell's key."""
    return math.prod(len(dimension.codes) for dimension in dimensions[d + 1 :])


def run_starts(ascending: Cells) -> Cells:
    """Return where each run of equal numbers begins."""
    if ascending.size == 0:
        return np.zeros(0, dtype=np.int64)
    return np.concatenate([[0], np.flatnonzero(ascending[1:] != ascending[:-1]) + 1])
