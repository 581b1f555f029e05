"""Sifting for large tables: fix the many cells that no good release hides, by a relaxation on a few cells.

The root is solved on the *active* cells, the cheapest of each equation and those of a first pattern; all
others stay published. Its rows ``A x >= b`` are valid for the full table with coefficients for all cells, and
its dual values ``y >= 0`` then bound the loss of every release (Lagrangian bound):

    loss  >=  constant + y b + sum_j min(0, r_j),        r = cost - y A.

A cell with ``bound + r_j`` at or above the loss of the incumbent is not hidden in any better release, so it
is fixed; of a quarter of a million cells a few thousand are left.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np

from tacita.core.errors import InfeasibleError, StoppedError
from tacita.core.exact import Floats, Mask
from tacita.core.run import Run
from tacita.engine.attack.cuts import Bridge, CutOrigin, Cutter
from tacita.engine.attack.presolved import PresolvedTable
from tacita.engine.attack.requirements import Requirements
from tacita.engine.attack.separation import Separation
from tacita.engine.attack.support import Blocking
from tacita.engine.search.incumbent import ReleaseSearch
from tacita.engine.search.proposals import Proposals
from tacita.engine.search.root import Root
from tacita.solvers.row_pool import CutRow

MANY = 15_000
"""Variables above which sifting pays."""
CHEAPEST = 15
"""Cells per equation that are active from the start."""
ROUNDS = 3


def sift(separation: Separation, search: ReleaseSearch) -> None:
    """Fix variables of the search at 0 that are 1 in no better release; incumbent and bound may improve."""
    full, model, run = separation.presolved, search.model, search.run
    first = Proposals(separation, search)(model.lower)
    if first is not None:
        search.offer(first)
    if search.best is None:
        return
    active = _find_cheap_cells(full) | (search.best > 0)
    for _ in range(ROUNDS):
        left = int((search.upper > model.lower).sum())
        if run.over or left <= MANY or search.closed:
            return
        restricted = replace(model, upper=np.where(active, search.upper, model.lower))
        presolved = PresolvedTable.of(restricted)
        outside = presolved.find_requirements_outside(model.requirements)
        if (~model.requirements.conditional[outside]).any():
            # The active cells alone cannot protect any more, though all cells together may.
            return
        try:
            part, root, requirements = _solve_root(presolved, search.best, run)
        except InfeasibleError:
            # Reduced costs have fixed cells that the incumbent hides, and without these, too, only all cells
            # together may protect.
            return
        with suppress(StoppedError):
            if part.best is not None and separation.protects(part.best):
                search.offer(part.best)
        if not root.rows:
            return
        lagrange, reduced = _bound_all_variables(full, requirements, root.separation.presolved, root)
        search.raise_bound(lagrange)
        search.fix_by_reduced_cost(lagrange, reduced)
        search.report_progress("sifting", model.size - int((search.upper > model.lower).sum()), model.size)
        inactive = ~active & (search.upper > model.lower)
        if not inactive.any():
            return
        active |= reduced < np.quantile(reduced[inactive], 0.2)


def _find_cheap_cells(presolved: PresolvedTable) -> Mask:
    """Return a mask of the variables that sifting starts with: each equation's cheapest, and those at 1."""
    model = presolved.model
    active = model.lower > 0
    rows = presolved.rows
    cost = model.cost[presolved.switch[rows.indices]]
    equation = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    order = np.lexsort((cost, equation))
    place = np.arange(order.size) - np.repeat(rows.indptr[:-1], np.diff(rows.indptr))
    active[presolved.switch[rows.indices[order[place < CHEAPEST]]]] = True
    return active


def _solve_root(
    presolved: PresolvedTable, best: Floats, run: Run
) -> tuple[ReleaseSearch, Root, Requirements]:
    """Return search, relaxation and listed requirements of a model restricted to the active cells."""
    model = presolved.model
    search = ReleaseSearch(model, run)
    search.offer(best)
    cutter = Cutter(presolved, search.lower, search.upper)
    separation = Separation(presolved, model.requirements, cutter, run)
    root = Root(search, separation, fixing=False)
    root.tighten(Proposals(separation, search), patient=False)
    return search, root, separation.requirements


