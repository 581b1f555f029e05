"""Insiders, asked only where they can see through what satisfies everyone else.

An insider knows more than the outsider about a few cells. A move that shows the outsider a demand as met
shows it to the insider too, unless it leads through one of these cells further than he believes possible, or
he has a higher level of his own. So each of the outsider's demands gets a short witness, and an insider's
demand is put to a linear program only where the witness is of no use to him.
"""

from __future__ import annotations

import numpy as np

from tacita.engine.arena import Arena
from tacita.engine.attacks import WIDE, Attacks
from tacita.engine.demands import OUTSIDER, SLIDING, Demands, insider_demands
from tacita.engine.routing import Move, Routing
from tacita.run import Run


class Insiders:
    """The insiders whose demands are not in the list that separation works on from the start."""

    def __init__(self, arena: Arena, demands: Demands, run: Run) -> None:
        self.arena, self.run = arena, run
        everyone = np.arange(len(arena.model.problem.insiders))
        self._silent = everyone[~np.isin(everyone, demands.attacker)].tolist()

    def __bool__(self) -> bool:
        return bool(self._silent)

    def failing(self, attacks: Attacks) -> Demands | None:
        """Demands of silent insiders that a candidate fails; None if there are none."""
        if not self._silent:
            return None
        moves = self._moves(attacks)
        found = []
        for insider in self._silent:
            asked = self._not_listed(self._not_shown(insider, moves), attacks.demands)
            his = Attacks(attacks.support, attacks.reach, asked, np.ones(len(asked)))
            failed = his.blocked(range(len(asked)), self.run, WIDE)
            if failed:
                found.append(asked[np.array([blocked.demand for blocked in failed])])
        return Demands.join(found) if found else None

    def _moves(self, attacks: Attacks) -> dict[tuple[int, int], tuple[int, Move]]:
        """A short witness for each cell and side that the outsider asks for, with its level."""
        demands, price = attacks.demands, np.ones(len(self.arena))
        routing = Routing(attacks.support, attacks.reach, demands)
        moves = {}
        for k in np.flatnonzero((demands.attacker == OUTSIDER) & (demands.sign != SLIDING)).tolist():
            move = routing.route(k, int(demands.sign[k]), float(attacks.wanted[k]), price, self.run)
            if move is not None and attacks.wanted[k] == 1.0:
                moves[int(demands.cell[k]), int(demands.sign[k])] = int(demands.level[k]), move
        return moves

    def _not_shown(self, insider: int, moves: dict[tuple[int, int], tuple[int, Move]]) -> Demands:
        """His demands that no witness settles for him."""
        his = insider_demands(self.arena.model.problem, insider)
        up, down = self._room(insider)
        keys = zip(his.cell.tolist(), his.sign.tolist(), his.level.tolist(), strict=True)
        shown = [
            (known := moves.get((cell, sign))) is not None
            and level <= known[0]
            and _fits(known[1], known[0], up, down)
            for cell, sign, level in keys
        ]
        return his[~np.array(shown, dtype=bool)]

    def _not_listed(self, asked: Demands, listed: Demands) -> Demands:
        columns = (listed.attacker, listed.cell, listed.sign)
        known = set(zip(*(column.tolist() for column in columns), strict=True))
        keys = zip(asked.attacker.tolist(), asked.cell.tolist(), asked.sign.tolist(), strict=True)
        return asked[np.array([key not in known for key in keys], dtype=bool)]

    def _room(self, insider: int) -> tuple[dict[int, float], dict[int, float]]:
        """How far his own cells can go in his eyes, by cells of the arena."""
        who = self.arena.model.problem.insiders[insider]
        places = self.arena.position[who.cells]
        cells = places[places >= 0].tolist()
        up, down = self.arena.room_of(insider, cells)
        return dict(zip(cells, up.tolist(), strict=True)), dict(zip(cells, down.tolist(), strict=True))


def _fits(move: Move, level: int, up: dict[int, float], down: dict[int, float]) -> bool:
    for cell, change in zip(move.cells.tolist(), move.change.tolist(), strict=True):
        if cell in up and (change * level > up[cell] or -change * level > down[cell]):
            return False
    return True
