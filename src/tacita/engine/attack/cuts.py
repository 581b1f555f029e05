"""Capacity cuts in the master's variables, and what makes them strong.

(blocking) of ``attacks.py`` with the windows written out says, for requirement ``(p, s, L)`` of attacker
``k``,

    sum_i c+_i ( min(up_i, U_i(x)) + up_i x_i ) + c-_i ( min(down_i, D_i(x)) + down_i x_i )  >=  L [x_p].

Of ``min(up, U(x))`` the smaller one at the current point is taken; either is valid. What does not depend on
``x`` and what is fixed goes to the right, which leaves ``d x >= d0``. Then

* *strengthening*: with ``x_j`` binary and all terms non-negative, ``d_j`` above ``d0`` is cut down to ``d0``:
  a cell cannot do more than all that is asked (without it the bound is next to useless);
* *covers*: cells ``T`` with ``d(T) < d0`` do not suffice even together, so the others must bring
  ``d0 - d(T)``, and their coefficients are cut down to that. ``T`` is taken from what ``x`` already has;
* *bridges*: a hidden cell that nothing else in an equation can balance is known to everyone and need not be
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
"""The same where nothing but cuts decides."""
NEGLIGIBLE = 1e-9


@dataclass(frozen=True, eq=False)
class CutOrigin:
    """What a capacity cut was made from: the blocked requirement and the variables of its cover."""

    blocked: BlockedRequirement
    given: Cells


@dataclass(frozen=True, eq=False)
class Bridge:
    """The equation of the presolved table and the variable that it cannot do without the others."""

    equation: int
    variable: int


class Cutter:
    """Turns what blocks attackers into rows of the master. Variables may be fixed as the search goes on."""

    def __init__(self, presolved: PresolvedTable, lower: Floats, upper: Floats) -> None:
        self.presolved, self.lower, self.upper = presolved, lower, upper
        self.binary = presolved.model.integer & (presolved.model.lower >= 0) & (presolved.model.upper <= 1)
        self._only_switches = presolved.only_switches
        # Branching deals with what is cut off by a hair; without whole variables nothing else does.
        self._least = VIOLATION if presolved.model.integer.any() else FINE
        self._bridges = _Bridges(presolved)

    def cut(self, requirements: Requirements, blocked: BlockedRequirement, x: Floats) -> CutRow | None:
        """The strengthened cut of one blocked requirement, or None if ``x`` does not violate it."""
        k = blocked.requirement
        level = float(requirements.level[k])
        up, down = self.presolved.room(int(requirements.attacker[k]))
        terms = _Terms()
        for way in blocked.ways:
            rising = way.c > 0
            self._side(terms, way.cells[rising], way.c[rising], up, self.presolved.above, x, level)
            self._side(terms, way.cells[~rising], -way.c[~rising], down, self.presolved.below, x, level)
        rhs = level - terms.constant
        if requirements.switch[k] >= 0:
            terms.add(requirements.switch[k : k + 1], np.array([-level]))
            rhs -= level
        at, d = terms.collected()
        return self._strengthened(at, d / level, rhs / level, x, blocked)

    def bridges(self, x: Floats) -> list[CutRow]:
        """Bridge inequalities that ``x`` violates, at most one per equation."""
        return self._bridges.violated(x)

    def _side(
        self, terms: _Terms, at: Cells, c: Floats, room: Floats, window: Affine, x: Floats, level: float
    ) -> None:
        """The terms of the cells that must go one way."""
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

    def _strengthened(
        self, at: Cells, d: Floats, d0: float, x: Floats, blocked: BlockedRequirement
    ) -> CutRow | None:
        lower, upper = self.lower[at], self.upper[at]
        held = lower == upper
        if not self._monotone(at[~held], d[~held]) or (d[held] * lower[held] < 0).any():
            return self._if_violated(CutRow(at[~held], d[~held], d0 - float(d[held] @ lower[held])), x)
        d0 -= float(d[held] @ lower[held])
        at, d, lower, upper = at[~held], d[~held], lower[~held], upper[~held]
        # What is too small to keep counts with the most it could ever contribute.
        tiny = np.abs(d) <= NEGLIGIBLE
        d0 -= float(np.maximum(d[tiny] * upper[tiny], d[tiny] * lower[tiny]).sum())
        at, d = at[~tiny], d[~tiny]
        # Binaries with a negative coefficient are seen as their complements, so that all terms help.
        flipped, value = d < 0, np.abs(d)
        d0 += float(value[flipped].sum())
        if d0 <= VIOLATION:
            return None
        binary, present = self.binary[at], np.where(flipped, 1.0 - x[at], x[at])
        value = np.where(binary, np.minimum(value, d0), value)
        given = np.zeros(at.size, dtype=bool)
        if binary.all():
            given = _cover(value, d0, present)
            d0 -= float(value[given].sum())
            value = np.where(given, 0.0, np.minimum(value, d0))
        origin = CutOrigin(blocked, at[given])
        used = value > 0
        at, value, flipped = at[used], value[used], flipped[used]
        d0, value = d0 - float(value[flipped].sum()), np.where(flipped, -value, value)
        scale = max(abs(d0), float(np.abs(value).max(initial=0.0)), NEGLIGIBLE)
        return self._if_violated(CutRow(at, value / scale, d0 / scale, origin), x)

    def _if_violated(self, row: CutRow, x: Floats) -> CutRow | None:
        return row if row.slack(x) < -self._least else None

    def _monotone(self, at: Cells, d: Floats) -> bool:
        """Every term is non-negative, or belongs to a binary and becomes so by complement."""
        return bool(((d >= 0) & (self.lower[at] >= 0) | self.binary[at]).all())


class _Terms:
    """A linear form in the variables that is put together from parts."""

    def __init__(self) -> None:
        self.constant = 0.0
        self._variables: list[Cells] = []
        self._values: list[Floats] = []

    def add(self, variables: Cells, values: Floats) -> None:
        self._variables.append(variables)
        self._values.append(values)

    def collected(self) -> tuple[Cells, Floats]:
        """Each variable once."""
        variables, place = np.unique(np.concatenate(self._variables), return_inverse=True)
        values = np.bincount(place, np.concatenate(self._values), variables.size)
        return variables, values.astype(np.float64)


def _cover(value: Floats, needed: float, present: Floats) -> Mask:
    """The cells to take as given: of some sets, the one that makes the cut (scaled to 1) most violated."""
    # Cells that the point has (almost) in full cost the cut nothing when they are taken as given.
    order = np.flatnonzero((present > 0.5) & (value < needed))
    order = order[np.argsort(-present[order], kind="stable")]
    best, chosen = float(value @ present) / needed, np.zeros(value.size, dtype=bool)
    taken = np.cumsum(value[order])
    fitting = int(np.searchsorted(taken, needed - NEGLIGIBLE))
    for size in sorted({1, 2, 4, 8, 16, fitting}):
        if 0 < size <= fitting:
            given = np.zeros(value.size, dtype=bool)
            given[order[:size]] = True
            left = needed - float(taken[size - 1])
            reached = float(np.minimum(value[~given], left) @ present[~given]) / left
            if reached < best - VIOLATION:
                best, chosen = reached, given
    return chosen


class _Bridges:
    """Equations whose cells all have an own binary switch and nothing else: there bridges hold."""

    def __init__(self, presolved: PresolvedTable) -> None:
        model = presolved.model
        rows = presolved.matrix.tocsr()
        affine = (np.diff(presolved.above.matrix.indptr) > 0) | (np.diff(presolved.below.matrix.indptr) > 0)
        affine |= (presolved.above.base > 0) | (presolved.below.base > 0)
        free = (presolved.switch != NO_SWITCH) & ~affine
        free[free] &= model.lower[presolved.switch[free]] == 0
        obstructed = abs(rows) @ (~free).astype(np.float64)
        self._equations = np.flatnonzero(obstructed == 0)
        kept = rows[self._equations]
        self._starts, self._variables = kept.indptr, presolved.switch[kept.indices]

    def violated(self, x: Floats) -> list[CutRow]:
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


def distinct(rows: Iterable[CutRow], known: set[int]) -> list[CutRow]:
    """Rows that were not met before; their marks are added to ``known``."""
    new = []
    for row in rows:
        mark = hash((row.index.tobytes(), np.round(row.value, 9).tobytes(), round(row.rhs, 9)))
        if mark not in known:
            known.add(mark)
            new.append(row)
    return new
