"""Random small problems and releases, as hypothesis strategies.

`problems` are tiny, for brute force. `hard_problems` are larger and made to bind: sensitive cells need
others, and insiders know the very cells that would have served best.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tacita.core.attacker import Insider, Outsider
from tacita.core.exact import UNBOUNDED, Cells, Floats, Mask, Units
from tacita.core.hierarchy import Hierarchy
from tacita.core.levels import Levels
from tacita.core.release import Mark, Release
from tacita.core.tables.build import build_table
from tacita.core.tables.dimension import Dimension
from tacita.core.tables.linked import link
from tacita.core.tables.table import Table
from tacita.problem.problem import Problem

SHAPES = ((3,), (2, 2), (2, 3), (3, 3), (2, 2, 2))
TABLE_KINDS = ("flat", "cube", "tree", "two trees", "linked")


@st.composite
def tables(draw: Callable[..., Any], shapes: tuple[tuple[int, ...], ...] = SHAPES, largest: int = 4) -> Table:
    """Draw small tables of counts for property tests, totals computed."""
    shape = draw(st.sampled_from(shapes))
    size = int(np.prod(shape))
    values = draw(st.lists(st.integers(0, largest), min_size=size, max_size=size))
    return Table.from_array(np.array(values).reshape(shape))


@st.composite
def problems(
    draw: Callable[..., Any], tables_from: st.SearchStrategy[Table] | None = None, insiders: int = 2
) -> Problem:
    """Draw tables for property tests, with one to three sensitive cells, levels within reach, a bounded
    outsider and up to ``insiders`` insiders.
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
    outsider, levels = Outsider(low, high), Levels.of(sensitive, lower=lower, upper=upper, sliding=sliding)
    known = [draw(_insiders(table, outsider, levels, k)) for k in range(draw(st.integers(0, insiders)))]
    return Problem(table, levels, attackers=[outsider, *known])


@st.composite
def _insiders(
    draw: Callable[..., Any], table: Table, outsider: Outsider, levels: Levels, number: int
) -> Insider:
    """Draw insiders for tests who know a few cells better and attack every sensitive cell with the levels
    that this leaves room for: all of them listed, or those in their own cells listed and the others implied.
    """
    cells = np.array(draw(st.lists(st.integers(0, len(table) - 1), min_size=1, max_size=3, unique=True)))
    margins = draw(st.integers(0, 2)), draw(st.integers(0, 2))
    return _make_insider(
        f"insider {number + 1}", table, outsider, levels, cells, margins, draw(st.booleans())
    )


def _make_insider(
    name: str,
    table: Table,
    outsider: Outsider,
    levels: Levels,
    cells: Cells,
    margins: tuple[int, int],
    others: bool,
) -> Insider:
    """Return a test's insider who knows ``cells`` up to ``margins`` below and above, with the levels that
    leaves room for.
    """
    low, high = outsider.lower.copy(), outsider.upper.copy()
    low[cells] = np.maximum(low[cells], table.units[cells] - margins[0])
    high[cells] = np.minimum(high[cells], table.units[cells] + margins[1])
    below, above = _find_room(table, low, high)
    listed = levels.cells[np.isin(levels.cells, cells)] if others else levels.cells
    at = listed[(below + above)[listed] > 0]
    return Insider(
        name,
        cells,
        low[cells],
        high[cells],
        at,
        np.minimum(levels.lower, below)[at],
        np.minimum(levels.upper, above)[at],
        np.minimum(levels.sliding, below + above)[at],
        also_others=others,
    )


