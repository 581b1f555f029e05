"""Deviations by level: how far shown numbers are from the truth at each level of each hierarchy.

For every dimension and level a line goes from the smallest to the largest relative change ``100 (v - a) /
abs(a)`` of the cells that show a number, a box from the lower to the upper quartile, and a stroke stands at
the median. True zeros have no relative change. The picture tells of true values: it is internal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

import numpy as np

from tacita.core.release import Release
from tacita.core.tables.table import Table
from tacita.core.words import pluralize
from tacita.problem.deviations import compute_relative_changes
from tacita.problem.loss_by_level import list_levels

ROW, LEFT, SCALE, TEXT = 22, 150, 260, 150
"""Height of a line; widths of its name, of the scale and of the text beside it."""


@dataclass(frozen=True)
class LevelDeviation:
    """Relative changes of the shown numbers at one level, in percent."""

    name: str
    cells: int
    smallest: float
    lower: float
    median: float
    upper: float
    largest: float


def find_level_deviations(table: Table, release: Release) -> Iterator[LevelDeviation]:
    """Yield the relative changes of a release's shown numbers by dimension and level, for reports."""
    changes = compute_relative_changes(table, release)
    for dimension, level in list_levels(table.structure):
        for own in np.unique(level).tolist():
            here = changes[(level == own) & ~np.isnan(changes)]
            if here.size:
                ends = np.quantile(here, (0, 0.25, 0.5, 0.75, 1)).tolist()
                yield LevelDeviation(f"{dimension}, level {own}", here.size, *ends)


def find_widest(table: Table, release: Release) -> float:
    """Return the largest relative change of a release's shown numbers, for the scale of pictures."""
    return float(np.nanmax(np.abs(compute_relative_changes(table, release)), initial=0.0))


def draw_deviations(table: Table, release: Release, widest: float | None = None) -> str:
    """Return a picture of a release's deviations by level for an internal HTML report, or a sentence where
    every number shown is the true one.

    Parameters
    ----------
    widest
        The relative change at the ends of the scale, where pictures of several releases are to have one;
        by default the largest of this one.
    """
    rows = list(find_level_deviations(table, release))
    own = find_widest(table, release)
    widest = own if widest is None else widest
    if not own:
        return "<p>Every number shown is the true one.</p>"
    height = ROW * len(rows) + 26
    width = LEFT + SCALE + TEXT
    bottom = ROW * len(rows) + 4
    middle = LEFT + SCALE / 2
    axis = (
        f'<path class="axis" d="M{middle} 0V{bottom}"/>'
        f'<text x="{LEFT}" y="{height - 4}">−{widest:.3g}%</text>'
        f'<text x="{middle}" y="{height - 4}" text-anchor="middle">0</text>'
        f'<text x="{LEFT + SCALE}" y="{height - 4}" text-anchor="end">+{widest:.3g}%</text>'
    )
    lines = "".join(_draw_line(row, k, widest) for k, row in enumerate(rows))
    label = escape("; ".join(_describe(row) for row in rows))
    return (
        f'<svg class="deviations" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="Deviations by level: {label}">{axis}{lines}</svg>'
    )


def _describe(row: LevelDeviation) -> str:
    return (
        f"{row.name}: {pluralize(row.cells, 'cell')}, {row.smallest:+.3g}% to {row.largest:+.3g}%, "
        f"median {row.median:+.3g}%"
    )


def _draw_line(row: LevelDeviation, k: int, widest: float) -> str:
    """Return one level of the picture of deviations: its name, line, box, median and numbers."""
    y = ROW * k + ROW / 2

    def x(change: float) -> float:
        return LEFT + SCALE / 2 * (1 + change / widest)

    box = max(2.0, x(row.upper) - x(row.lower))
    name = row.name if len(row.name) <= 24 else f"{row.name[:11]}…{row.name[-11:]}"
    return (
        f'<g><title>{escape(_describe(row))}</title><text x="0" y="{y + 4}">{escape(name)}</text>'
        f'<path class="whisker" d="M{x(row.smallest):.1f} {y}H{x(row.largest):.1f}"/>'
        f'<rect class="box" x="{x(row.lower):.1f}" y="{y - 6}" width="{box:.1f}" height="12"/>'
        f'<path class="median" d="M{x(row.median):.1f} {y - 7}V{y + 7}"/>'
        f'<text x="{LEFT + SCALE + 12}" y="{y + 4}">{row.smallest:+.3g}% to {row.largest:+.3g}%</text></g>'
    )
