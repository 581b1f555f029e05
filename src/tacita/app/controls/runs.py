"""The choice of a run, as several screens offer it, and the words for how runs ended."""

from __future__ import annotations

from nicegui import ui
from nicegui.events import ValueChangeEventArguments

from tacita.app.controls.page_parts import show_no_run
from tacita.app.work.job import Job, State
from tacita.app.work.open_case import Case
from tacita.app.work.workspace import Workspace
from tacita.core.outcome import Outcome, Status

SIGNS = {State.SAFE: "✔", State.UNSAFE: "✘", State.UNCHECKED: "–", State.FAILED: "!", State.CANCELLED: "–"}
WORDS = {
    State.SAFE: "Safe",
    State.UNSAFE: "Not safe",
    State.UNCHECKED: "Nothing checked",
    State.FAILED: "Failed",
    State.CANCELLED: "Cancelled",
}
EARLIER = "for an earlier table or rules"
PROTECT_AGAIN = ("Table or rules changed: protect again", "/protect")
"""The next step where the run that a page shows is of an earlier state of the open table."""
COSTS = {
    "value": "their values",
    "unit": "1 for each",
    "log": "log(1 + value) for each",
    "percent": "their values in percent of all inner cells",
    "count": "their numbers of respondents",
    "distance": "their distances from sensitive cells",
}
"""What cells cost, in the words of a loss."""
LOOK_AGAIN = 0.4
"""Seconds between two looks at a run that is not over."""


def choose_run(workspace: Workspace, chosen: Job | None) -> Job | None:
    """Show a page's select of runs; return the chosen run if it is over, else None and show why.

    The page is built anew for another run.
    """
    if chosen is None:
        show_no_run(len(workspace.runs_of_others), has_table=workspace.case is not None)
        return None

    def choose(event: ValueChangeEventArguments[int]) -> None:
        # A run that another window removed is no longer in the list of the page built anew.
        if (job := workspace.find_job(event.value)) is not None:
            workspace.choose(job)
        ui.navigate.reload()

    named = {
        job.number: f"{job.title} · {describe_run(job, workspace.case)}"
        for runs in (workspace.runs_of_table, workspace.runs_of_others)
        for job in reversed(runs)
    }
    ui.select(named, value=chosen.number, label="Run", on_change=choose).props(
        "outlined dense options-dense data-testid=choose-run"
    ).classes("choose-run")
    if chosen.case is not workspace.case:
        ui.label(
            f"This run and its verdict are of {name_table(chosen, workspace.case)}: another table than the "
            "open one."
            if is_of_other_table(chosen, workspace.case)
            else "The table or its rules have changed since this run: it is of the case as it was then, and "
            "so is its verdict."
        ).classes("complaint").props("data-testid=earlier-case")
    if not chosen.state.over:
        _wait_for(chosen)
        return None
    return chosen


def describe_run(job: Job, now: Case | None) -> str:
    """Return a run's state as pages show it, such as ``✔ safe``, and whether its case is an old one."""
    sign = SIGNS.get(job.state)
    words = f"{sign} {job.state.value}" if sign else job.state.value
    scope = describe_scope(job, now)
    return f"{words}, {scope}" if scope else words


def find_tone(job: Job, now: Case | None) -> str:
    """Return the style class of a run's verdict on a page: good only where it is about the present case."""
    if job.state is not State.SAFE:
        return "verdict-unsafe"
    return "verdict-safe" if job.case is now else "verdict-earlier"


def is_of_other_table(job: Job, now: Case | None) -> bool:
    """Return whether a run is of another table than the open one, in whatever state that is."""
    return now is not None and job.case.work != now.work


def name_table(job: Job, now: Case | None) -> str:
    """Return words for pages on a run's table that tell it apart from the open one."""
    if now is None or job.case.name != now.name:
        return job.case.name
    described = job.case.description
    return described if described != now.description else f"{described}, opened at another time"


def describe_scope(job: Job, now: Case | None) -> str:
    """Return words for pages on what a run's verdict is about; empty if it is about the present case."""
    if is_of_other_table(job, now):
        return f"for {name_table(job, now)}"
    return EARLIER if job.case is not now else ""


def _wait_for(job: Job) -> None:
    """Say on the page that a run is not over yet, and reload the page when it is."""
    with ui.element("div").classes("panel").props("role=status data-testid=not-over"):
        ui.label(f"This run is not over yet: {job.state.value}.").classes("panel-title")
        with ui.element("div").classes("strip"):
            ui.label("What it finds appears here as soon as it is audited. Progress and Stop:")
            ui.link("Protect", "/protect")

    def look() -> None:
        if job.state.over:
            timer.deactivate()
            ui.navigate.reload()

    timer = ui.timer(LOOK_AGAIN, look)


def describe_loss(job: Job) -> str:
    """Return words for a page on what the loss of a run is the sum of."""
    if job.method.name != "suppression":
        return f"Loss: what {job.method.name} itself counts as lost, in the measure of its options."
    by = job.case.specification.cost.by
    costs = COSTS.get(by or "value", f"by column {by}")
    if by is None and job.case.data.cost is not None:
        costs = "as the file states them"
    return (
        f"Loss: the sum of the costs of all hidden cells, here {costs}. Totals count as well, so it can be "
        "more than the whole table."
    )


def describe_solution(outcome: Outcome | None) -> str:
    """Return words for a page on whether a loss is proven optimal, or else on its optimality gap."""
    if outcome is None:
        return "not stated"
    if outcome.status:
        return "proven optimal: nothing of this kind loses less"
    if outcome.status is Status.WITHIN_GAP:
        return f"{outcome.status.value}; optimality gap {outcome.gap:.2%}"
    if outcome.gap >= 1:
        return "the best found; no lower bound is known"
    return f"the best found; optimality gap {outcome.gap:.2%}"
