"""Tiwari (random rounding): the four audits, as corrected, with everyone knowing a/2 <= y <= 2a."""

from __future__ import annotations

import numpy as np
import pytest

import tacita as tc
from tacita.errors import LevelsError

ONE = [12, 23, 34, 3, 49, 23, 50, 17, 8, 13]
ONE_RELEASED = [12, 23, 34, 0, 50, 23, 50, 17, 10, 13]
TWO = [[20, 10, 20, 10, 20], [10, 10, 20, 5, 15], [40, 10, 10, 20, 10], [5, 5, 15, 10, 5]]
TWO_RELEASED = [[14, 12, 18, 13, 23], [9, 8, 28, 4, 11], [47, 10, 8, 14, 11], [5, 5, 11, 14, 5]]
THREE = [[200, 40, 50, 200, 120], [20, 70, 60, 100, 120], [40, 90, 250, 100, 30], [100, 150, 30, 80, 150]]
THREE_RELEASED = [
    [204, 41, 52, 190, 123],
    [19, 65, 58, 114, 114],
    [42, 92, 247, 98, 31],
    [95, 152, 33, 78, 152],
]
FOUR = [[20, 50, 10], [8, 19, 22], [17, 32, 12]]
FOUR_RELEASED = [[20, 49, 11], [9, 20, 20], [16, 32, 13]]


def audited(
    values: list, released: list, base: int, levels: dict[int, tuple[int, int, int]], margins_exact: bool
):
    """The problem and release of one example; cells are numbered as printed, row by row with totals, from
    1.
    """
    table = tc.Table.from_array(values, counts=False).with_decimals(1)
    shown = tc.Table.from_array(released, counts=False).with_decimals(1)
    width = (len(values[0]) if isinstance(values[0], list) else len(values)) + 1
    rule = None
    for number, (upper, lower, sliding) in levels.items():
        row, column = divmod(number - 1, width)
        key = (str(row + 1), str(column + 1)) if isinstance(values[0], list) else (str(column + 1),)
        marked = tc.Marked([key], lower=lower, upper=upper, sliding=sliding)
        rule = marked if rule is None else rule | marked
    problem = tc.Problem(table, rule, attackers=tc.Outsider.within(table, below=0.5, above=1.0))
    exact = table.structure.is_total & margins_exact
    release = tc.Release.rounded(table, shown.units, np.where(exact, 0, base * 10), mark=tc.Mark.ADJUSTED)
    return problem, release


def verdicts(problem: tc.Problem, release: tc.Release) -> dict[tuple[str, ...], str]:
    return {problem.table.structure.key(f.cell): f.verdict for f in tc.audit(problem, release).findings()}


@pytest.mark.parametrize("margins_exact", [True, False])
def test_example_1(margins_exact: bool) -> None:
    problem, release = audited(ONE, ONE_RELEASED, 5, {4: (2, 1, 0), 9: (4, 2, 5)}, margins_exact)
    deduced = tc.deduce(problem, release)
    assert deduced.of(problem.table.find("4")) == (1.5, 5)
    assert deduced.of(problem.table.find("9")) == (5, 15)
    assert set(verdicts(problem, release).values()) == {"safe"}
    with pytest.raises(LevelsError, match=r"row=4.*sliding protection level of 5 cannot be met"):
        audited(ONE, ONE_RELEASED, 5, {4: (2, 1, 5)}, margins_exact)


@pytest.mark.parametrize("margins_exact", [True, False])
def test_example_2_is_protected(margins_exact: bool) -> None:
    levels = {1: (7, 5, 14), 9: (7, 5, 14), 16: (7, 5, 14), 22: (5, 2, 14)}
    problem, release = audited(TWO, TWO_RELEASED, 14, levels, margins_exact)
    assert set(verdicts(problem, release).values()) == {"safe"}


@pytest.mark.parametrize("margins_exact", [True, False])
def test_example_3_fails_upper_twice(margins_exact: bool) -> None:
    levels = {
        4: (20, 10, 15),
        10: (10, 5, 15),
        19: (10, 5, 15),
        15: (25, 20, 15),
        20: (15, 7, 15),
        23: (15, 7, 15),
    }
    problem, release = audited(THREE, THREE_RELEASED, 19, levels, margins_exact)
    deduced = tc.deduce(problem, release)
    assert deduced.of(problem.table.find("1", "4")) == (171, 209)
    assert deduced.of(problem.table.find("3", "3")) == (228, 266)
    found = verdicts(problem, release)
    assert {key for key, verdict in found.items() if verdict == "below upper"} == {("1", "4"), ("3", "3")}
    assert sorted(found.values()) == ["below upper"] * 2 + ["safe"] * 4


@pytest.mark.parametrize("margins_exact", [True, False])
def test_example_4_fails_only_upper(margins_exact: bool) -> None:
    problem, release = audited(FOUR, FOUR_RELEASED, 5, {7: (7, 5, 5)}, margins_exact)
    assert tc.deduce(problem, release).of(problem.table.find("2", "3")) == (15, 25)
    assert verdicts(problem, release) == {("2", "3"): "below upper"}
