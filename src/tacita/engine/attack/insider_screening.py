"""Screening of insiders: which requirements of theirs the outsider's witnesses already prove.

An insider knows more than the outsider about a few cells. A move that meets a requirement for the outsider
meets it for the insider too, unless it takes one of these cells further than they believe possible, or they
have a higher level of their own. Where several insiders can rule out the witness of a requirement, another
one is searched for within what all of them know together, which nobody can rule out. What is left has to be
checked insider by insider.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacita.attackers.insider_bounds import InsiderBounds
from tacita.attackers.insider_list import find_rows, list_ranges
from tacita.core.exact import UNBOUNDED, Cells, Floats, Mask
from tacita.engine.attack.requirements import ALWAYS, OUTSIDER, Requirements, find_room, list_own_requirements
from tacita.problem.problem import Problem

NOISE = 1e-6
"""Error of the solvers' arithmetic, in parts of a level."""


@dataclass(frozen=True, eq=False)
class OutsiderWitness:
    """Moves that meet a requirement of the outsider, one, or one per direction: cells of the table, and by
    how many units they change.
    """

    requirement: int
    moves: tuple[tuple[Cells, Floats], ...]


FindWitness = Callable[[int, Floats, Floats], OutsiderWitness | None]
"""Finds a witness for a requirement of the outsider within some room above and below, or returns None."""


