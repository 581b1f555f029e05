"""The attackers' problems in one block of the region, for one attacker after the other.

For target ``p``, moves with ``z_p <= -LPL`` and with ``z_p >= UPL`` are searched for, together as wide as
SPL. Each move found is tried on every later target and attacker before a linear program is solved: one vertex
often proves dozens of cells.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import ceil, isnan

import numpy as np

from tacita.auditing.block_tasks import (
    BELOW_LOWER,
    BELOW_SLIDING,
    BELOW_UPPER,
    EXACT,
    FRACTIONAL,
    UNPROVEN,
    BlockResult,
    BlockTask,
    BlockVerdicts,
    Targets,
)
from tacita.auditing.exact_moves import MovePool, recover_vertex, snap
from tacita.auditing.joint_moves import MANY, WORTHWHILE, find_joint_move, is_flat
from tacita.auditing.region import to_columns
from tacita.auditing.short_moves import ShortMoves
from tacita.core.exact import UNBOUNDED, Cells, Floats, Mask, Units, to_floats
from tacita.core.run import Run
from tacita.solvers.highs import Answer, Ended, Session
from tacita.solvers.linear_program import LinearProgram


@dataclass(frozen=True)
class Reach:
    """How far a target can move in one direction, in steps: proven, by which move (-1: none), and the
    solver's optimum if a program was solved. ``fractional``: only fractional moves go as far as required.
    """

    proven: Fraction
    move: int
    optimum: float | None = None
    fractional: bool = False

    @property
    def claimed(self) -> float:
        """How many steps the target can move, as the solver claims or a move proves, whichever is more."""
        return float(self.proven) if self.optimum is None else max(self.optimum, float(self.proven))


class Examiner:
    """Judges the targets of one attacker of a block after the other, with one warm solver session and a
    growing pool of moves. ``low`` and ``high`` are the bounds of the current attacker.
    """

    def __init__(self, task: BlockTask, run: Run) -> None:
        self.task, self.run = task, run
        self.low, self.high = task.low.copy(), task.high.copy()
        self.scale = _choose_scale(task)
        self.pool = MovePool(task.block.cells.size, _find_watched(task), task.integer)
        self.result = BlockResult(task.block.cells, moves=self.pool.moves)
        self._session: Session | None = None
        self._short: list[int] = []
        self._columns = to_columns(task.block)
        # Set once a vertex could not be made exact: short moves are searched for first from then on. With
        # as many targets as a part has this is nearly certain, and the first vertex takes seconds.
        self._rough = task.is_part

    def shorten_proofs(self) -> None:
        """Replace vertices in the outsider's proofs by short moves: a vertex moves cells all over the block,
        so that nearly every insider could rule it out.
        """
        targets, proof = self.task.common, self.result.verdicts[0]
        proofs = (targets.upper, proof.up_move, 1), (targets.lower, proof.down_move, -1)
        proven = np.flatnonzero((proof.bits == 0) & (targets.sliding <= targets.upper + targets.lower))
        for levels, by, sign in proofs:
            for t in proven[(levels[proven] > 0) & ~np.isin(by[proven], self._short)].tolist():
                if self.run.over:
                    return
                p, level = int(targets.columns[t]), int(levels[t])
                point = self.short_moves.find(p, sign, level, self.low, self.high, self.run, nearby=True)
                exact = None if point is None else snap(self.task.block.matrix, self.low, self.high, point)
                if exact is None or (self.task.integer and exact[1] > 1):
                    continue
                if sign * int(exact[0][p]) >= level * exact[1]:
                    by[t] = len(self.pool.moves)
                    self.pool.add(*exact)
            by[proven[levels[proven] == 0]] = -1

    def enter(self, tight: Cells, low: Units, high: Units) -> None:
        """Audit from now on for an insider, to whom some columns have tighter bounds."""
        if tight.size:
            self.low[tight], self.high[tight] = low, high
            self._update_session_bounds(tight)
            self.pool.enter(self.low, self.high)

    def leave(self, tight: Cells) -> None:
        """Audit for the outsider again, after an insider to whom some columns had tighter bounds."""
        if tight.size:
            self.low[tight], self.high[tight] = self.task.low[tight], self.task.high[tight]
            self._update_session_bounds(tight)
            self.pool.leave()

    def _update_session_bounds(self, columns: Cells) -> None:
        """Pass the audited attacker's bounds of some columns to the solver."""
        if self._session is not None:
            self._session.set_bounds(
                columns, self._floats(self.low[columns]), self._floats(self.high[columns])
            )

    def judge_all(self, who: int, targets: Targets) -> None:
        """Judge all targets of the current attacker and add the verdicts to the result of the audit."""
        self._prove_jointly(targets)
        n = targets.columns.size
        bits, below, above = np.zeros(n, np.int64), np.zeros(n), np.zeros(n)
        down_move, up_move = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
        for t in range(n):
            bits[t], down, up = self.judge(targets, t)
            below[t], above[t] = down.claimed, up.claimed
            down_move[t], up_move[t] = down.move, up.move
        whose = np.full(n, who)
        self.result.verdicts.append(
            BlockVerdicts(whose, targets.columns, bits, below, above, down_move, up_move)
        )

    def judge(self, targets: Targets, t: int) -> tuple[int, Reach, Reach]:
        """Return the verdict bits of one target of the audit, and how far it can move down and up."""
        p, sliding = int(targets.columns[t]), int(targets.sliding[t])
        lower, upper = int(targets.lower[t]), int(targets.upper[t])
        far = max(lower, upper, sliding, 1)
        up, down = self._find_reach(p, 1, upper, far), self._find_reach(p, -1, lower, far)
        if up.proven + down.proven < sliding:
            up = self._find_reach(p, 1, max(upper, sliding - int(down.proven)), far, up)
        if up.proven + down.proven < sliding:
            down = self._find_reach(p, -1, max(lower, sliding - int(up.proven)), far, down)
        if up.proven + down.proven < sliding <= up.claimed + down.claimed:
            up, down = self._prove_sliding_level(p, sliding, up, down)
        return _find_bits(down, up, lower, upper, sliding, self.task.integer), down, up

    def _prove_jointly(self, targets: Targets) -> None:
        """Add moves to the audit's pool that prove many targets' levels at once, where there are many."""
        if targets.columns.size < MANY or not is_flat(self._columns):
            return
        matrix = self.task.block.matrix
        for levels, sign in (targets.upper, 1), (targets.lower, -1):
            left, gained = self._find_unreached(targets.columns, levels, sign), 1.0
            while left.size and gained >= WORTHWHILE:
                self.result.programs += 1
                point = find_joint_move(
                    matrix,
                    self._columns,
                    self._floats(self.low),
                    self._floats(self.high),
                    targets.columns[left],
                    self._floats(levels[left]),
                    sign,
                    self.run,
                )
                exact = None if point is None else snap(matrix, self.low, self.high, point * self.scale)
                if exact is None or (self.task.integer and exact[1] > 1):
                    return
                self.pool.add(*exact)
                before = left.size
                left = left[self._find_unreached(targets.columns[left], levels[left], sign)]
                gained = 1 - left.size / before

    def _find_unreached(self, columns: Cells, levels: Units, sign: int) -> Cells:
        """Return the positions of columns that no move of the audit takes as far as their levels."""
        pairs = zip(columns.tolist(), levels.tolist(), strict=True)
        return np.flatnonzero([self.pool.find_best(p, sign)[0] < level for p, level in pairs])

    # ------------------------------------------------------------------ one direction of one target

    def _find_reach(self, p: int, sign: int, level: int, far: int, before: Reach | None = None) -> Reach:
        """Return how far a target of the audit can move in one direction: a proven move of at least
        ``level``, or the furthest with the solver's optimum.

        A target that can move without bound is moved by ``far``.
        """
        best = self._best_in_pool(p, sign)
        if best.proven >= level or (before is not None and before.optimum is not None):
            return best if before is None else _merge_reaches(before, best)
        optimum = None
        if not self._rough:
            optimum = self._maximise(p, sign, far)
            best = self._best_in_pool(p, sign)
            if best.proven >= level or optimum < level * (1 - 1e-9):
                return Reach(best.proven, best.move, optimum)
            self._rough = True
        fractional = self._add_short_move(p, sign, level)
        best = self._best_in_pool(p, sign)
        if best.proven < level and optimum is None:
            optimum = self._maximise(p, sign, far)
        elif best.proven >= level and optimum is not None and isnan(optimum):
            optimum = None
        return Reach(best.proven, best.move, optimum, fractional)

    def _maximise(self, p: int, sign: int, far: int) -> float:
        """Return how many steps a target can move by the audit's linear program, NaN without an answer; the
        vertex goes into the pool if it can be made exact.
        """
        answer = self._solve_extreme(p, sign)
        unbounded = answer.status is Ended.UNBOUNDED
        if unbounded:
            answer = self._maximise_capped(p, sign, far)
        if answer.status is not Ended.OPTIMAL:
            return float("nan")
        exact = snap(self.task.block.matrix, self.low, self.high, answer.point * self.scale)
        if exact is not None:
            self.pool.add(*exact)
        return float("inf") if unbounded else sign * answer.value * self.scale

    def _add_short_move(self, p: int, sign: int, level: int) -> bool:
        """Add a move of few cells that proves a level to the audit's pool, if there is one; return whether
        only fractional ones exist where cells are counts.
        """
        if self.run.over:
            return False
        self.result.programs += 1
        point = self.short_moves.find(p, sign, level, self.low, self.high, self.run)
        if point is None:
            return False
        matrix = self.task.block.matrix
        exact = snap(matrix, self.low, self.high, point) or recover_vertex(
            matrix, self.low, self.high, point, {p: sign * level}
        )
        if exact is not None:
            self._short.append(len(self.pool.moves))
            self.pool.add(*exact)
        if not self.task.integer or (exact is not None and exact[1] == 1):
            return False
        status, integers = self._find_integer_move(p, sign, level)
        if integers is not None:
            self.pool.add(integers, 1)
        return status is Ended.INFEASIBLE

    def _prove_sliding_level(self, p: int, sliding: int, up: Reach, down: Reach) -> tuple[Reach, Reach]:
        """Return how far a target can move up and down, proven as wide as the sliding level if possible."""
        up = self._extend(p, 1, int(min(up.claimed, sliding)), up)
        down = self._extend(p, -1, ceil(sliding - up.proven), down)
        if up.proven + down.proven < sliding:
            up, down = self._reach_optimum(p, 1, up), self._reach_optimum(p, -1, down)
        return up, down

    def _extend(self, p: int, sign: int, level: int, before: Reach) -> Reach:
        """Return a target's reach after a short move of ``level``, if the solver claims there is one."""
        if not before.proven < level <= before.claimed:
            return before
        fractional = self._add_short_move(p, sign, level)
        best = self._best_in_pool(p, sign)
        return replace(before, proven=best.proven, move=best.move, fractional=fractional)

    def _reach_optimum(self, p: int, sign: int, before: Reach) -> Reach:
        """Return the reach of a target after proving the optimum itself: by an integer program for counts,
        else by elimination.
        """
        fractional = False
        if self.task.integer:
            status, integers = self._solve_integer(self.low, self.high, p, sign)
            fractional = status is Ended.OPTIMAL
            exact = None if integers is None else (integers, 1)
        else:
            answer = self._solve_extreme(p, sign)
            if answer.status is not Ended.OPTIMAL:
                return before
            exact = recover_vertex(self.task.block.matrix, self.low, self.high, answer.point * self.scale)
        if exact is not None:
            self.pool.add(*exact)
        best = self._best_in_pool(p, sign)
        return replace(before, proven=best.proven, move=best.move, fractional=fractional)

    def _best_in_pool(self, p: int, sign: int) -> Reach:
        return Reach(*self.pool.find_best(p, sign))

    def _find_integer_move(self, p: int, sign: int, level: int) -> tuple[Ended, Units | None]:
        """Return how the audit's integer program for a move of ``level`` ended, and the move or None."""
        low, high = self.low.copy(), self.high.copy()
        if sign > 0:
            low[p] = level
        else:
            high[p] = -level
        return self._solve_integer(low, high, p, -sign)

    def _solve_integer(self, low: Units, high: Units, p: int, sign: int) -> tuple[Ended, Units | None]:
        """Return how the audit's integer program for the furthest move ended, and the move or None."""
        if self.task.quick:
            return Ended.STOPPED, None
        self.result.programs += 1
        answer = Session(self._make_program(low, high).in_integers()).find_extreme(p, sign, self.run)
        if answer.status is not Ended.OPTIMAL:
            return answer.status, None
        exact = snap(self.task.block.matrix, self.low, self.high, answer.point)
        return answer.status, exact[0] if exact is not None and exact[1] == 1 else None

    def _solve_extreme(self, p: int, sign: int) -> Answer:
        """Return the furthest move of target ``p`` by the audit's linear program, if time is left."""
        if self.run.over:
            return Answer(Ended.STOPPED, float("nan"), np.empty(0))
        self.result.programs += 1
        return self.session.find_extreme(p, sign, self.run)

    def _maximise_capped(self, p: int, sign: int, cap: int) -> Answer:
        """Return the furthest move of target ``p`` up to ``cap`` steps, by the audit's linear program."""
        here = np.array([p])
        low, high = self.low[here], self.high[here]
        self.session.set_bounds(
            here, self._floats(np.maximum(low, -cap)), self._floats(np.minimum(high, cap))
        )
        answer = self._solve_extreme(p, sign)
        self.session.set_bounds(here, self._floats(low), self._floats(high))
        return answer

    # ------------------------------------------------------------------ the session

    @property
    def session(self) -> Session:
        if self._session is None:
            self._session = Session(self._make_program(self.low, self.high))
        return self._session

    def _make_program(self, low: Units, high: Units) -> LinearProgram:
        nothing = np.zeros(self.task.block.matrix.shape[0])
        return LinearProgram.of_equations(self._columns, self._floats(low), self._floats(high), nothing)

    @cached_property
    def short_moves(self) -> ShortMoves:
        return ShortMoves(self.task.block.matrix)

    def _floats(self, units: Units) -> Floats:
        return to_floats(units, 0) / self.scale