def _bound_all_variables(
    full: PresolvedTable, requirements: Requirements, small: PresolvedTable, root: Root
) -> tuple[float, Floats]:
    """Return the Lagrangian bound on the loss that the root's dual values give for all variables, and their
    reduced costs.
    """
    model = full.model
    reduced, bound = model.cost.copy(), model.constant
    for row, dual in zip(root.rows, root.duals, strict=True):
        if dual <= 0.0:
            continue
        extended = _extend_row(full, requirements, small, row)
        if extended is not None:
            bound += dual * extended.rhs
            np.subtract.at(reduced, extended.index, dual * extended.value)
    free = model.upper > model.lower
    bound += float(model.cost[~free] @ model.lower[~free]) + float(np.minimum(reduced[free], 0.0).sum())
    return bound, np.where(free, reduced, 0.0)


def _extend_row(
    full: PresolvedTable, requirements: Requirements, small: PresolvedTable, row: CutRow
) -> CutRow | None:
    """Return a cut of the small presolved table with coefficients for all cells, or None if vacuous."""
    if isinstance(row.origin, Bridge):
        return _extend_bridge(full, small, row.origin)
    if not isinstance(row.origin, CutOrigin):
        return None
    model, k = full.model, row.origin.blocked.requirement
    level, raw = float(requirements.level[k]), np.zeros(len(full))
    up, down = full.find_room(int(requirements.attacker[k]))
    for limit in row.origin.blocked.limits:
        c = _compute_coefficients(full, small, requirements, k, limit)
        raw += np.minimum(np.maximum(c, 0.0) * np.where(c > 0, up, 1.0), level) / level
        raw += np.minimum(np.maximum(-c, 0.0) * np.where(c < 0, down, 1.0), level) / level
    at = np.flatnonzero(raw)
    variables, raw = full.switch[at], raw[at]
    fixed = model.lower[variables] > 0
    needed = 1.0 - float(np.minimum(raw[fixed], 1.0).sum())
    variables, raw = variables[~fixed], np.minimum(raw[~fixed], max(needed, 0.0))
    cover = np.isin(variables, row.origin.cover)
    needed -= float(raw[cover].sum())
    if needed <= 1e-6:
        return None
    value = np.minimum(raw[~cover], needed)
    scale = row.rhs / needed
    return CutRow(variables[~cover], value * scale, row.rhs)


def _compute_coefficients(
    full: PresolvedTable, small: PresolvedTable, requirements: Requirements, k: int, limit: Blocking
) -> Floats:
    """Return a cut's coefficients ``c = direction e_p + M' g`` for all cells of the full table."""
    matrix = full.model.problem.table.equations.matrix
    c = np.zeros(matrix.shape[1])
    for equation, dual in zip(small.equations[limit.equations].tolist(), limit.duals.tolist(), strict=True):
        span = slice(matrix.indptr[equation], matrix.indptr[equation + 1])
        c[matrix.indices[span]] += dual * matrix.data[span]
    c[requirements.cell[k]] += limit.direction
    return c[full.cells]


def _extend_bridge(full: PresolvedTable, small: PresolvedTable, bridge: Bridge) -> CutRow | None:
    """Return a bridge inequality with all cells of its equation, or None if one is always hidden."""
    matrix = full.model.problem.table.equations.matrix
    equation = int(small.equations[bridge.equation])
    cells = matrix.indices[matrix.indptr[equation] : matrix.indptr[equation + 1]]
    place = full.position[cells]
    variables = full.switch[place[place >= 0]]
    if (full.model.lower[variables] > 0).any():
        return None
    return CutRow(variables, np.where(variables == bridge.variable, -1.0, 1.0), 0.0)
