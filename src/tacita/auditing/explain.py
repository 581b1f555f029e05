"""Why one cell is published as it is: what is deduced of it, what it protects, and what protects it.

A cell ``c`` that is not given exactly *protects* a sensitive cell ``p`` if ``p`` is proven safe, and would
not be if the value of ``c`` were published as well. Only the connected component of ``c`` can change by that,
and in it only sensitive cells whose proof moves ``c``: any other proof has ``z_c = 0``, and holds still. So
these alone are judged again, with ``z_c = 0``, by the same programs as in the audit.

What protects a sensitive cell are the cells of two short moves that take it past its levels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tacita.auditing.audit import find_allowed_moves, list_releases
from tacita.auditing.audit_block import audit_block
from tacita.auditing.block_tasks import (
    EXACT,
    FRACTIONAL,
    UNPROVEN,
    UNSAFE,
    Answers,
    AuditPlan,
    BlockTask,
    InsiderKnowledge,
    Targets,
    to_steps,
)
from tacita.auditing.deduce import to_values
from tacita.auditing.derivation import find_derivation
from tacita.auditing.exact_moves import Move
from tacita.auditing.examiner import Examiner
from tacita.auditing.explanation import NOBODY, AttackerInterval, Explanation, ProtectedCell
from tacita.auditing.extremes import ExtremeQuestion, find_extremes
from tacita.auditing.joint_moves import is_flat
from tacita.auditing.region import Block, make_blocks, peel, to_columns
from tacita.core import exact
from tacita.core.attacker import Insider
from tacita.core.errors import InputError, ReleaseError
from tacita.core.exact import Cells, Floats, Mask, Units
from tacita.core.heartbeat import with_heartbeat
from tacita.core.release import Mark, Release
from tacita.core.run import Run
from tacita.core.tables.cell_selection import OneCell, read_cells
from tacita.problem.problem import Problem, start_run

if TYPE_CHECKING:
    from tacita.auditing.audit import Audit

MOST_INSIDERS = 20
"""Insiders who are asked what they deduce of a cell, those first who know most of it."""


@with_heartbeat("explaining")
def explain(
    problem: Problem,
    release: Release | Sequence[Release],
    cell: OneCell,
    audit: Audit | None = None,
    run: Run | None = None,
) -> Explanation:
    """Return why a cell is published, hidden or changed: what is deduced of it, and which sensitive cells
    would not be safe without it.

    Parameters
    ----------
    release
        One release, or several that are judged together, the newest last, as in
        :func:`~tacita.auditing.audit.audit`.
    cell
        A cell by its codes, such as ``("North", "2024")`` or ``{"region": "North", "year": "2024"}``, or by
        its position.
    audit
        The audit of this release, whose proofs are then not searched for again.
    run
        Time limit, cancel. What is not decided when the time ends is ``undecided``, or NaN.

    Raises
    ------
    InputError, ReleaseError
        There is no such cell, or the audit is of another problem or release.
    """
    run = start_run(problem, run)
    releases = list_releases(release)
    if audit is not None and (audit.problem is not problem or audit.releases != releases):
        raise ReleaseError(
            "the audit is of another problem or release",
            remedy="give the audit of this very release, or none",
        )
    return _Explainer(problem, releases, _find_position(problem, cell), run).explain(audit)


def _find_position(problem: Problem, cell: OneCell) -> int:
    found = np.flatnonzero(read_cells(problem.table, [cell], "cell"))
    if found.size != 1:
        raise InputError(f"{cell!r} does not name one cell", place="cell", remedy="give the codes of one")
    return int(found[0])


@dataclass(frozen=True, eq=False)
class _Region:
    """What the outsider can think possible: blocks of cells, and the bounds of all cells in steps."""

    problem: Problem
    blocks: tuple[Block, ...]
    low: Units
    high: Units

    def judge(self, judged: Mask, run: Run) -> tuple[list[Answers], list[Move]]:
        """Return the audit's answers on the sensitive cells among these, per attacker, and their moves.

        Integer programs may take seconds each, so that they come last: for what only they decide.
        """
        plan = AuditPlan(self.problem, self.blocks, self.low, self.high, judged)
        # Beyond two dimensions short moves are found faster, and fewer of them use a given cell.
        tasks = [replace(task, is_part=not is_flat(to_columns(task.block))) for task in plan.make_tasks()]
        quick = [replace(task, quick=task.integer and task.is_part) for task in tasks]
        answers, moves = plan.combine(list(run.map(audit_block, quick, phase="explaining")))
        left = np.zeros(judged.size, dtype=bool)
        if any(task.quick for task in quick):
            for own in answers:
                left[own.cells[(own.bits & UNPROVEN) != 0]] = True
        if not left.any() or run.over:
            return [*answers], [*moves]
        decided = [own.take(~left[own.cells]) for own in answers]
        plan = AuditPlan(self.problem, self.blocks, self.low, self.high, left)
        tasks = [replace(task, is_part=True) for task in plan.make_tasks()]
        further, more = plan.combine(list(run.map(audit_block, tasks, phase="explaining")))
        return [*decided, *(own.take(slice(None), len(moves)) for own in further)], [*moves, *more]

    def deduce(self, cells: Cells, insider: Insider | None, run: Run) -> tuple[Floats, Floats]:
        """Return the ends of the intervals that an attacker deduces of some cells, in plain numbers."""
        table = self.problem.table
        least, most = np.zeros(len(table)), np.zeros(len(table))
        for block in self.blocks:
            columns = np.flatnonzero(np.isin(block.cells, cells))
            if columns.size:
                bounds = self.find_bounds(block.cells, insider)
                question = ExtremeQuestion(block, *bounds, table.integer, columns)
                own = block.cells[columns]
                least[own], most[own] = find_extremes(question, run)
        low, high = (
            to_values(table.units[cells] + table.unit * ends[cells], table.decimals) for ends in (least, most)
        )
        return low, high

    def find_bounds(self, cells: Cells, insider: Insider | None) -> tuple[Units, Units]:
        """Return how far below and above the truth an attacker can think some cells to be, in steps."""
        low, high = self.low[cells], self.high[cells]
        if insider is None:
            return low, high
        table = self.problem.table
        lower, upper = self.problem.bounds_at(insider, cells)
        below = to_steps(lower, table.units[cells], table.unit, up=False)
        return np.maximum(low, below), np.minimum(
            high, to_steps(upper, table.units[cells], table.unit, up=True)
        )


class _Explainer:
    """The explanation of one cell; ``block`` is the part of the region that it lies in, if it can move."""

    def __init__(self, problem: Problem, releases: tuple[Release, ...], cell: int, run: Run) -> None:
        self.problem, self.releases, self.cell, self.run = problem, releases, cell, run
        self.table = problem.table
        low, high = find_allowed_moves(problem, releases)
        self.free = low < high
        self.block = _find_block(problem, peel(self.table.equations, self.free), cell)
        self.region = _Region(problem, () if self.block is None else (self.block,), low, high)

    def explain(self, audit: Audit | None) -> Explanation:
        """Return the explanation of the cell, with the proofs of an audit, or with some that are found."""
        problem, table, cell, newest = self.problem, self.table, self.cell, self.releases[-1]
        sensitive, hidden = bool(problem.levels.sensitive[cell]), bool(newest.hidden[cell])
        low, high = self.region.deduce(np.array([cell]), None, self._share(1 / 3))
        outsider = AttackerInterval(problem.outsider.name, float(low[0]), float(high[0]))
        below, above = self._find_witnesses(self._share(1 / 3)) if sensitive and hidden else (None, None)
        protects: tuple[ProtectedCell, ...] = ()
        replaceable: tuple[int, ...] = ()
        undecided: tuple[int, ...] = ()
        unsafe: tuple[int, ...] = ()
        if hidden and self.block is not None:
            protects, replaceable, undecided, unsafe = self._find_protected(audit)
        narrowest, asked, insiders = None, 0, 0
        if hidden and not outsider.known:
            narrowest, asked, insiders = self._ask_insiders()
        unit, levels = 10.0**table.decimals, problem.levels
        ends = exact.to_floats(np.array([newest.low[cell], newest.high[cell]]), newest.decimals)
        return Explanation(
            cell,
            table.name(cell),
            {
                (True, True): "primary",
                (True, False): "exposed",
                (False, True): "secondary",
                (False, False): "published",
            }[sensitive, hidden],
            Mark(newest.marks[cell]),
            (float(ends[0]), float(ends[1])),
            outsider,
            find_derivation(table, self.free, cell) if self.free[cell] and self.block is None else (),
            narrowest,
            asked,
            insiders,
            tuple(levels.explain(cell)),
            (levels.lower[cell] / unit, levels.upper[cell] / unit, levels.sliding[cell] / unit),
            bool(problem.must_hide[cell]),
            protects,
            replaceable,
            undecided,
            unsafe,
            below,
            above,
            problem,
            newest.outcome,
        )

    def _share(self, share: float) -> Run:
        """Return the run with a share of the time that it has left, so that a hard part leaves some."""
        return self.run.limited(share * self.run.remaining)

    # ------------------------------------------------------------------ which cells it protects

    def _find_protected(
        self, audit: Audit | None
    ) -> tuple[tuple[ProtectedCell, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """Return the sensitive cells that would not be safe if this one were published, those that would be
        by another proof, those of which this is not decided, and those that are not safe as it is.
        """
        assert self.block is not None
        problem, cell = self.problem, self.cell
        near = np.zeros(len(self.table), dtype=bool)
        near[self.block.cells] = True
        near[cell] = False
        answers, moves = self.region.judge(near, self.run) if audit is None else (audit.answers, audit.moves)
        uses, unknown, unsafe = self._find_users(answers, moves, near)
        if not uses.any():
            return (), (), _list(unknown), _list(unsafe)
        low, high = self.region.low.copy(), self.region.high.copy()
        low[cell] = high[cell] = 0
        equations = self.table.equations
        free = np.zeros(len(self.table), dtype=bool)
        free[self.block.cells] = True
        free[cell] = False
        rhs = np.zeros(len(equations), dtype=np.int64)
        blocks = tuple(make_blocks(equations, peel(equations, free), rhs))
        published = _Region(problem, blocks, low, high)
        worst = _find_worst(published.judge(uses, self.run)[0])
        failing = {p: own for p, own in worst.items() if own[1] & (UNSAFE | FRACTIONAL)}
        undecided = np.union1d(unknown, np.array([p for p in worst if p not in failing], dtype=np.int64))
        others = np.setdiff1d(np.flatnonzero(uses), np.array([*worst], dtype=np.int64))
        protects = tuple(self._describe_failing(failing, published))
        return protects, _list(others), _list(undecided), _list(unsafe)

    def _find_users(
        self, answers: Sequence[Answers], moves: Sequence[Move], near: Mask
    ) -> tuple[Mask, Cells, Cells]:
        """Return a mask of the sensitive cells nearby that are proven safe by moves of this cell against some
        attacker, the cells of which it is not known whether they are safe, and those that are not.
        """
        touching = np.array([bool((move.cells == self.cell).any()) for move in moves], dtype=bool)
        uses, unknown, unsafe = (np.zeros(near.size, dtype=bool) for _ in range(3))
        for own in answers:
            unsafe[own.cells[(own.bits & (UNSAFE | FRACTIONAL)) != 0]] = True
            unknown[own.cells[(own.bits & UNPROVEN) != 0]] = True
            for by in (own.down_moves, own.up_moves):
                some = np.flatnonzero(by >= 0)
                uses[own.cells[some[touching[by[some]]]]] = True
        unsafe, unknown = unsafe & near, unknown & near & ~unsafe
        return uses & near & ~unsafe & ~unknown, np.flatnonzero(unknown), np.flatnonzero(unsafe)

    def _describe_failing(
        self, failing: dict[int, tuple[Answers, int]], published: _Region
    ) -> Iterator[ProtectedCell]:
        """Yield the sensitive cells that fail if this one is published, in the order of the table, with what
        their worst attacker deduces then.
        """
        problem, unit = self.problem, 10.0**self.table.decimals
        numbers: dict[int, list[float]] = {}
        for number in {own.number for own, _ in failing.values()}:
            theirs = np.array([p for p in sorted(failing) if failing[p][0].number == number])
            insider = failing[int(theirs[0])][0].insider
            against = (
                problem.against_everyone() if insider is None else problem.against(insider, problem.sensitive)
            )
            at = np.searchsorted(against.cells, theirs)
            levels = [level[at] / unit for level in (against.lower, against.upper, against.sliding)]
            ends = published.deduce(theirs, insider, self.run)
            numbers |= dict(zip(theirs.tolist(), np.column_stack([*levels, *ends]).tolist(), strict=True))
        for p in sorted(failing):
            own, bits = failing[p]
            yield ProtectedCell(p, self.table.name(p), own.attacker, bits, *numbers[p])

    # ------------------------------------------------------------------ what protects it

    def _find_witnesses(self, run: Run) -> tuple[Move | None, Move | None]:
        """Return short moves that take the cell, which is sensitive, down and up past its levels, or as far
        as possible; None where there is none, or none is required.
        """
        if self.block is None:
            return None, None
        block, levels, unit = self.block, self.problem.levels, self.table.unit
        column = np.flatnonzero(block.cells == self.cell)
        need = (-(-level[[self.cell]] // unit) for level in (levels.lower, levels.upper, levels.sliding))
        targets = Targets(column, *need)
        nobody = InsiderKnowledge(*(NOBODY,) * 5, targets.take(slice(0, 0)), *(NOBODY,) * 3)
        low, high = self.region.find_bounds(block.cells, None)
        # As a part of a larger task, for which short moves are searched first.
        task = BlockTask(block, low, high, targets, nobody, self.table.integer, is_part=True)
        examiner = Examiner(task, run)
        _, down, up = examiner.judge(targets, 0)
        found = (None if reach.move < 0 else examiner.pool.moves[reach.move] for reach in (down, up))
        below, above = (None if move is None else Move(block.cells[move[0]], *move[1:]) for move in found)
        return below, above

    # ------------------------------------------------------------------ insiders

    def _ask_insiders(self) -> tuple[AttackerInterval | None, int, int]:
        """Return the narrowest interval that an insider deduces of the cell, how many were asked, and how
        many attack it and know more of cells around it than the outsider.
        """
        who = self._list_insiders()
        narrowest, asked = None, 0
        for k in who[:MOST_INSIDERS].tolist():
            if self.run.over:
                break
            insider = self.problem.insiders[k]
            low, high = self.region.deduce(np.array([self.cell]), insider, self.run)
            own = AttackerInterval(insider.name, float(low[0]), float(high[0]))
            if own.high - own.low != own.high - own.low:
                break
            asked += 1
            if narrowest is None or own.high - own.low < narrowest.high - narrowest.low:
                narrowest = own
        return narrowest, asked, int(who.size)

    def _list_insiders(self) -> Cells:
        """Return the insiders who attack the cell and know more than the outsider near it, those first who
        know most: the narrowest bounds of the cell itself, then the most cells.
        """
        insiders, cell, region, table = self.problem.insiders, self.cell, self.region, self.table
        if self.block is None or not len(insiders):
            return NOBODY
        near = np.zeros(len(table), dtype=bool)
        near[self.block.cells] = True
        rows = np.flatnonzero(near[insiders.cells])
        cells, truth = insiders.cells[rows], table.units[insiders.cells[rows]]
        low = to_steps(insiders.lower[rows], truth, table.unit, up=False)
        high = to_steps(insiders.upper[rows], truth, table.unit, up=True)
        better = (low > region.low[cells]) | (high < region.high[cells])
        who, known = np.unique(insiders.owner[rows[better]], return_counts=True)
        own_target = np.unique(insiders.target_owner[insiders.targets == cell])
        attack = insiders.others[who] & ~insiders.is_spared(who, np.full(who.size, cell))
        attack |= np.isin(who, own_target)
        who, known = who[attack], known[attack]
        at = insiders.find(who, np.full(who.size, cell))
        width = insiders.upper[at].astype(np.float64) - insiders.lower[at].astype(np.float64)
        return who[np.lexsort((-known, np.where(at >= 0, width, np.inf)))]


def _find_block(problem: Problem, free: Mask, cell: int) -> Block | None:
    """Return the block of the audit's region that a cell lies in; None if it cannot move."""
    if not free[cell]:
        return None
    equations = problem.table.equations
    blocks = make_blocks(equations, free, np.zeros(len(equations), dtype=np.int64), columns=1)
    return next(block for block in blocks if (block.cells == cell).any())


def _find_worst(answers: Sequence[Answers]) -> dict[int, tuple[Answers, int]]:
    """Return for each cell that is not proven safe the answers on its worst attacker, and their bits."""
    found: dict[int, tuple[Answers, int]] = {}
    for own in answers:
        for p, bits in zip(own.cells.tolist(), own.bits.tolist(), strict=True):
            if bits and (p not in found or _rank(bits) > _rank(found[p][1])):
                found[p] = own, bits
    return found


def _rank(bits: int) -> int:
    """Return how bad verdict bits are: known exactly, too narrow, by integers only, or not decided."""
    return (
        8 * bool(bits & EXACT) + 4 * bool(bits & UNSAFE) + 2 * bool(bits & FRACTIONAL) + bool(bits & UNPROVEN)
    )


def _list(cells: Cells) -> tuple[int, ...]:
    return tuple(cells.tolist())
