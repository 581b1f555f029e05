"""Texts that state the value of a hidden cell, in every writing that people see through."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_workbook import REGIONS, SHEET, make_workbook
from openpyxl import Workbook, load_workbook
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.chart import BarChart, Reference
from openpyxl.chart.text import RichText, Text
from openpyxl.chart.title import Title
from openpyxl.drawing.text import Paragraph, RegularTextRun

import tacita as tc
from tacita.core.errors import ReleaseError
from tacita.formats.presentation import Presentation
from tacita.publication.same_layout.input_sheet import InputSheet
from tacita.publication.same_layout.number_readings import list_readings, round_as_shown, simplify
from tacita.publication.same_layout.telling_texts import HiddenValues, Telling
from tacita.publication.same_layout.write_workbook import write_same_layout

SMALL = {"North": (41, 22, 35, 17), "East": (30, 3, 26, 12), "South": (52, 14, 4, 19)}
HIDDEN = [(region, "Men", size) for region in ("North", "East") for size in ("small", "large")]


def write(path: Path) -> tuple[Path, str]:
    """Write the workbook back with four cells hidden; return it, and all notes."""
    table = tc.read_case(path, counts=True)
    assert isinstance(table, tc.Table)
    release = tc.Release.suppress(table, [table.structure.find(*codes) for codes in HIDDEN])
    target = path.with_name("safe.xlsx")
    notes = write_same_layout(release, target, InputSheet(path), {}, Presentation("*"), truth=table)
    return target, "\n".join(notes)


def change(path: Path, apply: Callable[[Any], None]) -> Path:
    book = load_workbook(path)
    apply(book[SHEET])
    book.save(path)
    return path


@pytest.mark.parametrize(
    "text",
    [
        "of 1\u2009042\u2009319 EUR",
        "of 1\u202f042\u202f319 EUR",
        "of 1\u2007042\u2007319 EUR",
        "of 1\u2019042\u2019319 EUR",
        "of 10\u200b42\u200d31\u00ad9 EUR",
        "of \uff11\uff10\uff14\uff12\uff13\uff11\uff19 EUR",
        "of \u0661\u0660\u0664\u0662\u0663\u0661\u0669 EUR",
        "of \u0661\u066c\u0660\u0664\u0662\u066c\u0663\u0661\u0669 EUR",
        "1 0 4 2 3 1 9",
        "in 2024 1 042 319 EUR",
        "in 2024, 1,042,319 EUR",
        "about 1.0423 million",
        "1042.3 Tsd. EUR",
        "of 1.042319e6 EUR",
        "of 10,42,319 EUR",
        "of 1042319\u00b2 EUR",
        "1,042,320 (rounded)",
    ],
)
def test_a_value_is_found_in_any_writing(tmp_path: Path, text: str) -> None:
    path = make_workbook(tmp_path / "report.xlsx", A11=text)
    if text.startswith("1 0"):
        # Nothing but a number: it is left out, as every number outside of the table.
        assert "A11" in write(path)[1]
        return
    with pytest.raises(ReleaseError, match="the text of A11 holds the value of a hidden cell"):
        write(path)


def test_a_value_spread_over_runs_of_a_cell_is_refused(tmp_path: Path) -> None:
    runs = CellRichText("of ", TextBlock(InlineFont(b=True), "1042"), TextBlock(InlineFont(i=True), "319"))
    path = make_workbook(tmp_path / "report.xlsx", A11=runs)
    with pytest.raises(ReleaseError, match="the text of A11"):
        write(path)


def _add_chart(sheet: Any, *texts: str) -> None:
    chart = BarChart()
    chart.add_data(Reference(sheet, min_col=2, max_col=3, min_row=5, max_row=8), titles_from_data=True)
    runs = [RegularTextRun(t=text) for text in texts]
    chart.title = Title(tx=Text(rich=RichText(p=[Paragraph(r=runs)])))
    sheet._charts = []
    sheet.add_chart(chart, "H30")


def test_a_value_spread_over_runs_of_a_chart_title_is_left_out(tmp_path: Path) -> None:
    path = change(make_workbook(tmp_path / "report.xlsx"), lambda s: _add_chart(s, "of 1042", "319 EUR"))
    target, notes = write(path)
    assert "a chart was left out: its text tells the value of a hidden cell" in notes
    assert not load_workbook(target)[SHEET]._charts


@pytest.mark.parametrize(
    "text", ['&"Arial"1042&B319', "1042&I319&I EUR", "10&K00FF0042&14 319", "1 042&U 319"]
)
def test_a_value_among_codes_of_a_page_header_is_left_out(tmp_path: Path, text: str) -> None:
    def set_header(sheet: Any) -> None:
        sheet.oddHeader.center.text = text

    target, notes = write(change(make_workbook(tmp_path / "report.xlsx"), set_header))
    assert "left out, since it tells the value of a hidden cell: the page header" in notes
    assert not load_workbook(target)[SHEET].oddHeader.center.text


def test_a_short_value_is_noted_in_every_kind_of_text(tmp_path: Path) -> None:
    def add(sheet: Any) -> None:
        _add_chart(sheet, "Chart of 41 towns")
        sheet.oddFooter.center.text = "41 &P"
        sheet._charts[0].y_axis.scaling.max = 41
        sheet["A2"] = "41 towns"
        sheet["B9"].number_format = '#,##0" of 41"'

    _, notes = write(change(make_workbook(tmp_path / "report.xlsx", SMALL), add))
    found = [line for line in notes.splitlines() if "perhaps by chance" in line]
    for name in (
        "A2 ('41 towns')",
        "a chart ('Chart of 41 towns')",
        "a chart ('41",
        "the page footer ('41')",
    ):
        assert name in found[0], name
    assert "a number format ('of 41')" in found[0]


@pytest.mark.parametrize("text", ["North, men: 41 cases", "In North 41", "41 small ones", "North 41."])
def test_a_short_value_beside_the_name_of_its_cell_is_refused(tmp_path: Path, text: str) -> None:
    path = make_workbook(tmp_path / "report.xlsx", SMALL, A2=text)
    with pytest.raises(ReleaseError, match="the text of A2"):
        write(path)


@pytest.mark.parametrize("text", ["Table 41. Men in North", "41) Of North: provisional", "South: 41"])
def test_a_short_value_that_numbers_a_table_or_names_another_cell_is_noted(tmp_path: Path, text: str) -> None:
    _, notes = write(make_workbook(tmp_path / "report.xlsx", SMALL, A2=text))
    assert "A2 ('" in notes


def test_a_number_that_is_published_too_is_refused_only_if_it_speaks_of_the_hidden_cell(
    tmp_path: Path,
) -> None:
    regions = {**REGIONS, "South": (1303571, 2039119, 4059179, REGIONS["North"][0])}
    fine = make_workbook(tmp_path / "report.xlsx", regions, A2="Women in South: 1,042,319 EUR")
    assert "A2 ('Women in South" in write(fine)[1]
    telling = make_workbook(tmp_path / "report.xlsx", regions, A2="Men in North: 1,042,319 EUR")
    with pytest.raises(ReleaseError, match="the text of A2"):
        write(telling)


@pytest.mark.parametrize(("field", "text"), [("A6", "North (1042319)"), ("B4", "Men 1 042 319")])
def test_a_code_that_tells_the_value_of_its_own_cell_is_refused(
    tmp_path: Path, field: str, text: str
) -> None:
    path = make_workbook(tmp_path / "report.xlsx", **{field: text})
    table = tc.read_case(path, counts=True)
    assert isinstance(table, tc.Table)
    codes = (text, "Men", "small") if field == "A6" else ("North", text, "small")
    release = tc.Release.suppress(table, [table.structure.find(*codes)])
    with pytest.raises(ReleaseError, match=f"the text of {field}"):
        write_same_layout(release, tmp_path / "safe.xlsx", InputSheet(path), {}, Presentation(), truth=table)


def make_amounts(path: Path, number_format: str, footnote: str) -> tc.Table:
    book = Workbook()
    for row in (
        ["region", "a", "b", "Total"],
        ["N", 1234.6, 3111.7, 4346.3],
        ["S", 6200.1, 5007.2, 11207.3],
        ["Total", 7434.7, 8118.9, 15553.6],
        [],
        [footnote],
    ):
        book.active.append(row)
    for row in book.active["B2:D4"]:
        for cell in row:
            cell.number_format = number_format
    book.save(path)
    table = tc.read_case(path)
    assert isinstance(table, tc.Table)
    return table


@pytest.mark.parametrize(
    ("number_format", "footnote"),
    [
        ("#,##0", "1) Of this 1,235 in towns."),
        ("#,##0", "1) Of this 1 235 in towns."),
        ('0.0,"thousand"', "1) Of this 1.2 thousand in towns."),
        ('0.00,"k"', "1) Of this 1.23k in towns."),
        ("0", "1) Of this 1234 in towns."),
    ],
)
def test_a_value_as_its_field_shows_it_is_refused(tmp_path: Path, number_format: str, footnote: str) -> None:
    table = make_amounts(tmp_path / "report.xlsx", number_format, footnote)
    release = tc.Release.suppress(table, [table.structure.find("N", "a")])
    with pytest.raises(ReleaseError, match="the text of A6"):
        write_same_layout(
            release,
            tmp_path / "safe.xlsx",
            InputSheet(tmp_path / "report.xlsx"),
            {},
            Presentation(),
            truth=table,
        )


@pytest.mark.parametrize(
    ("value", "number_format", "shown"),
    [
        ("1234.6", "#,##0", "1235"),
        ("1234.6", "General", None),
        ("1234567", "#,##0,", "1235"),
        ("1234567", "0.0,,", "1.2"),
        ("1234567", '0.00,,"m"', "1.23"),
        ("0.1256", "0.0%", "12.6"),
        ("-1234.6", "#,##0;(#,##0.0)", "1234.6"),
        ("1234.6", '[Red]#,##0.0_);"9"0', "1234.6"),
        ("1234.6", "yyyy", None),
        ("1234.6", "0.00E+00", None),
    ],
)
def test_number_formats_round_as_spreadsheets_do(value: str, number_format: str, shown: str | None) -> None:
    found = round_as_shown(Decimal(value), number_format)
    assert (None if found is None else str(found)) == shown


@given(st.integers(100, 10**9), st.sampled_from(["", ",", ".", " ", "\u202f", "\u2019", "\u2009", "\u066c"]))
def test_every_grouping_of_every_number_is_read(number: int, sign: str) -> None:
    text = f"of {number:,} EUR in 2024".replace(",", sign)
    readings = {each.value for plain in simplify(text) for each in list_readings(plain)}
    assert Decimal(number) in readings
    assert HiddenValues({0: Decimal(number)}).judge(text) >= Telling.PERHAPS
