"""Integer steps plane by plane, for tables of three and more dimensions whose margins leave no room.

A plane is a network: cells that share the codes of all but two dimensions. Planes are rounded one after
another. The rounding error of earlier planes, ``e = sum (x - t)`` over an equation that joins planes, is
compensated by the next one,

    x = rounding of  t - e,

down or up, so that ``|e| < 1`` and ``|x - t| < 2``; the last plane follows from the others. Where bounds
prevent that, cells go farther and ``e`` may grow. Planes with the most room come last, and an integer program
over a few of them repairs the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tacita.core.exact import Cells, Floats, Mask, Units
from tacita.core.run import Run
from tacita.core.tables.dimension import Dimension
from tacita.methods.adjustment.integer.integer_flow import solve_flow
from tacita.methods.adjustment.integer.integer_program import repair_steps
from tacita.methods.adjustment.integer.step_task import FARTHEST, StepTask
from tacita.solvers.network import Network

if TYPE_CHECKING:
    from scipy.sparse import csc_array

ASIDE = 1e3
"""Penalty for a step beyond the two integers around a plane's target, as a multiple of the costliest step."""
ACROSS = 2
"""Dimensions of a plane."""
FEWEST = 2
"""Planes in the smallest neighbourhood of a repair."""


def round_by_planes(steps: StepTask, run: Run) -> Units | None:
    """Return feasible integer steps of an adjustment, plane by plane; None if no networks, or no room."""
    structure = steps.structure
    if len(structure.dimensions) < 3 or len(structure.parts) > 1:
        return None
    planes = TablePlanes.of(steps)
    value = np.where(steps.fractional, steps.target, steps.nearest)
    x, excess = steps.nearest.copy(), steps.matrix @ value
    for p in range(len(planes)):
        cells = planes.cells(p)
        found = _round_plane(steps, planes.equations(p), cells, value[cells] - planes.share(p, excess), run)
        if found is None:
            return None
        x[cells] = found
        planes.add_to_excess(p, excess, np.asarray(found - value[cells], dtype=np.float64))
        run.report("planes", p + 1, len(planes))
    return x if steps.is_feasible(x) else repair_steps(steps, x, planes.grow_neighbourhoods(steps, x), run)


def _round_plane(
    steps: StepTask, equations: csc_array, cells: Cells, wanted: Floats, run: Run
) -> Units | None:
    """Return integer steps of one plane of an adjusted table near the wanted ones; None if no network."""
    low, high = steps.low[cells], steps.high[cells]
    task = replace(steps.task, matrix=equations.tocsr(), weight=steps.task.weight[cells], side=None)
    plane = StepTask(task, steps.structure, low, high, np.clip(wanted, low, high))
    network, everything = Network.of(equations), np.arange(cells.size)
    if network is None:
        return None
    x = solve_flow(plane, network, everything, plane.make_pieces_in_box(), run)
    if x is None:
        most_expensive = np.abs(
            plane.costs(everything, plane.below + 1) - plane.costs(everything, plane.below)
        ).max()
        pieces = plane.make_pieces_around_box(FARTHEST, ASIDE * (float(most_expensive) or 1.0))
        x = solve_flow(plane, network, everything, pieces, run)
    return plane.below if x is None else x


