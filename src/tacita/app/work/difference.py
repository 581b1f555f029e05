"""What a release changed, as a sheet shows it.

With ``v`` shown and ``a`` true: ``v - a`` with its sign where a number is shown that is not the true one,
``low - a … high - a`` where an interval is, ``hidden`` where nothing is, and blank where nothing changed. It
tells true values: it is for the house.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tacita.app.work.view import View, view_of_release
from tacita.core import exact
from tacita.core.exact import UNBOUNDED, rescale
from tacita.core.release import Mark, Release
from tacita.core.tables.layout import Layout
from tacita.problem.problem import Problem

HIDDEN = "hidden"


def view_of_difference(problem: Problem, release: Release, where: Layout) -> View:
    """Rows by columns of what changed, flagged as the release is."""
    published = view_of_release(problem.table, release, problem.levels.sensitive, where)
    words = dict(_words(problem, release, where))
    return View(where, np.zeros_like(published.units), 0, published.flags, words)


def _words(problem: Problem, release: Release, where: Layout) -> Iterator[tuple[tuple[int, int], str]]:
    decimals = max(problem.table.decimals, release.decimals)
    true = rescale(problem.table.units, problem.table.decimals, decimals)
    finer = release.with_decimals(decimals)
    off = np.where(release.shown, finer.value - true, 0).tolist()
    silent = (~release.shown).tolist()
    for row, cells in enumerate(where.cells.tolist()):
        for column, cell in enumerate(cells):
            if cell < 0 or not (silent[cell] or off[cell]):
                yield (row, column), ""
            elif not silent[cell]:
                yield (row, column), _signed(off[cell], decimals)
            elif release.marks[cell] == Mark.INTERVAL:
                low, high = (
                    _signed(int(end) if abs(end) >= UNBOUNDED else int(end - true[cell]), decimals)
                    for end in (finer.low[cell], finer.high[cell])
                )
                yield (row, column), f"{low}…{high}"
            else:
                yield (row, column), HIDDEN


def _signed(units: int, decimals: int) -> str:
    if abs(units) >= UNBOUNDED:
        return "+∞" if units > 0 else "−∞"
    return f"{'+' if units >= 0 else '−'}{exact.to_text(abs(units), decimals)}"
