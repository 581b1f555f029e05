"""Copy the looks of a sheet into a new workbook: styles, sizes, merged cells, page set-up; nothing else."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from tacita.formats.extent import parse_column
from tacita.publication.same_layout.number_readings import list_format_words
from tacita.publication.same_layout.remarks import Remarks
from tacita.publication.same_layout.telling_texts import Telling

if TYPE_CHECKING:
    from openpyxl import Workbook
    from openpyxl.worksheet.worksheet import Worksheet

DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
COLOURS = ("dk1", "lt1", "dk2", "lt2", *(f"accent{k}" for k in range(1, 7)), "hlink", "folHlink")
PAGE = ("orientation", "paperSize", "scale", "fitToHeight", "fitToWidth", "pageOrder", "blackAndWhite")
VIEW = ("showGridLines", "showRowColHeaders", "showZeros", "rightToLeft", "zoomScale", "view")
TELLING = "left out, since it tells the value of a hidden cell"
FONT_SIZES = range(1, 100)
PAGE_CODES = re.compile(r'&"[^"]*"|&K(?:[0-9A-Fa-f]{6}|\d\d[+-]\d{3})|&\d+ ?|&[A-Za-z]')
"""How the texts of page headers look, and what is inserted into them: fonts, colours, sizes, page numbers."""
FORMAT = (
    "baseColWidth", "defaultColWidth", "defaultRowHeight", "customHeight", "zeroHeight", "thickTop",
    "thickBottom", "outlineLevelRow", "outlineLevelCol",
)  # fmt: skip
MARGINS = ("left", "right", "top", "bottom", "header", "footer")
MARGIN = 50
"""Rows and columns beyond the last filled field whose looks are kept."""
HEADERS = ("oddHeader", "oddFooter", "evenHeader", "evenFooter", "firstHeader", "firstFooter")


class StyleCopier:
    """Copies styles of cells, rows and columns from one workbook to another, each combination once."""

    def __init__(self, remarks: Remarks) -> None:
        self._known: dict[tuple[int, ...], Any] = {}
        self._remarks = remarks

    def copy(self, source: Any, target: Any) -> None:
        """Give a cell, row or column of the new workbook the style of another."""
        if not source.has_style:
            return
        key = tuple(source._style)
        if key not in self._known:
            for name in ("fill", "border", "alignment", "protection"):
                setattr(target, name, copy(getattr(source, name)))
            target.font = self._check_font(copy(source.font))
            target.number_format = self._check_format(source.number_format)
            self._known[key] = target._style
        target._style = copy(self._known[key])

    def _check_font(self, font: Any) -> Any:
        """Return the font of a cell, or the usual one if its name or size tells a hidden value."""
        if not self._remarks.tells(font.name or "", "the name of a font") and self.may_keep(font.sz):
            return font
        self._remarks.others.append(f"{TELLING}: a font")
        return type(font)()

    def may_keep(self, number: Any) -> bool:
        """Return whether a size or a number of the page set-up is not the value of a hidden cell."""
        return number is None or self._remarks.hidden.judge(str(number)) < Telling.VALUE

    def drop_telling_fonts(self, text: Any) -> Any:
        """Return the text of a cell; where its runs have fonts that tell hidden values, without these."""
        from openpyxl.cell.rich_text import CellRichText, TextBlock

        if not isinstance(text, CellRichText):
            return text
        return CellRichText(
            *(
                run.text
                if isinstance(run, TextBlock)
                and not (self.may_keep(run.font.rFont) and self.may_keep(run.font.sz))
                else run
                for run in text
            )
        )

    def _check_format(self, text: str) -> str:
        """Return the number format of a cell, or the general one if its words tell a hidden value."""
        words = self._remarks.tells(list_format_words(text), "a number format")
        if not words and self._remarks.hidden.judge(text) < Telling.VALUE:
            return text
        self._remarks.others.append(f"{TELLING}: a number format")
        return "General"


def copy_book_looks(source: Workbook, target: Workbook) -> None:
    """Give a new workbook the usual font and the colours of another."""
    from openpyxl.utils.indexed_list import IndexedList

    font = copy(source._fonts[0])
    target._fonts = IndexedList([font, *target._fonts[1:]])
    target._named_styles["Normal"].font = font
    target.loaded_theme = build_theme(source.loaded_theme)
    target.epoch = source.epoch
    properties = target.properties
    properties.creator = properties.lastModifiedBy = None


def build_theme(given: bytes | None) -> bytes | None:
    """Return the usual theme of workbooks with the colours and fonts of another; None: as it is."""
    if given is None:
        return None
    from openpyxl.writer.theme import theme_xml

    try:
        root = ET.fromstring(given)
        usual = ET.fromstring(theme_xml)
    except ET.ParseError:
        return None
    for name in COLOURS:
        here, there = usual.find(f".//{DRAWING}{name}"), root.find(f".//{DRAWING}{name}")
        if here is None or there is None or len(there) == 0:
            continue
        colour = there[0].get("lastClr") or there[0].get("val") or ""
        if re.fullmatch("[0-9A-Fa-f]{6}", colour):
            for child in list(here):
                here.remove(child)
            ET.SubElement(here, f"{DRAWING}srgbClr", {"val": colour.upper()})
    for kind in ("majorFont", "minorFont"):
        own = f".//{DRAWING}{kind}/{DRAWING}latin"
        here, there = usual.find(own), root.find(own)
        font = "" if there is None else there.get("typeface", "")
        if here is not None and re.fullmatch(r"[A-Za-z ]{1,40}", font):
            here.set("typeface", font)
    return bytes(ET.tostring(usual, encoding="utf-8", xml_declaration=True))


def copy_sheet_looks(source: Worksheet, target: Worksheet, styles: StyleCopier) -> None:
    """Give a sheet of the new workbook the sizes, view and page set-up of another."""
    rows, columns = find_extent(source)
    for key, column in source.column_dimensions.items():
        if column.min is not None and column.min > columns:
            continue
        own = target.column_dimensions[key]
        for name in ("hidden", "bestFit", "outlineLevel", "collapsed", "min", "max"):
            setattr(own, name, getattr(column, name))
        _copy_numbers(column, own, ("width",), styles)
        styles.copy(column, own)
    for number, row in source.row_dimensions.items():
        if number > rows:
            continue
        line = target.row_dimensions[number]
        for name in ("hidden", "outlineLevel", "collapsed", "thickBot", "thickTop"):
            setattr(line, name, getattr(row, name))
        _copy_numbers(row, line, ("ht",), styles)
        styles.copy(row, line)
    _copy_numbers(source.sheet_format, target.sheet_format, FORMAT, styles)
    target.sheet_properties.tabColor = copy(source.sheet_properties.tabColor)
    target.sheet_properties.pageSetUpPr = copy(source.sheet_properties.pageSetUpPr)
    target.sheet_properties.outlinePr = copy(source.sheet_properties.outlinePr)
    _copy_numbers(source.sheet_view, target.sheet_view, VIEW, styles)
    _copy_numbers(source.page_setup, target.page_setup, PAGE, styles)
    _copy_numbers(source.page_margins, target.page_margins, MARGINS, styles)
    target.print_options = copy(source.print_options)
    for name in ("freeze_panes", "print_title_rows", "print_title_cols"):
        given = getattr(source, name)
        # What lies beyond everything in the sheet is no layout, and its place may tell a value.
        if given and _lies_within(given, rows, columns):
            setattr(target, name, given)


def find_extent(sheet: Worksheet) -> tuple[int, int]:
    """Return the last row and column of a sheet that belong to its layout: those filled, and some more."""
    filled = [place for place, cell in sheet._cells.items() if cell.value is not None] or [(1, 1)]
    return max(row for row, _ in filled) + MARGIN, max(column for _, column in filled) + MARGIN


def _lies_within(area: str, rows: int, columns: int) -> bool:
    return all(int(row) <= rows for row in re.findall(r"\d+", area)) and all(
        parse_column(name) <= columns for name in re.findall("[A-Z]+", area)
    )


def _copy_numbers(source: Any, target: Any, names: Sequence[str], styles: StyleCopier) -> None:
    """Copy attributes of a sheet's layout, but for numbers that are the value of a hidden cell."""
    for name in names:
        given = getattr(source, name)
        if isinstance(given, bool | str) or styles.may_keep(given):
            setattr(target, name, given)


