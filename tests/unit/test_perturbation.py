"""Perturbation: numbers that add up, inside their bounds, with sensitive cells where they were sent."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacita as tc
from tacita.errors import InfeasibleError, InputError
from tacita.methods.perturbation import Perturbation
from tacita.release import Mark
from tacita.testing import check_method, problems, tables

FIGURE_1 = [[20, 50, 10], [8, 19, 22], [17, 32, 12]]
NETWORKS, CUBES = ((3,), (2, 2), (2, 3), (3, 3)), ((2, 2, 2), (2, 2, 3))

OPTIONS = st.sampled_from(
    [
        {},
        {"sensitive": "free", "radius": 2},
        {"radius": 4, "at_most": 6},
        {"radius": 6, "sensitive": "up"},
        {"radius": 6, "sensitive": "down", "weight_changed": "unit"},
    ]
)


def problem_of(values=FIGURE_1, lower=10, upper=12, cost="unit", columns=None, **more) -> tc.Problem:
    table = tc.Table.from_array(values, counts=False)
    table = replace(table, columns=columns or {})
    return tc.Problem(table, tc.Marked([table.find("2", "3")], lower=lower, upper=upper), cost=cost, **more)


def target(problem: tc.Problem) -> int:
    return int(problem.sensitive[0])


@pytest.mark.parametrize("shapes", [NETWORKS, CUBES], ids=["networks", "cubes"])
@given(data=st.data())
@settings(max_examples=20)
def test_releases_add_up_and_pass_the_audit(shapes, data: st.DataObject) -> None:
    problem, options = data.draw(problems(tables(shapes))), data.draw(OPTIONS)
    method = Perturbation(**options)
    try:
        release = check_method(method, problem)
    except InfeasibleError:
        return
    table, moved = problem.table, release.value - problem.table.units
    assert release.shown.all()
    assert not table.equations.residuals(release.value).any()
    assert (problem.outsider.lower <= release.value).all()
    assert (release.value <= problem.outsider.upper).all()
    assert (moved != 0).sum() <= options.get("at_most", moved.size)
    known = problem.outsider.lower == problem.outsider.upper
    radius = (release.high - release.low) // 2
    assert len(set(radius[~known])) == 1
    assert (np.abs(moved) <= radius).all()
    assert (release.marks[~known] == Mark.ADJUSTED).all()
    up, down = (problem.cost @ np.maximum(side, 0) for side in (moved, -moved))
    fixed = (moved != 0).sum() if "weight_changed" in options else 0
    assert release.outcome.loss == pytest.approx(up + down + fixed)


def test_sensitive_cells_go_past_a_level_by_default() -> None:
    problem = problem_of()
    moved = check_method(Perturbation(), problem).value - problem.table.units
    assert moved[target(problem)] >= 12 or moved[target(problem)] <= -10


@pytest.mark.parametrize(("where", "moved"), [("up", 15), ("down", -15), ("free", 0)])
def test_sensitive_cells_go_where_they_are_sent(where: str, moved: int) -> None:
    problem = problem_of()
    release = check_method(Perturbation(radius=30, sensitive=where), problem)
    assert (release.value - problem.table.units)[target(problem)] == moved


def test_bounds_and_targets_come_from_columns() -> None:
    units = problem_of().table.units
    columns = {"floor": units - 12, "ceiling": units + 14, "wanted": units + 5}
    problem = problem_of(columns=columns)
    release = check_method(Perturbation(lowest="floor", highest="ceiling", sensitive="wanted"), problem)
    moved = release.value - units
    assert moved[target(problem)] == 5
    # Salazar: r is the distance between the bounds.
    assert (release.high - release.low == 2 * 26)[units > 0].all()


def test_published_cells_stay() -> None:
    kept = [0, 1, 2, 3]
    problem = problem_of(must_publish=kept)
    release = check_method(Perturbation(), problem)
    assert not release.changed[kept].any()
    assert (release.value == problem.table.units)[kept].all()


def test_the_announced_radius_is_a_round_number() -> None:
    """Twice the largest level would tell the level, and a rule may make that a share of the value."""
    release = check_method(Perturbation(), problem_of(lower=7, upper=7))
    assert set((release.high - release.low) // 2) == {20}


@pytest.mark.parametrize("scale", [10**3, 10**8, 10**11])
def test_large_values_add_up_exactly(scale: int) -> None:
    problem = problem_of(np.array(FIGURE_1) * scale + 1, 10 * scale + 3, 12 * scale + 3)
    release = check_method(Perturbation(), problem)
    assert not problem.table.equations.residuals(release.value).any()
    assert abs(int(release.value[target(problem)] - problem.table.units[target(problem)])) >= 10 * scale + 3


@pytest.mark.parametrize(
    ("options", "columns", "message"),
    [
        ({"sensitive": "elsewhere"}, {}, "option 'sensitive': the table has no column 'elsewhere'"),
        ({"radius": -1}, {}, "option 'radius' is negative"),
        ({"highest": "low"}, {"low": np.zeros(16)}, "outside of 'lowest' to 'highest'"),
        ({"sensitive": "far"}, {"far": np.full(16, 500)}, "row=2, column=3.*farther than its radius"),
    ],
)
def test_mistakes_are_named(options: dict, columns: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Perturbation(**options).protect(problem_of(columns=columns))


def test_a_radius_that_is_too_small_is_refused_by_name() -> None:
    with pytest.raises(InfeasibleError, match=r"row=2, column=3.*cannot be moved past either of its levels"):
        Perturbation(radius=10).protect(problem_of())
