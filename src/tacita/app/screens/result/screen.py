"""Result: what a run would publish, whether it is safe, what it lost, and the proof."""

from __future__ import annotations

from nicegui import ui

from tacita.app.controls import next_step, notices
from tacita.app.controls.page_parts import as_label, put_words
from tacita.app.controls.run_downloads import download_workbook, show_busy
from tacita.app.controls.runs import (
    SIGNS,
    WORDS,
    choose_run,
    describe_loss,
    describe_scope,
    describe_solution,
    find_tone,
    propose_protecting_again,
)
from tacita.app.controls.sharing_notice import warn_before_export
from tacita.app.screens.result import certificate_panel, sensitive_panel, side_by_side
from tacita.app.work.job import Job, State
from tacita.app.work.radius_notes import describe_radii
from tacita.app.work.workspace import Workspace
from tacita.auditing.audit import Audit
from tacita.auditing.block_tasks import FRACTIONAL, UNPROVEN, UNSAFE
from tacita.core.release import Release
from tacita.core.run import AVERAGES
from tacita.core.words import pluralize
from tacita.report.measures import format_short

MOST_NAMED = 5
WORKBOOK = "for publication: the table as printed, one row per cell, notes"
SHEET = "for publication: the sheet that you opened, with its footnotes and looks"
IDLE = "nothing had to be hidden or changed"
NEXT_STEPS = {
    State.SAFE: ("Safe: write the files", "/export"),
    State.UNSAFE: ("Not safe: choose another method or option", "/protect"),
    State.UNCHECKED: ("Nothing was sensitive: state what is", "/rules"),
}
"""What to do next with a run, by its state, and on which page."""


def build(workspace: Workspace) -> None:
    """Fill the page Result: the verdict on the chosen run, its tables, sensitive cells and certificate."""
    job = choose_run(workspace, workspace.chosen)
    if job is None:
        return
    _show_verdict(workspace, job)
    warn_before_export(workspace, job)
    if workspace.is_outdated(job):
        propose_protecting_again(job, workspace)
    else:
        next_step.propose(*NEXT_STEPS.get(job.state, ("Choose another method or option", "/protect")))
    if job.state is State.SAFE and job.case is workspace.case:
        _offer_workbook(workspace, job)
    if job.release is None or job.audit is None:
        return
    go = side_by_side.build(workspace, job, job.release)
    if job.intervals is not None:
        sensitive_panel.build(job.audit, job.intervals, go)
    certificate_panel.build(workspace, job.audit)


def _offer_workbook(workspace: Workspace, job: Job) -> None:
    """Offer the workbook that a safe run of the present case publishes; nothing else is on its way then."""

    async def download() -> None:
        with notices.attempt(), show_busy(button):
            await download_workbook(workspace, job, job.case)

    about = WORKBOOK if job.case.sheet is None else SHEET
    button = next_step.offer_beside("Download Excel", about, "download", "download-excel", download)


def _show_verdict(workspace: Workspace, job: Job) -> None:
    """Show the verdict on a run in words on the page, and what to do where it is not "safe"."""
    other_draws, scope = workspace.count_other_draws(job), describe_scope(job, workspace)
    with ui.element("section").classes("panel verdict").props("aria-label=Verdict data-testid=verdict"):
        with ui.element("div").classes("strip verdict-line"):
            word = f"{SIGNS[job.state]} {WORDS[job.state]}"
            ui.label(f"{word}, {scope}" if scope else word).classes(
                f"verdict-word {find_tone(job, workspace.case)}"
            ).props("data-testid=verdict-word")
            verdict = job.audit.verdict if job.audit is not None else job.error
            ui.label(verdict).classes("verdict-said").props("data-testid=verdict-said")
            if job.cut_short:
                ui.label(as_label(job.cut_short)).props("data-testid=cut-short")
        if job.audit is not None and not job.audit.safe:
            for sentence in advise(job.audit):
                ui.label(sentence)
        if other_draws:
            runs = pluralize(other_draws, "other run")
            ui.label(f"With {runs} of this table {AVERAGES}.").props("data-testid=other-draws")
        if job.release is not None:
            _show_figures(job, job.release)


def advise(audit: Audit) -> list[str]:
    """Return sentences for the page Result on which cells are not safe, and what can be done."""
    structure, worst = audit.problem.table.structure, audit.worst
    cells = audit.problem.sensitive[worst != 0]
    named = "; ".join(structure.name(cell) for cell in cells[:MOST_NAMED].tolist())
    more = f"; and {cells.size - MOST_NAMED:,} more, listed below" if cells.size > MOST_NAMED else ""
    sentences = [f"Not safe: {named}{more}."]
    together = 0
    for bits in worst.tolist():
        together |= bits
    if together & UNSAFE:
        sentences.append(
            "Do not publish this. Run a method that protects against every attacker of the case "
            "(suppression, intervals, rounding with a larger base, perturbation), or a larger base or radius "
            "with this one."
        )
    if together & FRACTIONAL:
        sentences.append(
            "Some cells are safe only as long as attackers do not know that cells are integers: hide or "
            "change more around them, for instance by marking a neighbour as must hide."
        )
    if together & UNPROVEN:
        sentences.append(
            "Some cells could not be decided, and what is not proven is not called safe: run again."
        )
    return sentences


def _show_figures(job: Job, release: Release) -> None:
    outcome, lost = release.outcome, job.lost
    idle = lost is not None and not lost.changed and job.state is not State.UNSAFE
    figures = {"solution": ("solution", IDLE if idle else describe_solution(outcome))}
    if outcome is not None:
        if outcome.search:
            figures["search"] = ("search", outcome.search)
        figures["loss"] = ("loss", format_short(outcome.loss))
        gap = f"optimality gap {outcome.gap:.2%}"
        figures["bound"] = ("lower bound", f"{format_short(outcome.bound)} ({gap})")
    if lost is not None:
        whose = f"{lost.changed - lost.others:,} primary, {lost.others:,} secondary"
        share = f"{lost.changed:,} of {len(release):,} ({lost.percent:.1f} %): {whose}"
        figures["changed"] = ("cells not shown as they are", share)
        if lost.silent < lost.changed:
            far = (
                f"{format_short(lost.l1)} in all (l1), at most {format_short(lost.largest)} in one cell; "
                f"root of the sum of squares {format_short(lost.l2)} (l2)"
            )
            figures["distance"] = ("distance to the truth", far)
    if job.used_seed is not None:
        figures["seed"] = ("secret seed", f"{job.used_seed}: it repeats this run; keep it internal")
    figures["time"] = (
        "time of the audit" if job.is_resumed else "time with the audit",
        f"{job.seconds:,.2f} s",
    )
    with ui.element("dl").classes("facts").props("data-testid=figures"):
        for name, (head, text) in figures.items():
            with ui.element("div").classes("fact"):
                put_words("dt", as_label(head))
                put_words("dd", text, "number", f"data-testid=figure-{name}")
    if outcome is not None:
        ui.label(describe_loss(job)).classes("muted").props("data-testid=loss-meaning")
    for remark in outcome.remarks if outcome is not None else ():
        ui.label(f"Remark: {remark}").props("data-testid=remark")
    for sentence in describe_radii(job.problem, release):
        ui.label(sentence).props("data-testid=announced")
    if release.notice:
        ui.label(f"Notice to readers: {release.notice}").props("data-testid=notice-to-readers")
