"""``tacita audit``: does a release, whoever made it, protect the table?"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacita.cli.case_options import Case, CaseFlags, parse_pair, pose_problem
from tacita.cli.console import make_console, print_json, print_notes
from tacita.cli.effort import Effort, carry_out
from tacita.cli.protect import print_written_files
from tacita.cli.release_options import ReleaseOptions, load_earlier, load_release
from tacita.cli.verb import DONE, UNSAFE, Output
from tacita.core.errors import InputError, did_you_mean
from tacita.core.words import list_names

if TYPE_CHECKING:
    from tacita.core.tables.table import Table

MOST_CODES = 8
"""Codes of a dimension that a message lists."""


def run_audit_command(
    case: Case,
    releases: Annotated[
        list[Path],
        typer.Argument(
            metavar="RELEASE...",
            help="The release, or the folder that its results went to; with --together several, the newest "
            "last, which other options speak of. FILE:base=5 or FILE:radius=2 says it of one of them.",
        ),
    ],
    output: Output,
    flags: CaseFlags,
    release_options: ReleaseOptions,
    effort: Effort,
    together: Annotated[
        bool,
        typer.Option(
            "--together",
            help="Judge several releases as one: readers may have all of them. Those before the last may be "
            "of tables that share cells with this one.",
        ),
    ] = False,
    intervals: Annotated[
        bool, typer.Option("--intervals", help="Also print what an outsider can deduce of each hidden cell.")
    ] = False,
    explain: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CELL",
            help="Also tell why a cell is hidden: what it protects, what protects it. By its codes, as in "
            "region=North,year=2024; repeat.",
        ),
    ] = None,
    show_values: Annotated[
        bool,
        typer.Option("--show-values", help="Show true values of unsafe cells, and of what --explain names."),
    ] = False,
    to: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Write DIR/internal/audit.json and, if safe, certificate.json: internal.",
        ),
    ] = None,
) -> int:
    """Check a release, whoever made it: what can each attacker deduce of each sensitive cell?

    With --together, or releases that are already --published, what they deduce from all of them.

    Exit code 0 if every sensitive cell is proven safe against every attacker, else 2.
    """
    from tacita.auditing.audit import audit as check
    from tacita.auditing.deduce import deduce
    from tacita.auditing.explain import explain as find_reasons
    from tacita.core.windows import note_unshared
    from tacita.publication.results import refuse_blocked, write_verdict
    from tacita.report.record import (
        build_audit_object,
        build_explanation_record,
        list_findings,
        list_intervals,
    )

    if to is not None:
        refuse_blocked(to)
    if len(releases) > 1 and not together:
        raise InputError(
            f"{len(releases)} releases",
            remedy="say --together to judge them as one, which they are to readers who have them all; tacita "
            "compare judges each by itself",
        )
    problem = pose_problem(case, replace(flags, published=[]))
    cells = [find_cell(problem.table, text) for text in explain or ()]
    *before, newest = releases
    # Options speak of the newest release: a radius would widen what exact numbers of the others tell.
    published = [
        load_earlier(text, problem.table, flags.release_sign)
        for text in (*flags.published, *map(str, before))
    ]
    published.append(load_release(newest, problem, release_options, flags.release_sign))
    unshared = list(note_unshared(problem.table, published))
    print_notes(*unshared)
    found = carry_out(lambda run: check(problem, published, run), effort, time_limit=effort.time_limit)
    answer = {**build_audit_object(found), "cells": list_findings(found), "warnings": list(problem.warnings)}
    answer["notes"] = [*(note for each in published for note in each.notes), *unshared]
    answer["assumptions"] = list(found.assumptions)
    if len(found.releases) > 1:
        answer["releases"] = len(found.releases)
    deduced = None
    if intervals:
        deduced = carry_out(
            lambda run: deduce(problem, published, run=run), effort, time_limit=effort.time_limit
        )
        answer["intervals"] = list_intervals(deduced)
    explanations = []
    if cells:
        explanations = carry_out(
            lambda run: [find_reasons(problem, published, cell, found, run) for cell in cells],
            effort,
            time_limit=effort.time_limit,
        )
        answer["explanations"] = [build_explanation_record(own, show_values) for own in explanations]
    if to is not None:
        print_written_files(write_verdict(found, to))
    if output.json:
        print_json(answer)
    else:
        from tacita.report.terminal import (
            build_explanation,
            build_findings_table,
            build_intervals_table,
            build_verdict_line,
        )

        console = make_console()
        if not found.safe:
            console.print(build_findings_table(problem, found.findings(only_unsafe=True), show_values))
        if deduced is not None:
            console.print(build_intervals_table(deduced))
        for own in explanations:
            console.print(build_explanation(own, show_values))
        if len(problem.levels):
            console.print(build_verdict_line(found))
    return DONE if found.safe else UNSAFE


def find_cell(table: Table, text: str) -> int:
    """Return the cell of a table that a command-line text names: ``region=North,year=2024``, or its code
    alone where the table has one dimension or labels.
    """
    from tacita.core.tables.cell_selection import read_cells

    structure = table.structure
    names = "|".join(re.escape(dimension.name) for dimension in structure.dimensions)
    pairs = [] if structure.labels else re.split(rf",\s*(?=(?:{names})\s*=)", text)
    codes = dict(parse_pair(pair, "--explain NAME=CODE,...") for pair in pairs if "=" in pair)
    if not (codes or structure.labels) and len(structure.dimensions) > 1:
        parts = [part.strip() for part in text.split(",")]
        parts = parts if len(parts) == len(structure.dimensions) else ["CODE"] * len(structure.dimensions)
        written = ",".join(f"{d.name}={part}" for d, part in zip(structure.dimensions, parts, strict=True))
        raise InputError(
            f"'{text}' does not say which code is of which dimension",
            place="--explain",
            remedy=f'write --explain "{written}"',
        )
    for dimension in structure.dimensions:
        if (code := codes.get(dimension.name)) is not None and code not in dimension.position:
            raise InputError(
                f"'{dimension.name}' has no code {code!r}{did_you_mean(code, dimension.codes)}",
                place="--explain",
                remedy=f"its codes are {list_names(dimension.codes, MOST_CODES)}",
            )
    return int(read_cells(table, [codes or text.strip()], "--explain").nonzero()[0][0])
