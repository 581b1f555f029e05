"""From the cells at the leaves to every total above them.

A leaf cell ``(c_1, .., c_k)`` belongs to each cell ``(p_1, .., p_k)`` where ``p_d`` is ``c_d`` or an ancestor of it. The
roll-up goes one dimension at a time: each step repeats every cell for each ancestor of its code there and merges equal cells.
So the work grows with the non-empty cells times the depth, never with the product of the classifications.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacita.dimension import Codes, Dimension
from tacita.exact import Cells
from tacita.structure import cell_keys


@dataclass(frozen=True, eq=False)
class Step:
    """One dimension rolled up: source cell ``source[r]`` takes part in target cell ``target[r]``; ``target`` ascends."""

    source: Cells
    target: Cells
    starts: Cells

    def add(self, column: Cells) -> Cells:
        """Sums of an additive column over the sources of each target."""
        return np.asarray(np.add.reduceat(column[self.source], self.starts))


@dataclass(frozen=True, eq=False)
class Rollup:
    """The cells that leaf cells give rise to (``codes``) and the steps that lead there."""

    codes: Codes
    steps: tuple[Step, ...]

    def add(self, column: Cells) -> Cells:
        """An additive column of the leaf cells, summed for every cell."""
        for step in self.steps:
            column = step.add(column)
        return column


def roll_up(dimensions: Sequence[Dimension], codes: Codes) -> Rollup:
    """All cells above the given ones (which may repeat, and may themselves be totals that carry data of their own)."""
    steps = []
    for d, dimension in enumerate(dimensions):
        starts, ancestors = dimension.ancestors
        counts = np.diff(starts)[codes[:, d]]
        source = np.repeat(np.arange(codes.shape[0]), counts)
        within = np.arange(source.size) - np.repeat(np.cumsum(counts) - counts, counts)
        expanded = codes[source]
        expanded[:, d] = ancestors[starts[codes[source, d]] + within]
        keys = cell_keys(dimensions, expanded)
        order = np.argsort(keys, kind="stable")
        new = np.flatnonzero(np.diff(keys[order], prepend=keys[order[:1]] - 1))
        target = np.repeat(np.arange(new.size), np.diff(np.append(new, order.size)))
        steps.append(Step(source[order], target, new))
        codes = expanded[order[new]]
    return Rollup(codes, tuple(steps))
