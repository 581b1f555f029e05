"""A table pasted from a spreadsheet: a block of fields, or nothing but numbers.

With names in its first line the block is what a CSV file would be: a crosstab, or one row per cell. A block
of numbers alone holds the inner cells of a table, as the files of the NCHS program do; a row or column that
is the sum of all others is its total. Spreadsheets show numbers as people write them: ``1 234,5``,
``1.234,5`` and ``1,234.5`` are one number, and the sign of the decimals is the one that the block gives away.
"""

from __future__ import annotations

import csv
import io
import re
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tacita.errors import FormatError, InputError
from tacita.exact import Floats
from tacita.io.case import read_table_file
from tacita.io.csv import write_rows
from tacita.io.escape import escape
from tacita.problem import Problem
from tacita.tables.table import Table

NAME = "pasted text"
SIGNS = {".": "point", ",": "comma"}
Block = list[list[str]]
BLANK = [""]

# What may stand between groups of three digits besides a point and a comma.
_GROUPING = re.compile(r"(?<=\d)[\u00a0\u2009\u202f\u2019' ](?=\d{3}(?!\d))")
_WRITTEN = re.compile(r"[+-]?\d+(?:[.,]\d+)*(?:[eE][+-]?\d+)?")


def read_pasted(
    text: str,
    *,
    decimal: str | None = None,
    counts: bool | None = None,
    repair: bool = False,
    **options: Any,
) -> Problem | Table:
    """A problem, or a table where nothing says what is sensitive.

    Parameters
    ----------
    decimal
        The decimal sign, ``.`` or ``,``. Default: the one that the numbers give away; where they do not,
        the text is refused with the question.
    counts, repair
        As for :meth:`Table.from_frame`.
    options
        Further ones of :func:`read_table_file`, for text with names in its first line.
    """
    block = _block(text.strip("\r\n"), decimal) if text.strip() else []
    while block and block[0] is BLANK:
        del block[0]
    if not block:
        raise FormatError("there is nothing to read: copy a block of cells, with or without names")
    bare = all(_is_number(field) for row in block if row is not BLANK for field in row)
    sign = decimal or _decimal_sign(block, bare)
    if bare:
        return _from_numbers(block, sign, counts, options)
    return _from_names(block, sign, counts=counts, repair=repair, **options)


