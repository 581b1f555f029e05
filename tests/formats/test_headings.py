"""Sheets with several rows of headings: merged or blank, nested, with totals that are not shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import xlsxwriter

import tacita as tc
from tacita.core.errors import FormatError
from tacita.formats.headings import find_headings

NESTED = [
    ["Table 1. Turnover"],
    [],
    ["", "men", "", "women", "", "Total"],
    ["region", "small", "large", "small", "large", ""],
    ["N", 40, 70, 30, 90, 230],
    ["S", 10, 20, 50, 60, 140],
    ["Total", 50, 90, 80, 150, 370],
    [],
    ["1) Provisional."],
]


def sheet(path: Path, rows: list[list[Any]], merged: tuple[str, ...] = ()) -> Path:
    with xlsxwriter.Workbook(str(path)) as book:
        page = book.add_worksheet()
        for r, row in enumerate(rows):
            page.write_row(r, 0, row)
        for place in merged:
            first = place.split(":")[0]
            c, r = ord(first[0]) - 65, int(first[1:]) - 1
            page.merge_range(place, rows[r][c])
    return path


def cells(table: tc.Table | tc.Problem) -> dict[tuple[str, ...], int]:
    assert isinstance(table, tc.Table)
    return {table.structure.key(c): int(table.units[c]) for c in range(len(table))}


@pytest.mark.parametrize("merged", [(), ("B3:C3", "D3:E3", "F3:F4")])
def test_nested_headings_are_dimensions(tmp_path: Path, merged: tuple[str, ...]) -> None:
    table = tc.read_case(sheet(tmp_path / "t.xlsx", NESTED, merged))
    assert isinstance(table, tc.Table)
    assert [d.name for d in table.structure.dimensions] == ["region", "column", "column 2"]
    assert [d.codes for d in table.structure.dimensions] == [
        ("Total", "N", "S"),
        ("Total", "men", "women"),
        ("Total", "small", "large"),
    ]
    found = cells(table)
    assert found["N", "men", "large"] == 70
    assert found["Total", "Total", "Total"] == 370
    # Totals between those that are shown follow from the others, and readers can work them out.
    assert found["N", "women", "Total"] == 120
    assert found["S", "Total", "small"] == 60
    assert any("'Table 1. Turnover'" in note for note in table.notes)
    assert any("'1) Provisional.'" in note for note in table.notes)


def test_a_heading_over_all_columns_names_them(tmp_path: Path) -> None:
    rows = [
        ["", "size", "", ""],
        ["region", "small", "large", "Total"],
        ["N", 4, 7, 11],
        ["S", 1, 2, 3],
        ["Total", 5, 9, 14],
    ]
    for merged in ((), ("B1:D1",)):
        table = tc.read_case(sheet(tmp_path / "t.xlsx", rows, merged))
        assert isinstance(table, tc.Table)
        assert [d.name for d in table.structure.dimensions] == ["region", "size"]
        assert cells(table)["S", "large"] == 2


def test_years_may_be_the_lower_headings(tmp_path: Path) -> None:
    rows = [
        ["region", "men", "", "women", ""],
        ["", 2023, 2024, 2023, 2024],
        ["N", 4, 7, 5, 9],
        ["S", 1, 2, 8, 3],
    ]
    table = tc.read_case(sheet(tmp_path / "t.xlsx", rows, ("A1:A2",)))
    assert isinstance(table, tc.Table)
    assert cells(table)["S", "women", "2023"] == 8


def test_row_headings_nest_alike(tmp_path: Path) -> None:
    rows = [
        ["", "", "men", "", "women", ""],
        ["industry", "region", "small", "large", "small", "large"],
        ["mining", "N", 4, 7, 5, 9],
        ["", "S", 1, 2, 8, 3],
        ["trade", "N", 14, 17, 15, 19],
        ["", "S", 11, 12, 18, 13],
        ["Total", "", 30, 38, 46, 44],
    ]
    table = tc.read_case(sheet(tmp_path / "t.xlsx", rows))
    assert isinstance(table, tc.Table)
    assert [d.name for d in table.structure.dimensions] == ["industry", "region", "column", "column 2"]
    found = cells(table)
    assert found["trade", "S", "women", "small"] == 18
    assert found["Total", "Total", "men", "large"] == 38
    assert found["mining", "Total", "men", "small"] == 5


def test_a_release_with_nested_headings_is_read(tmp_path: Path) -> None:
    table = tc.read_case(sheet(tmp_path / "t.xlsx", NESTED))
    assert isinstance(table, tc.Table)
    marked = [list(row) for row in NESTED]
    for r, c in ((4, 1), (4, 2), (5, 1), (5, 2)):
        marked[r][c] = "*"
    with pytest.warns(tc.TacitaWarning):
        release = tc.read_release(sheet(tmp_path / "r.xlsx", marked), table)
    hidden = {table.structure.key(c) for c in range(len(table)) if release.hidden[c]}
    shown = {("N", "women", "small"), ("Total", "Total", "Total"), ("Total", "men", "small")}
    assert {("N", "men", "small"), ("S", "men", "large")} <= hidden
    assert not hidden & shown


@pytest.mark.parametrize(
    "rows",
    [
        [["region", "small", "large"], ["N", "4", "7"], ["S", "1", "2"]],
        # The first row of a release may be hidden throughout, below a blank corner.
        [["", "small", "large"], ["N", "x", "x"], ["S", "1", "2"]],
        [["", "2023", "2024"], ["N", "4", "7"]],
        [["region", "value"], ["N", "4"]],
        [["title"], ["another"]],
        [],
    ],
)
def test_one_row_of_headings_is_read_as_ever(rows: list[list[str]]) -> None:
    assert find_headings(rows, ()) is None


def test_two_columns_alike_are_refused(tmp_path: Path) -> None:
    rows = [
        ["", "men", "", "women", ""],
        ["region", "s", "s", "s", "l"],
        ["N", 1, 2, 3, 4],
        ["S", 1, 2, 3, 4],
    ]
    with pytest.raises(FormatError, match="two columns have the headings 'men / s': rename one of them"):
        tc.read_case(sheet(tmp_path / "t.xlsx", rows))
