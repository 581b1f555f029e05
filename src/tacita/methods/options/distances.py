"""Secret random amounts by which sensitive cells move beyond their levels.

If a cell moved by exactly its level ``L(a)``, readers who know the rule could narrow it to two values: those
with ``v = a + L(a)`` and ``v = a - L(a)``. So the least distance is ``L(a) + D``, with ``D`` drawn from ``0
.. S`` by the secret seed of the run. ``S`` is the larger of the cell's levels, of all attackers, and at least
two steps. Cells that would rise to the same value (``a + UPL``, which is the threshold for all counts below
it) have one ``S``, the largest of them: otherwise the distance would disclose which count it was.

Where the drawn distances are infeasible all are halved, halved again, and dropped at last: levels are never
given up for them.
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
    "how far sensitive cells move at least. drawn: their protection level and a secret random amount; exact: "
    "their level, as in the literature"
)
FEWEST_STEPS = 2
"""Least range of random amounts."""
SHARES = (1.0, 0.5, 0.25, 0.0)
"""Shares of the random amounts that are tried one after the other."""
STREAM = 1
"""The stream of random numbers for distances, beside others of the same seed."""
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
    """Random amounts beyond levels: their secret seed, and the share of them that is used."""

    seed: int = field(default_factory=draw_seed)
    share: float = 1.0
    table: int = 0
    """Number of the table: each of several has amounts of its own."""

    def draw_amounts(self, problem: Problem, step: int) -> Units:
        """Return the random amount that a method moves each sensitive cell beyond its level, in units."""
        found = np.zeros(len(problem.table), dtype=np.int64)
        cells = problem.sensitive
        most = find_largest_amounts(problem, step)[cells] // step
        drawn = np.random.default_rng([self.seed, STREAM, self.table]).integers(0, most + 1)
        found[cells] = np.floor(self.share * drawn).astype(np.int64) * step
        return found

    def shrinking(self) -> Iterator[Draws]:
        """Yield a method's random amounts beyond levels and smaller shares of them, at last none."""
        for share in SHARES:
            yield replace(self, share=share)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Remarks of a method on the share of its random amounts beyond levels that is used."""
        if self.share > 0:
            less = f"{self.share:.0%} of the random amounts were used, as more leave no release"
            return (DRAWN, *([] if self.share == 1 else [less]), *Run(seed=self.seed).seed_remarks)
        return (EXACT, "no random amounts beyond levels were used, as they leave no release")


NONE_DRAWN = Draws(0, 0.0)
"""Exactly the levels."""


def find_first_feasible(make: Callable[[Draws], T], draws: Draws) -> T:
    """Return what ``make`` returns for the largest feasible share of a method's random amounts."""
    for fewer in draws.shrinking():
        try:
            return make(fewer)
        except (InfeasibleError, InputError):
            if not fewer.share:
                raise
    raise AssertionError("the last share ends it")


def find_largest_amounts(problem: Problem, step: int) -> Units:
    """Return the largest random amount beyond its level by which a method moves each cell, in units."""
    lower, upper = find_largest_levels(problem)
    cells = problem.sensitive
    own = np.maximum(lower, upper)[cells]
    _, group = np.unique(problem.table.units[cells] + upper[cells], return_inverse=True)
    most = np.zeros(cells.size, dtype=np.int64)
    np.maximum.at(most, group, own)
    found = np.zeros(len(problem.table), dtype=np.int64)
    found[cells] = np.maximum(-(-most[group] // step), FEWEST_STEPS) * step
    return found


def find_largest_levels(problem: Problem) -> tuple[Units, Units]:
    """Return per cell the largest LPL and UPL of all attackers, in units, past which methods move it."""
    lower, upper = problem.levels.lower.copy(), problem.levels.upper.copy()
    for insider in problem.insiders:
        cells, own = insider.own_targets()
        lower[cells] = np.maximum(lower[cells], own[0])
        upper[cells] = np.maximum(upper[cells], own[1])
    return lower, upper
