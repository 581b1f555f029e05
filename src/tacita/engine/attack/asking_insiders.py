"""Insiders, asked only where they can see through what satisfies everyone else.

Each of the outsider's requirements gets a short witness, which is kept for as long as it fits. Insiders whose
requirements are not listed look at all of them (:mod:`.onlookers`), and a requirement is put to a linear
program only where the witness is of no use to them.
"""

from __future__ import annotations

import numpy as np

from tacita.core.exact import Floats
from tacita.core.run import Run
from tacita.engine.attack.attacks import WIDE, Attacks
from tacita.engine.attack.onlookers import Onlookers, Shown
from tacita.engine.attack.presolved import PresolvedTable
from tacita.engine.attack.requirements import ALWAYS, DOWN, OUTSIDER, SLIDING, UP, Requirements
from tacita.engine.attack.routing import MOST, RoutedMove, Routing
from tacita.engine.attack.witnesses import Witnesses

Room = tuple[Floats, Floats] | None
"""How far cells of the presolved table can go above and below; None: as far as the attacker of the
requirement thinks.
"""
EACH = 2
"""Insiders that are listed at once for a cell and side; the next candidate shows whether more are needed."""


class Insiders:
    """The insiders whose requirements are not in the list that separation works on from the start."""

    def __init__(self, presolved: PresolvedTable, requirements: Requirements, run: Run) -> None:
        self.presolved, self.run = presolved, run
        everyone = np.arange(len(presolved.model.problem.insiders))
        self._onlookers = Onlookers(
            presolved.model.problem, everyone[~np.isin(everyone, requirements.attacker)]
        )
        self._witnesses = Witnesses(presolved)

    def __bool__(self) -> bool:
        return bool(self._onlookers)

    def failing(self, attacks: Attacks) -> Requirements | None:
        """Requirements of silent insiders that a candidate fails, some of them if there are many; None if
        there are none.
        """
        if not self._onlookers:
            return None
        asked = self._not_listed(self._not_shown(attacks), attacks.requirements)
        failed = self._failed(asked, attacks)
        return asked[np.array(failed)] if failed else None

    def _failed(self, asked: Requirements, attacks: Attacks) -> list[int]:
        """Which of these requirements fail, up to ``EACH`` per cell and side.

        Whoever cannot rule out the move that was found for another one, of no lower level, need not be asked.
        """
        theirs = Attacks(attacks.support, attacks.reach, asked, np.ones(len(asked)))
        search = _WitnessSearch(self.presolved, attacks, asked, self.run)
        order = np.lexsort((-asked.level, asked.sign, asked.cell))
        edges = np.flatnonzero((np.diff(asked.cell[order]) != 0) | (np.diff(asked.sign[order]) != 0)) + 1
        failed = []
        for left in np.split(order, edges):
            failing = 0
            while left.size and failing < EACH:
                k, left = int(left[0]), left[1:]
                move = None if asked.sign[k] == SLIDING else search.one_way(k, None)
                if move is not None:
                    left = left[self._onlookers.see_through(asked, search.shown(k, move), left)]
                elif theirs.blocked([k], self.run, WIDE):
                    failed.append(k)
                    failing += 1
        return failed

    def _not_shown(self, attacks: Attacks) -> Requirements:
        """Requirements that no witness settles."""
        common = np.flatnonzero(
            (attacks.requirements.attacker == OUTSIDER) & (attacks.requirements.switch == ALWAYS)
        )
        requirements = attacks.requirements[common]
        fits = self._witnesses.fitting(requirements, attacks.reach, WIDE)
        search = _WitnessSearch(self.presolved, attacks, requirements, self.run)

        def find(k: int, room: Room) -> Shown | None:
            if requirements.sign[k] == SLIDING:
                return search.both_ways(k, room)
            move = search.one_way(k, room)
            if move is None:
                return None
            self._witnesses.keep(k, move)
            return search.shown(k, move)

        def convince(k: int, up: Floats, down: Floats) -> Shown | None:
            return find(k, (up[self.presolved.cells], down[self.presolved.cells]))

        each = (
            search.shown(k, self._witnesses.move(k)) if fits[k] else find(k, None)
            for k in range(len(requirements))
        )
        shown = [one for one in each if one is not None]
        left, best = self._onlookers.common_left(requirements, shown, convince)
        return Requirements.join([left, self._onlookers.own_left(requirements, best)])

    def _not_listed(self, asked: Requirements, listed: Requirements) -> Requirements:
        columns = (listed.attacker, listed.cell, listed.sign)
        known = set(zip(*(column.tolist() for column in columns), strict=True))
        keys = zip(asked.attacker.tolist(), asked.cell.tolist(), asked.sign.tolist(), strict=True)
        return asked[np.array([key not in known for key in keys], dtype=bool)]


class _WitnessSearch:
    """Short witnesses of requirements at one candidate."""

    def __init__(
        self, presolved: PresolvedTable, attacks: Attacks, requirements: Requirements, run: Run
    ) -> None:
        self.presolved, self.requirements, self.run = presolved, requirements, run
        self._narrow, self._wide = (
            Routing(attacks.support, attacks.reach, requirements, most) for most in (MOST, WIDE)
        )
        self._price = np.ones(len(presolved))

    def one_way(self, k: int, room: Room, way: int = 0, share: float = 1.0) -> RoutedMove | None:
        """A move that takes a cell by a share of the level, inside some room or the attacker's."""
        way = way or int(self.requirements.sign[k])
        found = self._narrow.route(k, way, share, self._price, self.run, room)
        return found or self._wide.route(k, way, share, self._price, self.run, room)

    def both_ways(self, k: int, room: Room) -> Shown | None:
        """Moves up and down that are together as wide as a sliding level."""
        for share in (0.5, 1.0, 0.0, 0.75, 0.25):
            ways = [(way, part) for way, part in ((UP, share), (DOWN, 1.0 - share)) if part]
            moves = [move for way, part in ways if (move := self.one_way(k, room, way, part)) is not None]
            if len(moves) == len(ways):
                return self.shown(k, *moves)
        return None

    def shown(self, k: int, *moves: RoutedMove) -> Shown:
        """Moves in units, by cells of the table."""
        level = float(self.requirements.level[k])
        return Shown(k, tuple((self.presolved.cells[move.cells], move.change * level) for move in moves))
