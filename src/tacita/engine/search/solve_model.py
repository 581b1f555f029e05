"""The engine: the release of least loss of any model.

The *exact engine* is a master problem and separation:

    1. a first incumbent: a start, or a constructed release where one of its own would take seconds
    2. root: relaxation, cuts, reduced-cost fixing                          (root.py, HiGHS)
    3. tree: the variables that are not fixed, with cuts at the nodes       (tree.py, SCIP)
       and, if it takes long, local search around the incumbent             (local_search.py)

In suppression of large tables beyond networks, and of smaller ones with insiders, a *construction* comes
first and goes on beside it. Integer programs over the relaxation's cuts lead it (integer_master.py). It takes
the place of the tree beyond ``MOST_IN_TREE`` cells, and of the relaxation beyond ``TOO_LARGE``. Large models
of intervals and of numbers that add up have constructions of their own (window_construction.py, numbers.py).
A third way is the *explicit model*: one integer program with a move for every requirement. Small models
whose windows only grow are solved by it (explicit_program.py); for suppression it is slower, and never chosen
by size.

The engine ends with an optimum, or with the best release and the best bound when the time is over.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from tacita.core.errors import InfeasibleError, SolverError, StoppedError
from tacita.core.exact import Cells, Floats
from tacita.core.run import GRACE, Run
from tacita.engine.attack.cuts import Cutter
from tacita.engine.attack.flows import find_network
from tacita.engine.attack.presolved import PresolvedTable
from tacita.engine.attack.separation import Separation
from tacita.engine.checkpoint import keep_search
from tacita.engine.construction.growing_windows import GrowingWindows
from tacita.engine.model import Model
from tacita.engine.search.explicit_model import is_exact, solve_explicit_model
from tacita.engine.search.explicit_program import ExplicitProgram
from tacita.engine.search.incumbent import ReleaseSearch
from tacita.engine.search.integer_master import IntegerMaster
from tacita.engine.search.local_search import LocalSearch
from tacita.engine.search.proposals import Patterns, Proposals
from tacita.engine.search.root import Root
from tacita.engine.search.sifting import MANY, sift
from tacita.engine.search.tree import PATIENCE_WIDE, SHARE_OF_REGIONS, search_tree
from tacita.solvers.linear_program import Solution

if TYPE_CHECKING:
    from tacita.engine.construction.large_tables import LargeTable

LARGE = 2000
"""Cells of the presolved table from which on a first release is constructed, unless it is a network."""
MOST_IN_TREE = 12_000
"""Cells of the presolved table from which on no tree follows a constructed release and its relaxation."""
TOO_LARGE = 100_000
"""Cells from which on the relaxation of the whole table takes too long, and an ascent gives the bound."""
MUCH = 100_000
"""Cells of the presolved table times requirements from which on the exact engine would need seconds to a
release of its own, and begins with a constructed one. Insiders need far more; there the construction goes on.
"""
VERY_MUCH = 500_000
"""The same number from which on the construction goes on without insiders, too."""
FIRST_ROUNDS = 5
"""Rounds of cuts before a constructed release is improved, for a first bound."""
SHARE_OF_ASCENT = 0.05
"""Share of the time for first rows of the relaxation of a large table."""
SHARE = 0.2
"""Share of the time for improving a constructed release before the relaxation begins."""
SHARE_OF_RELAXATION = 0.4
"""Share of the time that is left after that for the relaxation."""
SHARE_OF_MASTER = 0.6
"""Share of the time that is left after that for the integer master of a large table."""
NARROW_GAP = 0.04
"""Relative gap that a tree closes sooner than integer programs do, where there are no insiders."""
SHARE_OF_LOCAL_SEARCH = 0.85
"""Share of the time that is left after that for local search, if the integer master has no good points."""
CHECK = 0.01
"""Seconds per requirement, after the time is over, for which a start is still checked."""

Rung = Literal["auto", "explicit", "exact", "construction"]
"""The ways to solve a model; ``auto`` chooses by its size and structure."""


def solve_model(
    model: Model, run: Run | None = None, start: Floats | None = None, rung: Rung = "auto"
) -> Solution:
    """Return the engine's release of least loss for a model, with a lower bound on the loss of all.

    Parameters
    ----------
    start
        A point to begin with; it is used if it protects, even when there is no time for anything else. The
        pattern of a large table is completed.
    rung
        The way to solve it. Where a construction or an explicit model ends without a release, or without a
        proof that there is none, the exact engine follows.

    Raises
    ------
    InfeasibleError
        No point of the model meets all requirements.
    StoppedError
        The time was over before one was found.
    """
    model = model.with_fixed_costs_in_constant()
    kept, run = keep_search(model, run or Run())
    try:
        return _solve(ReleaseSearch(model, run, kept), start, rung)
    finally:
        if kept is not None:
            kept.end()


def _solve(search: ReleaseSearch, start: Floats | None, rung: Rung) -> Solution:
    """Return the solution of a search's model, possibly from a start or from what it remembers."""
    model = search.model
    presolved = PresolvedTable.of(model)
    _fix_immovable(presolved, search)
    separation = _make_separation(presolved, search)
    is_suppression = _is_suppression(presolved)
    growing = None if is_suppression or rung == "exact" else GrowingWindows.of(presolved)
    if growing is not None and start is None:
        explicit = ExplicitProgram(growing, search)
        if explicit.is_small:
            search.enter("explicit model")
            if explicit.solve(separation):
                return search.make_solution()
    if growing is not None and len(presolved) >= LARGE:
        search.enter("construction")
        _solve_growing(growing, separation, search, start)
        if search.best is not None or search.run.over or not growing.other_integers.any():
            return search.make_solution()
    if start is not None and _shows_numbers(presolved):
        search.enter("construction")
        if _solve_numbers(separation, search, start):
            return search.make_solution()
    large, root = None, None
    if is_constructed(presolved, rung):
        search.enter("construction")
        large = _construct(separation, search, start)
        if large is not None:
            is_last = rung == "construction" or len(presolved) >= TOO_LARGE
            root = _improve_constructed(large, is_last)
            if root is None or search.closed:
                return search.make_solution()
    else:
        _offer_protected(separation, search, start)
        _resume(separation, search)
        if search.best is None and rung == "auto" and is_suppression and _is_much(presolved, MUCH):
            _offer_constructed(separation, search)
    if search.run.over and search.best is not None:
        return search.make_solution()
    if rung == "explicit" and _solve_explicitly(separation, search):
        return search.make_solution()
    has_tree = large is None or len(presolved) < MOST_IN_TREE
    search.enter("exact engine" if has_tree else "relaxation")
    if is_suppression and large is None and int((search.upper > search.lower).sum()) > MANY:
        sift(separation, search)
        presolved = PresolvedTable.of(replace(model, upper=search.upper))
        if _find_unmeetable(presolved, search).size:
            # The variables that are not fixed cannot protect, so nothing is better than the incumbent.
            search.raise_bound(search.loss)
        if search.closed:
            return search.make_solution()
        separation = _make_separation(presolved, search)
    propose: Patterns | None = large or (Proposals(separation, search) if is_suppression else None)
    root = root or Root(search, separation)
    has_integers = bool(model.integer.any())
    share = 1.0 if large is None else SHARE_OF_RELAXATION
    until = search.run.seconds + share * search.run.remaining
    # Where no tree follows, or insiders see through patterns, those near integer points are better.
    has_proposals = large is None or (has_tree and not separation.insiders)
    root.tighten(propose if has_proposals else None, patient=not has_integers, until=until)
    if not has_integers:
        return _finish_linear(search, separation, root)
    if large is not None and not search.closed:
        if root.rows:
            _improve_by_programs(large, root, has_tree)
        elif not large.settled:
            large.improve(np.inf)
    if not search.closed and not search.run.over and has_tree:
        improve = None if propose is None else LocalSearch(search, propose)
        search_tree(search, separation, root, propose, improve, large)
    return search.make_solution()


