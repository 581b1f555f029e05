"""The tree: the variables that the root leaves open, by branch and cut in SCIP.

A small tree comes first, on the variables that the relaxation or the incumbent uses and those of small
reduced cost. It proves nothing, but with its incumbent reduced costs fix most of the other variables, so that
the tree on all of them is small.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from tacita.core.errors import InfeasibleError, SolverError, StoppedError
from tacita.core.exact import Floats
from tacita.engine.attack.separation import Separation
from tacita.engine.search.incumbent import ReleaseSearch
from tacita.engine.search.integer_master import IntegerMaster
from tacita.engine.search.root import Propose, Root
from tacita.solvers import scip
from tacita.solvers.row_pool import CutRow

if TYPE_CHECKING:
    from tacita.engine.construction.large_tables import LargeTable

NODES_AROUND = 60
"""Nodes of the small tree."""
NEAR = 30
"""Variables of small reduced cost in the small tree, besides two for each that is in use."""
WORTHWHILE = 0.2
"""Share of the gap that a small tree must close for another one to follow."""
MOST_SKIPPED = 5
"""Points at most that are not separated after separation found nothing."""
ENOUGH_AT_NODES = 8
"""Cuts per round at nodes below the root."""
PATIENCE_FIRST = 40
"""Attempts of the local search that may fail in a row before the tree."""
PATIENCE_AT_NODES = 8
"""Attempts of the local search that may fail in a row at a node."""
WORTH = 1e-3
"""Gap for which one such attempt is made."""
WIDE_GAP = 0.15
"""Relative gap that no tree closes soon: the local search comes first."""
MIDDLE_GAP = 0.05
"""The same in tables that are no networks, whose trees are slower; the integer master follows there."""
NARROW_GAP = 0.01
SHARE_OF_REGIONS = 0.6
"""Share of the time that is left for regions of large tables."""
SHARE_OF_MASTER = 0.2
"""Share of the time that is left for the integer master; it takes no longer than all that was before."""
LEAST_FOR_MASTER = 5.0
"""Seconds that it may take in any case: in small tables its programs end before, on every machine alike."""
PROGRAMS = 4
"""Its programs: the tree closes the rest of the gap sooner where it is small."""
PATIENCE_WIDE = 150
"""Attempts of the local search that may fail in a row where the gap is still wide after that."""
FEW = 40
"""Variables that are not fixed, up to which the tree comes first: it takes less time than local search."""
NODES_FIRST = 60
"""Nodes of a first tree, where the gap is neither wide nor narrow. Few models need more; then the next tree
gains more from starting with its incumbent than is lost with its nodes.
"""


class Improve(Protocol):
    """A heuristic that offers better points near the incumbent to the search."""

    def __call__(self, guide: Floats, patience: int) -> None: ...


def search_tree(
    search: ReleaseSearch,
    separation: Separation,
    root: Root,
    propose: Propose | None,
    improve: Improve | None,
    large: LargeTable | None,
) -> None:
    """Search the branch-and-cut tree below a root until the incumbent is optimal or the time is over.

    ``large`` improves the incumbent by regions, where it is given.
    """
    if search.best is not None and root.point.size:
        _search_near_incumbent(search, root, _AttackerRows(search, separation, propose, improve))
        if improve is not None and not search.closed and _count_open(search) > FEW:
            rows = _AttackerRows(search, separation, propose, improve)
            _improve_incumbent(search, root, rows, improve, large)
    if not search.closed and not search.run.over:
        _search_all(search, root, _AttackerRows(search, separation, propose, improve), None)


def _improve_incumbent(
    search: ReleaseSearch, root: Root, rows: _AttackerRows, improve: Improve, large: LargeTable | None
) -> None:
    """Improve the search's incumbent before the tree, by local search and regions or by a first tree, as the
    gap asks, and beyond networks its bound by the integer master.
    """
    gap, is_network = _relative_gap(search), rows.separation.is_network
    if gap > (WIDE_GAP if is_network else MIDDLE_GAP):
        improve(root.point, PATIENCE_FIRST)
        cuts, run = root.rows, search.run
        if not is_network and cuts and _relative_gap(search) > MIDDLE_GAP and not search.closed:
            if large is not None:
                cuts = large.improve_by_programs(cuts, run.seconds + SHARE_OF_REGIONS * run.remaining)
            seconds = min(SHARE_OF_MASTER * run.remaining, max(run.seconds, LEAST_FOR_MASTER))
            master = IntegerMaster(search, rows.separation, cuts)
            if not master.tighten(seconds, PROGRAMS):
                master.bound(seconds)
            # The tree has to find these cuts again.
            rows.separation.forget_rows()
            if _relative_gap(search) > WIDE_GAP:
                improve(root.point, PATIENCE_WIDE)
    elif gap > NARROW_GAP:
        _search_all(search, root, rows, NODES_FIRST)
        # The next tree has to find the cuts of this one again.
        rows.separation.forget_rows()
    root.fix_variables()


def _search_all(search: ReleaseSearch, root: Root, rows: _AttackerRows, nodes: int | None) -> None:
    """Search one tree on all variables not fixed, of so many nodes at most; raise the engine's bound."""
    ended = _branch_and_cut(search, root, rows, search.upper, nodes)
    if not ended.complete:
        search.raise_bound(ended.bound + search.model.constant)
        return
    if search.best is None:
        raise InfeasibleError("no release of this kind protects the table")
    search.raise_bound(search.loss)


