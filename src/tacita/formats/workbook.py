"""Read workbooks: which of their sheets hold anything, and the columns of one of them.

A sheet that nobody names is the first visible one that holds anything; a note tells which others might have
been meant. Hidden sheets are read where they are named, or where nothing is visible. Sheets of charts hold no
cells.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from tacita.core.errors import FormatError, InputError, did_you_mean
from tacita.core.numerals import is_number, tidy
from tacita.core.tables.columns import Columns
from tacita.formats.captions import count_footnotes, count_titles, find_repeated, join_titles, note_lines
from tacita.formats.escape import unescape
from tacita.formats.extent import refuse_far_cells
from tacita.formats.headings import Merged, fill_row_headings, find_headings, list_totals_between
from tacita.formats.published_cells import COLUMNS

if TYPE_CHECKING:
    from python_calamine import CalamineSheet, CalamineWorkbook

WORKBOOKS = (".xlsx", ".xlsm", ".xls", ".ods")
RELEASE = re.compile(r"release(?: (.+))?")
"""A sheet of a release of ours, if it has its columns; its crosstab and ``notes`` say nothing more."""


@dataclass(frozen=True)
class Sheets:
    """The sheets of a workbook that hold anything, in their order.

    ``companions`` are those that come with a release of ours and are never meant instead of it; ``tables``
    those in which a row of two fields or more holds a number.
    """

    visible: tuple[str, ...]
    hidden: tuple[str, ...] = ()
    companions: tuple[str, ...] = ()
    tables: tuple[str, ...] = field(default=(), compare=False)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all sheets of a workbook that hold anything, hidden ones last."""
        return (*self.visible, *self.hidden)

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of a workbook's sheets as people choose from them, hidden ones marked."""
        return (*self.visible, *(f"{name} (hidden)" for name in self.hidden))

    @property
    def proposed(self) -> str | None:
        """The name of the workbook's sheet that is read if none is named; None if all are empty."""
        return next((name for name in self.names if name not in self.companions), None)

    @property
    def likely(self) -> str | None:
        """The sheet of a workbook to ask people about first: of those they see, the first with a table."""
        seen = self.visible or self.hidden
        own = (name for name in seen if name in self.tables and name not in self.companions)
        return next(own, self.proposed)

    @property
    def others(self) -> tuple[str, ...]:
        """The names of a workbook's sheets that may have been meant instead of the one proposed."""
        return tuple(
            name
            for name in self.visible or self.hidden
            if name != self.proposed and name not in self.companions
        )


