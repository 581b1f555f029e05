"""Columns of a file, whatever its format; the ending of the name chooses the reader."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyarrow as pa

from tacita.core.errors import FormatError, TacitaError
from tacita.core.plugins import Plugin, find_plugins, list_usable_plugins
from tacita.core.tables.columns import Columns, refuse_wide
from tacita.core.tables.table import Table
from tacita.formats.captions import find_repeated
from tacita.formats.workbook import WORKBOOKS, refuse_sheet

FORMATS = (".csv", ".tab", ".parquet", *WORKBOOKS)
"""Endings of the built-in formats of columns."""
RESERVED = (*FORMATS, ".jj", ".toml", ".txt", ".tsv", ".dat", ".hrc", ".html", ".htm", ".json")
"""Endings that no format of another package may have."""


def list_column_endings() -> tuple[str, ...]:
    """Return the endings of file formats with columns (``.csv``, ``.xlsx``), plug-ins last."""
    return (*FORMATS, *(f".{name}" for name in list_usable_plugins(find_format_plugins())))


def has_columns(path: str | os.PathLike[str]) -> bool:
    """Return whether a file's format has columns (CSV, Parquet, Excel, plug-ins), by its ending."""
    suffix = Path(path).suffix.lower()
    return suffix in FORMATS or (suffix not in RESERVED and suffix in list_column_endings())


def find_format_plugins() -> tuple[Plugin, ...]:
    """Return the file formats that plug-ins of other packages bring, each with what is wrong with it.

    The name of a format is the ending of its files. It has a function ``read(path)`` that returns a pyarrow
    table with one row per cell, and may have ``write(table, path)``, which writes one.
    """
    return find_plugins("tacita.formats", frozenset(ending[1:] for ending in RESERVED), _check_format)


def _check_format(name: str, value: Any) -> str:
    if not name.isalnum() or name != name.lower():
        return "a name of a format is the ending of its files, in small letters and digits"
    if not callable(getattr(value, "read", None)):
        return "it has no function 'read'"
    return "" if callable(getattr(value, "write", len)) else "its 'write' is no function"


def read_columns(
    path: str | os.PathLike[str],
    table: Table | None = None,
    *,
    decimal: str | None = ".",
    delimiter: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    footnotes: bool = True,
) -> Columns:
    """Return the columns of a CSV, Parquet or Excel file; with ``table`` also of its tab-separated release.

    Titles above the names of the columns and, unless ``footnotes`` are none of the kind of file, footnotes
    below the last row are left out with a note. With ``table`` no line is that begins with one of its codes:
    it may be a row whose cells are all suppressed. ``decimal`` is that of
    :class:`~tacita.core.tables.columns.Columns`.
    """
    dimensions = () if table is None else table.structure.dimensions
    codes = frozenset(code for dimension in dimensions for code in dimension.codes)
    suffix = Path(path).suffix.lower()
    refuse_sheet(path, sheet)
    if suffix in (".csv", ".tab"):
        from tacita.formats.csv import read_csv

        return read_csv(
            path, delimiter=delimiter, decimal=decimal, encoding=encoding, footnotes=footnotes, codes=codes
        )
    if suffix == ".parquet":
        from tacita.formats.parquet import read_parquet

        return read_parquet(path)
    if suffix in WORKBOOKS:
        from tacita.formats.workbook import read_workbook

        return read_workbook(path, sheet, decimal, footnotes=footnotes, codes=codes)
    if suffix in (".txt", ".tsv") and table is not None:
        from tacita.formats.nchs import read_nchs_release

        return read_nchs_release(path, table)
    if (foreign := list_usable_plugins(find_format_plugins()).get(suffix[1:])) is not None:
        return _read_foreign(path, foreign)
    raise FormatError(
        f"no reader for the ending '{suffix}'",
        place=path,
        remedy=f"use one of {', '.join(list_column_endings())}",
    )


def _read_foreign(path: str | os.PathLike[str], foreign: Any) -> Columns:
    """Return the columns that a plug-in reads from a file of its format; its exceptions name it."""
    try:
        data = foreign.read(Path(path))
        if not isinstance(data, pa.Table):
            raise TypeError(f"its reader returned no pyarrow table but a {type(data).__name__}")
        data.validate(full=True)
    except TacitaError:
        raise
    except Exception as error:
        raise FormatError(
            f"the plug-in for {Path(path).suffix} files cannot read it ({error})",
            place=path,
            remedy="check the file, or save it as CSV",
        ) from error
    refuse_wide(path, data.num_columns)
    if (repeated := find_repeated(data.column_names)) is not None:
        raise FormatError(f"two columns are called '{repeated}'", place=path, remedy="rename one of them")
    return Columns(data, lambda row: f"{path}, row {row + 1}")