def _offer_protected(separation: Separation, search: ReleaseSearch, point: Floats | None) -> None:
    """Offer a point of unknown origin to the search, if there is one and it protects, which is checked even
    when the time is over.
    """
    if point is None or search.model.loss(point) >= search.loss:
        return
    try:
        if separation.protects(point):
            search.offer(point)
    except StoppedError:
        patient = _make_separation(separation.presolved, search, _extend_for_check(search))
        with suppress(StoppedError):
            if patient.protects(point):
                search.offer(point)


def _extend_for_check(search: ReleaseSearch) -> Run:
    """Return the run with time to check a release, even when its own time is over."""
    return search.run.extended(GRACE + CHECK * len(search.model.requirements))


def _resume(separation: Separation, search: ReleaseSearch) -> None:
    """Offer the release that the search remembers from a checkpoint, and take its bound."""
    if search.kept is None or (known := search.kept.remembered) is None:
        return
    _offer_protected(separation, search, known.point)
    if not search.run.over:
        search.kept.forget_unconfirmed(search.best)
    # A bound above the loss of a protected release is none.
    if known.bound <= search.loss + search.noise:
        search.raise_bound(known.bound)


def is_constructed(presolved: PresolvedTable, rung: Rung = "auto") -> bool:
    """Return whether the engine constructs patterns: in large tables beyond networks, in smaller ones where
    there are insiders and much work, or as the rung requests.
    """
    if rung != "auto":
        return rung == "construction" and _is_suppression(presolved)
    much = MUCH if len(presolved.model.problem.insiders) else VERY_MUCH
    if len(presolved) < LARGE and not _is_much(presolved, much):
        return False
    return _is_suppression(presolved) and find_network(presolved) is None


