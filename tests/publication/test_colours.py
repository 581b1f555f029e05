"""Colours that somebody gave to single cells tell of their values, and hidden cells lose them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_workbook import SHEET, make_workbook
from openpyxl import load_workbook
from openpyxl.formatting.rule import ColorScaleRule, DataBarRule, IconSetRule
from openpyxl.styles import Font, PatternFill

import tacita as tc
from tacita.formats.presentation import Presentation
from tacita.publication.same_layout.colours import follows_lines
from tacita.publication.same_layout.input_sheet import InputSheet
from tacita.publication.same_layout.write_workbook import write_same_layout

RED, GREEN = "FFC00000", "FF00B050"
HIDDEN = [(region, "Men", size) for region in ("North", "East") for size in ("small", "large")]
MARKS = ("B6", "C6", "B7", "C7")


def write(
    path: Path, paint: Callable[[Any], None], hidden: Sequence[tuple[str, ...]] = HIDDEN
) -> tuple[Any, str]:
    book = load_workbook(make_workbook(path))
    paint(book[SHEET])
    book.save(path)
    table = tc.read_case(path, counts=True)
    assert isinstance(table, tc.Table)
    release = tc.Release.suppress(table, [table.structure.find(*codes) for codes in hidden])
    target = path.with_name("safe.xlsx")
    notes = write_same_layout(release, target, InputSheet(path), {}, Presentation("*"), truth=table)
    return load_workbook(target)[SHEET], "\n".join(notes)


def paint_map(sheet: Any) -> None:
    for row in sheet["B6:F9"]:
        for cell in row:
            cell.fill = PatternFill("solid", start_color=RED if cell.value > 3_000_000 else GREEN)


def paint_one(sheet: Any) -> None:
    sheet["B6"].fill = PatternFill("solid", start_color=RED)


def paint_lines(sheet: Any) -> None:
    for row in sheet["A6:F9"]:
        for cell in row:
            if cell.row % 2 or cell.column == 6:
                cell.fill = PatternFill("solid", start_color="FFDDDDDD")


@pytest.mark.parametrize("paint", [paint_map, paint_one])
def test_hidden_cells_lose_colours_of_their_own(tmp_path: Path, paint: Callable[[Any], None]) -> None:
    sheet, notes = write(tmp_path / "report.xlsx", paint)
    assert {sheet[place].fill.fill_type for place in MARKS} == {None}
    assert "hidden cells have none of their own colours" in notes
    if paint is paint_map:
        assert sheet["D6"].fill.start_color.rgb == RED


def test_colours_of_rows_and_columns_stay(tmp_path: Path) -> None:
    sheet, notes = write(tmp_path / "report.xlsx", paint_lines)
    assert sheet["B7"].fill.start_color.rgb == sheet["F6"].fill.start_color.rgb == "FFDDDDDD"
    assert sheet["B6"].fill.fill_type is None
    assert "of their own" not in notes


def test_hidden_cells_lose_fonts_of_their_own(tmp_path: Path) -> None:
    def paint(sheet: Any) -> None:
        sheet["B6"].font = Font(color=RED, bold=True)

    sheet, notes = write(tmp_path / "report.xlsx", paint)
    assert repr(sheet["B6"].font) == repr(sheet["D6"].font)
    # Of rows that are bold throughout hidden cells would be, too.
    assert sheet["B9"].font.b
    assert "hidden cells have none of their own fonts" in notes


def test_a_merged_hidden_cell_has_the_look_of_its_mark(tmp_path: Path) -> None:
    def paint(sheet: Any) -> None:
        paint_map(sheet)
        sheet["F6"].number_format = '0" high"'
        sheet.merge_cells("F6:G6")

    path = tmp_path / "report.xlsx"
    sheet, _ = write(path, paint, [("North", "Total", "Total")])
    assert (sheet["F6"].value, sheet["F6"].number_format) == ("*", "General")
    assert sheet["F6"].fill.fill_type is None


def test_colours_by_value_are_left_out(tmp_path: Path) -> None:
    def paint(sheet: Any) -> None:
        area = "B6:F9"
        ends = {"start_type": "min", "end_type": "max"}
        sheet.conditional_formatting.add(area, ColorScaleRule(**ends, start_color="FFFFFF", end_color=RED))
        sheet.conditional_formatting.add(area, DataBarRule(**ends, color=RED))
        sheet.conditional_formatting.add(area, IconSetRule("3Arrows", "percent", [0, 33, 67]))

    sheet, notes = write(tmp_path / "report.xlsx", paint)
    assert not list(sheet.conditional_formatting)
    assert "conditional formats" in notes


@given(st.integers(2, 5), st.integers(2, 5), st.data())
def test_looks_of_lines_follow_from_them_and_one_more_does_not(
    height: int, width: int, data: st.DataObject
) -> None:
    places = [(r, c) for r in range(height) for c in range(width)]
    stripes = [data.draw(st.sampled_from("ab")) for _ in range(height)]
    looks = {(r, c): stripes[r] for r, c in places}
    assert follows_lines(looks)
    assert follows_lines({(c, r): look for (r, c), look in looks.items()})
    odd = data.draw(st.sampled_from(places))
    assert not follows_lines({**looks, odd: "z"})
