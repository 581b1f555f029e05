"""Perturbation: numbers that add up, inside their bounds, with sensitive cells where they were sent."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from budget import examples
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita.core.errors import InfeasibleError, InputError
from tacita.core.release import Mark
from tacita.methods.perturbation import Perturbation
from tacita.testing import check_method, problems, tables

FIGURE_1 = [[20, 50, 10], [8, 19, 22], [17, 32, 12]]
NETWORKS, CUBES = ((3,), (2, 2), (2, 3), (3, 3)), ((2, 2, 2), (2, 2, 3))

OPTIONS = st.sampled_from(
    [
        {},
        {"sensitive": "free", "radius": 2},
        {"radius": 4, "at_most": 6},
        {"radius": 6, "sensitive": "up"},
        {"radius": 6, "sensitive": "up", "distance": "exact", "readers": "radius"},
        {"radius": 6, "sensitive": "down", "weight_changed": "unit"},
        {"distance": "exact"},
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
@examples(20)
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


@pytest.mark.parametrize("options", [{}, {"radius": 30}, {"distance": "exact"}, {"readers": "radius"}])
def test_cells_may_move_by_all_of_the_radius_unless_nobody_knows(options: dict) -> None:
    """Whoever knows that cells move by half of it would know twice as much."""
    problem = problem_of()
    release = check_method(Perturbation(**options), problem)
    radius = int((release.high - release.value).max())
    room = Perturbation(**options)._bounds(problem, np.ones(len(problem.table), dtype=bool))
    far = radius // 2 if "readers" in options else radius
    assert (room.above == far).all()
    assert (room.below == np.minimum(far, problem.table.units)).all()


@pytest.mark.parametrize(
    ("options", "remark"),
    [
        ({"readers": "radius"}, "half the announced radius"),
        ({"distance": "exact"}, "exactly their levels"),
        ({"sensitive": "free", "radius": 30}, "the nearest table is the true one"),
    ],
)
def test_models_of_the_literature_are_named_in_remarks_and_verdict(options: dict, remark: str) -> None:
    problem = problem_of()
    release = check_method(Perturbation(**options), problem)
    assert any(remark in said for said in release.outcome.remarks)
    assert tc.audit(problem, release).verdict == (
        "1 sensitive cell: 1 safe, all proven, against an outsider; "
        "assuming that readers know the announced radius and nothing "
        "of how cells were moved"
    )
    plain = Perturbation().protect(problem)
    assert not plain.assumption
    assert tc.audit(problem, plain).verdict == "1 sensitive cell: 1 safe, all proven, against an outsider"


def test_the_largest_level_of_all_attackers_counts() -> None:
    problem = problem_of(lower=2, upper=2)
    cell = target(problem)
    insider = tc.Insider("insider", *(np.zeros(0, dtype=np.int64),) * 3, [cell], [9], [8], [0])
    asked = problem_of(lower=2, upper=2, attackers=["outsider", insider])
    for seed in range(5):
        release = check_method(Perturbation(), asked, tc.Run(seed=seed))
        moved = int(release.value[cell] - asked.table.units[cell])
        assert moved >= 8 or moved <= -9


@pytest.mark.slow
def test_sensitive_cells_are_rarely_exactly_one_level_away() -> None:
    """Of the exact minimum nearly all are; of the default one in as many as the draw has amounts."""
    level, on_it, tables = 6, {"drawn": 0, "exact": 0}, 40
    for number in range(tables):
        values = np.random.default_rng(number).integers(40, 400, (3, 3))
        problem = problem_of(values, level, level)
        for distance in on_it:
            release = Perturbation(distance=distance).protect(problem, tc.Run(seed=number))
            change = abs(int(release.value[target(problem)] - problem.table.units[target(problem)]))
            assert change >= level
            on_it[distance] += change == level
    assert on_it["exact"] > 0.8 * tables
    chance = 1 / (level + 1)
    assert on_it["drawn"] < tables * chance + 3 * (tables * chance * (1 - chance)) ** 0.5


@pytest.mark.parametrize(("where", "moved"), [("up", 15), ("down", -15), ("free", 0)])
def test_sensitive_cells_go_to_the_ends_of_their_bounds_in_the_literature(where: str, moved: int) -> None:
    problem = problem_of()
    method = Perturbation(radius=30, sensitive=where, distance="exact", readers="radius")
    assert (check_method(method, problem).value - problem.table.units)[target(problem)] == moved


@pytest.mark.parametrize(("where", "least"), [("up", 12), ("down", -10)])
def test_sensitive_cells_go_past_the_level_on_the_side_that_is_given(where: str, least: int) -> None:
    problem = problem_of()
    moves = set()
    for seed in range(12):
        release = check_method(Perturbation(sensitive=where), problem, tc.Run(seed=seed))
        moves.add(int(release.value[target(problem)] - problem.table.units[target(problem)]))
    assert min(np.sign(least) * np.array(sorted(moves))) >= abs(least)
    assert len(moves) > 3


def test_bounds_and_targets_come_from_columns() -> None:
    units = problem_of().table.units
    columns = {"floor": units - 12, "ceiling": units + 14, "wanted": units + 5}
    problem = problem_of(columns=columns)
    method = Perturbation(lowest="floor", highest="ceiling", sensitive="wanted", readers="radius")
    release = check_method(method, problem)
    moved = release.value - units
    assert moved[target(problem)] == 5
    # Salazar: r is the distance between the bounds.
    assert (release.high - release.low == 2 * 26)[units > 0].all()
    known = check_method(replace(method, readers="method"), problem)
    # One round number for all, or the radius would tell what columns are made of.
    assert set(known.high - known.value) == {50}


def test_whoever_knows_the_columns_does_not_come_nearer_than_levels() -> None:
    """Every other cell of the row and the column of the cell is published within 1 of its value."""
    table = problem_of().table
    narrow = np.where(np.arange(len(table)) == table.find("2", "3"), 40, 1)
    columns = {"floor": np.maximum(table.units - narrow, 0), "ceiling": table.units + narrow}
    problem = problem_of(columns=columns)
    literature = Perturbation(lowest="floor", highest="ceiling", radius=60, sensitive="free")
    with pytest.raises(InfeasibleError):
        literature.protect(problem)
    released = replace(literature, readers="radius").protect(problem)
    assert tc.audit(problem, released).safe
    # The attack: with the columns nobody needs more than subtraction.
    sees = tc.Outsider(columns["floor"], columns["ceiling"])
    informed = tc.Problem(problem.table, tc.Marked([target(problem)], lower=5, upper=5), sees)
    assert not tc.audit(informed, released).safe


def test_columns_narrower_than_levels_are_refused() -> None:
    units = problem_of().table.units
    problem = problem_of(columns={"floor": units - 9, "ceiling": units + 30})
    with pytest.raises(InfeasibleError, match="readers may know the columns 'lowest' and 'highest'"):
        Perturbation(lowest="floor", highest="ceiling").protect(problem)
    problem = problem_of(lower=5, columns={"floor": units - 9, "ceiling": units + 30})
    with pytest.raises(InputError, match="in a mixture take 'radius' for the option 'readers'"):
        tc.Mixture({"rest": Perturbation(lowest="floor", highest="ceiling")}).protect(problem)


def test_published_cells_stay() -> None:
    kept = [0, 1, 2, 3]
    problem = problem_of(must_publish=kept)
    release = check_method(Perturbation(), problem)
    assert not release.changed[kept].any()
    assert (release.value == problem.table.units)[kept].all()


def test_the_announced_radius_is_a_round_number() -> None:
    """Twice the largest level would tell the level, and a rule may make that a share of the value."""
    release = check_method(Perturbation(), problem_of(lower=7, upper=7))
    assert set((release.high - release.low) // 2) == {50}
    release = check_method(Perturbation(distance="exact"), problem_of(lower=7, upper=7))
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
