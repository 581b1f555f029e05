"""Better directions by turning one sensitive cell at a time.

What a flip may gain at most follows from the prices of the equations (``losses.hopeful``), so only those
that can gain are tried, the most hopeful first. While cells miss their least moves, what is missed counts
before the loss: the same search mends directions that hold no adjustment.
"""

from __future__ import annotations

import numpy as np

from tacita.core.errors import InfeasibleError, StoppedError
from tacita.core.exact import Cells, Mask
from tacita.core.run import Run
from tacita.methods.adjustment.directions.losses import Loss, Losses, Reached, hopeful
from tacita.methods.adjustment.task import AdjustmentTask, DirectionChoice

PATIENCE, SLOW_PATIENCE = 60, 15
"""Kicks in a row that bring nothing before a search ends; fewer where there are few cells, or losses take
long."""
KICKS_PER_CELL = 3
KICK = 3
"""Cells that a kick turns."""


class Flips:
    """A walk over directions that knows the best it has seen."""

    def __init__(
        self, task: AdjustmentTask, choice: DirectionChoice, losses: Losses, start: Mask, run: Run
    ) -> None:
        self.task, self.choice, self.losses, self.run = task, choice, losses, run
        self.up, self.loss = start.copy(), losses.at(start, run)
        self.at = losses.reached()

    def settle(self, only: Cells | None = None) -> None:
        """Turn cells, of those given, as long as one of them gains."""
        up, loss, at, gained = self.up.copy(), self.loss, self.at, True
        try:
            while gained:
                gained = False
                for p in self._candidates(up, at, only):
                    up[p] = not up[p]
                    reached = self.losses.at(up, self.run)
                    if reached.below(loss):
                        loss, gained = reached, True
                    else:
                        up[p] = not up[p]
                loss = self.losses.at(up, self.run)
                at = self.losses.reached()
                self.offer(up, loss, at)
        except StoppedError:
            # A candidate whose loss is not known is turned back by forgetting it.
            return

    def offer(self, up: Mask, loss: Loss, at: Reached) -> bool:
        """Keep directions if they are the best so far."""
        if loss.below(self.loss):
            self.up, self.loss, self.at = up.copy(), loss, at
            self.run.tell("directions", 0, 0, incumbent=loss.value)
            return True
        return False

    def consider(self, up: Mask) -> bool:
        """Ask what directions lose, and keep them if they are the best so far."""
        try:
            # A search that is over may still ask for the loss of what it has found.
            loss = self.losses.at(up, Run())
        except InfeasibleError:
            return False
        return self.offer(up, loss, self.losses.reached())

    def kicked(self) -> None:
        """Turn a few cells that share equations, settle their neighbours, and keep what is better."""
        free = np.flatnonzero(self.choice.can_rise & self.choice.can_fall)
        if free.size <= KICK:
            return
        draw, idle = np.random.default_rng(self.run.search), 0
        near = _sharing(self.task, self.choice)
        patience = min(PATIENCE if self.losses.quick else SLOW_PATIENCE, KICKS_PER_CELL * free.size)
        while idle < patience and not self.run.over:
            first = int(draw.choice(free))
            beside = np.intersect1d(near[first], free)
            turned = np.append(draw.choice(beside, min(KICK - 1, beside.size), replace=False), first)
            best = self.loss
            self._from(turned, np.unique(np.concatenate([near[p] for p in turned])))
            idle = 0 if self.loss.below(best) else idle + 1

    def _from(self, turned: Cells, only: Cells) -> None:
        up = self.up.copy()
        up[np.unique(turned)] ^= True
        try:
            trial = Flips(self.task, self.choice, self.losses, up, self.run)
        except StoppedError:
            return
        trial.run = self.run.retold(lambda _: self.loss.value)
        trial.settle(only)
        self.offer(trial.up, trial.loss, trial.at)

    def _candidates(self, up: Mask, at: Reached, only: Cells | None) -> list[int]:
        estimate = hopeful(self.task, self.choice, up, at)
        order = np.argsort(estimate, kind="stable")
        # With something missed, slopes measure that, and the loss is no guide.
        useful = np.isfinite(estimate) if at.loss.missed else estimate < -1e-9 * max(1.0, abs(at.loss.value))
        if only is not None:
            useful[np.setdiff1d(np.arange(useful.size), only)] = False
        return [int(p) for p in order if useful[p]]


def _sharing(task: AdjustmentTask, choice: DirectionChoice) -> list[Cells]:
    """Per sensitive cell those that share an equation with it."""
    from scipy.sparse import csc_array

    forced = abs(csc_array(task.matrix, dtype=np.float64)[:, choice.cells])
    together = (forced.T @ forced).tocsr()
    return np.split(together.indices.astype(np.int64), together.indptr[1:-1])
