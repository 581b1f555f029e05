"""Write releases as Excel workbooks; :mod:`tacita.formats.workbook` reads workbooks.

A release gets a crosstab with a title and a legend, a sheet of one row per cell and one of notes. For
publication all hidden cells look the same: whoever knows which are primary knows that a rule hits them, which
the audit does not assume. In the internal workbook words and colours tell primary suppressions (blue) from
all other changed cells (red). Text is never a formula.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tacita.core.errors import InputError
from tacita.core.release import Mark, Release
from tacita.core.tables.frames import find_part, list_rows
from tacita.core.tables.layout import list_lines
from tacita.formats.code_labels import list_labelled_rows
from tacita.formats.crosstab_page import build_crosstab_page
from tacita.formats.escape import escape
from tacita.formats.extent import MOST_COLUMNS, MOST_ROWS
from tacita.formats.number_texts import format_numbers
from tacita.formats.presentation import USUAL_PRESENTATION, Presentation, list_meanings
from tacita.formats.published_cells import COLUMNS, format_cells
from tacita.storage.atomic import replace_file

WORKBOOK = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
RELEASE = "release"
"""What the sheet of one row per cell is called, with the name of its table if it is one of several."""
LONGEST_SHEET_NAME = 31
HEADINGS = 3
"""Rows of a crosstab's sheet down to its column headings: title, blank, headings."""
BLANK = "blank: no such cell, nothing was counted there"
"""What an empty place of a crosstab means."""
NEAR = "the true value lies between low and high of the sheet 'release'"
MOST_INDENTED = 15
"""Steps by which Excel lets a cell be indented."""
NARROWEST, WIDEST = 8, 50
"""Widths of columns, in letters."""
BLUE, RED, GREY = "#BDD7EE", "#F8CBAD", "#D9D9D9"
MEANING_INTERNAL = (
    ("internal", "this file tells which cells are sensitive: do not publish it"),
    ("primary", "hidden because the cell itself is sensitive (blue)"),
    ("secondary", "hidden, or given less exactly, to protect sensitive cells (red)"),
)


