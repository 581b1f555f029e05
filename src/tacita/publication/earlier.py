"""Read a release that was published earlier, of this table or of one that shares cells with it.

The file may have fewer columns of codes than the table, whose other dimensions are then at their totals;
further ones, where only the rows at their totals are of this table; and other codes. Rows that are of no cell
of this table are left out and counted. Cells that the file does not list it says nothing of.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Unpack

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tacita.core.errors import ReleaseError
from tacita.core.exact import Mask
from tacita.core.release import Release
from tacita.core.tables.columns import Columns
from tacita.core.tables.dimension import recognise_total
from tacita.core.tables.frames import find_part
from tacita.core.tables.structure import Structure
from tacita.core.tables.table import Table
from tacita.formats.cell_rows import find_cells
from tacita.formats.columns import read_columns
from tacita.formats.sdmx.release_rows import convert_release
from tacita.publication.release_read import (
    VALUE_NAMES,
    ReleaseReading,
    UntrueError,
    build_release,
    name_file_in_errors,
    select_rows,
    unpivot,
)
from tacita.verify import LABELS, RELEASE

REVISED = (
    "If the table was revised since, the earlier release does not speak of it any more: take the revised "
    "cells out of its file, or leave it out"
)


def read_earlier(path: str | os.PathLike[str], table: Table, **reading: Unpack[ReleaseReading]) -> Release:
    """Return the release that was published earlier in a file, as far as it shows cells of ``table``.

    Options are those of :func:`~tacita.publication.release_read.read_release`, but for cells that are absent
    and linked tables.

    Raises
    ------
    ReleaseError
        No row is of a cell of this table, or one says something that is not true of it.
    """
    source = read_columns(
        path,
        table,
        decimal=reading.get("decimal", "."),
        delimiter=reading.get("delimiter"),
        sheet=reading.get("sheet"),
    )
    structure = table.structure
    with name_file_in_errors(path):
        bare = reading.get("base") is not None or reading.get("radius") is not None
        source = convert_release(source, table, bare)
        source = _unpivot_shared(source, structure)
        rows = source.data.num_rows
        source = _select_totals(source, table, reading.get("value"))
        cells = find_cells(source, structure)
        listed = cells >= 0
        if not listed.any():
            raise ReleaseError(
                "no row is of a cell of the table",
                remedy="dimensions and codes are matched by their names, so give both the same ones",
            )
        source = select_rows(source, np.flatnonzero(listed))
        try:
            release = build_release(path, source, table, cells[listed], "suppressed", reading)
        except UntrueError as error:
            raise error.with_remedy(REVISED, "published") from None
    about = {**release.made_by, "file": Path(path).name, "rows": rows, "left_out": rows - int(listed.sum())}
    return replace(release, made_by=about)


def _unpivot_shared(source: Columns, structure: Structure) -> Columns:
    """Return an earlier release's crosstab as columns of one row per cell, though some of its codes are none
    of the table's; other files as they are.
    """
    names = [dimension.name for dimension in structure.dimensions]
    if structure.labels or "mark" in source.names or len(names) != 2:
        return source
    first, *others = source.names
    down, right = (structure.dimensions[d] for d in find_part(structure, 0).dimensions)
    if first == right.name:
        down, right = right, down
    shared = [name for name in others if name in right.position]
    if right.name in source.names or len(shared) < 2:
        return source
    return unpivot(source, down, right)


def _select_totals(source: Columns, table: Table, value: str | None) -> Columns:
    """Return the rows of an earlier release that can be of the table's cells, with a code per dimension.

    Dimensions that the file lacks, and codes that it leaves empty, are at their totals. Rows that are not at
    the total of a further column are left out.
    """
    structure, data = table.structure, source.data
    if structure.labels:
        return source
    if not any(dimension.name in source.names for dimension in structure.dimensions):
        known = ", ".join(repr(dimension.name) for dimension in structure.dimensions)
        raise ReleaseError(
            f"the file has none of the columns of codes {known}", remedy="name them in its first line"
        )
    elsewhere = np.zeros(data.num_rows, dtype=bool)
    for name in _find_other_dimensions(source, table, value):
        elsewhere |= ~_find_total_rows(source, name)
        data = data.drop_columns([name])
    if "table" in data.column_names and "mark" in data.column_names:
        data = data.drop_columns(["table"])
    for dimension in structure.dimensions:
        total = pa.array([dimension.total] * data.num_rows, pa.string())
        if dimension.name not in data.column_names:
            data = data.append_column(dimension.name, total)
            continue
        codes = source.texts(dimension.name)
        usual = recognise_total(codes.unique().to_pylist())
        nothing = ["", *([usual] if usual is not None and usual not in dimension.position else [])]
        codes = pc.if_else(pc.is_in(codes, value_set=pa.array(nothing)), total, codes)
        data = data.set_column(data.column_names.index(dimension.name), dimension.name, codes)
    return select_rows(replace(source, data=data), np.flatnonzero(~elsewhere))


def _find_other_dimensions(source: Columns, table: Table, value: str | None) -> list[str]:
    """Return the columns of an earlier release that are dimensions which the table does not have."""
    own = [dimension.name for dimension in table.structure.dimensions]
    if "mark" in source.names:
        return [name for name in source.names if name not in (*own, *RELEASE, *LABELS, "table")]
    left = [name for name in source.names if name not in own]
    usual = (*VALUE_NAMES, table.value_name.lower())
    values = [name for name in left if name == value or (value is None and name.lower() in usual)]
    return [name for name in left if name not in values] if len(values) == 1 else []


def _find_total_rows(source: Columns, name: str) -> Mask:
    """Return a mask of the rows of an earlier release at the total of a column, or without a code in it."""
    texts = source.texts(name)
    total = recognise_total(texts.unique().to_pylist())
    chosen = pc.is_in(texts, value_set=pa.array(["", *([total] if total is not None else [])]))
    return np.asarray(chosen.to_numpy(zero_copy_only=False), dtype=bool)
