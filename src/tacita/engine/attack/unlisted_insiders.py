"""Insiders whose requirements are not listed, checked only where the outsider's witnesses prove nothing.

Each of the outsider's requirements gets a short witness, which is stored for as long as it fits. The insiders
are screened against all of them (:mod:`.insider_screening`), and a linear program is solved only for the
requirements that no witness proves.
"""

from __future__ import annotations

import numpy as np

from tacita.core.exact import Floats
from tacita.core.run import Run
from tacita.engine.attack.attacks import WIDE, Attacks
from tacita.engine.attack.insider_screening import InsiderScreening, OutsiderWitness
from tacita.engine.attack.presolved import PresolvedTable
from tacita.engine.attack.requirements import DOWN, OUTSIDER, SLIDING, UP, Requirements
from tacita.engine.attack.routing import MOST, RoutedMove, Routing, WitnessStore

Room = tuple[Floats, Floats] | None
"""How far cells of the presolved table can go above and below; None: as far as the attacker of the
requirement believes.
"""
EACH = 2
"""Insiders that are listed at once per cell and direction; the next candidate shows if more are needed."""


class UnlistedInsiders:
    """The insiders whose requirements are not in the list that separation works on from the start."""

    def __init__(self, presolved: PresolvedTable, requirements: Requirements, run: Run) -> None:
        self.presolved, self.run = presolved, run
        everyone = np.arange(len(presolved.model.problem.insiders))
        unlisted = everyone[~np.isin(everyone, requirements.attacker)]
        self._screening = InsiderScreening(presolved.model.problem, unlisted)
        self._witnesses = WitnessStore(presolved)

    def __bool__(self) -> bool:
        return bool(self._screening)

    def find_failing(self, attacks: Attacks) -> Requirements | None:
        """Return insiders' requirements that a candidate release fails, only some if there are many, or None.

        ``attacks`` holds the listed requirements, which the candidate meets.
        """
        if not self._screening:
            return None
        unproven = _drop_listed(self._find_unproven(attacks), attacks.requirements)
        failed = self._find_failed(unproven, attacks)
        return unproven[np.array(failed)] if failed else None

    def _find_failed(self, requirements: Requirements, attacks: Attacks) -> list[int]:
        """Return the numbers of insiders' requirements that fail, up to ``EACH`` per cell and direction.

        A move found for one insider proves the requirements of no higher level of all who cannot rule it out.
        """
        theirs = Attacks(attacks.support, attacks.windows, requirements, np.ones(len(requirements)))
        search = _WitnessSearch(self.presolved, attacks, requirements, self.run)
        cell, sign = requirements.cell, requirements.sign
        order = np.lexsort((-requirements.level, sign, cell))
        edges = np.flatnonzero((np.diff(cell[order]) != 0) | (np.diff(sign[order]) != 0)) + 1
        failed = []
        for left in np.split(order, edges):
            failing = 0
            while left.size and failing < EACH:
                k, left = int(left[0]), left[1:]
                move = None if sign[k] == SLIDING else search.find_move(k, None)
                if move is not None:
                    witness = search.make_witness(k, move)
                    left = left[self._screening.find_who_rules_out(requirements, witness, left)]
                elif theirs.find_blocked([k], self.run, WIDE):
                    failed.append(k)
                    failing += 1
        return failed

    def _find_unproven(self, attacks: Attacks) -> Requirements:
        """Return the insiders' requirements that no move found for the outsider proves."""
        listed = attacks.requirements
        requirements = listed[(listed.attacker == OUTSIDER) & ~listed.conditional]
        fits = self._witnesses.find_fitting(requirements, attacks.windows, WIDE)
        search = _WitnessSearch(self.presolved, attacks, requirements, self.run)

        def find(k: int, room: Room) -> OutsiderWitness | None:
            if requirements.sign[k] == SLIDING:
                return search.find_sliding_witness(k, room)
            move = search.find_move(k, room)
            if move is None:
                return None
            self._witnesses.keep(k, move)
            return search.make_witness(k, move)

        def find_within(k: int, up: Floats, down: Floats) -> OutsiderWitness | None:
            return find(k, (up[self.presolved.cells], down[self.presolved.cells]))

        each = (
            search.make_witness(k, self._witnesses.get_move(k)) if fits[k] else find(k, None)
            for k in range(len(requirements))
        )
        witnesses = [one for one in each if one is not None]
        left, best = self._screening.screen_common(requirements, witnesses, find_within)
        return Requirements.join([left, self._screening.screen_own(requirements, best)])


def _drop_listed(requirements: Requirements, listed: Requirements) -> Requirements:
    """Return the requirements without those whose attacker, cell and direction are listed."""

    def keys(some: Requirements) -> list[tuple[int, int, int]]:
        return list(zip(some.attacker.tolist(), some.cell.tolist(), some.sign.tolist(), strict=True))

    known = set(keys(listed))
    return requirements[np.array([key not in known for key in keys(requirements)], dtype=bool)]


class _WitnessSearch:
    """Searches for short witnesses of requirements at one candidate."""

    def __init__(
        self, presolved: PresolvedTable, attacks: Attacks, requirements: Requirements, run: Run
    ) -> None:
        self.presolved, self.requirements, self.run = presolved, requirements, run
        self._routings = [
            Routing(attacks.support, attacks.windows, requirements, most) for most in (MOST, WIDE)
        ]
        self._cost = np.ones(len(presolved))

    def find_move(self, k: int, room: Room, direction: int = 0, share: float = 1.0) -> RoutedMove | None:
        """Return a move that takes a requirement's target by a share of its level, or None."""
        direction = direction or int(self.requirements.sign[k])
        each = (r.route(k, direction, share, self._cost, self.run, room) for r in self._routings)
        return next((move for move in each if move is not None), None)

    def find_sliding_witness(self, k: int, room: Room) -> OutsiderWitness | None:
        """Return moves up and down that together meet a sliding requirement, or None."""
        for share in (0.5, 1.0, 0.0, 0.75, 0.25):
            parts = [(sign, part) for sign, part in ((UP, share), (DOWN, 1.0 - share)) if part]
            moves = [
                move for sign, part in parts if (move := self.find_move(k, room, sign, part)) is not None
            ]
            if len(moves) == len(parts):
                return self.make_witness(k, *moves)
        return None

    def make_witness(self, k: int, *moves: RoutedMove) -> OutsiderWitness:
        """Return moves of a requirement as its witness: in units, by cells of the full table."""
        level = float(self.requirements.level[k])
        in_units = tuple((self.presolved.cells[move.cells], move.change * level) for move in moves)
        return OutsiderWitness(k, in_units)
