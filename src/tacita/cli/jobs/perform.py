"""Carry out one job of a run wherever a worker is: its errors, its messages, and its record for the log."""

from __future__ import annotations

import os
import platform
import time
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import cache
from hashlib import file_digest, sha256
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacita import __version__
from tacita.cli.console import WARNING, collect_messages
from tacita.cli.jobs.job import Job, JobResult, Verdict, name_fault
from tacita.cli.verb import describe_error
from tacita.core.errors import TacitaError

if TYPE_CHECKING:
    from tacita.core.run import Run

SOLVERS = ("highspy", "pyscipopt", "scipy", "numpy")
INTERNAL_NOTE = "losses and bounds are sums of hidden values"


def perform_job(job: Job, run: Run) -> JobResult:
    """Carry out a job and return how it ended, whatever happens, with its complete record for the log."""
    began, clock, cpu = datetime.now(UTC), time.monotonic(), time.process_time()
    inputs: dict[str, str | None] = {}
    with collect_messages() as messages:
        try:
            inputs = compute_digests(job, job.reads)
            result = job.carry_out(run)
        except Exception as error:
            result = JobResult(Verdict.FAILED, {"fault": name_fault(error)}, error=describe_failure(error))
    warnings = dict.fromkeys((*(text for sign, text in messages if sign == WARNING), *result.warnings))
    notes = dict.fromkeys((*(text for sign, text in messages if sign != WARNING), *result.notes))
    record = {
        "table": str(job.path),
        "verdict": result.verdict.value,
        **result.record,
        "error": result.error,
        "stopped": result.stopped,
        "warnings": [*warnings],
        "notes": [*notes],
        "began": began.isoformat(timespec="seconds"),
        "seconds": round(time.monotonic() - clock, 3),
        "cpu_seconds": round(time.process_time() - cpu, 3),
        **identify(job),
        "inputs": inputs,
        "results": compute_digests(job, result.files),
        "versions": dict(list_versions()),
        "internal": INTERNAL_NOTE,
    }
    return replace(result, record=record, warnings=tuple(warnings), notes=tuple(notes))


def identify(job: Job) -> dict[str, Any]:
    """Return what the log tells jobs of one file apart by, besides the digests of what they read."""
    return {"limits": asdict(job.options), "reads_only_files": job.reads_only_files}


def compute_digests(job: Job, paths: Iterable[Path]) -> dict[str, str | None]:
    """Return the SHA-256 of files, or of all files in folders; by path from the job's own folder. None stands
    for what is not there.
    """
    home = job.path.resolve().parent
    return {_name(path, home): _compute_digest(path) for path in paths}


def _name(path: Path, home: Path) -> str:
    try:
        return Path(os.path.relpath(path.absolute(), home)).as_posix()
    except ValueError:
        # On another drive.
        return path.absolute().as_posix()


def _compute_digest(path: Path) -> str | None:
    if path.is_dir():
        digests = {each.relative_to(path).as_posix(): _compute_digest(each) for each in _list_files(path)}
        return sha256(repr(digests).encode()).hexdigest()
    try:
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def _list_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


@cache
def list_versions() -> Mapping[str, str]:
    """Return the versions of everything that results of a run may depend on."""
    found = {"tacita": __version__, "python": platform.python_version()}
    for name in SOLVERS:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def describe_failure(error: Exception) -> str:
    """Return what ended a job; a fault of the program with its place in the source."""
    if isinstance(error, TacitaError | OSError):
        return describe_error(error)
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(last.filename).name}, line {last.lineno}"
    return f"{type(error).__name__}: {error}. A fault of the program ({where}): please report it."
