"""Two releases cell by cell: what only one of them hides or changes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita.testing.problems import problems, releases


@given(st.data())
def test_each_changed_cell_is_counted_once_and_on_the_right_side(data: st.DataObject) -> None:
    problem = data.draw(problems())
    pair = [data.draw(releases(problem)) for _ in range(2)]
    found = tc.compare_cells(problem.table, *pair)
    for cell, value in enumerate(problem.table.units.tolist()):
        silent = [not release.shown[cell] for release in pair]
        changed = [gone or release.value[cell] != value for gone, release in zip(silent, pair, strict=True)]
        for (one, other), masks in (
            (changed, (found.only_first, found.only_second, found.both)),
            (silent, (found.hidden_first, found.hidden_second, found.hidden_both)),
        ):
            expected = [one and not other, other and not one, one and other]
            assert [bool(mask[cell]) for mask in masks] == expected


def test_counts_have_the_names_of_the_masks() -> None:
    table = tc.Table.from_array([[20, 50], [8, 19]])
    first = tc.Release.suppress(table, [("1", "1"), ("1", "2")])
    rounded = tc.Release.rounded(table, 5 * np.rint(table.units / 5).astype(np.int64), 5)
    assert tc.compare_cells(table, first, rounded).counts == {
        "only_first": 2,
        "only_second": int((table.units % 5 != 0).sum()),
        "both": 0,
        "hidden_first": 2,
        "hidden_second": 0,
        "hidden_both": 0,
    }


def test_releases_of_other_tables_are_refused() -> None:
    table, other = tc.Table.from_array([[20, 50], [8, 19]]), tc.Table.from_array([[20, 50, 1], [8, 19, 1]])
    with pytest.raises(tc.ReleaseError):
        tc.compare_cells(table, tc.Release.suppress(table, []), tc.Release.suppress(other, []))
