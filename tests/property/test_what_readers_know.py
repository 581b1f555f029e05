"""Windows are what a reader of the documentation can deduce: neither wider nor narrower.

For every number that may be published, the true values that lead to it by the options of the method are those
of its window, less what everyone knows beforehand.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import tacita as tc
from tacita.core.errors import InfeasibleError
from tacita.core.tables.equations import Equations
from tacita.core.tables.structure import Structure
from tacita.methods.rounding.rounding import Rounding
from tacita.methods.unbiased_rounding.unbiased_rounding import UnbiasedRounding

LARGEST = 40


def possible(problem: tc.Problem, method: Rounding, beyond: int) -> dict[int, set[int]]:
    """Per published number the true values that the method may publish so, sums aside."""
    points = method._make_task(problem, np.ones(len(problem.table), dtype=bool), beyond).points
    found = defaultdict(set)
    for cell, truth in enumerate(problem.table.units.tolist()):
        for steps in range(int((points.cell == cell).sum()) + 1):
            found[int(points.low[cell] + points.base[cell] * steps)].add(truth)
    return found


@pytest.mark.parametrize("base", [1, 2, 3, 5])
@pytest.mark.parametrize("multiples", ["stay", "move"])
@pytest.mark.parametrize("beyond", [0, 1, 2])
def test_every_value_of_a_window_is_possible_and_no_other(base: int, multiples: str, beyond: int) -> None:
    table = tc.Table.from_array(np.arange(LARGEST + 1))
    problem = tc.Problem(table, tc.Marked([]))
    method = Rounding(base=base, multiples=multiples, steps=beyond)
    task = method._make_task(problem, np.ones(len(table), dtype=bool), beyond)
    radius = int(task.radius.max())
    assert (task.radius == radius).all()
    for shown, truths in possible(problem, method, beyond).items():
        if shown + radius <= LARGEST:
            inner = {truth for truth in truths if truth <= LARGEST}
            assert inner == set(range(max(shown - radius, 0), shown + radius + 1)), shown


@pytest.mark.parametrize("multiples", ["stay", "move"])
def test_every_value_of_a_window_leads_to_its_number_in_some_table(multiples: str) -> None:
    """All tables of two by two small counts, with goals that push cells up and down."""
    random, found, windows = np.random.default_rng(1), defaultdict(set), {}
    for values in product(range(5), repeat=4):
        table = tc.Table.from_array(np.array(values).reshape(2, 2))
        pushed = replace(table, columns={"push": random.choice([-1.0, 1.0], len(table))})
        release = Rounding(base=3, objective="push", multiples=multiples).protect(
            tc.Problem(pushed, tc.Marked([]))
        )
        for shown, truth, low, high in zip(
            release.value.tolist(),
            table.units.tolist(),
            release.low.tolist(),
            release.high.tolist(),
            strict=True,
        ):
            found[shown].add(truth)
            windows[shown] = (low, high)
    for shown in (0, 3, 6, 9):
        low, high = windows[shown]
        assert found[shown] == set(range(max(low, 0), high + 1)), shown


@pytest.mark.parametrize("additive", [True, False])
def test_every_value_of_a_window_leads_to_its_number_in_some_draw(additive: bool) -> None:
    found, windows = defaultdict(set), {}
    for seed, values in enumerate(product(range(5), repeat=4)):
        table = tc.Table.from_array(np.array(values).reshape(2, 2))
        problem = tc.Problem(table, tc.Levels.none(len(table)))
        release = UnbiasedRounding(base=3, additive=additive).protect(problem, tc.Run(seed=seed + 1))
        for shown, truth, low, high in zip(
            release.value.tolist(),
            table.units.tolist(),
            release.low.tolist(),
            release.high.tolist(),
            strict=True,
        ):
            found[shown].add(truth)
            windows[shown] = (low, high)
    for shown in (0, 3, 6, 9):
        low, high = windows[shown]
        assert found[shown] == set(range(max(low, 0), high + 1)), shown


def test_totals_that_are_sums_of_rounded_cells_reach_as_far_as_their_parts() -> None:
    cube = tc.Table.from_array(np.arange(8).reshape(2, 2, 2))
    release = UnbiasedRounding(base=3, partial=True).protect(
        tc.Problem(cube, tc.Levels.none(len(cube))), tc.Run(seed=5)
    )
    assert set((release.high - release.value).tolist()) == {2, 4}


def test_subtotals_that_readers_know_count_in_the_protection() -> None:
    """12 and 13 become 10 and 15: whoever knows 13 takes the other cell for 6 to 14; 25 stays 25, and whoever
    knows that the sum is kept as well finds 21 - 13 = 8 at least.
    """
    table = tc.Table.from_array([12, 13, 30], names=["code"])
    at, beside = table.find("1"), table.find("2")
    neighbour = tc.Insider("neighbour", np.array([beside]), np.array([13]), np.array([13]))
    problem = tc.Problem(table, tc.Marked([at], lower=5, upper=2), attackers=["outsider", neighbour])
    assert tc.audit(problem, Rounding(base=5).protect(problem)).safe
    kept = Rounding(base=5, subtotals="code=1+2")
    with pytest.raises(InfeasibleError, match=r"\(code=1\): .*which subtotals are kept.*\(code=1\+2\)"):
        kept.protect(problem)
    with pytest.raises(InfeasibleError, match="which subtotals are kept"):
        tc.Mixture([("rest", kept)]).protect(problem)
    only_rounded = replace(kept, protected=False).protect(problem)
    assert any("which subtotals are kept" in remark for remark in only_rounded.outcome.remarks)


def test_models_of_the_literature_are_named_in_the_verdict() -> None:
    table = tc.Table.from_array([[20, 50, 10], [8, 19, 22], [17, 32, 12]], counts=False)
    problem = tc.Problem(table, tc.Marked([table.find("2", "3")], lower=3, upper=3))
    for method in (Rounding(base=20), UnbiasedRounding(base=50)):
        closed = replace(method, strict=False).protect(problem)
        assert "nothing of how numbers were rounded" in tc.audit(problem, closed).verdict
        assert "assuming" not in tc.audit(problem, method.protect(problem)).verdict
    only_rounded = Rounding(base=20, strict=False, protected=False).protect(problem)
    assert "nothing of how numbers were rounded" in tc.audit(problem, only_rounded).verdict


def test_a_part_that_is_made_of_the_sensitive_cells_gets_a_remark() -> None:
    table = tc.Table.from_array([[20, 50, 10], [8, 19, 22], [17, 32, 12]], counts=False)
    problem = tc.Problem(table, tc.Marked([table.find("2", "3")], lower=3, upper=3))
    told = tc.Mixture("sensitive: suppression, rest: rounding(base=10)").protect(problem).outcome.remarks
    assert any("which cells are sensitive" in remark for remark in told)
    assert not tc.Mixture("rest: rounding(base=10)").protect(problem).outcome.remarks


def unrelated(values: list[int]) -> tc.Table:
    """Counts that are in no sum."""
    structure = Structure(
        (),
        np.empty((len(values), 0), np.int32),
        Equations.from_rows([], len(values)),
        tuple(map(str, range(len(values)))),
    )
    return tc.Table(structure, np.array(values), integer=True)


@pytest.mark.parametrize("options", [{}, {"multiples": "move"}, {"steps": 2}, {"at_most": 30}, {"power": 2}])
@pytest.mark.parametrize("base", [2, 3, 5, 6])
def test_numbers_in_no_sum_show_the_nearest_multiple_and_say_so(base: int, options: dict) -> None:
    table = unrelated(list(range(LARGEST + 1)))
    release = Rounding(base=base, **options).protect(tc.Problem(table, tc.Marked([])))
    rounded = release.high > release.low
    far = np.abs(release.value - table.units)
    assert (2 * far <= base).all()
    assert set((release.high - release.value)[rounded].tolist()) <= {base // 2}
    assert ((release.low <= table.units) & (table.units <= release.high)).all()
    assert rounded.all() or "at_most" in options


def test_a_sensitive_number_in_no_sum_needs_twice_the_base() -> None:
    """In a sum 12 may be 10 or 15, somewhere in 6 to 19; alone it is 10, and readers know 8 to 12."""
    table = unrelated([12, 40])
    problem = tc.Problem(table, tc.Marked([0], lower=3, upper=3))
    with pytest.raises(InfeasibleError, match="a cell in no sum shows the nearest multiple"):
        Rounding(base=5).protect(problem)
    release = Rounding(base=13).protect(problem)
    assert (release.low[0], release.value[0], release.high[0]) == (7, 13, 19)
    assert tc.audit(problem, release).safe
    chosen = Rounding().protect(problem)
    assert tc.audit(problem, chosen).safe
    literature = Rounding(base=5, strict=False).protect(problem)
    assert literature.assumption
