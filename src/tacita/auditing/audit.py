"""The audit: does a release protect a table? Every attacker's own problem, solved for every sensitive cell.

    region(k) = { y : M y = b,  max(window low, lower_k) <= y <= min(window high, upper_k) }

The release protects cell ``p`` against attacker ``k`` if and only if over their region

    min y_p <= a_p - LPL,    max y_p >= a_p + UPL,    max y_p - min y_p >= SPL.

*Safe* means that the inequalities hold, *proven* that exact moves show it (integer moves where cells are
counts). Only what is proven makes :attr:`Audit.safe` true.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from tacita.auditing.audit_block import audit_block
from tacita.auditing.block_tasks import (
    EXACT,
    FRACTIONAL,
    UNPROVEN,
    UNSAFE,
    Answers,
    AuditPlan,
    describe_bits,
    to_steps,
)
from tacita.auditing.exact_moves import Move
from tacita.auditing.region import make_blocks, peel
from tacita.core.attacker import Insider
from tacita.core.errors import LevelsError, ReleaseError, and_others
from tacita.core.exact import Units
from tacita.core.heartbeat import with_heartbeat
from tacita.core.notebook import MOST_ROWS, show_table
from tacita.core.release import Release
from tacita.core.run import LOG, Run
from tacita.core.tables.frames import Framed, codes_to_arrow, make_arrow_table
from tacita.core.windows import count_unshared_cells, find_windows, intersect_windows
from tacita.core.words import pluralize
from tacita.problem.problem import AttackerLevels, Problem, start_run

if TYPE_CHECKING:
    import pyarrow as pa

NOTHING_CHECKED = "no cell is sensitive: there was nothing to check"
"""The verdict where no cell is sensitive."""


@dataclass(frozen=True)
class Finding:
    """The verdict on one sensitive cell against one attacker.

    ``below`` and ``above`` are how far below and above the true value the cell can be to them, at least, in
    the table's units: against levels ``lower`` and ``upper`` of :class:`~tacita.Levels`, in the same unit.
    """

    cell: int
    name: str
    attacker: str
    bits: int
    below: float
    above: float

    @property
    def verdict(self) -> str:
        """The verdict of the audit on this cell and attacker in words: ``safe``, or all that is wrong."""
        return describe_bits(self.bits)


@dataclass(frozen=True, eq=False)
class Audit(Framed):
    """Verdicts for every sensitive cell and attacker, with the moves that prove them.

    ``answers[0]`` is the outsider's. An insider has answers of their own only where these differ: where they
    know more, or have other levels; elsewhere the outsider's hold for them. ``earlier`` are the releases that
    were judged together with ``release``, the newest.
    """

    problem: Problem
    release: Release
    answers: tuple[Answers, ...]
    moves: tuple[Move, ...]
    programs: int
    seconds: float
    earlier: tuple[Release, ...] = ()

    @property
    def releases(self) -> tuple[Release, ...]:
        """All releases that this audit judged together, the newest last."""
        return (*self.earlier, self.release)

    @cached_property
    def worst(self) -> Units:
        """The audit's verdict bits per cell of ``problem.sensitive``, all attackers together."""
        together = np.zeros(len(self.problem.table), dtype=np.int64)
        for own in self.answers:
            np.bitwise_or.at(together, own.cells, own.bits)
        return together[self.problem.sensitive]

    def verdicts(self, levels: AttackerLevels) -> Units:
        """Return the audit's verdict bits of one attacker's targets, in the order of ``levels.cells``."""
        known = np.zeros(len(self.problem.table), dtype=np.int64)
        for own in self.answers:
            if own.insider is None or own.insider is levels.insider:
                known[own.cells] = own.bits
        return known[levels.cells]

    @property
    def safe(self) -> bool:
        """Whether every sensitive cell is proven safe against every attacker; true if none is sensitive."""
        return not any(own.bits.any() for own in self.answers)

    def __bool__(self) -> bool:
        return self.safe

    @property
    def counts(self) -> dict[str, int]:
        """Numbers of sensitive cells by verdict: ``safe`` by the inequalities, ``proven`` by exact moves,
        ``unsafe``, ``exact``; ``checked`` are all.
        """
        worst = self.worst
        return {
            "safe": int(((worst & (UNSAFE | UNPROVEN)) == 0).sum()),
            "checked": int(worst.size),
            "proven": int((worst == 0).sum()),
            "unsafe": int(((worst & UNSAFE) != 0).sum()),
            "exact": int(((worst & EXACT) != 0).sum()),
        }

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the audit assumes of readers besides the windows of all releases it judged, in words."""
        judged = (*self.problem.already_published, *self.releases)
        alone = [release.alone for release in judged if release.alone] if len(judged) > 1 else []
        together = [f"assuming that readers of several releases do not know {what}" for what in alone]
        return tuple(filter(None, (*(release.assumption for release in judged), *together)))

    @property
    def verdict(self) -> str:
        """The result of the audit in a sentence, which names the attackers that were considered, what is
        assumed of readers besides the windows, the exempt cells, and how many releases were judged together.
        """
        assumed = dict.fromkeys(self.assumptions) if self.counts["checked"] else ()
        notes = (*assumed, describe_exempt(self.problem), self._describe_releases())
        return "; ".join(filter(None, (self._describe_counts(), *notes)))

    def _describe_releases(self) -> str:
        """Return how many releases the audit judged together, and how many of their cells the table does not
        have, so that they were left out; empty for a single one.
        """
        judged = (*self.problem.already_published, *self.releases)
        if len(judged) == 1:
            return ""
        apart = sum(count_unshared_cells(self.problem.table, each) for each in judged)
        what = f"without {pluralize(apart, 'cell')} that the table does not have" if apart else ""
        return ", ".join(filter(None, (f"{len(judged):,} releases judged together", what)))

    def _describe_counts(self) -> str:
        """Return how many sensitive cells the audit found safe, unsafe and so on, and against whom."""
        n = self.counts
        if not n["checked"]:
            return NOTHING_CHECKED
        cells = pluralize(n["checked"], "sensitive cell")
        against = f"against {self.problem.considered.text}"
        if self.safe:
            return f"{cells}: {n['safe']:,} safe, all proven, {against}"
        parts = [f"{n['safe']:,} safe"]
        fractional = int(((self.worst & (FRACTIONAL | UNSAFE | UNPROVEN)) == FRACTIONAL).sum())
        if fractional:
            parts.append(f"{fractional:,} of them only if an attacker does not know that cells are integers")
        if n["unsafe"]:
            exactly = f" ({n['exact']:,} disclosed exactly)" if n["exact"] else ""
            parts.append(f"{n['unsafe']:,} UNSAFE{exactly}")
        unproven = int((((self.worst & UNPROVEN) != 0) & ((self.worst & UNSAFE) == 0)).sum())
        if unproven:
            parts.append(f"{unproven:,} not settled")
        return f"{cells}: " + ", ".join([*parts, against])

    def __repr__(self) -> str:
        return f"Audit({self.verdict})"

    def _repr_html_(self) -> str:
        """Return the verdict and the first cells that are not proven safe, as HTML for notebooks."""
        found = islice(self.findings(only_unsafe=True), MOST_ROWS)
        rows = [(finding.name, finding.attacker, finding.verdict) for finding in found]
        left = sum(int((own.bits != 0).sum()) for own in self.answers) - len(rows)
        return show_table(
            ("cell", "attacker", "verdict"), rows, self.verdict, f"and {left:,} more" if left else ""
        )

    def to_arrow(self) -> pa.Table:
        """Return the audit as a table for internal use, per sensitive cell and attacker: codes, ``attacker``,
        ``verdict``, how far ``below`` and ``above`` the truth (at least) the cell can be to them.

        Rows of insiders are there only where they differ from the outsider's, as in :meth:`findings`.
        """
        table = self.problem.table
        found = list(self.findings())
        cells = np.array([finding.cell for finding in found], dtype=np.int64)
        columns: dict[str, object] = {
            name: [getattr(finding, name) for finding in found] for name in ("attacker", "verdict")
        }
        for name in ("below", "above"):
            units = np.array([getattr(finding, name) for finding in found], dtype=np.float64)
            columns[name] = units / 10.0**table.decimals
        return make_arrow_table(codes_to_arrow(table.structure, cells), columns)

    def findings(self, only_unsafe: bool = False) -> Iterator[Finding]:
        """Yield the audit's verdict on each pair of sensitive cell and attacker; those of insiders only where
        they differ from the outsider's.
        """
        structure = self.problem.table.structure
        for own in self.answers:
            for t in np.flatnonzero(own.bits) if only_unsafe else range(own.bits.size):
                cell, bits = int(own.cells[t]), int(own.bits[t])
                # Where nothing moves, a maximum of negative distances leaves a zero with a sign.
                reach = float(own.below[t]) + 0.0, float(own.above[t]) + 0.0
                yield Finding(cell, structure.name(cell), own.attacker, bits, *reach)


@with_heartbeat("audit")
def audit(problem: Problem, release: Release | Sequence[Release], run: Run | None = None) -> Audit:
    """Return the verdict on every sensitive cell and attacker for a release, or several judged together.

    Several releases are one release to a reader, who knows of each cell what all of them say.

    Parameters
    ----------
    problem
        The table with its levels and attackers.
    release
        What would be published; or several releases, the newest last. Those before it may be of other tables
        that share cells with this one.
    run
        Time limit, executor, progress. What is not decided when the time ends is *unproven*, never safe.

    Raises
    ------
    ReleaseError
        A release is of another table, or says something that is not true of this one.
    """
    run = start_run(problem, run)
    *earlier, newest = list_releases(release)
    low, high = find_allowed_moves(problem, (*earlier, newest))
    equations = problem.table.equations
    blocks = make_blocks(equations, peel(equations, low < high), np.zeros(len(equations), dtype=np.int64))
    plan = AuditPlan(problem, list(blocks), low, high)
    results = list(run.map(audit_block, plan.make_tasks(), phase="audit"))
    answers, moves = plan.combine(results)
    programs = sum(own.programs for own in results)
    result = Audit(problem, newest, answers, moves, programs, run.seconds, tuple(earlier))
    LOG.info("audited in %.1f s: %s", result.seconds, result.verdict)
    return result


def refuse_breached(problem: Problem, run: Run | None = None) -> None:
    """Raise if the audit finds that earlier releases alone tell more of a cell than its levels allow.

    Hiding more never tells an attacker more, so some release meets the levels if and only if the one meets
    them that hides every cell.

    Raises
    ------
    LevelsError
        The message names the cell, the attacker and the remedy.
    """
    if not problem.already_published:
        return
    found = audit(problem, Release.suppress(problem.table, np.ones(len(problem.table), dtype=bool)), run)
    broken = [finding for finding in found.findings(only_unsafe=True) if finding.bits & UNSAFE]
    if broken:
        first = broken[0]
        raise LevelsError(
            f"no release keeps its levels any more against {first.attacker} ({first.verdict}), as what was "
            "published earlier tells too much of it"
            f"{and_others(len({finding.cell for finding in broken}), 'cell')}",
            place=f"({first.name})",
            remedy="Exempt the cell, lower its level, or withdraw the earlier release.",
            options=["published"],
        )


def find_allowed_moves(
    problem: Problem, releases: Release | Sequence[Release], insider: Insider | None = None
) -> tuple[Units, Units]:
    """Return how far below (negative) and above the truth an attacker can think each cell to be in an audit,
    in steps of the table's unit.

    Bounds are rounded towards the truth, which never calls an unsafe cell safe.
    """
    table, listed = problem.table, list_releases(releases)
    find_windows(table, listed[-1])
    windows = intersect_windows(table, listed)
    lower, upper = problem.bounds_at(insider, np.arange(len(table)))
    low, high = np.maximum(windows[0], lower), np.minimum(windows[1], upper)
    return to_steps(low, table.units, table.unit, up=False), to_steps(high, table.units, table.unit, up=True)


def list_releases(releases: object) -> tuple[Release, ...]:
    """Return the releases that an audit judges together, the newest last; refuse anything else."""
    listed = tuple(releases) if isinstance(releases, list | tuple) else (releases,)
    if wrong := [other for other in listed if not isinstance(other, Release)]:
        raise ReleaseError(
            f"a release is needed after the problem, not a {type(wrong[0]).__name__}",
            remedy="make one with a method or with Release.suppress, or read it with read_release",
        )
    if not listed:
        remedy = "give one, or several that are judged together"
        raise ReleaseError("there is no release to audit", remedy=remedy)
    return listed


def describe_exempt(problem: Problem) -> str:
    """Return a note for the verdict on how many otherwise sensitive cells are exempt by hand, or ''."""
    exempt = int(problem.exempt.sum())
    hit = "that a rule or a mark hits is" if exempt == 1 else "that rules or marks hit are"
    return f"{pluralize(exempt, 'cell')} {hit} exempt by hand" if exempt else ""
