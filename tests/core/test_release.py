"""A release says of each cell what its mark allows, and not a word more."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tacita.core.errors import ReleaseError
from tacita.core.exact import UNBOUNDED
from tacita.core.outcome import Outcome, Status
from tacita.core.release import Mark, Release
from tacita.core.tables.table import Table

TABLE = Table.from_array([[10, 20], [30, 40]])
CELL = TABLE.find("1", "1")


def changed(release: Release, **columns: Any) -> Release:
    """The release with other entries for one cell."""
    fields = {}
    for name, entry in columns.items():
        fields[name] = getattr(release, name).copy()
        fields[name][CELL] = entry
    return replace(release, **fields)


def test_each_kind_has_its_window() -> None:
    n = len(TABLE)
    hidden = Release.suppress(TABLE, np.array([CELL]))
    assert (hidden.low[CELL], hidden.high[CELL]) == (-UNBOUNDED, UNBOUNDED)
    assert hidden.hidden.sum() == hidden.changed.sum() == 1
    between = Release.intervals(TABLE, np.array([CELL]), np.full(n, 5), np.full(n, 15))
    assert (between.low[CELL], between.high[CELL], between.shown[CELL]) == (5, 15, False)
    rounded = Release.rounded(TABLE, np.round(TABLE.units, -1), 10)
    assert (rounded.low[CELL], rounded.high[CELL], rounded.value[CELL]) == (0, 20, 10)
    assert (rounded.marks == Mark.ROUNDED).all()


def test_a_hidden_value_is_nowhere_in_the_release() -> None:
    release = Release.suppress(TABLE, np.array([CELL]))
    for column in (release.low, release.high, release.value):
        assert column[CELL] != TABLE.units[CELL]


def test_radius_zero_is_the_value_itself() -> None:
    release = Release.rounded(TABLE, TABLE.units + 1, 0)
    assert (release.marks == Mark.PUBLISHED).all()
    assert np.array_equal(release.value, TABLE.units)


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"low": 0}, "it may have no window"),
        ({"high": 99}, "it may have no window"),
        ({"shown": True}, "no value may be shown"),
        ({"shown": True, "value": 10}, "no value may be shown"),
        ({"value": 10}, "nothing is shown"),
        ({"marks": 7}, "mark is unknown"),
        ({"marks": Mark.PUBLISHED}, "the value alone"),
        ({"marks": Mark.PUBLISHED, "low": 5, "high": 15, "value": 10, "shown": True}, "the value alone"),
        ({"marks": Mark.PUBLISHED, "low": 10, "high": 10}, "and shown"),
        ({"marks": Mark.INTERVAL, "low": 15, "high": 5}, "low above high"),
        ({"marks": Mark.INTERVAL, "low": 5, "high": 15, "value": 10, "shown": True}, "no value may be shown"),
        ({"marks": Mark.ROUNDED, "low": 5, "high": 15, "value": 20, "shown": True}, "as far below"),
        ({"marks": Mark.ROUNDED, "low": 5, "high": 15, "value": 11, "shown": True}, "as far below"),
        ({"marks": Mark.ADJUSTED, "low": 5, "high": 16, "value": 10, "shown": True}, "as far below"),
        ({"marks": Mark.ROUNDED, "shown": True}, "as far below"),
        ({"marks": Mark.ADJUSTED, "low": -10, "high": 10}, "a value must be shown"),
    ],
)
def test_a_cell_that_tells_more_than_its_window_is_refused_by_name(
    columns: dict[str, Any], reason: str
) -> None:
    with pytest.raises(ReleaseError, match=f"row=1, column=1.*{reason}"):
        changed(Release.suppress(TABLE, np.array([CELL])), **columns)


def test_entries_for_every_cell_are_needed() -> None:
    release = Release.suppress(TABLE, np.array([CELL]))
    with pytest.raises(ReleaseError, match="as many entries in 'low', not 8"):
        replace(release, low=release.low[:-1].copy())


def test_a_finer_release_says_the_same() -> None:
    release = Release.rounded(TABLE, TABLE.units, 5).with_decimals(2)
    assert release.decimals == 2
    assert (release.low[CELL], release.high[CELL], release.value[CELL]) == (500, 1500, 1000)
    hidden = Release.suppress(TABLE, np.array([CELL])).with_decimals(2)
    assert (hidden.low[CELL], hidden.high[CELL]) == (-UNBOUNDED, UNBOUNDED)


def test_arrays_of_a_release_cannot_be_written_to() -> None:
    release = Release.suppress(TABLE, np.array([CELL]))
    with pytest.raises(ValueError, match="read-only"):
        release.low[CELL] = 0


def test_the_numbers_of_an_outcome_are_printed_without_the_noise_of_floats() -> None:
    found = Outcome(Status.FEASIBLE, 913550.2, 913549.4999999999, 45.08892287799995)
    assert "loss=913550.2, bound=913549.5, seconds=45.1," in repr(found)
