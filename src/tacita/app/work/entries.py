"""What was typed or pasted into a sheet, as a new table: all of it, or nothing and the reason by cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tacita.app.sheet import Entry
from tacita.core import exact
from tacita.core.errors import InputError, and_others
from tacita.core.numerals import is_number, parse_entries, parse_entry, tidy
from tacita.core.tables.editing import with_cells
from tacita.core.tables.layout import Layout
from tacita.core.tables.table import Table


class EntryError(InputError):
    """An ``entry`` typed or pasted into a cell of the sheet cannot be taken."""

    def __init__(self, fault: str, entry: Entry, **about: Any) -> None:
        super().__init__(fault, **about)
        self.entry = entry


def enter(table: Table, where: Layout, entries: Sequence[Entry]) -> Table:
    """Return the table with what was typed into the sheet and its totals summed anew; what was pasted over
    sums is left out.

    A zero leaves an empty cell empty, so that a block can be cleared without listing cells that nobody
    contributed to. More decimals than the table has are taken up by the whole table.

    Raises
    ------
    EntryError
        An entry is no number; the message names the cell. Nothing is entered then.
    InputError
        The table knows who contributed.
    """
    if table.contributions is not None or table.holdings is not None:
        raise InputError(
            "the values come from records, and contributors would no longer fit others",
            remedy="correct the records, or choose 'Forget who contributed' under 'Edit table' and go on "
            "without them",
            options=["contributors=forget"],
        )
    entries = [entry for entry in entries if not entry.is_sum]
    codes = [where.codes_at(entry.row, entry.column) for entry in entries]
    try:
        units, decimals = parse_entries(table, [entry.text for entry in entries])
    except InputError:
        for entry, key in zip(entries, codes, strict=True):
            _refuse_by_name(table, where, entry, key)
        raise
    empty = [where.cells[entry.row, entry.column] < 0 for entry in entries]
    values = {
        key: unit
        for key, unit, nothing in zip(codes, units.tolist(), empty, strict=True)
        if unit or not nothing
    }
    return with_cells(table.with_decimals(decimals), values)


def find_wrong_sum(table: Table, where: Layout, entries: Sequence[Entry]) -> EntryError | None:
    """Return what is to be said on the page of sums pasted into the sheet that differ from the sum of their
    parts, as entered, with the first of them; None if none does.

    Parameters
    ----------
    table
        With the entries in it.
    """
    sums = [entry for entry in entries if entry.is_sum and is_number(tidy(entry.text))]
    if not sums:
        return None
    parts = [entry for entry in entries if not entry.is_sum]
    try:
        units, decimals = parse_entries(table, [entry.text for entry in (*parts, *sums)])
    except InputError as error:
        return EntryError(f"pasted sums were not compared with their parts: {error}", sums[0])
    finer = table.with_decimals(decimals)
    differing = []
    for entry, pasted in zip(sums, units[len(parts) :].tolist(), strict=True):
        key = where.codes_at(entry.row, entry.column)
        total = _find_value(finer, key)
        if pasted != total:
            differing.append((key, entry, exact.to_text(total, decimals)))
    if not differing:
        return None
    key, first, total_text = differing[0]
    return EntryError(
        f"({name_cell(where, key)}): {first.text} was pasted, but its parts add up to {total_text}"
        f"{and_others(len(differing), 'sum')}. Sums follow from their parts: check what was pasted.",
        first,
    )


def _find_value(table: Table, key: Sequence[str]) -> int:
    """Return the value of a cell, to compare a pasted sum with, in units; an empty one is zero."""
    try:
        return int(table.units[table.find(*key)])
    except InputError:
        return 0


def _refuse_by_name(table: Table, where: Layout, entry: Entry, key: Sequence[str]) -> None:
    try:
        parse_entry(table, entry.text)
    except InputError as error:
        fault = f"({name_cell(where, key)}): {error}. Nothing was entered."
        raise EntryError(fault, entry, options=error.options) from None


def name_cell(where: Layout, key: Sequence[str]) -> str:
    """Return a cell of the sheet as people say it, also an empty one: ``region=North, industry=Steel``."""
    structure = where.structure
    if structure.labels:
        return f"cell {key[0]}"
    return ", ".join(f"{d.name}={code}" for d, code in zip(structure.dimensions, key, strict=True))
