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

from tacita.core.exact import Cells, Floats, Mask
from tacita.core.run import Run
from tacita.engine.attack.requirements import SLIDING, Requirements
from tacita.engine.attack.support import SHARP
from tacita.engine.construction.near_attacks import NEAR, NearAttacks
from tacita.solvers.row_pool import CutRow

SLIGHT = 1e-4
"""Share of its level up to which a requirement that is not met gives no inequality: it would be inexact."""
REPORT_EVERY = 100
"""Requirements between two reports of progress."""


class DualAscent:
    """The ascent over one presolved table.

    ``left`` is what is left of the costs, ``bound`` the sum so far, and ``rows`` the inequalities, in
    variables of the model. It is ``complete`` when no limit cut it short.
    """

    def __init__(self, attacks: NearAttacks, requirements: Requirements, cost: Floats, forced: Mask) -> None:
        self._attacks, self.requirements = attacks, requirements
        self.presolved = presolved = attacks.presolved
        self.left = np.where(forced, 0.0, cost)
        self.bound = 0.0
        self.rows: list[CutRow] = []
        self.complete = False
        self._open = self.left <= 0.0
        self._at = presolved.position[requirements.cell]
        self._met = 0
        """Requirements, from the smallest level on, that need not be looked at again."""

    def ascend(self, run: Run, until: float = np.inf, most: float = np.inf) -> None:
        """Raise the bound until open cells meet all requirements that can be stated, the time is over, or
        programs over ``most`` cells in all are solved.
        """
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
            if not self._ascend_for(k, most):
                return
            self._met = done + 1
        self.complete = True

    def _ascend_for(self, k: int, most: float) -> bool:
        """Raise the bound until open cells meet requirement ``k``, or no inequality raises it; return False
        if programs over ``most`` cells are solved before.
        """
        sizes = iter(NEAR)
        while (size := next(sizes, None)) is not None:
            if self._attacks.work > most:
                return False
            found = self._attacks.attack(self.requirements, k, self._open, size, proves=True)
            if found is None or found.move is not None:
                return True
            if found.limit is not None and self._raise_by(k, found.limit.cells, found.limit.c, found.reached):
                sizes = iter(NEAR)
        return True

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
