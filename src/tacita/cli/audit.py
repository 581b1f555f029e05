"""``tacita audit``: does a release, whoever made it, protect the table?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from tacita.cli.case_options import Case, CaseFlags, pose_problem
from tacita.cli.console import make_console, print_json, print_notes
from tacita.cli.effort import Effort, carry_out
from tacita.cli.protect import print_written_files
from tacita.cli.release_options import ReleaseOptions, load_earlier, load_release
from tacita.cli.verb import DONE, UNSAFE, Output
from tacita.core.errors import InputError


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
    show_values: Annotated[
        bool, typer.Option("--show-values", help="Show true values of unsafe cells.")
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
    from tacita.core.windows import note_unshared
    from tacita.publication.results import refuse_blocked, write_verdict
    from tacita.report.record import build_audit_object, list_findings, list_intervals

    if to is not None:
        refuse_blocked(to)
    if len(releases) > 1 and not together:
        raise InputError(
            f"{len(releases)} releases",
            remedy="say --together to judge them as one, which they are to readers who have them all; tacita "
            "compare judges each by itself",
        )
    problem = pose_problem(case, replace(flags, published=[]))
    *before, newest = releases
    # Options speak of the newest release: a radius would widen what exact numbers of the others tell.
    published = [
        load_earlier(text, problem.table, flags.decimal) for text in (*flags.published, *map(str, before))
    ]
    published.append(load_release(newest, problem, release_options, flags.decimal))
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
    if to is not None:
        print_written_files(write_verdict(found, to))
    if output.json:
        print_json(answer)
    else:
        from tacita.report.terminal import build_findings_table, build_intervals_table, build_verdict_line

        console = make_console()
        if not found.safe:
            console.print(build_findings_table(problem, found.findings(only_unsafe=True), show_values))
        if deduced is not None:
            console.print(build_intervals_table(deduced))
        if len(problem.levels):
            console.print(build_verdict_line(found))
    return DONE if found.safe else UNSAFE