def write_excel(
    release: Release,
    path: Path,
    labels: Mapping[str, str] | None = None,
    presentation: Presentation = USUAL_PRESENTATION,
    *,
    internal: bool = False,
) -> Path:
    """Write a release as an Excel workbook of crosstab, cells and notes, with a pair of sheets per linked
    table, which carry its name; return its path.

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
    names = name_sheets([find_part(release.structure, part).name for part in parts])
    used = list_meanings(release, presentation, NEAR)
    explained = [*MEANING_INTERNAL, *used] if internal else used
    with create_workbook(path, public=not internal) as book:
        look = _CellFormats(book, internal, release.decimals)
        for part, (crosstab, _) in zip(parts, names, strict=True):
            if not release.structure.labels:
                title = presentation.name(release) if len(parts) == 1 else _name_part(release, part)
                lines = [f"{word}: {text}" for word, text in explained]
                _write_crosstab(book, crosstab, release, part, look, presentation.mark, title, lines)
        for part, (_, cells) in zip(parts, names, strict=True):
            _write_cells(book.add_worksheet(cells), release, part, look)
        _write_notes(book.add_worksheet("notes"), explained, labels or {})
    return path


def _name_part(release: Release, part: int) -> str:
    shown = find_part(release.structure, part)
    return f"{shown.name}: {' by '.join(release.structure.dimensions[d].name for d in shown.dimensions)}"


def name_sheets(tables: Sequence[str]) -> list[tuple[str, str]]:
    """Return the names of the sheets with the crosstab and the cells of each table in a workbook.

    Those of linked tables carry their names, without what names of sheets cannot hold.

    >>> name_sheets(["sales"])
    [('crosstab', 'release')]
    >>> name_sheets(["by region/size", "by region:size"])
    [('by region size', 'release by region size'), ('by region size 2', 'release by region size 2')]
    """
    if len(tables) == 1:
        return [("crosstab", RELEASE)]
    found: list[str] = []
    taken = {"", "notes", "history", "crosstab", RELEASE}
    for number, table in enumerate(tables, start=1):
        room = LONGEST_SHEET_NAME - len(RELEASE) - 1
        name = " ".join(re.sub(r"[\[\]:*?/\\]|[\x00-\x1f]", " ", table).split()).strip("' ")[:room].strip()
        if name.casefold() in taken:
            name = f"{name[: room - len(str(number)) - 1]} {number}".strip()
        taken.add(name.casefold())
        found.append(name)
    return [(name, f"{RELEASE} {name}") for name in found]


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

    def __init__(self, book: Any, internal: bool, decimals: int) -> None:
        self.internal = internal
        self._book, self._made = book, dict[tuple[tuple[str, object], ...], Any]()
        self.header = self._make(bold=True)
        # All numbers show as many decimals as the table has, so that they stand below each other.
        self._number = f"#,##0{'.' * bool(decimals)}{'0' * decimals}"

    def _make(self, **look: object) -> Any:
        """Return the format of a look, which is made once; what is off in it is left out."""
        key = tuple((name, value) for name, value in look.items() if value)
        if key not in self._made:
            self._made[key] = self._book.add_format(dict(key))
        return self._made[key]

    def indent(self, depth: int, *, total: bool) -> Any:
        """Return the format of a heading at a depth of its classification in the workbook."""
        return self._make(bold=total, indent=min(depth, MOST_INDENTED))

    def find(self, release: Release, cell: int, *, total: bool = False) -> Any:
        """Return the format of a cell in the workbook, by whether and why its number is changed."""
        ground = ""
        if release.marks[cell] != Mark.PUBLISHED:
            ground = (BLUE if release.primary[cell] else RED) if self.internal else GREY
        return self._make(num_format=self._number, bg_color=ground, bold=total)


def _write_cells(sheet: Any, release: Release, part: int, look: _CellFormats) -> None:
    names, texts, cells = list_labelled_rows(release.structure, part)
    columns = [[escape(text) for text in column] for column in texts]
    header = [*map(escape, names), *COLUMNS, *(["status"] if look.internal else [])]
    for c, name in enumerate(header):
        sheet.write_string(0, c, name, look.header)
    words = [mark.word for mark in Mark]
    ends = [format_numbers(units[cells], release.decimals) for units in (release.low, release.high)]
    ends.append(format_numbers(release.value[cells], release.decimals, ~release.shown[cells]))
    shown = [*columns, words, *map(_list_separated, ends)]
    _fit_columns(sheet, [[name, *column] for name, column in zip(header, shown, strict=False)])
    for r, cell in enumerate(cells.tolist()):
        own, changed = look.find(release, cell), release.marks[cell] != Mark.PUBLISHED
        for c, column in enumerate(columns):
            sheet.write_string(r + 1, c, column[r])
        at = len(columns)
        sheet.write_string(r + 1, at, words[release.marks[cell]], own)
        for k, numbers in enumerate(ends):
            if numbers[r]:
                sheet.write_number(r + 1, at + 1 + k, float(numbers[r]), own)
            elif changed:
                sheet.write_blank(r + 1, at + 1 + k, None, own)
        if look.internal and changed:
            sheet.write_string(r + 1, at + 4, "primary" if release.primary[cell] else "secondary", own)
    sheet.freeze_panes(1, len(columns))


def _write_crosstab(
    book: Any,
    name: str,
    release: Release,
    part: int,
    look: _CellFormats,
    mark: str,
    title: str,
    legend: Sequence[str],
) -> None:
    """Write a release as a crosstab in a workbook's sheet, between its title and its legend; nothing where
    that does not fit a sheet.
    """
    page = build_crosstab_page(release.structure, part)
    side, top = len(page.stub), HEADINGS + bool(page.column_labels)
    if len(page.dimensions) < 2 or side + len(page.columns) > MOST_COLUMNS:
        return
    if top + len(page.rows) + 2 + len(legend) > MOST_ROWS:
        return
    sheet = book.add_worksheet(name)
    sheet.write_string(0, 0, escape(title), look.header)
    for c, heading in enumerate((*page.stub, *page.columns)):
        sheet.write_string(HEADINGS - 1, c, escape(heading), look.header)
    for c, label in enumerate(page.column_labels):
        sheet.write_string(HEADINGS, side + c, escape(label), look.header)
    lines = {
        page.stub.index(dimension.name): {line.code: line for line in list_lines(dimension)[1]}
        for dimension in page.down
    }
    wide = [[heading] for heading in page.stub]
    for r, stub in enumerate(page.list_stubs()):
        for c, text in enumerate(stub):
            line = lines[c][text] if c in lines else None
            depth = line.depth if line is not None else 0
            own = look.indent(depth, total=line is not None and not line.leaf)
            sheet.write_string(top + r, c, escape(text), own)
            wide[c].append(f"{'  ' * min(depth, MOST_INDENTED)}{text}")
    told = look.internal and release.primary.any()
    words = (f"{mark} (primary)", f"{mark} (secondary)") if told else (mark, mark)
    texts, totals = format_cells(release, *words), release.structure.is_total
    for r, c, cell in zip(*(each.tolist() for each in (*page.at, page.cells)), strict=True):
        write = sheet.write_number if release.shown[cell] else sheet.write_string
        content = float(texts[cell]) if release.shown[cell] else escape(texts[cell])
        write(top + r, side + c, content, look.find(release, cell, total=bool(totals[cell])))
    longest = max(_list_separated(texts), key=len, default="")
    _fit_columns(sheet, [*wide, *([heading, longest] for heading in page.columns)])
    blank = len(page.cells) < len(page.rows) * len(page.columns)
    for r, text in enumerate([*legend, *([BLANK] if blank else [])]):
        sheet.write_string(top + len(page.rows) + 1 + r, 0, escape(text))
    sheet.freeze_panes(top, side)


def _list_separated(numbers: Sequence[str]) -> list[str]:
    """Return texts of numbers with room for the separators of their thousands."""
    return [text + " " * (len(text) // 3) for text in numbers]


def _fit_columns(sheet: Any, columns: Iterable[Iterable[str]]) -> None:
    """Make the first columns of a sheet as wide as their texts, within reason."""
    for c, texts in enumerate(columns):
        sheet.set_column(c, c, min(max(*map(len, texts), NARROWEST) + 2, WIDEST))


def _write_notes(sheet: Any, explained: Sequence[tuple[str, str]], labels: Mapping[str, str]) -> None:
    lines = [*((name, escape(text)) for name, text in labels.items()), *explained]
    for r, (word, meaning) in enumerate(lines):
        sheet.write_string(r, 0, word)
        sheet.write_string(r, 1, meaning)
    _fit_columns(sheet, [[word for word, _ in lines]] if lines else [])
