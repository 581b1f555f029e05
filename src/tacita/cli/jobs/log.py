"""The log of a run: one JSON object per line and table, appended when the table is done.

The last record of a table holds. It is internal (see :mod:`tacita.cli.jobs.job`), and says of what is done
whether that still holds: the same files as inputs, the same options and version, the results unchanged.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO

from tacita import __version__
from tacita.cli.jobs.job import Job, JobResult, Verdict
from tacita.cli.jobs.perform import compute_digests, identify
from tacita.core.errors import InputError, describe_write_failure
from tacita.report.record import to_json_values
from tacita.storage.internal import refuse_published
from tacita.storage.locks import acquire_lock


@dataclass(frozen=True)
class RunLog:
    """The log of a run, open to be appended to, with the last record of each table before the run."""

    path: Path
    file: BinaryIO
    earlier: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    _turn: Lock = field(default_factory=Lock)

    def append(self, record: Mapping[str, Any], *jobs: Path) -> None:
        """Append the record of a job, or of several together: complete, or not at all but for a part of a
        line that readers skip.
        """
        file = ", ".join(name_from(self.path, job) for job in jobs)
        line = json.dumps(to_json_values({**record, "file": file}), allow_nan=False, ensure_ascii=False)
        with self._turn:
            try:
                self.file.write(line.encode() + b"\n")
                self.file.flush()
                os.fsync(self.file.fileno())
            except OSError as error:
                raise describe_write_failure(self.path, error) from error

    def find_done(self, job: Job) -> JobResult | None:
        """Return how a job ended in an earlier run, if it need not be done again; else None.

        A table that failed or was stopped has more to do. What is not safe has its verdict.
        """
        record = self.earlier.get(name_from(self.path, job.path), {})
        try:
            return JobResult(Verdict(record["verdict"]), record) if _holds(record, job) else None
        except (AttributeError, KeyError, TypeError, ValueError):
            # Somebody has edited it.
            return None


def _holds(record: Mapping[str, Any], job: Job) -> bool:
    """Return whether the record of a job says that it is done, and all that it was done with is the same."""
    same = identify(job)
    results = record["results"]
    return (
        record["verdict"] in (Verdict.SAFE, Verdict.UNSAFE)
        and not record["stopped"]
        and job.reads_only_files
        and {name: record[name] for name in same} == same
        and record["versions"]["tacita"] == __version__
        and bool(results)
        and compute_digests(job, [job.path.resolve().parent / name for name in results]) == results
        and compute_digests(job, job.reads) == record["inputs"]
    )


@contextmanager
def open_log(path: Path) -> Iterator[RunLog]:
    """Yield the log of a run, which no other run may append to meanwhile.

    Raises
    ------
    InputError
        Another run is at it, it is no log, or it would lie in what is published.
    """
    refuse_published(path)
    guard = path.with_name(f".{path.name}.lock")
    if not path.parent.is_dir():
        raise InputError(
            f"the folder {path.parent} does not exist", place=path, remedy="make it first, or log elsewhere"
        )
    lock = acquire_lock(guard)
    if lock is None:
        raise InputError(
            "another run writes to this log", place=path, remedy="wait for it, or give another with --log"
        )
    try:
        earlier, torn = read_log(path)
        try:
            with path.open("ab") as file:
                if torn:
                    file.write(b"\n")
                yield RunLog(path, file, earlier)
        except OSError as error:
            raise describe_write_failure(path, error) from error
    finally:
        with suppress(OSError):
            guard.unlink()
        os.close(lock)


def read_log(path: Path) -> tuple[dict[str, dict[str, Any]], bool]:
    """Return the last record of each table in a log, and whether its last line was cut off by a crash.

    Raises
    ------
    InputError
        The file is something else.
    """
    if not path.exists():
        return {}, False
    content = path.read_bytes()
    *lines, last = content.split(b"\n")
    records: dict[str, dict[str, Any]] = {}
    for line in lines:
        try:
            record = json.loads(line)
            records[record["file"]] = record
        except (ValueError, TypeError, KeyError, RecursionError):
            # The remains of a crash.
            continue
    if content and not records and (len(lines) > 1 or not content.startswith(b'{"table"')):
        raise InputError("this is no log of a run", place=path, remedy="give another name with --log")
    return records, bool(last)


def name_from(log: Path, job: Path) -> str:
    """Return how a log names the file of a job: by its path from the folder of the log."""
    try:
        return Path(os.path.relpath(job.resolve(), log.resolve().parent)).as_posix()
    except ValueError:
        # On another drive.
        return job.resolve().as_posix()
