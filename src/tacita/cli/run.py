"""``tacita run``: many tables in one command, each protected, audited and written like by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from tacita.cli.console import make_console, print_json, print_written
from tacita.cli.effort import run_in_thread, stop_on_signals
from tacita.cli.jobs.display import Display
from tacita.cli.jobs.job import JobOptions, JobResult, Verdict
from tacita.cli.jobs.joint_audit import judge_together
from tacita.cli.jobs.log import open_log
from tacita.cli.jobs.perform import INTERNAL_NOTE
from tacita.cli.jobs.plan import Plan, make_plan
from tacita.cli.jobs.schedule import Schedule, complete_record
from tacita.cli.jobs.workers import hire_workers
from tacita.cli.verb import DONE, ERROR, UNSAFE, Output
from tacita.core.errors import InputError
from tacita.core.run import Run
from tacita.report.run_page import build_run_page
from tacita.storage.atomic import write_text

LOG = Path("run.jsonl")
STOPPED = JobResult(Verdict.SKIPPED, error="the run was stopped")


def run_run_command(
    output: Output,
    projects: Annotated[
        list[str],
        typer.Argument(
            metavar="PROJECT...",
            help="Project files, folders with a project.toml, batches of tau-ARGUS (.arb), or patterns.",
        ),
    ],
    time_limit: Annotated[
        float | None,
        typer.Option(help="Seconds to spend at most on each table, in place of what its project says."),
    ] = None,
    gap: Annotated[
        str | None,
        typer.Option(metavar="SHARE", help="As for protect, in place of what projects say: 0.05, or 5%."),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes, each of which has a table at a time.")] = 1,
    dask: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="A Dask scheduler, such as tcp://10.0.0.5:8786, whose workers see the same folders.",
        ),
    ] = None,
    log: Annotated[
        Path,
        typer.Option(
            metavar="FILE", help="One JSON object per table, appended; the summary is FILE.html. Internal."
        ),
    ] = LOG,
    data: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where batches find files that are not in their own folder."),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Do also what is done already, by the log and its results.")
    ] = False,
) -> int:
    """Protect many tables: every project as tacita protect does. What fails is named, the others are done.

    Killed or stopped, the same command does what is missing. Exit code 2 if any release is not proven safe,
    else 1 if any table failed or was not begun, or some that may share cells could not be judged together,
    else 0.
    """
    from tacita.specification.sections import Protection

    # Refused once, rather than for every table.
    Protection(time_limit=time_limit, gap=gap)
    plan = make_plan(projects, JobOptions(time_limit, gap, None if data is None else str(data.absolute())))
    page = log.with_suffix(".html")
    if page == log:
        raise InputError("the summary is written to this file", place=log, remedy="call the log run.jsonl")
    run = Run()
    with open_log(log) as kept, Display(len(plan.jobs) + len(plan.broken)) as display:
        for path, result in plan.broken.items():
            kept.append(complete_record(path, result), path)
            display.show(str(path), result)
        schedule = Schedule(plan, kept, display, run, again=again)
        with (
            hire_workers(workers, dask) as hired,
            stop_on_signals(run, lambda: "with the best so far of each"),
        ):
            done = run_in_thread(lambda _: schedule.carry_out(hired), run)
            together = run_in_thread(lambda _: judge_together(plan, done, run), run)
        for verdict in together:
            kept.append(verdict.record, *verdict.paths)
            display.show_together(verdict)
        records = [*_list_records(plan, done)]
        joint = [verdict.record for verdict in together]
        write_text(page, build_run_page(records, f"Tables of {log.stem}", joint))
    print_written(log, INTERNAL_NOTE)
    print_written(page, "it names rules and reasons")
    return _print_results(records, joint, output)


def _list_records(plan: Plan, done: Mapping[int, JobResult]) -> Iterator[dict[str, Any]]:
    for path, result in plan.broken.items():
        yield complete_record(path, result)
    for number, job in enumerate(plan.jobs):
        yield complete_record(job.path, done.get(number, STOPPED))


def _print_results(records: list[dict[str, Any]], joint: list[dict[str, Any]], output: Output) -> int:
    counts = {word.value: sum(each["verdict"] == word for each in records) for word in Verdict}
    if output.json:
        print_json({**counts, "tables": records, "together": joint})
    else:
        make_console().print(", ".join(f"{number:,} {word}" for word, number in counts.items() if number))
    verdicts = {each["verdict"] for each in (*records, *joint)}
    if Verdict.UNSAFE in verdicts:
        return UNSAFE
    return DONE if verdicts <= {Verdict.SAFE} else ERROR
