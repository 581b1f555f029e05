"""How far cells can move inside the windows of a release: what a method checks before it lets go of one.

For one attacker a move ``z`` satisfies ``M z = 0, -below <= z <= above``. Cells that cannot move are left
out, so the program is as large as what is hidden. Where cells are counts only whole moves count. A vertex of
a network is whole; where one is not, a search for whole moves follows.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tacita.core.exact import Floats, Mask
from tacita.core.run import Run
from tacita.core.tables.table import Table
from tacita.engine.attack.insider_screening import InsiderScreening, OutsiderWitness
from tacita.engine.attack.requirements import (
    ALWAYS,
    DOWN,
    OUTSIDER,
    SLIDING,
    UP,
    Requirements,
    outsider_requirements,
    room,
)
from tacita.engine.model import Model
from tacita.solvers.highs import Answer, Ended, Session
from tacita.solvers.linear_program import LinearProgram

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
        nothing = np.zeros(matrix.shape[0])
        self._program = LinearProgram.of_equations(
            matrix, -room_down[self.cells], room_up[self.cells], nothing
        )
        self._linear = Session(self._program)
        self._whole: Session | None = None

    def farthest(self, cell: int, sign: int, run: Run) -> tuple[float, Floats]:
        """The largest ``sign * z_cell`` and a move that attains it, over ``cells``; infinite and no move
        where nothing stops it or the time ends.
        """
        at = int(np.searchsorted(self.cells, cell))
        if at == self.cells.size or self.cells[at] != cell:
            return 0.0, np.zeros(self.cells.size)
        answer = self._linear.find_extreme(at, sign, run)
        if self._only_whole and not _is_whole(answer):
            # A search for whole moves may hear nothing for seconds.
            if run.late:
                return np.inf, np.empty(0)
            if self._whole is None:
                self._whole = Session(self._program.in_integers())
            answer = self._whole.find_extreme(at, sign, run)
        if answer.status is not Ended.OPTIMAL:
            return np.inf, np.empty(0)
        point = np.rint(answer.point) if self._only_whole else answer.point
        return sign * float(point[at]) * self._scale, point * self._scale

    def meets(self, cell: int, sign: int, level: int, run: Run) -> bool:
        """Whether a level is reached; for a sliding one, by both ways together."""
        return self._reached(cell, sign, level, run)[0]

    def shown(
        self, requirement: int, cell: int, sign: int, level: int, run: Run
    ) -> tuple[bool, OutsiderWitness | None]:
        """Whether a level is reached, and moves that show it, no longer than it takes; none where the time
        ends.
        """
        met, moves = self._reached(cell, sign, level, run)
        if not met or not all(move.size for move in moves):
            return met, None
        at = int(np.searchsorted(self.cells, cell))
        total = sum(abs(float(move[at])) for move in moves)
        # Moves of counts are whole; those of amounts can be cut short.
        share = 1.0 if self._only_whole else min(1.0, level / total)
        used = [(np.flatnonzero(move), move) for move in moves]
        return met, OutsiderWitness(
            requirement, tuple((self.cells[moved], share * move[moved]) for moved, move in used)
        )

    def _reached(self, cell: int, sign: int, level: int, run: Run) -> tuple[bool, list[Floats]]:
        ways = (UP, DOWN) if sign == SLIDING else (sign,)
        found = [self.farthest(cell, way, run) for way in ways]
        reached = sum(distance for distance, _ in found)
        return reached >= level - max(NOISE, EXACT * level), [move for _, move in found]


def outward(units: Floats, step: int) -> Floats:
    """The least multiples of a step that are not below some floats, their noise aside."""
    steps = units / step
    near = np.rint(steps)
    return np.where(np.abs(steps - near) <= NOISE, near, np.ceil(steps * (1 + EXACT))) * step


def unmet(
    model: Model, x: Floats, scale: int, run: Run, least: float = 0.0, most: float = np.inf
) -> Requirements:
    """Requirements of any attacker, with levels of ``least`` to ``most`` units, that fail when the variables
    are ``x``. What was not looked at when the time ended is not among them: the audit will find it.
    """
    problem = model.problem
    conditional = model.requirements[model.requirements.switch != ALWAYS]
    conditional = conditional[x[conditional.switch] > 0.5]
    screening = InsiderScreening(problem, np.arange(len(problem.insiders)))
    everyone = Requirements.join([outsider_requirements(problem), conditional])
    everyone = everyone[(everyone.level >= least) & (everyone.level <= most)]
    own = screening.own.level
    largest = max(int(levels.max(initial=1)) for levels in (everyone.level, own[own <= most]))

    def moves_within(up: Floats, down: Floats) -> Moves:
        # Room that is far beyond every level only upsets the solver.
        above, below = (np.minimum(side, FAR * largest) for side in model.attacker_windows(x, up, down))
        return Moves(problem.table, above, below, scale)

    failed, shown = asked_of(moves_within(*room(problem, OUTSIDER)), everyone, run)
    stopped = run.over
    if stopped or not screening:
        return everyone[failed]
    common = np.flatnonzero(~failed & (everyone.switch == ALWAYS))
    place = {int(d): k for k, d in enumerate(common)}
    kept = [replace(one, requirement=place[one.requirement]) for one in shown if one.requirement in place]
    requirements = everyone[common]

    def convince(k: int, up: Floats, down: Floats) -> OutsiderWitness | None:
        asked = int(requirements.cell[k]), int(requirements.sign[k]), int(requirements.level[k])
        return moves_within(up, down).shown(k, *asked, run)[1]

    left, best = screening.screen_common(requirements, kept, convince)
    left = Requirements.join([left, screening.screen_own(requirements, best)])
    left = left[(left.level >= least) & (left.level <= most)]
    missing = [everyone[failed]]
    for attacker in np.unique(left.attacker).tolist():
        if run.over:
            break
        theirs = left[left.attacker == attacker]
        missing.append(theirs[asked_of(moves_within(*room(problem, attacker)), theirs, run)[0]])
    return Requirements.join(missing)


def asked_of(moves: Moves, requirements: Requirements, run: Run) -> tuple[Mask, list[OutsiderWitness]]:
    """Which requirements fail, and moves that show the others as met; until the time ends."""
    failed, shown = np.zeros(len(requirements), dtype=bool), []
    for d in range(len(requirements)):
        if run.over:
            break
        met, found = moves.shown(
            d, int(requirements.cell[d]), int(requirements.sign[d]), int(requirements.level[d]), run
        )
        failed[d] = not met
        if found is not None:
            shown.append(found)
    return failed, shown


def _is_whole(answer: Answer) -> bool:
    if answer.status is not Ended.OPTIMAL:
        return answer.status is Ended.UNBOUNDED
    return bool(np.abs(answer.point - np.rint(answer.point)).max(initial=0.0) < NOISE)
