"""How far cells can move within the windows of a release: a method's own check before it returns one.

For one attacker a move ``z`` satisfies ``M z = 0, -below <= z <= above``. Cells that cannot move are left
out, so that the program is as small as the hidden part. For counts only integer moves are possible. Vertices
of networks are integer; where one is not, an integer program follows.
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
    find_room,
    list_outsider_requirements,
)
from tacita.engine.model import Model
from tacita.solvers.highs import Answer, Ended, Session
from tacita.solvers.linear_program import LinearProgram

EXACT = 1e-11
"""Relative error of a vertex of integer equations with coefficients -1 and 1."""
NOISE = 1e-6
"""Absolute error of a solver's float, in units of its variable."""
FAR = 1e3
"""Limit of a cell's change in a move that meets a level, as a multiple of the level."""


class AttackerMoves:
    """Moves of a table within ``-below .. above``, in units; the solver works in multiples of ``scale``."""

    def __init__(self, table: Table, above: Floats, below: Floats, scale: int) -> None:
        from scipy.sparse import csc_array

        self._integer_only, self._scale = table.integer, table.unit if table.integer else scale
        room_up, room_down = above / self._scale, below / self._scale
        if self._integer_only:
            room_up, room_down = np.floor(room_up + NOISE), np.floor(room_down + NOISE)
        self.cells = np.flatnonzero(room_up + room_down > 0)
        matrix = csc_array(csc_array(table.equations.matrix)[:, self.cells].astype(np.float64))
        nothing = np.zeros(matrix.shape[0])
        self._program = LinearProgram.of_equations(
            matrix, -room_down[self.cells], room_up[self.cells], nothing
        )
        self._linear = Session(self._program)
        self._integer_session: Session | None = None

    def find_farthest(self, cell: int, sign: int, run: Run) -> tuple[float, Floats]:
        """Return how far an attacker can move a cell within a method's windows, in units, and such a move,
        over ``cells``; infinity and no move where it is unbounded or the time ends.
        """
        at = int(np.searchsorted(self.cells, cell))
        if at == self.cells.size or self.cells[at] != cell:
            return 0.0, np.zeros(self.cells.size)
        answer = self._linear.find_extreme(at, sign, run)
        if self._integer_only and not _is_integer(answer):
            # An integer program may not react to the end of the time for seconds.
            if run.late:
                return np.inf, np.empty(0)
            if self._integer_session is None:
                self._integer_session = Session(self._program.in_integers())
            answer = self._integer_session.find_extreme(at, sign, run)
        if answer.status is not Ended.OPTIMAL:
            return np.inf, np.empty(0)
        point = np.rint(answer.point) if self._integer_only else answer.point
        return sign * float(point[at]) * self._scale, point * self._scale

    def find_witness(
        self, requirement: int, cell: int, sign: int, level: int, run: Run
    ) -> tuple[bool, OutsiderWitness | None]:
        """Return whether a method's windows let moves reach a level, and such moves, no longer than needed;
        None where there are none or the time ends.
        """
        signs = (UP, DOWN) if sign == SLIDING else (sign,)
        found = [self.find_farthest(cell, one, run) for one in signs]
        moves = [move for _, move in found]
        met = sum(distance for distance, _ in found) >= level - max(NOISE, EXACT * level)
        if not met or not all(move.size for move in moves):
            return met, None
        at = int(np.searchsorted(self.cells, cell))
        total = sum(abs(float(move[at])) for move in moves)
        # Moves of counts stay integer; those of amounts can be shortened.
        share = 1.0 if self._integer_only else min(1.0, level / total)
        used = [(np.flatnonzero(move), move) for move in moves]
        return met, OutsiderWitness(
            requirement, tuple((self.cells[moved], share * move[moved]) for moved, move in used)
        )


def round_outward(units: Floats, step: int) -> Floats:
    """Return the least multiples of a step not below a method's ends of intervals, but for round-off."""
    steps = units / step
    near = np.rint(steps)
    return np.where(np.abs(steps - near) <= NOISE, near, np.ceil(steps * (1 + EXACT))) * step


def find_unmet(
    model: Model, x: Floats, scale: int, run: Run, least: float = 0.0, most: float = np.inf
) -> Requirements:
    """Return the requirements of any attacker, with levels of ``least`` to ``most`` units, that a method's
    solution ``x`` misses. What was not checked when the time ended is not among them: the audit finds it.
    """
    problem = model.problem
    conditional = model.requirements[model.requirements.switch != ALWAYS]
    conditional = conditional[x[conditional.switch] > 0.5]
    screening = InsiderScreening(problem, np.arange(len(problem.insiders)))
    everyone = Requirements.join([list_outsider_requirements(problem), conditional])
    everyone = everyone[(everyone.level >= least) & (everyone.level <= most)]
    own = screening.own.level
    largest = max(int(levels.max(initial=1)) for levels in (everyone.level, own[own <= most]))

    def moves_within(up: Floats, down: Floats) -> AttackerMoves:
        # Room far beyond every level only causes rounding errors.
        above, below = (np.minimum(side, FAR * largest) for side in model.find_attacker_windows(x, up, down))
        return AttackerMoves(problem.table, above, below, scale)

    failed, witnesses = check_requirements(moves_within(*find_room(problem, OUTSIDER)), everyone, run)
    stopped = run.over
    if stopped or not screening:
        return everyone[failed]
    common = np.flatnonzero(~failed & (everyone.switch == ALWAYS))
    place = {int(d): k for k, d in enumerate(common)}
    kept = [replace(one, requirement=place[one.requirement]) for one in witnesses if one.requirement in place]
    requirements = everyone[common]

    def convince(k: int, up: Floats, down: Floats) -> OutsiderWitness | None:
        asked = int(requirements.cell[k]), int(requirements.sign[k]), int(requirements.level[k])
        return moves_within(up, down).find_witness(k, *asked, run)[1]

    left, best = screening.screen_common(requirements, kept, convince)
    left = Requirements.join([left, screening.screen_own(requirements, best)])
    left = left[(left.level >= least) & (left.level <= most)]
    missing = [everyone[failed]]
    for attacker in np.unique(left.attacker).tolist():
        if run.over:
            break
        theirs = left[left.attacker == attacker]
        missing.append(
            theirs[check_requirements(moves_within(*find_room(problem, attacker)), theirs, run)[0]]
        )
    return Requirements.join(missing)


def check_requirements(
    moves: AttackerMoves, requirements: Requirements, run: Run
) -> tuple[Mask, list[OutsiderWitness]]:
    """Return which requirements fail within a method's windows, and witnesses of the others, if in time."""
    failed, witnesses = np.zeros(len(requirements), dtype=bool), []
    for d in range(len(requirements)):
        if run.over:
            break
        met, found = moves.find_witness(
            d, int(requirements.cell[d]), int(requirements.sign[d]), int(requirements.level[d]), run
        )
        failed[d] = not met
        if found is not None:
            witnesses.append(found)
    return failed, witnesses


def _is_integer(answer: Answer) -> bool:
    if answer.status is not Ended.OPTIMAL:
        return answer.status is Ended.UNBOUNDED
    return bool(np.abs(answer.point - np.rint(answer.point)).max(initial=0.0) < NOISE)
