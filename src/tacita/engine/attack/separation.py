"""Separation: find the requirements that a point fails, and rows that cut it off.

At a fractional point some requirements are checked per round, in turn, until there are enough cuts; in large
tables over few cells near their targets first, and over all cells only where that gives few cuts. A candidate
release is checked against all of them with the attackers' own room (up to thousands of levels).
Insiders whose requirements are not listed come last: they are checked only when all listed requirements hold,
and requirements that a candidate fails join the list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

import numpy as np

from tacita.core.errors import StoppedError
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

    def attack_at(self, attacks: Attacks, k: int, size: int, proves: bool) -> NearAttack | None: ...


LANES = 4
"""Solver sessions side by side. Their number is fixed, so that one thread finds what several find."""
FEW = 200
FEWEST = 20
"""Cuts with which a round in a large table may end, or one for every hundred requirements if these are more
and attacks on few cells give them.
"""
MANY = 400
"""Requirements from which on such a round is a short one."""
TOLD = 200
"""Attacks on few cells between two reports of progress."""
NESTED = 4
"""Times that such a round looks for further cuts beside those that it has found."""


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
        self._tell: Callable[[], object] = lambda: None
        self._next, self._known = 0, set[int]()
        self._next_near = dict[int, int]()
        """Where the next round of attacks over so many cells begins."""
        self._near_moves = dict[int, WitnessStore]()
        """The last moves of attacks over so many cells that met requirements: while one fits the windows of a
        point, its attack would find nothing there either.
        """
        self._pool: list[CutRow] = []
        self._witnesses = WitnessStore(presolved)
        self._failures = np.zeros(len(requirements), dtype=np.int64)
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

    @contextmanager
    def within(self, run: Run, tell: Callable[[], object]) -> Iterator[None]:
        """Let searches for cuts end with a run meanwhile, and call ``tell`` now and then."""
        whole = self.run, self._tell
        self.run, self._tell = run, tell
        try:
            yield
        finally:
            self.run, self._tell = whole

    def find_cuts(self, x: Floats, enough: int | None = None) -> list[CutRow]:
        """Return new capacity cuts and bridges that a fractional point of the search violates.

        With ``enough`` those that failed most often are checked first, until there are so many rows; without,
        each round goes on where the last one stopped, and ends when about a quarter of the requirements fail,
        in large tables sooner.
        """
        self._remember_near(x)
        rows, new = self.cutter.find_bridges(x), list[CutRow]()
        lanes = self._make_attacks(x)
        met = self._witnesses.find_fitting(self.requirements, lanes[0].windows, self._most)
        pending = np.flatnonzero(~met)
        in_turn = enough is None
        if enough is None:
            enough, step = max(20, len(self.requirements) // 4), max(40, len(self.requirements) // 2)
            few = FEWEST
            pending = np.roll(pending, -int(np.searchsorted(pending, self._next)))
        else:
            few, step = enough, 2 * enough
            pending = pending[np.argsort(-self._failures[pending], kind="stable")]
        if self.near is not None:
            # The relaxation is solved much faster than attackers' programs: a round may end with few cuts.
            # Where it has to find more, programs over the most cells take two thirds of the time for a tenth.
            step = min(enough, max(few, len(self.requirements) // 50))
            sizes = self.near.sizes if in_turn else self.near.sizes[:-1]
            new, pending = self._cut_nested(pending, x, lanes, step, few, sizes)
            enough = min(enough, FEWEST) - len(new)
            pending = pending[:0] if len(rows) >= enough else self._find_undecided(pending, lanes[0])
        try:
            for start in range(0, pending.size, step):
                which = pending[start : start + step]
                self._tell()
                rows += self._cut(lanes, which, x)
                if len(rows) >= enough:
                    self._next = int(which[-1]) + 1
                    break
        except StoppedError:
            if not rows and not new:
                raise
        new += drop_known_rows(rows, self._known)
        self._pool += new
        return new

    def _cut(self, lanes: list[Attacks], which: Cells, x: Floats) -> list[CutRow]:
        """Return cuts of the requirements of ``which`` that a point of the search fails."""
        blocked = list(self._find_blocked(lanes, which, self._most))
        self._failures[[b.requirement for b in blocked]] += 1
        return [row for b in blocked if (row := self.cutter.make_cut(self.requirements, b, x)) is not None]

    def _cut_nested(
        self, which: Cells, x: Floats, lanes: list[Attacks], enough: int, few: int, sizes: tuple[int, ...]
    ) -> tuple[list[CutRow], Cells]:
        """Return new cuts of requirements that attacks on few cells show to fail, and the requirements that
        none of these cuts says anything of.

        With the cells of new cuts opened, the requirements that failed are attacked again, which gives cuts
        beside the first: a point that hides less violates them, too.
        """
        assert self.near is not None
        cuts, failed, undecided, needed = self._cut_near(which, x, lanes, enough, few, sizes)
        opened, new = x.copy(), cuts
        # What insiders require in a cell is mostly limited alike: little is left to find over more cells.
        sizes = needed if self.insiders else sizes
        for _ in range(NESTED):
            if len(new) < min(few, FEWEST) or not failed.size or self.run.over:
                break
            for row in new:
                opened[row.index[row.value > 0.0]] = 1.0
            opened = np.minimum(opened, np.maximum(self.cutter.upper, x))
            new, failed, _, _ = self._cut_near(failed, x, self._make_attacks(opened), enough, few, sizes)
            cuts += new
        return cuts, undecided

    def _cut_near(
        self, which: Cells, x: Floats, lanes: list[Attacks], enough: int, few: int, sizes: tuple[int, ...]
    ) -> tuple[list[CutRow], Cells, Cells, tuple[int, ...]]:
        """Return new cuts that ``x`` violates, of requirements that attacks over so many cells show to fail
        at the point of ``lanes``; these requirements, the others, and the sizes that were needed.

        A round over so many cells ends with ``enough`` cuts; more cells are attacked only while there are
        fewer than ``few``. A cell with a new cut is left in peace: what others are required to reach is
        mostly limited by the same.
        """
        assert self.near is not None
        attacks, requirements = lanes[0], self.requirements
        at, side = self.presolved.position[requirements.cell], 2 * requirements.cell + (requirements.sign > 0)
        movable = (at >= 0) & attacks.support.movable[at]
        stuck = which[~movable[which]]
        stuck = stuck[np.unique(side[stuck], return_index=True)[1]]
        rows = drop_known_rows(self._cut(lanes, stuck, x), self._known)
        failed = set(side[stuck].tolist())
        which = which[movable[which]]
        stated = which[(requirements.sign[which] != SLIDING) & (attacks.shares[which] > TOLERANCE)]
        for place, size in enumerate(sizes):
            if len(rows) >= few:
                sizes = sizes[:place]
                break
            moves = self._near_moves.setdefault(size, WitnessStore(self.presolved))
            left = stated[~moves.find_fitting(requirements, attacks.windows, self._most)[stated]]
            first = int(np.searchsorted(left, self._next_near.get(size, 0)))
            for done, k in enumerate(np.roll(left, -first).tolist()):
                if done % TOLD == 0:
                    self._tell()
                if self.run.over or len(rows) >= enough:
                    self._next_near[size] = k
                    break
                if int(side[k]) in failed:
                    continue
                found = self.near.attack_at(attacks, k, size, proves=False)
                if found is None:
                    continue
                if found.limit is None:
                    # A move by a part of the level proves nothing where all of it is required.
                    if found.move is not None and attacks.shares[k] == 1.0:
                        moves.keep(k, found.move)
                    continue
                row = self.cutter.make_cut(requirements, BlockedRequirement(k, (found.limit,)), x)
                if row is not None:
                    self._failures[k] += 1
                    failed.add(int(side[k]))
                    rows += drop_known_rows([row], self._known)
        fails = np.array([side[k] in failed for k in which], dtype=bool)
        return rows, np.union1d(stuck, which[fails]), which[~fails], sizes

    def _find_undecided(self, which: Cells, attacks: Attacks) -> Cells:
        """Return the requirements that no move over few cells near their targets meets, and store the moves
        of the others.
        """
        assert self.near is not None
        undecided = which
        for size in self.near.sizes[:-1]:
            left = []
            for done, k in enumerate(undecided.tolist()):
                if done % TOLD == 0:
                    self._tell()
                share = float(attacks.shares[k])
                if self.run.over or self.requirements.sign[k] == SLIDING or share <= TOLERANCE:
                    left.append(k)
                    continue
                found = self.near.attack_at(attacks, k, size, proves=True)
                if found is None or found.move is None:
                    left.append(k)
                elif share == 1.0:
                    # A move by a part of the level proves nothing where all of it is required.
                    self._witnesses.keep(k, found.move)
            undecided = np.array(left, dtype=np.int64)
        return undecided

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
