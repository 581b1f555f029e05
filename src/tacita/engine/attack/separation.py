"""Separation: which requirements does a point fail, and which rows cut it off?

A fractional point is asked about some requirements per round, in turn, until there are enough cuts. A
candidate release is asked about all of them with the attackers' own room (as far as thousands of levels),
insiders last: an insider is asked only when all listed requirements hold, and his requirements join the list
when a candidate fails them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from tacita.core.exact import Cells, Floats
from tacita.core.run import InThisThread, Run
from tacita.engine.attack.asking_insiders import Insiders
from tacita.engine.attack.attacks import WIDE, Attacks, BlockedRequirement, support_of
from tacita.engine.attack.cuts import VIOLATION, Cutter, distinct
from tacita.engine.attack.flow_attacks import FlowAttacks, network_of
from tacita.engine.attack.presolved import PresolvedTable
from tacita.engine.attack.requirements import Requirements
from tacita.engine.attack.witnesses import Witnesses
from tacita.solvers.row_pool import CutRow

LANES = 4
"""Sessions that work side by side. Their number is fixed, so that one thread finds what several find."""
FEW = 200


class Separation:
    """Cuts for points and verdicts on candidates, for one presolved."""

    def __init__(
        self, presolved: PresolvedTable, requirements: Requirements, cutter: Cutter, run: Run
    ) -> None:
        self.presolved, self.requirements, self.cutter, self.run = presolved, requirements, cutter, run
        self._lanes = LANES if len(requirements) >= FEW else 1
        network = network_of(presolved)
        self._flows = None if network is None else FlowAttacks(presolved, network)
        self._next, self._known = 0, set[int]()
        self._pool: list[CutRow] = []
        self._witnesses = Witnesses(presolved)
        self._failures = np.zeros(len(requirements), dtype=np.int64)
        self._insiders = Insiders(presolved, requirements, run)
        # Only a binary can be cut down to what is asked; other windows count as they are.
        self._most = 1.0 if presolved.only_switches else WIDE

    def round(self, x: Floats, enough: int | None = None) -> list[CutRow]:
        """New violated rows for a fractional point; none means that this way of looking finds nothing.

        With ``enough`` those that failed most often are asked first, until there are so many rows; without,
        each round goes on where the last one stopped, and about a quarter of the requirements may fail.
        """
        rows = self.cutter.bridges(x)
        lanes = self._attackers(x)
        settled = self._witnesses.fitting(self.requirements, lanes[0].reach, self._most)
        pending = np.flatnonzero(~settled)
        if enough is None:
            enough, step = max(20, len(self.requirements) // 4), max(40, len(self.requirements) // 2)
            pending = np.roll(pending, -int(np.searchsorted(pending, self._next)))
        else:
            step = 2 * enough
            pending = pending[np.argsort(-self._failures[pending], kind="stable")]
        for start in range(0, pending.size, step):
            which = pending[start : start + step]
            for blocked in self._blocked(lanes, which, self._most):
                self._failures[blocked.requirement] += 1
                row = self.cutter.cut(self.requirements, blocked, x)
                if row is not None:
                    rows.append(row)
            if len(rows) >= enough:
                self._next = int(which[-1]) + 1
                break
        new = distinct(rows, self._known)
        self._pool += new
        return new

    def forget(self) -> None:
        """Rows were dropped: they may be found again."""
        self._known.clear()

    def enforce(self, x: Floats) -> list[CutRow] | None:
        """Rows that a candidate fails; None if it protects everything.

        An empty list says that it fails but that no row could be made of it.
        """
        if not self.presolved.model.admits(x):
            return []
        failed = self._failed(x, None)
        if not failed:
            return None
        rows = [row for b in failed if (row := self.cutter.cut(self.requirements, b, x)) is not None]
        self._pool += rows
        return rows

    def protects(self, x: Floats) -> bool:
        """True if a candidate protects everything."""
        if not self.presolved.model.admits(x) or any(row.slack(x) < -VIOLATION for row in self._pool):
            return False
        return not self._failed(x, 1)

    def _failed(self, x: Floats, enough: int | None) -> list[BlockedRequirement]:
        lanes = self._attackers(x)
        order = np.argsort(-self._failures, kind="stable")
        for part in np.array_split(order, 1 if enough is None else max(1, order.size // 50)):
            blocked = list(self._blocked(lanes, part, WIDE, enough))
            if blocked:
                self._failures[[b.requirement for b in blocked]] += 1
                return blocked
        return self._failed_insiders(lanes[0])

    def insiders_hold(self, x: Floats) -> bool:
        """Whether a point that meets all listed requirements holds against every other insider too.

        Requirements that it fails are listed from now on.
        """
        return not self._insiders or not self._failed_insiders(self._attackers(x)[0])

    def _failed_insiders(self, lane: Attacks) -> list[BlockedRequirement]:
        added = self._insiders.failing(lane)
        if added is None:
            return []
        before, self.requirements = len(self.requirements), Requirements.join([self.requirements, added])
        self._failures = np.concatenate([self._failures, np.ones(len(added), dtype=np.int64)])
        grown = Attacks(lane.support, lane.reach, self.requirements, np.ones(len(self.requirements)))
        return grown.blocked(range(before, len(self.requirements)), self.run, WIDE)

    def _attackers(self, x: Floats) -> list[Attacks]:
        reach = self.presolved.reach(x)
        support = support_of(self.presolved, reach)
        wanted = self.requirements.wanted(x)
        return [
            Attacks(support, reach, self.requirements, wanted, self._witnesses) for _ in range(self._lanes)
        ]

    def _blocked(
        self, lanes: list[Attacks], which: Cells, most: float, enough: int | None = None
    ) -> Iterator[BlockedRequirement]:
        if self._flows is not None and not (self.requirements.switch[which] >= 0).any():
            yield from self._flows.blocked(self.requirements, which, lanes[0].reach, self.run, enough)
            return
        shares = [which[lane :: len(lanes)].tolist() for lane in range(len(lanes))]

        def attack(lane: int) -> list[BlockedRequirement]:
            return lanes[lane].blocked(shares[lane], self.run, most, enough)

        results: Iterable[list[BlockedRequirement]] = map(attack, range(len(lanes)))
        # Sessions live in this process: threads can share the work, other executors cannot.
        if isinstance(self.run.executor, ThreadPoolExecutor | InThisThread):
            results = self.run.map(attack, range(len(lanes)))
        for found in results:
            yield from found
