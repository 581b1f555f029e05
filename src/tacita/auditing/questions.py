"""Which attacker problems have to be solved, piece by piece, and what their results say together.

The outsider is asked about every sensitive cell. An insider is asked only where his answer can differ from
the outsider's: at targets with levels of his own, and at the outsider's targets whose proof he can see
through because it moves a cell that he knows better.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tacita.attackers import Insider
from tacita.auditing.piece import (
    BELOW_LOWER,
    BELOW_SLIDING,
    BELOW_UPPER,
    EXACT,
    Job,
    Result,
    Targets,
    Task,
)
from tacita.auditing.region import Piece
from tacita.auditing.witness import Move
from tacita.exact import UNBOUNDED, Cells, Floats, Mask, Units
from tacita.problem import Problem, Requirement
from tacita.run import Run

NONE = np.zeros(0, dtype=np.int64)
NO_TARGETS = Targets(NONE, NONE, NONE, NONE)


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
        everyone = problem.against_everyone()
        self.needs = [everyone]
        targets = self._by_piece(everyone)
        self.outsiders = [
            Job(0, NONE, NONE, NONE, targets.get(g, NO_TARGETS), False, NONE) for g in range(len(found))
        ]
        self.insiders: list[list[Job]] = [[] for _ in found]
        for insider in problem.insiders:
            self._lay_out(insider)

    def _lay_out(self, insider: Insider) -> None:
        """His own targets wherever they are, and the outsider's in the pieces where he knows a cell
        better.
        """
        need = self.problem.against(insider, NONE)
        targets = self._by_piece(need)
        tight, tight_low, tight_high = self._tighter(insider)
        others = insider.targets is None or insider.also_others
        where = self.piece_of[tight]
        spared = np.concatenate([insider.own_targets()[0], insider.cells[insider.knows_exactly()]])
        self.needs.append(need)
        for g in sorted({*targets, *(where.tolist() if others else ())}):
            own = where == g
            job = Job(
                len(self.needs) - 1,
                self.column_of[tight[own]],
                tight_low[own],
                tight_high[own],
                targets.get(g, NO_TARGETS),
                others,
                self.column_of[spared[self.piece_of[spared] == g]],
            )
            self.insiders[g].append(job)

    def _by_piece(self, need: Requirement) -> dict[int, Targets]:
        """Targets with their levels in steps; those outside every piece cannot move and are left out."""
        unit = self.problem.table.unit
        where = self.piece_of[need.cells]
        order = np.argsort(where, kind="stable")
        groups, first = np.unique(where[order], return_index=True)
        bounds = pairwise([*first.tolist(), order.size])
        return {
            g: Targets(
                self.column_of[need.cells[at]],
                *(-(-level[at] // unit) for level in (need.upper, need.lower, need.sliding)),
            )
            for g, at in ((g, order[a:b]) for g, (a, b) in zip(groups.tolist(), bounds, strict=True))
            if g >= 0
        }

    def _tighter(self, insider: Insider) -> tuple[Cells, Units, Units]:
        """Hidden cells that an insider knows better than the outsider, with the moves he allows."""
        cells, table = insider.cells, self.problem.table
        truth = table.units[cells]
        own_low = np.maximum(self.low[cells], steps(insider.lower, truth, table.unit, up=False))
        own_high = np.minimum(self.high[cells], steps(insider.upper, truth, table.unit, up=True))
        better = (self.piece_of[cells] >= 0) & ((own_low > self.low[cells]) | (own_high < self.high[cells]))
        return cells[better], own_low[better], own_high[better]

    def tasks(self, run: Run) -> list[Task]:
        """One task per piece in which anything is asked."""
        whole = self.problem.table.whole
        return [
            Task(piece, self.low[piece.cells], self.high[piece.cells], (everyone, *insiders), whole, run)
            for piece, everyone, insiders in zip(self.pieces, self.outsiders, self.insiders, strict=True)
            if everyone.targets.columns.size or insiders
        ]

    def answers(
        self, tasks: Sequence[Task], results: Sequence[Result]
    ) -> tuple[tuple[Answers, ...], tuple[Move, ...]]:
        """All results put together; targets outside every piece cannot move and are disclosed."""
        unit = self.problem.table.unit
        gathered = [[_disclosed(need, self.piece_of[need.cells] < 0)] for need in self.needs]
        moves: list[Move] = []
        for task, result in zip(tasks, results, strict=True):
            for j, job in enumerate(task.jobs):
                need = self.needs[job.requirement]
                answered = Answers(
                    need.attacker,
                    need.insider,
                    result.cells[result.targets[j]],
                    result.bits[j],
                    unit * result.above[j],
                    unit * result.below[j],
                    np.where(result.up_move[j] >= 0, result.up_move[j] + len(moves), -1),
                    np.where(result.down_move[j] >= 0, result.down_move[j] + len(moves), -1),
                )
                gathered[job.requirement].append(answered)
            moves.extend(Move(result.cells[at], numerators, d) for at, numerators, d in result.moves)
        joined = [_joined(parts) for parts in gathered]
        return tuple(a for k, a in enumerate(joined) if k == 0 or a.cells.size), tuple(moves)


def steps(bound: Units, truth: Units, unit: int, up: bool) -> Units:
    """The distance of a bound from the truth in steps of ``unit``, rounded towards the truth; infinite
    bounds stay.
    """
    infinite = np.abs(bound) >= UNBOUNDED
    distance = np.where(infinite, 0, bound - truth)
    return np.where(infinite, bound, distance // unit if up else -(-distance // unit))


def _disclosed(need: Requirement, stuck: Mask) -> Answers:
    """The verdict on targets that cannot move at all."""
    upper, lower, sliding = need.upper[stuck], need.lower[stuck], need.sliding[stuck]
    missed = np.where(upper > 0, BELOW_UPPER, 0) | np.where(lower > 0, BELOW_LOWER, 0)
    missed |= np.where(sliding > 0, BELOW_SLIDING, 0)
    bits = np.where(missed > 0, missed | EXACT, 0)
    nothing, none = np.zeros(bits.size), np.full(bits.size, -1, dtype=np.int64)
    return Answers(need.attacker, need.insider, need.cells[stuck], bits, nothing, nothing, none, none)


def _joined(parts: Sequence[Answers]) -> Answers:
    """Answers of one attacker, in the order of the cells."""
    order = np.argsort(np.concatenate([part.cells for part in parts]), kind="stable")
    columns = ("cells", "bits", "above", "below", "up_moves", "down_moves")
    together = (np.concatenate([getattr(part, name) for part in parts])[order] for name in columns)
    return Answers(parts[0].attacker, parts[0].insider, *together)
