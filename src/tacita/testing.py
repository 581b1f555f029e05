"""For people who test methods: random small problems (hypothesis strategies) and an attacker who simply
tries everything.

The brute-force attacker enumerates every whole-number table in his region. It shares no code with the audit,
so that the two can be held against each other; it is meant for a handful of hidden cells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tacita.attackers import Insider, Outsider
from tacita.exact import UNBOUNDED, Mask, Units
from tacita.levels import Levels
from tacita.methods.method import Method
from tacita.problem import Problem
from tacita.release import Mark, Release
from tacita.run import Run
from tacita.tables.table import Table

SHAPES = ((3,), (2, 2), (2, 3), (3, 3), (2, 2, 2))


@st.composite
def tables(draw: Callable[..., Any], shapes: tuple[tuple[int, ...], ...] = SHAPES, largest: int = 4) -> Table:
    """Small tables of counts, totals computed."""
    shape = draw(st.sampled_from(shapes))
    size = int(np.prod(shape))
    values = draw(st.lists(st.integers(0, largest), min_size=size, max_size=size))
    return Table.from_array(np.array(values).reshape(shape))


@st.composite
def problems(
    draw: Callable[..., Any], tables_from: st.SearchStrategy[Table] | None = None, insiders: int = 2
) -> Problem:
    """A table with one to three sensitive cells, levels within reach, a bounded outsider and up to
    ``insiders`` insiders.
    """
    table: Table = draw(tables_from if tables_from is not None else tables())
    n = len(table)
    room = draw(st.integers(1, 4))
    low = np.maximum(table.units - room, 0)
    high = table.units + room
    sensitive = np.zeros(n, dtype=bool)
    sensitive[draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=3, unique=True))] = True
    upper = np.minimum(draw(st.integers(0, 3)), high - table.units)
    lower = np.minimum(draw(st.integers(0, 3)), table.units - low)
    sliding = np.minimum(draw(st.integers(0, 5)), high - low)
    outsider, levels = Outsider(low, high), Levels.of(sensitive, upper, lower, sliding)
    known = [draw(_insiders(table, outsider, levels, k)) for k in range(draw(st.integers(0, insiders)))]
    return Problem(table, levels, attackers=[outsider, *known])


@st.composite
def _insiders(
    draw: Callable[..., Any], table: Table, outsider: Outsider, levels: Levels, number: int
) -> Insider:
    """Someone who knows a few cells better and attacks every sensitive cell with the levels his knowledge
    leaves room for: all of them listed, or those in his own cells listed and the others implied.
    """
    cells = np.array(draw(st.lists(st.integers(0, len(table) - 1), min_size=1, max_size=3, unique=True)))
    low, high = outsider.lower.copy(), outsider.upper.copy()
    low[cells] = np.maximum(low[cells], table.units[cells] - draw(st.integers(0, 2)))
    high[cells] = np.minimum(high[cells], table.units[cells] + draw(st.integers(0, 2)))
    below, above = table.units - low, high - table.units
    others = draw(st.booleans())
    listed = levels.cells[np.isin(levels.cells, cells)] if others else levels.cells
    at = listed[(below + above)[listed] > 0]
    return Insider(
        f"insider {number + 1}",
        cells,
        low[cells],
        high[cells],
        at,
        np.minimum(levels.lower, below)[at],
        np.minimum(levels.upper, above)[at],
        np.minimum(levels.sliding, below + above)[at],
        also_others=others,
    )


@st.composite
def releases(draw: Callable[..., Any], problem: Problem) -> Release:
    """Any mixture of windows that is true of the table: some boxes of cells that can balance each other,
    some single cells.
    """
    table = problem.table
    changed = np.zeros(len(table), dtype=bool)
    for _ in range(draw(st.integers(0, 2))):
        changed |= draw(_boxes(table))
    changed[draw(st.lists(st.integers(0, len(table) - 1), max_size=2))] = True
    marks = np.zeros(len(table), dtype=np.uint8)
    low, high, value = table.units.copy(), table.units.copy(), np.zeros(len(table), dtype=np.int64)
    for cell in np.flatnonzero(changed):
        mark = draw(st.sampled_from([Mark.SUPPRESSED, Mark.SUPPRESSED, Mark.INTERVAL, Mark.ROUNDED]))
        marks[cell] = mark
        if mark is Mark.SUPPRESSED:
            low[cell], high[cell] = -UNBOUNDED, UNBOUNDED
        else:
            low[cell] -= draw(st.integers(0, 3))
            high[cell] += draw(st.integers(0, 3))
            value[cell] = low[cell] if mark is Mark.ROUNDED else 0
    return Release.mixed(table, changed, marks, low, high, value=value)


@st.composite
def _boxes(draw: Callable[..., Any], table: Table) -> Mask:
    """Two codes along each dimension, totals included, and all cells at their crossings."""
    inside = np.ones(len(table), dtype=bool)
    for d, dimension in enumerate(table.structure.dimensions):
        pair = draw(st.lists(st.integers(0, len(dimension.codes) - 1), min_size=2, max_size=2, unique=True))
        inside &= np.isin(table.structure.codes[:, d], pair)
    return inside


def brute_force_intervals(
    problem: Problem, release: Release, insider: Insider | None = None
) -> tuple[Units, Units]:
    """Smallest and largest value of every cell over all whole-number tables that the attacker thinks
    possible.
    """
    low, high = problem.bounds_at(insider, np.arange(len(problem.table)))
    low, high = np.maximum(low, release.low), np.minimum(high, release.high)
    equations = [(c.tolist(), m.tolist(), rhs) for c, m, rhs in problem.table.equations]
    least, most = np.full(low.size, UNBOUNDED), np.full(low.size, -UNBOUNDED)
    known = {int(c): int(low[c]) for c in np.flatnonzero(low == high)}
    for table in _all_tables(equations, low.tolist(), high.tolist(), known):
        values = np.array([table[c] for c in range(low.size)])
        least, most = np.minimum(least, values), np.maximum(most, values)
    return least, most


def _all_tables(
    equations: list[tuple[list[int], list[int], int]], low: list[int], high: list[int], known: dict[int, int]
) -> Iterator[dict[int, int]]:
    """Every way to complete a table: follow what is forced, then try each value of the next open cell."""
    known = dict(known)
    while True:
        forced = False
        for cells, coefficients, rhs in equations:
            unknown = [(c, m) for c, m in zip(cells, coefficients, strict=True) if c not in known]
            rest = rhs - sum(m * known[c] for c, m in zip(cells, coefficients, strict=True) if c in known)
            if not unknown and rest:
                return
            if len(unknown) == 1:
                cell, coefficient = unknown[0]
                if rest % coefficient or not low[cell] <= rest // coefficient <= high[cell]:
                    return
                known[cell] = rest // coefficient
                forced = True
        if not forced:
            break
    open_cell = next((c for c in range(len(low)) if c not in known), None)
    if open_cell is None:
        yield known
        return
    for value in range(low[open_cell], high[open_cell] + 1):
        yield from _all_tables(equations, low, high, {**known, open_cell: value})


def brute_force_safe(problem: Problem, release: Release) -> Mask:
    """Per requirement and target, joined: True where all whole-number tables leave the cell as uncertain as
    its levels ask.
    """
    verdicts = []
    for need in problem.requirements():
        least, most = brute_force_intervals(problem, release, need.insider)
        value = problem.table.units[need.cells]
        verdicts.append(
            (most[need.cells] >= value + need.upper)
            & (least[need.cells] <= value - need.lower)
            & (most[need.cells] - least[need.cells] >= need.sliding)
        )
    return np.concatenate(verdicts)


def check_method(method: Method, problem: Problem, run: Run | None = None) -> Release:
    """Protect a problem and hold the method to its word: the audit finds the release safe, and inputs are
    unchanged.
    """
    from tacita.auditing.audit import audit

    before = problem.table.units.copy()
    release = method.protect(problem, run)
    assert np.array_equal(problem.table.units, before), f"{method.name} changed its input"
    found = audit(problem, release)
    assert found.safe, f"{method.name} returned a release that its audit refuses: {found.verdict}"
    return release
