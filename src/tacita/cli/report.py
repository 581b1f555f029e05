"""``tacita report``: an internal page on one release, whoever made it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tacita.cli.case_options import Case, CaseFlags, pose_problem
from tacita.cli.console import make_console, print_json, print_written
from tacita.cli.effort import Effort, carry_out
from tacita.cli.release_options import ReleaseFile, ReleaseOptions, load_release
from tacita.cli.verb import DONE, UNSAFE, Output
from tacita.core.errors import InputError

ENDINGS = (".html", ".htm")


def run_report_command(
    case: Case,
    release: ReleaseFile,
    output: Output,
    flags: CaseFlags,
    release_options: ReleaseOptions,
    effort: Effort,
    to: Annotated[Path, typer.Option("--out", metavar="FILE.html", help="The page to write.")],
    title: Annotated[
        str | None, typer.Option(help="Heading of the page. Default: the name of the release.")
    ] = None,
) -> int:
    """Audit a release, whoever made it, and write a page on it: verdict, figures, picture, what is not safe.

    The page is internal, since it tells which cells are sensitive; it is written in any case. Exit code
    0 if every sensitive cell is proven safe against every attacker, else 2.
    """
    from tacita.auditing.audit import audit
    from tacita.report.html import build_report_page
    from tacita.report.record import build_audit_object
    from tacita.report.terminal import build_verdict_line
    from tacita.storage.atomic import write_text
    from tacita.storage.internal import refuse_published

    if to.suffix.lower() not in ENDINGS:
        raise InputError("the report is a page of HTML", place=to, remedy="give a name that ends in .html")
    refuse_published(to)
    problem = pose_problem(case, flags)
    published = load_release(release, problem, release_options, flags.decimal)
    found = carry_out(lambda run: audit(problem, published, run), effort, time_limit=effort.time_limit)
    story = [f"{release}, checked as a release of {case}."]
    write_text(to, build_report_page(problem, published, found, title or f"Audit of {release.name}", story))
    print_written(to, "it tells which cells are sensitive")
    if output.json:
        print_json({**build_audit_object(found), "written": [str(to)]})
    elif len(problem.levels):
        make_console().print(build_verdict_line(found))
    return DONE if found.safe else UNSAFE
