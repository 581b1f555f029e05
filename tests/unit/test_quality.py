"""What releases lost, side by side."""

from __future__ import annotations

import numpy as np
import pytest

import tacita as tc
from tacita.errors import ReleaseError


def problem_of(values: list, rule: tc.Rule | None = None) -> tc.Problem:
    return tc.Problem(tc.Table.from_array(values), rule or tc.Threshold(3))


def test_distances_count_totals_and_cells() -> None:
    problem = problem_of([2, 9, 14])
    shown = problem.table.units.copy()
    for code, value in (("1", 5), ("2", 5)):
        shown[problem.table.find(code)] = value
    shown[problem.table.structure.is_total] = 24
    row = tc.compare(problem, [tc.Release.rounded(problem.table, shown, 5)])[0]
    assert (row.l1, row.largest, row.changed, row.percent) == (3 + 4 + 1, 4, 3, 75)
    assert row.l2 == pytest.approx(np.sqrt(9 + 16 + 1))
    assert (row.others, row.silent, row.name) == (2, 0, "release")


def test_cells_without_a_number_are_changed_but_have_no_distance() -> None:
    problem = problem_of([2, 9, 14])
    cells = np.array([problem.table.find("1"), problem.table.find("2")])
    row = tc.compare(problem, [tc.Release.suppress(problem.table, cells)])[0]
    assert (row.l1, row.l2, row.largest, row.changed, row.silent, row.others) == (0, 0, 0, 2, 2, 1)


def test_a_finer_release_is_compared_exactly() -> None:
    problem = problem_of([2, 9, 14])
    release = tc.Release.rounded(problem.table, problem.table.units, 1).with_decimals(2)
    assert tc.compare(problem, [release])[0].l1 == 0


def test_methods_are_asked_for_their_releases() -> None:
    problem = problem_of([[1, 7, 8], [3, 4, 9]])
    found = tc.compare(problem, [tc.Rounding(base=5), tc.Suppression(), tc.Rounding(base=1)])
    assert [row.name for row in found] == ["rounding", "suppression", "rounding"]
    assert "nothing would change" in found[2].none
    assert np.isnan(found[2].l1)
    lines = str(found).splitlines()
    assert len(lines) == 4
    assert "no release" in lines[3]
    assert len({len(line) for line in lines}) == 1


def test_other_cells_are_refused() -> None:
    other = tc.Table.from_array([1, 2, 3, 4])
    with pytest.raises(ReleaseError, match="lists other cells"):
        tc.compare(problem_of([2, 9, 14]), [tc.Release.rounded(other, other.units, 5)])
