"""Columns of a file, whatever its format; the ending of the name chooses the reader."""

from __future__ import annotations

import os
from pathlib import Path

from tacita.core.errors import FormatError
from tacita.core.tables.columns import Columns
from tacita.core.tables.table import Table
from tacita.formats.workbook import WORKBOOKS, refuse_sheet

FORMATS = (".csv", ".tab", ".parquet", *WORKBOOKS)


def read_columns(
    path: str | os.PathLike[str],
    table: Table | None = None,
    *,
    decimal: str = ".",
    delimiter: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    footnotes: bool = True,
) -> Columns:
    """The columns of a CSV, Parquet or Excel file; with ``table`` also of its tab-separated release.

    Titles above the names of the columns and, unless ``footnotes`` are none of the kind of file, footnotes
    below the last row are left out with a note. With ``table`` no line is that begins with one of its codes:
    it may be a row whose cells are all suppressed.
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
    raise FormatError(f"{path}: no reader for the ending '{suffix}'; use one of {', '.join(FORMATS)}")