def _solve_explicitly(separation: Separation, search: ReleaseSearch) -> bool:
    """Offer the solution of the explicit model to the search; return whether the search may end with it."""
    search.enter("explicit model")
    exact = is_exact(separation.presolved)
    try:
        found = solve_explicit_model(search.model, search.run)
    except InfeasibleError:
        if exact and search.best is None:
            raise
        return False
    except StoppedError:
        return search.run.over
    _offer_protected(separation, search, found.x)
    if exact:
        search.raise_bound(found.bound)
    return search.closed or search.run.over


def _construct(separation: Separation, search: ReleaseSearch, start: Floats | None) -> LargeTable | None:
    """Offer a constructed pattern of a large table to the search; return its maker, or None without one."""
    # Its kernels load the compiler.
    from tacita.engine.construction.large_tables import LargeTable

    large, constructed = LargeTable(separation, search), False
    try:
        constructed = large.construct(start)
    except StoppedError:
        if start is None:
            raise
        patient = ReleaseSearch(search.model, _extend_for_check(search))
        checked = _make_separation(separation.presolved, search, patient.run)
        with suppress(StoppedError):
            LargeTable(checked, patient).construct(start)
        if patient.best is not None:
            search.offer(patient.best)
    else:
        _resume(separation, search)
    # A start may protect by moves that lie in no neighbourhood, so that the construction hid more.
    _offer_protected(separation, search, start)
    return large if constructed else None


def _is_much(presolved: PresolvedTable, much: int) -> bool:
    """Return whether the presolved cells times requirements are so many or more."""
    return len(presolved) * len(presolved.model.requirements) >= much


def _offer_constructed(separation: Separation, search: ReleaseSearch) -> None:
    """Offer a constructed pattern to the search of the exact engine, if one is found; networks have fast
    patterns of their own.
    """
    if find_network(separation.presolved) is not None:
        return
    # Its kernels load the compiler.
    from tacita.engine.construction.large_tables import LargeTable

    with suppress(StoppedError, SolverError):
        LargeTable(separation, search).construct()
    # Tables of this size are separated as a whole.
    separation.near = None


def _improve_constructed(large: LargeTable, is_last: bool) -> Root | None:
    """Raise the bound of the search and improve a constructed pattern: until passes save little if that
    ``is_last``, else while there is much time; return the relaxation that follows.
    """
    search, run = large.search, large.search.run
    until = run.seconds + SHARE * run.remaining
    if not is_last:
        rows = large.bound(run.seconds + SHARE_OF_ASCENT * run.remaining, brief=True)
        root = Root(search, large.separation, rows=rows)
        root.tighten(None, patient=False, rounds=FIRST_ROUNDS, until=until)
        large.improve(until)
        return root
    known = None if search.kept is None else search.kept.remembered
    if known is None or not known.ascended:
        large.bound(until)
    large.improve(np.inf)
    if run.gap and not search.closed:
        # Time ended the ascent early, so that a release was improved before it was complete.
        large.bound(np.inf)
    return None


def _improve_by_programs(large: LargeTable, root: Root, has_tree: bool) -> None:
    """Improve the pattern of a large table and the bound of its search by integer programs over the cuts of
    its relaxation: of the whole table, then of regions, then of the whole again.

    Passes over hidden cells that still save much go on in between; where programs of the whole have no good
    points, a pattern near the relaxation's point and local search take their place. All after that pattern is
    left to a tree that follows, and everything where the gap is narrow already.
    """
    search, run, insiders = large.search, large.search.run, large.separation.insiders
    if has_tree and not insiders and search.loss - search.bound < NARROW_GAP * search.loss:
        return
    master = IntegerMaster(search, large.separation, root.rows, large)
    is_good = master.tighten(SHARE_OF_MASTER * min(run.remaining, 2.0 * run.seconds))
    if not is_good:
        if (near := large(root.point)) is not None:
            search.offer(near)
        if has_tree:
            return
        until = run.seconds + SHARE_OF_LOCAL_SEARCH * run.remaining
        LocalSearch(search, large)(root.point, PATIENCE_WIDE, until)
    elif not large.settled:
        large.improve(run.seconds + SHARE_OF_REGIONS * run.remaining)
    master.rows = large.improve_by_programs(master.rows, run.seconds + SHARE_OF_REGIONS * run.remaining)
    seconds = min(run.remaining, run.seconds)
    if search.closed or run.over:
        return
    if is_good:
        master.tighten(seconds)
    else:
        master.bound(seconds)


