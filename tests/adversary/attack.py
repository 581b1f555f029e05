"""What an attacker can deduce, worked out by brute force where that is possible, by programs elsewhere.

Part of the referee: nothing of Tacita is imported here. A *region* is all tables that add up and lie within
bounds. Of counts only integer tables count: they are listed one by one where there are few, and looked for
with integer programs where there are many. Of amounts every real table counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import highspy
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MOST_LISTED = 4_000
"""Tables of a region that are listed one by one."""
NEARLY = 1e-6


@dataclass(frozen=True, eq=False)
class Region:
    """Tables ``y`` with ``rows y`` between ``row_low`` and ``row_high`` and each cell between its bounds.

    All numbers are steps: for counts integers, and then only integer tables are meant. ``vast`` stands for
    infinity, larger than anything that a level could ask for.
    """

    rows: Integers
    row_low: Floats
    row_high: Floats
    low: Floats
    high: Floats
    counts: bool
    vast: float

    @cached_property
    def _bounds(self) -> tuple[Floats, Floats]:
        """Bounds of the cells that follow from those of the others, equation by equation."""
        low, high = np.maximum(self.low, -self.vast), np.minimum(self.high, self.vast)
        # Every round is exact; more of them only make the list shorter.
        for _ in range(8):
            before = low.copy(), high.copy()
            for row, least, most in zip(self.rows, self.row_low, self.row_high, strict=True):
                at = np.flatnonzero(row)
                sign = row[at]
                small = np.where(sign > 0, low[at], -high[at])
                large = np.where(sign > 0, high[at], -low[at])
                up = most - (small.sum() - small)
                down = least - (large.sum() - large)
                low[at] = np.maximum(low[at], np.where(sign > 0, down, -up))
                high[at] = np.minimum(high[at], np.where(sign > 0, up, -down))
            if (low == before[0]).all() and (high == before[1]).all():
                break
        return low, high

    @cached_property
    def tables(self) -> Integers | None:
        """Every integer table of the region, or None where there are too many to list."""
        low, high = self._bounds
        low, high = np.ceil(low - NEARLY), np.floor(high + NEARLY)
        width = high - low
        if (width < 0).any():
            return np.zeros((0, low.size), dtype=np.int64)
        equal = self.row_low == self.row_high
        solved = _solve(self.rows[equal].astype(np.float64), self.row_low[equal], -width)
        pivots, others, factors, constants = solved
        if np.prod(width[others] + 1) > MOST_LISTED:
            return None
        axes = [np.arange(low[j], high[j] + 1) for j in others]
        free = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(others))
        found = np.empty((free.shape[0], low.size))
        found[:, others] = free
        found[:, pivots] = constants - free @ factors.T
        near = np.rint(found)
        fits = (np.abs(found - near) < NEARLY).all(axis=1) & (near >= low).all(axis=1)
        fits &= (near <= high).all(axis=1)
        sums = near @ self.rows.T
        fits &= ((sums >= self.row_low - NEARLY) & (sums <= self.row_high + NEARLY)).all(axis=1)
        return np.asarray(near[fits], dtype=np.int64)

    def extremes(self, low: Floats, high: Floats, cells: Integers) -> tuple[Floats, Floats]:
        """Least and largest value of each of ``cells`` for someone who also knows ``low`` and ``high``."""
        if self.counts and self.tables is not None:
            possible = self.tables[((self.tables >= low) & (self.tables <= high)).all(axis=1)][:, cells]
            if not possible.shape[0]:
                raise ImpossibleError
            return possible.min(axis=0).astype(float), possible.max(axis=0).astype(float)
        return self._programs.extremes(np.maximum(self.low, low), np.minimum(self.high, high), cells)

    @cached_property
    def _programs(self) -> _Programs:
        return _Programs(self)


class ImpossibleError(Exception):
    """No table fits what somebody is said to know: the knowledge contradicts itself."""


class _Programs:
    """One linear program for all questions to a region; integer programs where corners are no integers."""

    def __init__(self, region: Region) -> None:
        self._region = region
        n = region.rows.shape[1]
        highs = highspy.Highs()
        for name, value in (("output_flag", False), ("presolve", "off"), ("solver", "simplex")):
            highs.setOptionValue(name, value)
        vast = region.vast
        highs.addVars(n, np.maximum(region.low, -vast), np.minimum(region.high, vast))
        for row, least, most in zip(region.rows, region.row_low, region.row_high, strict=True):
            at = np.flatnonzero(row).astype(np.int32)
            highs.addRow(float(least), float(most), at.size, at, row[at].astype(np.float64))
        self._highs, self._all = highs, np.arange(n, dtype=np.int32)

    def extremes(self, low: Floats, high: Floats, cells: Integers) -> tuple[Floats, Floats]:
        vast = self._region.vast
        low, high = np.maximum(low, -vast), np.minimum(high, vast)
        self._highs.changeColsBounds(self._all.size, self._all, low, high)
        least = np.array([-self._largest(int(cell), -1.0, low, high) for cell in cells])
        most = np.array([self._largest(int(cell), 1.0, low, high) for cell in cells])
        return least, most

    def _largest(self, cell: int, sign: float, low: Floats, high: Floats) -> float:
        """The largest value of ``sign * y[cell]``."""
        highs = self._highs
        highs.changeColCost(cell, -sign)
        highs.run()
        status = highs.getModelStatus()
        highs.changeColCost(cell, 0.0)
        if status == highspy.HighsModelStatus.kInfeasible:
            raise ImpossibleError
        if status != highspy.HighsModelStatus.kOptimal:
            raise RuntimeError(f"the referee's solver stopped: {status}")
        point = np.array(highs.getSolution().col_value)
        if self._region.counts and np.abs(point - np.rint(point)).max(initial=0.0) > NEARLY:
            point = self._integer_point(cell, sign, low, high)
        return float(sign * point[cell])

    def _integer_point(self, cell: int, sign: float, low: Floats, high: Floats) -> Floats:
        region = self._region
        cost = np.zeros(low.size)
        cost[cell] = -sign
        rows = LinearConstraint(region.rows, region.row_low, region.row_high)
        found = milp(cost, constraints=rows, bounds=Bounds(low, high), integrality=np.ones(low.size))
        if found.status == 2:
            raise ImpossibleError
        if found.status != 0:
            raise RuntimeError(f"the referee's integer program stopped: {found.message}")
        return np.rint(found.x)


def _solve(rows: Floats, right: Floats, order: Floats) -> tuple[list[int], list[int], Floats, Floats]:
    """Equations solved for as many cells as they determine, those with the smallest ``order`` first.

    Returns the determined cells, the others, and ``factors`` and ``constants`` with determined cells =
    ``constants - factors @ others``.
    """
    n = rows.shape[1]
    work = np.column_stack([rows, right])
    pivots: list[int] = []
    for j in np.argsort(order, kind="stable"):
        at = len(pivots)
        if at == work.shape[0]:
            break
        best = at + int(np.argmax(np.abs(work[at:, j])))
        if abs(work[best, j]) < NEARLY:
            continue
        if best != at:
            work[[at, best]] = work[[best, at]]
        work[at] /= work[at, j]
        column = work[:, j].copy()
        column[at] = 0.0
        work -= np.outer(column, work[at])
        pivots.append(int(j))
    others = [j for j in range(n) if j not in set(pivots)]
    solved = work[: len(pivots)]
    return pivots, others, solved[:, others], solved[:, n]
