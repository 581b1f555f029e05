"""A table pasted from a spreadsheet: a block of fields, or nothing but numbers.

With names in its first line the block is what a CSV file would be: a crosstab, or one row per cell. A block
of numbers alone holds the inner cells of a table, as the files of the NCHS program do; a row or column that
is the sum of all others is its total. Spreadsheets show numbers as people write them (see
:mod:`tacita.core.numerals`); the sign of the decimals is the one that the block gives away.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest

import numpy as np
import pyarrow as pa

from tacita.core.errors import DecimalSignError, FormatError, InputError
from tacita.core.exact import Floats
from tacita.core.numerals import (
    SIGNS,
    find_decimal_signs,
    has_signs_beside,
    is_number,
    refuse_open_number,
    tidy,
    to_plain_number,
)
from tacita.core.tables.columns import Columns, refuse_wide
from tacita.core.tables.read_options import ReadOptions
from tacita.core.tables.table import Table
from tacita.core.words import pluralize
from tacita.formats.captions import (
    are_years_or_numbers,
    count_footnotes,
    find_repeated,
    join_titles,
    note_lines,
)
from tacita.formats.extent import FEW, SPARSE
from tacita.formats.published_cells import parse_published
from tacita.formats.table_file import AS_USUAL, build_case
from tacita.formats.workbook import refuse_sheet
from tacita.problem.problem import Problem

NAME = "pasted text"
Block = list[list[str]]
BLANK = [""]


def read_pasted(text: str, read: ReadOptions = AS_USUAL) -> Problem | Table:
    """Return the problem, or the table alone, that text pasted from a spreadsheet states, as a file would.

    Without a decimal sign in ``read`` it is the one that the numbers show; where they do not, the text is
    refused with the question.
    """
    block = _parse_block(text.rstrip("\r\n"), read.decimal) if text.strip() else []
    first, titles = _find_titles(block)
    block, notes = _drop_footnotes(block[first:], first)
    if not block:
        raise FormatError("there is nothing to read", remedy="copy a block of cells, with or without names")
    bare = all(is_number(field) for row in block if row is not BLANK for field in row)
    sign = read.decimal or _find_decimal_sign(block, first, bare)
    if bare:
        found: Problem | Table = _build_from_numbers(block, first, sign, read)
    else:
        found = _build_from_names(block, first, sign, read)
    if not isinstance(found, Table):
        return found
    said = (f"line {number} was taken for a title: '{title}'" for number, title in titles)
    return replace(found, notes=(*said, *notes, *found.notes), title=join_titles(titles))


def _parse_block(text: str, decimal: str | None) -> Block:
    """Return pasted text as rows of fields, equally long; a blank line is one empty field, so that rows are
    counted as lines.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    refuse_wide(NAME, max(line.count(sign) for line in lines for sign in "\t;,") + 1)
    separator = _find_separator([line for line in lines if line.strip()], decimal)
    if separator is None:
        return [_split_words(line) or BLANK for line in lines]
    # Quoted fields of a spreadsheet may hold line ends, so the text is read as a whole.
    try:
        read = [
            list(map(tidy, row)) for row in csv.reader(io.StringIO(text), delimiter=separator, strict=True)
        ]
    except csv.Error as error:
        raise FormatError(f"{error}; is a quotation mark without its partner?", place=NAME) from None
    width = max(map(len, read))
    if width * len(read) > max(FEW, SPARSE * sum(map(len, read))):
        raise FormatError(
            f"one line has {pluralize(width, 'field')} and most have few",
            place=NAME,
            remedy="copy the table alone",
        )
    above = next((k for k, row in enumerate(read) if len(row) > 1), 0)
    for number, row in enumerate(read, start=1):
        # Spreadsheets leave out empty fields at the end of a line.
        if any(row) and len(row) < width and separator != "\t" and number > above:
            raise FormatError(
                f"{pluralize(len(row), 'field')} where another line has {width}",
                place=f"{NAME}, line {number}",
                remedy="add or remove fields; if numbers have decimal commas, separate the fields with ';'",
            )
        row.extend([""] * (width - len(row)))
    filled = [k for k in range(width) if any(row[k] for row in read)]
    return [[row[k] for k in filled] if any(row) else BLANK for row in read]


def _find_titles(block: Block) -> tuple[int, list[tuple[int, str]]]:
    """Return how many blank lines and titles stand above the table in pasted text, and the titles by line.

    A line with a single filled field cannot hold the names of several columns.
    """
    first = next((k for k, row in enumerate(block) if sum(map(bool, row)) > 1), None)
    start = next((k for k, row in enumerate(block) if row is not BLANK), len(block))
    if first is None:
        return start, []
    # Of two columns, that of the values may have no name: a code and a number stand below it.
    below = [row for row in block[first:] if row is not BLANK]
    columns = sum(map(any, zip_longest(*below)))
    titles = [(k + 1, next(filter(None, block[k]))) for k in range(start, first) if block[k] is not BLANK]
    if any(is_number(title) for _, title in titles) or (
        columns == 2 and not is_number(below[0][0]) and is_number(below[0][-1])
    ):
        return start, []
    return first, titles


