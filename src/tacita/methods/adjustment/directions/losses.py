"""The loss of directions in the l1 norm, by warm-started programs.

Directions may be infeasible. To guide searches, sensitive cells may then miss their least moves: the number
of missing units counts first, the loss second. So the task is one linear program (or one flow) in which a
flip changes a few bounds (or costs).

With given directions the loss of the other cells is a convex function of the move ``z_p`` of one sensitive
cell, whose slope ``g_p`` follows from the dual values of the equations. Hence a flip cannot bring the loss
below ``loss - w_p |z_p| + min over z'`` of ``g_p (z' - z_p) + w_p |z'|``, the minimum over the ends of the
other range: flips that cannot gain need no solver.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from tacita.core.compiled import LARGE
from tacita.core.errors import InfeasibleError, StoppedError
from tacita.core.exact import UNBOUNDED, Cells, Floats, Mask, Units
from tacita.core.run import Run
from tacita.methods.adjustment.directions.solver_scales import SolverScales
from tacita.methods.adjustment.task import AdjustmentTask, DirectionChoice
from tacita.solvers.highs import Ended, Session
from tacita.solvers.linear_program import LinearProgram

NOISE = 1e-9
"""Relative difference of losses that counts as rounding error."""
MISSED = 1e-3
"""Fewest missing units of infeasible directions, whatever the rounding errors."""


def make_no_change_error() -> InfeasibleError:
    """Return the error for an adjustment that is infeasible even where sensitive cells stay as they are."""
    return InfeasibleError(
        "no change of the table keeps its equations within the capacities", remedy="widen them"
    )


class Loss(NamedTuple):
    """The units that sensitive cells miss of their least moves, and the loss; compared in this order."""

    missed: float
    value: float

    def is_below(self, other: Loss) -> bool:
        """Return whether this loss of an adjustment is better by more than rounding errors."""
        if abs(self.missed - other.missed) > 1e-6 * max(1.0, other.missed):
            return self.missed < other.missed
        return self.value < other.value - NOISE * abs(other.value)


@dataclass(frozen=True, eq=False)
class DirectedAdjustment:
    """An adjustment with given directions: its loss, moves in units, slopes ``g_p`` in losses per unit."""

    loss: Loss
    z: Floats
    slope: Floats


class DirectionLosses(Protocol):
    """Computes losses of directions; ``quick`` if thousands of them take a second."""

    quick: bool

    def compute(self, up: Mask, run: Run) -> Loss:
        """Return the loss of the best adjustment with these directions of the sensitive cells."""

    def adjustment(self) -> DirectedAdjustment:
        """Return the best adjustment with the directions last computed: loss, changes and slopes."""


def make_losses(task: AdjustmentTask, choice: DirectionChoice) -> DirectionLosses:
    """Return what computes adjustment losses of directions: large networks' flows, or linear programs."""
    if task.side is None and 2 * len(task) >= LARGE:
        from tacita.solvers.network import Network

        network = Network.of(task.matrix)
        if network is not None:
            from tacita.methods.adjustment.directions.flow_losses import FlowLosses

            return FlowLosses(task, choice, network)
    return ProgramLosses(task, choice)


def bound_flip_gains(
    task: AdjustmentTask, choice: DirectionChoice, up: Mask, at: DirectedAdjustment
) -> Floats:
    """Return per sensitive cell a lower bound on the change of adjustment loss when its direction flips."""
    weight, z = task.weight[choice.cells] / task.one, at.z[choice.cells]
    near = np.where(up, -choice.down_least, choice.up_least).astype(np.float64)
    far = np.where(up, -choice.down_most, choice.up_most).astype(np.float64)
    ends = [at.slope * (end - z) + weight * np.abs(end) for end in (near, far)]
    estimate = np.minimum(*ends) - weight * np.abs(z)
    return np.where(choice.can_rise & choice.can_fall, estimate, np.inf)