def _find_watched(task: BlockTask) -> Mask:
    """Return a mask of the columns of an audited block that insiders know better or attack."""
    watched = np.zeros(task.block.cells.size, dtype=bool)
    watched[task.insiders.columns] = watched[task.insiders.own_targets.columns] = True
    if task.insiders.others.size:
        watched[task.common.columns] = True
    return watched


def _find_bits(down: Reach, up: Reach, lower: int, upper: int, sliding: int, integer: bool) -> int:
    """Return the audit's verdict bits of one target; what only the solver claims is never safe."""
    bits = 0
    unknown = any(reach.optimum is not None and np.isnan(reach.optimum) for reach in (down, up))
    for proven, claimed, level, bit in (
        (down.proven, down.claimed, lower, BELOW_LOWER),
        (up.proven, up.claimed, upper, BELOW_UPPER),
        (up.proven + down.proven, up.claimed + down.claimed, sliding, BELOW_SLIDING),
    ):
        if proven >= level:
            continue
        if unknown:
            bits |= UNPROVEN
        elif claimed < level - 1e-6 * max(1.0, level):
            bits |= bit
        else:
            bits |= FRACTIONAL if integer and (up.fractional or down.fractional) else UNPROVEN
    if bits and not unknown and up.claimed <= 1e-6 and down.claimed <= 1e-6:
        bits |= EXACT
    return bits


def _merge_reaches(before: Reach, now: Reach) -> Reach:
    """Return the further of two proven reaches of a target of the audit, with the optimum known before."""
    if now.proven > before.proven:
        return Reach(now.proven, now.move, before.optimum, before.fractional)
    return before


def _choose_scale(task: BlockTask) -> float:
    """Return the steps per unit of the audit's float programs, so that values suit the solver.

    Counts are not scaled: their moves are integers in the solver too.
    """
    if task.integer:
        return 1.0
    finite = [np.abs(b[np.abs(b) < UNBOUNDED]).max(initial=0) for b in (task.low, task.high)]
    return float(10.0 ** max(0.0, np.ceil(np.log10(max(1.0, float(max(finite))))) - 7.0))