def copy_merged_cells(
    source: Worksheet, target: Worksheet, styles: StyleCopier, values: Container[tuple[int, int]] = ()
) -> None:
    """Merge the cells of a sheet of the new workbook that are merged in another.

    Those that begin in one of ``values``, the fields of the table, have its style throughout.
    """
    rows, columns = find_extent(source)
    ranges = [each for each in source.merged_cells.ranges if _lies_within(each.coord, rows, columns)]
    for place in ranges:
        target.merge_cells(place.coord)
    for place in ranges:
        first = (place.min_row, place.min_col)
        for row, column in place.cells:
            if first in values:
                target._cells[row, column]._style = copy(target._cells[first]._style)
            else:
                styles.copy(source._cells[row, column], target._cells[row, column])


def copy_page_texts(source: Worksheet, target: Worksheet, remarks: Remarks) -> None:
    """Copy headers and footers of printed pages, but for those that tell the value of a hidden cell."""
    for name in HEADERS:
        what = "the page header" if name.endswith("Header") else "the page footer"
        for side in ("left", "center", "right"):
            item, own = getattr(getattr(source, name), side), getattr(getattr(target, name), side)
            if not item.text:
                continue
            # Digits may stand before and after a code that only says how they look.
            bare = PAGE_CODES.sub("", item.text)
            if remarks.tells(bare, what) or remarks.hidden.judge(item.text) == Telling.VALUE:
                remarks.others.append(f"{TELLING}: {what}")
            else:
                own.text = item.text
                own.size = item.size if item.size in FONT_SIZES else None
    target.HeaderFooter.differentOddEven = source.HeaderFooter.differentOddEven
    target.HeaderFooter.differentFirst = source.HeaderFooter.differentFirst
