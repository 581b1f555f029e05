"""The same table with other cells: its free cells, those that are no total, and what grows above them.

A table that lists all totals is told by its free cells alone. So a table with more or fewer cells, or with
other codes, is made from them: they are changed, and rolled up again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacita.core.errors import InputError
from tacita.core.exact import Cells, Units
from tacita.core.tables.build import representatives, table_of_cells
from tacita.core.tables.dimension import Codes, Dimension
from tacita.core.tables.equations import Equations
from tacita.core.tables.rollup import roll_up
from tacita.core.tables.structure import Structure, cell_keys
from tacita.core.tables.table import Table


def moved(old: Structure, new: Structure, cells: Cells) -> Cells:
    """Where cells of one structure are in another, by codes (or labels); -1 where one is gone.

    A cell that stands for a chain of single children is where the finest of them is that still exists: when
    a code gets company, what was said of its cell is not said of the new total.
    """
    cells = np.asarray(cells, dtype=np.int64)
    if old is new or old.same_cells(new):
        return cells.copy()
    if old.labels:
        place = {label: i for i, label in enumerate(new.labels)}
        return np.array([place.get(old.labels[c], -1) for c in cells.tolist()], dtype=np.int64)
    axes = {dimension.name: d for d, dimension in enumerate(old.dimensions)}
    if set(axes) != {dimension.name for dimension in new.dimensions}:
        return np.full(cells.size, -1, dtype=np.int64)
    wanted = np.column_stack(
        [
            _recoding(old.dimensions[axes[there.name]], there)[old.codes[cells, axes[there.name]]]
            for there in new.dimensions
        ]
    )
    found = new.locate(np.maximum(wanted, 0).astype(np.int32))
    return np.where((wanted >= 0).all(axis=1), found, -1)


def refuse_contributors(table: Table) -> None:
    """Refuse a table with more behind its values than they tell themselves, as counts do of respondents."""
    others = (table.population, table.contributions, table.holding_count, table.holdings)
    counts_itself = table.count is None or np.array_equal(table.count * 10**table.decimals, table.units)
    if not counts_itself or any(other is not None for other in others):
        raise InputError(
            "the table comes from records: the contributions and respondents behind its cells would not fit "
            "other values. Correct the records, or go on without them: without_contributors(table)."
        )


def count_of(table: Table, units: Units) -> Units | None:
    """Respondents per cell once values are others: none, or as many as the values say."""
    return None if table.count is None else units // 10**table.decimals


def free_cells(table: Table) -> tuple[Codes, Units]:
    """The cells that are no total, by the finest code of each chain of single children, and their values.

    Refused unless all other cells are the sums of these: only then does it go without saying which totals a
    table with other cells has.
    """
    structure = table.structure
    refuse_contributors(table)
    if not structure.dimensions:
        raise InputError("the table comes without dimensions (a JJ file): its cells are all there are")
    if len(structure.parts) > 1:
        names = ", ".join(repr(part.name) for part in structure.parts)
        raise InputError(
            f"the tables {names} are linked: change cells and codes in each, then link them again"
        )
    free = ~structure.is_total
    rolled = roll_up(structure.dimensions, structure.codes[free])
    at = structure.locate(rolled.codes)
    if (unlisted := np.flatnonzero(at < 0)).size:
        total = row_name(structure.dimensions, rolled.codes[unlisted[0]])
        raise InputError(
            f"the table leaves out totals such as ({total}), so nobody can tell which of them new cells "
            "or codes would bring along: list all of them, or have all totals computed"
        )
    finest = [_finest(dimension) for dimension in structure.dimensions]
    codes = np.column_stack([fine[structure.codes[free, k]] for k, fine in enumerate(finest)])
    return codes.astype(np.int32), table.units[free]


def refuse_new_parts(dimensions: tuple[Dimension, ...], free: Codes, new: Codes) -> None:
    """Cells with a value of their own cannot become the sum of new ones."""
    own = cell_keys(dimensions, representatives(dimensions, free))
    above = roll_up(dimensions, representatives(dimensions, new)).keys
    if (wrong := np.flatnonzero(np.isin(own, above))).size:
        raise InputError(
            f"({row_name(dimensions, free[wrong[0]])}) is listed without parts, so its value would not be "
            "the sum of new ones: give its parts in the input, or leave it out"
        )


def regrown(table: Table, dimensions: tuple[Dimension, ...], codes: Codes, units: Units) -> Table:
    """The table with these cells and all totals above them; cells that it had before come first, in order."""
    rolled = roll_up(dimensions, representatives(dimensions, codes))
    n = rolled.keys.size
    bare = Structure(dimensions, rolled.codes, Equations.stack([], n))
    came = moved(table.structure, bare, np.arange(len(table)))
    source = np.full(n, -1, dtype=np.int64)
    # Backwards, so that of two cells which have become one the first keeps its place.
    source[came[came >= 0][::-1]] = np.flatnonzero(came >= 0)[::-1]
    order = np.argsort(np.where(source >= 0, source, len(table)), kind="stable")
    source, units = source[order], rolled.add(units)[order]
    structural = None
    if table.structural is not None:
        # Of two cells which have become one, what is known of either is known.
        structural = np.zeros(n, dtype=bool)
        structural[came[table.structural & (came >= 0)]] = True
        structural = structural[order]
    return table_of_cells(
        dimensions,
        rolled.codes[order],
        units,
        table.decimals,
        name=table.structure.parts[0].name if table.structure.parts else "table",
        whole=table.whole,
        count=count_of(table, units),
        structural=structural,
        columns={name: _carried(column, source) for name, column in table.columns.items()},
        value_name=table.value_name,
        notes=table.notes,
        warnings=table.warnings,
    )


def row_name(dimensions: Sequence[Dimension], row: Codes) -> str:
    """A cell that may not be listed, as people say it."""
    return ", ".join(f"{d.name}={d.codes[c]}" for d, c in zip(dimensions, row, strict=True))


def _recoding(here: Dimension, there: Dimension) -> NDArray[np.int64]:
    """For each representative code of one dimension its representative in another, -1 where there is none."""
    recoded = np.full(len(here.codes), -1, dtype=np.int64)
    # Finer codes of a chain come later and so have the last word.
    for position, code in enumerate(here.codes):
        if code in there.position:
            recoded[here.representative[position]] = there.representative[there.position[code]]
    return recoded


def _finest(dimension: Dimension) -> Codes:
    """For each representative the last code of its chain of single children."""
    finest = np.arange(len(dimension.codes), dtype=np.int32)
    np.maximum.at(finest, dimension.representative, np.arange(len(dimension.codes), dtype=np.int32))
    return finest


def _carried(column: NDArray[Any], source: Cells) -> NDArray[Any]:
    """A column for other cells; NaN or empty text where a cell is new."""
    new = source < 0
    if not new.any():
        return column[source]
    text = column.dtype.kind in "OUS"
    carried = column[source].astype(object if text else np.float64)
    carried[new] = "" if text else np.nan
    return carried
