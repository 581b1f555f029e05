"""What every attacker must be left to believe: one line per attacker, target cell and side.

With moves ``z = y - a`` the attacker's region is ``M z = 0, -down_k <= z <= up_k`` cut with the window of the
release, and a requirement of *level* ``L`` on cell ``p`` asks

    up       max z_p >= L,
    down     max -z_p >= L,
    sliding  max z_p + max -z_p >= L.

``sign`` is +1, -1 and 0 for the three. A requirement with a ``switch`` counts only when that variable of the
method is 1: the level of a cell that is not sensitive is ``L x_switch``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacita.core.attacker import Insider
from tacita.core.exact import UNBOUNDED, Cells, Floats, Units
from tacita.problem.problem import Problem, Requirement

UP, DOWN, SLIDING = 1, -1, 0
OUTSIDER = -1
ALWAYS = -1


@dataclass(frozen=True, eq=False)
class Requirements:
    """Requirements as columns: ``attacker`` is a position in ``problem.insiders`` or ``OUTSIDER``; ``level``
    is in units.
    """

    attacker: Cells
    cell: Cells
    sign: NDArray[np.int8]
    level: Units
    switch: Cells

    def __len__(self) -> int:
        return self.cell.size

    def __getitem__(self, which: Cells | NDArray[np.bool_] | slice) -> Requirements:
        return Requirements(
            self.attacker[which], self.cell[which], self.sign[which], self.level[which], self.switch[which]
        )

    def wanted(self, x: Floats) -> Floats:
        """The share of its level that each requirement asks for at a point: 1 unless it has a switch."""
        wanted = np.ones(len(self))
        conditional = np.flatnonzero(self.switch != ALWAYS)
        wanted[conditional] = x[self.switch[conditional]]
        return wanted

    @classmethod
    def join(cls, parts: Iterable[Requirements]) -> Requirements:
        """All requirements of several lists, in their order."""
        every = list(parts)
        return cls(
            np.concatenate([d.attacker for d in every]),
            np.concatenate([d.cell for d in every]),
            np.concatenate([d.sign for d in every]),
            np.concatenate([d.level for d in every]),
            np.concatenate([d.switch for d in every]),
        )

    @classmethod
    def of_requirement(cls, need: Requirement, attacker: int) -> Requirements:
        """The requirements of one attacker. A sliding level that the other two already give is left out."""
        n = need.cells.size
        sliding = np.where(need.sliding > need.upper + need.lower, need.sliding, 0)
        cell = np.tile(need.cells, 3)
        level = np.concatenate([need.upper, need.lower, sliding])
        sign = np.repeat(np.array([UP, DOWN, SLIDING], dtype=np.int8), n)
        asked = level > 0
        size = int(asked.sum())
        return cls(np.full(size, attacker), cell[asked], sign[asked], level[asked], np.full(size, ALWAYS))


def outsider_requirements(problem: Problem) -> Requirements:
    """What must hold against someone who knows no more than everyone."""
    return Requirements.of_requirement(problem.against_everyone(), OUTSIDER)


def own_requirements(problem: Problem) -> Requirements:
    """What must hold against insiders in cells where they have levels of their own."""
    insiders = problem.insiders
    lower, upper, sliding = insiders.levels
    sliding = np.where(sliding > upper + lower, sliding, 0)
    level = np.concatenate([upper, lower, sliding])
    sign = np.repeat(np.array([UP, DOWN, SLIDING], dtype=np.int8), insiders.targets.size)
    asked = np.flatnonzero(level > 0)
    return Requirements(
        np.tile(insiders.target_owner, 3)[asked],
        np.tile(insiders.targets, 3)[asked],
        sign[asked],
        level[asked],
        np.full(asked.size, ALWAYS),
    )


def insider_requirements(problem: Problem, number: int) -> Requirements:
    """What must hold against one insider."""
    return Requirements.of_requirement(problem.against(problem.insiders[number], problem.sensitive), number)


def all_requirements(problem: Problem) -> Requirements:
    """The requirements of every attacker, the outsider first."""
    each = (insider_requirements(problem, k) for k in range(len(problem.insiders)))
    return Requirements.join([outsider_requirements(problem), *each])


def room(problem: Problem, attacker: int, cells: Cells | None = None) -> tuple[Floats, Floats]:
    """``up_k`` and ``down_k``: how far above and below its value an attacker believes each cell possible (or
    each of some ``cells``), in units; infinite where he knows no bound.
    """
    insider: Insider | None = None if attacker == OUTSIDER else problem.insiders[attacker]
    at = np.arange(len(problem.table)) if cells is None else cells
    units = problem.table.units[at]
    low, high = problem.bounds_at(insider, at)
    up = np.where(high >= UNBOUNDED, np.inf, (high - units).astype(np.float64))
    down = np.where(low <= -UNBOUNDED, np.inf, (units - low).astype(np.float64))
    return up, down
