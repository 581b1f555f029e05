"""The root: the linear relaxation of the master, with cuts until its point violates none that is found.

    repeat   solve the relaxation,  fix by reduced costs,  propose a release near its point,  add violated
    rows

Rows that have been slack for many rounds are dropped; they are found again if they are violated again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from tacita.core.errors import InfeasibleError, SolverError, StoppedError
from tacita.core.exact import Floats
from tacita.engine.attack.separation import Separation
from tacita.engine.construction.growing_windows import GrowingWindows
from tacita.engine.search.incumbent import ReleaseSearch
from tacita.solvers.highs import Ended
from tacita.solvers.row_pool import CutRow, GrowingRows


class Propose(Protocol):
    """A heuristic that returns a protected point near a fractional one, or None."""

    def __call__(self, x: Floats, thorough: bool = False) -> Floats | None: ...


PATIENCE = 12
"""Rounds without progress after which branching takes over."""
SHORT = 3
"""Short rounds, of few cuts, that count as one."""
PROGRESS = 3e-3
"""Share of the gap that so many rounds must close."""
IN_VAIN = 0.05
"""Share of the time that is left in which rounds in large tables must close so much of it: the last ones take
seconds each.
"""
CLEANING = 10
"""Rounds after which a slack row is dropped."""
SLACK = 0.1
NOTICED = 1e-7
"""By how much the relaxation's point must violate a row that another point violates."""
MOST_ROUNDS = 1_000_000
BETWEEN = 0.5
"""Share of the relaxation's point in the points between it and the incumbent that are cut off."""
FIRST_PROPOSAL = 5
"""Round in which a release is first proposed; the next is proposed after twice as many, and so on."""