def _block(text: str, decimal: str | None) -> Block:
    """Rows of fields, equally long; a blank line is one empty field, so that rows are counted as lines."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    separator = _separator([line for line in lines if line.strip()], decimal)
    if separator is None:
        return [_words(line) or BLANK for line in lines]
    # Quoted fields of a spreadsheet may hold line ends, so the text is read as a whole.
    try:
        read = [
            list(map(_tidy, row)) for row in csv.reader(io.StringIO(text), delimiter=separator, strict=True)
        ]
    except csv.Error as error:
        raise FormatError(f"{NAME}: {error}; is a quotation mark without its partner?") from None
    width = max(map(len, read))
    for number, row in enumerate(read, start=1):
        # Spreadsheets leave out empty fields at the end of a line.
        if any(row) and len(row) < width and separator != "\t":
            raise FormatError(
                f"{NAME}, line {number}: {len(row)} fields where another line has {width}: add or remove "
                "fields; if numbers have decimal commas, separate the fields with ';'"
            )
        row.extend([""] * (width - len(row)))
    filled = [k for k in range(width) if any(row[k] for row in read)]
    return [[row[k] for k in filled] if any(row) else BLANK for row in read]


def _separator(lines: Sequence[str], decimal: str | None) -> str | None:
    """What separates fields; None for blanks between numbers, or one number per line."""
    if any("\t" in line for line in lines):
        return "\t"
    words = [_words(line) for line in lines]
    if not all(_is_number(word) for line in words for word in line):
        found = max(";|,", key=lambda sign: sum(sign in line for line in lines))
        if found not in "".join(lines):
            raise FormatError(
                f"{NAME}, line 1: fields should be separated by tabs, semicolons or commas; only numbers can "
                "stand between blanks"
            )
        return found
    singles = [line[0] for line in words if len(line) == 1 and "," in line[0]]
    if len(singles) < len(lines):
        return None
    if any(_plain(word, sign=".") is _plain(word, sign=",") is None for word in singles):
        return ","
    if decimal is None:
        raise FormatError(f"{NAME}, line 1: '{singles[0]}' may be one number or two: choose the decimal sign")
    return None if decimal == "," else ","


def _words(line: str) -> list[str]:
    return [_tidy(word) for word in line.split(" ") if word.strip()]


def _tidy(field: str) -> str:
    """A field on one line; a number with a plain minus sign and without blanks between groups of digits."""
    if field.isascii() and field.isdecimal():
        return field  # Most fields are, and there may be a million.
    plain = re.sub(r"\s*\n\s*", " ", field.replace("\r", "")).strip()
    number = _GROUPING.sub("", plain.replace("\u2212", "-"))
    return number if _is_number(number) else plain


def _is_number(field: str) -> bool:
    return _WRITTEN.fullmatch(field) is not None


def _decimal_sign(block: Block, bare: bool) -> str:
    """The sign of the decimals that the numbers themselves tell.

    ``1,5`` and ``1.234,5`` tell a comma; ``1,234`` tells nothing, being a thousand or one and a bit.
    """
    fields = [
        (number, field)
        for number, row in enumerate(block, start=1)
        for field in (row if bare else row[1:] if number > 1 else ())
        if _is_number(field) and ("," in field or "." in field)
    ]
    told = {sign: (number, field) for number, field in reversed(fields) if (sign := _told_by(field))}
    if len(told) == 2:
        (one, point), (other, comma) = told["."], told[","]
        raise FormatError(
            f"{NAME}: '{point}' in line {one} has a decimal point, '{comma}' in line {other} a decimal "
            "comma: choose the decimal sign, or write all numbers alike"
        )
    if told:
        return next(iter(told))
    if fields:
        number, field = fields[0]
        raise FormatError(
            f"{NAME}, line {number}: '{field}' may be in thousands or have three decimals: choose the "
            "decimal sign"
        )
    return "."


def _told_by(field: str) -> str | None:
    mantissa = re.split("[eE]", field.lstrip("+-"))[0]
    last = max(mantissa.rfind("."), mantissa.rfind(","))
    sign, before, after = mantissa[last], mantissa[:last], mantissa[last + 1 :]
    other = "," if sign == "." else "."
    if sign in before:
        return other  # Several of one sign separate groups.
    thousands = len(after) == 3 and other not in before and 1 <= len(before) <= 3 and before[0] != "0"
    return None if thousands else sign


def _plain(field: str, sign: str) -> str | None:
    """A number as Python writes it; None where ``field`` is none with this decimal sign."""
    if field.isascii() and field.isdecimal():
        return field
    group = "," if sign == "." else "."
    number = rf"[+-]?(?:\d+|\d{{1,3}}(?:\{group}\d{{3}})+)(?:\{sign}\d*)?(?:[eE][+-]?\d+)?"
    if re.fullmatch(number, field) is None:
        return None
    return field.replace(group, "").replace(sign, ".")


def _from_numbers(block: Block, sign: str, counts: bool | None, options: dict[str, Any]) -> Table:
    if options:
        raise InputError(f"{NAME}: numbers without names have no columns to choose: leave out {min(options)}")
    rows: list[list[float]] = []
    for line, row in enumerate(block, start=1):
        if row is BLANK:
            continue
        plain = [_plain(field, sign) for field in row]
        if None in plain:
            wrong = row[plain.index(None)]
            raise FormatError(
                f"{NAME}, line {line}: '{wrong}' is not a number with a decimal {SIGNS[sign]}: choose the "
                "other sign, or correct it"
            )
        rows.append([float(number) for number in plain if number is not None])
        if len(row) != len(rows[0]):
            raise FormatError(
                f"{NAME}, line {line}: {len(row)} numbers where the first line has {len(rows[0])}: every "
                "line should hold one row of the table"
            )
    values = np.array(rows)
    # One line, or one number per line, is a list.
    inner, notes = _without_totals(values if min(values.shape) > 1 else values.ravel())
    table = Table.from_array(inner, counts=counts)
    return replace(table, notes=(*notes, *table.notes))


def _without_totals(values: Floats) -> tuple[Floats, list[str]]:
    """The inner cells, and what was taken for totals: readers know a sum when they see one."""
    notes = []
    for axis, what in enumerate(("row", "column") if values.ndim == 2 else ("number",)):
        if (place := _sum_of_others(values, axis)) is not None:
            values = np.delete(values, place, axis)
            notes.append(f"{what} {place + 1} is the sum of all others and was taken as the total")
    return values, notes


def _sum_of_others(values: Floats, axis: int) -> int | None:
    """The last position along ``axis`` that is the sum of all others, everywhere; of two none is a sum."""
    if values.shape[axis] < 3 or not values.any():
        return None
    balanced = np.isclose(2 * values, values.sum(axis=axis, keepdims=True), rtol=1e-12, atol=1e-9)
    everywhere = np.flatnonzero(balanced.all(axis=1 - axis) if values.ndim == 2 else balanced)
    return int(everywhere[-1]) if everywhere.size else None


def _from_names(block: Block, sign: str, **options: Any) -> Problem | Table:
    header, *rows = block
    plain = list(map(list, zip(*([""] * len(header) if row is BLANK else row for row in rows), strict=True)))
    # The first column holds codes, which look like numbers often enough.
    for k, column in enumerate(plain[1:], start=1):
        numbers = [_plain(field, sign) if field else "" for field in column]
        if None not in numbers:
            plain[k] = [number or "" for number in numbers]
    with tempfile.TemporaryDirectory(prefix="tacita-") as folder:
        path = Path(folder) / f"{NAME}.csv"
        try:
            write_rows(path, header, [[escape(field) for field in column] for column in plain])
            found = read_table_file(path, delimiter=",", **options)
        except InputError as error:
            raise type(error)(str(error).replace(str(path), NAME)) from None
    named = [name for name in header[1:] if name]
    if isinstance(found, Table) and named and all(map(_is_number, named)):
        note = f"the first line was taken for names, not for numbers: {', '.join(named[:5])}"
        found = replace(found, notes=(note, *found.notes))
    return found
