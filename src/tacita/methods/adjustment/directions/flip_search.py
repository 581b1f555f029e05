"""Local search over directions: flips of one sensitive cell at a time.

The dual values of the equations bound the gain of a flip (``losses.bound_flip_gains``), so only flips that
may gain are tried, the most promising first. Where directions are infeasible, the units missing to least
moves count before the loss: the same search repairs such directions.
"""

from __future__ import annotations

import numpy as np

from tacita.core.errors import InfeasibleError, StoppedError
from tacita.core.exact import Cells, Mask
from tacita.core.run import Run
from tacita.methods.adjustment.directions.losses import (
    DirectedAdjustment,
    DirectionLosses,
    Loss,
    bound_flip_gains,
)
from tacita.methods.adjustment.task import AdjustmentTask, DirectionChoice

PATIENCE, SLOW_PATIENCE = 60, 15
"""Kicks in a row without a gain that end a search: where losses are quick, and where they are not."""
KICKS_PER_CELL = 3
"""Most kicks in a row without a gain, per cell."""
KICK = 3
"""Cells whose directions a kick changes."""


def make_infeasible_directions_error() -> InfeasibleError:
    """Return the error for an adjustment task that no directions make feasible."""
    return InfeasibleError(
        "no directions of the sensitive cells hold an adjustment", remedy="widen the capacities"
    )


def make_directions_timeout_error(run: Run) -> StoppedError:
    """Return the error for a search that found no feasible directions of an adjustment in time."""
    return StoppedError(
        f"stopped after {run.seconds:.0f} s before directions with an adjustment were found",
        remedy="allow more time",
    )


class FlipSearch:
    """A local search over directions, with the best so far: ``up``, their ``loss`` and ``adjustment``."""

    def __init__(
        self, task: AdjustmentTask, choice: DirectionChoice, losses: DirectionLosses, start: Mask, run: Run
    ) -> None:
        self.task, self.choice, self.losses, self.run = task, choice, losses, run
        self.up, self.loss = start.copy(), losses.compute(start, run)
        self.adjustment = losses.adjustment()

    def descend(self, only: Cells | None = None) -> None:
        """Flip adjustment directions of sensitive cells (of those given) as long as one flip gains."""
        up, loss, at, gained = self.up.copy(), self.loss, self.adjustment, True
        try:
            while gained:
                gained = False
                for p in self._candidates(up, at, only):
                    up[p] = not up[p]
                    reached = self.losses.compute(up, self.run)
                    if reached.is_below(loss):
                        loss, gained = reached, True
                    else:
                        up[p] = not up[p]
                loss = self.losses.compute(up, self.run)
                at = self.losses.adjustment()
                self.keep_if_better(up, loss, at)
        except StoppedError:
            # The last flip is forgotten, since its loss is not known.
            return

    def keep_if_better(self, up: Mask, loss: Loss, at: DirectedAdjustment) -> None:
        """Keep the directions of an adjustment if their loss is the best of the search so far."""
        if loss.is_below(self.loss):
            self.up, self.loss, self.adjustment = up.copy(), loss, at
            self.run.report("directions", 0, 0, incumbent=loss.value)

    def evaluate(self, up: Mask) -> None:
        """Compute the adjustment's loss with these directions, and keep them if it is the best so far."""
        try:
            # Without a time limit: what was found is evaluated even when the time is over.
            loss = self.losses.compute(up, Run())
        except InfeasibleError:
            return
        self.keep_if_better(up, loss, self.losses.adjustment())

    def kick(self) -> None:
        """Flip a few adjustment directions of near cells, descend around them, and keep improvements."""
        free = np.flatnonzero(self.choice.can_rise & self.choice.can_fall)
        if free.size <= KICK:
            return
        draw, idle = np.random.default_rng(self.run.search), 0
        near = _find_neighbours(self.task, self.choice)
        patience = min(PATIENCE if self.losses.quick else SLOW_PATIENCE, KICKS_PER_CELL * free.size)
        while idle < patience and not self.run.over:
            first = int(draw.choice(free))
            beside = np.intersect1d(near[first], free)
            turned = np.append(draw.choice(beside, min(KICK - 1, beside.size), replace=False), first)
            best = self.loss
            self._try_kick(turned, np.unique(np.concatenate([near[p] for p in turned])))
            idle = 0 if self.loss.is_below(best) else idle + 1

    def _try_kick(self, turned: Cells, only: Cells) -> None:
        up = self.up.copy()
        up[np.unique(turned)] ^= True
        try:
            trial = FlipSearch(self.task, self.choice, self.losses, up, self.run)
        except StoppedError:
            return
        trial.run = self.run.translated(lambda _: self.loss.value)
        trial.descend(only)
        self.keep_if_better(trial.up, trial.loss, trial.adjustment)

    def _candidates(self, up: Mask, at: DirectedAdjustment, only: Cells | None) -> list[int]:
        estimate = bound_flip_gains(self.task, self.choice, up, at)
        order = np.argsort(estimate, kind="stable")
        # Where directions are infeasible slopes are those of the missing units, not of the loss.
        useful = np.isfinite(estimate) if at.loss.missed else estimate < -1e-9 * max(1.0, abs(at.loss.value))
        if only is not None:
            useful[np.setdiff1d(np.arange(useful.size), only)] = False
        return [int(p) for p in order if useful[p]]


def _find_neighbours(task: AdjustmentTask, choice: DirectionChoice) -> list[Cells]:
    """Return per sensitive cell to adjust the positions of those that share an equation with it."""
    from scipy.sparse import csc_array

    forced = abs(csc_array(task.matrix, dtype=np.float64)[:, choice.cells])
    together = (forced.T @ forced).tocsr()
    return np.split(together.indices.astype(np.int64), together.indptr[1:-1])
