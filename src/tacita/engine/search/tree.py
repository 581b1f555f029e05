"""The tree: what the root leaves open, by branch and cut in SCIP.

A small tree comes first, on the variables that the relaxation or the incumbent uses or nearly would. It
proves nothing, but its incumbent lets reduced costs fix most of the others, and the tree that proves is then
short.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Protocol

import numpy as np

from tacita.core.errors import InfeasibleError, SolverError, StoppedError
from tacita.core.exact import Floats
from tacita.engine.attack.separation import Separation
from tacita.engine.search.incumbent import ReleaseSearch
from tacita.engine.search.root import Propose, Root
from tacita.solvers import scip
from tacita.solvers.linear_program import IntegerProgram
from tacita.solvers.row_pool import CutRow

NODES_AROUND = 60
"""Of the small tree."""
NEAR = 30
"""Variables with small reduced cost that the small tree looks at, besides two for each that is in use."""
WORTHWHILE = 0.2
"""Of the gap, that a small tree must close for another one to follow."""
MOST_SKIPPED = 5
ENOUGH_AT_NODES = 8
PATIENCE_FIRST = 40
"""Attempts around the incumbent that may fail in a row before there is a tree,"""
PATIENCE_AT_NODES = 8
"""and at one of its nodes."""
WORTH = 1e-3
"""Gap for which one such attempt is made."""
WIDE_GAP = 0.15
"""No tree closes this soon: attempts come first."""
NARROW_GAP = 0.01
NODES_FIRST = 60
"""Of a first tree, where the gap is neither wide nor narrow. Few need more; then its incumbent, known
from the beginning, is worth more to the next one than the nodes that are given up.
"""


class Improve(Protocol):
    """Offers better points near the incumbent to the search, until ``patience`` attempts in a row fail."""

    def __call__(self, guide: Floats, patience: int) -> None: ...


def branch(
    search: ReleaseSearch,
    separation: Separation,
    root: Root,
    propose: Propose | None,
    improve: Improve | None,
) -> None:
    """Search the tree below a root until the search is closed or the time is over."""
    if search.best is not None and root.point.size:
        _look_around(search, root, _Hidden(search, separation, propose, improve))
        if improve is not None and not search.closed:
            _improve_first(search, root, _Hidden(search, separation, propose, improve), improve)
    if not search.closed and not search.run.over:
        _search(search, root, _Hidden(search, separation, propose, improve), None)


def _improve_first(search: ReleaseSearch, root: Root, hidden: _Hidden, improve: Improve) -> None:
    """A better incumbent for the tree to begin with, where the gap asks for one."""
    gap = _gap(search)
    if gap > WIDE_GAP:
        improve(root.point, PATIENCE_FIRST)
    elif gap > NARROW_GAP:
        _search(search, root, hidden, NODES_FIRST)
        # What this tree cut off is for the next one to find again.
        hidden.separation.forget()
    root.fix()


def _search(search: ReleaseSearch, root: Root, hidden: _Hidden, nodes: int | None) -> None:
    """One tree on all variables that are not settled, of so many nodes at most."""
    ended = scip.branch_and_cut(
        _within(search, search.upper),
        root.rows,
        hidden,
        _cutoff(search),
        search.run,
        nodes,
    )
    if not ended.complete:
        search.raise_bound(ended.bound + search.model.constant)
        return
    if search.best is None:
        raise InfeasibleError("no release of this kind protects the table")
    search.raise_bound(search.loss)


def _look_around(search: ReleaseSearch, root: Root, hidden: _Hidden) -> None:
    """A small tree on the cells that the relaxation or the incumbent hides or nearly would: it proves
    nothing, but its incumbent lets reduced costs fix most of the others.
    """
    while search.best is not None and not search.closed and not search.run.over:
        before = search.loss
        kept = (root.point > 1e-6) | (search.best > 0.5)
        free = np.flatnonzero(~kept & (search.upper > search.lower))
        near = free[np.argsort(root.reduced[free], kind="stable")]
        kept[near[: NEAR + 2 * int((kept & (search.upper > search.lower)).sum())]] = True
        if 2 * int((kept & (search.upper > search.lower)).sum()) > free.size:
            return
        upper = np.where(kept, search.upper, search.lower)
        with hidden.around():
            scip.branch_and_cut(
                _within(search, upper),
                root.rows,
                hidden,
                _cutoff(search),
                search.run,
                NODES_AROUND,
            )
        # What the small tree cut off is for the large one to find again.
        hidden.separation.forget()
        root.fix()
        if search.loss >= before - WORTHWHILE * (before - search.bound):
            return


def _within(search: ReleaseSearch, upper: Floats) -> IntegerProgram:
    return replace(search.model, lower=search.lower, upper=upper)


def _cutoff(search: ReleaseSearch) -> float:
    return search.loss - search.model.constant - 0.5 * search.slack if search.best is not None else np.inf


def _gap(search: ReleaseSearch) -> float:
    """The share of the incumbent's loss that may be too much."""
    return (search.loss - search.bound) / max(abs(search.loss), 1e-12)


