"""Tiwari: random rounding with quadratic programming, as corrected. Cells are numbered as printed, row by row
with totals, from 1; adjusted cells stay within a/2 and 2a, which everyone knows.

Printed values of ``z`` are not tested: they truncate 1/a by hand and forget squares. What is tested is ``sum
x^2 / a`` over the cells that are not sensitive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

import tacita as tc
from tacita.core.errors import InfeasibleError, InputError
from tacita.examples import example
from tacita.methods.random_rounding.inequalities import derive_inequalities
from tacita.methods.random_rounding.integer_squares import minimise_squares
from tacita.methods.random_rounding.random_rounding_task import RandomRoundingTask
from tacita.testing import check_method

PRINTED = {
    "one": [12, 23, 34, 0, 50, 23, 50, 17, 10, 13],
    "two": [[14, 12, 18, 13, 23], [9, 8, 28, 4, 11], [47, 10, 8, 14, 11], [5, 5, 11, 14, 5]],
    "three": [[204, 41, 52, 190, 123], [19, 65, 58, 114, 114], [42, 92, 247, 98, 31], [95, 152, 33, 78, 152]],
    "four": [[20, 49, 11], [9, 20, 20], [16, 32, 13]],
}
CONTROLLED = {
    "one": [10, 25, 35, 0, 50, 25, 50, 15, 10, 10],
    "two": [[14, 14, 28, 14, 14], [14, 14, 14, 0, 14], [42, 0, 14, 14, 14], [0, 0, 14, 14, 14]],
    "three": [[209, 38, 57, 190, 114], [19, 57, 57, 114, 114], [38, 95, 247, 95, 38], [95, 152, 38, 76, 152]],
    "four": [[20, 50, 15], [10, 20, 20], [20, 30, 10]],
}
BASES = {"one": 5, "two": 14, "three": 19, "four": 5}
NUMBERS = {"one": 1, "two": 2, "three": 3, "four": 4}


def problem_of(case: str) -> tc.Problem:
    return example(f"tiwari-{NUMBERS[case]}")


def question(case: str) -> tuple[tc.Problem, RandomRoundingTask]:
    problem = problem_of(case)
    return problem, RandomRoundingTask.of(problem, BASES[case], below=0.5, above=1.0, margins_announced=False)


def rounding(asked: RandomRoundingTask, to: list[int]) -> np.ndarray:
    """Which of the rounded cells go up, from values listed in the order of the paper."""
    values = asked.problem.table.units[asked.cells]
    assert np.array_equal(asked.cells, asked.problem.sensitive)
    wanted = np.array(to)
    assert (np.abs(wanted - values) < asked.base).all()
    return np.asarray(wanted > values)


def not_sensitive(problem: tc.Problem, value: np.ndarray) -> float:
    """``sum x^2 / a`` over inner cells that are not sensitive."""
    kept = ~problem.table.structure.is_total & ~problem.levels.sensitive
    return float((value[kept] ** 2 / problem.table.units[kept]).sum())


@pytest.mark.parametrize(
    ("case", "to", "optimum"),
    [
        ("one", [0, 10], 223.0200),
        ("two", [14, 28, 14, 14], 206.5083),
        ("two", [28, 14, 14, 14], 210.7750),
        ("three", [190, 114, 247, 95, 152, 152], 1051.5780),
        ("three", [209, 95, 247, 95, 152, 152], 1051.2836),
        ("four", [20], 172.4398),
    ],
)
def test_integer_optima_of_given_roundings(case: str, to: list[int], optimum: float) -> None:
    problem, asked = question(case)
    moved = minimise_squares(asked.build_squares(rounding(asked, to)), tc.Run())
    assert moved is not None
    assert moved.proven
    value = asked.value(moved)
    assert not_sensitive(problem, value) == pytest.approx(optimum, abs=5e-5)
    assert not problem.table.equations.residuals(value).any()


@pytest.mark.parametrize(
    ("case", "everything"), [("one", 234.5200), ("two", 283.9083), ("three", 2003.3773), ("four", 189.6216)]
)
def test_integer_optima_over_all_cells(case: str, everything: float) -> None:
    """(3.2) over all inner cells less 1, for the sets of the paper."""
    sets = {
        "one": [0, 10],
        "two": [14, 28, 14, 14],
        "three": [190, 114, 247, 95, 152, 152],
        "four": [20],
    }
    problem, asked = question(case)
    moved = minimise_squares(asked.build_squares(rounding(asked, sets[case])), tc.Run())
    assert moved is not None
    inner = ~problem.table.structure.is_total
    value, true = asked.value(moved)[inner], problem.table.units[inner]
    assert (value**2 / true).sum() - 1 == pytest.approx(everything, abs=5e-5)
    # For counts the chi-square distance takes off the grand total, not 1.
    assert moved.loss == pytest.approx((value**2 / true).sum() - true.sum())


def test_example_2_third_set_cannot_be_adjusted() -> None:
    _, asked = question("two")
    assert minimise_squares(asked.build_squares(rounding(asked, [14, 14, 28, 14])), tc.Run()) is None
    freer = RandomRoundingTask.of(asked.problem, 14, below=1.0, above=1.0, margins_announced=False)
    assert minimise_squares(freer.build_squares(rounding(freer, [14, 14, 28, 14])), tc.Run()) is not None


@pytest.mark.parametrize(
    ("case", "of_the_paper", "of_controlled_rounding"),
    [("one", 3.74, 6.63), ("two", 16.43, 28.53), ("three", 21.45, 34.99), ("four", 3.16, 11.40)],
)
def test_distances_of_the_printed_tables(
    case: str, of_the_paper: float, of_controlled_rounding: float
) -> None:
    problem = problem_of(case)
    base = BASES[case]
    releases = []
    for table, mark in ((PRINTED[case], tc.Mark.ADJUSTED), (CONTROLLED[case], tc.Mark.ROUNDED)):
        shown = tc.Table.from_array(table).units
        releases.append(tc.Release.rounded(problem.table, shown, base, mark=mark))
    adjusted, controlled = tc.compare(problem, releases)
    assert adjusted.l2 == pytest.approx(of_the_paper, abs=0.005)
    assert controlled.l2 == pytest.approx(of_controlled_rounding, abs=0.005)
    assert adjusted.changed < controlled.changed


def test_cells_that_are_disturbed_in_print() -> None:
    counted = []
    for case in ("one", "two"):
        problem = problem_of(case)
        for printed in (PRINTED, CONTROLLED):
            shown = tc.Table.from_array(printed[case])
            release = tc.Release.rounded(problem.table, shown.units, BASES[case])
            inner = ~problem.table.structure.is_total & ~problem.levels.sensitive
            moved = release.value != problem.table.units
            counted.append(int((moved & inner).sum()))
            assert tc.compare(problem, [release])[0].others == int((moved & ~problem.levels.sensitive).sum())
    assert counted[0] == 1
    assert counted[1] == 7
    assert counted[2] == 12


def test_example_1_protection_inequalities() -> None:
    """x9 >= 7 excludes 5; (0, 10) and, not in the paper, (5, 10) are left, and the second is nearer."""
    problem, asked = question("one")
    needed = derive_inequalities(problem, asked.find_windows(), tc.Run())
    sets = {to: rounding(asked, list(to)) for to in ((0, 5), (0, 10), (5, 5), (5, 10))}
    met = needed.are_met(np.array(list(sets.values()))).all(axis=1)
    assert dict(zip(sets, met.tolist(), strict=True)) == {
        (0, 5): False,
        (0, 10): True,
        (5, 5): False,
        (5, 10): True,
    }
    distances = asked.distances(np.array([sets[0, 10], sets[5, 10]]))
    assert distances == pytest.approx([3.61, 2.83], abs=0.005)


def test_example_1() -> None:
    problem = problem_of("one")
    release = check_method(tc.RandomRounding(base=5), problem)
    assert release.outcome is not None
    assert release.outcome.status is tc.Status.OPTIMAL
    assert release.value[problem.sensitive].tolist() == [5, 10]


@pytest.mark.parametrize("base", [14, None])
def test_example_2(base: int | None) -> None:
    """The base of the paper is also the one that is chosen; its three sets are left; the second is best."""
    problem, asked = question("two")
    needed = derive_inequalities(problem, asked.find_windows(), tc.Run())
    sets = [[28, 14, 14, 14], [14, 28, 14, 14], [14, 14, 28, 14], [28, 28, 14, 0], [14, 28, 28, 0]]
    met = needed.are_met(np.array([rounding(asked, to) for to in sets])).all(axis=1)
    assert met.tolist() == [True, True, True, False, False]
    release = check_method(tc.RandomRounding(base=base), problem)
    assert np.array_equal(release.value, tc.Table.from_array(PRINTED["two"]).units)
    assert release.outcome is not None
    assert release.outcome.status is tc.Status.OPTIMAL


def test_example_3_a_better_set_than_in_print() -> None:
    """It is nearer, meets what the paper asks of cells 4 and 23, and leaves only cell 15 unprotected."""
    problem, asked = question("three")
    printed, better = (
        rounding(asked, to) for to in ([190, 114, 247, 95, 152, 152], [209, 95, 247, 95, 152, 152])
    )
    assert asked.distances(np.array([printed, better])) == pytest.approx([18.38, 12.17], abs=0.005)
    needed = derive_inequalities(problem, asked.find_windows(), tc.Run())
    met = needed.are_met(np.array([better]))[0]
    failed = {problem.table.structure.key(int(c)) for c in needed.requirements.cell[~met]}
    assert failed <= {("3", "3")}
    release = tc.RandomRounding(base=19, protected=False).protect(problem)
    assert (release.value > problem.table.units)[asked.cells].tolist() == better.tolist()
    assert not_sensitive(problem, release.value) == pytest.approx(1051.2836, abs=5e-5)
    unsafe = [problem.table.structure.key(f.cell) for f in tc.audit(problem, release).findings(True)]
    assert unsafe == [("3", "3")]


@pytest.mark.parametrize(
    ("case", "named"), [("three", "row=3, column=3"), ("four", "row=2, column=3")], ids=["three", "four"]
)
def test_bases_of_the_paper_that_cannot_protect(case: str, named: str) -> None:
    problem = problem_of(case)
    with pytest.raises(InfeasibleError, match=rf"{named}.*the window is twice the base"):
        tc.RandomRounding(base=BASES[case]).protect(problem)
    check_method(tc.RandomRounding(), problem)


def test_example_4() -> None:
    problem = problem_of("four")
    release = tc.RandomRounding(base=5, protected=False).protect(problem)
    assert np.array_equal(release.value, tc.Table.from_array(PRINTED["four"]).units)
    findings = list(tc.audit(problem, release).findings())
    assert [f.verdict for f in findings] == ["below upper"]


def given(problem: tc.Problem, values: Sequence[float]) -> tc.Problem:
    """The problem with a column of rounded values for its sensitive cells."""
    column = np.full(len(problem.table), np.nan)
    column[problem.sensitive] = values
    return replace_table(problem, replace(problem.table, columns={"set": column}))


def replace_table(problem: tc.Problem, table: tc.Table) -> tc.Problem:
    return tc.Problem(table, problem.levels, [problem.outsider, *problem.insiders], problem.cost)


@pytest.mark.parametrize(("values", "least"), [([28, 14, 14, 14], 210.7750), ([14, 28, 14, 14], 206.5083)])
def test_example_2_with_the_sets_of_the_paper(values: list[int], least: float) -> None:
    problem = given(problem_of("two"), values)
    release = check_method(tc.RandomRounding(base=14, given="set"), problem)
    assert release.value[problem.sensitive].tolist() == values
    assert not_sensitive(problem, release.value) == pytest.approx(least, abs=5e-5)
    assert release.outcome is not None
    assert release.outcome.status is tc.Status.OPTIMAL


def test_a_given_set_that_cannot_be_adjusted_is_named() -> None:
    with pytest.raises(InfeasibleError, match="no rounding to 14 can be made up for"):
        tc.RandomRounding(base=14, given="set").protect(given(problem_of("two"), [14, 14, 28, 14]))


@pytest.mark.parametrize("case", ["one", "two"])
def test_the_nearest_set_that_can_be_adjusted(case: str) -> None:
    """The paper's own choice, by (3.1) among the sets that meet the protection inequalities."""
    problem, asked = question(case)
    release = check_method(tc.RandomRounding(base=BASES[case], prefer="nearest"), problem)
    chosen = asked.distances((release.value > problem.table.units)[asked.cells][None, :])[0]
    best = check_method(tc.RandomRounding(base=BASES[case]), problem)
    other = asked.distances((best.value > problem.table.units)[asked.cells][None, :])[0]
    assert chosen <= other
    assert best.outcome is not None
    assert release.outcome is not None
    assert best.outcome.loss <= release.outcome.loss


@pytest.mark.parametrize(
    ("values", "refused"),
    [([28, 14, 14, 15], "no multiple"), ([28, 14, 14, float("nan")], "no rounded value")],
)
def test_given_values_are_checked(values: list[float], refused: str) -> None:
    with pytest.raises(InputError, match=refused):
        tc.RandomRounding(base=14, given="set").protect(given(problem_of("two"), values))
