"""Write a release into a copy of the sheet that its table was read from, in a workbook that is made anew.

Kept are texts, codes, numbers that the release shows, styles, sizes, merged cells, page set-up, headers and
footers, and charts of the sheet. Marks stand in place of hidden numbers, and a legend below all. Formulas
become what the release shows; outside of the table only those of texts stay, as texts. Numbers outside of the
table are left out: they may have been computed from hidden ones. A text that holds a hidden value is refused
by the name of its field.
"""

from __future__ import annotations

import io
import re
import warnings
import zipfile
from collections.abc import Collection, Mapping, Sequence
from copy import copy
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacita.core.errors import FormatError, ReleaseError
from tacita.core.release import Release
from tacita.core.tables.table import Table
from tacita.core.words import pluralize
from tacita.formats.escape import escape
from tacita.formats.extent import parse_column
from tacita.formats.presentation import Presentation, list_meanings
from tacita.formats.published_cells import format_cells
from tacita.formats.workbook import format_field
from tacita.publication.same_layout.charts import read_charts
from tacita.publication.same_layout.colours import find_usual_look, follows_lines
from tacita.publication.same_layout.copied_chart import add_chart, find_chart_rows
from tacita.publication.same_layout.input_sheet import InputSheet, LocatedCells, locate_cells, name_sheet
from tacita.publication.same_layout.left_out import list_left_out
from tacita.publication.same_layout.package import Package, ReducedBook, SheetPart, reduce_package
from tacita.publication.same_layout.remarks import Remarks
from tacita.publication.same_layout.sheet_copy import (
    StyleCopier,
    copy_book_looks,
    copy_merged_cells,
    copy_page_texts,
    copy_sheet_looks,
    find_extent,
)
from tacita.storage.atomic import replace_file

if TYPE_CHECKING:
    from openpyxl import Workbook
    from openpyxl.worksheet.worksheet import Worksheet

TEXT_FUNCTIONS = frozenset(["CONCATENATE(", "CONCAT(", "TRIM(", "UPPER(", "LOWER(", "PROPER("])
"""Functions whose results are texts made of texts."""
NUMBER = re.compile(r"[\s\d.,'\u2019+\u2212%()-]*\d[\s\d.,'\u2019+\u2212%()-]*")
"""Texts that are nothing but a number."""
NEAR = "the number is near the true value, which is not published"
PARTS = re.compile(
    r"\[Content_Types\]\.xml|_rels/\.rels|docProps/(app|core)\.xml|xl/(workbook|styles|sharedStrings)\.xml"
    r"|xl/_rels/workbook\.xml\.rels|xl/theme/theme1\.xml|xl/worksheets/sheet\d+\.xml"
    r"|xl/worksheets/_rels/sheet\d+\.xml\.rels|xl/drawings/drawing\d+\.xml"
    r"|xl/drawings/_rels/drawing\d+\.xml\.rels|xl/charts/chart\d+\.xml"
)
"""What a published workbook may consist of."""


