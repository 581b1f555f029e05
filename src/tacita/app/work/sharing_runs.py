"""Runs of several tables that share cells: readers who have their releases know what all of them say.

Each run is audited alone, with the earlier releases of its case. What runs of several tables tell together is
audited on the linked tables, by the requirement of each.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tacita.app.work.job import Job, State
from tacita.app.work.open_case import Case
from tacita.auditing.audit import Audit, audit
from tacita.core import exact
from tacita.core.errors import InputError, TacitaError
from tacita.core.release import Release
from tacita.core.run import Run
from tacita.core.tables.table import Table
from tacita.core.windows import match_cells
from tacita.core.words import pluralize
from tacita.problem.problem import Problem
from tacita.specification.pose_together import pose_stated_together
from tacita.specification.specification import Specification

TOGETHER = "Audited together"
MOST_NAMED = 3
"""Cells that are named in a verdict."""
REMEDY = (
    "Do not publish both. Linked tables are protected together: Help on the page Rules says how. To take the "
    "other release into account and protect this table again helps where the tables have the same totals."
)
ELSEWHERE = "Help on the page Rules says how to protect them as linked tables."


@dataclass(frozen=True, eq=False)
class SharingRun:
    """A run, and how many cells of its release are in the case's table and how many are not.

    ``taken`` says whether the case takes its release as already published.
    """

    job: Job
    shared: int
    apart: int
    taken: bool

    @property
    def name(self) -> str:
        """The run with its table, such as ``run 1 of firms (turnover, region by size)``."""
        return name_run(self.job)


@dataclass(frozen=True)
class JointVerdict:
    """Whether the releases of several runs are proven safe together, in words for a page; None where no cell
    of their tables is sensitive.
    """

    safe: bool | None
    text: str


def name_run(job: Job) -> str:
    """Return a run with its table as messages call it, ``run 1 of firms (turnover, region by size)``."""
    return f"run {job.number} of {job.case.description}"


def take_release(job: Job) -> Release:
    """Return the release of a judged run, called by the run, as one that is already published."""
    assert job.release is not None
    return replace(job.release, made_by={**job.release.made_by, "file": name_run(job)})


def list_sharing_runs(jobs: Iterable[Job], case: Case) -> list[SharingRun]:
    """Return the judged runs of other tables than the case's that show cells of it, with the same values."""
    counts: dict[int, tuple[int, int]] = {}
    found = []
    for job in jobs:
        if job.release is None or not job.state.judged or job.case.table is case.table:
            continue
        if id(job.case.table) not in counts:
            counts[id(job.case.table)] = _count_common_cells(case, job.case)
        shared, apart = counts[id(job.case.table)]
        if shared:
            taken = any(_are_equal(job.release, known) for known in case.published)
            found.append(SharingRun(job, shared, apart, taken))
    return found


def list_side_by_side(jobs: Sequence[Job], case: Case, release: Release | None = None) -> list[SharingRun]:
    """Return the runs that readers would have besides a ``release`` of the case, if they say something else:
    of each other table those that were exported, or else the newest safe one. Of the case's own table, and of
    earlier states that the present one takes the place of, only those that were exported.
    """
    by_table: dict[int, list[SharingRun]] = {}
    for run in [*list_sharing_runs(jobs, case), *_list_own_runs(jobs, case)]:
        if release is not None and run.job.release is not None and _are_equal(run.job.release, release):
            continue
        superseded = run.job.case.work == case.work
        if run.job.exported or (run.job.state is State.SAFE and not superseded):
            by_table.setdefault(id(run.job.case.table), []).append(run)
    return [
        run
        for runs in by_table.values()
        for run in ([each for each in runs if each.job.exported] or runs[-1:])
    ]


def _list_own_runs(jobs: Iterable[Job], case: Case) -> list[SharingRun]:
    """Return the judged runs of the case's own table that have a release."""
    cells = len(case.table)
    return [
        SharingRun(job, cells, 0, any(_are_equal(job.release, known) for known in case.published))
        for job in jobs
        if job.release is not None and job.state.judged and job.case.table is case.table
    ]