def _drop_footnotes(block: Block, first: int) -> tuple[Block, tuple[str, ...]]:
    """Return the rows of pasted text without the footnotes below the table, and a note on them."""
    below = count_footnotes(reversed(block[1:]), max(map(len, block), default=0))
    last = len(block) - below
    found = [(first + k + 1, block[k][0]) for k in range(last, len(block)) if any(block[k])]
    return block[:last], note_lines("footnote", "line", found)


def _find_separator(lines: Sequence[str], decimal: str | None) -> str | None:
    """Return what separates fields of pasted text; None for blanks, or for one number per line."""
    if any("\t" in line for line in lines):
        return "\t"
    words = [_split_words(line) for line in lines]
    if not all(is_number(word) for line in words for word in line):
        found = max(";|,", key=lambda sign: sum(sign in line for line in lines))
        if found not in "".join(lines):
            raise FormatError(
                "fields should be separated by tabs, semicolons or commas; only numbers can stand between "
                "blanks",
                place=f"{NAME}, line 1",
            )
        return found
    singles = [line[0] for line in words if len(line) == 1 and "," in line[0]]
    if len(singles) < len(lines):
        return None
    if any(to_plain_number(word, sign=".") is to_plain_number(word, sign=",") is None for word in singles):
        return ","
    if decimal is None:
        raise DecimalSignError(
            f"'{singles[0]}' may be one number or two",
            place=f"{NAME}, line 1",
            remedy="choose the decimal sign",
            options=["decimal"],
        )
    return None if decimal == "," else ","


def _split_words(line: str) -> list[str]:
    return [tidy(word) for word in line.split(" ") if word.strip()]


def _find_decimal_sign(block: Block, first: int, bare: bool) -> str:
    """Return the decimal sign, point or comma, that the numbers of pasted text show, or refuse them."""
    fields = [
        (line, field)
        for line, row in enumerate(block, start=first + 1)
        for field in (row if bare else row[1:] if line > first + 1 else ())
        if is_number(field) and ("," in field or "." in field)
    ]
    signs = find_decimal_signs([field for _, field in fields])
    if len(signs) == 2:
        (one, point), (other, comma) = fields[signs["."]], fields[signs[","]]
        raise DecimalSignError(
            f"'{point}' in line {one} has a decimal point, '{comma}' in line {other} a decimal comma",
            place=NAME,
            remedy="choose the decimal sign, or write all numbers alike",
            options=["decimal"],
        )
    if signs:
        return next(iter(signs))
    if fields:
        line, field = fields[0]
        refuse_open_number(field, f"{NAME}, line {line}")
    return "."


def _build_from_numbers(block: Block, first: int, sign: str, read: ReadOptions) -> Table:
    if strange := sorted(read.given.keys() - {"decimal", "counts", "repair"}):
        raise InputError(
            "numbers without names have no columns to choose", place=NAME, remedy=f"leave out {strange[0]}"
        )
    rows: list[list[float]] = []
    for line, row in enumerate(block, start=first + 1):
        if row is BLANK:
            continue
        numbers = [to_plain_number(field, sign) for field in row]
        if None in numbers:
            wrong = row[numbers.index(None)]
            raise DecimalSignError(
                f"'{wrong}' is not a number with a decimal {SIGNS[sign]}",
                place=f"{NAME}, line {line}",
                remedy="choose the other sign, or correct it",
            )
        rows.append([float(number) for number in numbers if number is not None])
        if len(row) != len(rows[0]):
            raise FormatError(
                f"{pluralize(len(row), 'number')} where the first line has {len(rows[0])}: every line "
                "should hold one row of the table",
                place=f"{NAME}, line {line}",
            )
    values = np.array(rows)
    # One line, or one number per line, is a list.
    inner, notes = _drop_totals(values if min(values.shape) > 1 else values.ravel())
    table = Table.from_array(inner, counts=read.counts)
    return replace(table, notes=(*notes, *table.notes))


def _drop_totals(values: Floats) -> tuple[Floats, list[str]]:
    """Return the inner cells of pasted numbers, and notes on the row and column taken for totals."""
    notes = []
    for axis, what in enumerate(("row", "column") if values.ndim == 2 else ("number",)):
        if (place := _find_total(values, axis)) is not None:
            values = np.delete(values, place, axis)
            notes.append(f"{what} {place + 1} is the sum of all others and was taken as the total")
    return values, notes


