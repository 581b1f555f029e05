"""Build a checked :class:`Table` from listed cells, for arrays, frames and microdata alike.

Codes are brought to their representatives (nodes with one child), repeated cells are found, totals are rolled
up when they are not given, equations are written down, and the table is checked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tacita.core.errors import InputError, RepeatedCellError
from tacita.core.exact import Cells, Mask, Units
from tacita.core.tables.additivity import repair_totals
from tacita.core.tables.dimension import Codes, Dimension
from tacita.core.tables.equations import Equations
from tacita.core.tables.rollup import roll_up
from tacita.core.tables.structure import Part, Structure, build_equations, find_distinct, make_keys
from tacita.core.tables.table import Table
from tacita.core.words import pluralize


def to_representatives(dimensions: Sequence[Dimension], codes: Codes) -> Codes:
    """Return the codes of cells with each code in a single-child chain replaced by its representative."""
    return np.column_stack([d.representative[codes[:, k]] for k, d in enumerate(dimensions)]).astype(np.int32)


def build_table(
    dimensions: Sequence[Dimension],
    codes: Codes,
    units: Units,
    decimals: int,
    *,
    compute_totals: bool,
    repair: bool = False,
    missing: Mask | None = None,
    additive: Mapping[str, Units] | None = None,
    name: str = "table",
    **fields: Any,
) -> Table:
    """Return a checked Table from the codes and the value of one row per cell.

    Parameters
    ----------
    codes, units
        Codes (positions in each dimension) and value of each row.
    compute_totals
        Roll the rows up to all totals; otherwise the rows are all the cells there are.
    repair
        Compute wrong totals anew instead of refusing the table.
    missing
        Rows whose value is not known; they are computed from the equations where these determine them.
    additive
        Columns that add up like the value (``count``, ``population``); they are rolled up with it.
    fields
        Further fields of :class:`Table`.
    """
    for dimension in dimensions:
        dimension.check()
    additive = additive or {}
    shown, codes = codes, to_representatives(dimensions, codes)
    if compute_totals:
        _refuse_repeated(dimensions, codes, shown)
        if missing is not None and missing.any():
            raise _missing_error(dimensions, codes, missing)
        rolled = roll_up(dimensions, codes)
        return build_from_cells(
            dimensions,
            rolled.codes,
            rolled.add(units),
            decimals,
            name=name,
            notes=(f"totals computed: {pluralize(rolled.keys.size, 'cell')} in all",),
            **{key: rolled.add(column) for key, column in additive.items()},
            **fields,
        )
    first, rows = find_distinct(make_keys(dimensions, codes))
    codes = codes[first]
    _refuse_conflicts(dimensions, shown, rows, first, units, missing)
    units = units[first]
    missing = missing[first] if missing is not None else None
    fields |= {key: column[first] for key, column in additive.items()}
    notes: list[str] = []
    equations, without_total = build_equations(dimensions, codes)
    if without_total:
        refuse_sums_between(dimensions, codes, equations)
        notes.append(f"{without_total:,} sums have no total among the cells: they bind nothing")
    part = Part(name, tuple(range(len(dimensions))), shown, rows)
    structure = Structure(tuple(dimensions), codes, equations, parts=(part,))
    if missing is not None and missing.any():
        units, filled = _fill_missing(structure, units, missing)
        notes.extend(filled)
    if repair:
        units, changes = repair_totals(structure, units, decimals)
        notes.extend(changes)
    return Table(structure=structure, units=units, decimals=decimals, notes=tuple(notes), **fields)


def build_from_cells(
    dimensions: Sequence[Dimension],
    codes: Codes,
    units: Units,
    decimals: int,
    *,
    name: str = "table",
    **fields: Any,
) -> Table:
    """Return a Table from complete cells: representative codes, each cell once, all totals listed."""
    shown, rows = _list_rows(dimensions, codes)
    equations, _ = build_equations(dimensions, codes)
    part = Part(name, tuple(range(len(dimensions))), shown, rows)
    structure = Structure(tuple(dimensions), codes, equations, parts=(part,))
    return Table(structure=structure, units=units, decimals=decimals, **fields)


def _refuse_conflicts(
    dimensions: Sequence[Dimension],
    shown: Codes,
    rows: Cells,
    first: Cells,
    units: Units,
    missing: Mask | None,
) -> None:
    """Refuse input rows of one cell with equal codes, or (in a single-child chain) different values."""
    if first.size == rows.size:
        return
    _refuse_repeated(dimensions, shown, shown)
    differing = np.flatnonzero(units != units[first[rows]])
    if missing is not None:
        differing = differing[~missing[differing] & ~missing[first[rows[differing]]]]
    if differing.size:
        r, q = int(differing[0]), int(first[rows[differing[0]]])
        raise InputError(
            f"rows {q + 1} ({name_row(dimensions, shown[q])}) and {r + 1} "
            f"({name_row(dimensions, shown[r])}) are the same cell, since one code is the only child "
            "of the other, but their values differ",
            remedy="correct one of them",
        )


def refuse_sums_between(dimensions: Sequence[Dimension], codes: Codes, equations: Equations) -> None:
    """Refuse a cell of a table that is part of no sum and lies below another one.

    Readers would know an equation between them that the table does not.
    """
    is_top = np.ones(codes.shape[0], dtype=bool)
    is_top[equations.cells[equations.coefficients > 0]] = False
    tops = np.flatnonzero(is_top)
    rolled = roll_up(dimensions, codes[tops])
    keys = make_keys(dimensions, codes)
    at = np.minimum(np.searchsorted(rolled.keys, keys), rolled.keys.size - 1)
    below = np.where(rolled.keys[at] == keys, rolled.add(np.ones(tops.size, dtype=np.int64))[at], 0) - is_top
    if (wrong := np.flatnonzero(below > 0)).size:
        raise InputError(
            f"({name_row(dimensions, codes[wrong[0]])}) is the total of listed cells, but the sums "
            "between them are not listed",
            remedy="list them too, have all totals computed, or leave this total out",
        )


def _refuse_repeated(dimensions: Sequence[Dimension], codes: Codes, shown: Codes) -> None:
    keys = make_keys(dimensions, codes)
    _, first, count = np.unique(keys, return_index=True, return_counts=True)
    if (count > 1).any():
        at = np.flatnonzero(keys == keys[first[count > 1][0]])
        raise RepeatedCellError(
            f"cell ({name_row(dimensions, shown[at[0]])}) is given more than once, in rows "
            f"{', '.join(str(r + 1) for r in at[:5])}",
            remedy="keep one row per cell, or tabulate the records instead",
        )


def _list_rows(dimensions: Sequence[Dimension], codes: Codes) -> tuple[Codes, Cells]:
    """Return the rows that list a table, one per cell and code that stands for it, and their cells."""
    shown, rows = codes, np.arange(codes.shape[0])
    for d, dimension in enumerate(dimensions):
        same: dict[int, list[int]] = {}
        for code, stands in enumerate(dimension.representative):
            if code != stands:
                same.setdefault(int(stands), []).append(code)
        for stands, others in same.items():
            at = np.flatnonzero(shown[:, d] == stands)
            for other in others:
                copy = shown[at].copy()
                copy[:, d] = other
                shown, rows = np.vstack([shown, copy]), np.concatenate([rows, rows[at]])
    return shown, rows


def _fill_missing(structure: Structure, units: Units, missing: Mask) -> tuple[Units, list[str]]:
    """Return the table's values in units, missing ones computed from single equations, and a note on them."""
    units, unknown = units.copy(), missing.copy()
    units[unknown] = 0
    equations = structure.equations
    progress = True
    while progress and unknown.any():
        progress = False
        open_entries = unknown[equations.cells]
        how_many = np.bincount(equations.row_of_entry[open_entries], minlength=len(equations))
        for j in np.flatnonzero(how_many == 1):
            cells, coefficients, rhs = equations.row(int(j))
            here = unknown[cells]
            if here.sum() != 1:
                continue
            cell, coefficient = int(cells[here][0]), int(coefficients[here][0])
            units[cell] = (rhs - coefficients[~here] @ units[cells[~here]]) // coefficient
            unknown[cell] = False
            progress = True
    if unknown.any():
        raise InputError(
            f"no value for {structure.names(np.flatnonzero(unknown))}, and the equations do not determine it",
            remedy="give the value, write 0, or leave the row out if the cell is empty",
        )
    filled = np.flatnonzero(missing)
    what = f"{pluralize(filled.size, 'missing value')} computed from the others"
    return units, [f"{what}: {structure.names(filled, most=3)}"]


def _missing_error(dimensions: Sequence[Dimension], codes: Codes, missing: Mask) -> InputError:
    at = np.flatnonzero(missing)
    more = f" and {at.size - 1} more" if at.size > 1 else ""
    return InputError(
        f"no value for ({name_row(dimensions, codes[at[0]])}){more}, and no totals to compute it from",
        remedy="give the value, write 0, or leave the row out if it is empty",
    )


def name_row(dimensions: Sequence[Dimension], row: Codes) -> str:
    """Return the name of a cell that the table may not list: ``region=North, industry=Steel``."""
    return ", ".join(f"{d.name}={d.codes[c]}" for d, c in zip(dimensions, row, strict=True))
