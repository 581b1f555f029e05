"""``tacita compare``: releases of one table side by side, from files and by methods, each of them audited."""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacita.cli.case_options import Case, CaseFlags, parse_pair, pose_problem
from tacita.cli.console import make_console, print_json, print_notes, print_written
from tacita.cli.effort import SearchEffort, carry_out
from tacita.cli.protect import run_audit, specify_protection
from tacita.cli.release_options import ReleaseOptions, load_release
from tacita.cli.report import refuse_other_pages
from tacita.cli.verb import DONE, ERROR, UNSAFE, Output
from tacita.core.errors import InfeasibleError, InputError, ReleaseError, TacitaError
from tacita.core.outcome import Status
from tacita.core.words import describe_method
from tacita.report.measures import (
    DECISIVE,
    FURTHER,
    MEASURED,
    MEASURES,
    choose_measures,
    compute_measures,
)

if TYPE_CHECKING:
    from tacita.core.release import Release
    from tacita.methods import Method
    from tacita.problem.problem import Problem
    from tacita.report.measures import Measure
    from tacita.report.terminal import ComparisonRow
    from tacita.specification.specification import Specification

EVERY = (*MEASURES, *FURTHER)
COLUMNS = f"Columns: {'; '.join(f'{measure.key}: {measure.meaning}' for measure in EVERY)}."
"""The end of its help."""
WRITTEN = "NAME:OPTION=VALUE,... with quotes around a value that holds commas"


@dataclass(frozen=True, eq=False)
class Candidate:
    """What is compared: a release from a file, or the one that a method finds."""

    name: str
    effort: SearchEffort
    file: Path | None = None
    release: Release | None = None
    method: Method | None = None
    options: dict[str, Any] = field(default_factory=dict)


def run_compare_command(
    case: Case,
    output: Output,
    flags: CaseFlags,
    release_options: ReleaseOptions,
    effort: SearchEffort,
    releases: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[RELEASE]...", help="Releases, or folders that hold a release.csv, whoever made them."
        ),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[:OPTION=VALUE,...]",
            help="A method to run on the case, such as rounding:base=5; repeat. Quotes around a value that "
            "holds commas.",
        ),
    ] = None,
    measure: Annotated[
        str | None,
        typer.Option(
            metavar="NAME[:OPTION=VALUE,...]",
            help="Also give the loss of every release, whoever made it, in the measure of this method.",
        ),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,...",
            help=f"The columns to show, such as loss,risk,l1. Default: {','.join(DECISIVE)}.",
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Show all columns.")] = False,
    by_level: Annotated[
        bool, typer.Option("--by-level", help="Also show what is lost at each level of each hierarchy.")
    ] = False,
    to: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE.html",
            help="Also write a page with all columns and with pictures of each release, side by side.",
        ),
    ] = None,
) -> int:
    """Set releases of a table side by side, files and what methods find: is each one safe, what does it lose?

    Time limit and gap are for each method; audits have none. Exit code 0 if every release is proven safe, 2
    if one is not, 1 if a method stopped with an error or there is no release at all. A method that cannot
    protect the table is an answer: its row says so, and its status in JSON, which has all columns. Internal:
    losses and distances tell of true values.
    """
    shown = _choose_columns(columns, every)
    if to is not None:
        refuse_other_pages(to)
    specification = flags.specify(case)
    by_methods = [_make_candidate(text, specification, effort) for text in method or ()]
    by = None if measure is None else _make_candidate(measure, specification, effort, "--measure").method
    if not (releases or by_methods):
        raise InputError(
            "nothing to compare",
            remedy="name releases, methods, or both, as in tacita compare CASE RELEASE --method suppression "
            "--method rounding:base=5",
        )
    problem = pose_problem(case, flags, specification)
    # All files are read before anything takes long: a wrong one is reported at once.
    candidates = [
        Candidate(str(file), effort, file, load_release(file, problem, release_options, flags.release_sign))
        for file in releases or ()
    ]
    candidates += by_methods
    rows = [_build_row(problem, candidate, by) for candidate in candidates]
    if to is not None:
        _write_page(to, rows, case)
    if output.json:
        print_json(_build_answer(problem, candidates, rows))
    else:
        _print_rows(rows, shown, by_level)
    return _choose_exit_code(rows)


def _choose_columns(columns: str | None, every: bool) -> tuple[Measure, ...]:
    """Return the measures that ``--columns`` names, all with ``--all``, and else the decisive ones."""
    if columns is None:
        return EVERY if every else choose_measures(DECISIVE)
    if every:
        raise InputError("--columns and --all contradict each other", remedy="give one of them")
    try:
        return choose_measures([name.strip() for name in columns.split(",") if name.strip()])
    except InputError as error:
        raise error.with_place(f"--columns {columns}") from None


def _make_candidate(
    text: str, specification: Specification, effort: SearchEffort, flag: str = "--method"
) -> Candidate:
    """Return the method of ``--method rounding:base=5``, with what a project specifies of it besides."""
    from tacita.methods import make_method

    name, _, options = text.partition(":")
    if not (name := name.strip()):
        raise InputError(f"{flag} {text}: the name of a method is missing", remedy=f"write {WRITTEN}")
    given = _parse_options(options, f"{flag} {text}")
    wanted = specify_protection(specification, name, given, effort).protect
    method = make_method(name, wanted.options)
    chosen = {option: getattr(method, option) for option in wanted.options}
    gap = None if wanted.gap is None else str(wanted.gap)
    effort = replace(effort, time_limit=wanted.time_limit, seed=wanted.seed, gap=gap)
    return Candidate(describe_method(name, chosen), effort, method=method, options=chosen)


