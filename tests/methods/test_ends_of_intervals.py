"""Ends of intervals do not tell the value, neither of sensitive cells nor of those that protect them."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

import tacita as tc
from tacita.methods.intervals.drawn_ends import choose_reaches
from tacita.methods.intervals.intervals import Intervals
from tacita.methods.options.distances import Draws
from tacita.testing import check_method

FIGURE_1 = [[20, 50, 10], [8, 19, 22], [17, 32, 12]]


def problem_of(value: int = 22, lower: int = 10, upper: int = 12, sliding: int = 0) -> tc.Problem:
    values = np.array(FIGURE_1)
    values[1, 2] = value
    table = tc.Table.from_array(values, counts=False)
    cell = table.find("2", "3")
    return tc.Problem(table, tc.Marked([cell], lower=lower, upper=upper, sliding=sliding), cost="unit")


@pytest.mark.parametrize("at_or_below", [False, True])
def test_the_interval_of_a_count_below_the_threshold_does_not_name_it(at_or_below: bool) -> None:
    """With exact ends [1, 5] means 3; by default every such count has the same interval."""
    found, exact = set(), set()
    for count in range(1, 5):
        table = tc.Table.from_array([[count, 20, 30], [40, 50, 60], [25, 35, 45]])
        cell = table.find("1", "1")
        problem = tc.Problem(table, tc.Threshold(5, at_or_below=at_or_below))
        for ends, windows in (("drawn", found), ("exact", exact)):
            release = check_method(Intervals(ends=ends), problem)
            windows.add((int(release.low[cell]), int(release.high[cell])))
    assert found == {(0, 6 if at_or_below else 5)}
    assert len(exact) == 3


def test_exact_ends_are_named_in_outcome_and_verdict() -> None:
    problem = problem_of()
    release = Intervals(ends="exact").protect(problem)
    assert any("whoever knows the rule can tell the value" in remark for remark in release.outcome.remarks)
    assert "nothing of how their ends were chosen" in tc.audit(problem, release).verdict
    drawn = Intervals().protect(problem)
    assert "assuming" not in tc.audit(problem, drawn).verdict
    assert any("the bound is on losses" in remark for remark in drawn.outcome.remarks)
    assert drawn.outcome.loss >= drawn.outcome.bound
    assert drawn.outcome.loss > release.outcome.loss
    assert drawn.made_by["seed"] > 2**32
    assert "seed" not in release.made_by


def test_every_place_of_the_interval_that_holds_the_levels_is_as_likely() -> None:
    """Levels 2 and 3: ten wide, and the value is one of six that are at least so far from its ends."""
    problem = problem_of(lower=2, upper=3)
    cell, places = problem.sensitive[0], defaultdict(int)
    for seed in range(3000):
        above, below = choose_reaches(problem, Draws(seed))
        assert above[cell] + below[cell] == 10
        places[int(below[cell]) - 2] += 1
    assert sorted(places) == [0, 1, 2, 3, 4, 5]
    assert max(abs(n - 500) for n in places.values()) < 5 * np.sqrt(3000 * 5 / 36)


def test_a_sliding_level_alone_puts_the_value_anywhere() -> None:
    problem = problem_of(lower=0, upper=0, sliding=4)
    cell = problem.sensitive[0]
    found = {tuple(int(side[cell]) for side in choose_reaches(problem, Draws(seed))) for seed in range(200)}
    assert found == {(4 - below, below) for below in range(5)}


def test_ends_stay_within_what_everyone_knows() -> None:
    problem = problem_of(value=3, lower=3, upper=9)
    cell = problem.sensitive[0]
    for seed in range(50):
        above, below = choose_reaches(problem, Draws(seed))
        assert 9 <= above[cell] <= 21
        assert below[cell] == 3


def test_the_value_of_a_cell_that_protects_is_no_end_of_its_interval() -> None:
    """An upper level alone opens exact intervals from the value on: subtraction then tells the rest."""
    problem = problem_of(lower=0)
    truth, told = problem.table.units, {"exact": 0, "drawn": 0}
    for ends in told:
        for seed in range(20):
            release = check_method(Intervals(ends=ends), problem, tc.Run(seed=seed))
            others = np.flatnonzero(release.changed & ~problem.levels.sensitive)
            told[ends] += bool(
                ((release.low[others] == truth[others]) | (release.high[others] == truth[others])).all()
            )
    assert told["exact"] == 20
    assert told["drawn"] <= 3


def test_ends_that_leave_no_release_are_drawn_nearer_and_given_up_at_last() -> None:
    """Two cells with room of one unit each: nothing beyond the levels is possible."""
    table = tc.Table.from_array([5, 5], counts=False)
    room = np.array([0, 1, 1])
    outsider = tc.Outsider(table.units - room, table.units + room)
    problem = tc.Problem(table, tc.Marked([table.find("1")], lower=1, upper=1), attackers=[outsider])
    release = check_method(Intervals(), problem)
    assert (release.high - release.low).tolist() == [0, 2, 2]


def test_wrong_ends_are_refused() -> None:
    with pytest.raises(tc.TacitaError, match="option 'ends' must be drawn or exact, not 'near'"):
        Intervals(ends="near")  # type: ignore[arg-type]
