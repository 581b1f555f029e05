"""Does a release protect a table? The attacker's own problem, solved for every sensitive cell and every
attacker.

    region(k) = { y : M y = b,  max(window low, lower_k) <= y <= min(window high, upper_k) }

The release protects cell ``p`` against attacker ``k`` if and only if over his region

    max y_p >= a_p + UPL,    min y_p <= a_p - LPL,    max y_p - min y_p >= SPL.

This file implements that paragraph and nothing else; it imports no method. *Safe* means that the
inequalities hold, *proven* that exact moves show it (whole-number moves where cells are counts). Only what
is proven makes :attr:`Audit.safe` true.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from tacita.auditing.asked import BELOW_LOWER, BELOW_SLIDING, BELOW_UPPER, EXACT, FRACTIONAL, UNPROVEN
from tacita.auditing.insiders import audit_block
from tacita.auditing.questions import Answers, Questions, steps
from tacita.auditing.region import blocks, peel
from tacita.auditing.witness import Move
from tacita.core.attacker import Insider
from tacita.core.errors import ReleaseError
from tacita.core.exact import Units
from tacita.core.notebook import MOST_ROWS, show_table
from tacita.core.release import Release
from tacita.core.run import LOG, Run
from tacita.core.tables.frames import Framed, arrow_table, codes_of_cells
from tacita.core.windows import windows_of, windows_together
from tacita.core.words import pluralize
from tacita.problem.problem import AttackerLevels, Problem, start_run

if TYPE_CHECKING:
    import pyarrow as pa

NOTHING_CHECKED = "no cell is sensitive: there was nothing to check"
"""The verdict where nothing had to be protected: it is neither good nor bad."""
UNSAFE = BELOW_UPPER | BELOW_LOWER | BELOW_SLIDING | EXACT

WORDS = {
    EXACT: "exact disclosure",
    BELOW_UPPER: "below upper",
    BELOW_LOWER: "below lower",
    BELOW_SLIDING: "below sliding",
    FRACTIONAL: "only fractional",
    UNPROVEN: "unproven",
}


def in_words(bits: int) -> str:
    """``safe``, or everything that is wrong, the worst first."""
    return ", ".join(word for bit, word in WORDS.items() if bits & bit) or "safe"


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
        """The bits in words."""
        return in_words(self.bits)


@dataclass(frozen=True, eq=False)
class Audit(Framed):
    """Verdicts for every sensitive cell and attacker, with the moves that prove them.

    ``answers[0]`` is the outsider's. An insider has answers of his own only where his differ: where he knows
    more, or faces other levels; elsewhere the outsider's hold for him. ``earlier`` are the releases that were
    judged together with ``release``, the newest.
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
        """All that were judged together, the newest last."""
        return (*self.earlier, self.release)

    @cached_property
    def worst(self) -> Units:
        """Bits per sensitive cell, all attackers together, in the order of ``problem.sensitive``."""
        together = np.zeros(len(self.problem.table), dtype=np.int64)
        for own in self.answers:
            np.bitwise_or.at(together, own.cells, own.bits)
        return together[self.problem.sensitive]

    def verdicts(self, need: AttackerLevels) -> Units:
        """Bits for each target of one attacker."""
        known = np.zeros(len(self.problem.table), dtype=np.int64)
        for own in self.answers:
            if own.insider is None or own.insider is need.insider:
                known[own.cells] = own.bits
        return known[need.cells]

    @property
    def safe(self) -> bool:
        """True if every sensitive cell is safe against every attacker, and proven so; of none, all are."""
        return not any(own.bits.any() for own in self.answers)

    def __bool__(self) -> bool:
        return self.safe

    @property
    def counts(self) -> dict[str, int]:
        """Sensitive cells by verdict: ``safe`` by the inequalities, ``proven`` by exact moves, ``unsafe``,
        ``exact``.
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
        """What is assumed of readers besides the windows of all releases that were judged, in words."""
        judged = (*self.problem.already_published, *self.releases)
        alone = [release.alone for release in judged if release.alone] if len(judged) > 1 else []
        together = [f"assuming that readers of several releases do not know {what}" for what in alone]
        return tuple(filter(None, (*(release.assumption for release in judged), *together)))

    @property
    def verdict(self) -> str:
        """The result in a sentence, which names the attackers that were considered, what is assumed of
        readers besides the windows, the cells that were exempt from being looked at, and how many releases
        were judged together.
        """
        assumed = dict.fromkeys(self.assumptions)
        several = several_in_words(self.problem, len(self.releases))
        told = (*(assumed if self.counts["checked"] else ()), exempt_in_words(self.problem), several)
        return "; ".join(filter(None, (self._found(), *told)))

    def _found(self) -> str:
        n = self.counts
        if not n["checked"]:
            return NOTHING_CHECKED
        cells = pluralize(n["checked"], "sensitive cell")
        against = f"against {self.problem.considered.text}"
        if self.safe:
            return f"{cells}: {n['safe']:,} safe, all proven, {against}"
        told = [f"{n['safe']:,} safe"]
        fractional = int(((self.worst & (FRACTIONAL | UNSAFE | UNPROVEN)) == FRACTIONAL).sum())
        if fractional:
            told.append(
                f"{fractional:,} of them only if an attacker does not know that cells are whole numbers"
            )
        if n["unsafe"]:
            told.append(
                f"{n['unsafe']:,} UNSAFE" + (f" ({n['exact']:,} disclosed exactly)" if n["exact"] else "")
            )
        unproven = int((((self.worst & UNPROVEN) != 0) & ((self.worst & UNSAFE) == 0)).sum())
        if unproven:
            told.append(f"{unproven:,} not settled")
        return f"{cells}: " + ", ".join([*told, against])

    def __repr__(self) -> str:
        return f"Audit({self.verdict})"

    def _repr_html_(self) -> str:
        """Return the verdict and the first cells that are not proven safe, as notebooks show them."""
        found = islice(self.findings(only_unsafe=True), MOST_ROWS)
        rows = [(finding.name, finding.attacker, finding.verdict) for finding in found]
        left = sum(int((own.bits != 0).sum()) for own in self.answers) - len(rows)
        return show_table(
            ("cell", "attacker", "verdict"), rows, self.verdict, f"and {left:,} more" if left else ""
        )

    def to_arrow(self) -> pa.Table:
        """Return one row per sensitive cell and attacker: codes, ``attacker``, ``verdict``, and how far
        ``below`` and ``above`` the true value (at least) the cell can be to them. For internal use.

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
        return arrow_table(codes_of_cells(table.structure, cells), columns)

    def findings(self, only_unsafe: bool = False) -> Iterator[Finding]:
        """One verdict per sensitive cell and attacker; those of insiders only where they differ from the
        outsider's.
        """
        structure = self.problem.table.structure
        for own in self.answers:
            for t in np.flatnonzero(own.bits) if only_unsafe else range(own.bits.size):
                cell = int(own.cells[t])
                yield Finding(
                    cell,
                    structure.name(cell),
                    own.attacker,
                    int(own.bits[t]),
                    float(own.above[t]),
                    float(own.below[t]),
                )


