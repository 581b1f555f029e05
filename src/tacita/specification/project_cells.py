"""Cells in a project file: by their codes, with the levels of those that are marked by hand.

    exempt = [{ region = "North", size = "small" }]
    sensitive = [{ region = "North" }, { region = "South", size = "small", lpl = 3, upl = 5 }]

A dimension that is left out is at its total. Cells of a JJ file go by number: ``{ cell = "12" }``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tacita.core.arithmetic import Number, to_fraction
from tacita.core.errors import InputError
from tacita.core.exact import Mask
from tacita.core.tables.cell_selection import read_cells
from tacita.core.tables.table import Table
from tacita.formats.jj import number_cells
from tacita.rules import Given, Marked, Rule
from tacita.rules.protection import USUAL_PERCENT, to_pair
from tacita.specification.sections import SensitiveCell

LEVELS = {"lpl": "lower", "upl": "upper", "spl": "sliding", "protection": "protection"}
"""Levels of a cell in a project file, by the field of :class:`SensitiveCell` that they are."""


def find_cell(table: Table, codes: Mapping[str, str], where: str) -> int:
    """Return the position of a cell that a project lists by codes; errors name the list it stands in."""
    dimensions = table.structure.dimensions
    try:
        if table.structure.labels or any(name not in {d.name for d in dimensions} for name in codes):
            return table.find(**codes)
        return table.find(*(codes.get(d.name, d.total) for d in dimensions))
    except InputError as error:
        raise error.with_place(where) from None


def find_cells(table: Table, cells: Sequence[Mapping[str, str]], where: str) -> list[int]:
    """Return the positions of cells that a project lists by codes; errors name the list they stand in."""
    structure = table.structure
    names = {dimension.name for dimension in structure.dimensions}
    if structure.labels or not all(names.issuperset(cell) for cell in cells):
        return [find_cell(table, cell, where) for cell in cells]
    columns = []
    for d in structure.dimensions:
        codes = [d.position.get(cell.get(d.name, d.total), -1) for cell in cells]
        columns.append(np.where(np.array(codes) < 0, -1, d.representative[codes]))
    rows = np.array(columns, dtype=np.int32).reshape(len(columns), len(cells)).T
    found = np.where((rows >= 0).all(axis=1), structure.locate(np.maximum(rows, 0)), -1)
    if (wrong := np.flatnonzero(found < 0)).size:
        find_cell(table, cells[int(wrong[0])], where)
    places: list[int] = found.tolist()
    return places


def build_marks(table: Table, entries: Sequence[SensitiveCell]) -> list[Rule]:
    """Return the rules for cells that a project marks as sensitive by hand, one for equal levels.

    A mark is a decision on each of its cells, which whoever opens the project can take back. One that names
    its percentage states levels of cells, as a file does that leaves them empty.
    """
    places = find_cells(table, [entry.cell for entry in entries], "[rules] sensitive")
    return build_marks_at(table, entries, places)


def build_marks_at(table: Table, entries: Sequence[SensitiveCell], places: Sequence[int]) -> list[Rule]:
    """Return the rules for cells at these places that are marked as sensitive by hand."""
    alike: dict[tuple[Any, ...], list[int]] = {}
    for entry, cell in zip(entries, places, strict=True):
        amounts = [None if a is None else to_fraction(a) for a in (entry.lower, entry.upper, entry.sliding)]
        states = entry.protection is not None and amounts[:2] == [None, None]
        levels = (*amounts, USUAL_PERCENT if entry.protection is None else entry.protection)
        alike.setdefault((states, levels), []).append(cell)
    marks = ((states, Marked(cells, *levels)) for (states, levels), cells in alike.items())
    return [Given(mark.levels(table)) if states else mark for states, mark in marks]


def list_marked_cells(
    table: Table, marks: Sequence[Marked], by_number: bool, *, percent: bool = False
) -> list[SensitiveCell]:
    """Return marks as entries of a project file, one per cell; with ``percent`` usual percentages too."""
    entries = []
    for mark in marks:
        amounts = (mark.lower, mark.upper, mark.sliding)
        lower, upper, sliding = (None if amount is None else to_toml_number(amount) for amount in amounts)
        below, above = map(to_toml_number, to_pair(mark.protection))
        protection: float | tuple[float, float] | None = None
        if lower is None and upper is None and (percent or (below, above) != (USUAL_PERCENT, USUAL_PERCENT)):
            protection = below if below == above else (below, above)
        hit = read_cells(table, mark.cells, mark.text)
        entries += [
            SensitiveCell(codes, lower, upper, sliding, protection)
            for codes in list_codes(table, hit, by_number)
        ]
    return entries


def list_codes(table: Table, marked: Mask, by_number: bool) -> list[dict[str, str]]:
    """Return cells as a project file lists them: by their codes, or ``by_number`` as in a JJ file."""
    cells = np.flatnonzero(marked).tolist()
    if by_number:
        numbers = number_cells(table.structure)
        return [{"cell": numbers[cell]} for cell in cells]
    return name_cells(table, cells)


def name_cells(table: Table, places: Iterable[int]) -> list[dict[str, str]]:
    """Return the cells at some positions as a project file names them: by their codes or labels."""
    structure = table.structure
    if structure.labels:
        return [{"cell": structure.labels[cell]} for cell in places]
    names = [dimension.name for dimension in structure.dimensions]
    return [dict(zip(names, structure.key(cell), strict=True)) for cell in places]


def to_toml_number(number: Number) -> int | float:
    """Return a number as a project file writes it: an integer if it is one, else a float."""
    return int(number) if number == int(number) else float(number)
