"""What a reader sees of a table: which cell stands where, what it shows, and what kind of cell it is.

Kinds carry a sign besides their colour, so that nobody depends on seeing colours:

| kind | sign | meaning |
|---|---|---|
| ``published`` | | shown as it is |
| ``sensitive`` | ■ | sensitive and not shown as it is |
| ``other`` | ▲ | not shown as it is, to protect the sensitive ones |
| ``exposed`` | ! | sensitive, yet shown as it is |

Nothing here knows a value that the release hides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacita import exact
from tacita.exact import UNBOUNDED, Cells, Mask
from tacita.release import Mark, Release
from tacita.tables.dimension import Dimension
from tacita.tables.structure import Structure

KINDS = ("published", "sensitive", "other", "exposed")
SIGNS = {"published": "", "sensitive": "■", "other": "▲", "exposed": "!"}
MEANINGS = {
    "published": "published as it is",
    "sensitive": "sensitive, protected",
    "other": "protects the sensitive ones",
    "exposed": "sensitive, yet published",
}


@dataclass(frozen=True)
class Line:
    """A row or column of a crosstab: its code and how deep it stands in its classification."""

    code: str
    depth: int


@dataclass(frozen=True, eq=False)
class Crosstab:
    """Rows by columns; ``cells[r, c]`` is a cell, -1 an empty one. ``about`` says what was left out."""

    row_name: str
    column_name: str
    rows: tuple[Line, ...]
    columns: tuple[Line, ...]
    cells: Cells
    about: str


def kinds(release: Release, sensitive: Mask) -> NDArray[np.int64]:
    """Position in ``KINDS`` of each cell."""
    changed = release.changed
    return np.where(sensitive, np.where(changed, 1, 3), np.where(changed, 2, 0))


def shown_text(release: Release, cell: int) -> str:
    """A cell as it is published: its number, its interval, or nothing."""
    if release.shown[cell]:
        return _number(int(release.value[cell]), release.decimals)
    if release.marks[cell] == Mark.INTERVAL:
        low, high = int(release.low[cell]), int(release.high[cell])
        return f"{_number(low, release.decimals)}…{_number(high, release.decimals)}"
    return ""


def _number(units: int, decimals: int) -> str:
    if abs(units) >= UNBOUNDED:
        return "∞" if units > 0 else "−∞"
    whole, _, fraction = exact.text(units, decimals).partition(".")
    return f"{int(whole):,}".replace(",", "\u202f") + (f".{fraction}" if fraction else "")


def crosstab(structure: Structure, most_rows: int = 60, most_columns: int = 24) -> Crosstab | None:
    """The table as rows by columns, other dimensions at their total; None if it has no dimensions."""
    if not structure.dimensions:
        return None
    order = sorted(range(len(structure.dimensions)), key=lambda d: -len(structure.dimensions[d].codes))
    chosen = order[:2]
    rows, rows_cut = _lines(structure.dimensions[chosen[0]], most_rows)
    columns, columns_cut = (
        _lines(structure.dimensions[chosen[1]], most_columns) if len(chosen) > 1 else ([-1], False)
    )
    key = np.array([[d.representative[d.index(d.total)] for d in structure.dimensions]], dtype=np.int32)
    wanted = np.repeat(key, len(rows) * len(columns), axis=0)
    wanted[:, chosen[0]] = np.repeat(rows, len(columns))
    if len(chosen) > 1:
        wanted[:, chosen[1]] = np.tile(columns, len(rows))
    cells = structure.locate(wanted).reshape(len(rows), len(columns))
    filled_rows = np.flatnonzero((cells >= 0).any(axis=1))
    filled_columns = np.flatnonzero((cells >= 0).any(axis=0))
    first = structure.dimensions[chosen[0]]
    second = structure.dimensions[chosen[1]] if len(chosen) > 1 else None
    about = [f"{structure.dimensions[d].name} = {structure.dimensions[d].total}" for d in order[2:]]
    if rows_cut or columns_cut:
        about.append("the upper levels only")
    return Crosstab(
        first.name,
        second.name if second else "",
        tuple(_line(first, rows[r]) for r in filled_rows.tolist()),
        tuple(_line(second, columns[c]) if second else Line("value", 0) for c in filled_columns.tolist()),
        cells[filled_rows][:, filled_columns],
        ", ".join(about),
    )


def _lines(dimension: Dimension, most: int) -> tuple[Sequence[int], bool]:
    """Codes to list, and whether some were left out: whole levels from the top as long as they fit."""
    codes = [c for c in range(len(dimension.codes)) if dimension.representative[c] == c]
    if len(codes) <= most:
        return codes, False
    depth = {c: _depth(dimension, c) for c in codes}
    deepest = max(d for d in set(depth.values()) if d <= 1 or sum(e <= d for e in depth.values()) <= most)
    return [c for c in codes if depth[c] <= deepest][:most], True


def _line(dimension: Dimension, code: int) -> Line:
    return Line(dimension.codes[code], _depth(dimension, code))


def _depth(dimension: Dimension, code: int) -> int:
    name = dimension.codes[code]
    tree = next(tree for tree in dimension.trees if name in tree)
    return int(tree.depth[tree.index(name)])
