"""Insiders held against the moves that satisfy the outsider, all at once.

An insider knows more than the outsider about a few cells. A move that shows the outsider a requirement as met
shows it to the insider too, unless it leads through one of these cells further than they believe possible, or
they have a higher level of their own. Where several insiders see through the moves of a requirement, one is
looked for that nobody can rule out: it keeps to what all of them know together. What is left has to be asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacita.attackers.insider_list import spans
from tacita.attackers.sight import Sight
from tacita.core.exact import UNBOUNDED, Cells, Floats, Mask
from tacita.engine.attack.requirements import ALWAYS, OUTSIDER, Requirements, own_requirements, room
from tacita.problem.problem import Problem

NOISE = 1e-6
"""What the arithmetic of solvers may miss, in parts of a level."""


@dataclass(frozen=True, eq=False)
class Shown:
    """Moves that show a requirement of the outsider as met, one or one each way: cells of the table, and by
    how many units they change.
    """

    requirement: int
    moves: tuple[tuple[Cells, Floats], ...]


Convince = Callable[[int, Floats, Floats], Shown | None]
"""Finds moves for a requirement of the outsider within some room above and below, or none."""


class Onlookers:
    """Some insiders of a problem, by number."""

    def __init__(self, problem: Problem, who: Cells) -> None:
        insiders, n = problem.insiders, len(problem.table)
        self.problem = problem
        self._up, self._down = room(problem, OUTSIDER)
        rows, _ = spans(insiders.starts, who)
        cells, owner = insiders.cells[rows], insiders.owner[rows]
        units = problem.table.units[cells]
        low = np.where(insiders.lower[rows] <= -UNBOUNDED, -np.inf, insiders.lower[rows] - units)
        high = np.where(insiders.upper[rows] >= UNBOUNDED, np.inf, insiders.upper[rows] - units)
        better = np.flatnonzero((low > -self._down[cells]) | (high < self._up[cells]))
        self._owner, self._cells, self._low, self._high = (c[better] for c in (owner, cells, low, high))
        self._sight = Sight(self._owner, self._cells, self._low, self._high, n)
        own = own_requirements(problem)
        self.own = own[np.isin(own.attacker, who)]
        self._others = who[insiders.others[who]]

    def __bool__(self) -> bool:
        return bool(self._owner.size or len(self.own))

    def common_left(
        self, requirements: Requirements, shown: Sequence[Shown], convince: Convince
    ) -> tuple[Requirements, dict[int, Shown]]:
        """Requirements with everyone's levels that insiders have to be asked about; and by requirement the
        moves that show it, some of them better than those given.

        Parameters
        ----------
        requirements
            Those of the outsider that hold, and count for insiders too.
        """
        best = {one.requirement: one for one in shown}
        who, k = self._asked(requirements, best)
        times = np.bincount(k, minlength=len(requirements))
        for d in np.flatnonzero(times > 1).tolist():
            found = convince(d, *self.all_rooms(int(requirements.cell[d])))
            if found is not None:
                best[d] = found
        if (times > 1).any():
            who, k = self._asked(requirements, best)
        left = Requirements(
            who, requirements.cell[k], requirements.sign[k], requirements.level[k], np.full(k.size, ALWAYS)
        )
        return left, best

    def own_left(self, requirements: Requirements, best: dict[int, Shown]) -> Requirements:
        """Requirements with levels of their own that no move for the outsider settles."""
        own, n = self.own, len(requirements)
        if not n or not len(own):
            return own
        keys = 3 * requirements.cell + requirements.sign + 1
        order = np.argsort(keys, kind="stable")
        wanted = 3 * own.cell + own.sign + 1
        k = order[np.minimum(np.searchsorted(keys[order], wanted), n - 1)]
        who, seen = self._seen(requirements, best)
        settled = (keys[k] == wanted) & (requirements.level[k] >= own.level)
        settled &= np.isin(k, np.array(list(best), dtype=np.int64))
        settled &= ~np.isin(own.attacker * n + k, who * n + seen)
        return own[~settled]

    def _seen(self, requirements: Requirements, best: dict[int, Shown]) -> tuple[Cells, Cells]:
        """Pairs of insider and requirement where the insider can rule out a move that shows it."""
        every = [(one.requirement, *move) for one in best.values() for move in one.moves]
        if not every or not self._owner.size:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        k = np.repeat([d for d, _, _ in every], [cells.size for _, cells, _ in every])
        cells, change = (np.concatenate([move[i] for move in every]) for i in (1, 2))
        noise = NOISE * requirements.level[k]
        return self._sight.through(k, cells, change + noise, change - noise)

    def see_through(self, asked: Requirements, shown: Shown, which: Cells) -> Mask:
        """Which of some requirements have an attacker who can rule out the moves shown."""
        return np.isin(asked.attacker[which], self._seen(asked, {shown.requirement: shown})[0])

    def _asked(self, requirements: Requirements, best: dict[int, Shown]) -> tuple[Cells, Cells]:
        """Pairs of insider and requirement that no move settles: all who attack the cell, where there is
        none.
        """
        bare = np.array([d for d in range(len(requirements)) if d not in best], dtype=np.int64)
        seen_by, seen = self._seen(requirements, best)
        who = np.concatenate([seen_by, np.repeat(self._others, bare.size)])
        k = np.concatenate([seen, np.tile(bare, self._others.size)])
        asked = np.isin(who, self._others) & ~self.problem.insiders.is_spared(who, requirements.cell[k])
        return who[asked], k[asked]

    def all_rooms(self, target: int | None) -> tuple[Floats, Floats]:
        """How far cells can go for someone who knows all that insiders know; of a target, all that those know
        who attack it with everyone's levels.
        """
        up, down = (side.copy() for side in self._together)
        if target is not None:
            there = np.flatnonzero(self._cells == target)
            spared = self.problem.insiders.is_spared(self._owner[there], self._cells[there])
            rows = there[~spared]
            up[target] = min(self._up[target], self._high[rows].min(initial=np.inf))
            down[target] = min(self._down[target], (-self._low[rows]).min(initial=np.inf))
        return up, down

    @cached_property
    def _together(self) -> tuple[Floats, Floats]:
        up, down = self._up.copy(), self._down.copy()
        np.minimum.at(up, self._cells, self._high)
        np.minimum.at(down, self._cells, -self._low)
        return up, down
