"""A directed task in integer steps, around the point that a solver found.

    min  sum_i g_i(x_i)    s.t.  M x = 0,   low <= x <= high,   x integer,

where a published change is ``step * x``. ``g_i`` is convex and replaced between integers by its chords:
*pieces* of some steps each, of rising cost, so that flows and integer programs take them in order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tacita.core.exact import Cells, Floats, Mask, Units
from tacita.core.tables.structure import Structure
from tacita.methods.adjustment.task import AdjustmentTask
from tacita.solvers.integer_pieces import Pieces

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array

INTEGER = 1e-7
"""Distance from an integer within which a solver's number counts as integer."""
ROUND_OFF = 4 * float(np.finfo(np.float64).eps)
FARTHEST = 1 << 31
"""Most steps between a solver's number and its rounding."""
L1, L2, HUBER, LINF = range(4)
CODES = {"l1": L1, "l2": L2, "huber": HUBER, "linf": LINF}
EXCESS = 1e3
"""Cost of a weighted change beyond the largest, as a multiple of the excess."""


def compute_step_cost(norm: int, x: Any, target: Any, weight: Any, delta: float, largest: float) -> Any:
    """Return the cost of an adjustment's changes ``x``, in values, near the optimal ``target``.

    The loss of every norm but ``linf`` is a sum over cells. For ``linf`` the cost is the distance ``w |x -
    t|``, and more beyond the largest weighted change of the target. Branches depend on the norm alone, so
    that the same lines serve arrays and compiled loops.
    """
    change = np.abs(x)
    if norm == L1:
        return weight * change
    if norm == L2:
        return weight * change * change
    if norm == HUBER:
        return weight * change * change / (np.sqrt(delta * delta + change * change) + delta)
    return weight * np.abs(x - target) + EXCESS * np.maximum(weight * change - largest, 0.0)


@dataclass(frozen=True, eq=False)
class StepTask:
    """Bounds in integer steps, and the solver's point ``target`` within them; ``low > high`` if there is
    none.
    """

    task: AdjustmentTask
    structure: Structure
    low: Units
    high: Units
    target: Floats

    @classmethod
    def of(cls, task: AdjustmentTask, structure: Structure, z: Floats) -> StepTask:
        step = task.step
        low, high = -(-task.lower // step), task.upper // step
        target = np.clip(z / step, low, np.maximum(low, high))
        nearest = np.rint(target).astype(np.int64)
        low, high = np.maximum(low, nearest - FARTHEST), np.minimum(high, nearest + FARTHEST)
        return cls(task, structure, low, high, target)

    def __len__(self) -> int:
        return self.low.size

    @property
    def matrix(self) -> csr_array:
        return self.task.matrix

    @cached_property
    def columns(self) -> csc_array:
        """The matrix ``M`` of the adjustment's equations, by columns."""
        return self.matrix.tocsc()

    @cached_property
    def nearest(self) -> Units:
        """The integer steps nearest to the target of the adjustment, which need not add up."""
        return np.asarray(np.rint(self.target).astype(np.int64))

    @cached_property
    def fractional(self) -> Mask:
        """Whether the target of the adjustment in each cell is not an integer number of steps."""
        slack = INTEGER + ROUND_OFF * np.abs(self.target)
        return np.asarray(np.abs(self.target - self.nearest) > slack)

    @cached_property
    def below(self) -> Units:
        """The largest integer steps that are not above the target of the adjustment."""
        return np.where(self.fractional, np.floor(self.target).astype(np.int64), self.nearest)

    @cached_property
    def movable(self) -> Mask:
        return np.asarray(self.low < self.high)

    @cached_property
    def imbalance(self) -> int:
        """An upper bound on the violation of all equations of the adjustment together, in steps, that
        rounding does not explain.
        """
        matrix = self.matrix
        floor, rest = self.below, self.target - self.below
        missed = np.abs((matrix @ floor).astype(np.float64) + matrix @ rest).sum()
        return int(np.ceil(missed + np.abs(np.where(self.fractional, 0.0, rest)).sum()))

    def costs(self, cells: Cells | slice, x: Units | Floats) -> Floats:
        """Return the adjustment's costs ``g`` of some cells at some numbers of steps."""
        task, scale = self.task, self.task.step / self.task.one
        return np.asarray(
            compute_step_cost(
                CODES[task.norm],
                x * scale,
                self.target[cells] * scale,
                task.weight[cells],
                task.delta,
                self.largest,
            )
        )

    @cached_property
    def largest(self) -> float:
        """The largest weighted change at the target of the adjustment, in values."""
        return self.task.loss(self.target * self.task.step, "linf")

    def adds_up(self, x: Units) -> bool:
        return not (self.matrix @ x).any()

    def is_feasible(self, x: Units) -> bool:
        """Return whether integer steps of an adjustment satisfy every equation and every bound, exactly."""
        return bool((x >= self.low).all() and (x <= self.high).all() and self.adds_up(x))

    def make_pieces_in_box(self) -> Pieces:
        """Return an adjustment's pieces from the integer below each fractional target to the one above."""
        cells = np.flatnonzero(self.fractional)
        return self._make_pieces(cells, self.below, np.ones(cells.size, dtype=np.int64), 1)

    def make_pieces_around_box(self, reach: int, surcharge: float = 0.0) -> Pieces:
        """Return an adjustment's pieces in the box and up to ``reach`` steps beyond it, at a surcharge."""
        cells = np.flatnonzero(self.movable)
        up, down = (
            self._make_pieces_beyond(cells, self.below + self.fractional, reach, 1),
            self._make_pieces_beyond(cells, self.below, reach, -1),
        )
        beyond = [replace(piece, cost=piece.cost + surcharge) for piece in up + down]
        return _join([self.make_pieces_in_box(), *beyond])

    def make_pieces_around(self, start: Units, cells: Cells, reach: int) -> Pieces:
        """Return an adjustment's pieces of up to ``reach`` steps of some cells from a start in bounds."""
        return _join(
            self._make_pieces_beyond(cells, start, reach, 1)
            + self._make_pieces_beyond(cells, start, reach, -1)
        )

    def _make_pieces_beyond(self, cells: Cells, start: Units, reach: int, sign: int) -> list[Pieces]:
        """Return an adjustment's pieces in one direction: a step, another, and the rest of ``reach``."""
        limit = self.high if sign > 0 else self.low
        room = np.minimum(sign * (limit[cells] - start[cells]), reach)
        at, found = start.copy(), []
        for width in (1, 1, reach):
            taken = np.minimum(room, width)
            some = taken > 0
            found.append(self._make_pieces(cells[some], at, taken[some], sign))
            at[cells] += sign * taken
            room = room - taken
        return found

    def _make_pieces(self, cells: Cells, start: Units, width: Units, sign: int) -> Pieces:
        before, after = start[cells], start[cells] + sign * width
        rise = self.costs(cells, after) - self.costs(cells, before)
        return Pieces(cells, np.full(cells.size, sign, dtype=np.int64), width, rise / width)


def _join(pieces: list[Pieces]) -> Pieces:
    return Pieces(
        np.concatenate([piece.cell for piece in pieces]),
        np.concatenate([piece.sign for piece in pieces]),
        np.concatenate([piece.most for piece in pieces]),
        np.concatenate([piece.cost for piece in pieces]),
    )
