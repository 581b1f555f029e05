"""Tiwari (random rounding): the four audits, as corrected, with everyone knowing a/2 <= y <= 2a; and what
controlled rounding does with the same tables.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tacita as tc
from tacita.core.errors import InfeasibleError, LevelsError
from tacita.core.outcome import Status
from tacita.examples import example
from tacita.methods.rounding.rounding import Rounding
from tacita.testing import check_method

# As printed: example, table without totals, base.
ONE = ("tiwari-1", [12, 23, 34, 0, 50, 23, 50, 17, 10, 13], 5)
TWO = ("tiwari-2", [[14, 12, 18, 13, 23], [9, 8, 28, 4, 11], [47, 10, 8, 14, 11], [5, 5, 11, 14, 5]], 14)
THREE_RELEASED = [
    [204, 41, 52, 190, 123],
    [19, 65, 58, 114, 114],
    [42, 92, 247, 98, 31],
    [95, 152, 33, 78, 152],
]
THREE = ("tiwari-3", THREE_RELEASED, 19)
FOUR = ("tiwari-4", [[20, 49, 11], [9, 20, 20], [16, 32, 13]], 5)


def audited(name: str, released: list, base: int, margins_exact: bool, rule: tc.Rule | None = None):
    """An example in tenths, so that a/2 and 2a are bounds as they stand, and its printed release."""
    printed = example(name)
    table = replace(printed.table, integer=False).with_decimals(1)
    shown = tc.Table.from_array(released, counts=False).with_decimals(1)
    everyone = tc.Outsider.within(table, below=0.5, above=1.0)
    problem = tc.Problem(table, rule or printed.rule, attackers=everyone)
    exact = table.structure.is_total & margins_exact
    release = tc.Release.rounded(table, shown.units, np.where(exact, 0, base * 10), mark=tc.Mark.ADJUSTED)
    return problem, release


def verdicts(problem: tc.Problem, release: tc.Release) -> dict[tuple[str, ...], str]:
    return {problem.table.structure.key(f.cell): f.verdict for f in tc.audit(problem, release).findings()}


@pytest.mark.parametrize("margins_exact", [True, False])
def test_example_1(margins_exact: bool) -> None:
    problem, release = audited(*ONE, margins_exact)
    deduced = tc.deduce(problem, release)
    assert deduced.of(problem.table.find("4")) == (1.5, 5)
    assert deduced.of(problem.table.find("9")) == (5, 15)
    assert set(verdicts(problem, release).values()) == {"safe"}
    with pytest.raises(LevelsError, match=r"row=4.*sliding protection level of 5 cannot be met"):
        audited(*ONE, margins_exact, tc.Marked([("4",)], lower=1, upper=2, sliding=5))


@pytest.mark.parametrize("margins_exact", [True, False])
def test_example_2_is_protected(margins_exact: bool) -> None:
    problem, release = audited(*TWO, margins_exact)
    assert set(verdicts(problem, release).values()) == {"safe"}


@pytest.mark.parametrize("margins_exact", [True, False])
def test_example_3_fails_upper_twice(margins_exact: bool) -> None:
    problem, release = audited(*THREE, margins_exact)
    deduced = tc.deduce(problem, release)
    assert deduced.of(problem.table.find("1", "4")) == (171, 209)
    assert deduced.of(problem.table.find("3", "3")) == (228, 266)
    found = verdicts(problem, release)
    assert {key for key, verdict in found.items() if verdict == "below upper"} == {("1", "4"), ("3", "3")}
    assert sorted(found.values()) == ["below upper"] * 2 + ["safe"] * 4


@pytest.mark.parametrize("margins_exact", [True, False])
def test_example_4_fails_only_upper(margins_exact: bool) -> None:
    problem, release = audited(*FOUR, margins_exact)
    assert tc.deduce(problem, release).of(problem.table.find("2", "3")) == (15, 25)
    assert verdicts(problem, release) == {("2", "3"): "below upper"}


def z_of(problem: tc.Problem, release: tc.Release, base: int) -> float:
    """``sum of ((up - a) - (a - down)) x``: the distance less what rounding everything down would lose."""
    return release.outcome.loss - (problem.table.units % (10 * base)).sum() / 10


@pytest.mark.parametrize(
    ("case", "protected", "z"),
    [(ONE, False, -9), (TWO, True, -68), (THREE, False, -94), (FOUR, False, -9)],
    ids=["one", "two", "three", "four"],
)
def test_controlled_rounding(case, protected, z) -> None:
    problem, _ = audited(*case, False)
    base = case[2]
    method = Rounding(base=base, multiples="exact", protected=protected, strict=False)
    release = check_method(method, problem) if protected else method.protect(problem)
    assert release.outcome.status is Status.OPTIMAL
    assert z_of(problem, release, base) == pytest.approx(z)


def test_the_linear_goal_of_the_paper() -> None:
    """The same ``z`` as a goal of the user's: coefficients per unit that a cell goes up."""
    problem, _ = audited(*TWO, False)
    units = problem.table.units
    z = (140 - 2 * (units % 140)) / 140
    table = replace(problem.table, columns={"z": np.where(units % 140 == 0, 0.0, z)})
    goal = Rounding(base=14, objective="z", protected=False).protect(
        tc.Problem(table, tc.Marked([]), problem.outsider)
    )
    nearest = Rounding(base=14, protected=False).protect(problem)
    assert np.abs(goal.value - units).sum() / 10 == pytest.approx(nearest.outcome.loss)
    assert goal.outcome.loss < 0


@pytest.mark.parametrize(
    ("case", "cell"), [(THREE, "row=3, column=3"), (FOUR, "row=2, column=3")], ids=["three", "four"]
)
def test_no_rounding_protects(case, cell) -> None:
    problem, _ = audited(*case, False)
    base = case[2]
    with pytest.raises(InfeasibleError, match=rf"{cell}.*the window is twice the base"):
        Rounding(base=base, strict=False).protect(problem)


def test_example_3_with_the_sensitive_cells_of_the_paper() -> None:
    """-86 is what is left when the sensitive cells are where the first set of the paper puts them."""
    problem, _ = audited(*THREE, False)
    units = problem.table.units
    fixed = problem.sensitive
    shown = tc.Table.from_array(THREE_RELEASED, counts=False).with_decimals(1)
    printed = np.full(units.size, np.nan)
    printed[fixed] = shown.values[fixed]
    table = replace(problem.table, columns={"printed": printed})
    release = Rounding(base=19, given="printed").protect(tc.Problem(table, tc.Marked([]), problem.outsider))
    assert np.array_equal(release.value[fixed], shown.units[fixed])
    distance = np.abs(release.value - units).sum() / 10
    assert distance - (units % 190).sum() / 10 == pytest.approx(-86)
