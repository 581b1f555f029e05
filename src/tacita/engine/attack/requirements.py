"""Protection requirements: one row per attacker, target cell and direction, with a level.

With moves ``z = y - a`` the attacker's region is ``M z = 0, -down_k <= z <= up_k`` cut with the window of the
release, and a requirement of *level* ``L`` on cell ``p`` asks

    up       max z_p >= L,
    down     max -z_p >= L,
    sliding  max z_p + max -z_p >= L.

``sign`` is +1, -1 and 0 for the three. A requirement with a ``switch`` is *conditional*: it counts only when
that variable of the method is 1, so the level of a cell that is not sensitive is ``L x_switch``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacita.core.attacker import Insider
from tacita.core.exact import UNBOUNDED, Cells, Floats, Mask, Units
from tacita.problem.problem import AttackerLevels, Problem

UP, DOWN, SLIDING = 1, -1, 0
SIGN_NAMES = {UP: "upwards", DOWN: "downwards", SLIDING: "in all"}
OUTSIDER = -1
ALWAYS = -1


@dataclass(frozen=True, eq=False)
class Requirements:
    """Requirements as columns: ``attacker`` is a position in ``problem.insiders`` or ``OUTSIDER``, ``level``
    is in units, ``switch`` is a variable or ``ALWAYS``.
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

    @property
    def conditional(self) -> Mask:
        """Mask of the engine's requirements that count only when their switch is 1."""
        return np.asarray(self.switch != ALWAYS)

    def find_required_shares(self, x: Floats) -> Floats:
        """Return the share of its level that each requirement asks for at ``x``: 1 unless conditional."""
        shares = np.ones(len(self))
        shares[self.conditional] = x[self.switch[self.conditional]]
        return shares

    @classmethod
    def join(cls, parts: Iterable[Requirements]) -> Requirements:
        """Return the engine's requirements of several lists as one list, in their order."""
        columns = zip(*((d.attacker, d.cell, d.sign, d.level, d.switch) for d in parts), strict=True)
        return cls(*(np.concatenate(column) for column in columns))

    @classmethod
    def of_levels(
        cls, attackers: Cells, cells: Cells, lower: Units, upper: Units, sliding: Units
    ) -> Requirements:
        """Return the engine's requirements that protection levels state, per attacker, cell and direction.

        Upward requirements come first, then downward, then sliding ones. A sliding level that the other two
        imply is left out.
        """
        sliding = np.where(sliding > upper + lower, sliding, 0)
        level = np.concatenate([upper, lower, sliding])
        sign = np.repeat(np.array([UP, DOWN, SLIDING], dtype=np.int8), cells.size)
        at = np.flatnonzero(level > 0)
        return cls(
            np.tile(attackers, 3)[at], np.tile(cells, 3)[at], sign[at], level[at], np.full(at.size, ALWAYS)
        )


def list_directions(sign: int) -> tuple[int, ...]:
    """Return the directions of moves that meet a requirement of the engine: both if it is sliding."""
    return (UP, DOWN) if sign == SLIDING else (sign,)


def _requirements_of(attacker: int, levels: AttackerLevels) -> Requirements:
    attackers = np.full(levels.cells.size, attacker)
    return Requirements.of_levels(attackers, levels.cells, levels.lower, levels.upper, levels.sliding)


def list_outsider_requirements(problem: Problem) -> Requirements:
    """Return the engine's requirements against the outsider, one per cell and protection level."""
    return _requirements_of(OUTSIDER, problem.against_everyone())


def list_own_requirements(problem: Problem) -> Requirements:
    """Return the engine's requirements against insiders in cells where they have their own levels."""
    insiders = problem.insiders
    return Requirements.of_levels(insiders.target_owner, insiders.targets, *insiders.levels)


def list_all_requirements(problem: Problem) -> Requirements:
    """Return the engine's requirements against every attacker, the outsider's first."""
    insiders = enumerate(problem.insiders)
    each = [_requirements_of(k, problem.against(insider, problem.sensitive)) for k, insider in insiders]
    return Requirements.join([list_outsider_requirements(problem), *each])


def find_room(problem: Problem, attacker: int, cells: Cells | None = None) -> tuple[Floats, Floats]:
    """Return ``up_k`` and ``down_k`` of the engine: how far above and below its value an attacker believes
    each cell (or each of some ``cells``) possible, in units; infinite where they know no bound.
    """
    insider: Insider | None = None if attacker == OUTSIDER else problem.insiders[attacker]
    at = np.arange(len(problem.table)) if cells is None else cells
    units = problem.table.units[at]
    low, high = problem.bounds_at(insider, at)
    up = np.where(high >= UNBOUNDED, np.inf, (high - units).astype(np.float64))
    down = np.where(low <= -UNBOUNDED, np.inf, (units - low).astype(np.float64))
    return up, down
