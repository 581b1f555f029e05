"""Separation: find the requirements that a point fails, and rows that cut it off.

At a fractional point some requirements are checked per round, in turn, until there are enough cuts; in large
tables over few cells near their targets first, and over all cells only where that gives few cuts. A candidate
release is checked against all of them with the attackers' own room (up to thousands of levels).
Insiders whose requirements are not listed come last: they are checked only when all listed requirements hold,
and requirements that a candidate fails join the list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

import numpy as np

from tacita.core.exact import Cells, Floats
from tacita.core.run import Run
from tacita.engine.attack.attacks import (
    TOLERANCE,
    WIDE,
    Attacks,
    BlockedRequirement,
    NearAttack,
    find_support,
)
from tacita.engine.attack.cuts import VIOLATION, Cutter, drop_known_rows
from tacita.engine.attack.flows import FlowAttacks, find_network
from tacita.engine.attack.presolved import PresolvedTable, WindowsAtPoint
from tacita.engine.attack.requirements import SLIDING, Requirements
from tacita.engine.attack.routing import RoutedMove, WitnessStore
from tacita.engine.attack.unlisted_insiders import UnlistedInsiders
from tacita.solvers.row_pool import CutRow

FindMove = Callable[[Requirements, int, WindowsAtPoint], RoutedMove | None]
"""Finds a move, in levels, that meets a requirement within windows, or returns None."""


class NearAttackers(Protocol):
    """Attacks requirements over so many cells near their targets."""

    @property
    def sizes(self) -> tuple[int, ...]: ...

    def attack_at(self, attacks: Attacks, k: int, size: int) -> NearAttack | None: ...


LANES = 4
"""Solver sessions side by side. Their number is fixed, so that one thread finds what several find."""
FEW = 200
FEWEST = 20
"""Cuts with which a round in a large table may end, or one for every hundred requirements if these are more
and attacks on few cells give them.
"""
MANY = 400
"""Requirements from which on such a round is a short one."""


class Separation:
    """Cuts for points and verdicts on candidates, for one presolved table.

    ``find_near`` finds witnesses faster than the attackers' programs, where it is given and there are any.
    """

    def __init__(
        self, presolved: PresolvedTable, requirements: Requirements, cutter: Cutter, run: Run
    ) -> None:
        self.presolved, self.requirements, self.cutter, self.run = presolved, requirements, cutter, run
        self._lanes = LANES if len(requirements) >= FEW else 1
        network = find_network(presolved)
        self._flows = None if network is None else FlowAttacks(presolved, network)
        self.find_near: FindMove | None = None
        self.near: NearAttackers | None = None
        self._next, self._known = 0, set[int]()
        self._pool: list[CutRow] = []
        self._witnesses = WitnessStore(presolved)
        self._failures = np.zeros(len(requirements), dtype=np.int64)
        self._inconclusive = np.zeros(len(requirements), dtype=np.int64)
        """How many of the sizes of near attacks, from the smallest on, left a requirement undecided."""
        self.insiders = UnlistedInsiders(presolved, requirements, run)
        # Coefficients of binaries are reduced to the level; other windows count in full.
        self._most = 1.0 if presolved.only_switches else WIDE

    @property
    def is_network(self) -> bool:
        """Whether attacks on the presolved table are flows in a network."""
        return self._flows is not None

    @property
    def has_short_rounds(self) -> bool:
        """Whether rounds of cuts end with far fewer than there are requirements."""
        return self.near is not None and len(self.requirements) > MANY

    def find_cuts(self, x: Floats, enough: int | None = None) -> list[CutRow]:
        """Return new capacity cuts and bridges that a fractional point of the search violates.

        With ``enough`` those that failed most often are checked first, until there are so many rows; without,
        each round goes on where the last one stopped, and ends when about a quarter of the requirements fail,
        in large tables sooner.
        """
        self._remember_near(x)
        rows = self.cutter.find_bridges(x)
        lanes = self._make_attacks(x)
        met = self._witnesses.find_fitting(self.requirements, lanes[0].windows, self._most)
        pending = np.flatnonzero(~met)
        if enough is None:
            enough, step = max(20, len(self.requirements) // 4), max(40, len(self.requirements) // 2)
            pending = np.roll(pending, -int(np.searchsorted(pending, self._next)))
        else:
            step = 2 * enough
            pending = pending[np.argsort(-self._failures[pending], kind="stable")]
        if self.near is not None:
            # The relaxation is solved much faster than attackers' programs: a round may end with few cuts.
            step = min(enough, max(FEWEST, len(self.requirements) // 100))
            near, pending = self._cut_near(pending, x, lanes, step)
            rows, enough = rows + near, min(enough, FEWEST)
            if len(rows) >= enough:
                pending = pending[:0]
        for start in range(0, pending.size, step):
            which = pending[start : start + step]
            rows += self._cut(lanes, which, x)
            if len(rows) >= enough:
                self._next = int(which[-1]) + 1
                break
        new = drop_known_rows(rows, self._known)
        self._pool += new
        return new

    def _cut(self, lanes: list[Attacks], which: Cells, x: Floats) -> list[CutRow]:
        """Return cuts of the requirements of ``which`` that a point of the search fails."""
        blocked = list(self._find_blocked(lanes, which, self._most))
        self._failures[[b.requirement for b in blocked]] += 1
        return [row for b in blocked if (row := self.cutter.make_cut(self.requirements, b, x)) is not None]

    def _cut_near(
        self, which: Cells, x: Floats, lanes: list[Attacks], enough: int
    ) -> tuple[list[CutRow], Cells]:
        """Return cuts of requirements that attacks on few cells show to fail, and the requirements that they
        leave undecided; witnesses of those that are met are stored.

        More cells are attacked only while there are not ``enough`` cuts.
        """
        assert self.near is not None
        attacks, at = lanes[0], self.presolved.position[self.requirements.cell]
        movable = (at >= 0) & attacks.support.movable[at]
        rows = self._cut(lanes, which[~movable[which]], x)
        which = which[movable[which]]
        stated = (self.requirements.sign != SLIDING) & (attacks.shares > TOLERANCE)
        for step, size in enumerate(self.near.sizes):
            decided = np.zeros(len(self.requirements), dtype=bool)
            # What so many cells left undecided before, they probably leave undecided again.
            for k in which[stated[which] & (self._inconclusive[which] <= step)].tolist():
                if self.run.over or len(rows) >= enough:
                    self._next = k
                    break
                found = self.near.attack_at(attacks, k, size)
                if found is None:
                    continue
                row = self._cut_or_keep(k, found, attacks, x)
                if row is not None:
                    rows.append(row)
                decided[k] = row is not None or found.limit is None
                self._inconclusive[k] = step if decided[k] else step + 1
            which = which[~decided[which]]
        return rows, which

    def _cut_or_keep(self, k: int, found: NearAttack, attacks: Attacks, x: Floats) -> CutRow | None:
        """Return the cut of an attack that fails, if ``x`` violates it; store the move of any other."""
        if found.limit is not None:
            row = self.cutter.make_cut(self.requirements, BlockedRequirement(k, (found.limit,)), x)
            self._failures[k] += row is not None
            return row
        # A move by a part of the level proves nothing where all of it is required.
        if attacks.shares[k] == 1.0:
            self._witnesses.keep(k, found.move)
        return None

    def _remember_near(self, x: Floats) -> None:
        """Store witnesses that are found nearby of requirements which no stored one meets at ``x``."""
        if self.find_near is None:
            return
        windows, shares = self.presolved.find_windows_at(x), self.requirements.find_required_shares(x)
        met = self._witnesses.find_fitting(self.requirements, windows, WIDE)
        for k in np.flatnonzero(~met & (self.requirements.sign != SLIDING) & (shares == 1.0)).tolist():
            if self.run.over:
                return
            if (move := self.find_near(self.requirements, k, windows)) is not None:
                self._witnesses.keep(k, move)

    def forget_rows(self) -> None:
        """Let cuts that were found before be found again, since some were dropped from the master."""
        self._known.clear()

    def find_refuting_cuts(self, x: Floats) -> list[CutRow] | None:
        """Return cuts that a candidate release violates, or None if it protects every sensitive cell.

        The list is empty if the candidate fails but no row cuts it off.
        """
        if not self.presolved.model.admits(x):
            return []
        failed = self._find_failed(x, None)
        if not failed:
            return None
        rows = [row for b in failed if (row := self.cutter.make_cut(self.requirements, b, x)) is not None]
        self._pool += rows
        return rows

    def protects(self, x: Floats) -> bool:
        """Return whether a candidate release of the search meets every requirement."""
        if not self.presolved.model.admits(x) or any(row.compute_slack(x) < -VIOLATION for row in self._pool):
            return False
        return not self._find_failed(x, 1)

    def holds_against_insiders(self, x: Floats) -> bool:
        """Return whether a point that meets all listed requirements meets those of other insiders too.

        Requirements that it fails are listed from now on.
        """
        return not self.insiders or not self._find_failed_insiders(self._make_attacks(x)[0])

    def list_more(self, requirements: Requirements) -> None:
        """Add requirements of insiders to the list that candidates are checked against first."""
        self.requirements = Requirements.join([self.requirements, requirements])
        self._failures = np.concatenate([self._failures, np.ones(len(requirements), dtype=np.int64)])
        self._inconclusive = np.concatenate([self._inconclusive, np.zeros(len(requirements), dtype=np.int64)])

    def _find_failed(self, x: Floats, enough: int | None) -> list[BlockedRequirement]:
        """Return listed requirements that a candidate fails, or, where it fails none, those of insiders."""
        self._remember_near(x)
        lanes = self._make_attacks(x)
        met = self._witnesses.find_fitting(self.requirements, lanes[0].windows, WIDE)
        order = np.argsort(-self._failures, kind="stable")
        order = order[~met[order]]
        for part in np.array_split(order, 1 if enough is None else max(1, order.size // 50)):
            blocked = list(self._find_blocked(lanes, part, WIDE, enough))
            if blocked:
                self._failures[[b.requirement for b in blocked]] += 1
                return blocked
        return self._find_failed_insiders(lanes[0])

    def _find_failed_insiders(self, attacks: Attacks) -> list[BlockedRequirement]:
        """Return insiders' requirements that a candidate fails and that were not listed, and list them."""
        added = self.insiders.find_failing(attacks)
        if added is None:
            return []
        before = len(self.requirements)
        self.list_more(added)
        shares = np.ones(len(self.requirements))
        grown = Attacks(attacks.support, attacks.windows, self.requirements, shares)
        return grown.find_blocked(range(before, len(self.requirements)), self.run, WIDE)

    def _make_attacks(self, x: Floats) -> list[Attacks]:
        """Return the attackers' linear programs at a point of the search, once per lane."""
        windows = self.presolved.find_windows_at(x)
        support = find_support(self.presolved, windows)
        about = self.requirements, self.requirements.find_required_shares(x), self._witnesses
        return [Attacks(support, windows, *about) for _ in range(self._lanes)]

    def _find_blocked(
        self, lanes: list[Attacks], which: Cells, most: float, enough: int | None = None
    ) -> Iterator[BlockedRequirement]:
        """Yield requirements of ``which`` that a point fails, by flows or by attackers' linear programs."""
        if self._flows is not None and not self.requirements.conditional[which].any():
            yield from self._flows.find_blocked(self.requirements, which, lanes[0].windows, self.run, enough)
            return
        shares = [which[lane :: len(lanes)].tolist() for lane in range(len(lanes))]

        def attack(lane: int, run: Run) -> list[BlockedRequirement]:
            return lanes[lane].find_blocked(shares[lane], run, most, enough)

        for found in self.run.map(attack, range(len(lanes)), local=True):
            yield from found
