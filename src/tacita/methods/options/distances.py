"""How far sensitive cells move beyond their levels: a secret random amount.

A cell that moves by exactly its level ``L(a)`` leaves two values to whoever knows the rule: those with
``v = a + L(a)`` and ``v = a - L(a)``. So the least distance is ``L(a) + D``, with ``D`` drawn from ``0 .. S``
by the secret seed of the run. ``S`` is the larger of the cell's levels, of all attackers, and at least two
steps. Cells that would rise to the same value (``a + UPL``, which is the threshold for all counts below it)
have one ``S``, the largest of them: otherwise the distance would give away which count it was.

Where the distances that were drawn leave no release, all are halved, halved again, and dropped at last:
levels are never given up for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar

import numpy as np

from tacita.core.errors import InfeasibleError, InputError
from tacita.core.exact import Units
from tacita.core.run import Run, draw_seed
from tacita.problem.problem import Problem

T = TypeVar("T")

Distance = Literal["drawn", "exact"]
DISTANCE_HELP = (
    "how far sensitive cells move at least: drawn (their level and a secret random amount), or exact (their "
    "level, as in the literature)"
)
FEWEST_STEPS = 2
"""Of the range of random amounts."""
SHARES = (1.0, 0.5, 0.25, 0.0)
"""Parts of the random amounts that are tried one after the other."""
STREAM = 1
"""Distances have a stream of their own beside whatever else is drawn with the same seed."""
ASSUMED = "assuming that readers know the announced radius and nothing of how cells were moved"
DRAWN = (
    "sensitive cells move by their levels and random amounts at least: loss and bound are those of the "
    "distances that were drawn"
)
EXACT = (
    "sensitive cells may move by exactly their levels: two values are left to whoever knows the rule (option "
    "'distance')"
)


@dataclass(frozen=True)
class Draws:
    """Random amounts beyond levels: the secret they come from, and the share of them that is used."""

    seed: int = field(default_factory=draw_seed)
    share: float = 1.0
    table: int = 0
    """Which of several tables: each has amounts of its own."""

    def beyond(self, problem: Problem, step: int) -> Units:
        """Return the random amount of every sensitive cell, in units and multiples of ``step``."""
        found = np.zeros(len(problem.table), dtype=np.int64)
        cells = problem.sensitive
        most = spread(problem, step)[cells] // step
        drawn = np.random.default_rng([self.seed, STREAM, self.table]).integers(0, most + 1)
        found[cells] = np.floor(self.share * drawn).astype(np.int64) * step
        return found

    def less_and_less(self) -> Iterator[Draws]:
        """Yield these draws and smaller shares of them; none of them at last."""
        for share in SHARES:
            yield replace(self, share=share)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was used of the random amounts."""
        if self.share > 0:
            less = f"{self.share:.0%} of the random amounts were used, as more leave no release"
            return (DRAWN, *([] if self.share == 1 else [less]), *Run(seed=self.seed).seed_remarks)
        return (EXACT, "no random amounts beyond levels were used, as they leave no release")


NONE_DRAWN = Draws(0, 0.0)
"""Exactly the levels."""


def first_feasible(make: Callable[[Draws], T], draws: Draws) -> T:
    """Return what ``make`` gives for the largest share of the random amounts that it can be made with."""
    for fewer in draws.less_and_less():
        try:
            return make(fewer)
        except (InfeasibleError, InputError):
            if not fewer.share:
                raise
    raise AssertionError("the last share ends it")


def spread(problem: Problem, step: int) -> Units:
    """Return the largest random amount per cell, in units and multiples of ``step``."""
    lower, upper = levels_of_all(problem)
    cells = problem.sensitive
    own = np.maximum(lower, upper)[cells]
    _, group = np.unique(problem.table.units[cells] + upper[cells], return_inverse=True)
    most = np.zeros(cells.size, dtype=np.int64)
    np.maximum.at(most, group, own)
    found = np.zeros(len(problem.table), dtype=np.int64)
    found[cells] = np.maximum(-(-most[group] // step), FEWEST_STEPS) * step
    return found


def levels_of_all(problem: Problem) -> tuple[Units, Units]:
    """Return the largest lower and upper level per cell over all attackers."""
    lower, upper = problem.levels.lower.copy(), problem.levels.upper.copy()
    for insider in problem.insiders:
        cells, own = insider.own_targets()
        lower[cells] = np.maximum(lower[cells], own[0])
        upper[cells] = np.maximum(upper[cells], own[1])
    return lower, upper
