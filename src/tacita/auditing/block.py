"""The attacker problems of one block of the region, for one attacker after the other.

For target ``p`` find moves with ``z_p >= UPL`` and with ``z_p <= -LPL`` that are wide enough for SPL. Each
move found is kept and tried on every later target and attacker before a linear program is solved: one vertex
often proves dozens of cells.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import ceil, isnan

import numpy as np

from tacita.auditing.asked import (
    BELOW_LOWER,
    BELOW_SLIDING,
    BELOW_UPPER,
    EXACT,
    FRACTIONAL,
    UNPROVEN,
    Found,
    Result,
    Targets,
    Task,
)
from tacita.auditing.joint_moves import MANY, WORTHWHILE, is_flat, joint_move
from tacita.auditing.pool import Pool
from tacita.auditing.region import by_columns
from tacita.auditing.short_moves import ShortMoves
from tacita.auditing.witness import recover, snap
from tacita.core.exact import UNBOUNDED, Cells, Floats, Mask, Units, to_floats
from tacita.solvers.highs import Answer, Ended, Session
from tacita.solvers.linear_program import LinearProgram


@dataclass(frozen=True)
class Reach:
    """How far a target can be moved one way: proven steps, by which move, and the solver's optimum if it was
    asked.
    """

    proven: Fraction
    move: int
    optimum: float | None = None
    fractional: bool = False

    @property
    def believed(self) -> float:
        return float(self.proven) if self.optimum is None else max(self.optimum, float(self.proven))


class Examiner:
    """Answers for one attacker of a block after the other, with one hot session and a growing pool of
    moves.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        self.low, self.high = task.low.copy(), task.high.copy()
        self.scale = _scale(task)
        self.pool = Pool(task.block.cells.size, _watched(task), task.whole)
        self.result = Result(task.block.cells, moves=self.pool.moves)
        self._session: Session | None = None
        self._columns = by_columns(task.block)
        # Once a vertex was too crooked for floats to name, this block is asked for short moves first.
        self._rough = False

    def shorten(self) -> None:
        """Give the outsider's proofs short moves: a vertex moves cells all over the block, so that nearly
        every insider would see through it.
        """
        targets, found = self.task.everyone, self.result.found[0]
        proofs = (targets.upper, found.up_move, 1), (targets.lower, found.down_move, -1)
        proven = np.flatnonzero((found.bits == 0) & (targets.sliding <= targets.upper + targets.lower))
        for levels, by, sign in proofs:
            for t in proven[levels[proven] > 0].tolist():
                if self.task.run.over:
                    return
                p, level = int(targets.columns[t]), int(levels[t])
                run, matrix = self.task.run, self.task.block.matrix
                point = self.short_moves.find(p, sign, level, self.low, self.high, run, nearby=True)
                exact = None if point is None else snap(matrix, self.low, self.high, point)
                if exact is None or (self.task.whole and exact[1] > 1):
                    continue
                if sign * int(exact[0][p]) >= level * exact[1]:
                    by[t] = len(self.pool.moves)
                    self.pool.add(*exact)
            by[proven[levels[proven] == 0]] = -1

    def enter(self, tight: Cells, low: Units, high: Units) -> None:
        """Go on with an attacker who lets some columns move less far."""
        if tight.size:
            self.low[tight], self.high[tight] = low, high
            self._bounds_changed(tight)
            self.pool.enter(self.low, self.high)

    def leave(self, tight: Cells) -> None:
        """Go back to the outsider."""
        if tight.size:
            self.low[tight], self.high[tight] = self.task.low[tight], self.task.high[tight]
            self._bounds_changed(tight)
            self.pool.leave()

    def _bounds_changed(self, columns: Cells) -> None:
        if self._session is not None and columns.size:
            self._session.set_bounds(
                columns, self._floats(self.low[columns]), self._floats(self.high[columns])
            )

    def answer(self, who: int, targets: Targets) -> None:
        """Judge the targets of the attacker at hand."""
        self._together(targets)
        n = targets.columns.size
        bits, above, below = np.zeros(n, np.int64), np.zeros(n), np.zeros(n)
        up_move, down_move = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
        for t in range(n):
            bits[t], up, down = self.judged(targets, t)
            above[t], below[t] = up.believed, down.believed
            up_move[t], down_move[t] = up.move, down.move
        self.result.found.append(
            Found(np.full(n, who), targets.columns, bits, above, below, up_move, down_move)
        )

    def judged(self, targets: Targets, t: int) -> tuple[int, Reach, Reach]:
        """Bits of one target, and how far it can be moved up and down."""
        p, upper = int(targets.columns[t]), int(targets.upper[t])
        lower, sliding = int(targets.lower[t]), int(targets.sliding[t])
        far = max(upper, lower, sliding, 1)
        up, down = self._reach(p, 1, upper, far), self._reach(p, -1, lower, far)
        if up.proven + down.proven < sliding:
            up = self._reach(p, 1, max(upper, sliding - int(down.proven)), far, up)
        if up.proven + down.proven < sliding:
            down = self._reach(p, -1, max(lower, sliding - int(up.proven)), far, down)
        if up.proven + down.proven < sliding <= up.believed + down.believed:
            up, down = self._both_ends(p, sliding, up, down)
        return _judge(up, down, upper, lower, sliding, self.task.whole), up, down

    def _together(self, targets: Targets) -> None:
        """Put moves into the pool that prove many targets at once, where there are many."""
        if targets.columns.size < MANY or not is_flat(self._columns):
            return
        matrix = self.task.block.matrix
        for levels, sign in (targets.upper, 1), (targets.lower, -1):
            left, won = self._short_of(targets.columns, levels, sign), 1.0
            while left.size and won >= WORTHWHILE:
                self.result.programs += 1
                point = joint_move(
                    matrix,
                    self._columns,
                    self._floats(self.low),
                    self._floats(self.high),
                    targets.columns[left],
                    self._floats(levels[left]),
                    sign,
                    self.task.run,
                )
                exact = None if point is None else snap(matrix, self.low, self.high, point * self.scale)
                if exact is None or (self.task.whole and exact[1] > 1):
                    return
                self.pool.add(*exact)
                before = left.size
                left = left[self._short_of(targets.columns[left], levels[left], sign)]
                won = 1 - left.size / before

    def _short_of(self, columns: Cells, levels: Units, sign: int) -> Cells:
        """Which columns no move of the pool carries as far as their levels."""
        pairs = zip(columns.tolist(), levels.tolist(), strict=True)
        return np.flatnonzero([self.pool.best(p, sign)[0] < level for p, level in pairs])

    # ------------------------------------------------------------------ one direction of one target

    def _reach(self, p: int, sign: int, level: int, far: int, before: Reach | None = None) -> Reach:
        """A proven move of at least ``level``, or as far as can be proven, with the solver's optimum.

        A target without any bound runs away; ``far`` is as good as infinity for it.
        """
        best = self._from_pool(p, sign)
        if best.proven >= level or (before is not None and before.optimum is not None):
            return best if before is None else _merge(before, best)
        optimum = None
        if not self._rough:
            optimum = self._maximise(p, sign, far)
            best = self._from_pool(p, sign)
            if best.proven >= level or optimum < level * (1 - 1e-9):
                return Reach(best.proven, best.move, optimum)
            self._rough = True
        fractional = self._short_move(p, sign, level)
        best = self._from_pool(p, sign)
        if best.proven < level and optimum is None:
            optimum = self._maximise(p, sign, far)
        elif best.proven >= level and optimum is not None and isnan(optimum):
            optimum = None
        return Reach(best.proven, best.move, optimum, fractional)

    def _maximise(self, p: int, sign: int, far: int) -> float:
        """The solver's optimum; its vertex goes into the pool if floats tell which exact point it is. NaN:
        not settled.
        """
        answer = self._ask(p, sign)
        runs_away = answer.status is Ended.UNBOUNDED
        if runs_away:
            answer = self._ask_capped(p, sign, far)
        if answer.status is not Ended.OPTIMAL:
            return float("nan")
        exact = snap(self.task.block.matrix, self.low, self.high, answer.point * self.scale)
        if exact is not None:
            self.pool.add(*exact)
        return float("inf") if runs_away else sign * answer.value * self.scale

    def _short_move(self, p: int, sign: int, level: int) -> bool:
        """Put a move of few cells into the pool, if there is one; True if counts admit only a fractional
        one.
        """
        if self.task.run.over:
            return False
        self.result.programs += 1
        point = self.short_moves.find(p, sign, level, self.low, self.high, self.task.run)
        if point is None:
            return False
        matrix = self.task.block.matrix
        exact = snap(matrix, self.low, self.high, point) or recover(
            matrix, self.low, self.high, point, {p: sign * level}
        )
        if exact is not None:
            self.pool.add(*exact)
        if not self.task.whole or (exact is not None and exact[1] == 1):
            return False
        status, whole = self._whole_move(p, sign, level)
        if whole is not None:
            self.pool.add(whole, 1)
        return status is Ended.INFEASIBLE

    def _both_ends(self, p: int, sliding: int, up: Reach, down: Reach) -> tuple[Reach, Reach]:
        """Up and down as far as it takes, where only the two together are wide enough."""
        up = self._further(p, 1, int(min(up.believed, sliding)), up)
        down = self._further(p, -1, ceil(sliding - up.proven), down)
        if up.proven + down.proven < sliding:
            up, down = self._far_end(p, 1, up), self._far_end(p, -1, down)
        return up, down

    def _further(self, p: int, sign: int, level: int, before: Reach) -> Reach:
        """By a short move of ``level``, if the solver believes that there is one."""
        if not before.proven < level <= before.believed:
            return before
        fractional = self._short_move(p, sign, level)
        best = self._from_pool(p, sign)
        return replace(before, proven=best.proven, move=best.move, fractional=fractional)

    def _far_end(self, p: int, sign: int, before: Reach) -> Reach:
        """The optimum itself: by integer programming for counts, else the vertex by elimination."""
        fractional = False
        if self.task.whole:
            status, whole = self._whole_program(self.low, self.high, p, sign)
            fractional = status is Ended.OPTIMAL
            exact = None if whole is None else (whole, 1)
        else:
            answer = self._ask(p, sign)
            if answer.status is not Ended.OPTIMAL:
                return before
            exact = recover(self.task.block.matrix, self.low, self.high, answer.point * self.scale)
        if exact is not None:
            self.pool.add(*exact)
        best = self._from_pool(p, sign)
        return replace(before, proven=best.proven, move=best.move, fractional=fractional)

    def _from_pool(self, p: int, sign: int) -> Reach:
        return Reach(*self.pool.best(p, sign))

    def _whole_move(self, p: int, sign: int, level: int) -> tuple[Ended, Units | None]:
        """A whole-number move of at least ``level``, by integer programming, or the news that there is
        none.
        """
        low, high = self.low.copy(), self.high.copy()
        if sign > 0:
            low[p] = level
        else:
            high[p] = -level
        return self._whole_program(low, high, p, -sign)

    def _whole_program(self, low: Units, high: Units, p: int, sign: int) -> tuple[Ended, Units | None]:
        """The whole-number move within ``low`` and ``high`` that carries ``p`` furthest."""
        self.result.programs += 1
        answer = Session(self._moves_within(low, high).in_integers()).extreme(p, sign, self.task.run)
        if answer.status is not Ended.OPTIMAL:
            return answer.status, None
        exact = snap(self.task.block.matrix, self.low, self.high, answer.point)
        return answer.status, exact[0] if exact is not None and exact[1] == 1 else None

    def _ask(self, p: int, sign: int) -> Answer:
        if self.task.run.over:
            return Answer(Ended.STOPPED, float("nan"), np.empty(0))
        self.result.programs += 1
        return self.session.extreme(p, sign, self.task.run)

    def _ask_capped(self, p: int, sign: int, cap: int) -> Answer:
        here = np.array([p])
        low, high = self.low[here], self.high[here]
        self.session.set_bounds(
            here, self._floats(np.maximum(low, -cap)), self._floats(np.minimum(high, cap))
        )
        answer = self._ask(p, sign)
        self.session.set_bounds(here, self._floats(low), self._floats(high))
        return answer

    # ------------------------------------------------------------------ the session

    @property
    def session(self) -> Session:
        if self._session is None:
            self._session = Session(self._moves_within(self.low, self.high))
        return self._session

    def _moves_within(self, low: Units, high: Units) -> LinearProgram:
        nothing = np.zeros(self.task.block.matrix.shape[0])
        return LinearProgram.of_equations(self._columns, self._floats(low), self._floats(high), nothing)

    @cached_property
    def short_moves(self) -> ShortMoves:
        return ShortMoves(self.task.block.matrix, self._columns)

    def _floats(self, units: Units) -> Floats:
        return to_floats(units, 0) / self.scale