def write_same_layout(
    release: Release,
    path: Path,
    source: InputSheet,
    labels: Mapping[str, str],
    presentation: Presentation,
    *,
    truth: Table | None = None,
    keep_sheets: bool = False,
) -> tuple[str, ...]:
    """Write a release for publication into the layout of its input sheet; return notes on what was left out.

    Parameters
    ----------
    source
        The workbook that the table was read from.
    labels
        Of the whole release: its ``notice``, and why it is ``unaudited``; lines of the legend.
    truth
        The table, so that texts are searched for values that the sheet itself does not hold.
    keep_sheets
        Keep further sheets that hold nothing but texts.

    Raises
    ------
    ReleaseError
        A text of the sheet tells the value of a hidden cell.
    InputError
        The sheet is not that of the release.
    """
    from openpyxl import Workbook

    package = Package(source.path)
    main = package.find_sheet(name_sheet(source))
    chosen = [main]
    if keep_sheets:
        chosen += [each for each in package.sheets if each != main and each.visible and _is_sheet(each)]
    reduced = reduce_package(package, chosen)
    loaded = _load(reduced, source.path)
    located = _locate_cells(source, release, truth, loaded[main.name], reduced.formulas[main.name])
    remarks = Remarks(located.hidden)
    styles = StyleCopier(remarks)
    book = Workbook()
    copy_book_looks(loaded, book)
    book.remove(book.active)
    copied = _SheetCopier(release, located, presentation, styles, remarks, reduced)
    kept = [main.name]
    for part in chosen:
        if part != main and not _holds_texts_only(loaded[part.name], reduced.formulas[part.name]):
            continue
        remarks.refuse_telling(part.name, f"the name of sheet '{part.name}'", source.path)
        target = book.create_sheet(part.name)
        copy_sheet_looks(loaded[part.name], target, styles)
        if part == main:
            copied.copy_table(loaded[part.name], target)
        else:
            copied.copy_texts(loaded[part.name], target)
            kept.append(part.name)
        copy_merged_cells(loaded[part.name], target, styles, located.cells if part == main else ())
        copy_page_texts(loaded[part.name], target, remarks)
    charts, drawings = read_charts(package, main.part, kept, remarks)
    table = book[main.name]
    for chart in charts:
        add_chart(table, chart)
    lines = [f"{word}: {text}" for word, text in list_meanings(release, presentation, NEAR)]
    for name, text in labels.items():
        remarks.refuse_telling(text, f"the {name} of the release", source.path)
        lines.append(f"{name}: {text}")
    _write_legend(loaded[main.name], table, located, lines)
    remarks.others += list_left_out(package, main, kept, reduced, drawings)
    with replace_file(path, public=True) as temporary:
        book.save(temporary)
        _check_written(temporary, table, release, located, presentation)
    return remarks.list_notes()


def _locate_cells(
    source: InputSheet,
    release: Release,
    truth: Table | None,
    sheet: Worksheet,
    formulas: Collection[str],
) -> LocatedCells:
    formats = {place: str(cell.number_format) for place, cell in sheet._cells.items()}
    filled = {
        place
        for place, cell in sheet._cells.items()
        if cell.value is not None or (formulas and cell.coordinate in formulas)
    }
    return locate_cells(source, release, truth, formats, filled)


