"""One block of the region: the outsider first, then the insiders who see through what satisfies them.

An insider's region is a part of the outsider's. So a move that shows the outsider a level as reached shows it
to an insider too, unless it changes a cell further than they think possible. All moves are held against all
insiders at once. Where several see through the proof of a target, a move is looked for that nobody can rule
out: it stays within what all of them know together. Only those who are left are asked one by one.
"""

from __future__ import annotations

import numpy as np

from tacita.attackers.sight import Sight
from tacita.auditing.asked import OUTSIDER, Found, Result, Task
from tacita.auditing.block import Examiner
from tacita.core.exact import Cells, Mask, Units

FEW_INSIDERS = 5
"""So many are asked without short proofs being looked for first."""


def audit_block(task: Task) -> Result:
    """Answer for all attackers of a block."""
    examiner = Examiner(task)
    examiner.answer(OUTSIDER, task.everyone)
    people = np.unique(np.concatenate([task.inside.who, task.inside.aiming]))
    if people.size:
        if people.size > FEW_INSIDERS:
            examiner.shorten()
        _Insiders(examiner).ask()
    return examiner.result


class _Insiders:
    """The insiders of a block, with the outsider's proofs before them."""

    def __init__(self, examiner: Examiner) -> None:
        self.examiner, self.task, self.inside = examiner, examiner.task, examiner.task.inside
        self.n = self.task.block.cells.size
        inside = self.inside
        self._sight = Sight(inside.who, inside.columns, inside.low, inside.high, self.n)
        self._spared = np.unique(inside.spared * self.n + inside.spared_columns)

    def ask(self) -> None:
        """Answer for everyone who needs an answer of their own."""
        who, target = self._seeing_through()
        if self._convince_all(target):
            who, target = self._seeing_through()
        open_aims = self._settle_aims()
        aiming = self.inside.aiming[open_aims]
        everyone = self.task.everyone
        for k in np.unique(np.concatenate([who, aiming])).tolist():
            rows = self.inside.rows_of(k)
            own = self.inside.aims.take(open_aims[aiming == k])
            again = everyone.take(target[who == k])
            tight = self.inside.columns[rows]
            self.examiner.enter(tight, self.inside.low[rows], self.inside.high[rows])
            self.examiner.answer(k, own + again)
            self.examiner.leave(tight)

    def _seen(self, moves: Cells) -> Cells:
        """Pairs ``insider * size + move`` where an insider can rule out one of some moves, ascending."""
        number, columns, below, above = self.examiner.pool.entries()
        used = np.isin(number, moves)
        who, move = self._sight.through(number[used], columns[used], below[used], above[used])
        return np.unique(who * len(self.examiner.pool.moves) + move)

    def _seeing_through(self) -> tuple[Cells, Cells]:
        """Pairs of insider and outsider's target where the insider attacks the target too and can rule out
        a move of its proof. Where the outsider succeeds insiders do too, and are not asked.
        """
        proof = self.examiner.result.found[0]
        proven = np.flatnonzero(proof.bits == 0)
        size = len(self.examiner.pool.moves)
        moves = np.concatenate([proof.up_move[proven], proof.down_move[proven]])
        targets = np.tile(proven, 2)[moves >= 0]
        moves = moves[moves >= 0]
        seen = self._seen(moves)
        who, move = seen // max(size, 1), seen % max(size, 1)
        order = np.argsort(moves, kind="stable")
        first = np.searchsorted(moves[order], move, "left")
        sizes = np.searchsorted(moves[order], move, "right") - first
        rows = np.arange(sizes.sum()) + np.repeat(first - (np.cumsum(sizes) - sizes), sizes)
        n = self.task.everyone.columns.size
        pairs = np.unique(np.repeat(who, sizes) * n + targets[order[rows]])
        who, target = pairs // max(n, 1), pairs % max(n, 1)
        asked = np.isin(who, self.inside.others)
        asked &= ~np.isin(who * self.n + self.task.everyone.columns[target], self._spared)
        return who[asked], target[asked]

    def _convince_all(self, target: Cells) -> bool:
        """Look for proofs that no insider can rule out, for targets whose proof several of them see through;
        whether any was found.
        """
        proof, found = self.examiner.result.found[0], False
        times = np.bincount(target, minlength=proof.bits.size)
        if not (times > 1).any():
            return False
        inside, everyone, examiner = self.inside, self.task.everyone, self.examiner
        mine = np.isin(inside.who, inside.others)
        low, high = self._together(mine)
        spared = np.isin(inside.who * self.n + inside.columns, self._spared)
        # Who does not attack a target with everyone's levels may know it as well as they like.
        target_low, target_high = self._together(mine & ~spared)
        tight = np.unique(inside.columns[mine])
        for t in np.flatnonzero(times > 1).tolist():
            if self.task.run.over:
                break
            p = int(everyone.columns[t])
            own_low, own_high = low.copy(), high.copy()
            own_low[p], own_high[p] = target_low[p], target_high[p]
            examiner.enter(tight, own_low[tight], own_high[tight])
            bits, up, down = examiner.judged(everyone, t)
            if not bits:
                proof.up_move[t], proof.down_move[t] = up.move, down.move
                found = True
        examiner.leave(tight)
        return found

    def _together(self, rows: Mask) -> tuple[Units, Units]:
        """How far columns may move for someone who knows all that stands in some rows."""
        low, high, inside = self.task.low.copy(), self.task.high.copy(), self.inside
        np.maximum.at(low, inside.columns[rows], inside.low[rows])
        np.minimum.at(high, inside.columns[rows], inside.high[rows])
        return low, high

    def _settle_aims(self) -> Cells:
        """Answer for targets with levels of their own where the outsider's moves reach these, too; return the
        rows of ``aims`` that are left.
        """
        inside, proof, moves = self.inside, self.examiner.result.found[0], self.examiner.pool.moves
        aims, columns = inside.aims, self.task.everyone.columns
        at = np.minimum(np.searchsorted(columns, aims.columns), columns.size - 1)
        used = np.concatenate([proof.up_move, proof.down_move])
        seen = self._seen(used[used >= 0])
        reached = []
        for sign, by in ((1, proof.up_move), (-1, proof.down_move)):
            pairs = zip(by.tolist(), columns.tolist(), strict=True)
            carried = np.array([_carried(moves, m, p, sign) for m, p in pairs], dtype=np.int64)
            ruled_out = np.isin(inside.aiming * len(moves) + by[at], seen)
            reached.append(np.where((by[at] >= 0) & ~ruled_out, carried[at], 0))
        up, down = reached
        met = (up >= aims.upper) & (down >= aims.lower) & (up + down >= aims.sliding)
        rows = np.flatnonzero(met & (columns[at] == aims.columns))
        self.examiner.result.found.append(
            Found(
                inside.aiming[rows],
                aims.columns[rows],
                np.zeros(rows.size, dtype=np.int64),
                up[rows].astype(np.float64),
                down[rows].astype(np.float64),
                np.where(up[rows] > 0, proof.up_move[at[rows]], -1),
                np.where(down[rows] > 0, proof.down_move[at[rows]], -1),
            )
        )
        return np.setdiff1d(np.arange(met.size), rows)


def _carried(moves: list[tuple[Cells, Units, int]], move: int, column: int, sign: int) -> int:
    """By how many integer steps a move carries a column in a direction, at least."""
    if move < 0:
        return 0
    columns, numerators, denominator = moves[move]
    at = int(np.searchsorted(columns, column))
    if at == columns.size or columns[at] != column:
        return 0
    return sign * int(numerators[at]) // denominator
