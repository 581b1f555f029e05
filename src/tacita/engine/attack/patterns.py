"""Suppression patterns: is one protected, build one, publish again what it does not need.

Patterns are masks over the presolved table. Every requirement keeps a *witness*, a move through hidden cells
that meets it; a cell that no witness uses can be published, and if one does, only the requirements whose
witness uses the cell must find another way.
"""

from __future__ import annotations

import numpy as np

from tacita.core.exact import Cells, Floats, Mask
from tacita.core.run import Run
from tacita.engine.attack.attacks import WIDE, Attacks
from tacita.engine.attack.presolved import PresolvedTable, WindowsAtPoint
from tacita.engine.attack.requirements import DOWN, SLIDING, UP, Requirements
from tacita.engine.attack.routing import Routing
from tacita.engine.attack.support import Support

MOST_WORK = 5_000_000
"""Cells that new witnesses were looked for among, in sum, before cleaning leaves the cheaper cells alone."""

Witnesses = list[Cells | None]


class PresolvedPatterns:
    """Patterns of one presolved, by linear programs: for tables of any shape."""

    def __init__(self, presolved: PresolvedTable, requirements: Requirements, run: Run) -> None:
        self.presolved, self.requirements, self.run = presolved, requirements, run
        self.at = presolved.position[requirements.cell]
        self._needs: dict[int, int] = {}

    def unprotected(self, hidden: Mask) -> Cells:
        """Requirements that fail when these cells are hidden and all others published."""
        everything = np.ones(len(self.requirements))
        attacks = Attacks(Support(self.presolved, hidden), opened(hidden), self.requirements, everything)
        found = attacks.blocked(self._asked(hidden), self.run, WIDE)
        return np.array([b.requirement for b in found], dtype=np.int64)

    def build(self, hidden: Mask, price: Floats, order: Cells) -> Mask | None:
        """More cells hidden, until all requirements hold; None if that cannot be.

        Requirements are routed in the given order, each through what is cheapest at ``price`` (infinite: must
        be published); what was hidden for one is free for the next.
        """
        hidden = hidden.copy()
        usable = hidden | np.isfinite(price)
        routing = Routing(Support(self.presolved, usable), opened(usable), self.requirements)
        rank = np.empty(order.size, dtype=np.int64)
        rank[order] = np.arange(order.size)
        while True:
            open_requirements, before = self.unprotected(hidden), int(hidden.sum())
            if not open_requirements.size:
                return hidden
            for k in open_requirements[np.argsort(rank[open_requirements], kind="stable")].tolist():
                used = self._route(routing, k, np.where(hidden, 0.0, price))
                if used is None:
                    return None
                hidden[used] = True
            if int(hidden.sum()) == before:
                return None

    def clean(self, hidden: Mask, kept: Mask, price: Floats) -> Mask:
        """The same protection by fewer cells, as far as a fair amount of work goes; ``kept`` cells stay."""
        hidden = hidden.copy()
        routing = Routing(Support(self.presolved, hidden), opened(hidden), self.requirements)
        witnesses = self._witnesses(routing, hidden, kept, price)
        if witnesses is None:
            return hidden
        asked = set(self._asked(hidden))
        users: dict[int, set[int]] = {}
        for k in asked:
            _use(users, k, witnesses[k])
        removable = np.flatnonzero(hidden & ~kept)
        work = 0
        for cell in removable[np.argsort(-price[removable], kind="stable")].tolist():
            if work > MOST_WORK:
                break
            hidden[cell] = False
            affected = [k for k in sorted(users.get(cell, ())) if not self._goes_with(k, cell)]
            found = self._others(routing, affected, hidden, cell)
            work += removable.size * max(1, len(affected if found is None else found))
            if found is None:
                hidden[cell] = True
                continue
            for k, cells in found.items():
                _release(users, k, witnesses[k])
                witnesses[k] = cells
                _use(users, k, cells)
        return hidden

    def _witnesses(self, routing: Routing, hidden: Mask, kept: Mask, price: Floats) -> Witnesses | None:
        """One short witness per requirement; cells that earlier ones use are free for the later ones."""
        witnesses: Witnesses = [None] * len(self.requirements)
        used = kept & hidden
        which = np.array(self._asked(hidden), dtype=np.int64)
        for k in which[np.argsort(-self.requirements.level[which], kind="stable")].tolist():
            cells = self._route(routing, k, np.where(hidden, np.where(used, 0.0, price), np.inf))
            if cells is None:
                return None
            witnesses[k] = cells
            used[cells] = True
        return witnesses

    def _others(
        self, routing: Routing, affected: list[int], hidden: Mask, cell: int
    ) -> dict[int, Cells] | None:
        """New witnesses now that ``cell`` is published; None if some requirement has no other way."""
        closed = np.where(hidden, 0.0, np.inf)
        found = {}
        # Who could not do without the cell in an earlier pattern probably cannot now: one question decides.
        last = self._needs.get(cell)
        for k in sorted(affected, key=lambda k: k != last):
            cells = self._route(routing, k, closed)
            if cells is None:
                self._needs[cell] = k
                return None
            found[k] = cells
        return found

    def _route(self, routing: Routing, k: int, price: Floats) -> Cells | None:
        """Return cells that carry the cheapest move of a requirement (a sliding one first goes up fully)."""
        sign = int(self.requirements.sign[k])
        if sign != SLIDING:
            move = routing.route(k, sign, 1.0, price, self.run)
            return None if move is None else move.cells
        for share in (1.0, 0.0, 0.5, 0.75, 0.25):
            ways = [(way, length) for way, length in ((UP, share), (DOWN, 1.0 - share)) if length]
            moves = [routing.route(k, way, length, price, self.run) for way, length in ways]
            if all(move is not None for move in moves):
                return np.unique(np.concatenate([move.cells for move in moves if move is not None]))
        return None

    def _goes_with(self, k: int, cell: int) -> bool:
        """Whether a requirement is only there while the cell is hidden."""
        return bool(self.at[k] == cell and self.requirements.switch[k] >= 0)

    def _asked(self, hidden: Mask) -> list[int]:
        """Requirements that count for this pattern."""
        inside = np.flatnonzero(self.at >= 0)
        conditional = self.requirements.switch[inside] >= 0
        counts = ~conditional | hidden[self.at[inside]]
        return [int(k) for k in inside[counts]]


def opened(hidden: Mask) -> WindowsAtPoint:
    """The windows of a pattern."""
    nothing = np.zeros(hidden.size)
    return WindowsAtPoint(nothing, nothing, hidden.astype(np.float64))


def _release(users: dict[int, set[int]], k: int, cells: Cells | None) -> None:
    for cell in cells if cells is not None else ():
        users.get(int(cell), set()).discard(k)


def _use(users: dict[int, set[int]], k: int, cells: Cells | None) -> None:
    for cell in cells if cells is not None else ():
        users.setdefault(int(cell), set()).add(k)