class _SheetCopier:
    """Copies the cells of sheets that may be published."""

    def __init__(
        self,
        release: Release,
        located: LocatedCells,
        presentation: Presentation,
        styles: StyleCopier,
        remarks: Remarks,
        reduced: ReducedBook,
    ) -> None:
        self._located, self._styles, self._remarks = located, styles, remarks
        self._texts = format_cells(release, presentation.mark, presentation.mark)
        self._release = release
        self._formulas, self._dropped = reduced.formulas, reduced.dropped
        self._codes = {code for d in release.structure.dimensions for code in d.codes}
        self._hidden = {place for place, cell in located.cells.items() if not release.shown[cell]}
        rows = [row for row, _ in located.cells]
        self._body = range(min(rows), max(rows) + 1)

    def copy_table(self, source: Worksheet, target: Worksheet) -> None:
        """Copy the sheet of the table: what the release says of its cells, texts, codes, and styles."""
        formulas, plain = self._formulas[source.title], self._find_plain_looks(source)
        for place, cell in _list_cells(source):
            own = target.cell(*place)
            self._styles.copy(cell, own)
            if place in self._located.cells:
                if place in self._hidden:
                    for name, look in plain.items():
                        setattr(own, name, copy(look))
                self._write_cell(own, self._located.cells[place])
            elif cell.value is not None:
                self._copy_value(source, cell, own, place, formulas)
        self._show_filtered_rows(source, target)

    def _show_filtered_rows(self, source: Worksheet, target: Worksheet) -> None:
        """Show the rows of the table that a filter hid: that it did tells of their values."""
        rows = [
            row for row in self._body if row in target.row_dimensions and target.row_dimensions[row].hidden
        ]
        if rows and "autoFilter" in self._dropped[source.title]:
            for row in rows:
                target.row_dimensions[row].hidden = False
            self._remarks.others.append(
                f"shown again: {pluralize(len(rows), 'row')} of the table that a filter may hide by value"
            )

    def _find_plain_looks(self, source: Worksheet) -> dict[str, Any]:
        """Return the fill and the font that hidden cells get, where theirs may tell values."""
        from openpyxl.styles import PatternFill

        changed: dict[str, Any] = {}
        for name in ("fill", "font"):
            looks = {
                place: getattr(source._cells[place]._style, f"{name}Id") for place in self._located.cells
            }
            if not self._hidden or follows_lines(looks):
                continue
            usual = find_usual_look(looks, self._hidden)
            model = next(source._cells[place] for place, look in looks.items() if look == usual)
            changed[name] = PatternFill() if name == "fill" else model.font
        if changed:
            words = " and ".join({"fill": "colours", "font": "fonts"}[name] for name in changed)
            self._remarks.others.append(
                f"hidden cells have none of their own {words}, since those of the table differ from cell to "
                "cell and may tell values"
            )
        return changed

    def copy_texts(self, source: Worksheet, target: Worksheet) -> None:
        """Copy a sheet that holds nothing but texts."""
        for place, cell in _list_cells(source):
            own = target.cell(*place)
            self._styles.copy(cell, own)
            if cell.value is not None:
                self._write_text(own, cell.value, f"'{source.title}'!{cell.coordinate}")

    def _write_cell(self, own: Any, cell: int) -> None:
        text = self._texts[cell]
        if self._release.shown[cell]:
            number = float(text)
            own.value = int(number) if number.is_integer() else number
            return
        _set_text(own, escape(text))
        # A format can print a text of its own in place of the mark.
        own.number_format = "General"
        if own.alignment.horizontal in (None, "general"):
            # Numbers stand on the right by default, and texts on the left.
            aligned = copy(own.alignment)
            aligned.horizontal = "right"
            own.alignment = aligned

    def _copy_value(
        self, source: Worksheet, cell: Any, own: Any, place: tuple[int, int], formulas: Mapping[str, str]
    ) -> None:
        from openpyxl.utils.datetime import to_excel

        value, name = cell.value, cell.coordinate
        number = _is_number(value)
        # Column headings may be years.
        is_heading = place[0] < self._body.start and format_field(value) in self._codes
        if place in self._located.codes:
            self._remarks.refuse_telling(str(value), name, self._located.sheet, code=True)
            own.value = value
            if not number:
                own.data_type = cell.data_type
            return
        if place[0] in self._body:
            self._remarks.beside.append(name)
            return
        if name in formulas and not _is_text_formula(formulas[name], source, formulas):
            self._remarks.formulas.append(name)
            return
        if number:
            if is_heading:
                self._remarks.refuse_telling(str(value), name, self._located.sheet, code=True)
                own.value = value
            else:
                self._remarks.numbers.append(name)
            return
        if isinstance(value, bool | date | datetime | time):
            # Dates are numbers of days, which may be anything.
            if isinstance(value, date) and self._located.hidden.holds(to_excel(value, source.parent.epoch)):
                self._remarks.numbers.append(name)
            else:
                own.value = value
            return
        self._write_text(own, value, name, heading=is_heading)

    def _write_text(self, own: Any, value: Any, name: str, *, heading: bool = False) -> None:
        self._remarks.refuse_telling(str(value), name, self._located.sheet, code=heading)
        _set_text(own, self._styles.drop_telling_fonts(value))


def _list_cells(sheet: Worksheet) -> list[tuple[tuple[int, int], Any]]:
    """Return the cells of a sheet that belong to its layout, in their order."""
    rows, columns = find_extent(sheet)
    return sorted(
        (place, cell) for place, cell in sheet._cells.items() if place[0] <= rows and place[1] <= columns
    )


def _set_text(own: Any, value: Any) -> None:
    """Write a text into a field of a sheet, which never runs as a formula."""
    own.value = value
    own.data_type = "s"


def _load(reduced: ReducedBook, path: Path) -> Workbook:
    from openpyxl import load_workbook

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            book = load_workbook(io.BytesIO(reduced.content), data_only=True, rich_text=True)
    except Exception as error:
        raise FormatError(
            f"its layout cannot be read ({type(error).__name__})", place=path, remedy="save the workbook anew"
        ) from None
    return book


