"""Heat maps of what a release hides: two dimensions each, a square where a row and a column cross.

Of a table of two dimensions a square is a cell: filled if it shows no number. With more dimensions there is a
map for each pair of them, and a square stands for all cells with these two codes: the filled part of its area
is the share of those that show no number. So the size says what the colour says. Nothing but marks and codes
is used here, which readers have too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from itertools import combinations, islice
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from tacita.core.exact import Cells
from tacita.core.release import Release
from tacita.core.tables.dimension import Dimension
from tacita.core.tables.layout import ONE_COLUMN, Line, list_lines
from tacita.core.words import pluralize
from tacita.report.page import build_figure
from tacita.report.picture import select_upper_codes

MOST_MAPS = 6
MOST_ROWS, MOST_COLUMNS = 60, 40
STEP, SIDE = 16, 14
"""From one square to the next, and how wide it is."""
LONGEST = 18
"""Letters of a code that a map shows; the rest is in its text."""
LETTER = 6.6
"""The width of a letter."""


@dataclass(frozen=True, eq=False)
class HiddenMap:
    """Rows by columns; ``cells`` that have both codes, and how many of them show no number."""

    row_name: str
    column_name: str
    rows: tuple[Line, ...]
    columns: tuple[Line, ...]
    cells: Cells
    hidden: Cells
    complete: bool
    """Whether all codes are there, or those of upper levels only."""


def draw_hidden(release: Release) -> str:
    """Return the heat maps of what a release hides as figures for an HTML report, or a sentence if nothing
    is hidden.
    """
    silent = int((~release.shown).sum())
    if not silent:
        return "<p>Every cell shows a number.</p>"
    maps = list(islice(find_hidden_maps(release), MOST_MAPS))
    figures = (build_figure(_draw_map(own), _describe_map(own, len(release))) for own in maps)
    pairs = len(release.structure.dimensions) * (len(release.structure.dimensions) - 1) // 2
    cut = (
        f"<p>The first {MOST_MAPS} of {pluralize(pairs, 'pair')} of dimensions.</p>"
        if pairs > MOST_MAPS
        else ""
    )
    return f'{cut}<div class="maps">{"".join(figures)}</div>'


def find_hidden_maps(release: Release) -> Iterator[HiddenMap]:
    """Yield what a release hides for each pair of dimensions, or for the only one; for an HTML report."""
    dimensions = release.structure.dimensions
    if len(dimensions) == 1:
        yield _count_hidden(release, (0,))
    for pair in combinations(range(len(dimensions)), 2):
        yield _count_hidden(release, pair)


def _count_hidden(release: Release, along: tuple[int, ...]) -> HiddenMap:
    """Return the heat map of a release along one dimension, or two of which the longer one runs down."""
    structure = release.structure
    along = tuple(sorted(along, key=lambda d: -len(structure.dimensions[d].codes)))
    lines, places, complete = [], [], True
    for d, most in zip(along, (MOST_ROWS, MOST_COLUMNS), strict=False):
        listed, place, whole = _place_codes(structure.dimensions[d], most)
        lines.append(listed)
        places.append(place[structure.codes[:, d]])
        complete &= whole
    if len(along) == 1:
        lines.append(ONE_COLUMN)
        places.append(np.zeros(len(release), dtype=np.int64))
    inside = (places[0] >= 0) & (places[1] >= 0)
    shape = (len(lines[0]), len(lines[1]))

    def count(chosen: NDArray[np.bool_]) -> Cells:
        at = places[0][chosen] * shape[1] + places[1][chosen]
        return np.bincount(at, minlength=shape[0] * shape[1]).reshape(shape)

    names = [structure.dimensions[d].name for d in along]
    return HiddenMap(
        names[0],
        names[1] if len(names) > 1 else "",
        lines[0],
        lines[1],
        count(inside),
        count(inside & ~release.shown),
        complete,
    )


def _place_codes(dimension: Dimension, most: int) -> tuple[tuple[Line, ...], Cells, bool]:
    """Return the lines of a heat map for a dimension, the line of each code (-1: none), and whether all have
    one.
    """
    chosen = select_upper_codes(dimension, most)
    codes, lines = list_lines(dimension, False, chosen)
    place = np.full(len(dimension.codes), -1, dtype=np.int64)
    place[codes] = np.arange(codes.size)
    return lines, place, codes.size == np.unique(dimension.representative).size


def _describe_map(shown: HiddenMap, cells: int) -> str:
    """Return the caption of a heat map: what it has along its sides, and how much of it is hidden."""
    sides = " by ".join(filter(None, (shown.row_name, shown.column_name)))
    inside, hidden = int(shown.cells.sum()), int(shown.hidden.sum())
    part = "" if inside == cells else f" of {cells:,} in all"
    upper = "" if shown.complete else "; upper levels only"
    share = "; the filled part of a square is the share of its cells" if shown.cells.max() > 1 else ""
    return f"{sides}: {hidden:,} of {pluralize(inside, 'cell')}{part} without a number{upper}{share}."


def _draw_map(shown: HiddenMap) -> str:
    left = 10 + LETTER * max(min(LONGEST, len(line.code)) + 1.5 * line.depth for line in shown.rows)
    top = 10 + 0.85 * LETTER * max(min(LONGEST, len(line.code)) for line in shown.columns)
    if not shown.column_name:
        top = 4
    right = 0.55 * LETTER * min(LONGEST, len(shown.columns[-1].code)) if shown.column_name else 0
    width, height = left + STEP * len(shown.columns) + right, top + STEP * len(shown.rows) + 2
    label = escape(f"What is hidden, {_describe_map(shown, int(shown.cells.sum()))}")
    parts = [*_draw_row_labels(shown, left, top), *_draw_column_labels(shown, left, top)]
    for r, c in zip(*np.nonzero(shown.cells), strict=True):
        parts.append(_draw_square(shown, int(r), int(c), left, top))
    return (
        f'<svg class="map" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}" '
        f'role="img" aria-label="{label}">{"".join(parts)}</svg>'
    )


def _draw_square(shown: HiddenMap, row: int, column: int, left: float, top: float) -> str:
    """Return a square of a heat map, filled as far as its cells are hidden, with a text that says so."""
    x, y = left + STEP * column, top + STEP * row
    hidden, cells = int(shown.hidden[row, column]), int(shown.cells[row, column])
    square = f'<rect x="{x:.0f}" y="{y:.0f}" width="{SIDE}" height="{SIDE}" class="fill-published"/>'
    if not hidden:
        return square
    names = [f"{shown.row_name}={shown.rows[row].code}"]
    if shown.column_name:
        names.append(f"{shown.column_name}={shown.columns[column].code}")
    what = "no number" if cells == 1 else f"{hidden:,} of {pluralize(cells, 'cell')} without a number"
    side = max(3.0, SIDE * sqrt(hidden / cells))
    edge = (SIDE - side) / 2
    return (
        f"<g><title>{escape(', '.join(names))}: {what}</title>{square}"
        f'<rect x="{x + edge:.1f}" y="{y + edge:.1f}" width="{side:.1f}" height="{side:.1f}" '
        'class="fill-hidden"/></g>'
    )


def _draw_row_labels(shown: HiddenMap, left: float, top: float) -> Iterator[str]:
    for r, line in enumerate(shown.rows):
        x, y = 1.5 * LETTER * line.depth, top + STEP * r + SIDE - 3
        yield f'<text x="{x:.0f}" y="{y:.0f}">{_write_code(line)}</text>'


def _draw_column_labels(shown: HiddenMap, left: float, top: float) -> Iterator[str]:
    for c, line in enumerate(shown.columns if shown.column_name else ()):
        x, y = left + STEP * c + SIDE / 2 + 4, top - 5
        yield f'<text transform="translate({x:.0f} {y:.0f}) rotate(-60)">{_write_code(line)}</text>'


def _write_code(line: Line) -> str:
    short = line.code if len(line.code) <= LONGEST else f"{line.code[: LONGEST - 1]}…"
    return escape(short)
