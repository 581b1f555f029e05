"""Read records: tabulation reads most files and databases itself, by their names; workbooks are read here."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tacita.core.errors import InputError
from tacita.formats.argus.described_files import find_metadata
from tacita.formats.argus.missing_header import name_missing_header
from tacita.formats.columns import read_columns
from tacita.formats.workbook import is_workbook, name_other_sheets, refuse_sheet
from tacita.tabulation.address import is_address, mask_passwords

if TYPE_CHECKING:
    import pyarrow as pa

    from tacita.core.tables.columns import Columns
    from tacita.core.tables.table import Table
    from tacita.formats.argus.metadata import Metadata

DESCRIBED = (".asc", ".txt", ".dat")
"""Endings of files of records that often have no names of columns."""


def find_records(path: str | os.PathLike[str], sheet: str | None = None) -> str | pa.Table:
    """Return a microdata file as tabulation takes it: its path, or the records of a workbook's sheet."""
    if not is_address(path) and is_workbook(path):
        with name_other_sheets(path, sheet):
            return _read_sheet(path, sheet).data
    refuse_sheet(mask_passwords(str(path)) if is_address(path) else path, sheet)
    return os.fspath(path)


def tabulate_file(
    path: str | os.PathLike[str],
    by: Any,
    *,
    sheet: str | None = None,
    metadata: str | os.PathLike[str] | None = None,
    **options: Any,
) -> Table:
    """Return the table of microdata in a file or database; ``by`` and options as for :func:`tacita.tabulate`.

    Of a workbook it is noted which sheet was read, and errors name the file as they do for others. Records
    without a header are read by their ``metadata``, the file that is named or the one beside them.
    """
    described, notes = find_metadata(path, metadata, "microdata")
    if described is not None:
        refuse_sheet(path, sheet)
        return _tabulate_described(path, by, replace(described, notes=(*notes, *described.notes)), options)
    with _suggest_metadata(path):
        table = _tabulate_plain(path, by, sheet, options)
    return replace(table, notes=(*notes, *table.notes))


@contextmanager
def _suggest_metadata(path: str | os.PathLike[str]) -> Iterator[None]:
    """Add to errors of a microdata file without metadata that it may need them."""
    if is_address(path):
        yield
        return
    try:
        with name_missing_header(path, named=True):
            yield
    except InputError as error:
        if os.fspath(path).lower().endswith(DESCRIBED) and "metadata" not in error.options:
            remedy = "Records without names of columns need the metadata of τ-ARGUS (.rda) that describe them"
            raise error.with_remedy(remedy, "metadata") from None
        raise


def _tabulate_described(
    path: str | os.PathLike[str],
    by: Mapping[str, Any] | Iterable[str],
    metadata: Metadata,
    options: Mapping[str, Any],
) -> Table:
    """Return the table of microdata that metadata describe; what options name goes before these."""
    from tacita.formats.argus.microdata import read_microdata

    records = read_microdata(path, metadata)
    given = {name: option for name, option in options.items() if option is not None and name != "decimal"}
    trees = {name: tree for name, tree in by.items() if tree is not None} if isinstance(by, Mapping) else {}
    return records.tabulate(list(by), trees=trees, **given)


def _tabulate_plain(
    path: str | os.PathLike[str], by: Any, sheet: str | None, options: Mapping[str, Any]
) -> Table:
    """Return the table of microdata with names of columns."""
    from tacita.tabulation.records import NamedFrame
    from tacita.tabulation.tabulate import tabulate

    if is_address(path) or not is_workbook(path):
        return tabulate(find_records(path, sheet), by, **options)
    with name_other_sheets(path, sheet):
        read = _read_sheet(path, sheet)
        table = tabulate(NamedFrame(os.fspath(path), read.data), by, **options)
    return replace(table, notes=(*read.notes, *table.notes))


def _read_sheet(path: str | os.PathLike[str], sheet: str | None) -> Columns:
    """Return the microdata in a workbook's sheet as columns, null where empty, integers where all are."""
    import pyarrow as pa
    import pyarrow.compute as pc

    read = read_columns(path, sheet=sheet, footnotes=False)
    data, nothing = read.data, pa.scalar(None, pa.string())
    for k, (name, column) in enumerate(zip(data.column_names, data.columns, strict=True)):
        if pa.types.is_string(column.type):
            data = data.set_column(k, name, pc.if_else(pc.equal(column, ""), nothing, column))
        elif pc.all(pc.and_(pc.equal(column, pc.floor(column)), pc.less(pc.abs(column), 2.0**63))).as_py():
            # A workbook knows no integers: code 43 would be called 43.0. What is larger stays as it is,
            # and tabulation says whether it can be counted.
            data = data.set_column(k, name, column.cast(pa.int64()))
    return replace(read, data=data)
