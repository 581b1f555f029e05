"""Refuse to keep the layout of a sheet whose order tells of hidden values.

A table that is read from rows in the order of their values is listed by code (see
:mod:`tacita.core.tables.code_order`). A copy of its sheet would show the order all the same.
"""

from __future__ import annotations

import numpy as np

from tacita.core.errors import ReleaseError
from tacita.core.exact import Mask
from tacita.core.hierarchy import Hierarchy
from tacita.core.release import Release
from tacita.core.tables.code_order import BOUNDS, describe_order, find_telling_columns, is_listing_telling
from tacita.core.tables.columns import Columns
from tacita.core.tables.dimension import Dimension
from tacita.core.tables.table import Table
from tacita.formats.cell_rows import find_cells
from tacita.formats.columns import read_columns
from tacita.formats.crosstab import unpivot_crosstab
from tacita.formats.table_file import NAMED
from tacita.publication.same_layout.input_sheet import InputSheet


def refuse_telling_order(source: InputSheet, release: Release, truth: Table) -> None:
    """Refuse a sheet in which codes or rows stand in the order of values, some of which a release hides.

    Raises
    ------
    ReleaseError
        Unless the table was read with ``order="input"``, which says that the order is kept on purpose.
    """
    read, structure = source.read, release.structure
    if read.order == "input" or structure.labels or not release.hidden.any():
        return
    rows = read_columns(source.path, decimal=read.decimal or ".", sheet=read.sheet)
    given = {role: getattr(read, role) for role in NAMED}
    rows = unpivot_crosstab(rows, source.path, read.dimensions, given)
    listed = find_cells(rows, structure)
    listed = listed[listed >= 0]
    none = np.zeros(len(structure), dtype=bool)
    if is_listing_telling(structure.dimensions, structure.codes[listed], truth.units[listed], none[listed]):
        _refuse(source, "rows are sorted by their values in the input")
    for k, dimension in enumerate(structure.dimensions):
        sheet = _list_as_in_sheet(rows, dimension)
        if sheet is None:
            continue
        dimensions = [*structure.dimensions]
        dimensions[k] = sheet
        shown = structure.codes.copy()
        shown[:, k] = np.array([sheet.position[code] for code in dimension.codes], dtype=np.int32)[
            shown[:, k]
        ]
        for column in find_telling_columns(dimensions, k, shown, truth.units, none):
            if (release.hidden & _find_column(release, k, column)).any():
                _refuse(source, describe_order(dimension.name, column))


def _list_as_in_sheet(rows: Columns, dimension: Dimension) -> Dimension | None:
    """Return a dimension with its codes in the order of a sheet; None if they are, or have a tree."""
    if not dimension.is_flat:
        return None
    _, listed = rows.codes(dimension.name)
    parts = [code for code in listed if code in dimension.position and code != dimension.total]
    own = [code for code in dimension.codes if code != dimension.total]
    if [code for code in own if code in set(parts)] == parts:
        return None
    order = dict.fromkeys([*parts, *own])
    return Dimension(dimension.name, (Hierarchy.flat(list(order), dimension.total),))


def _find_column(release: Release, along: int, column: dict[str, str]) -> Mask:
    """Return a mask of the cells of a release in a column along a dimension, by default that of totals."""
    structure = release.structure
    mask = np.ones(len(structure), dtype=bool)
    for k, dimension in enumerate(structure.dimensions):
        if k != along:
            mask &= structure.codes[:, k] == dimension.index(column.get(dimension.name, dimension.total))
    return mask


def _refuse(source: InputSheet, what: str) -> None:
    raise ReleaseError(
        f"{what}, and a workbook of the same layout would keep that: {BOUNDS}",
        place=source.path,
        remedy="sort the sheet by code and read it again, write a workbook of its own, or keep the order of "
        "the input on purpose",
        options=["layout=new", "order=input"],
    )