@dataclass(frozen=True, eq=False)
class TablePlanes:
    """Cells that can change, plane by plane: totals after their parts, and planes with more room later.

    Attributes
    ----------
    cell
        All these cells; plane ``p`` is ``cell[first[p]:first[p + 1]]``.
    columns
        ``M`` restricted to them, in this order.
    home
        Of an equation: the plane that contains all its cells, or -1 if it joins planes.
    last
        Of an equation: the last plane with a cell of it.
    n_cells
        Of the table.
    """

    cell: Cells
    first: Cells
    columns: csc_array
    home: Cells
    last: Cells
    n_cells: int

    def __len__(self) -> int:
        return self.first.size - 1

    @classmethod
    def of(cls, steps: StepTask) -> TablePlanes:
        from scipy.sparse import csc_array

        cells = np.flatnonzero(steps.movable | (steps.low != 0))
        plane, height = _slice_planes(steps, cells)
        target = steps.target[cells]
        free = np.minimum(steps.high[cells] - target, target - steps.low[cells]) >= 1.0
        size = np.bincount(plane)
        order = np.lexsort((np.bincount(plane, free) / size, height))
        rank = np.empty_like(order)
        rank[order] = np.arange(order.size)
        sequence = np.argsort(rank[plane], kind="stable")
        columns = csc_array(steps.columns[:, cells[sequence]])
        of_entry = np.repeat(rank[plane][sequence], np.diff(columns.indptr))
        earliest, last = np.full(columns.shape[0], order.size), np.full(columns.shape[0], -1)
        np.minimum.at(earliest, columns.indices, of_entry)
        np.maximum.at(last, columns.indices, of_entry)
        return cls(
            cells[sequence],
            np.concatenate([[0], np.cumsum(size[order])]).astype(np.int64),
            columns,
            np.where(earliest == last, last, -1),
            last,
            len(steps),
        )

    def cells(self, p: int) -> Cells:
        return self.cell[self.first[p] : self.first[p + 1]]

    def equations(self, p: int) -> csc_array:
        """Return the matrix of the equations within one plane of the table to adjust."""
        from scipy.sparse import csc_array

        row, column, coefficient = self._list_entries(p)
        own = self.home[row] == p
        _, place = np.unique(row[own], return_inverse=True)
        size = int(self.first[p + 1] - self.first[p])
        shape = (int(place.max(initial=-1)) + 1, size)
        return csc_array((coefficient[own], (place, column[own])), shape=shape)

    def share(self, p: int, excess: Floats) -> Floats:
        """Return how much too large adjusted cells of a plane are for equations that join it to others.

        Equations whose last plane this is must be satisfied; of others a cell takes the mean.
        """
        row, column, coefficient = self._list_entries(p)
        size = int(self.first[p + 1] - self.first[p])
        joins, must = self.home[row] < 0, (self.home[row] < 0) & (self.last[row] == p)
        bound = np.bincount(column[must], minlength=size) > 0
        counted = must | (joins & ~bound[column])
        number = np.bincount(column[counted], minlength=size)
        extra = np.bincount(column[counted], (excess[row] / coefficient)[counted], size)
        return np.asarray(extra / np.maximum(number, 1))

    def add_to_excess(self, p: int, excess: Floats, change: Floats) -> None:
        """Add changes of a plane's adjusted cells to the excess of the equations, in place."""
        row, column, coefficient = self._list_entries(p)
        np.add.at(excess, row, coefficient * change[column])

    def grow_neighbourhoods(self, steps: StepTask, x: Units) -> Iterator[Mask]:
        """Yield the cells of the planes that can best repair a rounded adjustment where ``x`` violates
        equations, each time of twice as many planes, as long as these are not all.
        """
        missed = steps.matrix @ x
        plane = np.repeat(np.arange(len(self)), np.diff(self.first))
        of_entry = np.repeat(np.arange(self.cell.size), np.diff(self.columns.indptr))
        wanted = -np.sign(missed[self.columns.indices] * self.columns.data)
        cell = self.cell[of_entry]
        room = np.where(wanted > 0, steps.high[cell] - x[cell], x[cell] - steps.low[cell])
        helps = np.bincount(plane[of_entry], (wanted != 0) & (room > 0), len(self))
        order, count = np.argsort(-helps, kind="stable"), FEWEST
        while count < len(self):
            free = np.zeros(self.n_cells, dtype=bool)
            free[self.cell[np.isin(plane, order[:count])]] = True
            yield free
            count *= 2

    def _list_entries(self, p: int) -> tuple[Cells, Cells, Units]:
        """Return equation, place in the plane and coefficient of each matrix entry of an adjusted plane."""
        pointers = self.columns.indptr[self.first[p] : self.first[p + 1] + 1]
        span = slice(pointers[0], pointers[-1])
        column = np.repeat(np.arange(pointers.size - 1, dtype=np.int64), np.diff(pointers))
        return np.asarray(self.columns.indices[span], np.int64), column, self.columns.data[span]


def _slice_planes(steps: StepTask, cells: Cells) -> tuple[Cells, Cells]:
    """Return the plane of each cell to adjust, and the number of levels of totals below each plane.

    Dimensions with subtotals are sliced first: a plane with two of those is no network.
    """
    dimensions, codes = steps.structure.dimensions, steps.structure.codes[cells].astype(np.int64)
    heights = [_count_levels_below(dimension) for dimension in dimensions]
    order = sorted(range(len(dimensions)), key=lambda d: (-int(heights[d].max()), len(dimensions[d].codes)))
    key, height = np.zeros(cells.size, dtype=np.int64), np.zeros(cells.size, dtype=np.int64)
    for d in order[: len(dimensions) - ACROSS]:
        key = key * len(dimensions[d].codes) + codes[:, d]
        height += heights[d][codes[:, d]]
    _, one, plane = np.unique(key, return_index=True, return_inverse=True)
    return plane, height[one]


def _count_levels_below(dimension: Dimension) -> Cells:
    """Return per code how many levels of codes lie below it: adjusted planes are rounded lowest first."""
    height = np.zeros(len(dimension.codes), dtype=np.int64)
    rising = True
    while rising:
        before = height.copy()
        for parent in dimension.parents:
            child = np.flatnonzero(parent >= 0)
            np.maximum.at(height, parent[child], height[child] + 1)
        rising = bool((height != before).any())
    return height
