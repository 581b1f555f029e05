"""Capacity cuts in the master's variables, and what makes them strong.

(blocking) of ``attacks.py`` with the windows written out says, for demand ``(p, s, L)`` of attacker ``k``,

    sum_i c+_i ( min(up_i, U_i(x)) + up_i x_i ) + c-_i ( min(down_i, D_i(x)) + down_i x_i )  >=  L [x_p].

Of ``min(up, U(x))`` the smaller one at the current point is taken; either is valid. What does not depend on
``x`` and what is fixed goes to the right, which leaves ``d x >= d0``. Then

* *strengthening*: with ``x_j`` binary and all terms non-negative, ``d_j`` above ``d0`` is cut down to ``d0``:
  a cell cannot do more than all that is asked (without it the bound is next to useless);
* *covers*: cells ``T`` with ``d(T) < d0`` do not suffice even together, so the others must bring
  ``d0 - d(T)``, and their coefficients are cut down to that. ``T`` is grown greedily from what ``x`` already
  has, as long as the violation grows;
* *bridges*: a hidden cell that nothing else in an equation can balance is known to everyone and need not be
  hidden: ``x_i <= sum of the others of the equation``, where none of these can move otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tacita.engine.arena import Arena
from tacita.engine.attacks import Blocked
from tacita.engine.demands import Demands
from tacita.engine.model import NO_SWITCH, Affine
from tacita.exact import Cells, Floats
from tacita.solvers.rows import Row

VIOLATION = 1e-6
NEGLIGIBLE = 1e-9


class Cutter:
    """Turns what blocks attackers into rows of the master. Variables may be fixed as the search goes on."""

    def __init__(self, arena: Arena, lower: Floats, upper: Floats) -> None:
        self.arena, self.lower, self.upper = arena, lower, upper
        self.binary = arena.model.whole & (arena.model.lower >= 0) & (arena.model.upper <= 1)
        self._bridges = _Bridges(arena)

    def cut(self, demands: Demands, blocked: Blocked, x: Floats) -> Row | None:
        """The strengthened cut of one blocked demand, or None if ``x`` does not violate it."""
        k = blocked.demand
        level = float(demands.level[k])
        coefficient, constant = np.zeros(self.arena.model.size), 0.0
        up, down = self.arena.room(int(demands.attacker[k]))
        for _, c in blocked.ways:
            rising, falling = np.flatnonzero(c > 0), np.flatnonzero(c < 0)
            constant += self._side(coefficient, rising, c[rising], up, self.arena.above, x, level)
            constant += self._side(coefficient, falling, -c[falling], down, self.arena.below, x, level)
        rhs = level - constant
        if demands.switch[k] >= 0:
            coefficient[demands.switch[k]] -= level
            rhs -= level
        return self._strengthened(coefficient / level, rhs / level, x)

    def bridges(self, x: Floats) -> list[Row]:
        """Bridge inequalities that ``x`` violates, at most one per equation."""
        return self._bridges.violated(x)

    def _side(
        self, into: Floats, at: Cells, c: Floats, room: Floats, window: Affine, x: Floats, level: float
    ) -> float:
        """Add the terms of one sign to the coefficients; returns their constant part."""
        switched = at[self.arena.switch[at] != NO_SWITCH]
        share = c[self.arena.switch[at] != NO_SWITCH]
        # A binary never needs more than the level; this also keeps infinite room out of the rows.
        np.add.at(into, self.arena.switch[switched], np.minimum(share * room[switched], level))
        if not window.matrix.nnz and not window.base.any():
            return 0.0
        opened = window.matrix[at] @ x + window.base[at]
        by_room = room[at] <= opened
        constant = float(c[by_room] @ room[at[by_room]] + c[~by_room] @ window.base[at[~by_room]])
        into += np.asarray(c[~by_room] @ window.matrix[at[~by_room]]).ravel()
        return constant

    def _strengthened(self, d: Floats, d0: float, x: Floats) -> Row | None:
        fixed = self.lower == self.upper
        at = np.flatnonzero((np.abs(d) > NEGLIGIBLE) & ~fixed)
        settled = np.flatnonzero((np.abs(d) > 0) & ~fixed & (np.abs(d) <= NEGLIGIBLE))
        # What is too small to keep counts with the most it could ever contribute.
        d0 -= float(np.maximum(d[settled] * self.upper[settled], d[settled] * self.lower[settled]).sum())
        held = np.flatnonzero(fixed & (d != 0))
        if (d[held] * self.lower[held] < 0).any() or not self._monotone(at, d):
            d0 -= float(d[held] @ self.lower[held])
            return _violated(Row(at, d[at], d0), x)
        value, flipped = d[at].copy(), d[at] < 0
        d0 -= float(np.minimum(d[held] * self.lower[held], max(d0, 0.0)).sum())
        # Binaries with a negative coefficient are seen as their complements, so that all terms help.
        d0 += float(-value[flipped].sum())
        value = np.abs(value)
        if d0 <= VIOLATION:
            return None
        binary, present = self.binary[at], np.where(flipped, 1.0 - x[at], x[at])
        value = np.where(binary, np.minimum(value, d0), value)
        if binary.all():
            value, d0 = _covered(value, d0, present)
        d0, value = d0 - float(value[flipped].sum()), np.where(flipped, -value, value)
        scale = max(abs(d0), float(np.abs(value).max(initial=0.0)), NEGLIGIBLE)
        return _violated(Row(at, value / scale, d0 / scale), x)

    def _monotone(self, at: Cells, d: Floats) -> bool:
        """Every term is non-negative, or belongs to a binary and becomes so by complement."""
        return bool(((d[at] >= 0) & (self.lower[at] >= 0) | self.binary[at]).all())


def _violated(row: Row, x: Floats) -> Row | None:
    return row if row.slack(x) < -VIOLATION else None


def _covered(value: Floats, needed: float, present: Floats) -> tuple[Floats, float]:
    """The cut with the cells of a cover taken as given, if that is violated more (both scaled to 1)."""
    best_value, best_needed = value, needed
    best = float(value @ present) / needed
    # Cells that the point has (almost) in full cost the cut nothing when they are taken as given.
    order = np.flatnonzero((present > 0.5) & (value < needed))
    order = order[np.argsort(-present[order], kind="stable")]
    given = np.zeros(value.size, dtype=bool)
    left = needed
    for j in order:
        if value[j] >= left - NEGLIGIBLE:
            continue
        given[j] = True
        left -= float(value[j])
        others = np.where(given, 0.0, np.minimum(value, left))
        reached = float(others @ present) / left
        if reached < best - VIOLATION:
            best, best_value, best_needed = reached, others, left
    return best_value, best_needed


class _Bridges:
    """Equations whose cells all have an own binary switch and nothing else: there bridges hold."""

    def __init__(self, arena: Arena) -> None:
        model = arena.model
        rows = arena.matrix.tocsr()
        affine = (np.diff(arena.above.matrix.indptr) > 0) | (np.diff(arena.below.matrix.indptr) > 0)
        affine |= (arena.above.base > 0) | (arena.below.base > 0)
        free = (arena.switch != NO_SWITCH) & ~affine
        free[free] &= model.lower[arena.switch[free]] == 0
        obstructed = abs(rows) @ (~free).astype(np.float64)
        kept = rows[np.flatnonzero(obstructed == 0)]
        self._starts, self._variables = kept.indptr, arena.switch[kept.indices]

    def violated(self, x: Floats) -> list[Row]:
        starts = self._starts
        if starts.size < 2 or not self._variables.size:
            return []
        present = x[self._variables]
        total, largest = np.add.reduceat(present, starts[:-1]), np.maximum.reduceat(present, starts[:-1])
        found = []
        for row in np.flatnonzero(2 * largest - total > 1e-3).tolist():
            span = slice(starts[row], starts[row + 1])
            variables, value = self._variables[span], np.ones(starts[row + 1] - starts[row])
            value[int(np.argmax(present[span]))] = -1.0
            found.append(Row(variables, value, 0.0))
        return found


def distinct(rows: Iterable[Row], known: set[int]) -> list[Row]:
    """Rows that were not met before; their marks are added to ``known``."""
    new = []
    for row in rows:
        mark = hash((row.index.tobytes(), np.round(row.value, 9).tobytes(), round(row.rhs, 9)))
        if mark not in known:
            known.add(mark)
            new.append(row)
    return new
