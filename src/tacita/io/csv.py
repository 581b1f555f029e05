"""CSV files: columns of text in, rows out.

The separator is found in the header line; the encoding is UTF-8, or else cp1252. Every row has as many
fields as the header. Numbers are turned into numbers by whoever knows which columns hold them.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tacita.atomic import replacing
from tacita.errors import FormatError
from tacita.io.escape import unescape
from tacita.textfile import read_text
from tacita.words import so_many

if TYPE_CHECKING:
    from tacita.tables.columns import Columns

SEPARATORS = ";\t|,"


def read_csv(
    path: str | os.PathLike[str],
    *,
    delimiter: str | None = None,
    decimal: str = ".",
    encoding: str | None = None,
) -> Columns:
    """All columns of a CSV file as text, surrounding blanks taken off."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv

    from tacita.tables.columns import Columns

    data, notes = _utf8(path, encoding)
    header_line = data.split(b"\n", 1)[0].decode("utf-8")
    separator = delimiter or max(SEPARATORS, key=header_line.count)
    header = _header(path, header_line, separator)
    ragged: list[Any] = []

    def note(row: Any) -> str:
        ragged.append(row)
        return "skip"

    try:
        table = pyarrow.csv.read_csv(
            pa.py_buffer(data),
            read_options=pyarrow.csv.ReadOptions(use_threads=False, column_names=header, skip_rows=1),
            parse_options=pyarrow.csv.ParseOptions(
                delimiter=separator, ignore_empty_lines=False, invalid_row_handler=note
            ),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=dict.fromkeys(header, pa.string()), strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid as error:
        if "Empty CSV" in str(error):
            raise FormatError(f"{path} has a header but no rows: a table needs at least one cell") from None
        raise FormatError(f"{path}: {error}") from None
    if ragged:
        _refuse_ragged(path, ragged[0], separator)
    columns = [pc.utf8_trim_whitespace(column) for column in table.columns]
    filled = np.zeros(table.num_rows, dtype=bool)
    for column in columns:
        filled |= pc.not_equal(column, "").to_numpy(zero_copy_only=False)
    trimmed = pa.table(columns, names=header)
    if not filled.all():
        trimmed = trimmed.filter(pa.array(filled))
    if trimmed.num_rows == 0:
        raise FormatError(f"{path} has a header but no rows: a table needs at least one cell")
    lines = np.flatnonzero(filled) + 2
    risky = [name for name in header if pc.any(pc.starts_with(trimmed[name], "'")).as_py()]
    for name in risky:
        plain = pa.array([unescape(text) for text in trimmed[name].to_pylist()])
        trimmed = trimmed.set_column(header.index(name), name, plain)
    return Columns(trimmed, lambda row: f"{path}, line {lines[row]}", decimal, notes)


def write_rows(
    path: str | os.PathLike[str],
    header: Sequence[str],
    columns: Sequence[Sequence[str]],
    *,
    public: bool = False,
) -> Path:
    """Write columns of text under a header; all or nothing."""
    with (
        replacing(path, public=public) as temporary,
        temporary.open("w", encoding="utf-8", newline="") as out,
    ):
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(zip(*columns, strict=True))
    return Path(path)


def _utf8(path: str | os.PathLike[str], encoding: str | None) -> tuple[bytes, tuple[str, ...]]:
    """The file in UTF-8 with plain line ends, and a note where its encoding was guessed."""
    text, found = read_text(path, encoding)
    if not text.strip():
        raise FormatError(f"{path} is empty: a CSV file starts with a line of column names")
    guessed = encoding is None and found == "cp1252"
    return text.encode("utf-8"), (f"{path} is not in utf-8: read as cp1252",) if guessed else ()


def _header(path: str | os.PathLike[str], line: str, separator: str) -> list[str]:
    names = [unescape(name.strip()) for name in next(csv.reader([line], delimiter=separator), [])]
    repeated = next((name for k, name in enumerate(names) if name in names[:k]), None)
    if repeated is not None:
        raise FormatError(f"{path}, line 1: column '{repeated}' occurs twice; rename one of them")
    if not names:
        raise FormatError(f"{path}, line 1: the first line is blank; it should hold the column names")
    return names


def _refuse_ragged(path: str | os.PathLike[str], row: Any, separator: str) -> None:
    remedy = "add or remove fields"
    if row.actual_columns > row.expected_columns and separator == ",":
        remedy += (
            "; if numbers have decimal commas, separate the columns with ';' and name the comma as the "
            "decimal sign"
        )
    raise FormatError(
        f"{path}, line {row.number}: {so_many(row.actual_columns, 'field')} where the header has "
        f"{row.expected_columns}: {remedy}"
    )
