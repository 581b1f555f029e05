"""The engine: master and separation, for any model.

    1. a first incumbent, if someone proposes one
    2. root: relaxation, cuts, reduced-cost fixing                         (root.py, HiGHS)
    3. tree: what is left of the variables, with cuts at the nodes          (SCIP)

It ends with an optimum, or with the best release and the best bound when the time is over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tacita.engine.arena import Arena
from tacita.engine.cuts import Cutter
from tacita.engine.model import Model
from tacita.engine.proposals import Proposals
from tacita.engine.root import Propose, Root
from tacita.engine.search import Search
from tacita.engine.separation import Separation
from tacita.engine.sifting import MANY, sift
from tacita.engine.solution import Solution
from tacita.errors import InfeasibleError, StoppedError
from tacita.exact import Floats
from tacita.run import Run
from tacita.solvers import scip
from tacita.solvers.rows import Row


MOST_SKIPPED = 5


def solve(
    model: Model, run: Run | None = None, start: Floats | None = None
) -> Solution:
    """The best release of a model, with a bound on all of them.

    Parameters
    ----------
    start
        A point to begin with; it is used if it protects.

    Raises
    ------
    InfeasibleError
        No point of the model meets all demands.
    StoppedError
        The time was over before one was found.
    """
    search = Search(model, run or Run())
    arena = Arena.of(model)
    _settle_motionless(arena, search)
    separation = _separation(arena, search)
    if start is not None and separation.protects(start):
        search.offer(start)
    patterns = _is_suppression(arena)
    if patterns and int((search.upper > search.lower).sum()) > MANY:
        sift(separation, search)
        arena = Arena.of(replace(model, upper=search.upper))
        if search.closed or arena.demands_outside(model.demands).size:
            # What is left cannot protect, so nothing is better than the incumbent.
            search.raise_bound(search.loss)
            return search.solution()
        separation = _separation(arena, search)
    propose: Propose | None = Proposals(separation, search) if patterns else None
    root = Root(search, separation)
    whole = bool(model.whole.any())
    root.close(propose, patient=not whole)
    if not whole:
        return _finish_linear(search, separation, root)
    if not search.closed and not search.run.over:
        _branch(search, separation, root, propose)
    return search.solution()


def _separation(arena: Arena, search: Search) -> Separation:
    cutter = Cutter(arena, search.lower, search.upper)
    return Separation(arena, search.model.demands, cutter, search.run)


def _is_suppression(arena: Arena) -> bool:
    """Every cell has its own binary switch and no other window: patterns are what the model is about."""
    switches = arena.switch[arena.switch >= 0]
    return arena.only_switches and switches.size == len(arena) == np.unique(switches).size


def _finish_linear(search: Search, separation: Separation, root: Root) -> Solution:
    """Without whole variables the root is all there is: its last point is the optimum if it protects."""
    if not search.run.over and root.point.size and separation.protects(root.point):
        search.offer(root.point)
    return search.solution()


def _branch(search: Search, separation: Separation, root: Root, propose: Propose | None) -> None:
    model = search.model
    program = scip.Program(
        model.cost,
        search.lower,
        search.upper,
        model.whole,
        model.rows,
        model.row_lower,
        model.row_upper,
        search.grain,
    )
    hidden = _Hidden(search, separation, propose)
    cutoff = search.loss - model.constant - 0.5 * search.slack if search.best is not None else np.inf
    ended = scip.branch_and_cut(program, root.rows, hidden, cutoff, search.run)
    if ended.complete:
        if search.best is None:
            raise InfeasibleError("no release of this kind protects the table")
        search.raise_bound(search.loss)
    else:
        search.raise_bound(ended.bound + model.constant)


class _Hidden:
    """The rows that attackers know of, as the tree asks for them."""

    def __init__(self, search: Search, separation: Separation, propose: Propose | None) -> None:
        self.search, self.separation, self._propose = search, separation, propose
        self._in_vain, self._skip = 0, 0

    def violated(self, x: Floats, depth: int) -> Sequence[Row]:
        # SCIP goes on with cuts of its own; asking after each of them mostly finds nothing.
        if self._skip:
            self._skip -= 1
            return ()
        try:
            rows = self.separation.round(x)
        except StoppedError:
            return ()
        self._in_vain = 0 if rows else min(self._in_vain + 1, MOST_SKIPPED)
        self._skip = self._in_vain
        return rows

    def refuted(self, x: Floats) -> Sequence[Row] | None:
        try:
            rows = self.separation.enforce(x)
        except StoppedError:
            return ()
        if rows is None:
            self.search.offer(x)
        return rows

    def accepted(self, x: Floats) -> bool:
        try:
            holds = self.separation.protects(x)
        except StoppedError:
            return False
        if holds:
            self.search.offer(x)
        return holds

    def proposed(self, x: Floats) -> Floats | None:
        if self._propose is None:
            return None
        try:
            candidate = self._propose(x)
        except StoppedError:
            return None
        if candidate is not None:
            self.search.offer(candidate)
        return self.search.best

    def progress(self, best: float, bound: float, nodes: int) -> None:
        if abs(bound) < 1e19:
            self.search.raise_bound(bound + self.search.model.constant)
        self.search.tell("branching", nodes)


def _settle_motionless(arena: Arena, search: Search) -> None:
    """A cell that can never move fails its demand: such a demand must not count, or there is no release."""
    model = arena.model
    for k in arena.demands_outside(model.demands).tolist():
        switch, cell = int(model.demands.switch[k]), int(model.demands.cell[k])
        if switch < 0 or search.lower[switch] > 0:
            raise InfeasibleError(
                f"({model.problem.table.name(cell)}) cannot be made uncertain: whatever is published, its value "
                "follows from cells that cannot change. Allow some of the cells around it to be hidden or changed."
            )
        search.upper[switch] = 0.0
