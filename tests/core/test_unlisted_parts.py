"""Rows that are missing in a table whose totals do not add up."""

from __future__ import annotations

import pytest

from tacita import Digits, NotAdditiveError, Table

ROWS = {
    ("T", "T"): 21, ("11", "T"): 15, ("11.01", "T"): 5, ("11.02", "T"): 10, ("12", "T"): 6,
    ("T", "N"): 10, ("11", "N"): 7, ("11.01", "N"): 2, ("11.02", "N"): 5, ("12", "N"): 3,
    ("T", "S"): 11, ("11", "S"): 8, ("11.01", "S"): 3, ("11.02", "S"): 5, ("12", "S"): 3,
}  # fmt: skip


def refuse(rows: dict[tuple[str, str], int]) -> str:
    frame = {
        "nace": [nace for nace, _ in rows],
        "region": [region for _, region in rows],
        "value": list(rows.values()),
    }
    import pyarrow as pa

    with pytest.raises(NotAdditiveError) as caught:
        Table.from_frame(pa.table(frame), {"nace": Digits("2-2", "T"), "region": None}, value="value")
    assert caught.value.options == ("repair",)
    return str(caught.value)


def test_a_cell_that_is_not_listed_and_fills_the_gap_is_named() -> None:
    text = refuse({cell: value for cell, value in ROWS.items() if cell != ("11.01", "N")})
    assert "(nace=11.01, region=N) is not listed: is a row missing?\nList what is missing. Correct" in text


@pytest.mark.parametrize("wrong", [("11", "N"), ("11.01", "N"), ("T", "T")])
def test_a_wrong_value_is_no_missing_row(wrong: tuple[str, str]) -> None:
    assert "is not listed" not in refuse({**ROWS, wrong: ROWS[wrong] + 1})
    # A cell may be empty in truth.
    sparse = {cell: value for cell, value in ROWS.items() if cell != ("12", "S")}
    sparse |= {("12", "T"): 3, ("T", "T"): 18, ("T", "S"): 8}
    assert "is not listed" not in refuse({**sparse, wrong: sparse[wrong] + 1})
