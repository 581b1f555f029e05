"""``tacita audit``: does a release, whoever made it, protect the table?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tacita.cli.case import (
    Case,
    ReleaseFile,
    ReleaseOptions,
    RequirementOptions,
    TableOptions,
    load_problem,
    load_release,
)
from tacita.cli.console import out, print_json
from tacita.cli.effort import Effort, carry_out
from tacita.cli.protect import tell_written
from tacita.cli.verb import DONE, UNSAFE, Output


def audit(
    case: Case,
    release: ReleaseFile,
    output: Output,
    table_options: TableOptions,
    requirement: RequirementOptions,
    release_options: ReleaseOptions,
    effort: Effort,
    intervals: Annotated[
        bool, typer.Option("--intervals", help="Also tell what an outsider can deduce of each hidden cell.")
    ] = False,
    show_values: Annotated[
        bool, typer.Option("--show-values", help="Show true values of unsafe cells.")
    ] = False,
    to: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Write DIR/internal/audit.json and, if safe, certificate.json: for the house.",
        ),
    ] = None,
) -> int:
    """Check a release, whoever made it: what can each attacker deduce of each sensitive cell?

    Exit code 0 if every sensitive cell is proven safe against every attacker, else 2.
    """
    from tacita.auditing.audit import audit as check
    from tacita.auditing.deduce import deduce
    from tacita.io.results import refuse_blocked, write_verdict
    from tacita.report.record import audit_object, findings_list, intervals_list

    if to is not None:
        refuse_blocked(to)
    problem = load_problem(case, table_options, requirement)
    published = load_release(release, problem, release_options, table_options.decimal)
    found = carry_out(lambda run: check(problem, published, run), effort, time_limit=effort.time_limit)
    answer = {**audit_object(found), "cells": findings_list(found)}
    deduced = None
    if intervals:
        deduced = carry_out(
            lambda run: deduce(problem, published, run=run), effort, time_limit=effort.time_limit
        )
        answer["intervals"] = intervals_list(deduced)
    if to is not None:
        tell_written(write_verdict(found, to))
    if output.json:
        print_json(answer)
    else:
        from tacita.report.terminal import findings_table, intervals_table, verdict_line

        console = out()
        if not found.safe:
            console.print(findings_table(problem, found.findings(only_unsafe=True), show_values))
        if deduced is not None:
            console.print(intervals_table(deduced))
        if len(problem.levels):
            console.print(verdict_line(found))
    return DONE if found.safe else UNSAFE
