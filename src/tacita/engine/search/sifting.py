"""Large tables: most cells are never hidden by anything good, and a relaxation on few of them proves it.

The root is solved on the cells that are cheap where they stand and those of a first pattern; all others stay
published. Its rows ``A x >= b`` hold for the whole table when their coefficients are worked out for all
cells, and its prices ``y >= 0`` then bound every release (*Lagrange*):

    loss  >=  constant + y b + sum_j min(0, r_j),        r = cost - y A.

A cell with ``bound + r_j`` at or above the loss of the incumbent is never hidden in anything better, so it is
fixed; of a quarter of a million cells a few thousand are left.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np

from tacita.core.errors import StoppedError
from tacita.core.exact import Floats, Mask
from tacita.core.run import Run
from tacita.engine.attack.attacks import Blocking
from tacita.engine.attack.cuts import Bridge, CutOrigin, Cutter
from tacita.engine.attack.presolved import PresolvedTable
from tacita.engine.attack.requirements import ALWAYS, Requirements
from tacita.engine.attack.separation import Separation
from tacita.engine.search.incumbent import ReleaseSearch
from tacita.engine.search.proposals import Proposals
from tacita.engine.search.root import Root
from tacita.solvers.row_pool import CutRow

MANY = 15_000
"""Variables from which on it pays to look at few of them first."""
CHEAPEST = 15
"""Cells per equation that are looked at first."""
ROUNDS = 3


def sift(separation: Separation, search: ReleaseSearch) -> None:
    """Fix hopeless cells in ``search.upper``; the incumbent and the bound of the search may improve."""
    whole, model, run = separation.presolved, search.model, search.run
    first = Proposals(separation, search)(model.lower)
    if first is not None:
        search.offer(first)
    if search.best is None:
        return
    awake = _first_look(whole) | (search.best > 0)
    for _ in range(ROUNDS):
        left = int((search.upper > model.lower).sum())
        if run.over or left <= MANY or search.closed:
            return
        looked = replace(model, upper=np.where(awake, search.upper, model.lower))
        presolved = PresolvedTable.of(looked)
        outside = presolved.requirements_outside(model.requirements)
        if (model.requirements.switch[outside] == ALWAYS).any():
            # Cells that protect were fixed, so that those awake alone cannot; all together may.
            return
        part, root, requirements = _root(presolved, search.best, run)
        with suppress(StoppedError):
            if part.best is not None and separation.protects(part.best):
                search.offer(part.best)
        if not root.rows:
            return
        lagrange, reduced = _priced(whole, requirements, root.separation.presolved, root)
        search.raise_bound(lagrange)
        search.fix_by_reduced_cost(lagrange, reduced)
        search.tell("sifting", model.size - int((search.upper > model.lower).sum()), model.size)
        asleep = ~awake & (search.upper > model.lower)
        if not asleep.any():
            return
        awake |= reduced < np.quantile(reduced[asleep], 0.2)


def _first_look(presolved: PresolvedTable) -> Mask:
    """The cheapest cells of every equation, and what is hidden anyway."""
    model = presolved.model
    awake = model.lower > 0
    rows = presolved.rows
    cost = model.cost[presolved.switch[rows.indices]]
    equation = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    order = np.lexsort((cost, equation))
    place = np.arange(order.size) - np.repeat(rows.indptr[:-1], np.diff(rows.indptr))
    awake[presolved.switch[rows.indices[order[place < CHEAPEST]]]] = True
    return awake


def _root(presolved: PresolvedTable, best: Floats, run: Run) -> tuple[ReleaseSearch, Root, Requirements]:
    model = presolved.model
    search = ReleaseSearch(model, run)
    search.offer(best)
    cutter = Cutter(presolved, search.lower, search.upper)
    separation = Separation(presolved, model.requirements, cutter, run)
    root = Root(search, separation, fixing=False)
    root.close(Proposals(separation, search), patient=False)
    return search, root, separation.requirements


def _priced(
    whole: PresolvedTable, requirements: Requirements, seen: PresolvedTable, root: Root
) -> tuple[float, Floats]:
    """The Lagrange bound of the root's prices for all variables, and their reduced costs."""
    model = whole.model
    reduced, bound = model.cost.copy(), model.constant
    for row, price in zip(root.rows, root.prices, strict=True):
        if price <= 0.0:
            continue
        full = _everywhere(whole, requirements, seen, row)
        if full is not None:
            bound += price * full.rhs
            np.subtract.at(reduced, full.index, price * full.value)
    free = model.upper > model.lower
    bound += float(model.cost[~free] @ model.lower[~free]) + float(np.minimum(reduced[free], 0.0).sum())
    return bound, np.where(free, reduced, 0.0)


def _everywhere(
    whole: PresolvedTable, requirements: Requirements, seen: PresolvedTable, row: CutRow
) -> CutRow | None:
    """A row of the small presolved with its coefficients for all cells; None if it says nothing there."""
    if isinstance(row.origin, Bridge):
        return _bridge(whole, seen, row.origin)
    if not isinstance(row.origin, CutOrigin):
        return None
    model, k = whole.model, row.origin.blocked.requirement
    level, raw = float(requirements.level[k]), np.zeros(len(whole))
    up, down = whole.room(int(requirements.attacker[k]))
    for way in row.origin.blocked.ways:
        c = _coefficients(whole, seen, requirements, k, way)
        raw += np.minimum(np.maximum(c, 0.0) * np.where(c > 0, up, 1.0), level) / level
        raw += np.minimum(np.maximum(-c, 0.0) * np.where(c < 0, down, 1.0), level) / level
    at = np.flatnonzero(raw)
    variables, raw = whole.switch[at], raw[at]
    held = model.lower[variables] > 0
    needed = 1.0 - float(np.minimum(raw[held], 1.0).sum())
    variables, raw = variables[~held], np.minimum(raw[~held], max(needed, 0.0))
    given = np.isin(variables, row.origin.given)
    needed -= float(raw[given].sum())
    if needed <= 1e-6:
        return None
    value = np.minimum(raw[~given], needed)
    scale = row.rhs / needed
    return CutRow(variables[~given], value * scale, row.rhs)


def _coefficients(
    whole: PresolvedTable, seen: PresolvedTable, requirements: Requirements, k: int, way: Blocking
) -> Floats:
    matrix = whole.model.problem.table.equations.matrix
    c = np.zeros(matrix.shape[1])
    for equation, price in zip(seen.equations[way.equations].tolist(), way.prices.tolist(), strict=True):
        span = slice(matrix.indptr[equation], matrix.indptr[equation + 1])
        c[matrix.indices[span]] += price * matrix.data[span]
    c[requirements.cell[k]] += way.way
    return c[whole.cells]


def _bridge(whole: PresolvedTable, seen: PresolvedTable, bridge: Bridge) -> CutRow | None:
    matrix = whole.model.problem.table.equations.matrix
    equation = int(seen.equations[bridge.equation])
    cells = matrix.indices[matrix.indptr[equation] : matrix.indptr[equation + 1]]
    place = whole.position[cells]
    variables = whole.switch[place[place >= 0]]
    if (whole.model.lower[variables] > 0).any():
        return None
    return CutRow(variables, np.where(variables == bridge.variable, -1.0, 1.0), 0.0)