class InsiderScreening:
    """Some insiders of a problem, given by number, against witnesses of the outsider's requirements."""

    def __init__(self, problem: Problem, who: Cells) -> None:
        insiders, n = problem.insiders, len(problem.table)
        self.problem = problem
        self._up, self._down = find_room(problem, OUTSIDER)
        rows, _ = find_rows(insiders.starts, who)
        cells, owner = insiders.cells[rows], insiders.owner[rows]
        units = problem.table.units[cells]
        low = np.where(insiders.lower[rows] <= -UNBOUNDED, -np.inf, insiders.lower[rows] - units)
        high = np.where(insiders.upper[rows] >= UNBOUNDED, np.inf, insiders.upper[rows] - units)
        better = np.flatnonzero((low > -self._down[cells]) | (high < self._up[cells]))
        self._owner, self._cells = owner[better], cells[better]
        self._low, self._high = low[better], high[better]
        self._bounds = InsiderBounds(self._owner, self._cells, self._low, self._high, n)
        own = list_own_requirements(problem)
        self.own = own[np.isin(own.attacker, who)]
        self._others = who[insiders.others[who]]

    def __bool__(self) -> bool:
        return bool(self._owner.size or len(self.own))

    def screen_common(
        self, requirements: Requirements, witnesses: Sequence[OutsiderWitness], find: FindWitness
    ) -> tuple[Requirements, dict[int, OutsiderWitness]]:
        """Return insiders' requirements of everyone's levels that the outsider's witnesses leave unproven,
        and the best witness of each requirement of the outsider.

        Parameters
        ----------
        requirements
            Those of the outsider that hold, and count for insiders too.
        """
        best = {one.requirement: one for one in witnesses}
        _, k = self._find_unproven_pairs(requirements, best)
        times = np.bincount(k, minlength=len(requirements))
        for d in np.flatnonzero(times > 1).tolist():
            found = find(d, *self.find_joint_room(int(requirements.cell[d])))
            if found is not None:
                best[d] = found
        return self.find_unproven(requirements, best), best

    def find_unproven(self, requirements: Requirements, best: Mapping[int, OutsiderWitness]) -> Requirements:
        """Return insiders' requirements of everyone's levels that the witnesses of the outsider's leave
        unproven.
        """
        who, k = self._find_unproven_pairs(requirements, best)
        return Requirements(
            who, requirements.cell[k], requirements.sign[k], requirements.level[k], np.full(k.size, ALWAYS)
        )

    def screen_own(self, requirements: Requirements, best: Mapping[int, OutsiderWitness]) -> Requirements:
        """Return the requirements with insiders' own levels that no witness of the outsider proves."""
        own, n = self.own, len(requirements)
        if not n or not len(own):
            return own
        keys = 3 * requirements.cell + requirements.sign + 1
        order = np.argsort(keys, kind="stable")
        wanted = 3 * own.cell + own.sign + 1
        k = order[np.minimum(np.searchsorted(keys[order], wanted), n - 1)]
        who, ruled_out = self.find_ruled_out(requirements, best)
        proven = (keys[k] == wanted) & (requirements.level[k] >= own.level)
        proven &= np.isin(k, np.array(list(best), dtype=np.int64))
        proven &= ~np.isin(own.attacker * n + k, who * n + ruled_out)
        return own[~proven]

    def find_who_rules_out(self, requirements: Requirements, witness: OutsiderWitness, which: Cells) -> Mask:
        """Return a mask over ``which``: requirements whose attacker can rule out the witness."""
        who, _ = self.find_ruled_out(requirements, {witness.requirement: witness})
        return np.isin(requirements.attacker[which], who)

    def find_knowledge(self, who: Cells) -> tuple[Cells, Floats, Floats]:
        """Return the cells of which some insiders know more than the outsider, and how far above and below
        they can go for each of these insiders.
        """
        first, last = np.searchsorted(self._owner, who), np.searchsorted(self._owner, who, side="right")
        rows = list_ranges(first.astype(np.int64), (last - first).astype(np.int64))
        return self._cells[rows], self._high[rows], -self._low[rows]

    def find_joint_room(self, target: int | None) -> tuple[Floats, Floats]:
        """Return how far above and below, in units, cells can go for someone who knows what all insiders
        know; of a target, what those know who attack it with everyone's levels.
        """
        up, down = (side.copy() for side in self._joint_room)
        if target is not None:
            there = np.flatnonzero(self._cells == target)
            spared = self.problem.insiders.is_spared(self._owner[there], self._cells[there])
            rows = there[~spared]
            up[target] = min(self._up[target], self._high[rows].min(initial=np.inf))
            down[target] = min(self._down[target], (-self._low[rows]).min(initial=np.inf))
        return up, down

    @cached_property
    def _joint_room(self) -> tuple[Floats, Floats]:
        """How far above and below, in units, cells can go for someone who knows what all insiders know."""
        up, down = self._up.copy(), self._down.copy()
        np.minimum.at(up, self._cells, self._high)
        np.minimum.at(down, self._cells, -self._low)
        return up, down

    def find_ruled_out(
        self, requirements: Requirements, best: Mapping[int, OutsiderWitness]
    ) -> tuple[Cells, Cells]:
        """Return pairs of insider and requirement where the insider can rule out its witness."""
        every = [(one.requirement, *move) for one in best.values() for move in one.moves]
        if not every or not self._owner.size:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        k = np.repeat([d for d, _, _ in every], [cells.size for _, cells, _ in every])
        cells, change = (np.concatenate([move[i] for move in every]) for i in (1, 2))
        noise = NOISE * requirements.level[k]
        return self._bounds.find_ruled_out(k, cells, change + noise, change - noise)

    def _find_unproven_pairs(
        self, requirements: Requirements, best: Mapping[int, OutsiderWitness]
    ) -> tuple[Cells, Cells]:
        """Return pairs of insider and requirement that no witness proves: where there is no witness, all
        insiders who attack the cell.
        """
        bare = np.array([d for d in range(len(requirements)) if d not in best], dtype=np.int64)
        who, k = self.find_ruled_out(requirements, best)
        who = np.concatenate([who, np.repeat(self._others, bare.size)])
        k = np.concatenate([k, np.tile(bare, self._others.size)])
        attack = np.isin(who, self._others) & ~self.problem.insiders.is_spared(who, requirements.cell[k])
        return who[attack], k[attack]
