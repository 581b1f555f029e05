"""``tacita demo``: all steps from records to a published table, on generated data."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacita.cli.console import make_console, print_json
from tacita.cli.effort import Effort, carry_out
from tacita.cli.generate import write_records
from tacita.cli.protect import print_written_files, run_audit
from tacita.cli.verb import DONE, UNSAFE, Output
from tacita.core.words import pluralize

if TYPE_CHECKING:
    from tacita.auditing.audit import Audit
    from tacita.generate import Microdata
    from tacita.problem.problem import Problem
    from tacita.specification.specification import Specification

RULES = "p-percent(10) | frequency(3)"
SHAPE = {"industry": (12, 2), "region": (5, 2)}


def run_demo_command(
    output: Output,
    to: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for the results.")] = Path(
        "tacita-demo"
    ),
    seed: Annotated[int, typer.Option(help="Other data.")] = 1,
) -> int:
    """From records to a protected table in seconds: generate, tabulate, protect, audit, certify, verify.

    DIR/publication gets what may be published; DIR/internal what stays internal, with a report to read.
    """
    from tacita.auditing.certificate import certify
    from tacita.formats.hierarchy import write_hierarchy
    from tacita.generate import microdata
    from tacita.methods import make_method
    from tacita.publication.folders import INTERNAL
    from tacita.publication.results import refuse_blocked, write_results
    from tacita.specification.project import save_project
    from tacita.verify import verify

    started = time.perf_counter()
    refuse_blocked(to)
    internal = to / INTERNAL
    internal.mkdir(parents=True, exist_ok=True)
    made = microdata(1200, SHAPE, respondents=800, decimals=0, seed=seed)
    specification = _specify(list(made.hierarchies), internal)
    case = [
        write_records(made.records, internal / "records.parquet"),
        *(write_hierarchy(tree, internal / f"{name}.csv") for name, tree in made.hierarchies.items()),
        save_project(specification, internal, "The demo once more: tacita protect project.toml"),
    ]
    problem = carry_out(lambda run: specification.problem(), Effort())
    release = carry_out(lambda run: make_method("suppression").protect(problem, run), Effort())
    found = run_audit(problem, release, Effort())
    results = write_results(found, to, ("csv", "xlsx"))
    proven = verify(certify(found)) if found.safe else 0
    story = _describe(made, problem, found, proven)
    report = _write_report(found, internal / "report.html", story)
    written = replace(results, paths=(*results.paths, *case, report))
    if not output.json:
        _print_result(found, story)
    print_written_files(written)
    seconds = round(time.perf_counter() - started, 2)
    if output.json:
        from tacita.report.record import build_audit_object, compute_release_figures

        answer: dict[str, Any] = {
            **compute_release_figures(problem, release),
            "audit": build_audit_object(found),
        }
        answer |= {"verified": proven, "seconds": seconds, "written": [str(path) for path in written.paths]}
        print_json(answer)
    else:
        _print_end(internal, seconds)
    return DONE if found.safe else UNSAFE


def _specify(names: list[str], folder: Path) -> Specification:
    from tacita.specification.sections import Attackers, Output, Rules, Source
    from tacita.specification.specification import Specification

    by = {name: name for name in names}
    return Specification(
        Source(microdata="records.parquet", by=by, value="value", respondent="respondent"),
        hierarchies={name: f"{name}.csv" for name in names},
        rules=Rules(RULES),
        attackers=Attackers(("respondents",)),
        output=Output("again"),
        folder=folder,
    )


def _describe(made: Microdata, problem: Problem, found: Audit, proven: int) -> list[str]:
    from tacita.core.release import Release

    by = " and ".join(made.hierarchies)
    release = found.release
    hidden, sensitive = int(release.changed.sum()), len(problem.levels)
    alone = run_audit(problem, Release.suppress(problem.table, problem.sensitive), Effort())
    open_cells = alone.counts["unsafe"]
    return [
        f"{made.records.num_rows:,} records of made-up enterprises were tabulated by {by}: "
        f"{pluralize(len(problem.table), 'cell')}, "
        f"{pluralize(len(problem.table.equations), 'equation')} between them.",
        f"The rules {problem.rule} make {pluralize(sensitive, 'cell')} sensitive.",
        f"Attackers: anyone, and {pluralize(problem.considered.respondents, 'enterprise')} with what they "
        "contributed.",
        f"Hiding these alone would leave {open_cells:,} of them open, since totals give them away; "
        f"hidden with them: {pluralize(hidden - sensitive, 'more cell')}.",
        "The audit put itself in the place of each attacker and looked at every sensitive cell.",
        "The certificate was checked without a solver: it holds for "
        f"{pluralize(proven, 'pair')} of cell and attacker."
        if found.safe
        else "There is no certificate, and nothing was released.",
    ]


def _write_report(found: Audit, path: Path, story: list[str]) -> Path:
    from tacita.auditing.deduce import deduce
    from tacita.report.html import build_report_page, choose_interval_cells
    from tacita.storage.atomic import write_text

    problem, release = found.problem, found.release
    intervals = deduce(problem, release, cells=choose_interval_cells(found))
    page = build_report_page(problem, release, found, "A first table, protected", story, intervals)
    return write_text(path, page)


def _print_result(found: Audit, story: list[str]) -> None:
    from tacita.report.terminal import build_crosstab_table, build_legend, build_verdict_line

    console = make_console()
    for number, sentence in enumerate(story, start=1):
        console.print(f"[bold]{number}[/]  {sentence}")
    sensitive = found.problem.levels.sensitive
    console.print(build_crosstab_table(found.release, sensitive, console.width) or "")
    console.print(build_legend(found.release, sensitive))
    console.print(build_verdict_line(found))


def _print_end(internal: Path, seconds: float) -> None:
    console = make_console()
    console.print(f"\nLook at:   {internal / 'report.html'}", soft_wrap=True)
    console.print(f"Once more: tacita protect {internal / 'project.toml'}   ({seconds} s)", soft_wrap=True)
