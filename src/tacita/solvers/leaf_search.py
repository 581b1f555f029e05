"""Integer numbers within bounds that add up, near given ones: leaves first, then parts of the table.

Totals are sums of leaves, so equations hold throughout and only bounds can be violated. A local search over
leaves (:mod:`.leaf_search_kernels`) finds numbers with little excess, in plain tables mostly none. What is
left goes to integer programs over a few codes of one dimension at a time, with all other numbers fixed:

    min  sum_i s+_i + s-_i    s.t.  M (v + s+ - s-) = 0,   low <= v <= high,   s+, s- >= 0 for totals,

in which small random costs move numbers that cost nothing, so that the next part begins elsewhere.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tacita.core.exact import Cells, Floats, Mask, Units
from tacita.core.run import Run
from tacita.solvers.linear_program import IntegerProgram
from tacita.solvers.neighbourhoods import vary

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOVES, TRIES = 300_000, 20
"""Moves of the local search, and leaves that each of them tries."""
TEMPERATURE, BUMP, FADE = 0.2, 0.05, 0.99
"""How readily worse moves are taken, and how weights of cells that stay beyond their bounds grow and fade."""
LARGEST_PART = 6
"""Codes of one dimension at most that vary together; then fewer again."""
PATIENCE = 10
"""Parts without progress after which more codes vary."""
NOISE = 0.002
"""Random costs of numbers, as a share of a step beyond a bound."""
MOST_SUMS = 50_000_000
"""Entries of the sums of leaves: more take too much memory."""


def find_numbers_that_add_up(
    matrix: csr_array, low: Units, high: Units, near: Floats, codes: Cells, run: Run, parts: int
) -> Units | None:
    """Return integers with ``matrix v = 0`` between ``low`` and ``high``, the leaves near given numbers; None
    if the search finds none, or if equations are no sums of parts.

    ``codes`` has a row per cell, its code in each dimension; ``parts`` limits how many parts vary.
    """
    leaves_of = _sum_leaves(matrix)
    if leaves_of is None:
        return None
    from tacita.solvers.leaf_search_kernels import Sums, search_leaves

    is_leaf = np.ones(low.size, dtype=bool)
    is_leaf[matrix.indices[matrix.data < 0]] = False
    own = np.flatnonzero(is_leaf)
    below = leaves_of.T.tocsr()
    sums = Sums(
        *(part.astype(np.int64) for part in (below.indptr, below.indices)),
        *(part.astype(np.int64) for part in (leaves_of.indptr, leaves_of.indices)),
    )
    draw = np.random.default_rng(run.search)
    floor = np.floor(near[own])
    rounded = floor + (draw.random(own.size) < near[own] - floor)
    leaf = np.clip(rounded.astype(np.int64), low[own], high[own])
    value = np.asarray(leaves_of @ leaf).astype(np.int64)
    best = value.copy()
    run.report("first numbers", 0, parts)
    settings = (MOVES, TRIES, TEMPERATURE, BUMP, FADE, run.search)
    if search_leaves(sums, own, low, high, value, best, *settings) == 0:
        return best
    return _vary_parts(matrix, low, high, best, ~is_leaf, codes, run, parts)


def _sum_leaves(matrix: csr_array) -> csr_array | None:
    """Return each cell as a sum of leaves; None unless every equation sums parts to one total, all of which
    follow from leaves.
    """
    from scipy.sparse import csr_array, eye_array, vstack

    n, lengths = matrix.shape[1], np.diff(matrix.indptr)
    row = np.repeat(np.arange(matrix.shape[0]), lengths)
    negative = matrix.data < 0
    if (np.abs(matrix.data) != 1).any() or (np.bincount(row[negative], minlength=lengths.size) != 1).any():
        return None
    defining = np.full(n, -1)
    defining[matrix.indices[negative]] = row[negative]
    leaves = np.flatnonzero(defining < 0)
    totals = np.flatnonzero(defining >= 0)
    # Parts of totals in their defining equations; totals among the parts are replaced wave by wave.
    parts = csr_array(matrix[defining[totals]])
    parts.data = np.where(parts.data > 0, 1, 0)
    parts.eliminate_zeros()
    to_leaves, to_totals = parts[:, leaves], parts[:, totals]
    summed, wave = to_leaves, to_totals
    for _ in range(n):
        if not wave.nnz:
            break
        summed = csr_array(summed + wave @ to_leaves)
        wave = csr_array(wave @ to_totals)
        if wave.nnz > MOST_SUMS or summed.nnz > MOST_SUMS or wave.data.max(initial=0) > 1:
            return None
    if (summed.data != 1).any():
        return None
    order = np.argsort(np.concatenate([leaves, totals]), kind="stable")
    every = csr_array(vstack([eye_array(leaves.size, dtype=np.int64, format="csr"), summed])[order])
    return every if not (matrix @ every).count_nonzero() else None


def _vary_parts(
    matrix: csr_array,
    low: Units,
    high: Units,
    value: Units,
    total: Mask,
    codes: Cells,
    run: Run,
    parts: int,
) -> Units | None:
    """Return numbers within bounds, found from some beyond them by varying parts of the table, or None."""
    if not codes.shape[1]:
        return None
    program, cell = _make_elastic(matrix, low, high, total)
    inside = np.clip(value, low, high)
    beyond = value - inside
    x = np.concatenate([inside - low, np.maximum(beyond, 0)[total], np.maximum(-beyond, 0)[total]])
    x, draw = x.astype(np.float64), np.random.default_rng(run.search)
    code, cost, size, idle = codes[cell], program.cost, 2, 0
    slack = cost > 0
    for number in range(parts):
        wrong = np.flatnonzero(slack & (x > 0.5))
        if not wrong.size:
            return np.asarray(low + np.rint(x[: low.size]).astype(np.int64))
        if run.over:
            return None
        run.report("first numbers", number, parts)
        dimension = int(draw.integers(codes.shape[1]))
        chosen = code[draw.choice(wrong), dimension]
        others = draw.permutation(np.setdiff1d(codes[:, dimension], [chosen]))[: size - 1]
        free = np.flatnonzero(np.isin(code[:, dimension], [chosen, *others]) & (program.upper > 0))
        noise = np.where(slack, 0.0, NOISE * draw.uniform(-1.0, 1.0, cost.size))
        found = vary(replace(program, cost=cost + noise), x, free, run, start=x[free])
        gain = 0.0 if found is None else float(cost @ x - cost @ found)
        if found is not None and gain >= 0.0:
            x = found
        idle = 0 if gain > 0.5 else idle + 1
        if idle >= PATIENCE:
            size, idle = (size + 1 if size < LARGEST_PART else 2), 0
    return None


def _make_elastic(matrix: csr_array, low: Units, high: Units, total: Mask) -> tuple[IntegerProgram, Cells]:
    """Return the program of numbers whose totals may exceed bounds at a cost, and its variables' cells."""
    from scipy.sparse import csr_array, hstack

    columns = csr_array(matrix).astype(np.float64)
    sums = columns.tocsc()[:, total]
    rest = -np.asarray(columns @ low.astype(np.float64))
    n, totals = low.size, np.flatnonzero(total)
    program = IntegerProgram(
        np.concatenate([np.zeros(n), np.ones(2 * totals.size)]),
        np.zeros(n + 2 * totals.size),
        np.concatenate([(high - low).astype(np.float64), np.full(2 * totals.size, np.inf)]),
        csr_array(hstack([columns, sums, -sums])),
        rest,
        rest,
        np.concatenate([np.ones(n, dtype=bool), np.zeros(2 * totals.size, dtype=bool)]),
    )
    return program, np.concatenate([np.arange(n), totals, totals])
