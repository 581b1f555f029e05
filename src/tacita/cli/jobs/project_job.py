"""A project as a job of ``tacita run``: one table, or linked ones together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from tacita.cli.jobs.job import Job, JobOptions, JobResult, Verdict
from tacita.cli.protect import specify_protection
from tacita.cli.protected_case import find_place, protect_case
from tacita.core.outcome import read_gap
from tacita.core.run import Run, draw_seed

if TYPE_CHECKING:
    from tacita.publication.destination import Destination
    from tacita.specification.specification import Specification

T = TypeVar("T")


@dataclass(frozen=True)
class ProjectJob:
    """A project to protect, audit and write as ``tacita protect PROJECT`` does."""

    path: Path
    specification: Specification

    @property
    def name(self) -> str:
        return str(self.path)

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
        return (self.place.home if self.place.file is None else self.place.home / self.place.file,)

    def carry_out(self, run: Run) -> JobResult:
        seed = self.specification.protect.seed
        seeded = replace(run, seed=draw_seed() if seed is None else seed)

        def carry_out(
            work: Callable[[Run], T], *, time_limit: float | None = None, gap: float | str | None = None
        ) -> T:
            return work(replace(seeded, gap=read_gap(gap or 0.0)).limited(time_limit))

        done = protect_case(self.path, self.specification, self.place, carry_out)
        warnings = tuple(done.answer["warnings"])
        if done.audit is None:
            return JobResult(Verdict.FAILED, done.answer, str(done.error), warnings, done.leftovers)
        verdict = Verdict.SAFE if done.audit.safe else Verdict.UNSAFE
        return JobResult(verdict, done.answer, None, warnings, done.written.notes)


def read_jobs(path: Path, options: JobOptions) -> list[Job]:
    """Return the one job of a project file, changed by the options of the run."""
    from tacita.cli.effort import SearchEffort
    from tacita.specification.specification import Specification

    effort = SearchEffort(time_limit=options.time_limit, gap=options.gap)
    return [ProjectJob(path, specify_protection(Specification.load(path), None, {}, effort))]
