"""``tacita report``: pages on one release, whoever made it: an internal one, and one for readers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacita.cli.case_options import Case, CaseFlags, pose_problem
from tacita.cli.console import make_console, print_json, print_notes, print_written
from tacita.cli.effort import Effort, carry_out
from tacita.cli.release_options import ReleaseFile, ReleaseOptions, load_release
from tacita.cli.verb import DONE, UNSAFE, Output
from tacita.core.errors import InputError, ReleaseError, UnsafeError

if TYPE_CHECKING:
    from tacita.auditing.audit import Audit

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
    public: Annotated[
        bool,
        typer.Option("--public", help="Write the page for readers alone, which may be published."),
    ] = False,
) -> int:
    """Audit a release, whoever made it, and write pages on it: verdict, figures, pictures, what is not safe.

    The page is internal, since it tells which cells are sensitive; it is written in any case. Of a safe
    release there is also FILE-public.html for readers, computed from the release alone. Exit code 0 if every
    sensitive cell is proven safe against every attacker, else 2.
    """
    from tacita.auditing.audit import audit
    from tacita.auditing.deduce import deduce
    from tacita.report.html import build_report_page, choose_interval_cells
    from tacita.report.public_page import build_public_page
    from tacita.report.record import build_audit_object
    from tacita.report.terminal import build_verdict_line
    from tacita.storage.atomic import write_text

    refuse_other_pages(to, public)
    problem = pose_problem(case, flags)
    published = load_release(release, problem, release_options, flags.release_sign)
    found = carry_out(lambda run: audit(problem, published, run), effort, time_limit=effort.time_limit)
    written = []
    if not public:
        cells = choose_interval_cells(found)
        intervals = carry_out(lambda run: deduce(problem, published, run=run, cells=cells), effort)
        story = [f"{release}, checked as a release of {case}."]
        heading = title or f"Audit of {release.name}"
        page = build_report_page(problem, published, found, heading, story, intervals)
        written.append(write_text(to, page))
        print_written(to, "it tells which cells are sensitive")
    try:
        refuse_unsafe(found)
        page = build_public_page(published, title or f"Report on {release.name}")
    except (ReleaseError, UnsafeError) as error:
        if public and found.safe:
            raise
        print_notes(f"no page for readers: {error}")
    else:
        target = to if public else to.with_stem(f"{to.stem}-public")
        written.append(write_text(target, page, public=True))
        print_written(target)
    if output.json:
        print_json({**build_audit_object(found), "written": [str(path) for path in written]})
    elif len(problem.levels):
        make_console().print(build_verdict_line(found))
    return DONE if found.safe else UNSAFE


def refuse_other_pages(to: Path, public: bool = False) -> None:
    """Refuse a file for a page of a command that is no HTML, or internal and among what is published."""
    from tacita.storage.internal import refuse_published

    if to.suffix.lower() not in ENDINGS:
        raise InputError("the report is a page of HTML", place=to, remedy="give a name that ends in .html")
    if not public:
        refuse_published(to)


def refuse_unsafe(found: Audit) -> None:
    """Refuse a page for readers on a release that is not proven safe: it would be published with it."""
    if not found.safe:
        raise UnsafeError("the release is not proven safe", remedy="protect the cells that the audit names")
