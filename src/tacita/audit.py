"""Does a release protect a table? The attacker's own problem, solved for every sensitive cell and every attacker.

    region(k) = { y : M y = b,  max(window low, lower_k) <= y <= min(window high, upper_k) }

The release protects cell ``p`` against attacker ``k`` if and only if over his region

    max y_p >= a_p + UPL,    min y_p <= a_p - LPL,    max y_p - min y_p >= SPL.

This file implements that paragraph and nothing else; it imports no method. *Safe* means that the inequalities hold, *proven*
that exact moves show it (whole-number moves where cells are counts). Only what is proven makes :attr:`Audit.safe` true.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacita.attackers import Insider
from tacita.audit_piece import (
    BELOW_LOWER,
    BELOW_SLIDING,
    BELOW_UPPER,
    EXACT,
    FRACTIONAL,
    UNPROVEN,
    Job,
    Result,
    Task,
    audit_piece,
)
from tacita.errors import ReleaseError
from tacita.exact import UNBOUNDED, Cells, Floats, Mask, Units
from tacita.problem import Problem, Requirement
from tacita.region import Piece, peel, pieces
from tacita.release import Release
from tacita.run import Run
from tacita.witness import Move

UNSAFE = BELOW_UPPER | BELOW_LOWER | BELOW_SLIDING | EXACT

WORDS = {
    EXACT: "exact disclosure",
    BELOW_UPPER: "below upper",
    BELOW_LOWER: "below lower",
    BELOW_SLIDING: "below sliding",
    FRACTIONAL: "only fractional",
    UNPROVEN: "unproven",
}


@dataclass(frozen=True)
class Finding:
    """The verdict on one sensitive cell against one attacker."""

    cell: int
    name: str
    attacker: str
    bits: int
    above: float
    below: float

    @property
    def verdict(self) -> str:
        """``safe``, or everything that is wrong, the worst first."""
        return ", ".join(word for bit, word in WORDS.items() if self.bits & bit) or "safe"


@dataclass(frozen=True, eq=False)
class Audit:
    """Verdicts for every sensitive cell and attacker, with the moves that prove them.

    ``bits[k][t]`` belongs to the ``t``-th target of ``problem.requirements[k]``; ``above`` and ``below`` are how far (in units)
    the value can be thought to lie above and below the truth, at least; ``up_moves`` and ``down_moves`` index ``moves``.
    """

    problem: Problem
    release: Release
    bits: tuple[Units, ...]
    above: tuple[Floats, ...]
    below: tuple[Floats, ...]
    up_moves: tuple[Cells, ...]
    down_moves: tuple[Cells, ...]
    moves: tuple[Move, ...]
    programs: int
    seconds: float

    @cached_property
    def worst(self) -> Units:
        """Bits per sensitive cell, all attackers together, in the order of ``problem.sensitive``."""
        together = np.zeros(len(self.problem.table), dtype=np.int64)
        for need, bits in zip(self.problem.requirements, self.bits, strict=True):
            np.bitwise_or.at(together, need.cells, bits)
        return together[self.problem.sensitive]

    @property
    def safe(self) -> bool:
        """True if every sensitive cell is safe against every attacker, and proven so."""
        return not self.worst.any()

    def __bool__(self) -> bool:
        return self.safe

    @property
    def counts(self) -> dict[str, int]:
        """Sensitive cells by verdict: ``safe`` by the inequalities, ``proven`` by exact moves, ``unsafe``, ``exact``."""
        worst = self.worst
        return {
            "safe": int(((worst & (UNSAFE | UNPROVEN)) == 0).sum()),
            "checked": int(worst.size),
            "proven": int((worst == 0).sum()),
            "unsafe": int(((worst & UNSAFE) != 0).sum()),
            "exact": int(((worst & EXACT) != 0).sum()),
        }

    @property
    def verdict(self) -> str:
        """The result in a sentence."""
        n = self.counts
        cells = f"{n['checked']:,} sensitive cell" + ("s" if n["checked"] != 1 else "")
        if self.safe:
            return f"{cells}: {n['safe']:,} safe, all proven"
        told = [f"{n['safe']:,} safe"]
        if n["unsafe"]:
            told.append(f"{n['unsafe']:,} UNSAFE" + (f" ({n['exact']:,} disclosed exactly)" if n["exact"] else ""))
        fractional = int(((self.worst & FRACTIONAL) != 0).sum())
        if fractional:
            told.append(f"{fractional:,} of them only if an attacker does not know that cells are whole numbers")
        unproven = int((((self.worst & UNPROVEN) != 0) & ((self.worst & UNSAFE) == 0)).sum())
        if unproven:
            told.append(f"{unproven:,} not settled")
        return f"{cells}: " + ", ".join(told)

    def __repr__(self) -> str:
        return f"Audit({self.verdict})"

    def findings(self, only_unsafe: bool = False) -> Iterator[Finding]:
        """One verdict per sensitive cell and attacker."""
        structure = self.problem.table.structure
        for need, bits, above, below in zip(self.problem.requirements, self.bits, self.above, self.below, strict=True):
            for t in np.flatnonzero(bits) if only_unsafe else range(bits.size):
                cell = int(need.cells[t])
                yield Finding(cell, structure.name(cell), need.attacker, int(bits[t]), float(above[t]), float(below[t]))


def audit(problem: Problem, release: Release, run: Run | None = None) -> Audit:
    """Check a release, whatever made it.

    Parameters
    ----------
    problem
        The table with its levels and attackers.
    release
        What would be published.
    run
        Time limit, executor, progress. What a limit leaves unanswered is *unproven*, never safe.

    Raises
    ------
    ReleaseError
        The release is of another table, or says something that is not true of this one.
    """
    run = run or Run()
    low, high = moves_allowed(problem, release)
    equations = problem.table.equations
    free = peel(equations, low < high)
    found = list(pieces(equations, free, np.zeros(len(equations), dtype=np.int64)))
    tasks = list(_tasks(problem, found, low, high, run))
    results = []
    for result in run.map(audit_piece, tasks):
        results.append(result)
        run.tell("audit", len(results), len(tasks))
    return _gathered(problem, release, tasks, results, run.seconds)


def moves_allowed(problem: Problem, release: Release, insider: Insider | None = None) -> tuple[Units, Units]:
    """How far below and above the truth an attacker can think each cell to be, in steps of the table's unit.

    Bounds are rounded towards the truth, which never hides a danger.
    """
    table = problem.table
    windows = windows_in_units_of(problem, release)
    untrue = np.flatnonzero((windows[0] > table.units) | (windows[1] < table.units))
    if untrue.size:
        raise ReleaseError(
            f"the release says something about {table.structure.names(untrue)} that is not true of this table: "
            "check that it belongs to this table, and that announced radii are as large as the changes"
        )
    lower, upper = problem.bounds_at(insider, np.arange(len(table)))
    low, high = np.maximum(windows[0], lower), np.minimum(windows[1], upper)
    return _steps(low, table.units, table.unit, up=False), _steps(high, table.units, table.unit, up=True)


def windows_in_units_of(problem: Problem, release: Release) -> tuple[Units, Units]:
    """The windows of a release in the table's units; finer ones are rounded inwards, which favours the attacker."""
    table = problem.table
    if len(release) != len(table):
        raise ReleaseError(f"the release has {len(release):,} cells, the table {len(table):,}: they do not belong together")
    if release.decimals <= table.decimals:
        finer = release.with_decimals(table.decimals)
        return finer.low, finer.high
    factor = 10 ** (release.decimals - table.decimals)
    low = np.where(release.low <= -UNBOUNDED, -UNBOUNDED, -(-release.low // factor))
    return low, np.where(release.high >= UNBOUNDED, UNBOUNDED, release.high // factor)


def _steps(bound: Units, truth: Units, unit: int, up: bool) -> Units:
    infinite = np.abs(bound) >= UNBOUNDED
    distance = np.where(infinite, 0, bound - truth)
    steps = distance // unit if up else -(-distance // unit)
    return np.where(infinite, bound, steps)


def _tasks(problem: Problem, found: list[Piece], low: Units, high: Units, run: Run) -> Iterator[Task]:
    table = problem.table
    n = len(table)
    piece_of, column_of = np.full(n, -1, dtype=np.int64), np.zeros(n, dtype=np.int64)
    for g, piece in enumerate(found):
        piece_of[piece.cells] = g
        column_of[piece.cells] = np.arange(piece.cells.size)
    jobs: list[list[Job]] = [[] for _ in found]
    for k, need in enumerate(problem.requirements):
        for g, job in _jobs(problem, k, need, piece_of, column_of, low, high):
            jobs[g].append(job)
    for g, piece in enumerate(found):
        if jobs[g]:
            yield Task(piece, low[piece.cells], high[piece.cells], tuple(jobs[g]), table.whole, run)


def _jobs(
    problem: Problem, k: int, need: Requirement, piece_of: Cells, column_of: Cells, low: Units, high: Units
) -> Iterator[tuple[int, Job]]:
    """The targets of one attacker, piece by piece; an insider's only where he differs from the outsider."""
    table = problem.table
    tight, tight_low, tight_high = _tighter(problem, need, piece_of, low, high)
    target = np.flatnonzero(_worth_asking(problem, need, piece_of, tight))
    where = piece_of[need.cells[target]]
    for g in np.unique(where[where >= 0]):
        at = target[where == g]
        own = piece_of[tight] == g

        def level(units: Units, at: Cells = at) -> Units:
            return -(-units[at] // table.unit)

        yield (
            int(g),
            Job(
                k,
                column_of[tight[own]],
                tight_low[own],
                tight_high[own],
                column_of[need.cells[at]],
                level(need.upper),
                level(need.lower),
                level(need.sliding),
            ),
        )


def _tighter(problem: Problem, need: Requirement, piece_of: Cells, low: Units, high: Units) -> tuple[Cells, Units, Units]:
    """Free cells that an insider knows better than the outsider, with the moves he allows."""
    nothing = np.zeros(0, dtype=np.int64)
    if need.insider is None:
        return nothing, nothing, nothing
    cells, table = need.insider.cells, problem.table
    truth = table.units[cells]
    own_low = np.maximum(low[cells], _steps(need.insider.lower, truth, table.unit, up=False))
    own_high = np.minimum(high[cells], _steps(need.insider.upper, truth, table.unit, up=True))
    better = (piece_of[cells] >= 0) & ((own_low > low[cells]) | (own_high < high[cells]))
    return cells[better], own_low[better], own_high[better]


def _worth_asking(problem: Problem, need: Requirement, piece_of: Cells, tight: Cells) -> Mask:
    """Targets whose answer does not follow from the outsider's: another region, or another level."""
    if need.insider is None:
        return np.ones(need.cells.size, dtype=bool)
    levels, at = problem.levels, need.cells
    other = (need.upper != levels.upper[at]) | (need.lower != levels.lower[at]) | (need.sliding != levels.sliding[at])
    return other | np.isin(piece_of[at], piece_of[tight])


def _gathered(problem: Problem, release: Release, tasks: list[Task], results: list[Result], seconds: float) -> Audit:
    needs = problem.requirements
    n = len(problem.table)
    everyone = np.full(n, -1, dtype=np.int64)
    everyone[problem.sensitive] = np.arange(problem.sensitive.size)
    bits = [_disclosed(need) for need in needs]
    above, below = [np.zeros(need.cells.size) for need in needs], [np.zeros(need.cells.size) for need in needs]
    up_moves = [np.full(need.cells.size, -1, dtype=np.int64) for need in needs]
    down_moves = [np.full(need.cells.size, -1, dtype=np.int64) for need in needs]
    answered = [np.zeros(need.cells.size, dtype=bool) for need in needs]
    position = [dict(zip(need.cells.tolist(), range(need.cells.size), strict=True)) for need in needs]
    moves: list[Move] = []
    for task, result in zip(tasks, results, strict=True):
        offset = len(moves)
        moves.extend(Move(result.cells[at], numerators, d) for at, numerators, d in result.moves)
        for j, job in enumerate(task.jobs):
            k = job.requirement
            at = np.array([position[k][c] for c in result.cells[job.targets].tolist()], dtype=np.int64)
            bits[k][at], above[k][at], below[k][at] = result.bits[j], result.above[j], result.below[j]
            for kept, own in ((up_moves[k], result.up_move[j]), (down_moves[k], result.down_move[j])):
                kept[at] = np.where(own >= 0, own + offset, -1)
            answered[k][at] = True
    for k, need in enumerate(needs[1:], start=1):
        rest = np.flatnonzero(~answered[k])
        same = everyone[need.cells[rest]]
        known = same >= 0
        for kept in (bits, above, below, up_moves, down_moves):
            kept[k][rest[known]] = kept[0][same[known]]
    unit = float(problem.table.unit)
    return Audit(
        problem,
        release,
        tuple(bits),
        tuple(a * unit for a in above),
        tuple(b * unit for b in below),
        tuple(up_moves),
        tuple(down_moves),
        tuple(moves),
        sum(result.programs for result in results),
        seconds,
    )


def _disclosed(need: Requirement) -> Units:
    """The verdict on targets that cannot move at all: what it stays until an answer replaces it."""
    bits = np.where(need.upper > 0, BELOW_UPPER, 0) | np.where(need.lower > 0, BELOW_LOWER, 0)
    bits |= np.where(need.sliding > 0, BELOW_SLIDING, 0)
    return np.where(bits > 0, bits | EXACT, 0)

