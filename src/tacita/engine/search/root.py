"""The root: the linear relaxation of the master, cut until no requirement is found failing.

    repeat   solve the relaxation,  fix by reduced costs,  let heuristics look at the point,  add violated
    rows

Rows that have been slack for long are dropped; they come back if they are violated again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import numpy as np

from tacita.core.errors import InfeasibleError, SolverError, StoppedError
from tacita.core.exact import Floats
from tacita.engine.attack.separation import Separation
from tacita.engine.search.incumbent import ReleaseSearch
from tacita.solvers.highs import Ended
from tacita.solvers.row_pool import CutRow, GrowingRows


class Propose(Protocol):
    """A heuristic: from a fractional point to a protected one, or None."""

    def __call__(self, x: Floats, thorough: bool = False) -> Floats | None: ...


PATIENCE = 12
"""Rounds without progress worth mentioning after which branching takes over."""
PROGRESS = 3e-3
"""Of the gap, in PATIENCE rounds."""
CLEANING = 10
SLACK = 0.1
FIRST_PROPOSAL = 5
"""Round at which heuristics look at the point for the first time; then after twice as many, and so on."""


class Root:
    """The relaxation; ``rows``, their last ``prices`` and the last ``point`` are what others start from.

    Without ``fixing`` its value is no bound of the search's: the model is a part of the real one.
    """

    def __init__(self, search: ReleaseSearch, separation: Separation, fixing: bool = True) -> None:
        model = search.model
        self.search, self.separation, self._fixing = search, separation, fixing
        self._program = GrowingRows(replace(model.relaxed(), lower=search.lower, upper=search.upper))
        self.rows: list[CutRow] = []
        self.prices = np.zeros(0)
        self._idle = np.zeros(0, dtype=np.int64)
        self.point, self.value, self.reduced = np.zeros(0), -np.inf, np.zeros(0)

    def close(self, propose: Propose | None, patient: bool) -> None:
        """Cut until nothing more is found, the search is closed, or (unless ``patient``) it does not pay.

        A question without an answer ends it too: what was found until then stands.
        """
        search = self.search
        try:
            self._cut(propose, patient)
            if propose is not None and self.point.size and not search.closed and not search.run.over:
                self._propose(propose, thorough=True)
        except (StoppedError, SolverError):
            return

    def _cut(self, propose: Propose | None, patient: bool) -> None:
        search, history, proposal = self.search, list[float](), FIRST_PROPOSAL
        for number in range(1, 1_000_000):
            if search.run.over or not self._solve():
                return
            search.tell("bounding", number)
            if propose is not None and number == proposal:
                self._propose(propose)
                proposal *= 2
            if search.closed:
                return
            rows = self.separation.round(self.point)
            if not rows and patient and not self.separation.insiders_hold(self.point):
                # Without a tree nobody else asks them; what they lack is listed now.
                rows = self.separation.round(self.point)
            if not rows:
                return
            history.append(self.value)
            self.add(rows)
            if not patient and _stalls(history, search):
                return

    def add(self, rows: list[CutRow]) -> None:
        self._program.add(rows)
        self.rows += rows
        self.prices = np.concatenate([self.prices, np.zeros(len(rows))])
        self._idle = np.concatenate([self._idle, np.zeros(len(rows), dtype=np.int64)])

    def _solve(self) -> bool:
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
        self.prices = found.prices
        if self._fixing:
            search.raise_bound(self.value)
        self._clean(found.slack)
        self.fix()
        return True

    def _clean(self, slack: Floats) -> None:
        self._idle = np.where(slack > SLACK, self._idle + 1, 0)
        gone = self._idle > CLEANING
        if gone.sum() > max(50, len(self.rows) // 4):
            self._program.drop(gone)
            self.prices = self.prices[~gone]
            self.rows = [row for row, out in zip(self.rows, gone, strict=True) if not out]
            self._idle = self._idle[~gone]
            self.separation.forget()

    def _propose(self, propose: Propose, thorough: bool = False) -> None:
        candidate = propose(self.point, thorough)
        if candidate is not None and self.search.offer(candidate):
            self.fix()

    def fix(self) -> None:
        """Fix by the reduced costs of the last relaxation, after the incumbent improved."""
        if not self._fixing:
            return
        before = self.search.upper.copy()
        if self.search.fix_by_reduced_cost(self.value, self.reduced):
            self._program.remove(np.flatnonzero(before != self.search.upper))


def _stalls(history: list[float], search: ReleaseSearch) -> bool:
    if len(history) <= PATIENCE or not np.isfinite(search.loss):
        return False
    gap = max(search.loss - history[-1], 1e-12)
    return history[-1] - history[-1 - PATIENCE] < PROGRESS * gap