def _solve_growing(
    growing: GrowingWindows, separation: Separation, search: ReleaseSearch, start: Floats | None
) -> None:
    """Offer releases of a large model whose variables only widen windows to the search, and raise its bound.

    Its relaxation is solved by cuts at points between its optimum and the incumbent.
    """
    # Its kernels load the compiler.
    from tacita.engine.construction.window_construction import WindowConstruction

    _offer_protected(separation, search, start)
    _resume(separation, search)
    construction = WindowConstruction(growing, separation, search)
    constructed = construction.construct()
    root = Root(search, separation, growing=growing)
    if constructed:
        root.tighten(None, patient=True, rounds=FIRST_ROUNDS)
        construction.improve(search.run.seconds + SHARE * search.run.remaining)
    root.tighten(None, patient=True)
    if root.point.size and not search.closed and not search.run.over:
        last = growing.round_outward(root.point)
        if not growing.has_fraction(last) and separation.protects(last):
            search.offer(last)


def _shows_numbers(presolved: PresolvedTable) -> bool:
    """Return whether a large model beyond networks has windows that variables move, not only widen."""
    if len(presolved) < LARGE or presolved.only_switches or GrowingWindows.of(presolved) is not None:
        return False
    return find_network(presolved) is None


def _solve_numbers(separation: Separation, search: ReleaseSearch, start: Floats) -> bool:
    """Offer releases near a start that satisfies the model's own rows, and raise the bound of the search;
    return whether there is one, or no time left to search for one.
    """
    # Its kernels load the compiler.
    from tacita.engine.search.numbers import NumberSearch

    numbers = NumberSearch(separation, search)
    _resume(separation, search)
    with suppress(StoppedError, SolverError):
        if numbers.protect(start):
            search.report_progress("first release", 1, 1)
            numbers.bound()
            numbers.improve()
    return search.best is not None or search.run.over


def _make_separation(presolved: PresolvedTable, search: ReleaseSearch, run: Run | None = None) -> Separation:
    cutter = Cutter(presolved, search.lower, search.upper)
    return Separation(presolved, search.model.requirements, cutter, run or search.run)


def _is_suppression(presolved: PresolvedTable) -> bool:
    """Return whether every presolved cell has its own binary switch and no other window."""
    switches = presolved.switch[presolved.switch >= 0]
    return presolved.only_switches and switches.size == len(presolved) == np.unique(switches).size


def _finish_linear(search: ReleaseSearch, separation: Separation, root: Root) -> Solution:
    """Return the solution of a model without integers: the root's last point, if it protects."""
    if not search.model.size:
        # Nothing to decide: what is published protects or it does not.
        if not separation.protects(root.point):
            raise InfeasibleError("no release of this kind protects the table")
        search.offer(root.point)
        search.raise_bound(search.loss)
    elif not search.run.over and root.point.size and separation.protects(root.point):
        search.offer(root.point)
    return search.make_solution()


def _find_unmeetable(presolved: PresolvedTable, search: ReleaseSearch) -> Cells:
    """Return the requirements on cells that no release lets move, of those that count in any case."""
    requirements = search.model.requirements
    outside = presolved.find_requirements_outside(requirements)
    switch = requirements.switch[outside]
    counts = switch < 0
    # A model may have no variables at all.
    counts[~counts] = search.lower[switch[~counts]] > 0
    return outside[counts]


def _fix_immovable(presolved: PresolvedTable, search: ReleaseSearch) -> None:
    """Fix at 0 the switches of conditional requirements on cells that no release lets move.

    Raises
    ------
    InfeasibleError
        A requirement on such a cell counts in any case.
    """
    model = presolved.model
    if (wrong := _find_unmeetable(presolved, search)).size:
        cell = int(model.requirements.cell[wrong[0]])
        raise InfeasibleError(
            "cannot be made uncertain, since its value follows from cells that cannot change",
            place=f"({model.problem.table.name(cell)})",
            remedy="Allow some of the cells around it to be hidden or changed.",
            cell=cell,
        )
    search.upper[model.requirements.switch[presolved.find_requirements_outside(model.requirements)]] = 0.0
