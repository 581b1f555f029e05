"""Rounds that bring statistics of the published values into their tolerances.

A statistic ``s`` may change by ``tol`` percent. Linearised around changes ``z_k`` that is a row on ``z``,

    -tol <= s(z_k) + s'(z_k) (z - z_k) + rest <= tol,

where ``rest`` is the linearisation error of the last round. For the variance around 0 the row requires ``L(y)
= Cov(a, y) / Var a`` to be near ``-Var(y) / (2 Var a)``, where ``Var(y)`` is that of the last round.

A round solves the task with these rows. The segment from the last changes to the new ones is feasible; of its
points the one with the smallest violation of tolerances is taken, and of those without any the cheapest.
Where the rows are infeasible all tolerances are widened by the smallest factor that makes them feasible: so
tolerances that contradict each other are missed in proportion.

Linear programs end in vertices, where changes are few and large. Correlations need many small ones: where the
first round is not enough, one step goes towards the changes of least squares.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tacita.core.errors import InfeasibleError, InputError
from tacita.core.exact import Cells, Floats
from tacita.core.run import Run
from tacita.methods.adjustment.statistics.measures import LINEAR, Keep, MeasuredStatistic
from tacita.methods.adjustment.statistics.statistic_rows import (
    LEAST,
    StatisticRow,
    to_side,
    widen_rows,
    with_side,
)
from tacita.methods.adjustment.task import AdjustmentSolution, AdjustmentTask

MARGIN = 0.1
"""Share of a tolerance that rows leave to second-order terms and to the rounding to integers."""
FLOATS = 1e-8
"""Least room of every row, in percent."""
NOISE = 1e-7
"""Relative gain of a loss that is not worth another round."""
PROGRESS = 1e-3
"""Least relative gain of a round on the largest violation."""
STEPS = tuple(2.0**-k for k in range(8))
"""Points of the segment that a round evaluates."""
PATIENCE = 2
"""Rounds without a gain before the last: with a new rest, and then without any."""

Solve = Callable[[AdjustmentTask], AdjustmentSolution]


@dataclass(frozen=True, eq=False)
class StatisticTarget:
    """A statistic with a tolerance: its change in percent, the gradient of this change over some cells, per
    unit, and whether it is linear.
    """

    label: str
    change: float
    tolerance: float
    cells: Cells
    gradient: Floats
    linear: bool

    @property
    def ratio(self) -> float:
        """The statistic's change by the adjustment relative to its tolerance: at most 1 if preserved."""
        return abs(self.change) / max(self.tolerance, LEAST)


MeasureTargets = Callable[[Floats], list[StatisticTarget]]
"""Changes of a task, in units -> its statistics that have a tolerance."""


@dataclass(frozen=True, eq=False)
class RoundState:
    """The best changes so far, and the state of the rounds.

    Attributes
    ----------
    rest
        Linearisation error of the last round, in percent, per statistic.
    contradicted
        Whether the rows of the last round were infeasible and had to be widened.
    stalled
        Rounds in a row without a gain.
    iterations
        Of all solvers so far.
    """

    z: Floats
    loss: float
    targets: list[StatisticTarget]
    rest: Floats
    contradicted: bool
    stalled: int
    iterations: int
    formulation: str

    @property
    def worst(self) -> float:
        return max((target.ratio for target in self.targets), default=0.0)

    @property
    def preserved(self) -> bool:
        return self.worst <= 1.0

    def is_finished(self, loss: float) -> bool:
        """Return whether the adjustment meets all tolerances at no more than ``loss``, or gains no more."""
        return (self.preserved and self.loss <= loss * (1 + NOISE)) or self.stalled > PATIENCE


