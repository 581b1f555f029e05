"""Attackers' programs over the open cells near a target, and the inequalities that limit it.

What the attacker's program of ``attacks.py`` reaches over some of the cells that may move is reached over all
of them. Where it stays below the level, its dual values ``g`` belong to equations near the target, and

    c = s e_p + M' g,        s z_p <= sum_i  c+_i up_i + c-_i down_i

holds for all cells of the table; it limits the requirement if cells further away carry none of it.
"""

from __future__ import annotations

import numpy as np

from tacita.core.exact import Floats, Mask
from tacita.engine.attack.attacks import FRAGILE, TOLERANCE, Attacks, NearAttack
from tacita.engine.attack.requirements import Requirements
from tacita.engine.attack.routing import CARRIED, RoutedMove
from tacita.engine.attack.support import Lifting, Support
from tacita.engine.construction.neighbourhood import Neighbourhoods
from tacita.solvers.highs import SmallPrograms

NEAR = (100, 600, 4000)
"""Open cells near a target over which the attacker's program is stated, until it is decided."""
DOMINANT = 1e5
"""Cost of a level that a target does not move, in those of other cells."""
NEAR_AT = (100, 600)
"""Cells of a support near a target, alike."""


class NearAttacks:
    """Attackers' programs over neighbourhoods of one presolved table; ``work`` counts their cells."""

    sizes = NEAR_AT

    def __init__(self, neighbourhoods: Neighbourhoods) -> None:
        self._neighbourhoods, self.presolved = neighbourhoods, neighbourhoods.presolved
        self._programs = SmallPrograms()
        self.work = 0
        self._nothing = np.zeros(len(self.presolved))
        self._lifting = Lifting(self.presolved)

    def attack_at(self, attacks: Attacks, k: int, size: int) -> NearAttack | None:
        """Return the attack on requirement ``k`` at a point, over so many cells of the point's support."""
        support, share = attacks.support, attacks.windows.share
        return self.attack(
            attacks.requirements, k, support.movable, size, support, share, float(attacks.shares[k])
        )

    def attack(
        self,
        requirements: Requirements,
        k: int,
        open_cells: Mask,
        near: int,
        support: Support | None = None,
        share: Floats | None = None,
        length: float = 1.0,
    ) -> NearAttack | None:
        """Return the attack on requirement ``k`` over the open cells nearest to its target; None without.

        A cell may use all of its room, or a ``share`` of at most a level of it. The target moves by
        ``length`` levels at most.
        """
        target, direction = int(self.presolved.position[requirements.cell[k]]), int(requirements.sign[k])
        found = self._neighbourhoods.gather(target, open_cells, near)
        stated = self._neighbourhoods.state(requirements, k, direction, 1.0, self._nothing, found, False)
        if stated is None:
            return None
        cells, n = stated.cells, stated.cells.size
        self.work += n
        room = (side[cells] for side in self.presolved.find_room(int(requirements.attacker[k])))
        level = float(requirements.level[k])
        upper = np.concatenate([side / level for side in room])
        if share is not None:
            upper = np.tile(share[cells], 2) * np.minimum(upper, 1.0)
        at = int(np.searchsorted(cells, target)) + (0 if direction > 0 else n)
        upper[at], upper[(at + n) % (2 * n)] = min(length, upper[at]), 0.0
        furthest = np.zeros(2 * n)
        furthest[at] = -1.0
        # A move that avoids cells that are open only in part fits the next points, too. Most targets get as
        # far as they must; for the others the program is solved again, for its dual values.
        cost = furthest
        if share is not None:
            cost = np.tile(1.0 + FRAGILE * (1.0 - share[cells]), 2)
            cost[at] = -DOMINANT
        columns = (stated.starts, stated.row, stated.entry)
        point = self._programs.solve(cost, (np.zeros(2 * n), upper), columns, stated.rows.size)
        if point is not None and point[at] < length - TOLERANCE and share is not None:
            point = self._programs.solve_again(furthest)
        if point is None:
            return None
        reached, limit = float(point[at]), None
        if reached < length - TOLERANCE:
            lift = self._lifting.lift if support is None else support.lift_duals
            limit = lift(target, direction, stated.rows, self._programs.read_duals())
        change = point[:n] - point[n:]
        used = np.abs(change) > CARRIED
        return NearAttack(reached, RoutedMove(cells[used], change[used]), limit)
