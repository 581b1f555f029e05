"""Separation: which demands does a point fail, and which rows cut it off?

A fractional point is asked about some demands per round, in turn, until there are enough cuts. A candidate
release is asked about all of them with the attackers' true room, insiders last: an insider is asked only when
everyone's own demands hold, and his demands join the others once a candidate failed one of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from tacita.engine.arena import Arena
from tacita.engine.attacks import WIDE, Attacks, Blocked, support_of
from tacita.engine.cuts import Cutter, distinct
from tacita.engine.demands import Demands, insider_demands
from tacita.exact import Cells, Floats
from tacita.run import InThisThread, Run
from tacita.solvers.rows import Row

LANES = 4
"""Sessions that work side by side. Their number is fixed, so that one thread finds what several find."""
FEW = 32


class Separation:
    """Cuts for points and verdicts on candidates, for one arena."""

    def __init__(self, arena: Arena, demands: Demands, cutter: Cutter, run: Run) -> None:
        self.arena, self.demands, self.cutter, self.run = arena, demands, cutter, run
        self._lanes = LANES if len(demands) >= FEW else 1
        self._next, self._known = 0, set[int]()
        self._silent = [k for k in range(len(arena.model.problem.insiders)) if not _listed(demands, k)]
        # Only a binary can be cut down to what is asked; other windows count as they are.
        self._most = 1.0 if only_switches(arena) else WIDE

    def round(self, x: Floats) -> list[Row]:
        """New violated rows for a fractional point; none means that this way of looking finds nothing."""
        rows = self.cutter.bridges(x)
        lanes, size = self._attackers(x, self.demands), len(self.demands)
        enough = max(20, size // 4)
        for start, stop in self._turns(size, enough):
            which = (np.arange(start, stop) + self._next) % size
            for blocked in self._blocked(lanes, which, self._most):
                row = self.cutter.cut(self.demands, blocked, x)
                if row is not None:
                    rows.append(row)
            if len(rows) >= enough:
                self._next = (self._next + stop) % size
                break
        return distinct(rows, self._known)

    def forget(self) -> None:
        """Rows were dropped: they may be found again."""
        self._known.clear()

    def enforce(self, x: Floats) -> list[Row] | None:
        """Rows that a candidate fails; None if it protects everything.

        An empty list says that it fails but that no row could be made of it.
        """
        failed = self._failed(x)
        if failed is None:
            return None
        return [row for b in failed if (row := self.cutter.cut(self.demands, b, x)) is not None]

    def protects(self, x: Floats) -> bool:
        return self._failed(x) is None

    def _failed(self, x: Floats) -> list[Blocked] | None:
        lanes = self._attackers(x, self.demands)
        blocked = list(self._blocked(lanes, np.arange(len(self.demands)), WIDE))
        if blocked:
            return blocked
        for insider in list(self._silent):
            added = insider_demands(self.arena.model.problem, insider)
            before = len(self.demands)
            own = Attacks(lanes[0].support, lanes[0].reach, added).blocked(range(len(added)), self.run, WIDE)
            if own:
                self._silent.remove(insider)
                self.demands = Demands.join([self.demands, added])
                return [Blocked(b.demand + before, b.reached, b.ways) for b in own]
        return None

    def _attackers(self, x: Floats, demands: Demands) -> list[Attacks]:
        reach = self.arena.reach(x)
        support = support_of(self.arena, reach)
        return [Attacks(support, reach, demands) for _ in range(self._lanes)]

    def _turns(self, size: int, enough: int) -> Iterator[tuple[int, int]]:
        """Batches of demands, small enough that little is asked in vain."""
        step = max(self._lanes, min(size, 2 * enough))
        return ((start, min(start + step, size)) for start in range(0, size, step))

    def _blocked(self, lanes: list[Attacks], which: Cells, most: float) -> Iterator[Blocked]:
        shares = [which[lane :: len(lanes)].tolist() for lane in range(len(lanes))]

        def attack(lane: int) -> list[Blocked]:
            return lanes[lane].blocked(shares[lane], self.run, most)

        results: Iterable[list[Blocked]] = map(attack, range(len(lanes)))
        # Sessions live in this process: threads can share the work, other executors cannot.
        if isinstance(self.run.executor, ThreadPoolExecutor | InThisThread):
            results = self.run.map(attack, range(len(lanes)))
        for found in results:
            yield from found


def only_switches(arena: Arena) -> bool:
    """No window but those that switches open."""
    return not (
        arena.above.matrix.nnz or arena.below.matrix.nnz or arena.above.base.any() or arena.below.base.any()
    )


def _listed(demands: Demands, insider: int) -> bool:
    return bool((demands.attacker == insider).any())