def _find_total(values: Floats, axis: int) -> int | None:
    """Return which row or column (by ``axis``) of pasted numbers is the sum of all others, the last if
    several are; None if none is, or if there are only two.
    """
    if values.shape[axis] < 3 or not values.any():
        return None
    balanced = np.isclose(2 * values, values.sum(axis=axis, keepdims=True), rtol=1e-12, atol=1e-9)
    everywhere = np.flatnonzero(balanced.all(axis=1 - axis) if values.ndim == 2 else balanced)
    return int(everywhere[-1]) if everywhere.size else None


def _build_from_names(block: Block, first: int, sign: str, read: ReadOptions) -> Problem | Table:
    header, *rows = block
    if read.by is None and read.value is None:
        _refuse_numbers_for_names(header, rows, first)
    if (repeated := find_repeated(header)) is not None:
        raise FormatError(
            f"column '{repeated}' occurs twice",
            place=f"{NAME}, line {first + 1}",
            remedy="rename one of them",
        )
    refuse_sheet(NAME, read.sheet)
    lines = [line for line, row in enumerate(rows, start=first + 2) if row is not BLANK]
    columns = list(map(list, zip(*(row for row in rows if row is not BLANK), strict=True)))
    if not columns:
        raise FormatError(f"{NAME} has a header but no rows: a table needs at least one cell")
    # The first column holds codes, which look like numbers often enough.
    columns[1:] = [_convert_column(column, sign) for column in columns[1:]]
    source = Columns(pa.table(columns, names=header), lambda row: f"{NAME}, line {lines[row]}")
    found = build_case(NAME, source, replace(read, decimal="."), None, None, {})
    named = [name for name in header[1:] if name]
    if isinstance(found, Table) and named and all(map(is_number, named)):
        note = f"the first line was taken for names, not for numbers: {', '.join(named[:5])}"
        found = replace(found, notes=(note, *found.notes))
    return found


def _convert_column(column: list[str], sign: str) -> list[str]:
    """Return a column of pasted text with numbers as Python writes them; a column of codes as it is."""
    numbers = [to_plain_number(field, sign) if field else "" for field in column]
    strange = [field for field, number in zip(column, numbers, strict=True) if number is None]
    if strange and (any(map(is_number, strange)) or not _may_stand_for_numbers(strange, sign)):
        return column
    return [field if number is None else number for field, number in zip(column, numbers, strict=True)]


def _may_stand_for_numbers(fields: Sequence[str], sign: str) -> bool:
    marks = ~parse_published(list(fields), sign).unreadable
    return all(
        mark or has_signs_beside(field, letters=True) for mark, field in zip(marks, fields, strict=True)
    )


def _refuse_numbers_for_names(header: Sequence[str], rows: Block, first: int) -> None:
    """Refuse pasted text with numbers for names, unless years, 1, 2, 3, or beside a blank corner."""
    names = [name for name in header[1:] if name]
    if not header[0] or not names or not all(map(is_number, names)) or are_years_or_numbers(names):
        return
    if is_number(header[0]):
        line, field = next(
            (line, field)
            for line, row in enumerate(rows, start=first + 2)
            for field in row
            if row is not BLANK and not is_number(field)
        )
        raise FormatError(
            f"'{field}' is not a number, and there are no names",
            place=f"{NAME}, line {line}",
            remedy="correct it, or put a line of names above",
        )
    raise FormatError(
        f"are {', '.join(names[:5])} numbers or names? If there are no names, put a line of them above; if "
        f"these are names, leave the field of '{header[0]}' blank",
        place=f"{NAME}, line {first + 1}",
        options=["names=missing", "names=first"],
    )


def number_columns(text: str, decimal: str | None = None) -> str:
    """Return pasted text with a line of names above its table: the numbers of the columns."""
    block, first = _find_table(text, decimal)
    names = ["", *(str(k) for k in range(1, len(block[first])))]
    return _write_block([*block[:first], names, *block[first:]])


def blank_corner(text: str, decimal: str | None = None) -> str:
    """Return pasted text whose first line below its titles begins with a blank, and so holds names."""
    block, first = _find_table(text, decimal)
    return _write_block([*block[:first], ["", *block[first][1:]], *block[first + 1 :]])


def _find_table(text: str, decimal: str | None) -> tuple[Block, int]:
    """Return the rows of pasted text, and which of them is the first below its titles."""
    block = _parse_block(text.rstrip("\r\n"), decimal)
    return block, _find_titles(block)[0]


def _write_block(block: Block) -> str:
    written = io.StringIO()
    lines = csv.writer(written, delimiter="\t", lineterminator="\n")
    for row in block:
        lines.writerow([] if row is BLANK else row)
    return written.getvalue()