def make_target(measure: MeasuredStatistic, keep: Keep, cells: Sequence[Cells], one: int) -> StatisticTarget:
    """Return the target of a statistic that an adjustment preserves; ``cells`` lists those of each table."""
    if not np.isfinite(measure.change):
        raise InputError(
            f"the {measure.label} has no change in percent, as it, or a variance it rests on, is zero",
            remedy="choose other cells, or leave it out",
        )
    gradient = np.concatenate(measure.gradients) / one
    return StatisticTarget(
        label=measure.label,
        change=measure.change,
        tolerance=keep.asked[measure.name],
        cells=np.concatenate(cells),
        gradient=gradient,
        linear=measure.name in LINEAR,
    )


def start_rounds(
    task: AdjustmentTask, plain: AdjustmentSolution, targets: list[StatisticTarget]
) -> RoundState:
    """Return the first state of the rounds: an adjustment found without regard to statistics."""
    if task.choice is not None:
        # A segment between different directions would contain values that are not safe.
        raise InputError("statistics are preserved with given directions", remedy="choose them first")
    return RoundState(
        z=plain.z,
        loss=task.loss(plain.z),
        targets=targets,
        rest=np.zeros(len(targets)),
        contradicted=False,
        stalled=0,
        iterations=plain.iterations,
        formulation=plain.formulation,
    )


def run_round(
    task: AdjustmentTask, state: RoundState, measure: MeasureTargets, run: Run, solve: Solve
) -> RoundState:
    """Return the state after one more round of preserving an adjustment's statistics, never a worse one."""
    found, contradicted = _solve(task, state, run, solve)
    far, moved = measure(found.z), found.z - state.z
    foreseen = np.array([a.change + a.gradient @ moved[a.cells] for a in state.targets])
    known = replace(
        state,
        # Where rests mislead, rows without them may still gain.
        rest=(np.array([a.change for a in far]) - foreseen) * (state.stalled < PATIENCE - 1),
        contradicted=contradicted,
        stalled=state.stalled + 1,
        iterations=state.iterations + found.iterations,
        formulation=found.formulation,
    )
    return search_segment(found.z, task, known, measure)


def search_segment(z: Floats, task: AdjustmentTask, state: RoundState, measure: MeasureTargets) -> RoundState:
    """Return the best state on the segment from the current adjustment to the changes ``z``."""
    points = (state.z + step * (z - state.z) for step in STEPS)
    there = (replace(state, z=p, loss=task.loss(p), targets=measure(p), stalled=0) for p in points)
    best = min(there, key=lambda s: (max(s.worst, 1.0), s.loss))
    return best if _is_better(best, state) else state


def _is_better(new: RoundState, old: RoundState) -> bool:
    if old.preserved:
        return new.preserved and new.loss < old.loss * (1 - NOISE)
    return new.preserved or new.worst < old.worst * (1 - PROGRESS)


def _solve(
    task: AdjustmentTask, state: RoundState, run: Run, solve: Solve
) -> tuple[AdjustmentSolution, bool]:
    """Return the cheapest adjustment that meets the statistics' rows; whether these exceed tolerances."""
    around = [
        linearise_statistic(state.z, replace(a, change=a.change + rest), (1 - MARGIN) * a.tolerance)
        for a, rest in zip(state.targets, state.rest, strict=True)
    ]
    rows = [row for row in around if 0 < row.scale < np.inf]
    try:
        return solve(with_side(task, to_side(rows, len(task)))), False
    except InfeasibleError:
        wide = widen_rows(task, rows, run)
        contradicted = any(row.room > max(row.tolerance, LEAST) for row in wide)
        return solve(with_side(task, to_side(wide, len(task)))), contradicted


def linearise_statistic(z: Floats, at: StatisticTarget, room: float) -> StatisticRow:
    """Return the row that keeps a statistic of an adjustment within some room, linearised at ``z``."""
    # A row may be equivalent to equations, and must not contradict them by a rounding error: zeros are not
    # computed, and no room is smaller than rounding errors.
    middle = 0.0 if at.linear else float(at.gradient @ z[at.cells]) - at.change
    return StatisticRow(at.cells, at.gradient, middle, max(room, FLOATS), at.tolerance)
