"""Gonzalez and Cox (2005), Table I of the NCHS paper and the suppressions of Table II."""

from __future__ import annotations

import numpy as np
import pytest

import tacita as tc
from tacita.examples import example
from tacita.verify import verify

COMPLEMENTARY = [(1, 2), (3, 2), (8, 1), (8, 2), (8, 3), (8, 4), (9, 1)]


@pytest.fixture
def problem() -> tc.Problem:
    return example("nchs")


def cells(problem: tc.Problem, positions: list[tuple[int, int]]) -> np.ndarray:
    return np.array([problem.table.find(str(row), str(column)) for row, column in positions])


def test_threshold_5_finds_the_three_disclosure_cells(problem: tc.Problem) -> None:
    assert set(problem.sensitive) == set(cells(problem, [(1, 1), (3, 3), (9, 4)]))
    assert problem.levels.upper[problem.sensitive].tolist() == [4, 2, 1]
    assert problem.levels.lower[problem.sensitive].tolist() == [1, 2, 1]


def test_totals_are_those_printed(problem: tc.Problem) -> None:
    table = problem.table
    assert table.units[table.find()] == 26586
    assert [table.units[table.find(column=str(c))] for c in range(1, 6)] == [3477, 5542, 5002, 5748, 6817]


def test_table_ii_intervals_and_verdict(problem: tc.Problem) -> None:
    hidden = np.concatenate([problem.sensitive, cells(problem, COMPLEMENTARY)])
    release = tc.Release.suppress(problem.table, hidden)
    deduced = tc.deduce(problem, release)
    assert [deduced.of(c) for c in cells(problem, [(1, 1), (3, 3), (9, 4)])] == [(0, 271), (0, 161), (0, 147)]
    found = tc.audit(problem, release)
    assert found.safe
    assert verify(tc.certify(found)) == 3
    assert problem.table.units[cells(problem, COMPLEMENTARY)].sum() == 2093


@pytest.mark.parametrize("three", [[(1, 3), (3, 4), (9, 1)], [(1, 4), (3, 1), (9, 3)]])
def test_patterns_of_three_cells_fail_the_lower_levels(
    problem: tc.Problem, three: list[tuple[int, int]]
) -> None:
    release = tc.Release.suppress(problem.table, np.concatenate([problem.sensitive, cells(problem, three)]))
    deduced = tc.deduce(problem, release)
    assert deduced.of(cells(problem, [(3, 3)])[0])[0] >= 2
    assert deduced.of(cells(problem, [(9, 4)])[0])[0] >= 3
    assert not tc.audit(problem, release).safe
    upper_only = tc.Problem(
        problem.table,
        tc.Marked([("1", "1")], upper=4, lower=0)
        | tc.Marked([("3", "3")], upper=2, lower=0)
        | tc.Marked([("9", "4")], upper=1, lower=0),
    )
    assert tc.audit(upper_only, release).safe
