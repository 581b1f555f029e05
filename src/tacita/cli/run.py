"""``tacita run``: many tables in one command, each protected, audited and written like by itself."""

from __future__ import annotations

import glob
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from tacita.cli.console import make_console, print_error, print_json, print_notes, print_warnings
from tacita.cli.effort import Effort, carry_out
from tacita.cli.jobs.job import Job, JobOptions, JobResult, Verdict, read_jobs
from tacita.cli.verb import DONE, ERROR, UNSAFE, Output, describe_error
from tacita.core.errors import InputError, TacitaError


def run_run_command(
    output: Output,
    projects: Annotated[
        list[str],
        typer.Argument(metavar="PROJECT...", help="Project files, folders with a project.toml, or patterns."),
    ],
    time_limit: Annotated[
        float | None,
        typer.Option(help="Seconds to spend at most on each table, in place of what its project says."),
    ] = None,
    gap: Annotated[
        str | None,
        typer.Option(metavar="SHARE", help="As for protect, in place of what projects say: 0.05, or 5%."),
    ] = None,
) -> int:
    """Protect many tables: every project as tacita protect does. What fails is named, the others are done.

    Exit code 2 if any release is not proven safe, else 1 if any table failed, else 0.
    """
    results: dict[str, JobResult] = {}
    for path in expand_patterns(projects):
        try:
            jobs = read_jobs(path, JobOptions(time_limit, gap))
        except (TacitaError, OSError) as error:
            results[str(path)] = JobResult(Verdict.FAILED, error=describe_error(error))
            _print_result(str(path), results[str(path)])
            continue
        for job in jobs:
            results[job.name] = _carry_out(job)
            _print_result(job.name, results[job.name])
    counts = {word: sum(each.verdict is word for each in results.values()) for word in Verdict}
    if output.json:
        listed = [
            {"name": name, "verdict": each.verdict.value, "error": each.error, **each.record}
            for name, each in results.items()
        ]
        print_json({**{word.value: number for word, number in counts.items()}, "tables": listed})
    else:
        make_console().print(", ".join(f"{number} {word}" for word, number in counts.items() if number))
    return UNSAFE if counts[Verdict.UNSAFE] else ERROR if counts[Verdict.FAILED] else DONE


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


def _carry_out(job: Job) -> JobResult:
    try:
        return carry_out(job.carry_out, Effort())
    except (TacitaError, OSError) as error:
        return JobResult(Verdict.FAILED, error=describe_error(error))


def _print_result(name: str, result: JobResult) -> None:
    if result.error is not None:
        print_error(f"{name}: {result.error}")
    else:
        print_notes(f"{name}: {result.verdict}")
    print_warnings(*(f"{name}: {text}" for text in result.warnings))
