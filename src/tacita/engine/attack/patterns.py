"""Suppression patterns: check one, complete one until it protects, publish again the cells it does not need.

Patterns are masks over the presolved table. Every requirement has a *witness*, a move through hidden cells
that meets it. A cell that no witness uses can be published; where witnesses use it, only their requirements
need new ones.
"""

from __future__ import annotations

import numpy as np

from tacita.core.exact import Cells, Floats, Mask
from tacita.core.run import Run
from tacita.engine.attack.attacks import WIDE, Attacks
from tacita.engine.attack.presolved import PresolvedTable, WindowsAtPoint
from tacita.engine.attack.requirements import Requirements
from tacita.engine.attack.routing import Routing, meet_by_moves
from tacita.engine.attack.support import Support

MOST_WORK = 5_000_000
"""Cells among which new witnesses were searched for, in sum, before cleaning ends."""


class PresolvedPatterns:
    """Patterns of a presolved table of any shape, by linear programs."""

    def __init__(self, presolved: PresolvedTable, requirements: Requirements, run: Run) -> None:
        self.presolved, self.requirements, self.run = presolved, requirements, run
        self.at = presolved.position[requirements.cell]
        self._needs: dict[int, int] = {}

    def find_unprotected(self, hidden: Mask) -> Cells:
        """Return the requirements that fail in a suppression pattern, by attackers' linear programs."""
        support, levels = Support(self.presolved, hidden), np.ones(len(self.requirements))
        attacks = Attacks(support, _windows_of_pattern(hidden), self.requirements, levels)
        found = attacks.find_blocked(self._list_active(hidden), self.run, WIDE)
        return np.array([b.requirement for b in found], dtype=np.int64)

    def build(self, hidden: Mask, cost: Floats, order: Cells) -> Mask | None:
        """Return a suppression pattern that hides these cells and more, until all requirements hold; None if
        there is none.

        Requirements are routed in the given order, each along its cheapest move by the ``cost`` of hiding
        cells (infinite: must be published); what was hidden for one is free for the next.
        """
        hidden = hidden.copy()
        routing = self._make_routing(hidden | np.isfinite(cost))
        rank = np.empty(order.size, dtype=np.int64)
        rank[order] = np.arange(order.size)
        while True:
            failing, before = self.find_unprotected(hidden), int(hidden.sum())
            if not failing.size:
                return hidden
            for k in failing[np.argsort(rank[failing], kind="stable")].tolist():
                used = self._route(routing, k, np.where(hidden, 0.0, cost))
                if used is None:
                    return None
                hidden[used] = True
            if int(hidden.sum()) == before:
                return None

    def clean(self, hidden: Mask, kept: Mask, cost: Floats) -> Mask:
        """Return the suppression pattern without cells that no requirement needs; ``kept`` ones stay.

        The most expensive cells are tried first, until ``MOST_WORK`` is spent.
        """
        hidden = hidden.copy()
        routing = self._make_routing(hidden)
        witnesses = self._find_witnesses(routing, hidden, kept, cost)
        if witnesses is None:
            return hidden
        users: dict[int, set[int]] = {}
        for k, cells in witnesses.items():
            _register(users, k, cells)
        removable = np.flatnonzero(hidden & ~kept)
        work = 0
        for cell in removable[np.argsort(-cost[removable], kind="stable")].tolist():
            if work > MOST_WORK:
                break
            hidden[cell] = False
            affected = [k for k in sorted(users.get(cell, ())) if not self._is_conditional_on(k, cell)]
            found = self._find_other_witnesses(routing, affected, hidden, cell)
            work += removable.size * max(1, len(affected if found is None else found))
            if found is None:
                hidden[cell] = True
                continue
            for k, cells in found.items():
                for used in witnesses[k]:
                    users.get(int(used), set()).discard(k)
                witnesses[k] = cells
                _register(users, k, cells)
        return hidden

    def _make_routing(self, hidden: Mask) -> Routing:
        return Routing(Support(self.presolved, hidden), _windows_of_pattern(hidden), self.requirements)

    def _find_witnesses(
        self, routing: Routing, hidden: Mask, kept: Mask, cost: Floats
    ) -> dict[int, Cells] | None:
        """Return the cells of a short move that meets each active requirement, or None if one is not met.

        Cells of earlier witnesses are free for the later ones.
        """
        witnesses = {}
        used = kept & hidden
        which = np.array(self._list_active(hidden), dtype=np.int64)
        for k in which[np.argsort(-self.requirements.level[which], kind="stable")].tolist():
            cells = self._route(routing, k, np.where(hidden, np.where(used, 0.0, cost), np.inf))
            if cells is None:
                return None
            witnesses[k] = cells
            used[cells] = True
        return witnesses

    def _find_other_witnesses(
        self, routing: Routing, affected: list[int], hidden: Mask, cell: int
    ) -> dict[int, Cells] | None:
        """Return new witnesses' cells per requirement once ``cell`` is published, or None without."""
        closed = np.where(hidden, 0.0, np.inf)
        found = {}
        # The requirement that needed the cell in an earlier pattern probably needs it now: it is tried first.
        last = self._needs.get(cell)
        for k in sorted(affected, key=lambda k: k != last):
            cells = self._route(routing, k, closed)
            if cells is None:
                self._needs[cell] = k
                return None
            found[k] = cells
        return found

    def _route(self, routing: Routing, k: int, cost: Floats) -> Cells | None:
        """Return the cells of the cheapest move found that meets a requirement, or None."""
        found = meet_by_moves(
            int(self.requirements.sign[k]),
            lambda direction, length: routing.route(k, direction, length, cost, self.run),
        )
        return None if found is None else found.cells

    def _is_conditional_on(self, k: int, cell: int) -> bool:
        """Return whether a requirement counts only while the cell is in the suppression pattern."""
        return bool(self.at[k] == cell and self.requirements.conditional[k])

    def _list_active(self, hidden: Mask) -> list[int]:
        """Return the numbers of the requirements that count for a suppression pattern."""
        inside = np.flatnonzero(self.at >= 0)
        counts = ~self.requirements.conditional[inside] | hidden[self.at[inside]]
        return [int(k) for k in inside[counts]]


def _windows_of_pattern(hidden: Mask) -> WindowsAtPoint:
    """Return the windows of a suppression pattern: fully open in hidden cells, closed elsewhere."""
    nothing = np.zeros(hidden.size)
    return WindowsAtPoint(nothing, nothing, hidden.astype(np.float64))


def _register(users: dict[int, set[int]], k: int, cells: Cells) -> None:
    """Add requirement ``k`` to the users of each cell of its witness, the move that meets it."""
    for cell in cells:
        users.setdefault(int(cell), set()).add(k)
