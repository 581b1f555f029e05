"""Paths of the engine that only large inputs take, forced upon small ones, where the first model knows the
least loss.

Each path is a set of thresholds moved out of the way. That a path is then really taken is tested too: a
threshold that is renamed or passed by must not leave the others without meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from tacita import Levels, Outsider, Problem, Table, audit
from tacita.core.errors import InfeasibleError, StoppedError
from tacita.core.outcome import Status
from tacita.core.release import Release
from tacita.core.run import Run
from tacita.engine.attack import flows, separation
from tacita.engine.attack.cuts import Cutter
from tacita.engine.attack.presolved import PresolvedTable
from tacita.engine.attack.unlisted_insiders import UnlistedInsiders
from tacita.engine.construction.construct import Construction
from tacita.engine.construction.large_tables import LargeTable
from tacita.engine.model import Model
from tacita.engine.search import integer_master, root, sifting, tree
from tacita.engine.search import solve_model as solving
from tacita.engine.search.explicit_model import solve_explicit_model
from tacita.engine.search.incumbent import ReleaseSearch
from tacita.engine.search.integer_master import IntegerMaster
from tacita.engine.search.solve_model import solve_model
from tacita.generate import problem as generated
from tacita.methods.intervals.intervals import Intervals
from tacita.methods.suppression import suppression
from tacita.methods.suppression.suppression import Suppression
from tacita.solvers import row_pool as rows
from tacita.solvers import scip
from tacita.solvers.linear_program import IntegerProgram, Solution
from tacita.testing import TABLE_KINDS, hard_problem

NETWORKS = ("flat", "tree")
SOME = settings(max_examples=max(1, settings.default.max_examples // 4))


Moved = tuple[tuple[Any, str, Any], ...]


@contextmanager
def moved_by(moved: Moved) -> Iterator[pytest.MonkeyPatch]:
    """With some thresholds elsewhere."""
    with pytest.MonkeyPatch.context() as patch:
        for place, name, value in moved:
            patch.setattr(place, name, value)
        yield patch


@dataclass(frozen=True)
class Path:
    """Thresholds to move, kinds of table, and what is called when the path is taken."""

    moved: Moved
    kinds: tuple[str, ...]
    witness: tuple[Any, str]


FLOWS = ((flows, "LARGE", 0),)
SIFTING = ((sifting, "MANY", 0), (solving, "MANY", 0), (sifting, "CHEAPEST", 1))
LAZY = ((suppression, "FEW", -1),)
LANES = ((separation, "FEW", 0),)
EARLY_TREE = ((root, "PATIENCE", 0), (root, "PROGRESS", 1e9))
CONSTRUCTED = ((solving, "LARGE", 0), (solving, "find_network", lambda presolved: None))
BEGUN = (
    (solving, "MUCH", 0),
    (solving, "find_network", lambda presolved: None),
    (solving, "is_constructed", lambda presolved, rung: False),
)
ALONE = (*CONSTRUCTED, (solving, "TOO_LARGE", 0))
COMPLETED = (*EARLY_TREE, *CONSTRUCTED, (solving, "NARROW_GAP", 0.0))
BAD_POINTS = (*COMPLETED, (integer_master, "FAR", 0.0))
RELAXED = (*COMPLETED, (solving, "MOST_IN_TREE", 0))
BAD_RELAXED = (*BAD_POINTS, (solving, "MOST_IN_TREE", 0))
AROUND = (*EARLY_TREE, (tree, "NEAR", -(10**6)))

PATHS = {
    "flows": Path(FLOWS, NETWORKS, (flows.FlowAttacks, "find_blocked")),
    "patterns by flows": Path(FLOWS, NETWORKS, (flows.Flows, "build")),
    "sifting": Path(SIFTING, TABLE_KINDS, (sifting, "_bound_all_variables")),
    "sifting with flows": Path(SIFTING + FLOWS, NETWORKS, (sifting, "_bound_all_variables")),
    "insiders when they fail": Path(LAZY, TABLE_KINDS, (UnlistedInsiders, "find_failing")),
    "insiders when they fail, with flows": Path(LAZY + FLOWS, NETWORKS, (UnlistedInsiders, "find_failing")),
    "insiders when they fail, sifted": Path(LAZY + SIFTING, TABLE_KINDS, (UnlistedInsiders, "find_failing")),
    "lanes": Path(LANES + LAZY, TABLE_KINDS, (separation.Separation, "_find_blocked")),
    "construction": Path(CONSTRUCTED, TABLE_KINDS, (Construction, "build")),
    "construction, insiders when they fail": Path(CONSTRUCTED + LAZY, TABLE_KINDS, (LargeTable, "_complete")),
    "construction to begin with": Path(BEGUN, TABLE_KINDS, (solving, "_offer_constructed")),
    "integer master": Path(COMPLETED, TABLE_KINDS, (IntegerMaster, "_complete")),
    "patterns near the relaxation's points": Path(BAD_POINTS, TABLE_KINDS, (LargeTable, "__call__")),
    "early tree": Path(EARLY_TREE, TABLE_KINDS, (scip, "branch_and_cut")),
    "small tree first": Path(AROUND, TABLE_KINDS, (scip, "branch_and_cut")),
}
paths = pytest.mark.parametrize("path", [pytest.param(path, id=name) for name, path in PATHS.items()])
SEEDS = st.integers(0, 2**32 - 1)


def least_loss(solver: Callable[[Model], Solution], model: Model) -> float:
    """The proven least loss, infinite where nothing protects."""
    try:
        found = solver(model)
    except InfeasibleError:
        return np.inf
    assert found.status is Status.OPTIMAL
    assert found.bound == pytest.approx(found.loss)
    return found.loss


def assert_safe(problem: Problem, x: np.ndarray) -> None:
    assert audit(problem, Release.suppress(problem.table, x[: len(problem.table)] > 0.5)).safe


def problem_of(seed: int, kinds: tuple[str, ...]) -> Problem:
    random = Random(seed)
    return hard_problem(random, random.choice(kinds))


@paths
@SOME
# An insider rules out what the outsider's witnesses show once they share their cells.
@example(seed=313)
# Sifting fixes cells that its optimal incumbent hides.
@example(seed=4509)
# HiGHS's presolve loses the optimum of the explicit model.
@example(seed=19176)
@given(seed=SEEDS)
def test_every_path_leads_to_the_least_loss(path: Path, seed: int) -> None:
    problem = problem_of(seed, path.kinds)
    expected = least_loss(solve_explicit_model, Suppression().model(problem))
    with moved_by(path.moved):
        model = Suppression().model(problem)
        assert least_loss(solve_model, model) == pytest.approx(expected, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("lazy", [(), LAZY], ids=["all listed", "insiders when they fail"])
@pytest.mark.parametrize("large", [ALONE, RELAXED, BAD_RELAXED], ids=["alone", "relaxed", "bad points"])
@SOME
@given(seed=SEEDS)
def test_a_construction_without_tree_protects_and_bounds_the_least_loss(
    large: Moved, lazy: Moved, seed: int
) -> None:
    problem = problem_of(seed, TABLE_KINDS)
    expected = least_loss(solve_explicit_model, Suppression().model(problem))
    with moved_by(large + lazy):
        try:
            found = solve_model(Suppression().model(problem))
        except InfeasibleError:
            assert expected == np.inf
            return
    assert found.bound <= expected * (1 + 1e-9) + 1e-6
    assert found.loss >= expected * (1 - 1e-9) - 1e-6
    assert_safe(problem, found.x)


@pytest.mark.parametrize(
    "large", [CONSTRUCTED, BEGUN, ALONE, RELAXED], ids=["with tree", "begun", "alone", "relaxed"]
)
@SOME
@given(seed=SEEDS)
def test_a_run_that_is_stopped_anywhere_keeps_a_safe_pattern(large: Moved, seed: int) -> None:
    problem, offered = problem_of(seed, TABLE_KINDS), list[np.ndarray]()
    offer = ReleaseSearch.offer

    def note(search: ReleaseSearch, x: np.ndarray) -> bool:
        offered.append(x[: len(problem.table)].copy())
        return offer(search, x)

    with moved_by((*large, *LAZY, (ReleaseSearch, "offer", note))), suppress(InfeasibleError):
        solve_model(Suppression().model(problem))
    for x in offered:
        assert_safe(problem, x)


@SOME
# The start protects by moves that the construction does not find.
@example(seed=1126)
@given(seed=SEEDS)
def test_construction_goes_on_from_a_start(seed: int) -> None:
    problem = problem_of(seed, TABLE_KINDS)
    try:
        best = Suppression().protect(problem)
    except InfeasibleError:
        return
    random = Random(seed)
    some = np.array([random.random() < 0.5 for _ in range(len(problem.table))])
    with moved_by(ALONE):
        again = Suppression().protect(problem, start=best)
        completed = Suppression().protect(problem, start=some)
    assert again.outcome is not None
    assert best.outcome is not None
    assert again.outcome.loss == pytest.approx(best.outcome.loss)
    assert audit(problem, again).safe
    assert audit(problem, completed).safe


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sifting", "flows", "construction", "small tree first"])
@settings(max_examples=max(1, settings.default.max_examples // 10))
@given(seed=SEEDS)
def test_every_path_keeps_conditional_levels(name: str, seed: int) -> None:
    path = PATHS[name]
    problem = problem_of(seed, ("flat",))
    try:
        model = Suppression(conditional=40.0).model(problem)
    except InfeasibleError:
        return
    expected = least_loss(solve_explicit_model, model)
    with moved_by(path.moved):
        assert least_loss(solve_model, model) == pytest.approx(expected, rel=1e-6, abs=1e-6)


@pytest.mark.slow
@paths
def test_the_path_is_taken(path: Path) -> None:
    calls = 0
    place, name = path.witness
    real = getattr(place, name)

    def counted(*arguments: Any, **more: Any) -> Any:
        nonlocal calls
        calls += 1
        return real(*arguments, **more)

    with moved_by(path.moved) as patch:
        patch.setattr(place, name, counted)
        for seed in range(12):
            least_loss(solve_model, Suppression().model(problem_of(seed, path.kinds)))
    assert calls > 0


@pytest.mark.slow
def test_a_small_tree_runs_before_the_one_that_proves() -> None:
    limits: list[int | None] = []
    real = scip.branch_and_cut

    def noted(program: Any, known: Any, hidden: Any, cutoff: Any, run: Any, nodes: int | None = None) -> Any:
        limits.append(nodes)
        return real(program, known, hidden, cutoff, run, nodes)

    with moved_by(PATHS["small tree first"].moved) as patch:
        patch.setattr(scip, "branch_and_cut", noted)
        for seed in range(20):
            least_loss(solve_model, Suppression().model(problem_of(seed, ("cube", "two trees"))))
    assert tree.NODES_AROUND in limits
    assert None in limits


@SOME
@given(seed=SEEDS, flows=st.booleans())
def test_sifting_bounds_from_below_and_fixes_only_what_nothing_better_hides(seed: int, flows: bool) -> None:
    problem = problem_of(seed, NETWORKS if flows else TABLE_KINDS)
    with moved_by(PATHS["sifting with flows" if flows else "sifting"].moved):
        model = Suppression().model(problem)
        presolved = PresolvedTable.of(model)
        if presolved.find_requirements_outside(model.requirements).size:
            return
        search = ReleaseSearch(model, Run())
        cutter = Cutter(presolved, search.lower, search.upper)
        sifting.sift(separation.Separation(presolved, model.requirements, cutter, search.run), search)
    if search.best is None:
        return
    least = least_loss(solve_explicit_model, model)
    assert search.bound <= least * (1 + 1e-6) + 1e-6
    assert search.loss >= least * (1 - 1e-6) - 1e-6
    for cell in np.flatnonzero(model.upper > search.upper)[:3]:
        lower = model.lower.copy()
        lower[cell] = 1.0
        hiding_it = least_loss(solve_explicit_model, replace(model, lower=lower))
        assert hiding_it >= search.loss * (1 - 1e-6) - 1e-6


def test_sifting_leaves_cells_inactive_and_activates_what_is_needed() -> None:
    inactive = []
    real = sifting._solve_root

    def noted(presolved: PresolvedTable, *more: Any) -> Any:
        inactive.append(int((presolved.model.upper == 0).sum()))
        return real(presolved, *more)

    problem = generated((8, 8), "logn", sensitive=6)
    model = Suppression().model(problem)
    expected = solve_model(model)
    with moved_by(PATHS["sifting"].moved) as patch:
        patch.setattr(sifting, "_solve_root", noted)
        found = solve_model(model)
    assert inactive
    assert inactive[0] > 8
    assert found.loss == pytest.approx(expected.loss)
    assert_safe(problem, found.x)


@pytest.mark.slow
@SOME
@given(seed=SEEDS, flows=st.booleans())
def test_many_insiders_bind_the_same_whether_listed_or_not(seed: int, flows: bool) -> None:
    """Four times one to three: each of them has doubles, who change nothing."""
    problem = problem_of(seed, ("flat", "cube", "tree"))
    crowd = Problem(
        problem.table,
        problem.levels,
        [problem.outsider, *(replace(i, name=f"{i.name} {k}") for k in range(4) for i in problem.insiders)],
        problem.cost,
        must_publish=np.flatnonzero(problem.must_publish),
        must_hide=np.flatnonzero(problem.must_hide),
    )
    expected = least_loss(solve_explicit_model, Suppression().model(problem))
    with moved_by(LAZY + FLOWS if flows else LAZY):
        assert least_loss(solve_model, Suppression().model(crowd)) == pytest.approx(expected, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("kind", TABLE_KINDS)
def test_threads_find_what_one_finds(kind: str) -> None:
    with moved_by(PATHS["lanes"].moved), ThreadPoolExecutor(3) as threads:
        for seed in range(4):
            model = Suppression().model(hard_problem(Random(seed), kind))
            try:
                alone = solve_model(model, Run())
            except InfeasibleError:
                continue
            assert solve_model(model, Run(executor=threads)).x.tolist() == alone.x.tolist()


def test_rows_may_be_dropped_as_soon_as_they_are_slack() -> None:
    dropped = 0
    real = rows.GrowingRows.drop

    def counted(self: rows.GrowingRows, gone: np.ndarray) -> None:
        nonlocal dropped
        dropped += int(gone.sum())
        real(self, gone)

    problem = generated((4, 4, 4), "logn", sensitive=8)
    model = Suppression().model(problem)
    expected = solve_model(model)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(root, "CLEANING", 0)
        patch.setattr(root, "SLACK", 1e-6)
        patch.setattr(rows.GrowingRows, "drop", counted)
        found = solve_model(model)
    assert dropped > 0
    assert found.status is Status.OPTIMAL
    assert found.loss == pytest.approx(expected.loss)
    assert_safe(problem, found.x)


@pytest.mark.parametrize("moved", [(), FLOWS], ids=["programs", "flows"])
def test_time_over_is_no_verdict(moved: Moved) -> None:
    """Judged after a cancel, no pattern passes, whether or not it protects."""
    model, run = Suppression().model(generated((6, 6), "logn", sensitive=4)), Run()
    with moved_by(moved):
        presolved = PresolvedTable.of(model)
        judge = separation.Separation(
            presolved, model.requirements, Cutter(presolved, model.lower, model.upper), run
        )
    run.cancel()
    with pytest.raises(StoppedError):
        judge.protects(model.upper)


def test_a_witness_counts_only_while_its_own_cell_may_move_so_far() -> None:
    """Intervals of 4 let a cell move by its level of 4; once its own is cut to 1, that move fits no more."""
    table = Table.from_array(np.full((2, 2), 20))
    cell = int(np.flatnonzero(~table.structure.is_total)[0])
    problem = Problem(
        table, Levels.of(np.arange(len(table)) == cell, upper=4, lower=0), attackers=Outsider.of(table)
    )
    stated = Intervals(ends="exact").model(problem)
    nothing = np.zeros(stated.size)
    model = replace(stated, lower=nothing, integer=nothing > 0)
    presolved = PresolvedTable.of(model)
    judge = separation.Separation(
        presolved, model.requirements, Cutter(presolved, model.lower, model.upper), Run()
    )
    narrow = model.upper.copy()
    narrow[model.above.matrix[[cell]].indices] = 1.0
    assert judge.find_cuts(model.upper) == []
    assert len(judge.find_cuts(narrow)) == 1


class Cancelling:
    """Hidden rows that no point keeps; the run is cancelled while the last of some candidates is judged."""

    in_doubt, closed = False, False

    def __init__(self, run: Run, last: int) -> None:
        self.run, self.left = run, last

    def find_violated(self, x: np.ndarray, depth: int) -> tuple[()]:
        return ()

    def find_refuting(self, x: np.ndarray) -> tuple[()]:
        self.left -= 1
        if not self.left:
            self.run.cancel()
        return ()

    def accepts(self, x: np.ndarray) -> bool:
        self.find_refuting(x)
        return False

    def propose(self, x: np.ndarray) -> None:
        return None

    def report_progress(self, best: float, bound: float, nodes: int) -> None:
        return


@pytest.mark.parametrize("last", range(1, 10))
def test_a_tree_whose_last_question_was_cut_short_proves_nothing(last: int) -> None:
    run, each = Run(), np.ones(2)
    nothing = csr_array((0, 2)), np.zeros(0), np.zeros(0)
    program = IntegerProgram(each, np.zeros(2), each, *nothing, np.ones(2, dtype=bool))
    ended = scip.branch_and_cut(program, [], Cancelling(run, last), np.inf, run)
    assert run.over
    assert not ended.complete
    assert ended.bound <= 0.0


def extreme_values(kind: str, size: int, rng: np.random.Generator) -> np.ndarray:
    if kind == "huge":
        return rng.integers(0, 10**11, size)
    if kind == "huge and small":
        return np.where(rng.random(size) < 0.5, rng.integers(1, 10, size), rng.integers(10**10, 10**11, size))
    if kind == "negative":
        return rng.integers(-20, 20, size)
    return np.where(rng.random(size) < 0.5, 0, rng.integers(1, 20, size))


def extreme(kind: str, seed: int) -> Problem:
    """Levels of 1 to 3 on two cells, zeros where there are some; about half of the cells cost nothing."""
    rng = np.random.default_rng(seed)
    shape = [(3,), (3, 3), (4, 4), (2, 2, 2)][seed % 4]
    table = Table.from_array(extreme_values(kind, int(np.prod(shape)), rng).reshape(shape))
    unbounded = kind == "negative" or seed % 3 == 0
    outsider = Outsider.of(table, lower=-np.inf) if unbounded else Outsider.of(table)
    inner = np.flatnonzero(~table.structure.is_total)
    zeros = inner[table.units[inner] == 0]
    sensitive = np.zeros(len(table), dtype=bool)
    sensitive[rng.choice(zeros if kind == "zeros" and zeros.size else inner, 1 + seed % 2)] = True
    level = int(rng.integers(1, 4))
    below = np.where(unbounded, level, np.clip(table.units, 0, level))
    costs = ["value", "unit", np.where(rng.random(len(table)) < 0.5, 0.0, np.abs(table.values))]
    return Problem(
        table, Levels.of(sensitive, lower=below, upper=level), attackers=outsider, cost=costs[seed % 3]
    )


@pytest.mark.parametrize("moved", [(), FLOWS, SIFTING], ids=["programs", "flows", "sifting"])
@pytest.mark.parametrize("kind", ["huge", "huge and small", "negative", "zeros"])
@pytest.mark.parametrize("seed", range(6))
def test_extreme_values(kind: str, seed: int, moved: Moved) -> None:
    """Huge values with small levels, negative cells, sensitive zeros, cells that cost nothing."""
    problem = extreme(kind, seed)
    expected = least_loss(solve_explicit_model, Suppression().model(problem))
    with moved_by(moved):
        try:
            release = Suppression().protect(problem)
        except InfeasibleError:
            assert expected == np.inf
            return
    assert release.outcome is not None
    assert release.outcome.loss == pytest.approx(expected, rel=1e-6, abs=1e-6)
    assert audit(problem, release).safe
