"""Find the cells of a release in the sheet that its table was read from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import numpy as np

from tacita.core import exact
from tacita.core.errors import InputError
from tacita.core.exact import Units
from tacita.core.release import Release
from tacita.core.tables.frames import find_part
from tacita.core.tables.read_options import ReadOptions
from tacita.core.tables.table import Table
from tacita.formats.cell_rows import find_cells
from tacita.formats.columns import read_columns
from tacita.formats.crosstab import unpivot_crosstab
from tacita.formats.roles import find_roles
from tacita.formats.table_file import NAMED
from tacita.formats.workbook import list_sheets
from tacita.publication.same_layout.telling_texts import HiddenValues

ENDINGS = (".xlsx", ".xlsm")
"""Workbooks whose layout can be kept."""
NEW_LAYOUT = "write a workbook of its own instead"

Place = tuple[int, int]
"""Row and column of a sheet, counted from 1."""


@dataclass(frozen=True)
class InputSheet:
    """The workbook that a table was read from, and how it was read."""

    path: Path
    read: ReadOptions = ReadOptions()  # noqa: RUF009 (it is frozen)


@dataclass(frozen=True, eq=False)
class LocatedCells:
    """Where the cells of a release stand in a sheet, and where their codes do.

    ``hidden`` are the true values of those that the release hides.
    """

    sheet: str
    cells: Mapping[Place, int]
    codes: frozenset[Place]
    hidden: HiddenValues


def locate_cells(source: InputSheet, release: Release, truth: Table | None) -> LocatedCells:
    """Return where the cells of a release stand in the sheet of its table.

    Parameters
    ----------
    truth
        The table, whose hidden values may stand in texts too where the sheet has no field for them.

    Raises
    ------
    InputError
        Some numbers of the sheet are no cells of the release.
    """
    read, path, structure = source.read, source.path, release.structure
    rows = read_columns(path, decimal=read.decimal or ".", sheet=read.sheet)
    given = {role: getattr(read, role) for role in NAMED}
    rows = unpivot_crosstab(rows, path, read.dimensions, given)
    largest = None if isinstance(read.largest, int) else read.largest
    roles = find_roles(rows, path, read.dimensions, given, largest).named
    value = roles.get("value") or roles["count"]
    found = find_cells(rows, structure)
    numbers, missing = rows.numbers(value)
    units = exact.to_units(np.asarray(numbers, dtype=np.float64), release.decimals)
    cells: dict[Place, int] = {}
    codes: set[Place] = set()
    values: set[Decimal] = set()
    names = [structure.dimensions[d].name for d in find_part(structure, 0).dimensions]
    for row, cell in enumerate(found.tolist()):
        place = rows.find_field(row, value)
        if place is None:
            continue
        if cell < 0:
            raise InputError(
                "a number of the sheet is no cell of the release, whose codes are others",
                place=rows.place(row),
                remedy=NEW_LAYOUT,
                options=["layout=new"],
            )
        # What was left blank, as it follows from the others, stays blank.
        if not missing[row]:
            cells[place] = cell
        codes |= {field for name in names if (field := rows.find_field(row, name)) is not None}
        if release.hidden[cell] and not missing[row]:
            values.add(_to_decimal(units, row, release.decimals))
    if truth is not None:
        for cell in np.flatnonzero(release.hidden).tolist():
            values.add(_to_decimal(truth.units, cell, truth.decimals))
    sheet = read.sheet if read.sheet is not None else list_sheets(path).proposed
    return LocatedCells(str(sheet), cells, frozenset(codes - cells.keys()), HiddenValues(values))


def _to_decimal(units: Units, position: int, decimals: int) -> Decimal:
    return Decimal(int(units[position])).scaleb(-decimals)
