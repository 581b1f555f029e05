"""What a release lost at each level of each hierarchy.

The level of a cell in a dimension is the depth of its code there: 0 is the total, 1 the codes below it, and
so on; a code that several trees share has the depth of the first of them that has it. So the cells fall into
levels once per dimension, and the rows of each dimension have all cells. A table without dimensions has two
levels: cells that are the total of an equation, and the others.

| column | is, over the cells of a level |
|---|---|
| ``cells`` | how many there are |
| ``lost`` | how many of them show no number |
| ``changed`` | how many show no number or another one than the true one |
| ``value_percent`` | the absolute values of those without a number, in percent of all at this level |
| ``l1`` | ``sum abs(v - a)`` of those that show a number |
| ``relative`` | mean of ``100 abs(v - a) / abs(a)`` of those that show a number, without true zeros |

All of this is for internal use, as it reveals true values; how many cells of a level are lost is not, as
readers can count them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from math import nan
from typing import TYPE_CHECKING

import numpy as np

from tacita.core.exact import Cells, Mask
from tacita.core.release import Release
from tacita.core.tables.frames import Framed
from tacita.core.tables.layout import list_lines
from tacita.core.tables.structure import Structure
from tacita.problem.deviations import compute_changes, compute_relative_changes
from tacita.problem.problem import Problem
from tacita.problem.quality import find_changed, name_release, refuse_other_cells

if TYPE_CHECKING:
    import pyarrow as pa

WITHOUT_DIMENSIONS = "cells"
"""What stands for the dimension of a table that has none."""


@dataclass(frozen=True)
class LevelLoss:
    """What one release lost at one level of one dimension."""

    release: str
    dimension: str
    level: int
    cells: int
    lost: int
    changed: int
    value_percent: float
    l1: float
    relative: float


class LossesByLevel(Framed, tuple[LevelLoss, ...]):
    """One row per release, dimension and level, in this order."""

    def to_arrow(self) -> pa.Table:
        """Return an Arrow table with one row per release, dimension and level, columns as above."""
        import pyarrow as pa

        return pa.table({f.name: [getattr(row, f.name) for row in self] for f in fields(LevelLoss)})


def compare_by_level(problem: Problem, releases: Sequence[Release]) -> LossesByLevel:
    """Return what each release of a problem lost at each level of each hierarchy.

    Raises
    ------
    ReleaseError
        A release is of another table.
    """
    return LossesByLevel(row for release in releases for row in _list_losses(problem, release))


def list_levels(structure: Structure) -> Iterator[tuple[str, Cells]]:
    """Yield each dimension of a table with the level of every cell in it, 0 for its total."""
    if not structure.dimensions:
        yield WITHOUT_DIMENSIONS, np.where(structure.is_total, 0, 1)
    for d, dimension in enumerate(structure.dimensions):
        codes, lines = list_lines(dimension)
        depth = np.zeros(len(dimension.codes), dtype=np.int64)
        depth[codes] = [line.depth for line in lines]
        yield dimension.name, depth[structure.codes[:, d]]


def _list_losses(problem: Problem, release: Release) -> Iterator[LevelLoss]:
    """Yield what a release lost of a problem's table, by dimension and level."""
    table, name = problem.table, name_release(release)
    refuse_other_cells(problem, release, name)
    lost, changed = ~release.shown, find_changed(table, release)
    values, distance = np.abs(table.values), np.abs(compute_changes(table, release))
    relative = np.abs(compute_relative_changes(table, release))

    def measure(dimension: str, level: int, here: Mask) -> LevelLoss:
        all_values = float(values[here].sum())
        known = relative[here & ~np.isnan(relative)]
        return LevelLoss(
            name,
            dimension,
            level,
            int(here.sum()),
            int((lost & here).sum()),
            int((changed & here).sum()),
            100.0 * float(values[lost & here].sum()) / all_values if all_values else nan,
            float(distance[here & ~lost].sum()),
            float(known.mean()) if known.size else nan,
        )

    for dimension, level in list_levels(table.structure):
        for own in np.unique(level).tolist():
            yield measure(dimension, own, level == own)
