"""The sheet of differences: shown minus true with its sign, what is hidden, blank where nothing changed."""

from __future__ import annotations

import numpy as np

import tacita as tc
from tacita.app.sheet import Flag
from tacita.app.work.view import HIDDEN, view_difference
from tacita.core.exact import UNBOUNDED
from tacita.core.tables.layout import lay_out


def table() -> tc.Table:
    return tc.Table.from_array(np.array([[20, 50], [8, 19]]))


def texts(release: tc.Release) -> dict[int, str]:
    """What is shown of each cell."""
    own = table()
    where = lay_out(own.structure)
    shown = view_difference(tc.Problem(own, tc.Marked([0], 1, 1)), release, where).to_content().texts
    return {
        int(where.cells[r, c]): shown[r][c] for r in range(len(where.rows)) for c in range(len(where.columns))
    }


def test_differences_have_their_sign() -> None:
    own = table()
    shown = texts(tc.Release.rounded(own, 5 * np.rint(own.units / 5).astype(np.int64), 5))
    for cell, units in enumerate(own.units.tolist()):
        off = 5 * round(units / 5) - units
        assert shown[cell] == (f"+{off}" if off > 0 else f"−{-off}" if off < 0 else "")


def test_hidden_cells_say_so_and_others_are_blank() -> None:
    shown = texts(tc.Release.suppress(table(), np.array([0, 1])))
    assert {cell for cell, text in shown.items() if text == HIDDEN} == {0, 1}
    assert {text for cell, text in shown.items() if cell > 1} == {""}


def test_intervals_are_told_relative_to_the_value() -> None:
    own = table()
    high = np.full(len(own), UNBOUNDED)
    high[0] = own.units[0] + 4
    release = tc.Release.intervals(own, np.array([0, 1]), own.units - 3, high)
    shown = texts(release)
    assert shown[0] == "−3…+4"
    assert shown[1] == "−3…+∞"


def test_what_came_out_as_it_was_does_not_stand_out() -> None:
    own = table()
    where = lay_out(own.structure)
    release = tc.Release.rounded(own, 5 * np.rint(own.units / 5).astype(np.int64), 5)
    view = view_difference(tc.Problem(own, tc.Marked([0], 1, 1)), release, where)
    fifty = np.argwhere(where.cells == int(np.flatnonzero(own.units == 50)[0]))[0]
    assert not view.flags[tuple(fifty)] & Flag.OTHER
    nineteen = np.argwhere(where.cells == int(np.flatnonzero(own.units == 19)[0]))[0]
    assert view.flags[tuple(nineteen)] & Flag.OTHER
