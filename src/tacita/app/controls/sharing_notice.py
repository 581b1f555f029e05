"""What a page says of other runs that share cells with the one at hand, and what helps."""

from __future__ import annotations

from nicegui import run, ui

from tacita.app.controls import notices
from tacita.app.controls.run_downloads import show_busy
from tacita.app.work.job import Job
from tacita.app.work.open_case import Case
from tacita.app.work.sharing_runs import (
    JointVerdict,
    SharingRun,
    judge_together,
    list_side_by_side,
    take_release,
)
from tacita.app.work.workspace import Workspace
from tacita.core.errors import InputError
from tacita.core.run import Run
from tacita.core.words import pluralize

TONES = {True: ("✔", "verdict-safe"), False: ("✘", "verdict-unsafe"), None: ("–", "muted")}
"""Sign and class of a verdict."""
MOST_SECONDS = 300.0
"""Seconds that an audit of several releases may take."""


def warn_before_run(workspace: Workspace) -> None:
    """Warn on the page Protect of runs that the open case does not take into account."""
    case = workspace.require_case()
    for other in list_side_by_side(workspace.jobs, case):
        if not other.taken:
            with ui.element("div").classes("strip").props("data-testid=sharing-run"):
                ui.label(f"! {_describe(other)}").classes("warning")
                _offer_to_take(workspace, case, other)


def warn_before_export(workspace: Workspace, job: Job) -> None:
    """Warn on a page that shows a run of others that readers may have besides it, and offer to audit
    all of them together; once that was done, show the verdict.
    """
    if job.release is None or not (others := list_side_by_side(workspace.jobs, job.case, job.release)):
        return
    jobs = (*(other.job for other in others), job)

    async def audit() -> None:
        with notices.attempt(), show_busy(button):
            found = await run.io_bound(judge_together, jobs, Run(MOST_SECONDS))
            if found is not None:
                workspace.joint_verdicts[frozenset(jobs)] = found
                show(found)

    def show(found: JointVerdict) -> None:
        sign, tone = TONES[found.safe]
        verdict.set_text(f"{sign} {found.text}")
        verdict.classes(replace=tone)

    with ui.element("div").classes("stack").props("data-testid=sharing-runs"):
        for other in others:
            with ui.element("div").classes("strip"):
                ui.label(f"! {_describe(other)}").classes("warning")
                if not other.taken and job.case is workspace.case:
                    _offer_to_take(workspace, job.case, other)
        with ui.element("div").classes("strip"):
            button = ui.button("Audit together", on_click=audit, color=None).props(
                "no-caps outline data-testid=audit-side-by-side"
            )
            verdict = ui.label().props("role=status data-testid=side-by-side-verdict")
        if (known := workspace.joint_verdicts.get(frozenset(jobs))) is not None:
            show(known)


def _describe(other: SharingRun) -> str:
    """Return a sentence for the page on what a run of another table has in common with this one."""
    name = other.name[0].upper() + other.name[1:]
    exported = ", which was exported," if other.job.exported else ""
    shares = f"{name}{exported} shares {pluralize(other.shared, 'cell')} with this table"
    if other.taken:
        apart = f"; only an audit of both looks at its other {pluralize(other.apart, 'cell')}"
        return f"{shares} and is taken into account{apart if other.apart else ''}."
    return f"{shares}: readers who have both releases know more than each of them tells."


def _offer_to_take(workspace: Workspace, case: Case, other: SharingRun) -> None:
    """Offer on the page to add a run's release to what is already published, as on the page Rules."""

    def take() -> None:
        with notices.attempt():
            if workspace.case is not case:
                raise InputError(
                    "the table or its rules were changed in another window",
                    remedy="reload this page",
                    options=["reload"],
                )
            workspace.change(case.with_published((*case.published, take_release(other.job))))
            ui.navigate.to("/protect")

    button = ui.button("Take it into account", on_click=take, color=None)
    button.props("no-caps outline data-testid=take-into-account")
