"""Places in a workbook where nobody looks, each with the value of a hidden cell: none of it comes back."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from made_workbook import REGIONS, SHEET, make_workbook
from openpyxl import load_workbook
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.packaging.custom import StringProperty
from openpyxl.styles import Font, NamedStyle, PatternFill
from openpyxl.worksheet.hyperlink import Hyperlink

import tacita as tc
from tacita.core.errors import ReleaseError
from tacita.formats.presentation import Presentation
from tacita.publication.same_layout.input_sheet import InputSheet
from tacita.publication.same_layout.write_workbook import write_same_layout

VALUE = REGIONS["North"][0]
MAIN = "xl/worksheets/sheet1.xml"


def write(path: Path, keep_sheets: bool = False) -> tuple[dict[str, str], str]:
    """Write the workbook back with the value hidden; return all parts of the new file, and the notes."""
    table = tc.read_case(path, counts=True)
    assert isinstance(table, tc.Table)
    cells = [table.structure.find(r, "Men", s) for r in ("North", "East") for s in ("small", "large")]
    target = path.with_name("safe.xlsx")
    notes = write_same_layout(
        tc.Release.suppress(table, cells),
        target,
        InputSheet(path),
        {},
        Presentation("*"),
        truth=table,
        keep_sheets=keep_sheets,
    )
    with zipfile.ZipFile(target) as archive:
        parts = {name: archive.read(name).decode("utf-8", "replace") for name in archive.namelist()}
    return parts, "\n".join(notes)


def assert_silent(parts: dict[str, str]) -> None:
    for name, content in parts.items():
        for text in (content, re.sub("<[^>]*>", "", content)):
            assert str(VALUE) not in text, name


def _set_link(sheet: Any) -> None:
    sheet["A20"] = "See there."
    sheet["A20"].hyperlink = Hyperlink(ref="A20", target=f"https://example.org/{VALUE}", tooltip=str(VALUE))


def _set_view(sheet: Any) -> None:
    view = sheet.sheet_view
    view.zoomScale, view.topLeftCell = VALUE, f"A{VALUE}"
    view.selection[0].sqref = view.selection[0].activeCell = f"A{VALUE}"


def _set_page(sheet: Any) -> None:
    sheet.page_setup.fitToHeight = sheet.page_setup.firstPageNumber = sheet.page_margins.left = VALUE
    sheet.print_area, sheet.print_title_rows = f"A1:F{VALUE}", f"4:{VALUE}"


def _set_rows(sheet: Any) -> None:
    sheet.row_dimensions[VALUE].height = 10
    sheet.row_dimensions[8].height = sheet.column_dimensions["H"].width = VALUE
    sheet.sheet_format.defaultRowHeight = VALUE
    sheet.freeze_panes = f"B{VALUE}"


def _set_styles(sheet: Any) -> None:
    sheet["A1"].font = Font(name=f"F{VALUE}", size=VALUE)
    named = NamedStyle(f"style{VALUE}")
    sheet.parent.add_named_style(named)
    sheet["A2"].style = named
    digits = "".join(f"\\{digit}" for digit in str(VALUE))
    sheet["A20"], sheet["A20"].number_format = True, digits
    sheet["B8"].number_format = f'[=1303571]"{VALUE:,}";#,##0'
    sheet.cell(900, 3).fill = PatternFill("solid", start_color="FFFFFFFF")
    sheet["A21"] = CellRichText("x ", TextBlock(InlineFont(rFont=f"F{VALUE}", sz=VALUE), "y"))


def _set_book(sheet: Any) -> None:
    book = sheet.parent
    book.properties.creator = book.properties.keywords = str(VALUE)
    book.custom_doc_props.append(StringProperty(name="x", value=str(VALUE)))
    book.views[0].windowWidth = book.views[0].tabRatio = book.calculation.calcId = VALUE
    sheet.sheet_properties.codeName = f"V{VALUE}"
    sheet["A20"] = datetime(1899, 12, 30) + timedelta(days=VALUE)


def _set_kept_sheet(sheet: Any) -> None:
    notes = sheet.parent.create_sheet("notes")
    notes["A1"], notes.oddHeader.left.text = "Turnover is what enterprises invoice.", f"of {VALUE}"
    notes.sheet_properties.codeName, notes.print_title_rows = f"V{VALUE}", f"1:{VALUE}"


@pytest.mark.parametrize(
    "apply", [_set_link, _set_view, _set_page, _set_rows, _set_styles, _set_book, _set_kept_sheet]
)
def test_nothing_of_it_is_in_the_file(tmp_path: Path, apply: Callable[[Any], None]) -> None:
    path = make_workbook(tmp_path / "report.xlsx")
    book = load_workbook(path)
    apply(book[SHEET])
    book.save(path)
    assert_silent(write(path, keep_sheets=apply is _set_kept_sheet)[0])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<t>EUR</t>", f'<t>EUR</t><rPh sb="0" eb="1"><t>{VALUE}</t></rPh><phoneticPr fontId="0"/>'),
        (
            "<mergeCells",
            f'<scenarios><scenario name="{VALUE}"><inputCells r="B6" val="{VALUE}"/></scenario></scenarios>'
            f'<customSheetViews><customSheetView guid="{{{VALUE}}}"/></customSheetViews><mergeCells',
        ),
        ('<c r="A1"', f'<c cm="{VALUE}" ph="1" r="A1"'),
        ('<row r="1"', f'<row spans="1:{VALUE}" r="1"'),
        ("</worksheet>", f'<extLst><ext uri="{VALUE}"><a xmlns="x">{VALUE}</a></ext></extLst></worksheet>'),
    ],
)
def test_nothing_of_the_xml_of_a_sheet_is_in_the_file(tmp_path: Path, before: str, after: str) -> None:
    path = make_workbook(tmp_path / "report.xlsx")
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    assert before.encode() in parts[MAIN]
    parts[MAIN] = parts[MAIN].replace(before.encode(), after.encode(), 1)
    others = (
        "customXml/item1.xml",
        "xl/printerSettings/p.bin",
        "docProps/thumbnail.jpeg",
        "xl/vbaProject.bin",
    )
    others += ("xl/embeddings/o.bin", "xl/threadedComments/t.xml", "xl/pivotCache/records1.xml")
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in (parts | dict.fromkeys(others, f"<x>{VALUE}</x>".encode())).items():
            archive.writestr(name, content)
    written, notes = write(path)
    assert_silent(written)
    for word in ("custom XML", "printer settings", "macros", "embedded objects", "comments", "pivot tables"):
        assert word in notes


def test_characters_that_workbooks_escape_are_read(tmp_path: Path) -> None:
    text = "of 1042_x0033_19 EUR"
    with pytest.raises(ReleaseError, match="the text of A20"):
        write(make_workbook(tmp_path / "report.xlsx", A20=text))


def test_rows_that_a_filter_hid_are_shown(tmp_path: Path) -> None:
    path = make_workbook(tmp_path / "report.xlsx")
    for filtered in (False, True):
        book = load_workbook(path)
        book[SHEET].row_dimensions[7].hidden = True
        if filtered:
            book[SHEET].auto_filter.ref = "A5:F9"
        book.save(path)
        _, notes = write(path)
        after = load_workbook(tmp_path / "safe.xlsx")[SHEET]
        assert after.row_dimensions[7].hidden is not filtered
        assert ("shown again: 1 row" in notes) is filtered
