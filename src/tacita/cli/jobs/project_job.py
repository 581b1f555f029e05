"""A project as a job of ``tacita run``: one table, or linked ones together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from tacita.cli.effort import SearchEffort
from tacita.cli.jobs.job import Job, JobOptions, JobResult, Verdict, name_fault
from tacita.cli.jobs.shared_cells import ANY, Subject
from tacita.cli.protect import specify_protection
from tacita.cli.protected_case import ProtectedCase, find_place, list_formats, protect_case
from tacita.core.outcome import read_gap
from tacita.core.run import Run, draw_seed

if TYPE_CHECKING:
    from tacita.core.tables.table import Table
    from tacita.publication.destination import Destination
    from tacita.specification.sections import Source
    from tacita.specification.specification import Specification

T = TypeVar("T")
FEW_HAVE = 6
"""Digits of a total that two tables hardly have in common by chance."""


@dataclass(frozen=True)
class ProjectJob:
    """A project to protect, audit and write as ``tacita protect PROJECT`` does."""

    path: Path
    specification: Specification
    options: JobOptions

    @property
    def place(self) -> Destination:
        """Where its results go."""
        place = find_place(self.path, self.specification)
        assert place is not None
        return place

    @property
    def reads(self) -> tuple[Path, ...]:
        return (self.path, *self.specification.files)

    @property
    def writes(self) -> tuple[Path, ...]:
        place = self.place
        if place.file is None:
            return (place.home / place.public, place.home / place.internal)
        named = place.plan(list_formats(place, self.specification)).values()
        return (*(place.home / name for name in named), place.home / place.internal)

    @property
    def reads_only_files(self) -> bool:
        from tacita.tabulation.address import is_address

        return not any(is_address(source.path) for source in self.specification.sources)

    @property
    def subjects(self) -> tuple[Subject, ...]:
        return tuple(map(self._find_subject, self.specification.sources))

    def _find_subject(self, source: Source) -> Subject:
        from tacita.tabulation.address import is_address

        where = (
            source.path
            if is_address(source.path)
            else str((self.specification.folder / source.path).resolve())
        )
        unknown = "" if source.microdata is not None else ANY
        return Subject(where, (source.value or unknown).casefold(), source.only)

    def carry_out(self, run: Run) -> JobResult:
        seed = self.specification.protect.seed
        carrier = _PartOfRun(replace(run, seed=draw_seed() if seed is None else seed))
        done = protect_case(self.path, self.specification, self.place, carrier)
        verdict = (
            Verdict.FAILED if done.audit is None else Verdict.SAFE if done.audit.safe else Verdict.UNSAFE
        )
        return JobResult(
            verdict,
            {
                **describe_requirement(self.specification, done),
                "margins": compute_margin_digests(done.problem.table),
                **done.answer,
            },
            done.written.paths,
            None if done.error is None else str(done.error),
            done.written.warnings,
            (*done.leftovers, *done.written.notes),
            stopped=done.stopped and run.cancelled,
            public=done.written.public,
        )


@dataclass(frozen=True)
class _PartOfRun:
    """Carries out work of one job. Its search hears the cancel of the run; its checks go on to their end,
    since the best so far is worth nothing without its audit.
    """

    run: Run

    def search(self, work: Callable[[Run], T], time_limit: float | None, gap: float | str | None) -> T:
        return work(replace(self.run, gap=read_gap(gap or 0.0)).limited(time_limit))

    def check(self, work: Callable[[Run], T]) -> T:
        return work(Run(seed=self.run.seed, listener=self.run.listener).begin())


def compute_margin_digests(table: Table) -> list[str]:
    """Return what tables of the same data have in common, whatever file they were read from: a digest of the
    numbers of each dimension, all others at their totals, and of the total if hardly another table has it.
    """
    from hashlib import sha256

    from tacita.specification.related_dimensions import find_margins

    margins = {*find_margins(table).values()}
    told = {margin for margin in margins if len(margin) > 2}
    told |= {margin[-1:] for margin in margins if len(margin[-1].as_tuple().digits) >= FEW_HAVE}
    return sorted(sha256(" ".join(map(str, margin)).encode()).hexdigest() for margin in told)


def describe_requirement(specification: Specification, done: ProtectedCase) -> dict[str, Any]:
    """Return what the log records of a project's question: rules, attackers, and what was decided by hand."""
    problem, rules = done.problem, specification.rules
    return {
        "rules": {reason.rule: int(reason.cells.size) for reason in problem.levels.reasons},
        "rule": rules.rule,
        "attackers": problem.considered.text,
        "cost": specification.cost.by or "value",
        "decisions": [*_list_decisions(specification, problem.table)],
        "published": [release.file for release in specification.published.releases],
        "start": specification.protect.start,
        "fault": None if done.error is None else name_fault(done.error),
    }


def _list_decisions(specification: Specification, table: Table) -> Iterator[dict[str, Any]]:
    """Yield what was decided by hand: of how many cells or contributors, by whom, and why."""
    from tacita.specification.decided_cells import CELLS, read_decided

    rules, protect, decisions = specification.rules, specification.protect, specification.decisions
    listed = {
        "must_publish": len(protect.must_publish),
        "must_hide": len(protect.must_hide),
        "sensitive": len(rules.sensitive),
        "exempt": len(rules.exempt),
        "waived": len(rules.waived),
        "attackers": len(specification.attackers.kinds),
    }
    for name, number in listed.items():
        stated = decisions.find(name)
        if number:
            yield {"decision": name, "number": number, "reason": stated.reason, "by": stated.by}
        if name in CELLS:
            for (reason, by), count in read_decided(specification, table, name).reasons.items():
                found = {"decision": name, "number": count, "reason": reason or None, "by": by or None}
                yield {**found, "file": stated.file}


def read_jobs(path: Path, options: JobOptions) -> list[Job]:
    """Return the one job of a project file, changed by the options of the run."""
    from tacita.specification.specification import Specification

    effort = SearchEffort(time_limit=options.time_limit, gap=options.gap)
    return [ProjectJob(path, specify_protection(Specification.load(path), None, {}, effort), options)]
