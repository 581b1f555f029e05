"""A job of ``tacita run``: what it reads and writes, its work, and how it ended.

A kind of jobs is a module with ``read_jobs(path, options) -> list[Job]`` and a line in :data:`KINDS`, by the
ending of the files that it reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from tacita.cli.jobs.shared_cells import Subject
from tacita.core.errors import InputError, TacitaError

if TYPE_CHECKING:
    from tacita.core.run import Run
    from tacita.specification.specification import Specification

KINDS = {".toml": "tacita.cli.jobs.project_job", ".arb": "tacita.cli.jobs.batch_job"}
"""Where the kinds of jobs are, by the ending of the file that the user names."""


class Verdict(StrEnum):
    """How a job ended."""

    SAFE = "safe"
    UNSAFE = "not safe"
    FAILED = "failed"
    SKIPPED = "not begun"


@dataclass(frozen=True)
class JobOptions:
    """Options of ``tacita run`` that hold for every table, in place of what its project says.

    ``data`` is the folder for files that are not in that of a batch.
    """

    time_limit: float | None = None
    gap: str | None = None
    data: str | None = None


@dataclass(frozen=True)
class JobResult:
    """How a job ended, what the log records of it, and what its user should know.

    Attributes
    ----------
    record
        Values that JSON can write. The log is internal: sums of hidden values, such as a loss, may be in it,
        but no value of a cell.
    files, public
        The files of results that were written; those of them that are for publication.
    error
        Why it failed or was not begun.
    stopped
        Whether a cancel ended it, so that the result is the best so far.
    remarks
        What was done otherwise than its file asks, or not at all.
    """

    verdict: Verdict
    record: Mapping[str, Any] = field(default_factory=dict)
    files: tuple[Path, ...] = ()
    error: str | None = None
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    stopped: bool = False
    remarks: tuple[str, ...] = ()
    public: tuple[Path, ...] = ()


class Job(Protocol):
    """One piece of work of a run, usually one table; it can be pickled, and is carried out in any process."""

    @property
    def path(self) -> Path:
        """Its file, as the user names it."""

    @property
    def options(self) -> JobOptions:
        """The options of the run that hold for it; with others it is another job."""

    @property
    def reads(self) -> tuple[Path, ...]:
        """All files and folders that the job reads; jobs that write one of them come before it."""

    @property
    def writes(self) -> tuple[Path, ...]:
        """The folders or files of its results, which no other job may share."""

    @property
    def reads_only_files(self) -> bool:
        """Whether the same files mean the same result; databases may hold something else by now."""

    @property
    def subjects(self) -> tuple[Subject, ...]:
        """What its tables are about: those of other jobs about the same may share cells with them."""

    @property
    def specification(self) -> Specification | None:
        """The project that it carries out, which can be judged together with others; None of batches."""

    def carry_out(self, run: Run) -> JobResult:
        """Do the work with the progress and the cancel of a run; return how it ended.

        Errors of the user's files are raised: whoever calls this makes a failed job of them, and collects
        what is printed (:func:`tacita.cli.console.collect_messages`).
        """


def read_jobs(path: Path, options: JobOptions) -> list[Job]:
    """Return the jobs that a file, or a folder with a ``project.toml``, states."""
    from tacita.specification.specification import find_project

    file = find_project(path) or path
    kind = KINDS.get(file.suffix.lower())
    if kind is None:
        raise InputError(
            "this is neither a project nor anything else that is run",
            place=path,
            remedy=f"name files that end with {' or '.join(KINDS)}, or folders with a project.toml",
        )
    jobs: list[Job] = import_module(kind).read_jobs(file, options)
    return jobs


def name_fault(error: Exception) -> str:
    """Return the kind of an error in words that hold nothing of any file."""
    if isinstance(error, TacitaError):
        return (type(error).__doc__ or "").splitlines()[0].replace("``", "")
    return "A file cannot be read or written." if isinstance(error, OSError) else "A fault of the program."
