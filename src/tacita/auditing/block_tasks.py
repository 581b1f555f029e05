"""Tasks, one or more per block of the region, and their results combined into answers per attacker.

The outsider is asked about every sensitive cell. An insider is asked only where their answer can differ from
the outsider's: at targets with levels of their own, and at the outsider's targets whose proof they can rule
out because it moves a cell that they know better.

Tasks and results are plain data that can be sent to other processes. Insiders are columns of numbers: there
may be a hundred thousand of them, of whom few have to be asked. Levels and distances are in *steps*, the
table's units divided by its ``unit``, and stand in the order lower, upper, sliding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from tacita.auditing.exact_moves import Move
from tacita.auditing.joint_moves import is_flat
from tacita.auditing.region import Block, to_columns
from tacita.core.attacker import Insider
from tacita.core.exact import UNBOUNDED, Cells, Floats, Mask, Units
from tacita.problem.problem import Problem

BELOW_UPPER, BELOW_LOWER, BELOW_SLIDING, EXACT, FRACTIONAL, UNPROVEN = 1, 2, 4, 8, 16, 32
"""What is wrong with a target, as bits; 0 is safe and proven."""
UNSAFE = BELOW_UPPER | BELOW_LOWER | BELOW_SLIDING | EXACT

BIT_NAMES = {
    EXACT: "exact disclosure",
    BELOW_UPPER: "below upper",
    BELOW_LOWER: "below lower",
    BELOW_SLIDING: "below sliding",
    FRACTIONAL: "only fractional",
    UNPROVEN: "unproven",
}
TARGETS_PER_TASK = 500
"""Targets of one task at most: more of them share more moves, fewer are shared by more workers."""
OUTSIDER = -1
"""The number of the outsider; insiders count from 0."""


@dataclass(frozen=True, eq=False)
class Targets:
    """Columns of a block that someone attacks, with their levels in steps."""

    columns: Cells
    lower: Units
    upper: Units
    sliding: Units

    def take(self, at: Cells | slice) -> Targets:
        """Return some of the cells that an attacker has in a block of the audit, with their levels."""
        return Targets(self.columns[at], self.lower[at], self.upper[at], self.sliding[at])

    def __add__(self, other: Targets) -> Targets:
        mine, theirs = ((t.columns, t.lower, t.upper, t.sliding) for t in (self, other))
        return Targets(*(np.concatenate(pair) for pair in zip(mine, theirs, strict=True)))


@dataclass(frozen=True, eq=False)
class InsiderKnowledge:
    """What insiders know better than the outsider in one block: ``who[r]`` lets ``columns[r]`` move from
    ``low[r]`` to ``high[r]``; ``who`` ascends.

    Attributes
    ----------
    own_who, own_targets
        Targets with levels of the insiders' own, and the insider of each, ascending.
    others
        Insiders who attack the outsider's targets as well.
    spared, spared_columns
        Pairs of insider and column where the outsider's levels do not hold against them.
    """

    who: Cells
    columns: Cells
    low: Units
    high: Units
    own_who: Cells
    own_targets: Targets
    others: Cells
    spared: Cells
    spared_columns: Cells

    def find_rows_of(self, who: int) -> slice:
        """Return the slice of rows that hold one insider's bounds in a block of the audit."""
        return slice(*np.searchsorted(self.who, [who, who + 1]))


