"""How far cells can move inside the windows of a release: what a method checks before it lets go of one.

For one attacker a move ``z`` satisfies ``M z = 0, -below <= z <= above``. Cells that cannot move are left
out, so the program is as large as what is hidden. Where cells are counts only whole moves count. A vertex of
a network is whole; where one is not, a search for whole moves follows.
"""

from __future__ import annotations

import numpy as np

from tacita.engine.demands import ALWAYS, DOWN, SLIDING, UP, Demands, all_demands, room
from tacita.engine.model import Model
from tacita.exact import Floats
from tacita.run import Run
from tacita.solvers.highs import Answer, Ended, Session
from tacita.tables.table import Table

EXACT = 1e-11
"""Relative error of a vertex that solves whole equations with coefficients -1 and 1."""
NOISE = 1e-6
"""What a solver's float may miss, in units of its variable."""


FAR = 1e3
"""Levels that a cell may move by in a move that shows one."""


class Moves:
    """Moves of a table inside ``-below .. above``, both in units and the answers too; solved in parts of
    ``scale``.
    """

    def __init__(self, table: Table, above: Floats, below: Floats, scale: int) -> None:
        from scipy.sparse import csc_array

        self._only_whole, self._scale = table.whole, table.unit if table.whole else scale
        room_up, room_down = above / self._scale, below / self._scale
        if self._only_whole:
            room_up, room_down = np.floor(room_up + NOISE), np.floor(room_down + NOISE)
        self.cells = np.flatnonzero(room_up + room_down > 0)
        matrix = csc_array(csc_array(table.equations.matrix)[:, self.cells].astype(np.float64))
        self._program = (matrix, -room_down[self.cells], room_up[self.cells], np.zeros(matrix.shape[0]))
        self._linear = Session(*self._program)
        self._whole: Session | None = None

    def farthest(self, cell: int, sign: int, run: Run) -> tuple[float, Floats]:
        """The largest ``sign * z_cell`` and a move that attains it, over ``cells``; infinite and no move
        where nothing stops it or the time ends.
        """
        at = int(np.searchsorted(self.cells, cell))
        if at == self.cells.size or self.cells[at] != cell:
            return 0.0, np.zeros(self.cells.size)
        answer = self._linear.extreme(at, sign, run)
        if self._only_whole and not _is_whole(answer):
            # A search for whole moves may hear nothing for seconds.
            if run.late:
                return np.inf, np.empty(0)
            if self._whole is None:
                self._whole = Session(*self._program, whole=True)
            answer = self._whole.extreme(at, sign, run)
        if answer.status is not Ended.OPTIMAL:
            return np.inf, np.empty(0)
        point = np.rint(answer.point) if self._only_whole else answer.point
        return sign * float(point[at]) * self._scale, point * self._scale

    def meets(self, cell: int, sign: int, level: int, run: Run) -> bool:
        """Whether a level is reached; for a sliding one, by both ways together."""
        ways = (UP, DOWN) if sign == SLIDING else (sign,)
        reached = sum(self.farthest(cell, way, run)[0] for way in ways)
        return reached >= level - max(NOISE, EXACT * level)


def outward(units: Floats, step: int) -> Floats:
    """The least multiples of a step that are not below some floats, their noise aside."""
    steps = units / step
    near = np.rint(steps)
    return np.where(np.abs(steps - near) <= NOISE, near, np.ceil(steps * (1 + EXACT))) * step


def unmet(model: Model, x: Floats, scale: int, run: Run, least: float = 0.0, most: float = np.inf) -> Demands:
    """Demands of any attacker, with levels of ``least`` to ``most`` units, that fail when the variables are
    ``x``. What was not looked at when the time ended is not among them: the audit will find it.
    """
    problem = model.problem
    conditional = model.demands[model.demands.switch != ALWAYS]
    conditional = conditional[x[conditional.switch] > 0.5]
    demands = Demands.join([all_demands(problem), conditional])
    demands = demands[(demands.level >= least) & (demands.level <= most)]
    failed = np.zeros(len(demands), dtype=bool)
    for attacker in np.unique(demands.attacker):
        # Room that is far beyond every level only upsets the solver.
        limit = FAR * float(demands.level.max(initial=1))
        above, below = (np.minimum(side, limit) for side in model.reach(x, *room(problem, int(attacker))))
        moves = Moves(problem.table, above, below, scale)
        for d in np.flatnonzero(demands.attacker == attacker):
            if run.over:
                return demands[failed]
            failed[d] = not moves.meets(
                int(demands.cell[d]), int(demands.sign[d]), int(demands.level[d]), run
            )
    return demands[failed]


def _is_whole(answer: Answer) -> bool:
    if answer.status is not Ended.OPTIMAL:
        return answer.status is Ended.UNBOUNDED
    return bool(np.abs(answer.point - np.rint(answer.point)).max(initial=0.0) < NOISE)
