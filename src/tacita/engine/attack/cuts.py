"""Capacity cuts in the master's variables, and what makes them strong.

(blocking) of ``attacks.py`` with the windows written out says, for requirement ``(p, s, L)`` of attacker
``k``,

    sum_i c+_i ( min(up_i, U_i(x)) + up_i x_i ) + c-_i ( min(down_i, D_i(x)) + down_i x_i )  >=  L [x_p].

Of ``min(up, U(x))`` the smaller one at the current point is used; either is valid. Constants and fixed
variables go to the right-hand side, which leaves ``d x >= d0``. Then

* *strengthening*: with ``x_j`` binary and all terms non-negative, ``d_j`` above ``d0`` is reduced to ``d0``,
  since one cell alone then satisfies the row. Without it the bound is very weak;
* *covers*: cells ``T`` with ``d(T) < d0`` do not suffice even together, so the others must contribute
  ``d0 - d(T)``, and their coefficients are reduced to that. ``T`` is chosen among the cells that ``x`` hides;
* *bridges*: a hidden cell that no other cell of an equation can balance is known to everyone and need not be
  hidden: ``x_i <= sum of the others of the equation``, where none of these can move otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tacita.core.exact import Cells, Floats, Mask
from tacita.engine.attack.attacks import BlockedRequirement
from tacita.engine.attack.presolved import PresolvedTable
from tacita.engine.attack.requirements import Requirements
from tacita.engine.model import NO_SWITCH, Affine
from tacita.solvers.row_pool import CutRow

VIOLATION = 1e-6
"""By how much a point must violate a row (with coefficients up to 1) for the row to be worth adding."""
FINE = 5e-8
"""The same in models without integers, where no branching follows."""
NEGLIGIBLE = 1e-9


@dataclass(frozen=True, eq=False)
class CutOrigin:
    """What a capacity cut was made from: the blocked requirement and the variables of its cover."""

    blocked: BlockedRequirement
    cover: Cells


@dataclass(frozen=True, eq=False)
class Bridge:
    """What a bridge inequality was made from: an equation of the presolved table, and the variable of it that
    cannot be 1 alone.
    """

    equation: int
    variable: int


class Cutter:
    """Turns blocked requirements into rows of the master; ``lower`` and ``upper`` may tighten meanwhile."""

    def __init__(self, presolved: PresolvedTable, lower: Floats, upper: Floats) -> None:
        self.presolved, self.lower, self.upper = presolved, lower, upper
        self.binary = presolved.model.integer & (presolved.model.lower >= 0) & (presolved.model.upper <= 1)
        self._only_switches = presolved.only_switches
        # Branching resolves violations that are smaller; without integer variables only cuts do.
        self._least = VIOLATION if presolved.model.integer.any() else FINE
        self._bridges = _BridgeFinder(presolved)

    def make_cut(self, requirements: Requirements, blocked: BlockedRequirement, x: Floats) -> CutRow | None:
        """Return the strengthened capacity cut of a blocked requirement, or None if ``x`` satisfies it."""
        k = blocked.requirement
        level = float(requirements.level[k])
        up, down = self.presolved.find_room(int(requirements.attacker[k]))
        terms = _LinearForm()
        for limit in blocked.limits:
            rising = limit.c > 0
            self._add_terms(terms, limit.cells[rising], limit.c[rising], up, self.presolved.above, x, level)
            falling = limit.cells[~rising], -limit.c[~rising]
            self._add_terms(terms, *falling, down, self.presolved.below, x, level)
        rhs = level - terms.constant
        if requirements.switch[k] >= 0:
            terms.add(requirements.switch[k : k + 1], np.array([-level]))
            rhs -= level
        at, d = terms.collect()
        return self._strengthen(at, d / level, rhs / level, x, blocked)

    def find_bridges(self, x: Floats) -> list[CutRow]:
        """Return the engine's bridge inequalities that ``x`` violates, at most one per equation."""
        return self._bridges.find_violated(x)

    def _add_terms(
        self, terms: _LinearForm, at: Cells, c: Floats, room: Floats, window: Affine, x: Floats, level: float
    ) -> None:
        """Add the terms of a cut for cells ``at``, with coefficients ``c``, that move in one direction."""
        variables = self.presolved.switch[at]
        switched = variables != NO_SWITCH
        # A binary never needs more than the level; this also keeps infinite room out of the rows.
        terms.add(variables[switched], np.minimum(c[switched] * room[at[switched]], level))
        if self._only_switches:
            return
        by_room = room[at] <= window.matrix[at] @ x + window.base[at]
        terms.constant += float(c[by_room] @ room[at[by_room]] + c[~by_room] @ window.base[at[~by_room]])
        opened = (window.matrix[at[~by_room]].T * c[~by_room]).tocoo()
        terms.add(opened.coords[0].astype(np.int64), opened.data)

    def _strengthen(
        self, at: Cells, d: Floats, d0: float, x: Floats, blocked: BlockedRequirement
    ) -> CutRow | None:
        """Return the capacity cut ``d x[at] >= d0`` strengthened and lifted, or None if ``x`` meets it."""
        lower, upper = self.lower[at], self.upper[at]
        fixed = lower == upper
        if not self._is_monotone(at[~fixed], d[~fixed]) or (d[fixed] * lower[fixed] < 0).any():
            return self._if_violated(CutRow(at[~fixed], d[~fixed], d0 - float(d[fixed] @ lower[fixed])), x)
        d0 -= float(d[fixed] @ lower[fixed])
        at, d, lower, upper = at[~fixed], d[~fixed], lower[~fixed], upper[~fixed]
        # Negligible terms are dropped with the most they could contribute.
        tiny = np.abs(d) <= NEGLIGIBLE
        d0 -= float(np.maximum(d[tiny] * upper[tiny], d[tiny] * lower[tiny]).sum())
        at, d = at[~tiny], d[~tiny]
        # Binaries with a negative coefficient are replaced by their complements: all terms are non-negative.
        flipped, value = d < 0, np.abs(d)
        d0 += float(value[flipped].sum())
        if d0 <= VIOLATION:
            return None
        binary, present = self.binary[at], np.where(flipped, 1.0 - x[at], x[at])
        value = np.where(binary, np.minimum(value, d0), value)
        cover = np.zeros(at.size, dtype=bool)
        if binary.all():
            cover = _choose_cover(value, d0, present)
            d0 -= float(value[cover].sum())
            value = np.where(cover, 0.0, np.minimum(value, d0))
        origin = CutOrigin(blocked, at[cover])
        used = value > 0
        at, value, flipped = at[used], value[used], flipped[used]
        d0, value = d0 - float(value[flipped].sum()), np.where(flipped, -value, value)
        scale = max(abs(d0), float(np.abs(value).max(initial=0.0)), NEGLIGIBLE)
        return self._if_violated(CutRow(at, value / scale, d0 / scale, origin), x)

    def _if_violated(self, row: CutRow, x: Floats) -> CutRow | None:
        return row if row.compute_slack(x) < -self._least else None

    def _is_monotone(self, at: Cells, d: Floats) -> bool:
        """Return whether every term of a cut is non-negative, or is so after complementing a binary."""
        return bool(((d >= 0) & (self.lower[at] >= 0) | self.binary[at]).all())


