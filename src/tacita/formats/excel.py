"""Write releases as Excel workbooks; :mod:`tacita.formats.workbook` reads workbooks.

A release gets a sheet of one row per cell, a crosstab and a sheet of notes. For publication all hidden cells
look the same: whoever knows which are primary knows that a rule hits them, which the audit does not assume.
In the internal workbook words and colours tell primary suppressions (blue) from all other changed cells
(red). Text is never a formula.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from tacita.core.errors import InputError
from tacita.core.exact import Cells
from tacita.core.release import Mark, Release
from tacita.core.tables.frames import find_part, list_rows
from tacita.core.tables.layout import list_lines
from tacita.formats.escape import escape
from tacita.formats.extent import MOST_COLUMNS, MOST_ROWS
from tacita.formats.number_texts import format_numbers
from tacita.formats.published_cells import COLUMNS, format_cells
from tacita.storage.atomic import replace_file

WORKBOOK = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
BLUE, RED, GREY = "#BDD7EE", "#F8CBAD", "#D9D9D9"
MEANING = {
    Mark.SUPPRESSED: ("x", "hidden"),
    Mark.INTERVAL: ("[4...10]", "the value lies between 4 and 10"),
    Mark.ROUNDED: ("rounded", "the true value lies between low and high of the sheet 'release'"),
    Mark.ADJUSTED: ("adjusted", "the true value lies between low and high of the sheet 'release'"),
}
MEANING_INTERNAL = (
    ("internal", "this file tells which cells are sensitive: do not publish it"),
    ("primary", "hidden because the cell itself is sensitive (blue)"),
    ("secondary", "hidden, or given less exactly, to protect sensitive cells (red)"),
)


def write_excel(
    release: Release, path: Path, labels: Mapping[str, str] | None = None, *, internal: bool = False
) -> Path:
    """Write a release as an Excel workbook of cells, crosstab and notes, with a pair of sheets per linked
    table; return its path.

    Parameters
    ----------
    labels
        What to say of the whole release, written into the notes.
    internal
        Tell primary from secondary suppressions, in colours and in words.
    """
    parts = range(max(1, len(release.structure.parts)))
    if any(list_rows(release.structure, part)[2].size >= MOST_ROWS for part in parts):
        raise InputError(
            f"a sheet holds at most {MOST_ROWS - 1:,} cells",
            place=path,
            remedy="write .csv or .parquet instead",
        )
    with create_workbook(path, public=not internal) as book:
        look = _CellFormats(book, internal)
        for part in parts:
            ending = f" {part + 1}" if len(parts) > 1 else ""
            _write_cells(book.add_worksheet(f"release{ending}"), release, part, look)
            if not release.structure.labels:
                _write_crosstab(book, f"crosstab{ending}", release, part, look)
        used = [meaning for mark, meaning in MEANING.items() if (release.marks == mark).any()]
        explained = [*MEANING_INTERNAL, *used] if internal else used
        _write_notes(book.add_worksheet("notes"), explained, labels or {})
    return path


@contextmanager
def create_workbook(path: Path, *, public: bool = False) -> Iterator[Any]:
    """Yield an Excel workbook to be filled; its file is written when the block ends well, or not at all."""
    import xlsxwriter
    from xlsxwriter.exceptions import FileCreateError

    with replace_file(path, public=public) as temporary:
        book = xlsxwriter.Workbook(str(temporary), {**WORKBOOK, "tmpdir": str(temporary.parent)})
        yield book
        try:
            book.close()
        except FileCreateError as error:
            # The error of the system is wrapped in one that is not an OSError.
            raise OSError(*getattr(error.args[0], "args", error.args)) from error


class _CellFormats:
    """The formats of a workbook, by what a cell is."""

    def __init__(self, book: Any, internal: bool) -> None:
        self.internal = internal
        self.header = book.add_format({"bold": True})
        self._primary = book.add_format({"bg_color": BLUE if internal else GREY})
        self._secondary = book.add_format({"bg_color": RED}) if internal else self._primary

    def colour(self, release: Release, cell: int) -> Any:
        if release.marks[cell] == Mark.PUBLISHED:
            return None
        return self._primary if release.primary[cell] else self._secondary


def _write_cells(sheet: Any, release: Release, part: int, look: _CellFormats) -> None:
    names, codes, cells = list_rows(release.structure, part)
    columns = [[escape(code) for code in column.to_pylist()] for column in codes]
    header = [*map(escape, names), *COLUMNS, *(["status"] if look.internal else [])]
    for c, name in enumerate(header):
        sheet.write_string(0, c, name, look.header)
    words = [mark.word for mark in Mark]
    ends = [format_numbers(units[cells], release.decimals) for units in (release.low, release.high)]
    ends.append(format_numbers(release.value[cells], release.decimals, ~release.shown[cells]))
    for r, cell in enumerate(cells.tolist()):
        colour = look.colour(release, cell)
        for c, column in enumerate(columns):
            sheet.write_string(r + 1, c, column[r])
        at = len(columns)
        sheet.write_string(r + 1, at, words[release.marks[cell]], colour)
        for k, texts in enumerate(ends):
            if texts[r]:
                sheet.write_number(r + 1, at + 1 + k, float(texts[r]), colour)
            elif colour is not None:
                sheet.write_blank(r + 1, at + 1 + k, None, colour)
        if look.internal and colour is not None:
            sheet.write_string(r + 1, at + 4, "primary" if release.primary[cell] else "secondary", colour)
    sheet.freeze_panes(1, len(columns))


def _write_crosstab(book: Any, name: str, release: Release, part: int, look: _CellFormats) -> None:
    """Write a release as a crosstab in a workbook's sheet: its last dimension across, all others down, each
    code after those below it, as tables are printed; nothing where that does not fit a sheet.
    """
    structure = release.structure
    shown = find_part(structure, part)
    dimensions = [structure.dimensions[d] for d in shown.dimensions]
    if len(dimensions) < 2:
        return
    ranks = np.column_stack(
        [np.argsort(list_lines(dimension)[0])[shown.codes[:, c]] for c, dimension in enumerate(dimensions)]
    )
    _, top, across = np.unique(ranks[:, -1], return_index=True, return_inverse=True)
    _, first, down = np.unique(ranks[:, :-1], axis=0, return_index=True, return_inverse=True)
    side = len(dimensions) - 1
    if top.size + side > MOST_COLUMNS or first.size >= MOST_ROWS:
        return
    sheet = book.add_worksheet(name)
    for c, dimension in enumerate(dimensions[:-1]):
        sheet.write_string(0, c, escape(dimension.name), look.header)
    for c, code in enumerate(shown.codes[top, -1].tolist()):
        sheet.write_string(0, side + c, escape(dimensions[-1].codes[code]), look.header)
    for r, row in enumerate(first.tolist()):
        for c, dimension in enumerate(dimensions[:-1]):
            sheet.write_string(r + 1, c, escape(dimension.codes[shown.codes[row, c]]), look.header)
    words = ("x (primary)", "x (secondary)") if look.internal and release.primary.any() else ("x", "x")
    texts = format_cells(release, *words)
    placed: Cells = shown.cells
    for r, c, cell in zip(down.ravel().tolist(), across.tolist(), placed.tolist(), strict=True):
        write = sheet.write_number if release.shown[cell] else sheet.write_string
        content = float(texts[cell]) if release.shown[cell] else texts[cell]
        write(r + 1, side + c, content, look.colour(release, cell))
    sheet.freeze_panes(1, side)


def _write_notes(sheet: Any, explained: Sequence[tuple[str, str]], labels: Mapping[str, str]) -> None:
    lines = [*((name, escape(text)) for name, text in labels.items()), *explained]
    for r, (word, meaning) in enumerate(lines):
        sheet.write_string(r, 0, word)
        sheet.write_string(r, 1, meaning)
