"""Cells given by mask, by codes or by position mean the same everywhere; what could be two of these is
refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita.core.attacker import Insider
from tacita.core.errors import InputError
from tacita.core.exact import Mask
from tacita.rules.rule import Exempt

TABLE = tc.Table.from_array([[20, 50, 10], [8, 19, 22], [17, 32, 12]], names=("r", "c"))
LIST = tc.Table.from_array([7, 8, 9], names=("r",), codes=(("N", "S", "W"),))
CELLS = [TABLE.find("1", "2"), TABLE.find("3", "3")]
MASK = np.isin(np.arange(len(TABLE)), CELLS)

WAYS: dict[str, Callable[[Any], Mask]] = {
    "must_hide": lambda cells: tc.Problem(TABLE, tc.Marked([]), must_hide=cells).must_hide,
    "must_publish": lambda cells: tc.Problem(TABLE, tc.Marked([]), must_publish=cells).must_publish,
    "Marked": lambda cells: tc.Marked(cells).levels(TABLE).sensitive,
    "Exempt": lambda cells: Exempt(tc.Threshold(100), cells).exempt_cells(TABLE),
    "Release.suppress": lambda cells: tc.Release.suppress(TABLE, cells).changed,
    "primary": lambda cells: tc.Release.suppress(TABLE, MASK, primary=cells).primary,
    "intervals": lambda cells: tc.Release.intervals(TABLE, cells, TABLE.units - 1, TABLE.units + 1).changed,
}
SAME = {
    "mask": MASK,
    "list of truth values": MASK.tolist(),
    "series": pd.Series(MASK),
    "positions": CELLS,
    "array of positions": np.array(CELLS),
    "codes": [("1", "2"), ("3", "3")],
    "codes as lists": [["1", "2"], ["3", "3"]],
    "codes as numbers": [(1, 2), (3, 3)],
    "codes by name": [{"r": "1", "c": "2"}, {"r": "3", "c": "3"}],
}
REFUSED = {
    "a short mask": ([True, False], "2 truth values for 16 cells"),
    "a long mask": (np.ones(17, dtype=bool), "17 truth values for 16 cells"),
    "a mask with two axes": (MASK.reshape(4, 4), r"shape \(4, 4\)|\(False, .* is no cell"),
    "zeros and ones": (MASK.astype(int), r"could be a mask or the positions 0 and 1: give truth values"),
    "codes without a list": (("1", "2"), r"'1' alone names no cell .* by r, c: write the codes"),
    "codes or positions": ((1, 2), r"could be the codes of one cell or the positions of 2"),
    "a text": ("abc", "no column 'abc'"),
    "an unknown code": ([("1", "Stel")], "Stel"),
    "no integer": ([1.5], "1.5 is no cell"),
    "truth values among positions": ([True, 3], "True is no cell"),
    "a position too far": ([16], "no cell number 16. Cells are numbered 0 to 15"),
    "a negative position": ([-1], "no cell number -1"),
    "nothing": (None, "no list of cells|None is no cell"),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("how", SAME)
def test_cells_mean_the_same_by_mask_codes_and_position(way: str, how: str) -> None:
    chosen = WAYS[way](SAME[how])
    expected = MASK & (TABLE.units < 100) if way == "Exempt" else MASK
    assert np.flatnonzero(chosen).tolist() == np.flatnonzero(expected).tolist()


@pytest.mark.parametrize("way", [way for way in WAYS if way != "primary"])
@pytest.mark.parametrize("what", REFUSED)
def test_what_could_be_two_things_is_refused(way: str, what: str) -> None:
    cells, message = REFUSED[what]
    with pytest.raises(InputError, match=message):
        WAYS[way](cells)


def test_codes_of_one_dimension_stand_alone() -> None:
    for cells in (["S", "W"], ("S", "W"), [("S",), ("W",)], np.array(["S", "W"])):
        assert tc.Marked(cells).levels(LIST).cells.tolist() == [LIST.find("S"), LIST.find("W")]
    assert tc.Marked(LIST.find("S")).levels(LIST).cells.tolist() == [LIST.find("S")]


def test_a_written_mark_of_numbers_that_are_codes_too_is_refused() -> None:
    with pytest.raises(InputError, match=r"write \[\('1', '2'\)\] for the cell with these codes"):
        tc.Problem(TABLE, "marked([1, 2])")
    marked = tc.Problem(TABLE, "marked([[1, 2]])")
    assert marked.sensitive.tolist() == [TABLE.find("1", "2")]


def test_insiders_take_no_mask_for_positions() -> None:
    with pytest.raises(InputError, match=r"'cells' are positions .* numpy\.flatnonzero"):
        Insider("i", np.array([False, True]), np.zeros(2, np.int64), np.ones(2, np.int64))
    with pytest.raises(InputError, match="'x' alone names no cell"):
        Insider.knowing("i", TABLE, {"x": (0, 1)})
    known = Insider.knowing("i", TABLE, {("3", "3"): (0, 99), CELLS[0]: (0, 99)})
    assert known.cells.tolist() == CELLS


@given(st.lists(st.booleans(), min_size=len(TABLE), max_size=len(TABLE)))
def test_any_mask_is_the_list_of_its_positions(mask: list[bool]) -> None:
    by_mask = tc.Problem(TABLE, tc.Marked([]), must_hide=mask).must_hide
    by_position = tc.Problem(TABLE, tc.Marked([]), must_hide=np.flatnonzero(mask)).must_hide
    assert by_mask.tolist() == by_position.tolist() == mask
