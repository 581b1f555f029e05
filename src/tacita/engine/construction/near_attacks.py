"""Attackers' programs over the open cells near a target: the inequality that limits it, or a move.

Only the equations all of whose open cells are near are stated. What limits the target there limits it in the
whole table: the dual values ``g`` of these equations give

    c = s e_p + M' g,        s z_p <= sum_i  c+_i up_i + c-_i down_i

in which no open cell further away appears, so that the inequality is as tight as over the whole table. (With
all equations of the near cells, the cells further away would be held fast, and most dual values would belong
to equations at the border, which limit nothing in the whole table.) A target that goes as far as it must is
met only if the move balances all equations.
"""

from __future__ import annotations

import numpy as np

from tacita.core.exact import Floats, Mask
from tacita.engine.attack.attacks import FRAGILE, TOLERANCE, Attacks, NearAttack
from tacita.engine.attack.requirements import Requirements
from tacita.engine.attack.routing import CARRIED, RoutedMove
from tacita.engine.attack.support import Lifting, Support
from tacita.engine.construction.neighbourhood import Neighbourhoods
from tacita.engine.construction.neighbourhood_kernels import SmallProgram
from tacita.solvers.highs import SmallPrograms

NEAR = (100, 600, 4000)
"""Open cells near a target over which the attacker's program is stated, until it is decided."""
DOMINANT = 1e5
"""Cost of a level that a target does not move, in those of other cells."""
NEAR_AT = (60, 250, 1000)
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

    def attack_at(self, attacks: Attacks, k: int, size: int, proves: bool) -> NearAttack | None:
        """Return the attack on requirement ``k`` at a point, over so many cells of the point's support."""
        support, share = attacks.support, attacks.windows.share
        length = float(attacks.shares[k])
        return self.attack(attacks.requirements, k, support.movable, size, proves, support, share, length)

    def attack(
        self,
        requirements: Requirements,
        k: int,
        open_cells: Mask,
        near: int,
        proves: bool,
        support: Support | None = None,
        share: Floats | None = None,
        length: float = 1.0,
    ) -> NearAttack | None:
        """Return the attack on requirement ``k`` over the open cells nearest to its target; None without.

        A cell may use all of its room, or a ``share`` of at most a level of it. The target moves by
        ``length`` levels at most. The move of a requirement that is not limited balances the equations that
        lie near the target, and all of them if the attack ``proves`` that it is met.
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
        whole = self._neighbourhoods.find_whole(stated, open_cells)
        point = self._solve(cost, upper, stated, whole)
        if point is not None and point[at] < length - TOLERANCE:
            reached = point if cost is furthest else self._programs.solve_again(furthest)
            if reached is None:
                return None
            lift = self._lifting.lift if support is None else support.lift_duals
            limit = lift(target, direction, stated.rows[whole], self._programs.read_duals())
            return NearAttack(float(reached[at]), None, limit)
        if point is not None and proves and not whole.all():
            point = self._solve(cost, upper, stated, np.ones(whole.size, dtype=bool))
            if point is None or point[at] < length - TOLERANCE:
                return NearAttack(length, None, None)
        if point is None:
            return None
        change = point[:n] - point[n:]
        used = np.abs(change) > CARRIED
        return NearAttack(length, RoutedMove(cells[used], change[used]), None)

    def _solve(self, cost: Floats, upper: Floats, stated: SmallProgram, which: Mask) -> Floats | None:
        """Return the optimum of a program with some of its equations, or None."""
        kept = which[stated.row]
        starts = np.concatenate([[0], np.cumsum(kept)])[stated.starts].astype(np.int32)
        row = (np.cumsum(which) - 1)[stated.row[kept]].astype(np.int32)
        columns = (starts, row, stated.entry[kept])
        return self._programs.solve(cost, (np.zeros(cost.size), upper), columns, int(which.sum()))
