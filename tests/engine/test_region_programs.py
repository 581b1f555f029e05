"""Regions solved as integer programs over cuts, and the integer master: patterns protect, and cuts and bounds
hold for the optimum.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
import pytest

import tacita as tc
from tacita import generate
from tacita.engine.attack.cuts import Cutter
from tacita.engine.attack.presolved import PresolvedTable
from tacita.engine.attack.separation import Separation
from tacita.engine.construction import construct
from tacita.engine.construction.large_tables import LargeTable
from tacita.engine.model import Model
from tacita.engine.search import integer_master
from tacita.engine.search.incumbent import ReleaseSearch
from tacita.engine.search.integer_master import IntegerMaster
from tacita.engine.search.local_search import LocalSearch
from tacita.engine.search.root import Root

SEEDS = range(4)
each_seed = pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 3))]
)
ROUNDS = 3
LIMIT = 1.0
"""Seconds for the regions of one table: what they have found by then must protect, too."""


@dataclass(frozen=True, eq=False)
class Begun:
    """A search with a constructed pattern and a few rounds of its relaxation."""

    problem: tc.Problem
    model: Model
    search: ReleaseSearch
    separation: Separation
    large: LargeTable
    root: Root

    @property
    def release(self) -> tc.Release:
        """The pattern of the incumbent, as a release."""
        assert self.search.best is not None
        return tc.Release.suppress(self.problem.table, self.search.best > 0.5)


def begin(problem: tc.Problem, run: tc.Run | None = None) -> Begun:
    """Construct a pattern and begin its relaxation."""
    model = tc.Suppression().model(problem).with_fixed_costs_in_constant()
    search, presolved = ReleaseSearch(model, (run or tc.Run()).begin()), PresolvedTable.of(model)
    cutter = Cutter(presolved, search.lower, search.upper)
    separation = Separation(presolved, model.requirements, cutter, search.run)
    large = LargeTable(separation, search)
    assert large.construct()
    root = Root(search, separation)
    root.tighten(None, patient=False, rounds=ROUNDS)
    return Begun(problem, model, search, separation, large, root)


def master(begun: Begun, completes: bool) -> IntegerMaster:
    """The integer master over the cuts of a begun search, whose points are completed or not."""
    patterns = begun.large if completes else None
    return IntegerMaster(begun.search, begun.separation, begun.root.rows, patterns)


@cache
def cube(seed: int) -> tc.Problem:
    return generate.problem((5, 4, 4), "logn", sensitive=6, kind="magnitudes", seed=seed)


@cache
def of_records(seed: int) -> tc.Problem:
    """A small table of microdata, with everyone in the records as attacker."""
    dimensions = {"region": (3, 1), "industry": (4, 1), "size": (2, 1)}
    made = generate.microdata(60, dimensions, respondents=60, seed=seed)
    table = tc.tabulate(made.records, made.hierarchies, value="value", respondent="respondent", decimals=0)
    return tc.Problem(table, "p-percent(15)")


@cache
def optimum(make: str, seed: int) -> tuple[float, np.ndarray]:
    """The least loss and a pattern that attains it, by the exact engine."""
    release = tc.Suppression(search="exact").protect(PROBLEMS[make](seed))
    assert release.outcome.status is tc.Status.OPTIMAL
    return release.outcome.loss, release.hidden


PROBLEMS = {"cube": cube, "records": of_records}
both = pytest.mark.parametrize("make", PROBLEMS)


@both
@each_seed
def test_patterns_protect_and_cuts_hold_for_the_optimum(make: str, seed: int) -> None:
    begun, (least, hidden) = begin(PROBLEMS[make](seed)), optimum(make, seed)
    before = begun.search.loss
    rows = begun.large.improve_by_programs(begun.root.rows, begun.search.run.seconds + LIMIT)
    assert least <= begun.search.loss <= before
    assert tc.audit(begun.problem, begun.release).safe
    # Bounds of variables are tightened for better releases than the incumbent only.
    if least < begun.search.loss:
        best = hidden.astype(float)
        assert min(row.compute_slack(best) for row in rows) >= -1e-6


@both
def test_regions_save_something_and_give_cuts(make: str) -> None:
    saved, found = 0.0, 0
    for seed in SEEDS:
        begun = begin(PROBLEMS[make](seed))
        before = begun.search.loss
        rows = begun.large.improve_by_programs(begun.root.rows, begun.search.run.seconds + LIMIT)
        saved, found = saved + before - begun.search.loss, found + len(rows) - len(begun.root.rows)
    assert saved > 0
    assert found > 0


def test_no_region_is_solved_without_time() -> None:
    begun = begin(cube(0))
    assert begun.large.improve_by_programs(begun.root.rows, 0.0) == begun.root.rows
    assert tc.audit(begun.problem, begun.release).safe


def test_a_pass_that_saves_too_little_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, left = begin(cube(0)), begin(cube(0))
    begun.large.improve(begun.search.run.seconds + 60.0)
    monkeypatch.setattr(construct, "PATIENCE", -1.0)
    left.large.improve(left.search.run.seconds + 60.0)
    assert begun.search.loss < left.search.loss
    assert tc.audit(left.problem, left.release).safe


def test_nothing_is_built_twice_near_a_point_or_searched_without_time() -> None:
    begun = begin(cube(0))
    assert begun.large(begun.root.point) is not None
    assert begun.large(begun.root.point) is None
    before = begun.search.loss
    LocalSearch(begun.search, begun.large)(begun.root.point, 10, until=0.0)
    assert begun.search.loss == before


@pytest.mark.parametrize("completes", [False, True])
@both
@each_seed
def test_the_integer_master_bounds_the_optimum(make: str, seed: int, completes: bool) -> None:
    begun, (least, _) = begin(PROBLEMS[make](seed)), optimum(make, seed)
    before, relaxed = begun.search.loss, begun.root.value
    master(begun, completes).tighten(20.0, programs=4)
    assert begun.search.bound <= least + 1e-6
    assert begun.search.bound >= relaxed - 1e-6
    assert least <= begun.search.loss <= before
    assert tc.audit(begun.problem, begun.release).safe


def test_completed_points_of_the_integer_master_are_better_patterns() -> None:
    saved = {False: 0.0, True: 0.0}
    for completes, seed in product(saved, SEEDS):
        begun = begin(cube(seed))
        before = begun.search.loss
        master(begun, completes).tighten(20.0, programs=1)
        saved[completes] += before - begun.search.loss
    assert saved[True] > saved[False] == 0.0


def test_programs_that_end_before_they_have_a_good_point_get_more_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun, at_once = begin(cube(0)), begin(cube(0))
    master(at_once, completes=True).tighten(20.0, programs=1)
    monkeypatch.setattr(integer_master, "LEAST", 1e-3)
    master(begun, completes=True).tighten(20.0)
    assert begun.search.bound >= at_once.search.bound - 1e-6 > begun.root.value
    assert tc.audit(begun.problem, begun.release).safe


def test_the_integer_master_raises_bounds_of_the_relaxation() -> None:
    raised = []
    for seed in SEEDS:
        begun = begin(cube(seed))
        before = begun.search.bound
        master(begun, completes=False).tighten(20.0, programs=4)
        raised.append(begun.search.bound - before)
    assert min(raised) >= 0
    assert max(raised) > 0
