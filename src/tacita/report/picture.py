"""A released table as readers see it: rows by columns, the text of each cell, and its kind.

Kinds have a sign besides their colour, so that nobody depends on seeing colours:

| kind | sign | meaning |
|---|---|---|
| ``published`` | | published as it is |
| ``sensitive`` | ■ | primary cell: sensitive, not published as it is |
| ``other`` | ▲ | secondary cell: not published as it is, to protect the primary ones |
| ``exposed`` | ! | sensitive, yet published as it is |
| ``rounded`` | | a number that is rounded, as all are in a rounded table, and not sensitive |

No value that the release hides is used here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacita.core import exact
from tacita.core.exact import UNBOUNDED, Cells, Mask
from tacita.core.release import Mark, Release
from tacita.core.tables.dimension import Codes, Dimension
from tacita.core.tables.layout import ONE_COLUMN, Line, find_crossings, list_lines
from tacita.core.tables.structure import Structure

KINDS = ("published", "sensitive", "other", "exposed", "rounded")
SIGNS = {"published": "", "sensitive": "■", "other": "▲", "exposed": "!", "rounded": ""}
MEANINGS = {
    "published": "published as it is",
    "sensitive": "primary, not published exactly",
    "other": "secondary, to protect these",
    "exposed": "sensitive, yet published",
    "rounded": "rounded",
}


@dataclass(frozen=True, eq=False)
class Crosstab:
    """Rows by columns; ``cells[r, c]`` is a cell, -1 an empty one. ``about`` is what was left out."""

    row_name: str
    column_name: str
    rows: tuple[Line, ...]
    columns: tuple[Line, ...]
    cells: Cells
    about: str


def classify_cells(release: Release, sensitive: Mask) -> NDArray[np.int64]:
    """Return the kind by which reports mark each released cell (primary, ...), as position in ``KINDS``."""
    others = np.where(release.marks == Mark.ROUNDED, 4, np.where(release.changed, 2, 0))
    return np.where(sensitive, np.where(release.changed, 1, 3), others)


def format_shown(release: Release, cell: int) -> str:
    """Return the text that reports show for a cell of a release: its number, its interval, or nothing."""
    if release.shown[cell]:
        return _format_units(int(release.value[cell]), release.decimals)
    if release.marks[cell] == Mark.INTERVAL:
        low, high = int(release.low[cell]), int(release.high[cell])
        return f"{_format_units(low, release.decimals)}…{_format_units(high, release.decimals)}"
    return ""


def _format_units(units: int, decimals: int) -> str:
    if abs(units) >= UNBOUNDED:
        return "∞" if units > 0 else "−∞"
    whole, _, fraction = exact.to_text(abs(units), decimals).partition(".")
    sign = "-" if units < 0 else ""
    return sign + f"{int(whole):,}".replace(",", "\u202f") + (f".{fraction}" if fraction else "")


def build_crosstab(structure: Structure, most_rows: int = 60, most_columns: int = 24) -> Crosstab | None:
    """Return the crosstab that reports show of a table, other dimensions at totals; None without any."""
    if not structure.dimensions:
        return None
    order = sorted(range(len(structure.dimensions)), key=lambda d: -len(structure.dimensions[d].codes))
    fixed = {d: structure.dimensions[d].total for d in order[2:]}
    most = dict(zip(order, (most_rows, most_columns), strict=False))
    codes = {d: select_upper_codes(structure.dimensions[d], limit) for d, limit in most.items()}
    about = [f"{structure.dimensions[d].name} = {total}" for d, total in fixed.items()]
    if any(own.size < np.unique(structure.dimensions[d].representative).size for d, own in codes.items()):
        about.append("the upper levels only")
    listed = find_crossings(structure, fixed, codes) >= 0
    filled = {
        d: list_lines(structure.dimensions[d], False, own[listed.any(axis=axis)])
        for (d, own), axis in zip(codes.items(), (1, 0), strict=False)
    }
    shown = [(structure.dimensions[d].name, own) for d, (_, own) in filled.items()]
    (row_name, rows), (column_name, columns), *_ = [*shown, ("", ONE_COLUMN)]
    cells = find_crossings(structure, fixed, {d: own for d, (own, _) in filled.items()})
    return Crosstab(row_name, column_name, rows, columns, cells, ", ".join(about))


def select_upper_codes(dimension: Dimension, most: int) -> Codes:
    """Return the codes that a report's crosstab lists: tiers of the hierarchy from the top that fit."""
    codes, listed = list_lines(dimension, False, np.unique(dimension.representative))
    if codes.size <= most:
        return codes
    depth = np.array([line.depth for line in listed])
    deepest = max(d for d in set(depth.tolist()) if d <= 1 or np.count_nonzero(depth <= d) <= most)
    return codes[np.flatnonzero(depth <= deepest)[:most]]
