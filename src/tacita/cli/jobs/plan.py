"""Which jobs there are, and which come before others: a job that reads what another writes comes after it."""

from __future__ import annotations

import glob
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from tacita.cli.jobs.job import Job, JobOptions, JobResult, Verdict, name_fault, read_jobs
from tacita.cli.jobs.shared_cells import Pair, find_pairs
from tacita.cli.verb import describe_error
from tacita.core.errors import InputError, TacitaError


@dataclass(frozen=True)
class Plan:
    """The jobs of a run, for each those that it needs, and the files that state no job, with their fault.

    ``shared`` are the jobs that may share cells.
    """

    jobs: tuple[Job, ...]
    needs: Mapping[int, frozenset[int]]
    broken: Mapping[Path, JobResult]
    shared: tuple[Pair, ...] = ()


def make_plan(given: Iterable[str], options: JobOptions) -> Plan:
    """Return the plan of a run by the arguments of its command.

    Raises
    ------
    InputError
        A pattern fits nothing, two jobs would write to the same place, or jobs need each other.
    """
    jobs: list[Job] = []
    broken: dict[Path, JobResult] = {}
    for path in expand_patterns(given):
        try:
            jobs.extend(read_jobs(path, options))
        except (TacitaError, OSError) as error:
            broken[path] = JobResult(
                Verdict.FAILED, {"fault": name_fault(error)}, error=describe_error(error)
            )
    return Plan(tuple(jobs), find_needs(jobs), broken, tuple(find_pairs(jobs)))


def expand_patterns(given: Iterable[str]) -> list[Path]:
    """Return the paths that the arguments of a command name, each once; patterns in the order of names.

    Raises
    ------
    InputError
        A pattern fits nothing.
    """
    found: dict[Path, Path] = {}
    for text in given:
        paths = [Path(text)]
        if glob.has_magic(text) and not paths[0].exists():
            paths = [Path(name) for name in sorted(glob.glob(text, recursive=True))]
            if not paths:
                raise InputError(
                    "no file fits this pattern", place=text, remedy="check the folder and the name"
                )
        for path in paths:
            found.setdefault(path.resolve(), path)
    return list(found.values())


def find_needs(jobs: Sequence[Job]) -> dict[int, frozenset[int]]:
    """Return for each job, by number, those that write what it reads.

    Raises
    ------
    InputError
        Two jobs write to the same place, or jobs need each other.
    """
    writers: dict[Path, int] = {}
    above: dict[Path, set[int]] = {}
    for number, job in enumerate(jobs):
        places = [path.resolve() for path in job.writes]
        for place in places:
            other = next((writers[each] for each in (place, *place.parents) if each in writers), number)
            other = next(iter(above.get(place, ())), other)
            if other != number:
                raise InputError(
                    f"{jobs[other].path} and {job.path} write their results to the same place, {place}",
                    remedy="give each project a folder of its own in [output]",
                )
            writers[place] = number
        for place in places:
            for parent in place.parents:
                above.setdefault(parent, set()).add(number)
    needs = {}
    for number, job in enumerate(jobs):
        found: set[int] = set()
        for path in map(Path.resolve, job.reads):
            found.update(writers[each] for each in (path, *path.parents) if each in writers)
            if path in above and path.is_dir():
                found.update(above[path])
        needs[number] = frozenset(found - {number})
    _refuse_cycle(jobs, needs)
    return needs


def _refuse_cycle(jobs: Sequence[Job], needs: Mapping[int, frozenset[int]]) -> None:
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        names = " needs ".join(str(jobs[number].path) for number in reversed(error.args[1]))
        raise InputError(
            f"these projects need each other's results: {names}",
            remedy="publish one of them first, and take its results off the others' [published]",
        ) from None