class _LinearForm:
    """A linear form in the variables, summed from parts."""

    def __init__(self) -> None:
        self.constant = 0.0
        self._variables: list[Cells] = []
        self._values: list[Floats] = []

    def add(self, variables: Cells, values: Floats) -> None:
        self._variables.append(variables)
        self._values.append(values)

    def collect(self) -> tuple[Cells, Floats]:
        """Return each variable of a cut once, with the sum of its coefficients."""
        variables, place = np.unique(np.concatenate(self._variables), return_inverse=True)
        values = np.bincount(place, np.concatenate(self._values), variables.size)
        return variables, values.astype(np.float64)


def _choose_cover(value: Floats, needed: float, present: Floats) -> Mask:
    """Return a mask of the variables whose cover, of a few tried, makes the capacity cut most violated."""
    # A variable that is (almost) 1 at the point takes hardly any violation away when it joins the cover.
    order = np.flatnonzero((present > 0.5) & (value < needed))
    order = order[np.argsort(-present[order], kind="stable")]
    best, chosen = float(value @ present) / needed, np.zeros(value.size, dtype=bool)
    total = np.cumsum(value[order])
    fitting = int(np.searchsorted(total, needed - NEGLIGIBLE))
    for size in sorted({1, 2, 4, 8, 16, fitting}):
        if 0 < size <= fitting:
            cover = np.zeros(value.size, dtype=bool)
            cover[order[:size]] = True
            left = needed - float(total[size - 1])
            reached = float(np.minimum(value[~cover], left) @ present[~cover]) / left
            if reached < best - VIOLATION:
                best, chosen = reached, cover
    return chosen


class _BridgeFinder:
    """Equations for which bridge inequalities hold: each cell has a binary switch and no other window."""

    def __init__(self, presolved: PresolvedTable) -> None:
        model = presolved.model
        rows = presolved.matrix.tocsr()
        affine = (np.diff(presolved.above.matrix.indptr) > 0) | (np.diff(presolved.below.matrix.indptr) > 0)
        affine |= (presolved.above.base > 0) | (presolved.below.base > 0)
        free = (presolved.switch != NO_SWITCH) & ~affine
        free[free] &= model.lower[presolved.switch[free]] == 0
        obstructed = abs(rows) @ (~free).astype(np.float64)
        self._equations = np.flatnonzero(obstructed == 0)
        rows = rows[self._equations]
        self._starts, self._variables = rows.indptr, presolved.switch[rows.indices]

    def find_violated(self, x: Floats) -> list[CutRow]:
        """Return bridge inequalities that ``x`` violates clearly, at most one per equation."""
        starts = self._starts
        if starts.size < 2 or not self._variables.size:
            return []
        present = x[self._variables]
        total, largest = np.add.reduceat(present, starts[:-1]), np.maximum.reduceat(present, starts[:-1])
        found = []
        for row in np.flatnonzero(2 * largest - total > 1e-3).tolist():
            span = slice(starts[row], starts[row + 1])
            variables, value = self._variables[span], np.ones(starts[row + 1] - starts[row])
            alone = int(np.argmax(present[span]))
            value[alone] = -1.0
            origin = Bridge(int(self._equations[row]), int(variables[alone]))
            found.append(CutRow(variables, value, 0.0, origin))
        return found


def drop_known_rows(rows: Iterable[CutRow], known: set[int]) -> list[CutRow]:
    """Return the cuts whose hash is not in ``known``, and add the hashes of these."""
    new = []
    for row in rows:
        mark = hash((row.index.tobytes(), np.round(row.value, 9).tobytes(), round(row.rhs, 9)))
        if mark not in known:
            known.add(mark)
            new.append(row)
    return new
