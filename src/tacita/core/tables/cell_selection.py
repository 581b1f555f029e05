"""Cells as users give them, for every function that takes some: by mask, by codes or by position.

| given | means |
|---|---|
| truth values, one per cell of the table | the cells where they are true |
| ``("North", "Steel")`` or ``{"region": "North"}`` in a list | the cell with these codes |
| ``"North"`` in a list, of a table of one dimension or of cells with labels | the cell of this code |
| ``7``, or ``7`` in a list | the cell at position 7 |
| ``"mine"`` | the cells where this column of the table is true |

What could be read in two ways is refused: a wrong cell that is published cannot be taken back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tacita.core.errors import InputError
from tacita.core.exact import Mask
from tacita.core.tables.table import Table
from tacita.core.words import pluralize

OneCell = int | str | Sequence[str] | Mapping[str, str]
CellList = int | str | Iterable[OneCell] | Iterable[bool]

BY_CODES = "write the codes of a cell together, as in [('North', 'Steel'), ('South', 'Coal')]"


class Listed(tuple[Any, ...]):
    """Cells listed one by one in anything but a plain tuple, which could hold the codes of one cell."""


def freeze_cells(cells: CellList) -> str | tuple[Any, ...]:
    """Return a user's selection of cells as a tuple or text, which can be read twice and compared."""
    if isinstance(cells, str) or type(cells) is tuple or isinstance(cells, Listed):
        return cells
    if isinstance(cells, Mapping) or not isinstance(cells, Iterable):
        return Listed([cells])
    plain = (cell.tolist() if isinstance(cell, np.generic | np.ndarray) else cell for cell in cells)
    return Listed(tuple(cell) if isinstance(cell, list) else cell for cell in plain)


def read_cells(table: Table, cells: CellList, what: str) -> Mask:
    """Return a mask of the cells of a table that a user selects by mask, codes, positions or column.

    Parameters
    ----------
    cells
        A mask, codes, positions or the name of a column; see the head of this file.
    what
        What the cells are given for, as errors name it.

    Raises
    ------
    InputError
        There is no such cell, or what is given could mean two things.
    """
    if isinstance(cells, str):
        return _read_column(table, cells, what)
    if isinstance(cells, int | np.integer) and not isinstance(cells, bool):
        cells = [int(cells)]
    elif isinstance(cells, Mapping):
        cells = [cells]
    elif not isinstance(cells, Iterable):
        raise InputError(
            f"{cells!r} is no list of cells", place=what, remedy="give a list of positions or of codes"
        )
    array = np.asarray(cells) if hasattr(cells, "__array__") else None
    if array is not None and array.dtype.kind in "biu":
        if array.ndim != 1:
            raise InputError(
                f"an array of shape {array.shape} names no cells",
                place=what,
                remedy=f"give one truth value for each of the {pluralize(len(table), 'cell')} of the table, "
                "in their order",
            )
    else:
        listed: list[Any] = list(cells) if array is None else array.tolist()
        kinds = {type(cell) for cell in listed}
        if not kinds:
            return np.zeros(len(table), dtype=bool)
        if kinds <= {bool, np.bool_}:
            array = np.array(listed, dtype=bool)
        elif all(issubclass(kind, int | np.integer) for kind in kinds - {bool}) and bool not in kinds:
            if type(cells) is tuple:
                _refuse_codes_or_positions(table, cells, what)
            array = np.array(listed, dtype=np.int64)
        else:
            array = np.array([_find_cell(table, cell, what) for cell in listed], dtype=np.int64)
            return _mask_positions(table, array, what)
    if array.dtype == bool:
        if array.size != len(table):
            raise InputError(
                f"{array.size:,} truth values for {pluralize(len(table), 'cell')}: a mask needs one "
                "for each cell of the table, in their order",
                place=what,
            )
        return array.copy()
    if array.size == len(table) > np.unique(array).size and np.isin(array, (0, 1)).all():
        raise InputError(
            f"{array.size:,} zeros and ones could be a mask or the positions 0 and 1",
            place=what,
            remedy="give truth values for a mask, or each position once",
        )
    return _mask_positions(table, array.astype(np.int64), what)


def _mask_positions(table: Table, positions: Any, what: str) -> Mask:
    if (wrong := positions[(positions < 0) | (positions >= len(table))]).size:
        raise InputError(
            f"there is no cell number {wrong[0]}",
            place=what,
            remedy=f"Cells are numbered 0 to {len(table) - 1}.",
        )
    mask = np.zeros(len(table), dtype=bool)
    mask[positions] = True
    return mask


def _find_cell(table: Table, cell: Any, what: str) -> int:
    """Return the position in the table of one cell in a user's list."""
    structure = table.structure
    try:
        if isinstance(cell, str):
            if not structure.labels and len(structure.dimensions) > 1:
                raise InputError(
                    f"'{cell}' alone names no cell of a table by "
                    f"{', '.join(d.name for d in structure.dimensions)}",
                    remedy=BY_CODES,
                )
            return table.find(cell)
        if isinstance(cell, Mapping):
            return table.find(**cell)
        if isinstance(cell, tuple | list) and not any(isinstance(code, bool | float) for code in cell):
            return table.find(*map(str, cell))
        if isinstance(cell, int | np.integer) and not isinstance(cell, bool):
            return int(cell)
    except InputError as error:
        raise error.with_place(what) from None
    raise InputError(
        f"{cell!r} is no cell", place=what, remedy=f"give its position, which is an integer, or {BY_CODES}"
    )


def _refuse_codes_or_positions(table: Table, cells: tuple[int, ...], what: str) -> None:
    """Refuse a user's tuple of numbers that are codes of one cell as well as positions of several."""
    dimensions = table.structure.dimensions
    codes = [str(cell) for cell in cells]
    if len(codes) == len(dimensions) > 1 and all(
        code in dimension.position for code, dimension in zip(codes, dimensions, strict=True)
    ):
        shown = ", ".join(f"'{code}'" for code in codes)
        raise InputError(
            f"({', '.join(codes)}) could be the codes of one cell or the positions of {len(codes)}",
            remedy=f"write [({shown})] for the cell with these codes, [{', '.join(codes)}] for the positions",
            place=what,
        )


def _read_column(table: Table, name: str, what: str) -> Mask:
    if name not in table.columns:
        known = ", ".join(table.columns) or "none"
        raise InputError(
            f"the table has no column '{name}' (columns: {known}); cells are given in a list",
            place=what,
            remedy=BY_CODES,
        )
    column = np.asarray(table.columns[name])
    if column.dtype.kind not in "biu" or not np.isin(column, (0, 1)).all():
        raise InputError(f"column '{name}' must hold true or false for each cell", place=what)
    return column.astype(bool)
