"""Insiders, asked only where they can see through what satisfies everyone else.

Each of the outsider's demands gets a short witness, which is kept for as long as it fits. Insiders whose
demands are not listed look at all of them (:mod:`.onlookers`), and a demand is put to a linear program only
where the witness is of no use to them.
"""

from __future__ import annotations

import numpy as np

from tacita.core.exact import Floats
from tacita.core.run import Run
from tacita.engine.attack.arena import Arena
from tacita.engine.attack.attacks import WIDE, Attacks
from tacita.engine.attack.demands import ALWAYS, DOWN, OUTSIDER, SLIDING, UP, Demands
from tacita.engine.attack.onlookers import Onlookers, Shown
from tacita.engine.attack.routing import MOST, RoutedMove, Routing
from tacita.engine.attack.witnesses import Witnesses

Room = tuple[Floats, Floats] | None
"""How far cells of the arena can go above and below; None: as far as the attacker of the demand thinks."""
EACH = 2
"""Insiders that are listed at once for a cell and side; the next candidate shows whether more are needed."""


class Insiders:
    """The insiders whose demands are not in the list that separation works on from the start."""

    def __init__(self, arena: Arena, demands: Demands, run: Run) -> None:
        self.arena, self.run = arena, run
        everyone = np.arange(len(arena.model.problem.insiders))
        self._onlookers = Onlookers(arena.model.problem, everyone[~np.isin(everyone, demands.attacker)])
        self._witnesses = Witnesses(arena)

    def __bool__(self) -> bool:
        return bool(self._onlookers)

    def failing(self, attacks: Attacks) -> Demands | None:
        """Demands of silent insiders that a candidate fails, some of them if there are many; None if there
        are none.
        """
        if not self._onlookers:
            return None
        asked = self._not_listed(self._not_shown(attacks), attacks.demands)
        failed = self._failed(asked, attacks)
        return asked[np.array(failed)] if failed else None

    def _failed(self, asked: Demands, attacks: Attacks) -> list[int]:
        """Which of these demands fail, up to ``EACH`` per cell and side.

        Whoever cannot rule out the move that was found for another one, of no lower level, need not be asked.
        """
        theirs = Attacks(attacks.support, attacks.reach, asked, np.ones(len(asked)))
        search = _WitnessSearch(self.arena, attacks, asked, self.run)
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

    def _not_shown(self, attacks: Attacks) -> Demands:
        """Demands that no witness settles."""
        common = np.flatnonzero((attacks.demands.attacker == OUTSIDER) & (attacks.demands.switch == ALWAYS))
        demands = attacks.demands[common]
        fits = self._witnesses.fitting(demands, attacks.reach, WIDE)
        search = _WitnessSearch(self.arena, attacks, demands, self.run)

        def find(k: int, room: Room) -> Shown | None:
            if demands.sign[k] == SLIDING:
                return search.both_ways(k, room)
            move = search.one_way(k, room)
            if move is None:
                return None
            self._witnesses.keep(k, move)
            return search.shown(k, move)

        def convince(k: int, up: Floats, down: Floats) -> Shown | None:
            return find(k, (up[self.arena.cells], down[self.arena.cells]))

        each = (
            search.shown(k, self._witnesses.move(k)) if fits[k] else find(k, None)
            for k in range(len(demands))
        )
        shown = [one for one in each if one is not None]
        left, best = self._onlookers.common_left(demands, shown, convince)
        return Demands.join([left, self._onlookers.own_left(demands, best)])

    def _not_listed(self, asked: Demands, listed: Demands) -> Demands:
        columns = (listed.attacker, listed.cell, listed.sign)
        known = set(zip(*(column.tolist() for column in columns), strict=True))
        keys = zip(asked.attacker.tolist(), asked.cell.tolist(), asked.sign.tolist(), strict=True)
        return asked[np.array([key not in known for key in keys], dtype=bool)]


class _WitnessSearch:
    """Short witnesses of demands at one candidate."""

    def __init__(self, arena: Arena, attacks: Attacks, demands: Demands, run: Run) -> None:
        self.arena, self.demands, self.run = arena, demands, run
        self._narrow, self._wide = (
            Routing(attacks.support, attacks.reach, demands, most) for most in (MOST, WIDE)
        )
        self._price = np.ones(len(arena))

    def one_way(self, k: int, room: Room, way: int = 0, share: float = 1.0) -> RoutedMove | None:
        """A move that takes a cell by a share of the level, inside some room or the attacker's."""
        way = way or int(self.demands.sign[k])
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
        level = float(self.demands.level[k])
        return Shown(k, tuple((self.arena.cells[move.cells], move.change * level) for move in moves))
