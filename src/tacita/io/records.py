"""Records in files: what tabulation reads by itself goes by its path, a workbook is read here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tacita.io.columns import read_columns

if TYPE_CHECKING:
    import pyarrow as pa

WORKBOOKS = (".xlsx", ".xls", ".ods")


def records_in(path: Path, sheet: str | None = None) -> str | pa.Table:
    """What :func:`tacita.tabulate` takes for the records of a file; ``sheet`` is that of a workbook."""
    if path.suffix.lower() not in WORKBOOKS:
        return str(path)
    import pyarrow as pa
    import pyarrow.compute as pc

    read = read_columns(path, sheet=sheet).data
    nothing = pa.scalar(None, pa.string())
    for k, (name, column) in enumerate(zip(read.column_names, read.columns, strict=True)):
        if pa.types.is_string(column.type):
            read = read.set_column(k, name, pc.if_else(pc.equal(column, ""), nothing, column))
        elif pc.all(pc.equal(column, pc.floor(column))).as_py():
            # A workbook knows no whole numbers: code 43 would be called 43.0.
            read = read.set_column(k, name, column.cast(pa.int64()))
    return read
