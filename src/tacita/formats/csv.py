"""CSV files: columns of text in, rows out.

The separator is found in the header line, the first below titles; the encoding is UTF-8, or else cp1252.
Every row has as many fields as the header. Numbers are turned into numbers by whoever knows which columns
hold them.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tacita.core.errors import FormatError
from tacita.core.words import pluralize
from tacita.formats.captions import (
    MOST,
    count_footnotes,
    count_titles,
    find_repeated,
    join_titles,
    note_lines,
)
from tacita.formats.escape import unescape
from tacita.formats.textfile import read_text
from tacita.storage.atomic import replace_file

if TYPE_CHECKING:
    from tacita.core.tables.columns import Columns

SEPARATORS = ";\t|,"


def read_csv(
    path: str | os.PathLike[str],
    *,
    delimiter: str | None = None,
    decimal: str | None = ".",
    encoding: str | None = None,
    footnotes: bool = False,
    codes: Container[str] = (),
) -> Columns:
    """Return all columns of a CSV file as text, surrounding blanks taken off.

    Titles above the header are left out; with ``footnotes`` those below the last row are, too, but no line
    that holds one of ``codes``.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv

    from tacita.core.tables.columns import Columns, refuse_wide

    text, notes = _read_text(path, encoding)
    head = text.split("\n", 2 * MOST)[: 2 * MOST]
    refuse_wide(path, max(line.count(sign) for line in head for sign in delimiter or SEPARATORS) + 1)
    separator, above = _find_layout(head, delimiter)
    header = _parse_header(path, head[above], above + 1, separator)
    titles = _list_filled(head[:above], 1, separator)
    notes += note_lines("title", "line", titles)
    if footnotes:
        text, left = _drop_footnotes(text, above, len(header), separator, codes)
        notes += left
    data = text.encode("utf-8")
    ragged: list[Any] = []

    def note(row: Any) -> str:
        ragged.append(row)
        return "skip"

    try:
        table = pyarrow.csv.read_csv(
            pa.py_buffer(data),
            read_options=pyarrow.csv.ReadOptions(use_threads=False, column_names=header, skip_rows=above + 1),
            parse_options=pyarrow.csv.ParseOptions(
                delimiter=separator, ignore_empty_lines=False, invalid_row_handler=note
            ),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=dict.fromkeys(header, pa.string()), strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid as error:
        if "Empty CSV" in str(error):
            raise _no_rows(path) from None
        raise FormatError(str(error), place=path) from None
    if ragged:
        _refuse_ragged(path, ragged[0], separator, above + 1)
    ends = {
        name
        for name, column in zip(header, table.columns, strict=True)
        if pc.any(pc.ends_with(column, " ")).as_py()
    }
    columns = [pc.utf8_trim_whitespace(column) for column in table.columns]
    filled = np.zeros(table.num_rows, dtype=bool)
    for column in columns:
        filled |= pc.not_equal(column, "").to_numpy(zero_copy_only=False)
    trimmed = pa.table(columns, names=header)
    if not filled.all():
        trimmed = trimmed.filter(pa.array(filled))
    if trimmed.num_rows == 0:
        raise _no_rows(path)
    places = np.flatnonzero(filled) + above + 2
    risky = [name for name in header if pc.any(pc.starts_with(trimmed[name], "'")).as_py()]
    for name in risky:
        plain = pa.array([unescape(text) for text in trimmed[name].to_pylist()])
        trimmed = trimmed.set_column(header.index(name), name, plain)
    return Columns(
        trimmed,
        lambda row: f"{path}, line {places[row]}",
        decimal,
        notes,
        trimmed=frozenset(ends),
        title=join_titles(titles),
    )


def write_rows(
    path: str | os.PathLike[str],
    header: Sequence[str],
    columns: Sequence[Sequence[str]],
    *,
    public: bool = False,
) -> Path:
    """Write columns of text under a header as a CSV file, as a whole or not at all, and return its path."""
    return write_lines(path, chain([header], zip(*columns, strict=True)), public=public)


def write_lines(
    path: str | os.PathLike[str], lines: Iterable[Sequence[str]], *, public: bool = False
) -> Path:
    """Write lines of fields as a CSV file, as a whole or not at all, and return its path."""
    with (
        replace_file(path, public=public) as temporary,
        temporary.open("w", encoding="utf-8", newline="") as out,
    ):
        csv.writer(out, lineterminator="\n").writerows(lines)
    return Path(path)


def _read_text(path: str | os.PathLike[str], encoding: str | None) -> tuple[str, tuple[str, ...]]:
    """Return the text of a CSV file with plain line ends, and a note if its encoding was guessed."""
    text, found = read_text(path, encoding)
    if not text.strip():
        raise FormatError(
            "the file is empty", place=path, remedy="a CSV file starts with a line of column names"
        )
    guessed = encoding is None and found == "cp1252"
    return text, (f"{path} is not in utf-8: read as cp1252",) if guessed else ()


def _find_layout(lines: Sequence[str], delimiter: str | None) -> tuple[str, int]:
    """Return the separator of a CSV file, and how many lines stand above its header.

    What separates most in the first line, unless a title stands there: then what gives the header as many
    fields as the line below it.
    """
    usual = delimiter or max(SEPARATORS, key=lines[0].count)
    for separator in dict.fromkeys([usual, *(SEPARATORS if delimiter is None else "")]):
        above = count_titles(_split_lines(lines, separator))
        if above == 0 and separator == usual and usual in lines[0] and _have_equal_fields(lines, 0, usual):
            break
        if above and _have_equal_fields(lines, above, separator):
            return separator, above
    return usual, 0


def _have_equal_fields(lines: Sequence[str], header: int, separator: str) -> bool:
    """Return whether a CSV file's header and its next line that is not blank have equally many fields."""
    below = next((line for line in lines[header + 1 : header + MOST] if line.strip()), lines[header])
    one, other = _split_lines([lines[header], below], separator)
    return len(one) == len(other)


def _split_lines(lines: Iterable[str], separator: str) -> Iterator[list[str]]:
    """Yield the fields of each line of a CSV file as a list; no field goes on in the next line."""
    for line in lines:
        try:
            fields = next(csv.reader([line], delimiter=separator), [])
        except csv.Error:
            fields = line.split(separator)
        yield [field.strip() for field in fields]


def _drop_footnotes(
    text: str, above: int, columns: int, separator: str, codes: Container[str]
) -> tuple[str, tuple[str, ...]]:
    """Return the text of a CSV file without the footnotes below its last row, and a note on them."""
    lines = text.count("\n") + 1
    tail = text.rsplit("\n", min(lines - above - 1, MOST + 1))[1:]
    below = count_footnotes(_split_lines(reversed(tail), separator), columns, codes)
    if below == 0:
        return text, ()
    left = _list_filled(tail[-below:], lines - below + 1, separator)
    return text.rsplit("\n", below)[0], note_lines("footnote", "line", left)


def _list_filled(lines: Sequence[str], first: int, separator: str) -> list[tuple[int, str]]:
    """Return titles or footnotes of a CSV file by the numbers of their lines, which begin with ``first``."""
    return [
        (number, row[0]) for number, row in enumerate(_split_lines(lines, separator), start=first) if any(row)
    ]


def _parse_header(path: str | os.PathLike[str], line: str, number: int, separator: str) -> list[str]:
    names = [unescape(name) for name in next(_split_lines([line], separator))]
    if (repeated := find_repeated(names)) is not None:
        raise FormatError(
            f"column '{repeated}' occurs twice", place=f"{path}, line {number}", remedy="rename one of them"
        )
    if not names:
        raise FormatError("the first line is blank; it should hold the column names", place=f"{path}, line 1")
    return names


def _no_rows(path: str | os.PathLike[str]) -> FormatError:
    return FormatError(
        "the file has a header but no rows", place=path, remedy="a table needs at least one cell"
    )


def _refuse_ragged(path: str | os.PathLike[str], row: Any, separator: str, header: int) -> None:
    remedy, options = "add or remove fields", []
    if row.actual_columns > row.expected_columns and separator == ",":
        remedy += (
            "; if numbers have decimal commas, separate the columns with ';' and name the comma as the "
            "decimal sign"
        )
        options = ["decimal"]
    if row.actual_columns > row.expected_columns and row.number <= header + 2:
        remedy += f"; if line {header} is a title, delete it"
    raise FormatError(
        f"{pluralize(row.actual_columns, 'field')} where the header has {row.expected_columns}",
        place=f"{path}, line {row.number}",
        remedy=remedy,
        options=options,
    )
