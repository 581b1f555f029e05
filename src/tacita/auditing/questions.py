"""Which attacker problems have to be solved, block by block, and what their results say together.

The outsider is asked about every sensitive cell. An insider is asked only where their answer can differ from
the outsider's: at targets with levels of their own, and at the outsider's targets whose proof they can see
through because it moves a cell that they know better.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tacita.auditing.asked import (
    BELOW_LOWER,
    BELOW_SLIDING,
    BELOW_UPPER,
    EXACT,
    OUTSIDER,
    Knowledge,
    Result,
    Targets,
    Task,
)
from tacita.auditing.region import Block
from tacita.auditing.witness import Move
from tacita.core.attacker import Insider
from tacita.core.exact import UNBOUNDED, Cells, Floats, Units
from tacita.core.run import Run
from tacita.problem.problem import Problem


@dataclass(frozen=True, eq=False)
class Answers:
    """Verdict bits for some targets of one attacker (``number`` -1: the outsider), how far (in units, at
    least) each value can be thought to lie above and below the truth, and the moves that show it (-1: none).
    """

    attacker: str
    number: int
    insider: Insider | None
    cells: Cells
    bits: Units
    above: Floats
    below: Floats
    up_moves: Cells
    down_moves: Cells


class Questions:
    """The attackers' targets laid out over the blocks of the region."""

    def __init__(self, problem: Problem, found: Sequence[Block], low: Units, high: Units) -> None:
        n = len(problem.table)
        self.problem, self.blocks, self.low, self.high = problem, found, low, high
        # What belongs to no block comes last.
        self.block_of, self.column_of = np.full(n, len(found), dtype=np.int64), np.zeros(n, dtype=np.int64)
        for g, block in enumerate(found):
            self.block_of[block.cells] = g
            self.column_of[block.cells] = np.arange(block.cells.size)

    def tasks(self, run: Run) -> list[Task]:
        """One task per block in which anything is asked."""
        everyone = self.problem.against_everyone()
        order, edges = self._by_block(everyone.cells)
        levels = np.array([everyone.upper, everyone.lower, everyone.sliding])
        tasks = []
        for g, (block, inside) in enumerate(zip(self.blocks, self._insiders(), strict=True)):
            at = order[edges[g] : edges[g + 1]]
            targets = self._targets(everyone.cells[at], levels[:, at])
            if targets.columns.size or inside.aiming.size:
                low, high = self.low[block.cells], self.high[block.cells]
                tasks.append(Task(block, low, high, targets, inside, self.problem.table.whole, run))
        return tasks

    def _by_block(self, cells: Cells) -> tuple[Cells, Cells]:
        """Positions in the order of the blocks of their cells, and where each block begins."""
        where = self.block_of[cells]
        order = np.argsort(where, kind="stable")
        return order, np.searchsorted(where[order], np.arange(len(self.blocks) + 1))

    def _targets(self, cells: Cells, levels: Units) -> Targets:
        """Cells of one block with their levels (upper, lower, sliding) in steps."""
        return Targets(self.column_of[cells], *(-(-level // self.problem.table.unit) for level in levels))

    def _insiders(self) -> Iterator[Knowledge]:
        """Block by block what insiders know better than the outsider, and the targets of their own."""
        insiders, table = self.problem.insiders, self.problem.table
        cells, truth = insiders.cells, table.units[insiders.cells]
        low = np.maximum(self.low[cells], steps(insiders.lower, truth, table.unit, up=False))
        high = np.minimum(self.high[cells], steps(insiders.upper, truth, table.unit, up=True))
        better = np.flatnonzero((low > self.low[cells]) | (high < self.high[cells]))
        known, known_edges = self._by_block(cells[better])
        known = better[known]
        aims = np.flatnonzero(insiders.levels.any(axis=0))
        aimed, aim_edges = self._by_block(insiders.targets[aims])
        aimed = aims[aimed]
        spared_who, spared_cells = insiders.spared
        spared, spared_edges = self._by_block(spared_cells)
        lower, upper, sliding = insiders.levels
        for g in range(len(self.blocks)):
            rows, own, not_his = (
                order[edges[g] : edges[g + 1]]
                for order, edges in ((known, known_edges), (aimed, aim_edges), (spared, spared_edges))
            )
            who = insiders.owner[rows]
            yield Knowledge(
                who,
                self.column_of[cells[rows]],
                low[rows],
                high[rows],
                insiders.target_owner[own],
                self._targets(insiders.targets[own], np.array([upper[own], lower[own], sliding[own]])),
                np.unique(who[insiders.others[who]]),
                spared_who[not_his],
                self.column_of[spared_cells[not_his]],
            )

    def answers(
        self, tasks: Sequence[Task], results: Sequence[Result]
    ) -> tuple[tuple[Answers, ...], tuple[Move, ...]]:
        """All results put together; targets outside every block cannot move and are disclosed."""
        unit, insiders = self.problem.table.unit, self.problem.insiders
        parts, moves = [self._disclosed()], list[Move]()
        for result in results:
            for found in result.found:
                up, down = (np.where(by >= 0, by + len(moves), -1) for by in (found.up_move, found.down_move))
                cells = result.cells[found.columns]
                parts.append((found.who, cells, found.bits, unit * found.above, unit * found.below, up, down))
            moves.extend(Move(result.cells[at], numerators, d) for at, numerators, d in result.moves)
        who, cells, bits, above, below, up, down = map(np.concatenate, zip(*parts, strict=True))
        order = np.lexsort((cells, who))
        people = np.unique(np.append(who, OUTSIDER))
        edges = [*np.searchsorted(who[order], people).tolist(), order.size]
        answers = []
        for k, (a, b) in zip(people.tolist(), pairwise(edges), strict=True):
            at = order[a:b]
            insider = None if k == OUTSIDER else insiders[k]
            name = self.problem.outsider.name if insider is None else insider.name
            answers.append(
                Answers(name, k, insider, cells[at], bits[at], above[at], below[at], up[at], down[at])
            )
        return tuple(answers), tuple(moves)

    def _disclosed(self) -> tuple[Cells, Cells, Units, Floats, Floats, Cells, Cells]:
        """The verdict on targets that cannot move at all."""
        everyone, insiders = self.problem.against_everyone(), self.problem.insiders
        common = np.array([everyone.lower, everyone.upper, everyone.sliding])
        who = np.concatenate([np.full(everyone.cells.size, OUTSIDER), insiders.target_owner])
        cells = np.concatenate([everyone.cells, insiders.targets])
        lower, upper, sliding = np.concatenate([common, insiders.levels], axis=1)
        missed = np.where(upper > 0, BELOW_UPPER, 0) | np.where(lower > 0, BELOW_LOWER, 0)
        missed |= np.where(sliding > 0, BELOW_SLIDING, 0)
        stuck = np.flatnonzero((self.block_of[cells] == len(self.blocks)) & (missed > 0))
        bits = missed[stuck] | EXACT
        nothing, none = np.zeros(bits.size), np.full(bits.size, -1, dtype=np.int64)
        return who[stuck], cells[stuck], bits, nothing, nothing, none, none


def steps(bound: Units, truth: Units, unit: int, up: bool) -> Units:
    """The distance of a bound from the truth in steps of ``unit``, rounded towards the truth; infinite
    bounds stay.
    """
    infinite = np.abs(bound) >= UNBOUNDED
    distance = np.where(infinite, 0, bound - truth)
    return np.where(infinite, bound, distance // unit if up else -(-distance // unit))