class Root:
    """The relaxation with its added ``rows``, their last ``duals`` and the last ``point``.

    Without ``fixing`` its value is no bound of the search: the model is a restriction of the real one. It may
    begin with valid ``rows``. With ``growing`` windows and an incumbent, points between this and the
    relaxation's are cut off first; those that protect are incumbents.
    """

    def __init__(
        self,
        search: ReleaseSearch,
        separation: Separation,
        fixing: bool = True,
        rows: Sequence[CutRow] = (),
        growing: GrowingWindows | None = None,
    ) -> None:
        model = search.model
        self.search, self.separation, self._fixing = search, separation, fixing
        self._growing = growing
        self._program = GrowingRows(replace(model.relaxed(), lower=search.lower, upper=search.upper))
        self._program.add(rows)
        self.rows = list(rows)
        self.duals = np.zeros(len(self.rows))
        self._idle = np.zeros(len(self.rows), dtype=np.int64)
        self.point, self.value, self.reduced = np.zeros(0), -np.inf, np.zeros(0)

    def tighten(
        self, propose: Propose | None, patient: bool, rounds: int = MOST_ROUNDS, until: float = np.inf
    ) -> None:
        """Add cuts until none is found, the search is closed, or (unless ``patient``) progress stalls.

        It also ends after so many rounds or seconds of the run, and when a program has no answer; what was
        found until then remains valid.
        """
        search = self.search
        try:
            run = search.run.limited(until - search.run.seconds)
            with self.separation.within(run, lambda: search.report_progress("bounding")):
                self._add_cuts(propose, patient, rounds, until)
            if propose is not None and self.point.size and not search.closed and not search.run.over:
                self._propose(propose, thorough=True)
        except (StoppedError, SolverError):
            return

    def _add_cuts(self, propose: Propose | None, patient: bool, rounds: int, until: float) -> None:
        """Solve the relaxation and add cuts, round after round, and propose releases now and then."""
        search, history, reached = self.search, list[float](), _Reached(self.search)
        factor = SHORT if self.separation.has_short_rounds else 1
        proposal = FIRST_PROPOSAL
        for number in range(1, rounds + 1):
            if search.run.over or search.run.seconds > until or not self._solve():
                return
            search.report_progress("bounding", number)
            if propose is not None and number == proposal:
                self._propose(propose)
                proposal *= 2
            if search.closed:
                return
            rows = self._cut_between() or self.separation.find_cuts(self.point)
            if not rows and patient and not self.separation.holds_against_insiders(self.point):
                # No tree will check the insiders; requirements that fail are listed now.
                rows = self.separation.find_cuts(self.point)
            if not rows:
                return
            history.append(self.value)
            self._program.add(rows)
            self.rows += rows
            self.duals = np.concatenate([self.duals, np.zeros(len(rows))])
            self._idle = np.concatenate([self._idle, np.zeros(len(rows), dtype=np.int64)])
            if not patient and _has_stalled(history, search, factor * PATIENCE):
                return
            if not patient and self.separation.near is not None and reached.is_in_vain(self.value):
                return

    def _cut_between(self) -> list[CutRow]:
        """Return cuts of a point between the relaxation's and the incumbent; none where it protects, which
        is then offered.

        Rows that a point between the two violates are violated by the relaxation's even more, and are tighter
        than those that are found there. Where rounding moved it away, rows that do not cut that off are left.
        """
        search, growing = self.search, self._growing
        if growing is None or search.best is None:
            return []
        middle = growing.round_outward(BETWEEN * self.point + (1.0 - BETWEEN) * search.best)
        if growing.other_integers.any():
            middle[growing.other_integers] = search.best[growing.other_integers]
        rows = self.separation.find_cuts(middle)
        if not rows and self.separation.protects(middle):
            search.offer(middle)
        return [row for row in rows if row.compute_slack(self.point) < -NOTICED]

    def _solve(self) -> bool:
        """Solve the relaxation of the root and fix variables; return whether there is an optimum."""
        search = self.search
        found = self._program.solve(search.run)
        if found is None:
            if self._program.ended is Ended.INFEASIBLE:
                if search.best is None:
                    raise InfeasibleError("no release of this kind protects the table")
                search.raise_bound(search.loss)
            return False
        self.value, self.reduced = found.value + search.model.constant, found.reduced
        self.point = np.clip(found.x, search.lower, search.upper)
        self.duals = found.duals
        if self._fixing:
            search.raise_bound(self.value)
        self._drop_idle_rows(found.slack)
        self.fix_variables()
        return True

    def _drop_idle_rows(self, slack: Floats) -> None:
        """Drop cuts of the relaxation that were slack for ``CLEANING`` rounds, if they are many."""
        self._idle = np.where(slack > SLACK, self._idle + 1, 0)
        gone = self._idle > CLEANING
        if gone.sum() > max(50, len(self.rows) // 4):
            self._program.drop(gone)
            self.duals = self.duals[~gone]
            self.rows = [row for row, out in zip(self.rows, gone, strict=True) if not out]
            self._idle = self._idle[~gone]
            self.separation.forget_rows()

    def _propose(self, propose: Propose, thorough: bool = False) -> None:
        candidate = propose(self.point, thorough)
        if candidate is not None and self.search.offer(candidate):
            self.fix_variables()

    def fix_variables(self) -> None:
        """Fix variables of the search by the last relaxation's reduced costs and the incumbent's loss."""
        if not self._fixing:
            return
        before = self.search.upper.copy()
        if self.search.fix_by_reduced_cost(self.value, self.reduced):
            self._program.remove(np.flatnonzero(before != self.search.upper))


class _Reached:
    """When the rounds of a search last closed ``PROGRESS`` of its gap."""

    def __init__(self, search: ReleaseSearch) -> None:
        self.search, self._value, self._seconds = search, -np.inf, search.run.seconds
        self._patience = IN_VAIN * search.run.remaining

    def is_in_vain(self, value: float) -> bool:
        """Return whether the search's rounds up to this value closed too little for too long."""
        now, gap = self.search.run.seconds, self.search.loss - value
        if not np.isfinite(gap) or value - self._value >= PROGRESS * max(gap, 1e-12):
            self._value, self._seconds = value, now
        return now - self._seconds > self._patience


def _has_stalled(history: list[float], search: ReleaseSearch, patience: int) -> bool:
    """Return whether the last ``patience`` rounds of cuts closed less than ``PROGRESS`` of the gap."""
    if len(history) <= patience or not np.isfinite(search.loss):
        return False
    gap = max(search.loss - history[-1], 1e-12)
    return history[-1] - history[-1 - patience] < PROGRESS * gap
