"""Insiders whose requirements are not listed, checked only where the outsider's witnesses prove nothing.

Each of the outsider's requirements gets a short witness, which is stored for as long as it fits. The insiders
are screened against all of them (:mod:`.insider_screening`), and a linear program is solved only for the
requirements that no witness proves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from tacita.core.exact import Cells, Floats
from tacita.core.run import Run
from tacita.engine.attack.attacks import WIDE, Attacks
from tacita.engine.attack.insider_screening import InsiderScreening, OutsiderWitness
from tacita.engine.attack.presolved import PresolvedTable
from tacita.engine.attack.requirements import OUTSIDER, SLIDING, Requirements
from tacita.engine.attack.routing import MOST, RoutedMove, Routing, Witness, WitnessStore, meet_by_moves

Room = tuple[Floats, Floats] | None
"""How far cells of the presolved table can go above and below; None: as far as the attacker of the
requirement believes.
"""
EACH = 8
"""Insiders that are listed at once per cell and direction; the next candidate shows if more are needed."""


class WitnessSearch(ABC):
    """Searches for short witnesses of a list of requirements at one candidate."""

    def __init__(self, presolved: PresolvedTable, requirements: Requirements) -> None:
        self.presolved, self.requirements = presolved, requirements

    @abstractmethod
    def find_move(self, k: int, direction: int, length: float, room: Room) -> RoutedMove | None:
        """Return a move that takes the target of requirement ``k`` by ``length`` levels, or None."""

    def is_met(self, k: int) -> bool:
        """Return whether requirement ``k``, for which no short witness was found, is met all the same."""
        return False

    def fits(self, witness: OutsiderWitness) -> bool:
        """Return whether a witness that was found at an earlier candidate holds at this one."""
        return False

    def find_known(self, k: int) -> Witness | None:
        """Return a witness of requirement ``k`` that is known already, or None."""
        return None

    def find_witness(self, k: int, room: Room = None) -> OutsiderWitness | None:
        """Return a witness of requirement ``k`` in units, by cells of the full table, or None."""
        found = self.find_known(k) if room is None else None
        if found is None:
            sign = int(self.requirements.sign[k])
            found = meet_by_moves(sign, lambda side, length: self.find_move(k, side, length, room))
        if found is None:
            return None
        level = float(self.requirements.level[k])
        in_units = ((self.presolved.cells[move.cells], move.change * level) for move in found.moves)
        return OutsiderWitness(k, tuple(in_units))


class UnlistedInsiders:
    """The insiders whose requirements are not in the list that separation works on from the start."""

    def __init__(self, presolved: PresolvedTable, requirements: Requirements, run: Run) -> None:
        self.presolved, self.run = presolved, run
        everyone = np.arange(len(presolved.model.problem.insiders))
        unlisted = everyone[~np.isin(everyone, requirements.attacker)]
        self._screening = InsiderScreening(presolved.model.problem, unlisted)
        self._witnesses = WitnessStore(presolved)
        self._proofs: list[tuple[Requirements, OutsiderWitness]] = []
        """Requirements of insiders, one each, with a witness that meets them."""

    def __bool__(self) -> bool:
        return bool(self._screening)

    def find_failing(self, attacks: Attacks) -> Requirements | None:
        """Return insiders' requirements that a candidate release fails, only some if there are many, or None.

        ``attacks`` holds the listed requirements, which the candidate meets.
        """
        return self.find_unproven(
            attacks.requirements,
            lambda requirements: _RoutedSearch(
                self.presolved, requirements, attacks, self.run, self._witnesses
            ),
        )

    def find_unproven(
        self, listed: Requirements, search: Callable[[Requirements], WitnessSearch]
    ) -> Requirements | None:
        """Return insiders' requirements for which a search at a candidate finds no proof, some if there are
        many, or None.

        ``listed`` requirements are met. What the search calls met although it has no witness, is proven.
        """
        if not self._screening:
            return None
        outsider = listed[(listed.attacker == OUTSIDER) & ~listed.conditional]
        own = search(outsider)
        each = (own.find_witness(k) for k in range(len(outsider)))
        witnesses = {one.requirement: one for one in each if one is not None}
        common = self._screening.find_unproven(outsider, witnesses)
        left = Requirements.join([common, self._screening.screen_own(outsider, witnesses)])
        left = self._drop_proven(_drop_listed(left, listed), own)
        failed = self._find_failed(left, search(left))
        return left[np.array(failed)] if failed else None

    def _drop_proven(self, requirements: Requirements, search: WitnessSearch) -> Requirements:
        """Return the requirements without those that witnesses of earlier candidates prove at this one."""
        self._proofs = [proof for proof in self._proofs if search.fits(proof[1])]
        if not self._proofs:
            return requirements
        proven = Requirements.join([one for one, _ in self._proofs])
        witnesses = {i: OutsiderWitness(i, witness.moves) for i, (_, witness) in enumerate(self._proofs)}
        who, which = self._screening.find_ruled_out(proven, witnesses)
        ruled_out = set(zip(who.tolist(), which.tolist(), strict=True))
        proofs: dict[tuple[int, int], list[int]] = {}
        for i, key in enumerate(zip(proven.cell.tolist(), proven.sign.tolist(), strict=True)):
            proofs.setdefault(key, []).append(i)
        keys = zip(requirements.cell.tolist(), requirements.sign.tolist(), strict=True)
        attackers = requirements.attacker.tolist()
        unproven = [
            not any(
                proven.level[i] >= requirements.level[k] and (attackers[k], i) not in ruled_out
                for i in proofs.get(key, ())
            )
            for k, key in enumerate(keys)
        ]
        return requirements[np.array(unproven, dtype=bool)]

    def _find_failed(self, requirements: Requirements, search: WitnessSearch) -> list[int]:
        """Return the numbers of insiders' requirements that fail, up to ``EACH`` per cell and direction."""
        cell, sign = requirements.cell, requirements.sign
        order = np.lexsort((-requirements.level, sign, cell))
        edges = np.flatnonzero((np.diff(cell[order]) != 0) | (np.diff(sign[order]) != 0)) + 1
        return [
            k for group in np.split(order, edges) for k in self._find_failed_of(requirements, group, search)
        ]

    def _find_failed_of(self, requirements: Requirements, group: Cells, search: WitnessSearch) -> list[int]:
        """Return up to ``EACH`` requirements that fail of a group for one cell and direction.

        A witness within what several insiders know together proves the requirements of all of them that have
        no higher level; where there is none, the group is halved. The highest level comes first in a group.
        """
        failed, waiting = list[int](), [group] if group.size else []
        while waiting and len(failed) < EACH:
            some = waiting.pop()
            k = int(some[0])
            witness = search.find_witness(
                k, None if some.size == 1 else self._find_joint_room(requirements, some)
            )
            if witness is not None:
                self._proofs.append((requirements[np.array([k])], witness))
                proven = requirements.level <= requirements.level[k]
                rest = (
                    left[~proven[left] | self._screening.find_who_rules_out(requirements, witness, left)]
                    for left in waiting
                )
                waiting = [left for left in rest if left.size]
            elif some.size > 1:
                waiting += [some[some.size // 2 :], some[: some.size // 2]]
            elif not search.is_met(k):
                failed.append(k)
        return failed

    def _find_joint_room(self, requirements: Requirements, which: Cells) -> tuple[Floats, Floats]:
        """Return how far cells of the presolved table can go above and below for someone who knows what the
        attackers of some requirements know together.
        """
        cells, above, below = self._screening.find_knowledge(np.unique(requirements.attacker[which]))
        at = self.presolved.position[cells]
        inside = at >= 0
        up, down = (side.copy() for side in self.presolved.find_room(OUTSIDER))
        np.minimum.at(up, at[inside], above[inside])
        np.minimum.at(down, at[inside], below[inside])
        return up, down


def _drop_listed(requirements: Requirements, listed: Requirements) -> Requirements:
    """Return the requirements without those whose attacker, cell and direction are listed."""

    def keys(some: Requirements) -> list[tuple[int, int, int]]:
        return list(zip(some.attacker.tolist(), some.cell.tolist(), some.sign.tolist(), strict=True))

    known = set(keys(listed))
    return requirements[np.array([key not in known for key in keys(requirements)], dtype=bool)]


class _RoutedSearch(WitnessSearch):
    """Searches over all cells that can move at a candidate, and stores what it finds for the next one."""

    def __init__(
        self,
        presolved: PresolvedTable,
        requirements: Requirements,
        attacks: Attacks,
        run: Run,
        store: WitnessStore,
    ) -> None:
        super().__init__(presolved, requirements)
        self.run = run
        # Requirements of the outsider keep their numbers from candidate to candidate.
        self._store = store if (requirements.attacker == OUTSIDER).any() else WitnessStore(presolved)
        self._fits = self._store.find_fitting(requirements, attacks.windows, WIDE)
        self._attacks = Attacks(attacks.support, attacks.windows, requirements, np.ones(len(requirements)))
        self._routings = [
            Routing(attacks.support, attacks.windows, requirements, most) for most in (MOST, WIDE)
        ]
        self._cost = np.ones(len(presolved))

    def fits(self, witness: OutsiderWitness) -> bool:
        """Return whether a witness that was found at an earlier candidate holds at this one."""
        return False

    def find_known(self, k: int) -> Witness | None:
        return Witness((self._store.get_move(k),)) if self._fits[k] else None

    def find_move(self, k: int, direction: int, length: float, room: Room) -> RoutedMove | None:
        each = (r.route(k, direction, length, self._cost, self.run, room) for r in self._routings)
        move = next((move for move in each if move is not None), None)
        if move is not None and self.requirements.sign[k] != SLIDING:
            self._store.keep(k, move)
        return move

    def is_met(self, k: int) -> bool:
        return not self._attacks.find_blocked([k], self.run, WIDE)
