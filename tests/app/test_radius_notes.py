"""Base and radius as readers learn them, also where the method chose them."""

from __future__ import annotations

import numpy as np
import pytest

import tacita as tc
from tacita.app.work.radius_notes import describe_radii
from tacita.examples import example


def problem(values: list[list[int]], *sensitive: int) -> tc.Problem:
    return tc.Problem(tc.Table.from_array(np.array(values)), tc.Marked(list(sensitive), 1, 1))


def test_the_base_that_the_method_chose_is_told() -> None:
    asked = example("nchs")
    release = tc.Rounding().protect(asked)
    radius = int((release.high - release.value).max())
    assert describe_radii(asked, release)[0] == (
        f"Every number is a multiple of {radius + 1}; readers learn that the truth is at most {radius} away."
    )


def test_a_strict_radius_is_a_step_less_than_the_base() -> None:
    asked = example("nchs")
    told = describe_radii(asked, tc.Rounding(base=10).protect(asked))[0]
    assert told == "Every number is a multiple of 10; readers learn that the truth is at most 9 away."


def test_without_a_base_the_radius_is_told() -> None:
    asked = example("nchs")
    told = describe_radii(asked, tc.Perturbation(radius=8).protect(asked))
    assert told == ["Readers learn that the truth is at most 8 away."]


@pytest.mark.parametrize("method", [tc.Suppression(), tc.Intervals()])
def test_where_no_number_has_a_radius_nothing_is_told(method: tc.Suppression | tc.Intervals) -> None:
    asked = example("nchs")
    assert describe_radii(asked, method.protect(asked)) == []


def test_exact_cells_and_radii_by_cell_are_told_as_such() -> None:
    asked = problem([[20, 50], [8, 19]], 0)
    radius = np.array([5, 10] + [0] * (len(asked.table) - 2))
    told = describe_radii(asked, tc.Release.rounded(asked.table, asked.table.units, radius))
    cells = len(asked.table)
    assert told[0] == f"For 2 of {cells} cells readers learn that the truth is at most 5 to 10 away, by cell."


def test_a_sensitive_cell_that_shows_its_true_value_is_explained() -> None:
    asked = problem([[20, 50], [8, 19]], 0, 3)
    rounded = 5 * np.rint(asked.table.units / 5).astype(np.int64)
    true = sum(int(asked.table.units[cell]) % 5 == 0 for cell in (0, 3))
    assert true == 1
    told = describe_radii(asked, tc.Release.rounded(asked.table, rounded, 5))
    assert told[1].startswith("1 sensitive cell happens to show its true value.")
    moved = tc.Release.rounded(asked.table, rounded + 5, 10)
    assert len(describe_radii(asked, moved)) == 1
