"""Audit together what the projects of one run publish of the same data.

Each release was proven safe by itself, and a reader has all of them: their windows intersect. So the
requirement of every project is audited once more, to readers of all releases of its group. Releases are read
from their files, wherever and in whichever run they were made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacita.cli.console import collect_messages
from tacita.cli.jobs.job import Job, JobResult, Verdict
from tacita.cli.jobs.perform import describe_failure
from tacita.cli.jobs.plan import Plan
from tacita.cli.jobs.shared_cells import Pair, find_groups
from tacita.core.run import Run
from tacita.core.words import pluralize

if TYPE_CHECKING:
    from tacita.auditing.audit import Finding
    from tacita.specification.specification import Specification

REMEDY = (
    "Do not publish these releases side by side: link the tables in one project, or name the release of one "
    "under [published] of the other, and run them again"
)
STOPPED = "the run was stopped"
BATCH = (
    "tables of a batch are judged with each other only. Make projects of the batch (tacita convert), which "
    "are judged together"
)


@dataclass(frozen=True)
class JointVerdict:
    """What the releases of several projects tell together.

    Attributes
    ----------
    verdict
        ``failed`` where they could not be judged together.
    cells
        The cells that are not proven safe, each with its project, the attacker and the verdict on it.
    fault
        Why there is no verdict.
    """

    paths: tuple[Path, ...]
    verdict: Verdict
    cells: tuple[Mapping[str, str], ...] = ()
    fault: str | None = None

    @property
    def text(self) -> str:
        """What a user must know of the verdict, with the remedy; it holds no value of a cell."""
        if self.verdict is Verdict.SAFE:
            return "what they tell together is safe"
        if self.verdict is Verdict.FAILED:
            fault = (self.fault or "").rstrip(".")
            return (
                f"each was judged alone, and not what they tell together: {fault}. If they show cells of "
                "each other, link the tables in one project or batch, or name the release of one under "
                "[published] of the other"
            )
        first = self.cells[0]
        distinct = len({(each["table"], each["cell"]) for each in self.cells})
        more = f" and {pluralize(distinct - 1, 'other cell')}" if distinct > 1 else ""
        return (
            f"together their releases give away ({first['cell']}) of {first['table']} to {first['attacker']} "
            f"({first['verdict']}){more}. {REMEDY}"
        )

    @property
    def record(self) -> dict[str, Any]:
        """What the log records of the verdict."""
        return {
            "table": ", ".join(map(str, self.paths)),
            "together": [str(path) for path in self.paths],
            "verdict": self.verdict.value,
            "unsafe": [dict(each) for each in self.cells],
            "error": None if self.verdict is Verdict.SAFE else self.text,
        }


def judge_together(plan: Plan, results: Mapping[int, JobResult], run: Run) -> list[JointVerdict]:
    """Return the verdicts on tables of a run whose releases are there and may share cells."""
    there = {number: each for number, each in sorted(results.items()) if each.verdict is Verdict.SAFE}
    pairs = [pair for pair in plan.shared if there.keys() >= {*pair}]
    projects = {number for number, job in enumerate(plan.jobs) if job.specification is not None}
    joint = [pair for pair in pairs if projects.issuperset(pair)]
    joint += _find_equal_margins({number: there[number] for number in there if number in projects})
    groups = [[plan.jobs[number] for number in group] for group in find_groups(joint)]
    apart = find_groups(pair for pair in pairs if not projects.issuperset(pair))
    return [
        *(verdict for group in groups for verdict in _judge_group(group, run)),
        *(
            JointVerdict(tuple(plan.jobs[number].path for number in group), Verdict.FAILED, fault=BATCH)
            for group in apart
        ),
    ]


def _judge_group(jobs: Sequence[Job], run: Run) -> list[JointVerdict]:
    """Return the verdict on a group; where there is none, also those on its projects that read alike, so that
    one which cannot be linked to the others does not conceal what these tell.
    """
    all_together = _judge(jobs, run)
    alike: dict[str, list[Job]] = {}
    for job in jobs if all_together.verdict is Verdict.FAILED and not run.cancelled else ():
        sources = job.specification.sources if job.specification is not None else ()
        read = [(each.where, each.weight, each.decimals, sorted(each.recode.items())) for each in sources]
        alike.setdefault(str(read), []).append(job)
    parts = [part for part in alike.values() if 1 < len(part) < len(jobs)]
    return [all_together, *(_judge(part, run) for part in parts)]


def _find_equal_margins(results: Mapping[int, JobResult]) -> list[Pair]:
    """Return the jobs whose tables have a margin in common: of copies of the data, in any format or order."""
    first: dict[str, int] = {}
    found = [
        (margin, number) for number, each in results.items() for margin in each.record.get("margins", ())
    ]
    return [(first[margin], number) for margin, number in found if first.setdefault(margin, number) != number]


def _judge(jobs: Sequence[Job], run: Run) -> JointVerdict:
    paths = tuple(job.path for job in jobs)
    try:
        # What there is to say of each table was said when it was protected.
        with collect_messages():
            specifications = {str(job.path): job.specification for job in jobs if job.specification}
            found = {} if run.cancelled else _find_unsafe(specifications, run)
    except Exception as error:
        # The releases are written: whatever happens here, the run goes on to its log and summary.
        return JointVerdict(paths, Verdict.FAILED, fault=describe_failure(error))
    if run.cancelled:
        return JointVerdict(paths, Verdict.FAILED, fault=STOPPED)
    cells = tuple(
        {"table": name, "cell": each.name, "attacker": each.attacker, "verdict": each.verdict}
        for name, findings in found.items()
        for each in findings
    )
    return JointVerdict(paths, Verdict.UNSAFE if cells else Verdict.SAFE, cells)


def _find_unsafe(specifications: Mapping[str, Specification], run: Run) -> dict[str, list[Finding]]:
    """Return what is not proven safe of each project to readers of all releases."""
    import numpy as np

    from tacita.auditing.audit import audit
    from tacita.cli.protected_case import find_place
    from tacita.core.release import Release
    from tacita.publication.release_read import read_release
    from tacita.specification.pose_together import pose_together

    cases = pose_together(specifications)
    releases: list[Release] = []
    for name, case in cases.items():
        place = find_place(Path(name), specifications[name])
        assert place is not None
        releases += [*case.published, read_release(place.record, case.table)]
    found = {}
    for name, case in cases.items():
        table = case.problem.table
        nothing = Release.suppress(table, np.ones(len(table), dtype=bool))
        judged = audit(case.problem, [*releases, nothing], run)
        found[name] = list(judged.findings(only_unsafe=True))
    return found
