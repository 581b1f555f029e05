"""Intervals: what is published is attained, as narrow as asked, and within what everyone knows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from budget import examples
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita.core.errors import InfeasibleError, InputError
from tacita.core.outcome import Status
from tacita.core.release import Mark
from tacita.engine.search.explicit_model import solve_explicit_model
from tacita.generate import microdata
from tacita.methods.intervals.intervals import Intervals
from tacita.methods.intervals.wide_start import find_wide_start
from tacita.methods.modelling.model_builder import build_alone
from tacita.methods.protection.attacker_moves import find_unmet
from tacita.testing import brute_force_intervals, check_method, problems, tables

FIGURE_1 = [[20, 50, 10], [8, 19, 22], [17, 32, 12]]
# Room below and above the values of a 2x3x3 table in which cell 14 rises by 1 only if others move by halves.
HALVES = (
    "101110101000111100111001000100100101001011000001",
    "101110101100111100101001001110100101111111100011",
)
NETWORKS, CUBES = ((3,), (2, 2), (2, 3), (3, 3)), ((2, 2, 2),)

OPTIONS = st.sampled_from(
    [
        {},
        {"at_most": 5},
        {"minimum_width": 2},
        {"margins": False},
        {"weight_up": "unit", "weight_down": "inverse", "weight_interval": "unit"},
        {"ends": "exact"},
    ]
)


def problem_of(values=FIGURE_1, lower=10, upper=12, **more) -> tc.Problem:
    table = tc.Table.from_array(values, counts=False)
    return tc.Problem(table, tc.Marked([table.find("2", "3")], lower=lower, upper=upper), **more)


@pytest.mark.parametrize("shapes", [NETWORKS, CUBES], ids=["networks", "cubes"])
@given(data=st.data())
@examples(20)
def test_every_end_is_attained(shapes, data: st.DataObject) -> None:
    problem, options = data.draw(problems(tables(shapes))), data.draw(OPTIONS)
    try:
        release = check_method(Intervals(**options), problem)
    except InfeasibleError:
        return
    least, most = brute_force_intervals(problem, release)
    assert np.array_equal(least, release.low)
    assert np.array_equal(most, release.high)
    opened = release.changed
    assert (release.marks[opened] == Mark.INTERVAL).all()
    assert (release.low >= problem.outsider.lower)[opened].all()
    assert (release.high <= problem.outsider.upper)[opened].all()
    assert opened.sum() <= options.get("at_most", opened.size)
    assert ((most - least)[opened] >= options.get("minimum_width", 0)).all()
    if "margins" in options:
        assert not (opened & problem.table.structure.is_total & ~problem.levels.sensitive).any()


@given(data=st.data())
@examples(20)
def test_the_loss_is_that_of_the_release(data: st.DataObject) -> None:
    problem = data.draw(problems(tables(NETWORKS)))
    try:
        release = Intervals(weight_up="cost", weight_down="unit").protect(problem)
    except InfeasibleError:
        return
    above, below = release.high - problem.table.units, problem.table.units - release.low
    assert release.outcome.loss == pytest.approx(float(problem.cost @ above + below.sum()))
    assert release.outcome.bound <= release.outcome.loss


def test_must_publish_and_must_hide() -> None:
    problem = problem_of(must_publish=[0, 1, 2], must_hide=[15])
    release = check_method(Intervals(), problem)
    assert not release.changed[[0, 1, 2]].any()
    assert release.low[15] < release.high[15]
    deduced = tc.deduce(problem, release).of(15)
    assert deduced == (release.low[15], release.high[15])


def test_the_office_may_ask_for_more_than_anyone_needs() -> None:
    narrow = check_method(Intervals(ends="exact"), problem_of())
    wide = check_method(Intervals(minimum_width=30, ends="exact"), problem_of())
    assert (wide.high - wide.low)[wide.changed].min() >= 30
    assert wide.outcome.loss > narrow.outcome.loss


def test_a_first_release_with_a_minimum_width_is_found_before_the_search() -> None:
    values = np.random.default_rng(0).integers(0, 500, size=(8, 8))
    table = tc.Table.from_array(values, counts=False)
    chosen = [table.find("1", "1"), table.find("4", "5"), table.find("7", "2")]
    problem = tc.Problem(table, tc.Marked(chosen), cost="value")
    wide, plain = (build_alone(Intervals(minimum_width=width, ends="exact"), problem) for width in (60, 0))
    x = find_wide_start(wide, plain, tc.Run())
    assert x is not None
    rows = wide.model.rows @ x
    assert (rows >= wide.model.row_lower - 1e-6).all()
    assert (rows <= wide.model.row_upper + 1e-6).all()
    assert not len(find_unmet(wide.model, x, wide.scale, tc.Run()))


def test_a_cell_that_costs_nothing_is_not_opened_wider_than_it_can_be() -> None:
    cost = np.zeros(16)
    cost[5:8] = 1.0
    release = check_method(Intervals(), problem_of(cost=cost))
    deduced = tc.deduce(problem_of(cost=cost), release)
    assert np.array_equal(deduced.low, release.low[deduced.cells])
    assert np.array_equal(deduced.high, release.high[deduced.cells])


def test_up_and_down_have_weights_of_their_own() -> None:
    table = tc.Table.from_array([5, 5], counts=False)
    priced = replace(table, columns={"dear": np.full(3, 10.0)})
    problem = tc.Problem(priced, tc.Marked([table.find("1")], lower=0, upper=0, sliding=4), cost="unit")
    for options, window in (({"weight_down": "dear"}, (5, 9)), ({"weight_up": "dear"}, (1, 5))):
        release = check_method(Intervals(**options, ends="exact"), problem)
        cell = table.find("1")
        assert (release.low[cell], release.high[cell]) == window


@pytest.mark.parametrize("scale", [10**3, 10**8, 10**11])
@pytest.mark.parametrize("cost", ["value", "unit"])
def test_large_values_are_as_easy_as_small_ones(scale: int, cost: str) -> None:
    method = Intervals(ends="exact")
    small = check_method(method, problem_of(cost=cost))
    values = np.array(FIGURE_1) * scale
    release = check_method(method, problem_of(values, 10 * scale, 12 * scale, cost=cost))
    factor = scale**2 if cost == "value" else scale
    assert release.outcome.loss == pytest.approx(small.outcome.loss * factor, rel=1e-6)
    assert release.outcome.status


def test_ends_of_decimal_tables_are_in_the_last_place() -> None:
    table = tc.Table.from_array(np.array(FIGURE_1) / 10)
    problem = tc.Problem(table, tc.Marked([table.find("2", "3")], lower=0.5, upper=0.5), cost="unit")
    assert check_method(Intervals(ends="exact"), problem).outcome.loss == pytest.approx(4.0)


def test_counts_beyond_networks_are_protected_by_whole_numbers() -> None:
    """Cheap cells move the target by a whole unit only if others move by halves; the audit would refuse."""
    below, above = (np.array([int(c) for c in room]) for room in HALVES)
    table = tc.Table.from_array(np.full((2, 3, 3), 5))
    target = np.arange(len(table)) == 14
    for dear, safe in ((0, False), (1, True)):
        room_down, room_up = (np.where(above + below > 0, room, dear) for room in (below, above))
        problem = tc.Problem(
            replace(table, columns={"price": np.where(above + below > 0, 1.0, 100.0)}),
            tc.Levels.of(target, upper=target.astype(np.int64), lower=np.zeros_like(table.units)),
            attackers=[tc.Outsider(table.units - room_down, table.units + room_up)],
        )
        priced = Intervals(weight_up="price", weight_down="price", ends="exact")
        assert solve_explicit_model(priced.model(problem)).loss < 100
        if safe:
            assert check_method(priced, problem).outcome.loss > 100
        else:
            with pytest.raises(InfeasibleError):
                priced.protect(problem)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weight_up": "prices"}, r"option 'weight_up': the table has no column 'prices'"),
        ({"minimum_width": 0.5}, r"option 'minimum_width' must give numbers of 0 decimals"),
        ({"minimum_width": -1}, r"option 'minimum_width' is negative"),
    ],
)
def test_mistakes_are_named(options: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Intervals(**options).protect(problem_of())


def test_insiders_who_see_through_the_optimum_of_all_others_are_asked() -> None:
    """Without whole variables there is no tree to ask them in, so the root must."""
    made = microdata(1200, {"industry": (12, 2), "region": (5, 2)}, respondents=800, decimals=0, seed=1)
    table = tc.tabulate(made.records, dict(made.hierarchies), "value", respondent="respondent")
    problem = tc.Problem(table, tc.PPercent(10) | tc.MinimumFrequency(3), attackers="respondents")
    outsider = tc.Problem(table, problem.levels, attackers="outsider")
    method = tc.Intervals(ends="exact")
    release = check_method(method, problem)
    assert release.outcome.status is Status.OPTIMAL
    assert release.outcome.loss > method.protect(outsider).outcome.loss


def test_a_minimum_width_where_no_cell_can_be_an_interval() -> None:
    """The only part of a total that is there is known from it: nothing is left to search."""
    regions = tc.Hierarchy.flat(["1", "2"])
    table = tc.tabulate({"region": ["2", "2", "2"]}, {"region": regions})
    assert len(table) == 2
    release = Intervals(weight_interval="cost", minimum_width=3, at_most=6, margins=False).protect(
        tc.Problem(table, tc.Threshold(3))
    )
    assert not release.changed.any()