def _watched(task: Task) -> Mask:
    """Columns that insiders know better or attack."""
    watched = np.zeros(task.block.cells.size, dtype=bool)
    watched[task.inside.columns] = watched[task.inside.aims.columns] = True
    if task.inside.others.size:
        watched[task.everyone.columns] = True
    return watched


def _judge(up: Reach, down: Reach, upper: int, lower: int, sliding: int, whole: bool) -> int:
    """Bits for one target. What the solver believes but no exact move shows is unproven, never safe."""
    bits = 0
    unknown = (up.optimum is not None and np.isnan(up.optimum)) or (
        down.optimum is not None and np.isnan(down.optimum)
    )
    for proven, believed, level, bit in (
        (up.proven, up.believed, upper, BELOW_UPPER),
        (down.proven, down.believed, lower, BELOW_LOWER),
        (up.proven + down.proven, up.believed + down.believed, sliding, BELOW_SLIDING),
    ):
        if proven >= level:
            continue
        if unknown:
            bits |= UNPROVEN
        elif believed < level - 1e-6 * max(1.0, level):
            bits |= bit
        else:
            bits |= FRACTIONAL if whole and (up.fractional or down.fractional) else UNPROVEN
    if bits and not unknown and up.believed <= 1e-6 and down.believed <= 1e-6:
        bits |= EXACT
    return bits


def _merge(before: Reach, now: Reach) -> Reach:
    if now.proven > before.proven:
        return Reach(now.proven, now.move, before.optimum, before.fractional)
    return before


def _scale(task: Task) -> float:
    """Steps per unit of the float program: large values are shrunk so that their numbers stay within a
    solver's comfort.

    Counts are never shrunk: their moves are whole numbers in the solver too.
    """
    if task.whole:
        return 1.0
    finite = [np.abs(b[np.abs(b) < UNBOUNDED]).max(initial=0) for b in (task.low, task.high)]
    return float(10.0 ** max(0.0, np.ceil(np.log10(max(1.0, float(max(finite))))) - 7.0))