def _search_near_incumbent(search: ReleaseSearch, root: Root, rows: _AttackerRows) -> None:
    """Search small trees on the variables that the relaxation or the incumbent uses and those of small
    reduced cost, as long as the gap shrinks.
    """
    while search.best is not None and not search.closed and not search.run.over:
        before = search.loss
        used = (root.point > 1e-6) | (search.best > 0.5)
        free = np.flatnonzero(~used & (search.upper > search.lower))
        near = free[np.argsort(root.reduced[free], kind="stable")]
        used[near[: NEAR + 2 * int((used & (search.upper > search.lower)).sum())]] = True
        if 2 * int((used & (search.upper > search.lower)).sum()) > free.size:
            return
        upper = np.where(used, search.upper, search.lower)
        with rows.restricted():
            _branch_and_cut(search, root, rows, upper, NODES_AROUND)
        # The next tree has to find the cuts of this one again.
        rows.separation.forget_rows()
        root.fix_variables()
        if search.loss >= before - WORTHWHILE * (before - search.bound):
            return


def _branch_and_cut(
    search: ReleaseSearch, root: Root, rows: _AttackerRows, upper: Floats, nodes: int | None
) -> scip.TreeResult:
    """Return SCIP's result of one tree for releases better than the incumbent, within upper bounds."""
    program = replace(search.model, lower=search.lower, upper=upper)
    known = search.best is not None
    cutoff = search.loss - search.model.constant - 0.5 * search.slack if known else np.inf
    return scip.branch_and_cut(program, root.rows, rows, cutoff, search.run, nodes)


def _count_open(search: ReleaseSearch) -> int:
    """Return how many variables of the search are not fixed."""
    return int((search.upper > search.lower).sum())


def _relative_gap(search: ReleaseSearch) -> float:
    return (search.loss - search.bound) / max(abs(search.loss), 1e-12)


class _AttackerRows:
    """The cuts of attackers as lazy rows of the tree, and proposals of candidates."""

    def __init__(
        self, search: ReleaseSearch, separation: Separation, propose: Propose | None, improve: Improve | None
    ) -> None:
        self.search, self.separation = search, separation
        self._propose, self._improve = propose, improve
        self._in_vain, self._skip = 0, 0
        self._everywhere = True
        self.in_doubt = False
        self._calls, self._next_proposal, self._pause = 0, 0, 1

    @property
    def closed(self) -> bool:
        """Whether the incumbent of the search is good enough, so that the tree may end."""
        return self.search.closed

    @contextmanager
    def restricted(self) -> Iterator[None]:
        """Ignore the bounds of a small tree meanwhile: they hold only for the variables that it has."""
        self._everywhere = False
        try:
            yield
        finally:
            # A candidate without an answer there leaves the next tree complete.
            self._everywhere, self.in_doubt = True, False

    def find_violated(self, x: Floats, depth: int) -> Sequence[CutRow]:
        """Return new cuts that a fractional point of the tree violates, none for skipped points."""
        # SCIP goes on with cuts of its own; separation after each of them mostly finds nothing.
        if self._skip:
            self._skip -= 1
            return ()
        try:
            rows = self.separation.find_cuts(x, None if depth <= 0 else ENOUGH_AT_NODES)
        except (StoppedError, SolverError):
            return ()
        self._in_vain = 0 if rows else min(self._in_vain + 1, MOST_SKIPPED)
        self._skip = self._in_vain
        return rows

    def find_refuting(self, x: Floats) -> Sequence[CutRow] | None:
        """Return cuts that a tree's candidate violates, or None if it protects, and then offer it."""
        try:
            rows = self.separation.find_refuting_cuts(x)
        except (StoppedError, SolverError):
            self.in_doubt = True
            return ()
        if rows is None:
            self.search.offer(x)
        return rows

    def accepts(self, x: Floats) -> bool:
        """Return whether a candidate of the tree meets every requirement, and then offer it."""
        try:
            holds = self.separation.protects(x)
        except (StoppedError, SolverError):
            self.in_doubt = True
            return False
        if holds:
            self.search.offer(x)
        return holds

    def propose(self, x: Floats) -> Floats | None:
        """Return the incumbent after heuristics near a tree's fractional point, or None if none was run."""
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
        # Many trees end soon after they begin to branch, so the local search waits for the second call.
        known = self.search.best is not None and self._everywhere
        if self._improve is not None and known and self._calls > 1:
            self._improve(x, int(min(PATIENCE_AT_NODES, _relative_gap(self.search) / WORTH)))
        # After each proposal that does not improve the incumbent the pause doubles.
        self._pause = 1 if self.search.loss < before else 2 * self._pause
        self._next_proposal = self._calls + self._pause
        return self.search.best

    def report_progress(self, best: float, bound: float, nodes: int) -> None:
        """Take the bound of the tree, unless it is restricted, and report the search's progress."""
        if abs(bound) < 1e19 and self._everywhere:
            self.search.raise_bound(bound + self.search.model.constant)
        self.search.report_progress("branching", nodes)
