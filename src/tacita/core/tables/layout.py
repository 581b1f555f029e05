"""How a table of any number of dimensions is shown as rows by columns.

One dimension runs down, one runs across, and every other one is fixed at a code, its total by default. Lines
stand in the order of their tree, depth-first. A code and its only child are one cell, which both lines show.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tacita.core.errors import InputError, did_you_mean
from tacita.core.exact import Cells, freeze
from tacita.core.tables.additivity import find_totals
from tacita.core.tables.dimension import Codes, Dimension
from tacita.core.tables.structure import Part, Structure


class Line(NamedTuple):
    """A row or column: its code, depth, parent's line (-1: none), whether nothing is below it, and its label.

    A tuple, since there may be a hundred thousand of them.
    """

    code: str
    depth: int
    parent: int
    leaf: bool
    label: str = ""


ONE_COLUMN: tuple[Line, ...] = (Line("value", 0, -1, True),)
"""The only column of a table that has no second dimension."""


@dataclass(frozen=True, eq=False)
class Layout:
    """Rows by columns; ``cells[r, c]`` is a cell of the structure, -1 an empty one.

    ``fixed`` has the code of every dimension that is neither down nor across. Without a second dimension (or
    without any, as in JJ files) there is one column and ``column_dimension`` (and ``row_dimension``) is None.
    """

    structure: Structure
    row_dimension: int | None
    column_dimension: int | None
    fixed: Mapping[int, str]
    rows: tuple[Line, ...]
    columns: tuple[Line, ...]
    cells: Cells

    def codes_at(self, row: int, column: int) -> tuple[str, ...]:
        """Return the codes of the cell at a row and column, by dimension, or its label; also if empty."""
        if self.row_dimension is None:
            return (self.rows[row].code,)
        chosen = {**self.fixed, self.row_dimension: self.rows[row].code}
        if self.column_dimension is not None:
            chosen[self.column_dimension] = self.columns[column].code
        return tuple(chosen[d] for d in range(len(self.structure.dimensions)))


def lay_out(
    structure: Structure,
    rows: str | None = None,
    columns: str | None = None,
    fixed: Mapping[str, str] | None = None,
    total_last: bool = True,
    part: str | None = None,
) -> Layout:
    """Return the layout of a table as rows by columns.

    Parameters
    ----------
    rows, columns
        Dimensions by name; the first ones that are left by default.
    fixed
        Codes of other dimensions, by name; totals by default.
    total_last
        Each code comes after the codes below it, as tables are printed; otherwise before them.
    part
        Which of several linked tables; the first by default. Only its codes and cells are shown.
    """
    if not structure.dimensions:
        return _lay_out_list(structure)
    shown = _find_linked_table(structure, part)
    shown_dimensions = shown.dimensions if shown else tuple(range(len(structure.dimensions)))
    down, across = _choose_axes(structure, shown_dimensions, rows, columns)
    chosen = {d: own.total for d, own in enumerate(structure.dimensions) if d not in (down, across)}
    for name, code in (fixed or {}).items():
        d = _find_dimension(structure, shown_dimensions, name)
        if d not in chosen:
            raise InputError(
                f"'{name}' runs along the table", remedy="fix another dimension, or show another one"
            )
        chosen[d] = code
    found = {d: _list_shown_lines(structure, shown, d, total_last) for d in (down, across) if d is not None}
    cells = find_crossings(structure, chosen, {d: codes for d, (codes, _) in found.items()})
    if shown:
        inside = np.zeros(len(structure), dtype=bool)
        inside[shown.cells] = True
        cells = np.where(inside[cells], cells, -1)
    columns_shown = ONE_COLUMN if across is None else found[across][1]
    return Layout(structure, down, across, chosen, found[down][1], columns_shown, freeze(cells))


def find_crossings(structure: Structure, fixed: Mapping[int, str], along: Mapping[int, Codes]) -> Cells:
    """Return the cell where each row and column of a table cross, -1 where it is empty.

    Parameters
    ----------
    fixed
        Dimensions that do not run along the table, each with its code.
    along
        The dimension that runs down and the one that runs across, in this order, with the codes (by position)
        of their lines; without the second there is one column.
    """
    shape = tuple(codes.size for codes in along.values()) + (1,) * (2 - len(along))
    grid = np.empty((*shape, len(structure.dimensions)), dtype=np.int32)
    for d, code in fixed.items():
        grid[:, :, d] = structure.dimensions[d].index(code)
    for (d, codes), axis in zip(along.items(), ((-1, 1), (1, -1)), strict=False):
        grid[:, :, d] = codes.reshape(axis)
    for d, dimension in enumerate(structure.dimensions):
        grid[:, :, d] = dimension.representative[grid[:, :, d]]
    return structure.locate(grid.reshape(-1, len(structure.dimensions))).reshape(shape)


def list_lines(
    dimension: Dimension, total_last: bool = True, only: Codes | None = None
) -> tuple[Codes, tuple[Line, ...]]:
    """Return the positions of a dimension's codes in the order shown, and the row or column of each.

    A code stands where the first tree that has it puts it, so codes of later trees follow under their own
    root, or at the end of a parent that an earlier tree has too. With ``only`` some codes are shown: each
    under the nearest one above it.
    """
    wanted = np.ones(len(dimension.codes), dtype=bool)
    if only is not None:
        wanted[:] = False
        wanted[only] = True
    shown = wanted.tolist()
    parent, inner = _find_parents(dimension, shown)
    # The last place of each list, which -1 reaches, is that of no code at all.
    children: list[list[int]] = [[] for _ in range(len(parent) + 1)]
    for code, above in enumerate(parent):
        if shown[code]:
            children[above].append(code)
    depth = [0] * len(parent) + [-1]
    order: list[int] = []
    # Read backwards, depth-first from the last child to the first puts every parent after its children.
    waiting = children[-1] if total_last else children[-1][::-1]
    while waiting:
        code = waiting.pop()
        order.append(code)
        depth[code] = depth[parent[code]] + 1
        waiting.extend(children[code] if total_last else reversed(children[code]))
    if total_last:
        order.reverse()
    line_of = [-1] * (len(parent) + 1)
    for line, code in enumerate(order):
        line_of[code] = line
    codes = dimension.codes
    return np.array(order, dtype=np.int32), tuple(
        Line(codes[at], depth[at], line_of[parent[at]], not inner[at], _find_label(dimension, codes[at]))
        for at in order
    )


def _find_label(dimension: Dimension, code: str) -> str:
    """Return the label that stands beside a code; empty where there is none or the code says as much."""
    label = dimension.label(code)
    return "" if label == code else label


def _find_parents(dimension: Dimension, shown: Sequence[bool]) -> tuple[list[int], list[bool]]:
    """Return the nearest shown code above each code (-1: none), and for each whether shown ones are below.

    The code above is that in the first tree; the codes below are those in any tree.
    """
    unseen = -2
    parent = [unseen] * len(dimension.codes)
    inner = [False] * len(dimension.codes)
    for tree in dimension.trees:
        place = [dimension.position[code] for code in tree.codes]
        nearest: list[int] = []
        for code, above in zip(place, tree.parents.tolist(), strict=True):
            over = -1 if above < 0 else place[above] if shown[place[above]] else nearest[above]
            nearest.append(over)
            if parent[code] == unseen:
                parent[code] = over
            if shown[code] and over >= 0:
                inner[over] = True
    return parent, inner


def _lay_out_list(structure: Structure) -> Layout:
    """Return the layout of a table without dimensions: one row per cell."""
    inner = np.zeros(len(structure) + 1, dtype=bool)
    inner[find_totals(structure.equations, np.arange(len(structure.equations)))] = True
    rows = tuple(
        Line(label, 0, -1, not total)
        for label, total in zip(structure.labels, inner[:-1].tolist(), strict=True)
    )
    cells = np.arange(len(structure)).reshape(-1, 1)
    return Layout(structure, None, None, {}, rows, ONE_COLUMN, freeze(cells))


def _list_shown_lines(
    structure: Structure, part: Part | None, d: int, total_last: bool
) -> tuple[Codes, tuple[Line, ...]]:
    only = None if part is None else part.codes[:, part.dimensions.index(d)]
    return list_lines(structure.dimensions[d], total_last, only)


def _find_linked_table(structure: Structure, name: str | None) -> Part | None:
    """Return the linked table that is shown: the named one, else the first; None if there is only one."""
    names = [part.name for part in structure.parts]
    if name is not None and name not in names:
        raise InputError(f"there is no table '{name}'{did_you_mean(name, names)}; there are {names}")
    if len(names) < 2:
        return None
    return structure.parts[0 if name is None else names.index(name)]


def _find_dimension(structure: Structure, own: Sequence[int], name: str) -> int:
    names = {structure.dimensions[d].name: d for d in own}
    if name not in names:
        raise InputError(
            f"there is no dimension '{name}'{did_you_mean(name, names)}; there are {', '.join(names)}"
        )
    return names[name]


def _choose_axes(
    structure: Structure, own: Sequence[int], rows: str | None, columns: str | None
) -> tuple[int, int | None]:
    """Return the dimensions that run down and across a shown table; None across where there is only one."""
    if rows is not None and rows == columns:
        raise InputError(f"'{rows}' cannot run both down and across", remedy="name two dimensions")
    across = None if columns is None else _find_dimension(structure, own, columns)
    left = [d for d in own if d != across]
    if not left:
        raise InputError(f"'{columns}' is the only dimension", remedy="show it as rows")
    down = left[0] if rows is None else _find_dimension(structure, own, rows)
    if across is None:
        across = next((d for d in own if d != down), None)
    return down, across
