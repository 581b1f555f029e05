"""A protected suppression pattern of a large table, built requirement by requirement and improved in places.

Every requirement has a *witness*, a move through hidden cells that meets it, found in a neighbourhood of its
cell (:mod:`.local_moves`).

    build     from the smallest level to the largest: each requirement takes its cheapest move; what was
              hidden for one is free for the next. Small levels need small cells, which serve large ones too.
    renew     all witnesses anew, over hidden cells only, where a cell costs until a witness uses it; cells
              that none uses are published.
    improve   for each hidden cell, the most expensive first: the witnesses that use it are given up, with all
              cells that only they use, and found anew at the costs that result, if that is cheaper
              (:mod:`.regions`).

The work of each is in proportion to the requirements, not to the cells.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from heapq import nsmallest

import numpy as np
from numpy.typing import NDArray

from tacita.core.errors import StoppedError
from tacita.core.exact import Cells, Floats, Mask
from tacita.core.run import Run
from tacita.engine.attack.requirements import Requirements
from tacita.engine.attack.routing import Witness
from tacita.engine.construction.local_moves import LocalMoves
from tacita.engine.construction.regions import NEAR, Region, RegionSolver, solve_region

ADAPTED = 3
"""Witnesses that use a cell, of the nearest levels, from which one for its own requirements is made."""
ROUNDS = 40
"""Groups of regions per pass; those of a group are solved on the same pattern, side by side if there are
workers. The more, the less one solution spoils another.
"""
LEAST_AT_ONCE = 16
"""Regions of a group, at least."""
MOST_USERS = 60
"""Witnesses that use a cell up to which they are given up together."""
WORTHWHILE = 1e-3
"""Share of the loss that a pass must save in every ``PATIENCE`` of its time; what follows saves less."""
PATIENCE = 0.1
INCOMPLETE = ("sharing", "resuming")
"""Phases in which requirements that had a witness before have none yet: what was kept then is better."""
REPORT_EVERY = 100
"""Requirements or cells between two reports of progress."""


class Construction:
    """A suppression pattern over a presolved table, the witnesses of its requirements, and who uses what.

    ``forced`` cells are hidden in any case; ``cost`` is infinite where a cell must be published.
    ``marginal_cost`` is what one more witness pays for a cell: nothing where it is hidden already.
    ``conditional`` cells have requirements that count only while they are hidden.
    ``keep`` is called often, between two steps, when the pattern and its witnesses fit each other. ``aim`` is
    what is built, for those who wait for it.
    """

    keep: Callable[[], None] | None = None

    def __init__(self, moves: LocalMoves, cost: Floats, forced: Mask, run: Run, aim: str) -> None:
        self.presolved, self.requirements = presolved, requirements = moves.presolved, moves.requirements
        self.run, self._moves, self._aim = run, moves, aim
        self.cost, self.forced = cost, forced
        self.hidden = forced.copy()
        self.marginal_cost = np.where(forced, 0.0, cost)
        self.at = presolved.position[requirements.cell]
        self.conditional = np.zeros(len(presolved), dtype=bool)
        self.conditional[self.at[requirements.conditional & (self.at >= 0)]] = True
        self.witnesses: dict[int, Witness] = {}
        self._users: dict[int, set[int]] = {}

    @property
    def loss(self) -> float:
        """The cost of all cells that the suppression pattern hides."""
        return float(self.cost[self.hidden].sum())

    def extend(self, requirements: Requirements) -> None:
        """Take a longer list of requirements, which begins with those there are; the new have no witness."""
        self.requirements = self._moves.requirements = requirements
        self.at = self.presolved.position[requirements.cell]
        self.__dict__.pop("_solver", None)

    def begin_with(self, hidden: Mask, factor: Floats | float = 1.0) -> None:
        """Hide these cells from the beginning, until :meth:`publish_unused` or :meth:`renew`; until then the
        others cost ``factor`` times what they cost.
        """
        self.marginal_cost = self.marginal_cost * factor
        self._hide(np.flatnonzero(hidden))

    def take_witnesses(self, witnesses: Mapping[int, Cells]) -> None:
        """Take witnesses of unknown origin: those of hidden cells that the attackers' programs over these
        cells confirm.

        Raises
        ------
        StoppedError
            The time is over before all are confirmed.
        """
        only = np.zeros(len(self.presolved), dtype=bool)
        for done, (k, cells) in enumerate(witnesses.items()):
            self._report("resuming", done, len(witnesses))
            if k >= self.at.size or self.at[k] < 0 or not self._counts(k) or not self.hidden[cells].all():
                continue
            only[cells] = True
            found = self._moves.confirm(k, only, self.marginal_cost)
            only[cells] = False
            if found is not None:
                self._keep(k, found)

    def keep_fitting(self, witnesses: Mapping[int, Witness]) -> None:
        """Keep witnesses of the same requirements, found before, that move hidden cells only."""
        for k, witness in witnesses.items():
            if self.hidden[witness.cells].all():
                self._keep(k, witness)

    def publish_unused(self) -> None:
        """Publish the cells that no witness uses; what requires something of its own uses itself."""
        used = self.forced.copy()
        for k, witness in self.witnesses.items():
            used[witness.cells] |= self._counts(k)
        self._publish(np.flatnonzero(self.hidden & ~used))

    def build(self) -> bool:
        """Meet the requirements that have no witness yet; return whether all are met.

        Raises
        ------
        StoppedError
            The time is over before all are met.
        """
        # Cells outside the presolved table never move, and are never hidden.
        numbers = np.flatnonzero(self.at >= 0)
        waiting = numbers[np.argsort(self.requirements.level[numbers], kind="stable")].tolist()
        total, done = len(waiting), 0
        while waiting:
            later: list[int] = []
            for k in waiting:
                if k in self.witnesses:
                    continue
                if not self._counts(k):
                    later.append(k)
                    continue
                done += 1
                self._report(self._aim, done, total)
                found = self._adapt(k) or self._moves.find(k, self.hidden, self.marginal_cost)
                if found is None:
                    return False
                self._hide(found.cells)
                self._keep(k, found)
            # Conditional requirements count from the moment on that their cell is hidden.
            waiting = [k for k in later if self._counts(k)]
        return True

    def renew(self) -> None:
        """Find all witnesses anew over hidden cells, so that they share them, and publish what none uses."""
        before = self.hidden.copy()
        kept, before_cost = dict(self.witnesses), self.marginal_cost.copy()
        # What is published stays so, and hidden cells cost what they cost until a witness uses them.
        self.marginal_cost = np.where(before & ~self.forced, self.cost, np.where(before, 0.0, np.inf))
        self.hidden, self.witnesses, self._users = self.forced.copy(), {}, {}
        order = sorted(kept, key=lambda k: -self.requirements.level[k])
        try:
            for done, k in enumerate(order):
                self._report("sharing", done, len(order))
                found = self._moves.find(k, self.hidden, self.marginal_cost, NEAR)
                if found is None:
                    found = kept[k]
                self._hide(found.cells)
                self._keep(k, found)
        except StoppedError:
            self.hidden, self.marginal_cost = before, before_cost
            self.witnesses, self._users = {}, {}
            for k, witness in kept.items():
                self._keep(k, witness)
            raise
        self.marginal_cost = np.where(self.hidden, 0.0, self.cost)

    def improve(self, until: float = np.inf, bound: float = -np.inf) -> float:
        """Give up each hidden cell and what hangs on it, the most expensive first; return what was saved.

        Ends early after ``until`` seconds of the run or when too little is saved in a tenth of the time until
        then, when the run is over, or when the loss is within its gap of a ``bound``; the pattern protects at
        any time.
        """
        start = noted = self.loss
        since = self.run.seconds
        patience = PATIENCE * (until - since)
        cells = np.flatnonzero(self.hidden & ~self.forced)
        order = cells[np.argsort(-self.cost[cells], kind="stable")].tolist()
        at_once = max(LEAST_AT_ONCE, len(order) // ROUNDS)
        for done in range(0, len(order), at_once):
            if self.run.over or self.run.seconds > until or self.run.accepts(self.loss, bound):
                break
            if self.loss < (1.0 - WORTHWHILE) * noted:
                noted, since = self.loss, self.run.seconds
            elif self.run.seconds - since > patience:
                break
            self._report("improving", done, len(order), incumbent=True)
            pattern = np.packbits(self.hidden)
            some = order[done : done + at_once]
            each = (self._list_region(cell, pattern) for cell in some if self.hidden[cell])
            regions = [region for region in each if region is not None]
            solutions = self.run.map(partial(solve_region, self._solver), regions)
            for region, found in zip(regions, solutions, strict=True):
                if found is not None:
                    self._take_over(region, found)
        return start - self.loss

    def list_users(self, cells: Cells) -> list[int]:
        """Return the requirements that count and use one of some cells, the largest level first."""
        users = {k for cell in cells.tolist() for k in self._users.get(cell, ()) if self._counts(k)}
        return sorted(users, key=lambda k: (-self.requirements.level[k], k))

    def replace(self, region: Cells, hidden: Mask, witnesses: Mapping[int, Witness]) -> None:
        """Hide in a region what another pattern hides there, and take the witnesses that changed for it."""
        for k, witness in witnesses.items():
            if witness is not self.witnesses[k]:
                self._drop(k, self.witnesses[k])
                self._keep(k, witness)
        self._publish(region[self.hidden[region] & ~hidden[region]])
        self._hide(region[hidden[region]])
        self.publish_unused()

    def _adapt(self, k: int) -> Witness | None:
        """Return a witness of requirement ``k`` made of one that uses its cell, or None."""
        level, users = self.requirements.level, self._users.get(int(self.at[k]), ())
        nearest = nsmallest(ADAPTED, users, key=lambda j: (abs(level[j] - level[k]), j))
        known = (self.witnesses[j] for j in nearest)
        each = (self._moves.adapt(k, one) for one in known if self.hidden[one.cells].all())
        return next((found for found in each if found is not None), None)

    def _list_region(self, cell: int, pattern: NDArray[np.uint8]) -> Region | None:
        """Return the region of a hidden cell in the present pattern, or None if too much hangs on it."""
        users = [k for k in self._users.get(cell, ()) if not self._hangs_on(k, cell)]
        if len(users) > MOST_USERS:
            return None
        ascending = sorted(users, key=lambda k: (self.requirements.level[k], k))
        return Region(cell, tuple(ascending), self._find_exclusive(set(users), cell), pattern)

    def _take_over(self, region: Region, found: Mapping[int, Witness]) -> None:
        """Make new witnesses those of a region's requirements, if they still cost less than they free."""
        cell, group = region.cell, set(region.users)
        users = {k for k in self._users.get(cell, ()) if not self._hangs_on(k, cell)}
        if not self.hidden[cell] or users != group:
            return
        freed = self._find_exclusive(group, cell)
        after = self.hidden.copy()
        after[freed] = False
        used = np.unique(np.concatenate([*(witness.cells for witness in found.values()), freed[:0]]))
        fresh = used[~after[used]]
        if self.cost[fresh].sum() >= self.cost[freed].sum() or self.conditional[fresh].any():
            return
        self._publish(freed)
        self._hide(fresh)
        for k, witness in found.items():
            self._drop(k, self.witnesses[k])
            self._keep(k, witness)

    @cached_property
    def _solver(self) -> RegionSolver:
        """The solver of regions for the present requirements."""
        return RegionSolver(
            self.presolved, self.requirements, self.cost, self.conditional, self._moves.integer
        )

    def _find_exclusive(self, group: set[int], cell: int) -> Cells:
        """Return the cell, and the hidden cells that only witnesses of a group of requirements use."""
        found = {cell}
        for k in group:
            for other in self.witnesses[k].cells.tolist():
                if not self.forced[other] and self._users[other] <= group:
                    found.add(other)
        return np.array(sorted(found), dtype=np.int64)

    def _hide(self, cells: Cells) -> None:
        self.hidden[cells], self.marginal_cost[cells] = True, 0.0

    def _publish(self, cells: Cells) -> None:
        self.hidden[cells], self.marginal_cost[cells] = False, self.cost[cells]

    def _keep(self, k: int, witness: Witness) -> None:
        """Make moves the witness of requirement ``k``."""
        self.witnesses[k] = witness
        for cell in witness.cells.tolist():
            self._users.setdefault(cell, set()).add(k)

    def _drop(self, k: int, witness: Witness) -> None:
        """Forget the witness of requirement ``k``."""
        for cell in witness.cells.tolist():
            self._users[cell].discard(k)

    def _counts(self, k: int) -> bool:
        """Return whether a requirement counts for the present suppression pattern."""
        return not self.requirements.conditional[k] or bool(self.hidden[self.at[k]])

    def _hangs_on(self, k: int, cell: int) -> bool:
        """Return whether a requirement counts only while this cell is hidden."""
        return bool(self.requirements.conditional[k]) and int(self.at[k]) == cell

    def _report(self, phase: str, done: int, total: int, incumbent: bool = False) -> None:
        """Report progress now and then; raise an error when the time is over and there is no release yet."""
        if done % REPORT_EVERY == 0 or self.run.silent:
            known = {"incumbent": self.loss} if incumbent else {}
            self.run.report(phase, done, total, **known)
        if self.keep is not None and phase not in INCOMPLETE:
            self.keep()
        if not incumbent and self.run.over:
            fault = "stopped before a first protected release was found"
            raise StoppedError(fault, remedy="allow more time", options=["time_limit"])
