"""The audit of one block of the region: the outsider first, then insiders who can rule out a proof.

An insider's region is a part of the outsider's. So a move that proves a level against the outsider proves it
against an insider too, unless it changes a cell further than they think possible. All moves are compared with
the bounds of all insiders at once. Where several can rule out the proof of a target, a move within what they
know together is searched for, which none of them can rule out. Only those who are left are judged one by one.
"""

from __future__ import annotations

import numpy as np

from tacita.attackers.insider_bounds import InsiderBounds
from tacita.attackers.insider_list import list_ranges
from tacita.auditing.block_tasks import OUTSIDER, BlockResult, BlockTask, BlockVerdicts
from tacita.auditing.examiner import Examiner
from tacita.core.exact import Cells, Mask, Units
from tacita.core.run import Run

FEW_INSIDERS = 5
"""For more insiders than these short proofs are searched for first."""


def audit_block(task: BlockTask, run: Run) -> BlockResult:
    """Return the audit's verdicts on all attackers' targets in a block, with the moves that prove them."""
    examiner = Examiner(task, run)
    examiner.judge_all(OUTSIDER, task.common)
    people = np.unique(np.concatenate([task.insiders.who, task.insiders.own_who]))
    if people.size:
        if people.size > FEW_INSIDERS:
            examiner.shorten_proofs()
        _BlockInsiders(examiner).judge_all()
    return examiner.result


