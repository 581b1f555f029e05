"""Several runs as one release: what readers who have all of them can deduce."""

from __future__ import annotations

from nicegui import run, ui

from tacita.app.controls import notices
from tacita.app.work.job import Job
from tacita.app.work.workspace import Workspace
from tacita.auditing.audit import Audit, audit
from tacita.core.run import Run
from tacita.problem.problem import Problem

ABOUT = (
    "Would more than one of these runs be published, now or later, readers have them all. Files of other "
    "releases are added on the page Rules, under Already published."
)
MOST_SECONDS = 120.0


class JointAuditPanel:
    """A choice of runs, a button, and the verdict."""

    def __init__(self, workspace: Workspace, jobs: list[Job]) -> None:
        self._workspace, self._jobs = workspace, jobs
        with ui.expansion("Audit together").classes("more").props("dense data-testid=together-fold"):
            ui.label(ABOUT).classes("muted")
            with ui.element("div").classes("strip"):
                self._chosen = ui.select(
                    {job.number: job.title for job in jobs},
                    multiple=True,
                    value=[job.number for job in jobs[-2:]],
                    label="Runs",
                )
                self._chosen.props(
                    'outlined dense options-dense data-testid=together-runs aria-label="Runs"'
                ).classes("wide")
                self._button = ui.button("Audit together", on_click=self._check)
                self._button.props("no-caps unelevated data-testid=audit-together")
            self._verdict = ui.label().props("role=status data-testid=together-verdict")
            self._cells = ui.label().classes("muted").props("data-testid=together-cells")

    async def _check(self) -> None:
        chosen = [job for job in self._jobs if job.number in (self._chosen.value or ())]
        if len(chosen) < 2:
            notices.tell("choose at least two runs to audit together", "error")
            return
        self._verdict.set_text("auditing …")
        self._cells.set_text("")
        self._button.disable()
        found = None
        with notices.attempt():
            found = await run.io_bound(self._audit, chosen)
        self._button.enable()
        self._verdict.set_text("" if found is None else _describe_verdict(found))
        if found is not None:
            broken = sorted({finding.cell for finding in found.findings(only_unsafe=True)})
            self._cells.set_text(found.problem.table.structure.names(broken) if broken else "")

    def _audit(self, chosen: list[Job]) -> Audit:
        releases = [job.release for job in chosen if job.release is not None]
        return audit(self._find_problem(chosen), releases, Run(MOST_SECONDS))

    def _find_problem(self, chosen: list[Job]) -> Problem:
        """Return the problem of a joint audit: the open case's if of that table, else the last run's."""
        now = self._workspace.case
        return now.problem if now is not None and now.table is chosen[-1].case.table else chosen[-1].problem


def _describe_verdict(found: Audit) -> str:
    if not len(found.problem.levels):
        return found.verdict
    return f"{'✔ safe' if found.safe else '✘ not safe'}: {found.verdict}"