def _count_common_cells(case: Case, other: Case) -> tuple[int, int]:
    """Return how many cells of another case this one has as well, and how many it has not.

    It has none where some value differs, or where tables of different names meet in a single cell.
    """
    table, theirs = case.table, other.table
    places = match_cells(table.structure, theirs.structure)
    shared = places >= 0
    decimals = max(table.decimals, theirs.decimals)
    mine = exact.rescale(table.units[places[shared]], table.decimals, decimals)
    others = exact.rescale(theirs.units[shared], theirs.decimals, decimals)
    alike = np.array_equal(mine, others) and (mine.size > 1 or case.name == other.name)
    return (mine.size, places.size - mine.size) if alike else (0, places.size)


def judge_together(jobs: Sequence[Job], run: Run) -> JointVerdict:
    """Return the verdict on the releases of several runs to readers who have all of them."""
    try:
        verdicts = audit_together(jobs, run)
    except TacitaError as error:
        return JointVerdict(False, f"These releases cannot be audited together here: {error} {ELSEWHERE}")
    unsafe = {
        f"({finding.name}) of {name_run(job)}": finding.verdict
        for job, verdict in zip(jobs, verdicts, strict=True)
        for finding in verdict.findings(only_unsafe=True)
    }
    if not any(verdict.counts["checked"] for verdict in verdicts):
        return JointVerdict(None, f"{TOGETHER}: no cell is sensitive, so there was nothing to check.")
    if not unsafe:
        assumed = dict.fromkeys(text for verdict in verdicts for text in verdict.assumptions)
        return JointVerdict(True, f"{TOGETHER}: {'; '.join(['safe, all proven', *assumed])}.")
    named = "; ".join(f"{cell}: {verdict}" for cell, verdict in [*unsafe.items()][:MOST_NAMED])
    more = f"; and {pluralize(len(unsafe) - MOST_NAMED, 'other cell')}" if len(unsafe) > MOST_NAMED else ""
    return JointVerdict(False, f"{TOGETHER}: not safe. {named}{more}. {REMEDY}")


def audit_together(jobs: Sequence[Job], run: Run | None = None) -> list[Audit]:
    """Return for each of several runs the verdict on its sensitive cells, to readers of all their releases.

    Raises
    ------
    TacitaError
        The tables cannot be linked, or may share cells by dimensions that are not matched.
    """
    names = [name_run(job) for job in jobs]
    named = {
        f"{name} ({names[:k].count(name) + 1})" if name in names[:k] else name: job
        for k, (name, job) in enumerate(zip(names, jobs, strict=True))
    }
    cases = pose_stated_together(
        {name: job.case.specification for name, job in named.items()},
        {name: _state(job) for name, job in named.items()},
        {name: job.case.published for name, job in named.items()},
    )
    releases = [release for case in cases.values() for release in case.published]
    releases += [job.release for job in jobs if job.release is not None]
    found = []
    for case in cases.values():
        linked = case.problem.table
        nothing = Release.suppress(linked, np.ones(len(linked), dtype=bool))
        found.append(audit(case.problem, [*releases, nothing], run))
    return found


def _state(job: Job) -> Problem | Table:
    """Return what the files of a run's table state of its cells; the table where they state nothing."""
    data = job.case.data
    if data.insiders:
        raise InputError(
            f"{data.insiders[0].name} attacks {job.case.description} with knowledge of single cells, which "
            "cannot be carried over to linked tables"
        )
    if data.outsider is None and not (data.levels.sensitive | data.must_hide).any():
        return data.table
    return Specification().problem(replace(data, published=(), apriori={}))


def _are_equal(one: Release, other: Release) -> bool:
    """Return whether two releases say the same of the same cells."""
    return (
        one.structure.same_cells(other.structure)
        and one.decimals == other.decimals
        and np.array_equal(one.low, other.low)
        and np.array_equal(one.high, other.high)
    )
