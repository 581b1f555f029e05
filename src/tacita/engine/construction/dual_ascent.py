"""A lower bound on the loss of every suppression pattern of a large table, by dual ascent.

Let ``w`` be what is left of the costs, and call cells *open* that are hidden in any case or have ``w_i = 0``.
While open cells do not meet a requirement, but move its cell by ``v < 1`` levels at most, the dual values
``g`` of the attacker's program over them give an inequality that every protected pattern satisfies,

    sum_i  min(1, a_i / (1 - v)) x_i  >=  1   over cells that are not open,
                    a = c+ up + c- down,   c = s e_p + M' g.

Its dual variable rises by the largest amount that leaves all ``w`` at zero or more; ``w`` falls, and one more
cell is open. The sum of these amounts is a lower bound, whenever the ascent ends.
"""

from __future__ import annotations

import numpy as np

from tacita.attackers.insider_list import list_ranges
from tacita.core.exact import Cells, Floats, Mask
from tacita.core.run import Run
from tacita.engine.attack.attacks import TOLERANCE
from tacita.engine.attack.requirements import SLIDING, Requirements
from tacita.engine.construction.neighbourhood import Neighbourhoods
from tacita.engine.construction.neighbourhood_kernels import SmallProgram
from tacita.solvers.highs import SmallPrograms
from tacita.solvers.row_pool import CutRow

NEAR = (100, 600, 4000)
"""Open cells near a target over which the attacker's program is stated, until it gives an inequality."""
SHARP = 1e-9
"""Coefficients below this are zero in exact arithmetic."""
SLIGHT = 1e-4
"""Share of its level up to which a requirement that is not met gives no inequality: it would be inexact."""
REPORT_EVERY = 100
"""Requirements between two reports of progress."""


class DualAscent:
    """The ascent over one presolved table.

    ``left`` is what is left of the costs, ``bound`` the sum so far, and ``rows`` the inequalities, in
    variables of the model. It is ``complete`` when no time limit cut it short.
    """

    def __init__(
        self, neighbourhoods: Neighbourhoods, requirements: Requirements, cost: Floats, forced: Mask
    ) -> None:
        self._neighbourhoods, self.requirements = neighbourhoods, requirements
        self.presolved = presolved = neighbourhoods.presolved
        self.left = np.where(forced, 0.0, cost)
        self.bound = 0.0
        self.rows: list[CutRow] = []
        self.complete = False
        self._open = self.left <= 0.0
        self._at = presolved.position[requirements.cell]
        self._programs = SmallPrograms()
        self._c = np.zeros(len(presolved))
        self._met = 0
        """Requirements, from the smallest level on, that need not be looked at again."""

    def ascend(self, run: Run, until: float = np.inf) -> None:
        """Raise the bound until open cells meet all requirements that can be stated, or the time is over."""
        counts = (self.requirements.sign != SLIDING) & ~self.requirements.conditional
        always = np.flatnonzero(counts & (self._at >= 0))
        order = always[np.argsort(self.requirements.level[always], kind="stable")].tolist()
        for done, k in enumerate(order):
            if done < self._met:
                continue
            if run.over or run.seconds > until:
                return
            if done % REPORT_EVERY == 0 or run.silent:
                run.report("bounding", done, len(order))
            self._ascend_for(k)
            self._met = done + 1
        self.complete = True

    def _ascend_for(self, k: int) -> None:
        """Raise the bound until open cells meet requirement ``k``, or no inequality raises it."""
        sizes = iter(NEAR)
        while (size := next(sizes, None)) is not None:
            blocked = self._find_blocked(k, size)
            if blocked is None:
                return
            if self._raise_by(k, *blocked):
                sizes = iter(NEAR)

    def _find_blocked(self, k: int, near: int) -> tuple[Cells, Floats, float] | None:
        """Return the coefficients that limit requirement ``k`` over open cells near its target, and how far
        these move it, in levels; None if they meet it.
        """
        target, direction = int(self._at[k]), int(self.requirements.sign[k])
        found = self._neighbourhoods.gather(target, self._open, near)
        program = self._neighbourhoods.state(self.requirements, k, direction, 1.0, self.left, found, False)
        if program is None:
            return None
        up, down = self.presolved.find_room(int(self.requirements.attacker[k]))
        capacity = np.concatenate([up[program.cells], down[program.cells]]) / float(
            self.requirements.level[k]
        )
        reached, cells, c = self._attack(program, target, direction, capacity)
        return (cells, c, reached) if reached < 1.0 - TOLERANCE else None

    def _attack(
        self, program: SmallProgram, target: int, direction: int, capacity: Floats
    ) -> tuple[float, Cells, Floats]:
        """Return how far open cells move the target, in levels, and the coefficients ``c`` that limit it."""
        n = program.cells.size
        at = int(np.searchsorted(program.cells, target)) + (0 if direction > 0 else n)
        cost, lower, upper = np.zeros(2 * n), np.zeros(2 * n), capacity
        cost[at], upper[at], upper[(at + n) % (2 * n)] = -1.0, min(1.0, upper[at]), 0.0
        columns = (program.starts, program.row, program.entry)
        point = self._programs.solve(cost, (lower, upper), columns, program.rows.size)
        if point is None:
            return 1.0, np.zeros(0, np.int64), np.zeros(0)
        duals = self._programs.read_duals()
        used = np.abs(duals) > SHARP
        return (float(point[at]), *self._combine(target, direction, program.rows[used], duals[used]))

    def _combine(self, target: int, direction: int, rows: Cells, duals: Floats) -> tuple[Cells, Floats]:
        """Return the cells and values of ``c = s e_p + M' g`` that are not zero."""
        matrix = self.presolved.rows
        lengths = np.diff(matrix.indptr)[rows]
        entries = list_ranges(matrix.indptr[rows].astype(np.int64), lengths)
        cells = matrix.indices[entries].astype(np.int64)
        np.add.at(self._c, cells, matrix.data[entries] * np.repeat(duals, lengths))
        self._c[target] += direction
        cells = np.unique(np.append(cells, target))
        c = self._c[cells]
        self._c[cells] = 0.0
        keep = np.abs(c) > SHARP
        return cells[keep], c[keep]

    def _raise_by(self, k: int, cells: Cells, c: Floats, reached: float) -> bool:
        """Raise the bound by the inequality with these coefficients; return whether it rose."""
        up, down = self.presolved.find_room(int(self.requirements.attacker[k]))
        level = float(self.requirements.level[k])
        a = np.where(c > 0, c * up[cells], -c * down[cells]) / level
        shut = ~self._open[cells]
        # Open cells carry what they carry: what they could carry beyond the program counts, too.
        carried = float(a[~shut].sum())
        missing = 1.0 - max(carried, reached)
        if missing <= SLIGHT:
            return False
        cells, a = cells[shut], np.minimum(a[shut] / missing, 1.0)
        can = (a > 0.0) & np.isfinite(self.left[cells])
        cells, a = cells[can], a[can]
        if not cells.size:
            return False
        rise = float((self.left[cells] / a).min())
        self.left[cells] -= rise * a
        self.bound += rise
        self.rows.append(CutRow(self.presolved.switch[cells], a, 1.0))
        closed = self.left[cells] <= SHARP * max(rise, 1.0)
        self.left[cells[closed]] = 0.0
        self._open[cells[closed]] = True
        return bool(closed.any())