def _find_room(table: Table, low: Units, high: Units) -> tuple[Units, Units]:
    """Return the distances of a test's values to the bounds, capped so that infinite ones can be added."""
    return np.minimum(table.units - low, UNBOUNDED // 4), np.minimum(high - table.units, UNBOUNDED // 4)


def hard_problems(kinds: tuple[str, ...] = TABLE_KINDS) -> st.SearchStrategy[Problem]:
    """Draw problems for property tests by :func:`hard_problem`, of some kinds of table."""
    return st.builds(hard_problem, st.randoms(use_true_random=False), st.sampled_from(kinds))


def hard_problem(random: Random, kind: str) -> Problem:
    """Return a random test problem of one to three sensitive cells and one to four attackers, of whom the
    insiders know cells that protect cheaply.

    Levels differ by side and cell, some of them sliding; the outsider has bounds or none; the cost is value,
    unit or log; some cells must be published or hidden. A part of the problems has no solution.
    """
    table = hard_table(random, kind)
    outsider = _draw_outsider(random, table)
    levels = _draw_levels(random, table, outsider)
    cost = random.choice(["value", "value", "unit", "log"])
    weight = Problem(table, levels, attackers=outsider, cost=cost).cost
    insiders = [
        _draw_insider(random, table, outsider, levels, weight, k)
        for k in range(random.choice([0, 1, 1, 2, 2, 3]))
    ]
    free = np.flatnonzero(~levels.sensitive).tolist()
    kept = random.sample(free, random.choice([0, 0, 0, 1, 3]))
    forced = [cell for cell in random.sample(free, random.choice([0, 0, 0, 1])) if cell not in kept]
    return Problem(table, levels, [outsider, *insiders], cost, must_publish=kept, must_hide=forced)


def hard_table(random: Random, kind: str) -> Table:
    """Return a random test table of 12 to 48 cells: two or three plain axes, an axis with subtotals or two,
    or linked tables.
    """
    plain = [Hierarchy.flat([str(i + 1) for i in range(n)]) for n in (2, 3, 4)]
    small = Hierarchy.from_dict({"A": ["a1", "a2"], "B": []})
    large = Hierarchy.from_dict({"A": ["a1", "a2"], "B": ["b1", "b2"]})
    two, three, four = plain
    if kind == "linked":
        return _draw_linked_tables(random)
    axes: dict[str, list[tuple[Hierarchy, ...]]] = {
        "flat": [(two, three), (three, three), (three, four), (four, four)],
        "cube": [(two, two, two), (two, two, two), (two, two, three), (three, three, two)],
        "tree": [(large, two), (large, three), (small, three)],
        "two trees": [(small, small), (small, small), (large, small)],
    }
    dimensions = [Dimension(f"axis{k}", (tree,)) for k, tree in enumerate(random.choice(axes[kind]))]
    leaves = [[d.position[code] for code in d.trees[0].leaves] for d in dimensions]
    codes = np.stack(np.meshgrid(*leaves, indexing="ij"), axis=-1).reshape(-1, len(leaves)).astype(np.int32)
    return build_table(
        dimensions, codes, _draw_values(random, len(codes)), 0, compute_totals=True, integer=True
    )


def _draw_linked_tables(random: Random) -> Table:
    """Return two or three linked faces of one random test cube, which share the margins of its axes."""
    cube = _draw_values(random, 12).reshape(2, 2, 3)
    names = ("region", "size", "kind")
    faces = [
        Table.from_array(cube.sum(axis=axis), names=[name for k, name in enumerate(names) if k != axis])
        for axis in random.sample(range(3), random.choice([2, 2, 3]))
    ]
    return link({f"face {k}": face for k, face in enumerate(faces)})


def _draw_values(random: Random, size: int) -> Units:
    return np.array([random.choice([0, 1, 1, 1, 1, 1]) * random.randint(1, 20) for _ in range(size)])


def _draw_outsider(random: Random, table: Table) -> Outsider:
    """Return a random outsider for a test, with bounds or without."""
    kind = random.choice(["not negative", "not negative", "anything", "share", "near"])
    if kind == "not negative":
        return Outsider.of(table)
    if kind == "anything":
        return Outsider.of(table, lower=-np.inf)
    if kind == "share":
        return Outsider.within(table, 0.5, 1.0)
    room = random.randint(4, 10)
    return Outsider(np.maximum(table.units - room, 0), table.units + room)


def _draw_levels(random: Random, table: Table, outsider: Outsider) -> Levels:
    """Return random test levels up to half the value, for one to three cells the outsider does not know."""
    below, above = _find_room(table, outsider.lower, outsider.upper)
    inner = np.flatnonzero((table.units > 0) & (below + above > 0) & (table.units <= 20))
    possible = (inner if inner.size else np.flatnonzero(below + above > 0)).tolist()
    cells = random.sample(possible, min(len(possible), random.randint(1, 3)))
    sensitive = np.zeros(len(table), dtype=bool)
    sensitive[cells] = True
    required = np.zeros((3, len(table)), dtype=np.int64)
    for cell in cells:
        half = 1 + int(table.units[cell]) // 2
        up, down = random.randint(0, half), random.randint(0, half)
        required[:, cell] = down, up, random.choice([0, 0, up + down + random.randint(1, 3)])
    lower, upper, sliding = np.minimum(required, [below, above, below + above])
    return Levels.of(sensitive, lower=lower, upper=upper, sliding=sliding)


def _draw_insider(
    random: Random, table: Table, outsider: Outsider, levels: Levels, weight: Floats, number: int
) -> Insider:
    """Return a test's insider who knows, exactly or nearly, cheap cells in a sum with a sensitive one."""
    near = _find_neighbours(table, levels.cells)
    cheap = near[np.argsort(weight[near], kind="stable")][:6].tolist()
    cells = np.array(random.sample(cheap, min(len(cheap), random.choice([1, 1, 2]))))
    if random.random() < 0.2:
        cells = np.append(cells, random.choice(levels.cells.tolist()))
    margin = random.choice([0, 0, 1, 3])
    return _make_insider(f"insider {number + 1}", table, outsider, levels, cells, (margin, margin), False)


def _find_neighbours(table: Table, targets: Cells) -> Cells:
    """Return the cells of a test's table, other than targets, that share an equation with a target."""
    shared = {int(c) for cells, _, _ in table.equations if np.isin(cells, targets).any() for c in cells}
    return np.array(sorted(shared - set(targets.tolist())), dtype=np.int64)


@st.composite
def releases(draw: Callable[..., Any], problem: Problem) -> Release:
    """Draw releases for property tests, mixtures of windows that are true of the table: some boxes of cells
    that can balance each other, some single cells.
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
        elif mark is Mark.ROUNDED:
            radius = draw(st.integers(0, 3))
            value[cell] = table.units[cell] + draw(st.integers(-radius, radius))
            low[cell], high[cell] = value[cell] - radius, value[cell] + radius
        else:
            low[cell] -= draw(st.integers(0, 3))
            high[cell] += draw(st.integers(0, 3))
    return Release.mixed(table, changed, marks, low, high, value=value)


@st.composite
def _boxes(draw: Callable[..., Any], table: Table) -> Mask:
    """Draw two codes along each dimension of a test's table, and return a mask of the cells that cross."""
    inside = np.ones(len(table), dtype=bool)
    for d, dimension in enumerate(table.structure.dimensions):
        pair = draw(st.lists(st.integers(0, len(dimension.codes) - 1), min_size=2, max_size=2, unique=True))
        inside &= np.isin(table.structure.codes[:, d], pair)
    return inside
