"""A first point of a large model whose published numbers add up, without regard to attackers' moves.

Published numbers are ``v_i = a_i + moved_i(x)``, multiples of one step beside an offset. The relaxation says
near which numbers to search, and on which side of their values sensitive cells go; their own windows must
have room for their levels. Numbers that add up are then found leaf by leaf
(:mod:`tacita.solvers.leaf_search`), and the variables that show them by one easy program.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tacita.core.exact import Floats, Units
from tacita.core.run import Run
from tacita.engine.attack.requirements import DOWN, UP, list_all_requirements
from tacita.engine.model import Affine, Model
from tacita.engine.search.solve_model import LARGE
from tacita.methods.modelling.model_builder import ReleaseModel
from tacita.solvers.highs import Ended, solve_mip
from tacita.solvers.leaf_search import find_numbers_that_add_up

ROUGH = 1e-6
UNDECIDED = 0.4
"""How near to a half a share of the relaxation must be to say nothing."""
WIDTHS = ((1.0, 0.0, 20), (4.0, 0.0, 40), (4.0, 1.0, 40), (np.inf, np.inf, 600))
"""How many steps beyond the neighbours of the relaxation leaves and totals may go, one after the other, and
how many parts of the table the search for such numbers varies at most."""
CLOSE = 2
"""Steps that numbers may move in all, up to which their neighbours in the relaxation do not matter."""


def find_first_numbers(built: ReleaseModel, run: Run) -> Floats | None:
    """Return a point of a large model whose published numbers add up; None where the table is small or a
    network, where cells show numbers of several steps, or where none is found.
    """
    model, table = built.model, built.model.problem.table
    step = _find_step(built.moved)
    if len(table) < LARGE or built.network or step is None or table.equations.rhs.any():
        return None
    offset = _find_offset(built.moved.base, table.units, step)
    if offset is None:
        return None
    program = _require_own_windows(model)
    relaxed = solve_mip(program.relaxed(), run)
    if relaxed.status is not Ended.OPTIMAL:
        return None
    program = _fix_choices(program, built.moved, relaxed.point)
    relaxed = solve_mip(program.relaxed(), run)
    if relaxed.status is not Ended.OPTIMAL:
        return None
    least, most = _find_ranges(program, built.moved)
    low = np.ceil((least + offset) / step - ROUGH).astype(np.int64)
    high = np.floor((most + offset) / step + ROUGH).astype(np.int64)
    if (low > high).any():
        return None
    near = (built.moved.at(relaxed.point) + offset) / step
    matrix, codes, total = table.equations.matrix.tocsr(), table.structure.codes, table.structure.is_total
    for leaves, totals, parts in WIDTHS if (high - low).max() > CLOSE else WIDTHS[-1:]:
        # The relaxation loses least, so its neighbours are tried first.
        wide = np.where(total, totals, leaves)
        least = np.clip(np.floor(near + ROUGH) - wide, low, high).astype(np.int64)
        most = np.clip(np.ceil(near - ROUGH) + wide, low, high).astype(np.int64)
        found = find_numbers_that_add_up(matrix, least, most, near, codes.astype(np.int64), run, parts)
        if found is not None:
            return _show_numbers(model, built.moved, found * step - offset, run)
        if run.over:
            return None
    return None


def _find_step(moved: Affine) -> int | None:
    """Return the one step by which all variables move numbers, or None."""
    steps = np.unique(np.abs(moved.matrix.data))
    return int(steps[0]) if steps.size == 1 and steps[0] == np.rint(steps[0]) else None


def _find_offset(base: Floats, units: Units, step: int) -> Units | None:
    """Return what makes moves multiples of a step and adds up itself: the values, or nothing; None else."""
    for offset in (np.zeros_like(units), units):
        if not ((np.rint(base).astype(np.int64) + offset) % step).any():
            return offset
    return None


def _require_own_windows(model: Model) -> Model:
    """Return a model with rows that leave the window of each sensitive cell room for its own levels."""
    from scipy.sparse import csr_array, vstack

    every = list_all_requirements(model.problem)
    parts, least = [model.rows], [model.row_lower]
    for sign, window in ((UP, model.above), (DOWN, model.below)):
        cells = every.cell[every.sign == sign]
        level = np.zeros(window.base.size)
        np.maximum.at(level, cells, every.level[every.sign == sign])
        at = np.unique(cells)
        at = at[np.diff(window.matrix.indptr)[at] > 0]
        parts.append(window.matrix[at])
        least.append(level[at] - window.base[at])
    rows = csr_array(vstack(parts))
    no_end = np.full(rows.shape[0] - model.rows.shape[0], np.inf)
    return replace(
        model,
        rows=rows,
        row_lower=np.concatenate(least),
        row_upper=np.concatenate([model.row_upper, no_end]),
    )


def _fix_choices(program: Model, moved: Affine, x: Floats) -> Model:
    """Return a model whose integer variables that move no number are fixed: those that say on which side of
    its value a cell goes. They are rounded, halves alternately down and up, so that moves balance.
    """
    moves = np.zeros(program.size, dtype=bool)
    moves[moved.matrix.indices] = True
    fixed = np.flatnonzero(~moves & program.integer)
    share = x[fixed]
    undecided = np.flatnonzero(np.abs(share - np.floor(share) - 0.5) < UNDECIDED)
    choice = np.rint(share)
    choice[undecided] = np.floor(share[undecided]) + np.arange(undecided.size) % 2
    lower, upper = program.lower.copy(), program.upper.copy()
    lower[fixed] = upper[fixed] = np.clip(choice, lower[fixed], upper[fixed])
    return replace(program, lower=lower, upper=upper)


def _find_ranges(program: Model, moved: Affine) -> tuple[Floats, Floats]:
    """Return how far each number may move at least and at most, by bounds of variables and by the rows in
    which only one of them is not fixed.
    """
    from scipy.sparse import csr_array

    lower, upper = program.lower.copy(), program.upper.copy()
    rows = csr_array(program.rows)
    free = rows.copy()
    free.data = np.where((lower < upper)[rows.indices], rows.data, 0.0)
    free.eliminate_zeros()
    alone = np.flatnonzero(np.diff(free.indptr) == 1)
    given = rows @ np.where(lower < upper, 0.0, lower)
    variable, factor = free.indices[free.indptr[alone]], free.data[free.indptr[alone]]
    ends = (
        np.stack([program.row_lower[alone] - given[alone], program.row_upper[alone] - given[alone]]) / factor
    )
    np.maximum.at(lower, variable, np.ceil(ends.min(axis=0) - ROUGH))
    np.minimum.at(upper, variable, np.floor(ends.max(axis=0) + ROUGH))
    positive, negative = moved.matrix.maximum(0), moved.matrix.minimum(0)
    least = moved.base + positive @ lower + negative @ upper
    most = moved.base + positive @ upper + negative @ lower
    return np.asarray(least), np.asarray(most)


def _show_numbers(model: Model, moved: Affine, change: Units, run: Run) -> Floats | None:
    """Return a point of the model that moves numbers by these changes, or None."""
    from scipy.sparse import csr_array, vstack

    rest = change - moved.base
    program = replace(
        model,
        rows=csr_array(vstack([model.rows, moved.matrix])),
        row_lower=np.concatenate([model.row_lower, rest]),
        row_upper=np.concatenate([model.row_upper, rest]),
    )
    found = solve_mip(program, run)
    return np.rint(found.point) if found.point.size else None