def audit(problem: Problem, release: Release | Sequence[Release], run: Run | None = None) -> Audit:
    """Check a release, whatever made it, or several together.

    Several releases are one release to a reader, who knows of each cell what all of them say.

    Parameters
    ----------
    problem
        The table with its levels and attackers.
    release
        What would be published; or several releases, the newest last. Those before it may be of other tables
        that share cells with this one.
    run
        Time limit, executor, progress. What a limit leaves unanswered is *unproven*, never safe.

    Raises
    ------
    ReleaseError
        A release is of another table, or says something that is not true of this one.
    """
    run = start_run(problem, run)
    *earlier, newest = in_order(release)
    low, high = moves_allowed(problem, (*earlier, newest))
    equations = problem.table.equations
    free = peel(equations, low < high)
    found = list(blocks(equations, free, np.zeros(len(equations), dtype=np.int64)))
    questions = Questions(problem, found, low, high)
    tasks = questions.tasks(run)
    results = []
    for own in run.map(audit_block, tasks):
        results.append(own)
        run.tell("audit", len(results), len(tasks))
    answers, moves = questions.answers(tasks, results)
    programs = sum(own.programs for own in results)
    result = Audit(problem, newest, answers, moves, programs, run.seconds, tuple(earlier))
    LOG.info("audited in %.1f s: %s", result.seconds, result.verdict)
    return result


def moves_allowed(
    problem: Problem, releases: Release | Sequence[Release], insider: Insider | None = None
) -> tuple[Units, Units]:
    """How far below and above the truth an attacker can think each cell to be, in steps of the table's unit.

    Bounds are rounded towards the truth, which never hides a danger.
    """
    table = problem.table
    windows = windows_in_units_of(problem, releases)
    lower, upper = problem.bounds_at(insider, np.arange(len(table)))
    low, high = np.maximum(windows[0], lower), np.minimum(windows[1], upper)
    return steps(low, table.units, table.unit, up=False), steps(high, table.units, table.unit, up=True)


def windows_in_units_of(problem: Problem, releases: Release | Sequence[Release]) -> tuple[Units, Units]:
    """What one release, or several together, say of each cell, in the table's units."""
    listed = in_order(releases)
    windows_of(problem.table, listed[-1])
    return windows_together(problem.table, listed)


def in_order(releases: object) -> tuple[Release, ...]:
    """The releases that are judged together, the newest last; anything else is refused."""
    listed = tuple(releases) if isinstance(releases, list | tuple) else (releases,)
    if wrong := [other for other in listed if not isinstance(other, Release)]:
        raise ReleaseError(
            f"a release is needed after the problem, not a {type(wrong[0]).__name__}: make one with a method "
            "or with Release.suppress, or read it with read_release"
        )
    if not listed:
        raise ReleaseError("there is no release to audit: give one, or several that are judged together")
    return listed


def several_in_words(problem: Problem, releases: int = 1) -> str:
    """How many releases were judged together, those that the problem knows included; nothing of one."""
    judged = releases + len(problem.already_published)
    return f"{judged:,} releases judged together" if judged > 1 else ""


def exempt_in_words(problem: Problem) -> str:
    """How many cells would be sensitive, had they not been declared safe by hand; nothing of none."""
    exempt = int(problem.exempt.sum())
    hit = "that a rule or a mark hits is" if exempt == 1 else "that rules or marks hit are"
    return f"{pluralize(exempt, 'cell')} {hit} exempt by hand" if exempt else ""
