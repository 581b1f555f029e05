"""What runs are compared by: the measures of releases, taken from runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nicegui import ui

from tacita.app.controls.runs import EARLIER, describe_scope, describe_state, find_tone, is_of_other_table
from tacita.app.work.job import Job, State
from tacita.app.work.workspace import Workspace
from tacita.report.measures import Measure, Measures, compute_measures, find_best


def measure_run(job: Job) -> Measures:
    """Return the measures of a run for the page Compare, such as loss and risk, by key; NaN if unknown."""
    outcome = job.release.outcome if job.release is not None else None
    return compute_measures(job.problem, outcome, job.lost, job.intervals, job.seconds)


def format_measure(measure: Measure, value: float, job: Job) -> str:
    """Return a measure of a run as the text that tables of the page Compare show."""
    return measure.format(value, job.release.outcome if job.release is not None else None)


def find_best_runs(measure: Measure, jobs: Sequence[Job], by_run: Mapping[int, Measures]) -> set[int]:
    """Return the numbers of the safe runs that have the least of a measure, for the page Compare."""
    return find_best(measure, {job.number: by_run[job.number] for job in jobs if job.state is State.SAFE})


DAGGER = "†"
EARLIER_NOTE = f"{DAGGER} {EARLIER}: the verdict is about that."
OTHER_NOTE = f"{DAGGER} for another table than the open one: the verdict is about that."


def note_earlier_runs(jobs: Sequence[Job], workspace: Workspace) -> str:
    """Return the note on † below runs of one table on the page Compare; empty where no run has it."""
    if all(job.case is workspace.case for job in jobs):
        return ""
    if not is_of_other_table(jobs[0], workspace.case):
        return EARLIER_NOTE
    outdated = ", ".join(str(job.number) for job in jobs if workspace.is_outdated(job))
    return f"{OTHER_NOTE} {EARLIER.capitalize()} of it: {outdated}." if outdated else OTHER_NOTE


def show_verdict(job: Job, workspace: Workspace) -> None:
    """Show a run's verdict on the page Compare: ``✔ safe``, with † where it is for an earlier case."""
    with ui.element("div").classes(find_tone(job, workspace.case)):
        ui.label(describe_state(job)).classes("in-line")
        if job.case is not workspace.case:
            ui.label(f", {describe_scope(job, workspace)}").classes("for-the-ear")
            ui.label(f"\N{NO-BREAK SPACE}{DAGGER}").classes("in-line").props("aria-hidden=true")
