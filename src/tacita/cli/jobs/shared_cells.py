"""Jobs of one run that publish the same variable of the same data, or of copies of it.

A reader has all their releases. Linked tables of one project, and tables of one batch, are judged together.
Several projects are when all are done (:mod:`tacita.cli.jobs.joint_audit`); batches are not, so their verdict
together is failed.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import file_digest
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

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


Pair: TypeAlias = tuple[int, int]
"""Two jobs that may share cells, by number."""


def find_groups(pairs: Iterable[Pair]) -> list[tuple[int, ...]]:
    """Return the groups of jobs, by number, that may share cells with each other, directly or by others
    between them.

    A project that takes the release of another as already published is no exception: it was judged by its
    own requirement, and what it publishes may give away what only the other one requires to be hidden.
    """
    group: dict[int, set[int]] = {}
    for one, other in pairs:
        joined = {one, other}.union(group.get(one, ()), group.get(other, ()))
        group |= dict.fromkeys(joined, joined)
    return [tuple(sorted(found)) for number, found in sorted(group.items()) if number == min(found)]


def find_pairs(jobs: Sequence[Job]) -> Iterator[Pair]:
    """Yield the pairs of jobs that may share cells."""
    about = [job.subjects for job in jobs]
    names = _find_copies({subject.data for subjects in about for subject in subjects})
    by_data: dict[str, set[int]] = {}
    for number, subjects in enumerate(about):
        about[number] = tuple(replace(each, data=names[each.data]) for each in subjects)
        for subject in about[number]:
            by_data.setdefault(subject.data, set()).add(number)
    pairs = {pair for numbers in by_data.values() for pair in combinations(sorted(numbers), 2)}
    for one, other in sorted(pairs):
        if any(mine.may_share_cells(theirs) for mine in about[one] for theirs in about[other]):
            yield one, other


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
