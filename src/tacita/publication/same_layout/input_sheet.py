"""Find the cells of a release in the sheet that its table was read from."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from pathlib import Path

import numpy as np

from tacita.core import exact
from tacita.core.errors import InputError
from tacita.core.exact import Units
from tacita.core.release import Release
from tacita.core.tables.frames import find_part
from tacita.core.tables.read_options import ReadOptions
from tacita.core.tables.structure import Structure
from tacita.core.tables.table import Table
from tacita.formats.cell_rows import find_cells
from tacita.formats.columns import read_columns
from tacita.formats.crosstab import unpivot_crosstab
from tacita.formats.roles import find_roles
from tacita.formats.table_file import NAMED
from tacita.formats.workbook import list_sheets
from tacita.publication.same_layout.number_readings import round_as_shown
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


def name_sheet(source: InputSheet) -> str:
    """Return the name of the sheet that a table was read from."""
    return str(source.read.sheet if source.read.sheet is not None else list_sheets(source.path).proposed)


def locate_cells(
    source: InputSheet,
    release: Release,
    truth: Table | None,
    formats: Mapping[Place, str],
    filled: Collection[Place],
) -> LocatedCells:
    """Return where the cells of a release stand in the sheet of its table.

    Parameters
    ----------
    truth
        The table, whose hidden values may stand in texts too where the sheet has no field for them.
    formats
        The number formats of the sheet's fields.
    filled
        The sheet's fields that hold anything: a number, an error, a formula without a stored result.

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
    fields: set[Place] = set()
    codes: set[Place] = set()
    values: dict[int, Decimal] = {}
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
        fields.add(place)
        # What was left blank, as it follows from the others, stays blank.
        if place in filled:
            cells[place] = cell
        codes |= {field for name in names if (field := rows.find_field(row, name)) is not None}
        if release.hidden[cell] and not missing[row]:
            values[cell] = _to_decimal(units, row, release.decimals)
    if truth is not None:
        values |= list_hidden_values(release, truth)
    shown = {
        cell: seen
        for place, cell in cells.items()
        if cell in values and (seen := round_as_shown(values[cell], formats.get(place, ""))) is not None
    }
    hidden = look_for_values(release, values, shown)
    return LocatedCells(name_sheet(source), cells, frozenset(codes - fields), hidden)


def list_hidden_values(release: Release, truth: Table) -> dict[int, Decimal]:
    """Return the true values of the cells that a release does not publish exactly, by cell."""
    return {
        cell: _to_decimal(truth.units, cell, truth.decimals)
        for cell in np.flatnonzero(release.hidden).tolist()
    }


def look_for_values(
    release: Release, values: Mapping[int, Decimal], shown: Mapping[int, Decimal] | None = None
) -> HiddenValues:
    """Return values of hidden cells as something that is looked for in texts published with a release."""
    published = {
        cell: _to_decimal(release.value, cell, release.decimals)
        for cell in np.flatnonzero(release.shown).tolist()
    }
    structure = release.structure
    return HiddenValues(values, published, shown, partial(_name_cell, structure), structure.key)


def _name_cell(structure: Structure, cell: int) -> list[frozenset[str]]:
    """Return what a cell may be called: code and label per dimension without a total, or else with it."""
    if structure.labels:
        return [frozenset([structure.labels[cell]])]
    named = list(zip(structure.dimensions, structure.key(cell), strict=True))
    parts = [(d, code) for d, code in named if code != d.total]
    return [frozenset({code, d.label(code)} - {""}) for d, code in parts or named]


def _to_decimal(units: Units, position: int, decimals: int) -> Decimal:
    return Decimal(int(units[position])).scaleb(-decimals)
