"""Jobs of one run that publish the same variable of the same data, and are not judged together.

Each release is audited alone, and a reader has all of them. A job that takes another's release as already
published is judged with it; so are linked tables of one project, and the tables of one batch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from tacita.core.words import pluralize

if TYPE_CHECKING:
    from tacita.cli.jobs.job import Job

ANY = "*"
"""Stands for the variable of a file that is recognised when it is read."""


@dataclass(frozen=True)
class Subject:
    """What a table is about: its data, a path or the address of a database, and its response.

    ``response`` is "" of counts; ``only`` are the codes of rows that are read, by column.
    """

    data: str
    response: str
    only: Mapping[str, str] = field(default_factory=dict)

    def may_share_cells(self, other: Subject) -> bool:
        """Return whether a table about the other subject may show the same cells."""
        if self.data != other.data or (
            self.response != other.response and ANY not in (self.response, other.response)
        ):
            return False
        return all(other.only.get(column, code) == code for column, code in self.only.items())


def find_shared_cells(jobs: Sequence[Job]) -> dict[int, str]:
    """Return a warning, by number, for jobs that may share cells with others and are not judged with them."""
    about = [_Outline.of(job) for job in jobs]
    by_data: dict[str, list[int]] = {}
    for number, outline in enumerate(about):
        for data in {subject.data for subject in outline.subjects}:
            by_data.setdefault(data, []).append(number)
    others: dict[int, set[int]] = {}
    for numbers in by_data.values():
        for one, other in combinations(numbers, 2):
            if about[one].may_share_cells(about[other]) and not about[one].is_judged_with(about[other]):
                others.setdefault(one, set()).add(other)
                others.setdefault(other, set()).add(one)
    return {number: _warn(jobs, sorted(found)) for number, found in sorted(others.items())}


@dataclass(frozen=True)
class _Outline:
    """What a job publishes and where, and the releases that it takes as published, with their folders."""

    subjects: tuple[Subject, ...]
    writes: frozenset[Path]
    published: frozenset[Path]

    @classmethod
    def of(cls, job: Job) -> _Outline:
        published = [path.resolve() for path in job.takes_account_of]
        return cls(
            job.subjects,
            frozenset(map(Path.resolve, job.writes)),
            frozenset(place for path in published for place in (path, *path.parents)),
        )

    def may_share_cells(self, other: _Outline) -> bool:
        return any(mine.may_share_cells(theirs) for mine in self.subjects for theirs in other.subjects)

    def is_judged_with(self, other: _Outline) -> bool:
        """Return whether one of two jobs takes something that the other writes as already published."""
        return not (self.published.isdisjoint(other.writes) and other.published.isdisjoint(self.writes))


def _warn(jobs: Sequence[Job], others: Sequence[int]) -> str:
    more = f" and {pluralize(len(others) - 1, 'other')}" if len(others) > 1 else ""
    return (
        f"it may show cells of {jobs[others[0]].path}{more}, of the same data and response: each was judged "
        "alone, and not what they tell together. Link the tables in one project or batch, or name the "
        "release of one under [published] of the other"
    )