@dataclass(frozen=True, eq=False)
class BlockTask:
    """A block with its bounds, the outsider's targets and the insiders; ``is_part`` if other tasks have the
    rest of its targets. With ``quick`` no integer program is solved: what only they decide is unproven.
    """

    block: Block
    low: Units
    high: Units
    common: Targets
    insiders: InsiderKnowledge
    integer: bool
    is_part: bool = False
    quick: bool = False

    def split(self) -> Iterator[BlockTask]:
        """Yield the task, or several with some of its targets each if there are many.

        Targets keep their order, so that neighbours, whom the same moves prove, stay together. Where one
        program proves hundreds of targets, they are not split.
        """
        own = self.insiders.own_who.size
        parts = -(-max(self.common.columns.size, own) // TARGETS_PER_TASK)
        if parts == 1 or is_flat(to_columns(self.block)):
            yield self
            return
        for part in range(parts):
            common, mine = (
                slice(part * size // parts, (part + 1) * size // parts)
                for size in (self.common.columns.size, own)
            )
            insiders = replace(
                self.insiders,
                own_who=self.insiders.own_who[mine],
                own_targets=self.insiders.own_targets.take(mine),
            )
            yield replace(self, common=self.common.take(common), insiders=insiders, is_part=True)


@dataclass(frozen=True, eq=False)
class BlockVerdicts:
    """Per attacker (by number) and target: bits, the distances below and above proven possible in steps, and
    the moves that prove them (-1: none).
    """

    who: Cells
    columns: Cells
    bits: Units
    below: Floats
    above: Floats
    down_move: Cells
    up_move: Cells


@dataclass(eq=False)
class BlockResult:
    """Verdicts in a block, the outsider's first, and the moves as ``(columns, numerators, denominator)``."""

    cells: Cells
    verdicts: list[BlockVerdicts] = field(default_factory=list)
    moves: list[tuple[Cells, Units, int]] = field(default_factory=list)
    programs: int = 0


@dataclass(frozen=True, eq=False)
class Answers:
    """Verdict bits for some targets of one attacker (``number`` -1: the outsider), how far below and above
    the truth each value can be to them, at least, in the table's units like levels, and the moves that prove
    it (-1: none).
    """

    attacker: str
    number: int
    insider: Insider | None
    cells: Cells
    bits: Units
    below: Floats
    above: Floats
    down_moves: Cells
    up_moves: Cells

    def take(self, at: Mask | slice, moves_before: int = 0) -> Answers:
        """Return some of the answers of an attacker, for a list of moves with others before these."""
        down, up = (
            np.where(by[at] >= 0, by[at] + moves_before, -1) for by in (self.down_moves, self.up_moves)
        )
        own = self.cells[at], self.bits[at], self.below[at], self.above[at]
        return Answers(self.attacker, self.number, self.insider, *own, down, up)


class AuditPlan:
    """The attackers' targets by blocks of the region; ``low`` and ``high`` are the outsider's, in steps.

    With ``judged``, a mask of cells, only targets among these are judged.
    """

    def __init__(
        self, problem: Problem, blocks: Sequence[Block], low: Units, high: Units, judged: Mask | None = None
    ) -> None:
        n = len(problem.table)
        self.problem, self.blocks, self.low, self.high = problem, blocks, low, high
        self.judged = np.ones(n, dtype=bool) if judged is None else judged
        # Cells of no block have the number after the last.
        self.block_of, self.column_of = np.full(n, len(blocks), dtype=np.int64), np.zeros(n, dtype=np.int64)
        for g, block in enumerate(blocks):
            self.block_of[block.cells] = g
            self.column_of[block.cells] = np.arange(block.cells.size)

    def make_tasks(self) -> list[BlockTask]:
        """Return the tasks of the audit: one per block of the region that has targets, several if many."""
        cells, levels = self._list_common()
        order, edges = self._sort_by_block(cells)
        tasks = list[BlockTask]()
        for g, (block, insiders) in enumerate(zip(self.blocks, self._list_knowledge(), strict=True)):
            at = order[edges[g] : edges[g + 1]]
            targets = self._make_targets(cells[at], levels[:, at])
            if targets.columns.size or insiders.own_who.size:
                low, high = self.low[block.cells], self.high[block.cells]
                task = BlockTask(block, low, high, targets, insiders, self.problem.table.integer)
                tasks.extend(task.split())
        return tasks

    def _list_common(self) -> tuple[Cells, Units]:
        """Return the outsider's targets that are judged, and their levels, a row each."""
        common = self.problem.against_everyone()
        at = self.judged[common.cells]
        return common.cells[at], np.array([common.lower, common.upper, common.sliding])[:, at]

    def _sort_by_block(self, cells: Cells) -> tuple[Cells, Cells]:
        """Return the positions of cells sorted by block of the region, and where each block begins."""
        where = self.block_of[cells]
        order = np.argsort(where, kind="stable")
        return order, np.searchsorted(where[order], np.arange(len(self.blocks) + 1))

    def _make_targets(self, cells: Cells, levels: Units) -> Targets:
        """Return cells of one block as targets of the audit, with levels in steps, rounded up."""
        return Targets(self.column_of[cells], *(-(-level // self.problem.table.unit) for level in levels))

    def _list_knowledge(self) -> Iterator[InsiderKnowledge]:
        """Yield, block by block, what insiders know better than the outsider, and their own targets."""
        insiders, table = self.problem.insiders, self.problem.table
        cells, truth = insiders.cells, table.units[insiders.cells]
        low = np.maximum(self.low[cells], to_steps(insiders.lower, truth, table.unit, up=False))
        high = np.minimum(self.high[cells], to_steps(insiders.upper, truth, table.unit, up=True))
        better = np.flatnonzero((low > self.low[cells]) | (high < self.high[cells]))
        known, known_edges = self._sort_by_block(cells[better])
        known = better[known]
        with_levels = np.flatnonzero(insiders.levels.any(axis=0) & self.judged[insiders.targets])
        aimed, aim_edges = self._sort_by_block(insiders.targets[with_levels])
        aimed = with_levels[aimed]
        spared_who, spared_cells = insiders.spared
        spared, spared_edges = self._sort_by_block(spared_cells)
        for g in range(len(self.blocks)):
            rows, own, without = (
                order[edges[g] : edges[g + 1]]
                for order, edges in ((known, known_edges), (aimed, aim_edges), (spared, spared_edges))
            )
            who = insiders.owner[rows]
            yield InsiderKnowledge(
                who,
                self.column_of[cells[rows]],
                low[rows],
                high[rows],
                insiders.target_owner[own],
                self._make_targets(insiders.targets[own], insiders.levels[:, own]),
                np.unique(who[insiders.others[who]]),
                spared_who[without],
                self.column_of[spared_cells[without]],
            )

    def combine(self, results: Sequence[BlockResult]) -> tuple[tuple[Answers, ...], tuple[Move, ...]]:
        """Return the audit's answers per attacker, the outsider first, and the moves that prove them.

        Targets outside every block cannot move and are disclosed.
        """
        unit, insiders = self.problem.table.unit, self.problem.insiders
        parts, moves = [self._judge_immovable()], list[Move]()
        for result in results:
            for own in result.verdicts:
                down, up = (np.where(by >= 0, by + len(moves), -1) for by in (own.down_move, own.up_move))
                cells = result.cells[own.columns]
                parts.append((own.who, cells, own.bits, unit * own.below, unit * own.above, down, up))
            moves.extend(Move(result.cells[at], numerators, d) for at, numerators, d in result.moves)
        who, cells, *columns = map(np.concatenate, zip(*parts, strict=True))
        order = np.lexsort((cells, who))
        people = np.unique(np.append(who, OUTSIDER))
        edges = [*np.searchsorted(who[order], people).tolist(), order.size]
        answers = []
        for k, (a, b) in zip(people.tolist(), pairwise(edges), strict=True):
            at = order[a:b]
            insider = None if k == OUTSIDER else insiders[k]
            name = self.problem.outsider.name if insider is None else insider.name
            answers.append(Answers(name, k, insider, cells[at], *(column[at] for column in columns)))
        return tuple(answers), tuple(moves)

    def _judge_immovable(self) -> tuple[Cells, Cells, Units, Floats, Floats, Cells, Cells]:
        """Return the audit's verdicts, as columns, on targets in no block: their values are disclosed."""
        insiders, (common, common_levels) = self.problem.insiders, self._list_common()
        who = np.concatenate([np.full(common.size, OUTSIDER), insiders.target_owner])
        cells = np.concatenate([common, insiders.targets])
        levels = np.concatenate([common_levels, insiders.levels], axis=1)
        bits = [[BELOW_LOWER], [BELOW_UPPER], [BELOW_SLIDING]]
        missed = np.where(levels > 0, bits, 0).sum(axis=0)
        outside = self.judged[cells] & (self.block_of[cells] == len(self.blocks))
        stuck = np.flatnonzero(outside & (missed > 0))
        nothing, none = np.zeros(stuck.size), np.full(stuck.size, -1, dtype=np.int64)
        return who[stuck], cells[stuck], missed[stuck] | EXACT, nothing, nothing, none, none


def to_steps(bound: Units, truth: Units, unit: int, up: bool) -> Units:
    """Return how many steps each bound of an audit is from the true value, rounded towards the truth;
    infinite bounds stay.
    """
    infinite = np.abs(bound) >= UNBOUNDED
    distance = np.where(infinite, 0, bound - truth)
    return np.where(infinite, bound, distance // unit if up else -(-distance // unit))


def describe_bits(bits: int) -> str:
    """Return the verdict bits of an audit in words: ``safe``, or all that is wrong, the worst first."""
    return ", ".join(word for bit, word in BIT_NAMES.items() if bits & bit) or "safe"