def _parse_options(options: str, text: str) -> dict[str, str]:
    parts = shlex.shlex(options, posix=True)
    parts.whitespace, parts.whitespace_split, parts.escape, parts.commenters = ",", True, "", ""
    try:
        return dict(parse_pair(part, WRITTEN) for part in parts)
    except InputError as error:
        raise error.with_place(text) from None
    except ValueError:
        raise InputError("a quote is not closed", place=text, remedy=f"write {WRITTEN}") from None


def _build_row(problem: Problem, candidate: Candidate, by: Method | None) -> ComparisonRow:
    """Return a row of ``tacita compare``: verdict and measures of a release, or why there is none."""
    from tacita.auditing.deduce import deduce
    from tacita.methods.measuring import measure_shown_statistics
    from tacita.problem.quality import compare as lost_by
    from tacita.report.terminal import ComparisonRow

    effort, started = candidate.effort, time.perf_counter()
    try:
        release = _get_release(problem, candidate)
    except TacitaError as error:
        numbers = compute_measures(problem, None, None, None, time.perf_counter() - started)
        numbers = numbers if by is None else {**numbers, MEASURED.key: nan}
        status = Status.INFEASIBLE if isinstance(error, InfeasibleError) else Status.FAILED
        return ComparisonRow(candidate.name, numbers, status=status, error=str(error))
    found = run_audit(problem, release, effort)
    hidden = problem.sensitive[release.hidden[problem.sensitive]]
    intervals = carry_out(lambda run: deduce(problem, release, run=run, cells=hidden), effort)
    lost, outcome = lost_by(problem, [release])[0], release.outcome
    statistics = measure_shown_statistics(problem, release)
    numbers = compute_measures(problem, outcome, lost, intervals, time.perf_counter() - started, statistics)
    if by is not None:
        numbers = {**numbers, MEASURED.key: _measure_loss(by, problem, release)}
    return ComparisonRow(candidate.name, numbers, found, outcome.status if outcome is not None else None)


def _measure_loss(by: Method, problem: Problem, release: Release) -> float:
    """Return a release's loss by the method of ``--measure``; NaN where it shows no number for it."""
    try:
        return by.loss(problem, release)
    except ReleaseError:
        return nan


def _get_release(problem: Problem, candidate: Candidate) -> Release:
    effort, method = candidate.effort, candidate.method
    if method is None:
        assert candidate.release is not None
        return candidate.release
    return carry_out(
        lambda run: method.protect(problem, run), effort, time_limit=effort.time_limit, gap=effort.gap
    )


def _list_verdicts(rows: list[ComparisonRow]) -> list[bool]:
    return [row.audit.safe for row in rows if row.audit is not None]


def _choose_exit_code(rows: list[ComparisonRow]) -> int:
    verdicts = _list_verdicts(rows)
    if not all(verdicts):
        return UNSAFE
    return ERROR if not verdicts or any(row.status is Status.FAILED for row in rows) else DONE


def _build_answer(problem: Problem, candidates: list[Candidate], rows: list[ComparisonRow]) -> dict[str, Any]:
    """Return the JSON answer of ``tacita compare``; ``safe`` if any release is there and each is safe."""
    verdicts = _list_verdicts(rows)
    return {
        "cells": len(problem.table),
        "sensitive": len(problem.levels),
        "safe": bool(verdicts) and all(verdicts),
        "releases": [_build_entry(*both) for both in zip(candidates, rows, strict=True)],
    }


def _build_entry(candidate: Candidate, row: ComparisonRow) -> dict[str, Any]:
    """Return a release's entry in the JSON answer of ``tacita compare``; what is not known becomes null."""
    from tacita.report.record import build_audit_object

    return {
        "name": row.name,
        "file": str(candidate.file) if candidate.file is not None else None,
        "method": candidate.method.name if candidate.method is not None else None,
        "options": candidate.options,
        "error": row.error,
        "remarks": list(row.outcome.remarks) if row.outcome is not None else [],
        "audit": build_audit_object(row.audit) if row.audit is not None else None,
        "status": row.status.value if row.status is not None else None,
        "levels": [{k: v for k, v in vars(level).items() if k != "release"} for level in row.levels],
        **row.numbers,
        "seconds": round(row.numbers["seconds"], 3),
    }


def _write_page(to: Path, rows: list[ComparisonRow], case: Path) -> None:
    """Write the page of ``tacita compare --out``, and print that it was written."""
    from tacita.report.comparison_page import build_comparison_page
    from tacita.storage.atomic import write_text

    write_text(to, build_comparison_page(rows, f"Releases of {case.name} compared"))
    print_written(to, "losses and deviations tell of true values")


def _print_rows(rows: list[ComparisonRow], shown: Sequence[Measure], by_level: bool) -> None:
    from tacita.report.terminal import build_comparison_table, build_level_tables

    console = make_console()
    console.print(build_comparison_table(rows, console.width, shown))
    for table in build_level_tables(rows) if by_level else ():
        console.print(table)
    for row in rows:
        print_notes(*(f"{row.name}: {text}" for text in (row.outcome.remarks if row.outcome else ())))
