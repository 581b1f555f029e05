"""Rounding where nothing is sensitive: the nearest table of multiples, by brute force and at the extremes."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from budget import examples
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita.core.errors import InfeasibleError, InputError, StoppedError
from tacita.core.outcome import Status
from tacita.core.release import Mark
from tacita.core.run import Event, Run
from tacita.methods.rounding.rounding import Rounding

SHAPES = ((4,), (2, 3), (3, 2), (2, 2, 2))
TWO_BY_TWO_BY_TWO = [[[0, 0], [0, 1]], [[0, 1], [1, 0]]]


def asked(values, columns: dict | None = None, **options) -> tc.Problem:
    table = tc.Table.from_array(np.asarray(values), **options)
    return tc.Problem(replace(table, columns=columns or {}), tc.Marked([]))


def sums(shape: tuple[int, ...]) -> np.ndarray:
    """Per cell of a table the inner cells that it adds up."""
    size = int(np.prod(shape))
    units = np.eye(size, dtype=int).reshape(size, *shape)
    return np.array([tc.Table.from_array(unit).units for unit in units]).T


def least_by_hand(values: np.ndarray, base: int, goal, beyond: int = 0, move: bool = False) -> float:
    """The least of a goal over all tables whose cells lie next to the truth, or so many bases farther;
    multiples may be said to move either way.
    """
    table = tc.Table.from_array(values).units
    floor = table // base * base
    down = np.where((table == floor) & move, base, 0)
    lowest = np.maximum(floor - down - beyond * base, 0)
    highest = floor + np.where((table > floor) | move, base, 0) + beyond * base
    adds = sums(values.shape)
    inner = np.flatnonzero(adds.sum(axis=1) == 1)
    choices = [range(lowest[i], highest[i] + 1, base) for i in inner]
    order = adds[inner].argmax(axis=1)
    best = np.inf
    for chosen in product(*choices):
        shown = adds[:, order] @ np.array(chosen)
        if (shown >= lowest).all() and (shown <= highest).all():
            best = min(best, goal(shown - table))
    return best


def assert_neighbours(problem: tc.Problem, release: tc.Release, base) -> None:
    units = problem.table.units
    assert not problem.table.equations.residuals(release.value).any()
    assert not (release.value % base).any()
    assert (np.abs(release.value - units) < base).all()
    assert (release.low <= units).all()
    assert (release.high >= units).all()


@st.composite
def inner_values(draw, shapes=SHAPES, largest: int = 9) -> np.ndarray:
    shape = draw(st.sampled_from(shapes))
    size = int(np.prod(shape))
    return np.array(draw(st.lists(st.integers(0, largest), min_size=size, max_size=size))).reshape(shape)


@given(inner_values(), st.integers(2, 7), st.sampled_from([1.0, 2.0, 3.5]), st.booleans(), st.booleans())
@examples(60)
def test_the_nearest_table(values, base: int, power: float, margins: bool, move: bool) -> None:
    problem = asked(values)
    weight = np.where(problem.table.structure.is_total & (not margins), 0.0, 1.0)
    least = least_by_hand(values, base, lambda moved: float(weight @ np.abs(moved) ** power), move=move)
    method = Rounding(base=base, power=power, margins=margins, multiples="move" if move else "stay")
    if not np.isfinite(least):
        with pytest.raises(InfeasibleError, match="this is proven"):
            method.protect(problem)
        return
    release = method.protect(problem)
    assert release.outcome.loss == pytest.approx(least)
    assert release.outcome.status is Status.OPTIMAL
    assert not problem.table.equations.residuals(release.value).any()
    if not move:
        assert_neighbours(problem, release, base)


@given(inner_values(shapes=((2, 3), (2, 2, 2))), st.integers(2, 5), st.integers(0, 2**32 - 1))
@examples(30)
def test_a_linear_goal(values, base: int, seed: int) -> None:
    slope = np.random.default_rng(seed).normal(size=len(tc.Table.from_array(values)))
    problem = asked(values, {"slope": slope})
    least = least_by_hand(values, base, lambda moved: float(slope @ moved))
    if np.isfinite(least):
        assert Rounding(base=base, objective="slope").protect(problem).outcome.loss == pytest.approx(least)


@given(inner_values(shapes=((2, 3), (2, 2, 2))), st.integers(2, 5))
@examples(30)
def test_the_least_change_of_the_mean(values, base: int) -> None:
    problem = asked(values)
    top = problem.table.find()
    nothing = len(problem.table) * base + 1
    least = least_by_hand(
        values, base, lambda moved: nothing * abs(int(moved[top])) + int(np.abs(moved).sum())
    )
    if not np.isfinite(least):
        return
    release = Rounding(base=base, objective="mean").protect(problem)
    change, distance = divmod(int(least), nothing)
    assert release.outcome.loss == pytest.approx(change / values.size)
    assert np.abs(release.value - problem.table.units).sum() == distance


@given(inner_values(shapes=((2, 2, 2),), largest=3), st.sampled_from(["fewest", "cheapest"]))
@examples(25)
def test_steps_beyond_the_neighbours(values, relax: str) -> None:
    problem, base = asked(values), 2
    release = Rounding(base=base, steps=1, relax=relax).protect(problem)
    units = problem.table.units
    assert not problem.table.equations.residuals(release.value).any()
    assert (release.value >= 0).all()
    if np.isfinite(least_by_hand(values, base, lambda moved: 0.0)):
        assert_neighbours(problem, release, base)
        assert release.outcome.remarks == ()
        return
    far = np.abs(release.value - units) >= base
    fewest = least_by_hand(values, base, lambda moved: float((np.abs(moved) >= base).sum()), beyond=1)
    cheapest = least_by_hand(values, base, lambda moved: float(np.abs(moved).sum()), beyond=1)
    assert far.sum() == fewest if relax == "fewest" else release.outcome.loss == cheapest
    assert f"{far.sum()} cell" in release.outcome.remarks[0]
    assert (release.high - release.low == 2 * (2 * base - 1)).all()


def test_none_exists_even_so() -> None:
    """Base 1 for one cell, 7 for all others, and a total that no multiple of 7 can be near."""
    problem = asked([[3, 0], [0, 0]], {"base": np.full(9, 7)})
    frozen = tc.Problem(problem.table, tc.Marked([]), must_publish=[problem.table.find("1", "1")])
    with pytest.raises(InfeasibleError, match=r"row=1, column=1.*take it off those that must be published"):
        Rounding(base="base", steps=2).protect(frozen)


@given(inner_values(shapes=((3, 4), (4, 3)), largest=30), st.integers(2, 6))
@examples(30)
def test_subtotals_in_rows_and_in_columns_can_always_be_kept(values, base: int) -> None:
    problem = asked(values)
    release = Rounding(base=base, subtotals="row=1+2; column=1+2+3; column=2+3, row=1|3").protect(problem)
    assert_neighbours(problem, release, base)
    inner = np.array(
        [
            [release.value[problem.table.find(str(r + 1), str(c + 1))] for c in range(values.shape[1])]
            for r in range(values.shape[0])
        ]
    )
    for shown, true in (
        (inner[:2].sum(axis=0), values[:2].sum(axis=0)),
        (inner[:, :3].sum(axis=1), values[:, :3].sum(axis=1)),
        (inner[[0, 2], 1:3].sum(axis=1), values[[0, 2], 1:3].sum(axis=1)),
    ):
        assert (np.abs(shown - true) < base).all()


def test_subtotals_over_blocks_may_conflict() -> None:
    problem = asked([[0, 1, 1], [1, 1, 0], [0, 1, 1]])
    blocks = [f"row={r}, column={c}" for r in ("1+2", "2+3") for c in ("1+2", "2+3")]
    with pytest.raises(InfeasibleError) as refused:
        Rounding(base=3, subtotals="; ".join([*blocks, "row=1+2", "column=1+2"])).protect(problem)
    assert all(f"({block})" in str(refused.value) for block in blocks)
    for left_out in range(4):
        kept = blocks[:left_out] + blocks[left_out + 1 :]
        assert_neighbours(problem, Rounding(base=3, subtotals="; ".join(kept)).protect(problem), 3)
    alone = asked([[0, 1, 1], [1, 0, 0], [1, 0, 1]])
    with pytest.raises(
        InfeasibleError, match=r"subtotal \(row=1\+2, column=1\+2\) within a base: leave it out"
    ):
        Rounding(base=2, subtotals="row=1+2, column=1+2").protect(alone)


def test_subtotals_that_overlap_in_a_row_may_conflict() -> None:
    """Of three ones to base 2 each two are 2, so that just one of each two would go up."""
    with pytest.raises(InfeasibleError, match=r"\(row=1\+2\); \(row=2\+3\); \(row=1\+3\). Leave one out"):
        Rounding(base=2, subtotals="row=1+2|2+3|1+3").protect(asked([1, 1, 1]))


@pytest.mark.parametrize("unit", [1e-12, 1e-9, 1.0, 1e12])
def test_small_and_large_losses_are_proven_alike(unit: float) -> None:
    random = np.random.default_rng(3)
    values, weight = random.integers(0, 1000, (3, 3, 3)), random.random(64)
    expected = Rounding(base=7, weight="weight").protect(asked(values, {"weight": weight}))
    release = Rounding(base=7, weight="weight").protect(asked(values, {"weight": unit * weight}))
    assert release.outcome.status is Status.OPTIMAL
    assert release.outcome.loss == pytest.approx(unit * expected.outcome.loss, rel=1e-9)


def test_amounts_of_billions_in_three_dimensions() -> None:
    values = np.random.default_rng(3).integers(0, 1000, (3, 3, 3))
    small = Rounding(base=7, power=3).protect(asked(values))
    large = Rounding(base=7 * 10**9, power=3).protect(asked(values * 10**9))
    assert large.outcome.loss == pytest.approx(1e27 * small.outcome.loss)


def test_one_hierarchy_is_a_network() -> None:
    problem = hierarchical(1)
    release = Rounding(base=5).protect(problem)
    assert release.outcome.status is Status.OPTIMAL
    assert_neighbours(problem, release, 5)


def test_two_hierarchies_are_an_integer_program() -> None:
    problem = hierarchical(2)
    release = Rounding(base=5).protect(problem)
    assert release.outcome.status is Status.OPTIMAL
    assert_neighbours(problem, release, 5)


def hierarchical(trees: int) -> tc.Problem:
    tree = tc.Hierarchy.from_dict({"A": ["a1", "a2", "a3"], "B": ["b1", "b2"]})
    other = tc.Hierarchy.from_dict({"X": ["x1", "x2"], "Y": ["y1", "y2"]})
    flat = tc.Hierarchy.flat(["x1", "x2", "y1", "y2"])
    random = np.random.default_rng(5)
    rows = [(a, x) for a in ("a1", "a2", "a3", "b1", "b2") for x in ("x1", "x2", "y1", "y2")]
    frame = {
        "place": [a for a, _ in rows],
        "kind": [x for _, x in rows],
        "n": random.integers(0, 40, len(rows)).tolist(),
    }
    table = tc.Table.from_frame(
        pd.DataFrame(frame), by={"place": tree, "kind": other if trees == 2 else flat}, value="n"
    )
    return tc.Problem(table, tc.Marked([]))


@pytest.mark.parametrize(
    ("values", "base", "decimals"),
    [
        ([[0, 0], [0, 0]], 5, 0),
        ([[1, 2], [3, 4]], 1000, 0),
        ([[1, 2], [3, 4]], 1, 0),
        ([[10**15 + 1, 3 * 10**14], [7, 10**15]], 10, 0),
        ([[10**15 + 1, 3 * 10**14], [7, 10**15]], 10**14, 0),
        ([[-7, 3], [4, -12]], 5, 0),
        ([[-1, -1], [-1, -1]], 3, 0),
        ([[0.25, 1.75], [2.5, 0.33]], 0.5, 2),
        ([[0.25, 1.75], [2.5, 0.33]], 0.05, 2),
        ([[12.3, 45.6], [7.8, 9.1]], 5, 1),
    ],
)
def test_extremes(values, base, decimals: int) -> None:
    table = tc.Table.from_array(np.array(values), counts=False)
    free = tc.Outsider.within(table, below=2.0, above=2.0) if np.min(values) < 0 else "outsider"
    problem = tc.Problem(table, tc.Marked([]), attackers=free)
    release = Rounding(base=base).protect(problem)
    in_units = round(base * 10**table.decimals)
    assert table.decimals == decimals
    assert release.outcome.status is Status.OPTIMAL
    assert_neighbours(problem, release, in_units)
    # A base of a single step hides nothing, and is not called so.
    assert (release.marks == (Mark.ROUNDED if in_units > 1 else Mark.PUBLISHED)).all()


def test_readers_who_know_that_the_truth_is_less_than_a_base_away() -> None:
    problem = asked([[1, 2], [3, 4]])
    release = Rounding(base=3).protect(problem)
    assert (release.high - release.low == 4).all()
    assert_neighbours(problem, release, 3)
    marked = tc.Marked([problem.table.find("1", "2")], lower=2, upper=4)
    sensitive = tc.Problem(problem.table, marked)
    closed = Rounding(base=3, strict=False).protect(sensitive)
    assert tc.audit(sensitive, closed).safe
    assert "closed windows, as in the literature" in closed.outcome.remarks[0]
    with pytest.raises(
        InfeasibleError, match=r"twice the base less a step.*smallest base that can work is 7"
    ):
        Rounding(base=3).protect(sensitive)
    assert tc.audit(sensitive, Rounding(base=7).protect(sensitive)).safe


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        ([[1, 2], [3, 4]], {"base": 2.5}, "option 'base' must give"),
        ([[1, 2], [3, 4]], {"base": -5}, "option 'base' is negative"),
        ([[1, 2], [3, 4]], {"base": 4 * 10**18}, "does not fit into 53 bits"),
        ([[1, 2], [3, 4]], {"power": 400.0, "base": 1000}, "too much for distances like these"),
        ([[1, 2], [3, 4]], {"objective": "men"}, "did you mean 'mean'"),
        ([[1, 2], [3, 4]], {"steps": -1}, "option 'steps' is -1; cells can go 0 to 100"),
        ([[1, 2], [3, 4]], {"subtotals": "rows=1+2"}, "'rows=1.2' names no dimension.*did you mean 'row'"),
        ([[1, 2], [3, 4]], {"subtotals": "row=1+7"}, "code '7'"),
        ([[1, 2], [3, 4]], {"subtotals": "row=1"}, "adds up no cells"),
        ([[1, 2], [3, 4]], {"subtotals": "row=1+2, row=2+1"}, "names row twice: .*separate them with ';'"),
        ([[1, 2], [3, 4]], {"subtotals": "row=; row=1+2"}, "'row=' names no code"),
    ],
)
def test_mistakes_are_named(values, options: dict, message: str) -> None:
    with pytest.raises(tc.TacitaError, match=message):
        Rounding(**options).protect(asked(values))


def test_a_structural_zero_does_not_move() -> None:
    frame = pd.DataFrame({"r": ["a", "b", "c"], "n": [0, 0, 0], "none": [True, False, False]})
    table = tc.Table.from_frame(frame, ["r"], value="n", structural="none")
    # The more the better, and most of all in a.
    table = replace(table, columns={"more": np.where(table.structural, -9.0, -1.0)})
    release = Rounding(base=5, multiples="move", objective="more").protect(tc.Problem(table, tc.Marked([])))
    assert release.value[table.find("a")] == 0
    assert release.value[table.find("Total")] == 5


@pytest.mark.parametrize(
    ("options", "best"),
    [
        # The grand total 4 goes up to 5, whether margins count or not.
        ({"objective": "mean", "margins": False}, 1 / 4),
        # Every step is wanted: inner cells go up from 1 to 10, their sums to 10 as well.
        ({"objective": "more", "steps": 1}, -(4 * 9 + 4 * 8 + 6)),
    ],
)
def test_bounds_of_what_is_not_proven(options: dict, best: float) -> None:
    problem = asked([[1, 1], [1, 1]], {"more": np.full(9, -1.0)})
    method = Rounding(base=5, **options)
    task = method._make_task(problem, np.ones(9, dtype=bool), method.steps)
    outcome = task.make_outcome(problem.table.units // 5 * 5 + 5, False, np.inf, Run())
    assert outcome.bound == pytest.approx(min(best, outcome.loss))
    assert outcome.bound <= best + 1e-9


def test_a_mean_needs_a_grand_total() -> None:
    table = tc.Table.from_array(np.array([[1, 2], [3, 4]]))
    two = tc.Problem(
        replace(table, structure=replace(table.structure, equations=table.equations.where(np.arange(6) < 2))),
        tc.Marked([]),
    )
    with pytest.raises(InputError, match="needs one grand total"):
        Rounding(objective="mean").protect(two)


def test_bases_of_their_own_may_have_no_table() -> None:
    values = [[3, 3], [3, 3]]
    base = np.where(tc.Table.from_array(values).structure.is_total, 7, 2)
    problem = asked(values, {"base": base})
    with pytest.raises(InfeasibleError, match="this is proven"):
        Rounding(base="base").protect(problem)
    free = Rounding(base="base", steps=2, relax="cheapest").protect(problem)
    assert not problem.table.equations.residuals(free.value).any()
    assert not (free.value % base).any()


def test_a_run_that_is_over_says_so() -> None:
    random = np.random.default_rng(0)
    problem = asked(random.integers(0, 999, (10, 10, 10)))
    run = tc.Run(time_limit=0.0)
    with pytest.raises(StoppedError):
        Rounding(base=5).protect(problem, run)


def test_progress_is_told_in_the_losses_of_the_user() -> None:
    problem = asked(np.random.default_rng(0).integers(0, 999, (10, 10, 10)))
    heard: list[Event] = []
    release = Rounding(base=5).protect(problem, tc.Run(time_limit=20, listener=heard.append))
    told = [event.incumbent for event in heard if event.incumbent is not None]
    assert told[-1] == pytest.approx(release.outcome.loss)
    assert all(event.bound <= release.outcome.loss + 1e-6 for event in heard if event.bound is not None)
