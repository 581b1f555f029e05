"""The choice of a run, as several screens offer it, and the words for how runs ended."""

from __future__ import annotations

from nicegui import ui
from nicegui.events import ValueChangeEventArguments

from tacita.app.controls import next_step
from tacita.app.controls.page_parts import show_no_run
from tacita.app.work.job import Job, State
from tacita.app.work.open_case import Case
from tacita.app.work.workspace import Workspace
from tacita.core.outcome import Outcome, Status
from tacita.core.words import pluralize

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
OPEN_AGAIN = ("Its table or rules changed: open it and protect again", "/")
"""The next step where it is of an earlier state of another table."""
LOOK_AGAIN = 0.4
"""Seconds between two looks at a run that is not over."""


def choose_run(workspace: Workspace, chosen: Job | None) -> Job | None:
    """Show a page's select of runs; return the chosen run if it is over, else None and show why.

    The page is built anew for another run.
    """
    if chosen is None:
        show_no_run(len(workspace.runs_of_others), has_table=workspace.case is not None)
        return None

    def choose(event: ValueChangeEventArguments[str]) -> None:
        # A run that another window removed is no longer in the list of the page built anew.
        if (job := workspace.find_job(event.value)) is not None:
            workspace.choose(job)
        ui.navigate.reload()

    named = {
        job.key: f"{job.title} · {describe_run(job, workspace)}"
        for runs in (workspace.runs_of_table, workspace.runs_of_others)
        for job in reversed(runs)
    }
    ui.select(named, value=chosen.key, label="Run", on_change=choose).props(
        "outlined dense options-dense data-testid=choose-run"
    ).classes("choose-run")
    if chosen.case is not workspace.case:
        ui.label(_explain_scope(chosen, workspace)).classes("complaint").props("data-testid=earlier-case")
    if not chosen.state.over:
        _wait_for(chosen)
        return None
    return chosen


def _explain_scope(job: Job, workspace: Workspace) -> str:
    """Return sentences for a page on a run that is not of the present case."""
    sentences = []
    if is_of_other_table(job, workspace.case):
        table = name_table(job.case, workspace)
        sentences.append(f"This run and its verdict are of {table}: another table than the open one.")
    if workspace.is_outdated(job):
        sentences.append(
            "The table or its rules have changed since this run: it is of the case as it was then, and so is "
            "its verdict."
        )
    return " ".join(sentences)


def propose_protecting_again(job: Job, workspace: Workspace) -> None:
    """Propose on the page to protect a run's table again, which has changed since the run."""
    next_step.propose(*(OPEN_AGAIN if is_of_other_table(job, workspace.case) else PROTECT_AGAIN))


def describe_run(job: Job, workspace: Workspace) -> str:
    """Return a run's state as pages show it, such as ``✔ safe``, and what its verdict is about where that is
    not the present case.
    """
    scope = describe_scope(job, workspace)
    return f"{describe_state(job)}, {scope}" if scope else describe_state(job)


def describe_state(job: Job) -> str:
    """Return a run's state as pages show it, such as ``✔ safe``."""
    sign = SIGNS.get(job.state)
    return f"{sign} {job.state.value}" if sign else job.state.value


def find_tone(job: Job, now: Case | None) -> str:
    """Return the style class of a run's verdict on a page: good only where it is about the present case."""
    if job.state is not State.SAFE:
        return "verdict-unsafe"
    return "verdict-safe" if job.case is now else "verdict-earlier"


def is_of_other_table(job: Job, now: Case | None) -> bool:
    """Return whether a run is of another table than the open one, in whatever state that is."""
    return now is not None and job.case.work != now.work


def name_table(case: Case, workspace: Workspace) -> str:
    """Return words for pages on a table that tell it apart from the session's other tables."""
    own = _list_names(case)
    others = [_list_names(other) for other in workspace.tables if other.work != case.work]
    for k, name in enumerate(own):
        if all(name != names[k] for names in others):
            return name
    return f"{own[1]}, opened at another time"


def _list_names(case: Case) -> tuple[str, str, str]:
    """Return what a page can call a table, the shortest first."""
    return case.name, case.description, f"{case.description}, {pluralize(len(case.table), 'cell')}"


def describe_scope(job: Job, workspace: Workspace) -> str:
    """Return words for pages on what a run's verdict is about; empty if it is about the present case."""
    outdated = workspace.is_outdated(job)
    if is_of_other_table(job, workspace.case):
        table = name_table(job.case, workspace)
        return f"{EARLIER} of {table}" if outdated else f"for {table}"
    return EARLIER if outdated else ""


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
