"""Which attacker problems have to be solved, piece by piece, and what their results say together.

The outsider is asked about every sensitive cell. An insider is asked only where his answer can differ from
the outsider's: in pieces where he knows some hidden cell better, and at targets with levels of his own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tacita.attackers import Insider
from tacita.auditing.piece import BELOW_LOWER, BELOW_SLIDING, BELOW_UPPER, EXACT, Job, Result, Task
from tacita.auditing.region import Piece
from tacita.auditing.witness import Move
from tacita.exact import UNBOUNDED, Cells, Floats, Units
from tacita.problem import Problem, Requirement
from tacita.run import Run


@dataclass(frozen=True, eq=False)
class Answers:
    """Verdict bits for some targets of one attacker, how far (in units, at least) each value can be thought
    to lie above and below the truth, and the moves that show it (-1: none)."""

    attacker: str
    insider: Insider | None
    cells: Cells
    bits: Units
    above: Floats
    below: Floats
    up_moves: Cells
    down_moves: Cells


class Questions:
    """The attackers' targets laid out over the pieces of the region."""

    def __init__(self, problem: Problem, found: Sequence[Piece], low: Units, high: Units) -> None:
        n = len(problem.table)
        self.problem, self.pieces, self.low, self.high = problem, found, low, high
        self.piece_of, self.column_of = np.full(n, -1, dtype=np.int64), np.zeros(n, dtype=np.int64)
        for g, piece in enumerate(found):
            self.piece_of[piece.cells] = g
            self.column_of[piece.cells] = np.arange(piece.cells.size)
        self.in_piece = _grouped(problem.sensitive, self.piece_of[problem.sensitive], len(found))
        self.needs: list[Requirement] = []
        self.jobs: list[list[tuple[Job, Cells]]] = [[] for _ in found]
        self._lay_out(problem.against_everyone(), *(np.zeros(0, dtype=np.int64),) * 3)
        for insider in problem.insiders:
            tight, tight_low, tight_high = self._tighter(insider)
            touched = np.unique(self.piece_of[tight])
            among = np.concatenate([np.zeros(0, np.int64), *(self.in_piece[g] for g in touched)])
            need = self._differing(problem.against(insider, among), touched)
            if need.cells.size:
                self._lay_out(need, tight, tight_low, tight_high)

    def _tighter(self, insider: Insider) -> tuple[Cells, Units, Units]:
        """Hidden cells that an insider knows better than the outsider, with the moves he allows."""
        cells, table = insider.cells, self.problem.table
        truth = table.units[cells]
        own_low = np.maximum(self.low[cells], steps(insider.lower, truth, table.unit, up=False))
        own_high = np.minimum(self.high[cells], steps(insider.upper, truth, table.unit, up=True))
        better = (self.piece_of[cells] >= 0) & ((own_low > self.low[cells]) | (own_high < self.high[cells]))
        return cells[better], own_low[better], own_high[better]

    def _differing(self, need: Requirement, touched: Cells) -> Requirement:
        """The targets whose answer does not follow from the outsider's: another region, or another level."""
        levels, at = self.problem.levels, need.cells
        other = (
            (need.upper != levels.upper[at])
            | (need.lower != levels.lower[at])
            | (need.sliding != levels.sliding[at])
        )
        ask = np.flatnonzero(other | np.isin(self.piece_of[at], touched))
        return Requirement(
            need.attacker, need.insider, at[ask], need.lower[ask], need.upper[ask], need.sliding[ask]
        )

    def _lay_out(self, need: Requirement, tight: Cells, tight_low: Units, tight_high: Units) -> None:
        number, unit = len(self.needs), self.problem.table.unit
        self.needs.append(need)
        where = self.piece_of[need.cells]
        order = np.argsort(where, kind="stable")
        groups, first = np.unique(where[order], return_index=True)
        for g, at in zip(groups.tolist(), np.split(order, first[1:]), strict=True):
            if g < 0:
                continue
            own = self.piece_of[tight] == g
            job = Job(
                number,
                self.column_of[tight[own]],
                tight_low[own],
                tight_high[own],
                self.column_of[need.cells[at]],
                _round_up(need.upper[at], unit),
                _round_up(need.lower[at], unit),
                _round_up(need.sliding[at], unit),
            )
            self.jobs[g].append((job, at))

    def tasks(self, run: Run) -> list[Task]:
        """One task per piece in which anything is asked."""
        return [
            Task(
                piece,
                self.low[piece.cells],
                self.high[piece.cells],
                tuple(job for job, _ in jobs),
                self.problem.table.whole,
                run,
            )
            for piece, jobs in zip(self.pieces, self.jobs, strict=True)
            if jobs
        ]

    def answers(self, results: Sequence[Result]) -> tuple[tuple[Answers, ...], tuple[Move, ...]]:
        """All results put together; targets outside every piece cannot move and are disclosed."""
        unit = self.problem.table.unit
        gathered = [
            Answers(
                need.attacker,
                need.insider,
                need.cells,
                _disclosed(need),
                np.zeros(need.cells.size),
                np.zeros(need.cells.size),
                np.full(need.cells.size, -1, dtype=np.int64),
                np.full(need.cells.size, -1, dtype=np.int64),
            )
            for need in self.needs
        ]
        moves: list[Move] = []
        for jobs, result in zip((jobs for jobs in self.jobs if jobs), results, strict=True):
            for j, (job, at) in enumerate(jobs):
                own = gathered[job.requirement]
                own.bits[at] = result.bits[j]
                own.above[at], own.below[at] = unit * result.above[j], unit * result.below[j]
                own.up_moves[at] = np.where(result.up_move[j] >= 0, result.up_move[j] + len(moves), -1)
                own.down_moves[at] = np.where(result.down_move[j] >= 0, result.down_move[j] + len(moves), -1)
            moves.extend(Move(result.cells[at], numerators, d) for at, numerators, d in result.moves)
        return tuple(gathered), tuple(moves)


def steps(bound: Units, truth: Units, unit: int, up: bool) -> Units:
    """The distance of a bound from the truth in steps of ``unit``, rounded towards the truth; infinite
    bounds stay.
    """
    infinite = np.abs(bound) >= UNBOUNDED
    distance = np.where(infinite, 0, bound - truth)
    return np.where(infinite, bound, distance // unit if up else -(-distance // unit))


def _round_up(level: Units, unit: int) -> Units:
    return -(-level // unit)


def _grouped(cells: Cells, group: Cells, groups: int) -> list[Cells]:
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(groups + 1))
    return [cells[order[a:b]] for a, b in pairwise(starts.tolist())]


def _disclosed(need: Requirement) -> Units:
    """The verdict on targets that cannot move at all: what it stays until an answer replaces it."""
    bits = np.where(need.upper > 0, BELOW_UPPER, 0) | np.where(need.lower > 0, BELOW_LOWER, 0)
    bits |= np.where(need.sliding > 0, BELOW_SLIDING, 0)
    return np.where(bits > 0, bits | EXACT, 0)