def _is_sheet(part: SheetPart) -> bool:
    return "/worksheets/" in f"/{part.part}"


def _holds_texts_only(sheet: Worksheet, formulas: Mapping[str, str]) -> bool:
    """Return whether a sheet holds nothing but texts: no number, date or result of a formula."""
    return not formulas and all(
        cell.value is None or (isinstance(cell.value, str | list) and not _is_number(cell.value))
        for cell in sheet._cells.values()
    )


def _is_number(value: object) -> bool:
    """Return whether a field outside of the table holds a number or a duration, also one written as text."""
    if isinstance(value, str | list):
        return NUMBER.fullmatch(str(value)) is not None
    return isinstance(value, int | float | timedelta) and not isinstance(value, bool)


def _is_text_formula(formula: str, sheet: Worksheet, formulas: Mapping[str, str]) -> bool:
    """Return whether a formula joins texts of its sheet, and depends on nothing else."""
    from openpyxl.formula import Tokenizer

    try:
        tokens = Tokenizer(f"={formula}").items
    except Exception:
        return False
    for token in tokens:
        if token.type == "FUNC" and token.subtype == "OPEN" and token.value.upper() not in TEXT_FUNCTIONS:
            return False
        if token.type == "OPERATOR-INFIX" and token.value != "&":
            return False
        if token.type == "OPERAND" and token.subtype == "RANGE":
            name = token.value.replace("$", "")
            if re.fullmatch(r"[A-Z]{1,3}\d+", name) is None or name in formulas:
                return False
            if not isinstance(sheet[name].value, str | list):
                return False
        elif token.type == "OPERAND" and token.subtype not in ("TEXT", "NUMBER"):
            return False
    return any(token.type == "OPERAND" for token in tokens)


def _write_legend(source: Worksheet, target: Worksheet, located: LocatedCells, lines: Sequence[str]) -> None:
    """Write a legend below everything in the sheet of a release, in the style of its last footnote."""
    filled = [place for place, cell in target._cells.items() if cell.value is not None]
    last = max(row for row, _ in filled)
    below = max(row for row, _ in located.cells)
    column = min(column for _, column in (*located.codes, *located.cells))
    row = last + (1 if last > below else 2)
    covered = find_chart_rows(target, column)
    while over := [each for each in covered if any(r in each for r in range(row, row + len(lines)))]:
        row = max(each.stop for each in over)
    model = target._cells.get((last, column)) if last > below else None
    for k, line in enumerate(lines):
        own = target.cell(row + k, column)
        _set_text(own, escape(line))
        if model is not None:
            own.font, own.alignment = copy(model.font), copy(model.alignment)
    areas = str(source.print_area or "")
    if found := re.fullmatch(r"(?:.*!)?\$?([A-Z]+)\$?(\d+):\$?([A-Z]+)\$?(\d+)", areas):
        end = row + len(lines) - 1
        rows, columns = find_extent(source)
        if int(found[4]) <= rows and parse_column(found[3]) <= columns:
            target.print_area = f"{found[1]}{found[2]}:{found[3]}{max(int(found[4]), end)}"


def _check_written(
    path: Path, sheet: Worksheet, release: Release, located: LocatedCells, presentation: Presentation
) -> None:
    """Refuse a written workbook with a part, a number or a text that it was not meant to have."""
    from python_calamine import CalamineWorkbook

    with zipfile.ZipFile(path) as archive:
        strange = [name for name in archive.namelist() if PARTS.fullmatch(name) is None]
    texts = format_cells(release, presentation.mark, presentation.mark)
    rows = (
        CalamineWorkbook.from_path(str(path)).get_sheet_by_name(sheet.title).to_python(skip_empty_area=False)
    )
    for (row, column), cell in located.cells.items():
        shown: Any = rows[row - 1][column - 1]
        meant: Any = float(texts[cell]) if release.shown[cell] else escape(texts[cell])
        if (float(shown) if isinstance(shown, int) else shown) != meant:
            strange.append(f"row {row}, column {column}")
    if strange:
        raise ReleaseError(
            f"the workbook holds what it was not meant to: {strange[0]}", remedy="report this as a fault"
        )
