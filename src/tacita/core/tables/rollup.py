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
from tacita.core.tables.structure import make_keys


@dataclass(frozen=True, eq=False)
class Step:
    """One dimension rolled up: cell ``source[r]`` takes part in ``target[r]``, which ascends."""

    source: Cells
    target: Cells
    starts: Cells

    def add(self, column: Cells) -> Cells:
        """Return the sum of an additive column over the source cells of each target cell."""
        return np.asarray(np.add.reduceat(column[self.source], self.starts))


@dataclass(frozen=True, eq=False)
class Rollup:
    """The cells above leaf cells, ascending in ``keys`` (see :func:`make_keys`), and the steps there.

    ``possible`` cells have keys, though most may be empty.
    """

    codes: Codes
    keys: Cells
    steps: tuple[Step, ...]
    possible: int

    def find(self, keys: Cells) -> Cells:
        """Return the positions of cells among the rolled-up ones, from their keys; all of them exist."""
        if self._places is not None:
            return self._places[keys]
        return np.searchsorted(self.keys, keys)

    @cached_property
    def _places(self) -> Cells | None:
        """The position of each possible key's cell, None where most are empty: faster than searching."""
        if self.possible > 4 * self.keys.size:
            return None
        places = np.full(self.possible, -1, dtype=np.int64)
        places[self.keys] = np.arange(self.keys.size)
        return places

    def add(self, column: Cells) -> Cells:
        """Return the sums of an additive column of the leaf cells, for every cell, totals included."""
        for step in self.steps:
            column = step.add(column)
        return column


def roll_up(dimensions: Sequence[Dimension], codes: Codes) -> Rollup:
    """Return all cells of a table above the given ones, which may repeat, and may be totals with own data."""
    keys = make_keys(dimensions, codes)
    steps = []
    for d, dimension in enumerate(dimensions):
        source, above = list_ancestors(dimension, codes[:, d])
        stride = find_stride(dimensions, d)
        wanted = keys[source] + (above.astype(np.int64) - codes[source, d]) * stride
        order = np.argsort(wanted, kind="stable")
        wanted = wanted[order]
        starts = find_runs(wanted)
        target = np.repeat(np.arange(starts.size), np.diff(starts, append=wanted.size))
        steps.append(Step(source[order], target, starts))
        first = order[starts]
        codes = codes[source[first]]
        codes[:, d] = above[first]
        keys = wanted[starts]
    possible = math.prod(len(dimension.codes) for dimension in dimensions)
    return Rollup(codes, keys, tuple(steps), possible)


def list_ancestors(dimension: Dimension, codes: Codes) -> tuple[Cells, Codes]:
    """Return the positions of cells, each repeated for its code and all its ancestors, and these codes."""
    starts, ancestors = dimension.ancestors
    first, counts = starts[codes], np.diff(starts)[codes]
    source = np.repeat(np.arange(codes.size), counts)
    within = np.arange(source.size) - np.repeat(np.cumsum(counts) - counts - first, counts)
    return source, ancestors[within]


def find_stride(dimensions: Sequence[Dimension], d: int) -> int:
    """Return what one step in the code of dimension ``d`` adds to the key of a cell (:func:`make_keys`)."""
    return math.prod(len(dimension.codes) for dimension in dimensions[d + 1 :])


def find_runs(ascending: Cells) -> Cells:
    """Return the positions where runs of equal cell keys begin in an ascending list."""
    if ascending.size == 0:
        return np.zeros(0, dtype=np.int64)
    return np.concatenate([[0], np.flatnonzero(ascending[1:] != ascending[:-1]) + 1])