class _Hidden:
    """The rows that attackers know of, as the tree asks for them."""

    def __init__(
        self, search: ReleaseSearch, separation: Separation, propose: Propose | None, improve: Improve | None
    ) -> None:
        self.search, self.separation = search, separation
        self._propose, self._improve = propose, improve
        self._in_vain, self._skip = 0, 0
        self._everywhere = True
        self.in_doubt = False
        self._calls, self._next_proposal, self._pause = 0, 0, 1

    @contextmanager
    def around(self) -> Iterator[None]:
        """While only a part of the variables is looked at, bounds say nothing of the others."""
        self._everywhere = False
        try:
            yield
        finally:
            # Nor does an unanswered question there cast doubt on the whole.
            self._everywhere, self.in_doubt = True, False

    def violated(self, x: Floats, depth: int) -> Sequence[CutRow]:
        # SCIP goes on with cuts of its own; asking after each of them mostly finds nothing.
        if self._skip:
            self._skip -= 1
            return ()
        try:
            rows = self.separation.round(x, None if depth <= 0 else ENOUGH_AT_NODES)
        except (StoppedError, SolverError):
            return ()
        self._in_vain = 0 if rows else min(self._in_vain + 1, MOST_SKIPPED)
        self._skip = self._in_vain
        return rows

    def refuted(self, x: Floats) -> Sequence[CutRow] | None:
        try:
            rows = self.separation.enforce(x)
        except (StoppedError, SolverError):
            self.in_doubt = True
            return ()
        if rows is None:
            self.search.offer(x)
        return rows

    def accepted(self, x: Floats) -> bool:
        try:
            holds = self.separation.protects(x)
        except (StoppedError, SolverError):
            self.in_doubt = True
            return False
        if holds:
            self.search.offer(x)
        return holds

    def proposed(self, x: Floats) -> Floats | None:
        self._calls += 1
        if self._propose is None or self._calls < self._next_proposal:
            return None
        before = self.search.loss
        try:
            candidate = self._propose(x)
        except (StoppedError, SolverError):
            return None
        if candidate is not None:
            self.search.offer(candidate)
        # Many trees end soon after they begin to branch, and then a better incumbent brings nothing.
        known = self.search.best is not None and self._everywhere
        if self._improve is not None and known and self._calls > 1:
            self._improve(x, int(min(PATIENCE_AT_NODES, _gap(self.search) / WORTH)))
        # Where proposals stop helping, they are made less and less often.
        self._pause = 1 if self.search.loss < before else 2 * self._pause
        self._next_proposal = self._calls + self._pause
        return self.search.best

    def progress(self, best: float, bound: float, nodes: int) -> None:
        if abs(bound) < 1e19 and self._everywhere:
            self.search.raise_bound(bound + self.search.model.constant)
        self.search.tell("branching", nodes)