def is_workbook(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is an Excel or OpenDocument workbook, by the ending of its name."""
    return Path(path).suffix.lower() in WORKBOOKS


def refuse_sheet(path: str | os.PathLike[str], sheet: str | None) -> None:
    """Refuse the name of a sheet for a file that is no workbook."""
    if sheet is not None and not is_workbook(path):
        raise FormatError(
            f"this is no workbook and has no sheet '{sheet}'",
            place=path,
            remedy="leave the sheet out",
            options=["sheet"],
        )


def list_sheets(path: str | os.PathLike[str]) -> Sheets:
    """Return the names of a workbook's sheets, visible and hidden; :class:`FormatError` if it is none."""
    return _list_sheets(path, _open(path))


def quote_names(names: Sequence[str]) -> str:
    """Return the names of a workbook's sheets as one text for messages, each in quotation marks."""
    return ", ".join(f"'{name}'" for name in names)


@contextmanager
def name_other_sheets(path: str | os.PathLike[str], sheet: str | None) -> Iterator[None]:
    """Add the other sheets of a workbook to errors in the block, if nobody named the sheet to read."""
    try:
        yield
    except InputError as error:
        if sheet is not None or not is_workbook(path) or not Path(path).is_file():
            raise
        try:
            sheets = list_sheets(path)
        except FormatError:
            raise error from None
        if not sheets.others:
            raise
        what = f"That is sheet '{sheets.proposed}'; if another one is meant, name the sheet"
        raise error.with_remedy(f"{what}: {quote_names(sheets.others)}", "sheet") from None


def preview_workbook(path: str | os.PathLike[str], rows: int, columns: int) -> dict[str, list[list[str]]]:
    """Return the first rows and columns of the sheets of a workbook that hold anything, as texts, by name."""
    book = _open(path)
    return {
        name: [_to_texts(row[:columns]) for row in islice(_list_rows(_get_sheet(path, book, name)), rows)]
        for name in _list_sheets(path, book).names
    }


def read_workbook(
    path: str | os.PathLike[str],
    sheet: str | None = None,
    decimal: str | None = ".",
    *,
    footnotes: bool = False,
    codes: Collection[str] = (),
) -> Columns:
    """Return the columns of a workbook's sheet; its first filled row, below titles, holds their names.

    With ``footnotes`` those below the last row are left out too, but no row that holds one of ``codes``.
    """
    book = _open(path)
    chosen, notes = _propose_sheet(path, book) if sheet is None else (_check_sheet(path, book, sheet), ())
    place = f"{path}, sheet '{chosen}'"
    opened = _get_sheet(path, book, chosen)
    whole = opened.to_python(skip_empty_area=False)
    left_out = _count_empty_columns(whole)
    grid: list[list[Any]] = [row[left_out:] for row in whole]
    merged = [(r0, c0 - left_out, r1, c1 - left_out) for (r0, c0), (r1, c1) in _list_merged(opened)]
    nested = _read_nested(place, grid, merged, left_out, decimal, footnotes, codes)
    if nested is not None:
        return replace(nested, notes=(*notes, *nested.notes))
    above = count_titles(map(_to_texts, grid))
    rows = [(number, row) for number, row in enumerate(grid, start=1) if any(format_field(v) for v in row)]
    titles = [(number, format_field(row[0])) for number, row in rows if number <= above]
    rows = rows[len(titles) :]
    if len(rows) < 2:
        raise FormatError("a row of column names and at least one more are needed", place=place)
    top, names = rows.pop(0)
    header = [unescape(format_field(v)) for v in names]
    while header and not header[-1]:
        header.pop()
    below = count_footnotes(map(_to_texts, reversed(grid[top:])), len(header), codes) if footnotes else 0
    left = [(number, format_field(row[0])) for number, row in rows if number > len(grid) - below]
    rows = rows[: len(rows) - len(left)]
    if (repeated := find_repeated(header)) is not None:
        raise FormatError(
            f"two columns are called '{repeated}'", place=f"{place}, row {top}", remedy="rename one of them"
        )
    for number, row in rows:
        if any(format_field(v) for v in row[len(header) :]):
            raise FormatError(
                f"more fields than column names in row {top}",
                place=f"{place}, row {number}",
                remedy="name every column there, or delete that row if it is a heading",
            )
    numbers = [number for number, _ in rows]
    data = {name: _build_column([row[k] for _, row in rows]) for k, name in enumerate(header)}
    notes = (*notes, *note_lines("title", "row", titles), *note_lines("footnote", "row", left))
    ends = {
        name
        for k, name in enumerate(header)
        if any(isinstance(row[k], str) and row[k] != row[k].rstrip() for _, row in rows)
    }
    at = {name: left_out + k + 1 for k, name in enumerate(header)}
    return Columns(
        pa.table(data),
        lambda row: f"{place}, row {numbers[row]}",
        decimal,
        notes,
        frozenset(ends),
        lambda row, name: (numbers[row], at[name]),
        title=join_titles(titles),
    )


def _read_nested(
    place: str,
    grid: Sequence[Sequence[Any]],
    merged: Sequence[Merged],
    left_out: int,
    decimal: str | None,
    footnotes: bool,
    codes: Collection[str],
) -> Columns | None:
    """Return the crosstab of a sheet with nested headings, one row per cell; None if it has none."""
    texts = [_to_texts(row) for row in grid]
    try:
        headings = find_headings(texts, merged, codes)
    except FormatError as error:
        raise error.with_place(place) from None
    if headings is None:
        return None
    side, width = headings.side, headings.side + len(headings.columns)
    below = count_footnotes(reversed(texts[headings.below :]), width, codes) if footnotes else 0
    end = len(grid) - below
    numbers = [r for r in range(headings.below, end) if any(texts[r])]
    for r in numbers:
        if any(texts[r][width:]):
            raise FormatError(
                "more fields than column headings",
                place=f"{place}, row {r + 1}",
                remedy="name every column, or delete that row if it is a heading",
            )
    rows = fill_row_headings(texts, numbers, side)
    rows += list_totals_between(rows) if side > 1 else []
    columns = [*headings.columns, *list_totals_between(headings.columns)]
    n, across, shown = len(rows), len(columns), len(headings.columns)
    every = [(*row, *column) for row in rows for column in columns]
    named = {
        name: pa.array([unescape(codes[k]) for codes in every], pa.string())
        for k, name in enumerate(headings.names)
    }
    values = [
        grid[numbers[r]][side + c]
        if r < len(numbers) and c < min(shown, len(grid[numbers[r]]) - side)
        else None
        for r in range(n)
        for c in range(across)
    ]
    titles = [(r + 1, texts[r][0]) for r in range(headings.top) if texts[r][0]]
    left = [(r + 1, texts[r][0]) for r in range(end, len(grid)) if texts[r][0]]
    down, right = headings.names[:side], headings.names[side:]
    note = f"read as a crosstab: rows are {quote_names(down)}, columns are {quote_names(right)}"

    def find_field(row: int, name: str) -> tuple[int, int] | None:
        r, c = divmod(row, across)
        if r >= len(numbers) or (name not in down and c >= shown):
            return None
        return numbers[r] + 1, left_out + 1 + (down.index(name) if name in down else side + c)

    def name_place(row: int) -> str:
        r, c = divmod(row, across)
        at = f"row {numbers[r] + 1}" if r < len(numbers) else f"row '{' / '.join(rows[r])}'"
        return f"{place}, {at}, column '{' / '.join(columns[c])}'"

    return Columns(
        pa.table({**named, "value": _build_column(values)}),
        name_place,
        decimal,
        (*note_lines("title", "row", titles), *note_lines("footnote", "row", left), note),
        find_field=find_field,
        title=join_titles(titles),
    )


def _list_merged(sheet: CalamineSheet) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return the merged cells of a workbook's sheet, by their first and last; none if that is not known."""
    return list(getattr(sheet, "merged_cell_ranges", None) or ())


def _open(path: str | os.PathLike[str]) -> CalamineWorkbook:
    from python_calamine import CalamineError, CalamineWorkbook

    try:
        refuse_far_cells(path)
        return CalamineWorkbook.from_path(str(path))
    except (CalamineError, OSError) as error:
        raise FormatError(
            f"the file cannot be read as a workbook ({error})",
            place=path,
            remedy="check the path and the format",
        ) from None


def _list_sheets(path: str | os.PathLike[str], book: CalamineWorkbook) -> Sheets:
    from python_calamine import SheetTypeEnum, SheetVisibleEnum

    # One sheet is the one that is meant, whatever it holds: it need not be looked through.
    known = [about for about in book.sheets_metadata if about.typ == SheetTypeEnum.WorkSheet]
    holding = [
        about
        for about in known
        if len(known) == 1
        or any(format_field(v) for row in _list_rows(_get_sheet(path, book, about.name)) for v in row)
    ]
    seen = [about.visible == SheetVisibleEnum.Visible for about in holding]
    return Sheets(
        tuple(about.name for about, visible in zip(holding, seen, strict=True) if visible),
        tuple(about.name for about, visible in zip(holding, seen, strict=True) if not visible),
        _find_companions(path, book, [about.name for about in holding]),
        tuple(about.name for about in holding if _has_table(_get_sheet(path, book, about.name))),
    )


def _find_companions(
    path: str | os.PathLike[str], book: CalamineWorkbook, names: Sequence[str]
) -> tuple[str, ...]:
    """Return the names of the crosstabs and notes that come with a release of ours in a workbook. Its name
    alone says little: the columns show a release.
    """
    released = [
        found
        for name in names
        if len(names) > 1
        and (found := RELEASE.fullmatch(name)) is not None
        and _is_release(_get_sheet(path, book, name))
    ]
    # Earlier versions numbered the crosstabs of linked tables.
    ours = {each for found in released for each in ("notes", found[1] or "crosstab", f"crosstab {found[1]}")}
    return tuple(name for name in names if name in ours)


def _is_release(sheet: CalamineSheet) -> bool:
    texts = ([format_field(v) for v in row] for row in _list_rows(sheet))
    return set(COLUMNS) <= set(next((row for row in texts if any(row)), ()))


def _has_table(sheet: CalamineSheet) -> bool:
    rows = ([text for v in row if (text := format_field(v))] for row in _list_rows(sheet))
    return any(len(row) > 1 and any(is_number(tidy(text)) for text in row) for row in rows)


def _propose_sheet(path: str | os.PathLike[str], book: CalamineWorkbook) -> tuple[str, tuple[str, ...]]:
    """Return the name of the workbook's sheet that is read where none is named, and a note on others."""
    sheets = _list_sheets(path, book)
    if sheets.proposed is None:
        raise FormatError("no sheet holds anything; a row of column names and more are needed", place=path)
    if not sheets.others:
        return sheets.proposed, ()
    others = quote_names(sheets.others)
    note = f"sheet '{sheets.proposed}' was read, the first that holds anything; others: {others}"
    return sheets.proposed, (note,)


def _check_sheet(path: str | os.PathLike[str], book: CalamineWorkbook, sheet: str) -> str:
    """Return the name of a sheet if a workbook has such a sheet of cells; refuse it otherwise."""
    from python_calamine import SheetTypeEnum

    names = [about.name for about in book.sheets_metadata if about.typ == SheetTypeEnum.WorkSheet]
    if sheet in names:
        return sheet
    wrong = f"sheet '{sheet}' holds no cells, but a chart or a program"
    if sheet not in book.sheet_names:
        wrong = f"there is no sheet '{sheet}'{did_you_mean(sheet, names)}"
    raise FormatError(wrong, place=path, remedy=f"name the sheet: {quote_names(names)}", options=["sheet"])


def _get_sheet(path: str | os.PathLike[str], book: CalamineWorkbook, sheet: str) -> CalamineSheet:
    from python_calamine import CalamineError

    try:
        return book.get_sheet_by_name(sheet)
    except CalamineError as error:
        raise FormatError(
            f"the sheet cannot be read ({error})", place=f"{path}, sheet '{sheet}'", remedy="check the format"
        ) from None


def _list_rows(sheet: CalamineSheet) -> Iterable[list[Any]]:
    """Return all rows of a workbook's sheet; none of an empty one, where some calamine versions crash."""
    return () if sheet.end is None else sheet.iter_rows()


def format_field(value: Any) -> str:
    """Return what a field of a workbook holds as text; integers without a point."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip() if value is not None else ""


def _to_texts(row: Sequence[Any]) -> list[str]:
    return [format_field(v) for v in row]


def _count_empty_columns(grid: list[list[Any]]) -> int:
    """Return how many columns on the left of a workbook's sheet are empty: tables often stand aside."""
    return min((k for row in grid if (k := next(_find_filled(row), None)) is not None), default=0)


def _find_filled(row: Sequence[Any]) -> Iterator[int]:
    return (k for k, value in enumerate(row) if format_field(value))


def _build_column(values: list[Any]) -> pa.Array:
    """Return a workbook's column as an array: floats if all filled fields are numbers, else text."""
    given = [v for v in values if format_field(v)]
    if given and all(isinstance(v, int | float) and not isinstance(v, bool) for v in given):
        return pa.array([float(v) if format_field(v) else None for v in values], pa.float64())
    return pa.array([unescape(format_field(v)) for v in values], pa.string())