class _BlockInsiders:
    """The insiders of a block, after the outsider's targets were judged."""

    def __init__(self, examiner: Examiner) -> None:
        self.examiner, self.task, self.insiders = examiner, examiner.task, examiner.task.insiders
        self.n = self.task.block.cells.size
        insiders = self.insiders
        self._bounds = InsiderBounds(insiders.who, insiders.columns, insiders.low, insiders.high, self.n)
        self._spared = np.unique(insiders.spared * self.n + insiders.spared_columns)

    def judge_all(self) -> None:
        """Add the audit's verdicts on targets of insiders that the outsider's proofs do not decide."""
        who, target = self._find_unproven()
        left = self._prove_jointly(who, target)
        who, target = who[left], target[left]
        own_left = self._judge_own_targets()
        own_who = self.insiders.own_who[own_left]
        for k in np.unique(np.concatenate([who, own_who])).tolist():
            rows = self.insiders.find_rows_of(k)
            own = self.insiders.own_targets.take(own_left[own_who == k])
            again = self.task.common.take(target[who == k])
            tight = self.insiders.columns[rows]
            self.examiner.enter(tight, self.insiders.low[rows], self.insiders.high[rows])
            self.examiner.judge_all(k, own + again)
            self.examiner.leave(tight)

    def _find_ruled_out(self, moves: Cells) -> Cells:
        """Return pairs ``insider * size + move`` where an insider can rule out the move, ascending."""
        number, columns, below, above = self.examiner.pool.list_changes()
        used = np.isin(number, moves)
        who, move = self._bounds.find_ruled_out(number[used], columns[used], below[used], above[used])
        return np.unique(who * len(self.examiner.pool.moves) + move)

    def _find_unproven(self) -> tuple[Cells, Cells]:
        """Return pairs of insider and outsider's target where the insider attacks the target too and can rule
        out a move of its proof.

        Targets that are unsafe against the outsider are unsafe against insiders too, and are left out.
        """
        proof = self.examiner.result.verdicts[0]
        proven = np.flatnonzero(proof.bits == 0)
        size = len(self.examiner.pool.moves)
        moves = np.concatenate([proof.up_move[proven], proof.down_move[proven]])
        targets = np.tile(proven, 2)[moves >= 0]
        moves = moves[moves >= 0]
        who, move = np.divmod(self._find_ruled_out(moves), max(size, 1))
        order = np.argsort(moves, kind="stable")
        first = np.searchsorted(moves[order], move, "left")
        sizes = np.searchsorted(moves[order], move, "right") - first
        rows = list_ranges(first, sizes)
        n = self.task.common.columns.size
        pairs = np.unique(np.repeat(who, sizes) * n + targets[order[rows]])
        who, target = np.divmod(pairs, max(n, 1))
        attack = np.isin(who, self.insiders.others)
        attack &= ~np.isin(who * self.n + self.task.common.columns[target], self._spared)
        return who[attack], target[attack]

    def _prove_jointly(self, who: Cells, target: Cells) -> Mask:
        """Add verdicts on targets that moves within what several insiders know together prove against all of
        them; return a mask of the pairs that are left.

        Where there is no such move for a group, each half of it is tried.
        """
        common, examiner = self.task.common, self.examiner
        left, proofs = np.ones(who.size, dtype=bool), list[BlockVerdicts]()
        order = np.argsort(target, kind="stable")
        groups = np.split(order, np.flatnonzero(np.diff(target[order])) + 1)
        waiting = [group for group in groups if group.size > 1]
        while waiting and not examiner.run.over:
            group = waiting.pop()
            t = int(target[group[0]])
            tight, low, high = self._find_joint_bounds(who[group])
            examiner.enter(tight, low, high)
            bits, down, up = examiner.judge(common, t)
            examiner.leave(tight)
            if bits:
                halves = group[: group.size // 2], group[group.size // 2 :]
                waiting += [half for half in halves if half.size > 1]
                continue
            left[group] = False
            each = (common.columns[t], bits, down.claimed, up.claimed, down.move, up.move)
            proofs.append(BlockVerdicts(who[group], *(np.full(group.size, value) for value in each)))
        examiner.result.verdicts += proofs
        return left

    def _find_joint_bounds(self, who: Cells) -> tuple[Cells, Units, Units]:
        """Return the columns of which some insiders know more than the outsider, and the bounds of these to
        someone who knows what all of them know.
        """
        insiders = self.insiders
        rows = np.concatenate([np.arange(s.start, s.stop) for s in map(insiders.find_rows_of, who.tolist())])
        tight, at = np.unique(insiders.columns[rows], return_inverse=True)
        low, high = self.task.low[tight], self.task.high[tight]
        np.maximum.at(low, at, insiders.low[rows])
        np.minimum.at(high, at, insiders.high[rows])
        return tight, low, high

    def _judge_own_targets(self) -> Cells:
        """Add verdicts on insiders' own targets whose levels the outsider's moves prove too; return the rows
        of ``own_targets`` that are left.
        """
        insiders, proof, moves = self.insiders, self.examiner.result.verdicts[0], self.examiner.pool.moves
        own, columns = insiders.own_targets, self.task.common.columns
        if not columns.size:
            return np.arange(own.columns.size)
        at = np.minimum(np.searchsorted(columns, own.columns), columns.size - 1)
        used = np.concatenate([proof.down_move, proof.up_move])
        ruled_out = self._find_ruled_out(used[used >= 0])
        reached = []
        for sign, by in ((-1, proof.down_move), (1, proof.up_move)):
            pairs = zip(by.tolist(), columns.tolist(), strict=True)
            steps = np.array([_count_steps(moves, m, p, sign) for m, p in pairs], dtype=np.int64)
            serves = (by[at] >= 0) & ~np.isin(insiders.own_who * len(moves) + by[at], ruled_out)
            reached.append(np.where(serves, steps[at], 0))
        down, up = reached
        met = (down >= own.lower) & (up >= own.upper) & (down + up >= own.sliding)
        rows = np.flatnonzero(met & (columns[at] == own.columns))
        self.examiner.result.verdicts.append(
            BlockVerdicts(
                insiders.own_who[rows],
                own.columns[rows],
                np.zeros(rows.size, dtype=np.int64),
                down[rows].astype(np.float64),
                up[rows].astype(np.float64),
                np.where(down[rows] > 0, proof.down_move[at[rows]], -1),
                np.where(up[rows] > 0, proof.up_move[at[rows]], -1),
            )
        )
        return np.setdiff1d(np.arange(met.size), rows)


def _count_steps(moves: list[tuple[Cells, Units, int]], move: int, column: int, sign: int) -> int:
    """Return the integer steps, rounded down, a proving move (-1: none) takes a cell in a direction."""
    if move < 0:
        return 0
    columns, numerators, denominator = moves[move]
    at = int(np.searchsorted(columns, column))
    if at == columns.size or columns[at] != column:
        return 0
    return sign * int(numerators[at]) // denominator
