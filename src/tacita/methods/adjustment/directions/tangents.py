"""The best directions in convex norms, by tangents.

A convex loss lies above its tangents, and those of a sensitive cell hold for both directions at once: with
``r`` and ``r'`` within its ranges,

    c_p  >=  phi(r) y + phi'(r) (|z_p| - r y)  +  phi(r') (1 - y) + phi'(r') (|z_p| - r' (1 - y)),

where the first ``|z_p|`` counts only if it goes up and the second only if it goes down. This is the tangent
of the *perspective*, the tightest linear inequality. With such rows the least ``sum_i c_i`` is a
mixed-integer program, whose bound is one for the task. Its directions are solved in the norm of the task;
where its losses are too small, tangents are added, until bound and loss meet.

In the norm of the largest change ``c >= w |z_i|`` is one row per cell, and one program is enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tacita.core.errors import InfeasibleError, SolverError, StoppedError
from tacita.core.exact import Cells, Floats, Mask
from tacita.core.run import Run
from tacita.methods.adjustment.convex.convex_program import compute_cell_losses
from tacita.methods.adjustment.convex.solve_convex import solve_convex
from tacita.methods.adjustment.directions.balance import Balance
from tacita.methods.adjustment.directions.direction_patterns import derive_pattern_rows
from tacita.methods.adjustment.directions.direction_program import DirectionProgram
from tacita.methods.adjustment.directions.flip_search import (
    FlipSearch,
    make_directions_timeout_error,
    make_infeasible_directions_error,
)
from tacita.methods.adjustment.task import AdjustmentTask, DirectionChoice
from tacita.solvers.highs import Ended, solve_mip
from tacita.solvers.linear_program import IntegerProgram

if TYPE_CHECKING:
    from scipy.sparse import csr_array

GAP = 1e-6
"""Relative gap at which the bound counts as met."""
RELAXED_ROUNDS = 12
ROUNDS = 200
REFUTED = 1e-5
"""Relative excess of a bound over a known loss that refutes the bound."""
LEAST_GAIN = 1e-7
"""Share of the loss, per cell, by which a tangent must improve on the others."""


def solve_by_tangents(
    task: AdjustmentTask, choice: DirectionChoice, balance: Balance, found: FlipSearch, run: Run
) -> tuple[Mask, float, bool]:
    """Return the best adjustment directions in a convex norm, a lower bound, and whether it is met."""
    search = TangentSearch(task, choice, balance, found, run)
    if not found.loss.missed:
        search.evaluate(found.up)
    for _ in range(RELAXED_ROUNDS):
        # Tangents from linear programs are as good as those from integer programs.
        if run.over or search.is_accepted or not search.solve_round(relaxed=True):
            break
    for _ in range(ROUNDS):
        if run.over or search.is_met or search.is_accepted or not search.solve_round(relaxed=False):
            break
    return search.result()


class TangentSearch:
    """The tangents, the best directions and the lower bound so far."""

    def __init__(
        self, task: AdjustmentTask, choice: DirectionChoice, balance: Balance, found: FlipSearch, run: Run
    ) -> None:
        self.task, self.choice, self.run = task, choice, run
        program = DirectionProgram(found.task, choice, balance)
        self.directions = program.with_rows(derive_pattern_rows(balance, choice, run)[0])
        self.best: Mask | None = None if found.loss.missed else found.up
        self.value, self.bound, self.unit = np.inf, 0.0, 0.0
        self.tangents: list[_Tangents] = []
        least = np.zeros(len(task))
        least[choice.cells] = choice.up_least
        self._add_tangents(least, np.arange(len(task)))

    @property
    def is_met(self) -> bool:
        return bool(np.isfinite(self.value)) and self.value - self.bound <= GAP * max(self.value, 1e-12)

    @property
    def is_accepted(self) -> bool:
        """Whether the best adjustment is within the gap that the run asks for."""
        return self.run.accepts(self.value, self.bound)

    def result(self) -> tuple[Mask, float, bool]:
        """Return the best adjustment directions, the lower bound on the loss, and whether the two meet."""
        if self.bound > self.value * (1 + REFUTED):
            # A known loss refutes the bound: the arithmetic of the programs has failed.
            self.bound = 0.0
        if self.best is None:
            raise make_directions_timeout_error(self.run)
        return self.best, min(self.bound, self.value), self.is_met

    def evaluate(self, up: Mask) -> None:
        """Solve the adjustment with these directions, keep the best, and add tangents at the solution."""
        try:
            found = solve_convex(self.task.directed(up), self.run)
        except (InfeasibleError, SolverError, StoppedError):
            return
        self._add_tangents(found.z, np.arange(len(self.task)))
        if found.value < self.value:
            self.best, self.value = up.copy(), found.value
            self.run.report("directions", incumbent=self.value, bound=self.bound)

    def solve_round(self, relaxed: bool) -> bool:
        """Solve a program of adjustment directions, add tangents where too low; return whether any were."""
        program = self._program()
        try:
            # The loss of the program lies below that of its changes: only a known loss can be within a gap.
            found = solve_mip(
                program.relaxed() if relaxed else program,
                self.run,
                enough=lambda _, low: self.run.accepts(self.value, low * self.unit),
            )
        except SolverError:
            # Directions that are known, and the bound so far, hold without this program.
            if self.best is None:
                raise
            return False
        if found.status is Ended.INFEASIBLE and self.best is None:
            raise make_infeasible_directions_error()
        if np.isfinite(found.bound):
            self.bound = max(self.bound, found.bound * self.unit)
        if found.status is not Ended.OPTIMAL:
            return False
        z, up = self._read_moves(found.point)
        if not relaxed:
            self.evaluate(up)
        lay = self.directions.layout
        estimate = found.point[lay.size :] * self.unit
        if self.task.norm == "linf":
            return False
        short = self._compute_losses(np.abs(z)) - estimate > LEAST_GAIN * max(self.bound, 1e-9) / len(
            self.task
        )
        self._add_tangents(z, np.flatnonzero(short))
        return bool(short.any())

    # ------------------------------------------------------------ the program

    def _read_moves(self, x: Floats) -> tuple[Floats, Mask]:
        """Return an adjustment's changes at a point, each cell in the direction with the larger share."""
        lay, c = self.directions.layout, self.choice
        up = self.directions.directions(x)
        z = (x[: lay.n] - x[lay.n : 2 * lay.n]) * self.directions.scales.cell
        share = np.where(up, x[lay.y], 1.0 - x[lay.y])
        z[c.cells] = np.where(up, c.up_least, -c.down_least) + z[c.cells] / share
        return z, up

    def _add_tangents(self, z: Floats, cells: Cells) -> None:
        """Add tangents of the adjustment's loss at these changes; sensitive cells get one per direction."""
        c = self.choice
        size = np.abs(z)
        up, down = size.copy(), size.copy()
        up[c.cells] = np.maximum(z[c.cells], c.up_least)
        down[c.cells] = np.maximum(-z[c.cells], c.down_least)
        self.tangents.append(_Tangents(cells, up[cells], down[cells]))

    def _compute_losses(self, size: Floats, which: Cells | None = None) -> Floats:
        """Return the adjustment loss ``w phi`` per cell, of absolute changes in units."""
        weight = self.task.weight if which is None else self.task.weight[which]
        return compute_cell_losses(self.task.norm, self.task.delta, weight, size / self.task.one)

    def _compute_slopes(self, size: Floats, which: Cells) -> Floats:
        """Return the derivatives of the adjustment losses per cell, in losses per unit of change."""
        weight, x, delta = self.task.weight[which] / self.task.one, size / self.task.one, self.task.delta
        if self.task.norm == "l2":
            return np.asarray(2.0 * weight * x)
        if self.task.norm == "linf":
            return np.asarray(weight)
        return np.asarray(weight * x / np.hypot(delta, x))

    def _program(self) -> IntegerProgram:
        from scipy.sparse import block_array, csr_array, vstack

        base, lay = self.directions.program, self.directions.layout
        if not self.unit:
            start = self._compute_losses(np.maximum(self.tangents[-1].up, 0.0), self.tangents[-1].cells)
            self.unit = float(start.sum()) / 1e3 or 1.0
        count = 1 if self.task.norm == "linf" else lay.n
        rows, right = zip(*(self._build_rows(t, count) for t in self.tangents if t.cells.size), strict=True)
        wide = csr_array((base.rows.shape[0], count))
        top = block_array([[base.rows, wide]], format="csr")
        height = sum(r.shape[0] for r in rows)
        return IntegerProgram(
            np.append(np.zeros(lay.size), np.ones(count)),
            np.append(base.lower, np.zeros(count)),
            np.append(base.upper, np.full(count, np.inf)),
            csr_array(vstack([top, *rows])),
            np.concatenate([base.row_lower, *right]),
            np.append(base.row_upper, np.full(height, np.inf)),
            np.append(base.integer, np.zeros(count, dtype=bool)),
        )

    def _build_rows(self, tangents: _Tangents, count: int) -> tuple[csr_array, Floats]:
        """Return an adjustment's tangents as rows ``c - slope_up v+ - slope_down v- - turn y >= start``."""
        from scipy.sparse import csr_array

        lay, c, cells = self.directions.layout, self.choice, tangents.cells
        place = np.full(lay.n, -1)
        place[c.cells] = np.arange(c.cells.size)
        chooses = np.flatnonzero(place[cells] >= 0)
        p = place[cells[chooses]]
        rising, falling = self._compute_slopes(tangents.up, cells), self._compute_slopes(tangents.down, cells)
        up_start = self._compute_losses(tangents.up, cells) - rising * tangents.up
        down_start = self._compute_losses(tangents.down, cells) - falling * tangents.down
        constant = down_start.copy()
        constant[chooses] += falling[chooses] * c.down_least[p]
        turned = up_start[chooses] + rising[chooses] * c.up_least[p] - constant[chooses]
        k = np.arange(cells.size)
        epigraph = lay.size + (np.zeros(cells.size, dtype=np.int64) if count == 1 else cells)
        per_unit = self.directions.scales.cell[cells] / self.unit
        matrix = csr_array(
            (
                np.concatenate(
                    [np.ones(k.size), -rising * per_unit, -falling * per_unit, -turned / self.unit]
                ),
                (
                    np.concatenate([k, k, k, chooses]),
                    np.concatenate([epigraph, cells, lay.n + cells, lay.y.start + p]),
                ),
            ),
            (cells.size, lay.size + count),
        )
        return matrix, constant / self.unit


@dataclass(frozen=True, eq=False)
class _Tangents:
    """Cells and the points of their tangents, in units in both directions."""

    cells: Cells
    up: Floats
    down: Floats
