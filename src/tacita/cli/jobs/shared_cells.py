"""Jobs of one run that publish the same variable of the same data, or of copies of it.

A reader has all their releases. A job that takes another's release as already published is judged with it; so
are linked tables of one project, and the tables of one batch. Other projects are judged together when all are
done (:mod:`tacita.cli.jobs.joint_audit`); batches are not, hence a warning.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import file_digest
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


@dataclass(frozen=True)
class Pair:
    """Two jobs that may share cells, by number; ``judged`` if one takes account of the other's release."""

    one: int
    other: int
    judged: bool


def find_warnings(jobs: Sequence[Job], pairs: Iterable[Pair]) -> dict[int, str]:
    """Return a warning, by number, for jobs that may share cells with others and cannot be judged with them:
    one of the two is a batch.
    """
    others: dict[int, set[int]] = {}
    for pair in pairs:
        one, other = pair.one, pair.other
        if not pair.judged and None in (jobs[one].specification, jobs[other].specification):
            others.setdefault(one, set()).add(other)
            others.setdefault(other, set()).add(one)
    return {number: _warn(jobs, sorted(found)) for number, found in sorted(others.items())}


def find_groups(pairs: Iterable[Pair]) -> list[tuple[int, ...]]:
    """Return the groups of jobs, by number, that may share cells with each other, directly or by others
    between them; without those in which each is judged with all that it shares cells with.
    """
    group: dict[int, set[int]] = {}
    apart: set[int] = set()
    for pair in pairs:
        both = {pair.one, pair.other}
        joined = both.union(*(group.get(number, ()) for number in both))
        group |= dict.fromkeys(joined, joined)
        apart |= set() if pair.judged else both
    return [
        tuple(sorted(found))
        for number, found in sorted(group.items())
        if number == min(found) and found & apart
    ]


def find_pairs(jobs: Sequence[Job]) -> Iterator[Pair]:
    """Yield the pairs of jobs that may share cells."""
    about = [_Outline.of(job) for job in jobs]
    names = _find_copies({subject.data for outline in about for subject in outline.subjects})
    by_data: dict[str, set[int]] = {}
    for number, outline in enumerate(about):
        about[number] = outline = replace(
            outline, subjects=tuple(replace(each, data=names[each.data]) for each in outline.subjects)
        )
        for subject in outline.subjects:
            by_data.setdefault(subject.data, set()).add(number)
    pairs = {pair for numbers in by_data.values() for pair in combinations(sorted(numbers), 2)}
    for one, other in sorted(pairs):
        if about[one].may_share_cells(about[other]):
            yield Pair(one, other, about[one].is_judged_with(about[other]))


def _find_copies(data: Collection[str]) -> dict[str, str]:
    """Return for each path or address of data the first that holds the same, byte by byte."""
    alike: dict[int, list[str]] = {}
    for place in sorted(data):
        with suppress(OSError, ValueError):
            if (size := os.stat(place).st_size) and Path(place).is_file():
                alike.setdefault(size, []).append(place)
    first = {place: place for place in data}
    for places in alike.values():
        by_digest: dict[str, str] = {}
        for place in places if len(places) > 1 else ():
            with suppress(OSError), open(place, "rb") as file:
                first[place] = by_digest.setdefault(file_digest(file, "sha256").hexdigest(), place)
    return first


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