class ProgramLosses:
    """Losses by the dual simplex of HiGHS, warm-started from the last basis.

    Variables: ``z+`` and ``z-`` per cell, then per sensitive cell its least move (fixed), and what it misses
    of a move down and of a move up.
    """

    quick = False

    def __init__(self, task: AdjustmentTask, choice: DirectionChoice) -> None:
        self.task, self.choice = task, choice
        self.n, self.count = len(task), choice.cells.size
        self.scales = SolverScales.of(task, choice)
        self.own = self.scales.cell[choice.cells]
        weight = task.weight / task.one * self.scales.cell
        self.shrink = 1.0 / (float(weight.max(initial=0.0)) or 1.0)
        self.weight = weight * self.shrink
        self.up: Mask | None = None
        self.missing = False
        self.session = Session(self._program(), primal=False)

    def compute(self, up: Mask, run: Run) -> Loss:
        self._set_directions(up)
        # Cells may differ by eleven digits, so that no penalty fits all: first nothing may be missing.
        self._allow_missed_moves(None)
        ended = self.session.solve(run)
        if ended not in (Ended.OPTIMAL, Ended.STOPPED):
            self._allow_missed_moves(up)
            ended = self.session.solve(run)
        if ended is Ended.STOPPED:
            raise StoppedError(
                "time was over before directions were known to hold an adjustment", remedy="allow more"
            )
        if ended is not Ended.OPTIMAL:
            raise make_no_change_error()
        self.point = self.session.read_point()
        return self._loss()

    def adjustment(self) -> DirectedAdjustment:
        slope = -np.asarray(self.scales.forced.T @ self.session.read_duals()) / self.shrink
        return DirectedAdjustment(self._loss(), self._moves(), slope)

    def _loss(self) -> Loss:
        short = self.point[2 * self.n + self.count :]
        missed = float((short * np.tile(self.own, 2)).sum())
        return Loss(max(missed, MISSED) if self.missing else 0.0, self.task.loss(self._moves(), "l1"))

    def _moves(self) -> Floats:
        n, x = self.n, self.point
        z = (x[:n] - x[n : 2 * n]) * self.scales.cell
        forced, more, less = x[2 * n :].reshape(3, self.count)
        z[self.choice.cells] += (forced + more - less) * self.own
        return np.asarray(z)

    def _set_directions(self, up: Mask) -> None:
        changed = np.arange(self.count) if self.up is None else np.flatnonzero(up != self.up)
        self.up = up.copy()
        if not changed.size:
            return
        c, n = self.choice, self.n
        rises = up[changed]
        up_least, down_least = c.up_least[changed], c.down_least[changed]
        forced = np.where(rises, up_least, -down_least)
        extra_up = np.where(rises, c.up_most[changed] - up_least, 0)
        extra_down = np.where(rises, 0, c.down_most[changed] - down_least)
        cells = c.cells[changed]
        zero = np.zeros(changed.size)
        for columns, low, high in (
            (cells, zero, extra_up),
            (n + cells, zero, extra_down),
            (2 * n + changed, forced, forced),
        ):
            self._set_bounds(columns, low, high, self.own[changed])

    def _allow_missed_moves(self, up: Mask | None) -> None:
        """Let cells of the adjustment move by less than they must in directions ``up``; None: no longer."""
        if up is None and not self.missing:
            return
        c, n, count = self.choice, self.n, self.count
        self.missing = up is not None
        less = more = np.zeros(count)
        if up is not None:
            less = np.where(up, c.up_least + np.where(c.can_fall, c.down_most, 0), 0).astype(np.float64)
            more = np.where(up, 0, c.down_least + np.where(c.can_rise, c.up_most, 0)).astype(np.float64)
        for first, high in ((2 * n + count, more), (2 * n + 2 * count, less)):
            self._set_bounds(first + np.arange(count), np.zeros(count), high, self.own)

    def _set_bounds(self, columns: Cells, low: Floats | Units, high: Floats | Units, own: Floats) -> None:
        bounded = np.where(np.abs(high) < UNBOUNDED, high / own, np.inf)
        self.session.set_bounds(columns, low / own, bounded)

    def _program(self) -> LinearProgram:
        from scipy.sparse import csr_array, diags_array, hstack

        scales, count = self.scales, self.count
        forced = scales.forced @ diags_array(self.own)
        matrix = csr_array(hstack([scales.rows, -scales.rows, forced, forced, -forced]))
        low, high = scales.scaled(self.task.lower), scales.scaled(self.task.upper)
        lower = np.concatenate([np.maximum(low, 0.0), np.maximum(-high, 0.0), np.zeros(3 * count)])
        upper = np.concatenate([np.maximum(high, 0.0), np.maximum(-low, 0.0), np.zeros(3 * count)])
        # Sensitive cells get their bounds when they get their directions.
        for at in (self.choice.cells, self.n + self.choice.cells):
            lower[at] = upper[at] = 0.0
        # Least moves are fixed: their costs are added at the end.
        missing = np.full(2 * count, 1.0 + 2.0 * self.weight.sum())
        cost = np.concatenate([self.weight, self.weight, np.zeros(count), missing])
        return LinearProgram(cost, lower, upper, matrix, scales.least, scales.most)
