"""Compare: the runs of one table side by side, in numbers and as risk against information lost."""

from __future__ import annotations

from nicegui import ui

from tacita.app import frame
from tacita.app.controls import next_step, notices
from tacita.app.controls.page_parts import as_label, make_heading, make_panel, make_scroll_region, put_words
from tacita.app.controls.runs import is_of_other_table, name_table
from tacita.app.screens.compare import risk_plot, statistics_table
from tacita.app.screens.compare.cells_panel import CellsPanel
from tacita.app.screens.compare.joint_audit_panel import JointAuditPanel
from tacita.app.screens.compare.run_measures import (
    find_best_runs,
    format_measure,
    measure_run,
    note_earlier_runs,
    show_verdict,
)
from tacita.app.work.job import Job, State
from tacita.app.work.workspace import Workspace
from tacita.core.tables.table import Table
from tacita.core.words import format_number
from tacita.report.measures import MEASURES, Measure

EXPLAINED = (
    *("median", "exact", "changed", "others", "silent", "value_percent", "relative", "l1", "l2", "largest"),
)
"""Columns whose heads do not say what they are; risk is explained below the plot, for it is drawn there."""
STARRED = (
    "★ the least of its column among the safe runs; for distances among those that show a number in every "
    "cell."
)
OWN_MEASURES = (
    "Loss and bound are in each method's own measure: compare them between runs of one method only."
)
AT_FIRST = ("loss", "gap", "changed", "silent")
"""Columns that are shown before all are asked for."""


def build(workspace: Workspace) -> None:
    """Fill the page Compare: the runs of the present table first, those of other tables apart."""
    over = [job for job in workspace.jobs if job.state.judged]
    if not any(job.state.judged for job in workspace.runs_of_table):
        which = "No run of this table" if over else "No run"
        told = ui.label(f"{which} is over yet. Compare two or more, of different methods or options.")
        told.props("data-testid=nothing-to-compare")
        next_step.propose_table() if workspace.case is None else next_step.propose_run()
    proposed = workspace.proposed
    if proposed is not None and proposed.state is State.SAFE and proposed.case is workspace.case:
        next_step.propose_files(proposed.number)
    groups = _group_by_table(workspace, over)
    for position, group in enumerate(groups):
        with ui.element("section").classes("panel").props(f"data-testid=compared-{position}"):
            if position or len(groups) > 1 or group[0].case.table is not _find_present_table(workspace):
                make_heading(_name_group(workspace, group))
            RunTable(workspace, group)
            if len(group) > 1:
                CellsPanel(workspace, group, position)
                JointAuditPanel(workspace, group)
                risk_plot.build(group, workspace)
            statistics_table.build(group)
    _show_failed(workspace)


def _name_group(workspace: Workspace, group: list[Job]) -> str:
    """Return the heading of runs on the page Compare: of the present table, of an earlier state of it, or of
    another one.
    """
    case = group[0].case
    if case.table is _find_present_table(workspace):
        return f"Runs of the present table: {case.description}"
    if is_of_other_table(group[0], workspace.case):
        # The dimensions, even where the name alone tells it apart.
        return f"Runs of another table: {max(case.description, name_table(case, workspace), key=len)}"
    return f"Runs of the table before it was changed: {case.description}"


def _find_present_table(workspace: Workspace) -> Table | None:
    return workspace.case.table if workspace.case is not None else None


def _group_by_table(workspace: Workspace, jobs: list[Job]) -> list[list[Job]]:
    """Return the runs for the page Compare as one list per table, the present one first: what they lost can
    be compared within a table, however its sensitive cells were chosen.
    """
    groups: dict[int, list[Job]] = {}
    for job in jobs:
        groups.setdefault(id(job.case.table), []).append(job)
    present = id(_find_present_table(workspace))
    return sorted(groups.values(), key=lambda group: id(group[0].case.table) != present)


def _show_failed(workspace: Workspace) -> None:
    failed = [job for job in workspace.jobs if job.state is State.FAILED]
    if not failed:
        return
    with make_panel("Runs that found no release", label="Runs without a release"):
        for job in failed:
            other = is_of_other_table(job, workspace.case)
            whose = f", for {name_table(job.case, workspace)}" if other else ""
            ui.label(f"{job.title}{whose}: {job.error}")


class RunTable:
    """One line per run; a click on a head sorts by it, a click on a run shows its result.

    A few columns are shown, and all of them on demand.
    """

    def __init__(self, workspace: Workspace, jobs: list[Job]) -> None:
        self._workspace = workspace
        self._jobs = jobs
        self._measures = {job.number: measure_run(job) for job in jobs}
        self._by, self._down = "run", False
        self._columns = tuple(measure for measure in MEASURES if measure.key in AT_FIRST)
        self._place = make_scroll_region("Runs in numbers")
        ui.switch("All measures", on_change=lambda event: self._widen(bool(event.value))).props(
            "dense data-testid=all-measures"
        )
        if note := note_earlier_runs(jobs, workspace):
            ui.label(note).classes("muted").props("data-testid=earlier-runs")
        self._starred = ui.label(STARRED).classes("muted").props("data-testid=starred")
        if len({job.method.name for job in jobs}) > 1:
            ui.label(OWN_MEASURES).classes("muted").props("data-testid=own-measures")
        self._explained = ui.label().classes("muted").props("data-testid=columns-explained")
        self._show()

    def _widen(self, every: bool) -> None:
        """Show all measures, or the few that matter most."""
        self._columns = tuple(measure for measure in MEASURES if every or measure.key in AT_FIRST)
        self._show()

    def _sort(self, key: str) -> None:
        self._down = not self._down if key == self._by else False
        self._by = key
        self._show()

    def _ordered(self) -> list[Job]:
        if self._by == "run":
            return sorted(self._jobs, key=lambda job: job.number, reverse=self._down)

        def key(job: Job) -> float:
            number = self._measures[job.number][self._by]
            # What is not known comes last, whichever way the rest is sorted.
            missing = float("-inf") if self._down else float("inf")
            return number if number == number else missing

        return sorted(self._jobs, key=key, reverse=self._down)

    def _show(self) -> None:
        self._place.clear()
        winners = {column.key: find_best_runs(column, self._jobs, self._measures) for column in self._columns}
        self._starred.set_visibility(any(winners.values()))
        with self._place, ui.element("table").classes("plain runs").props("role=table data-testid=runs"):
            with ui.element("thead").props("role=rowgroup"), ui.element("tr").props("role=row"):
                self._head("run", "Run", "the number of the run, its method and options")
                put_words("th", "Verdict", "words", "scope=col role=columnheader")
                for column in self._columns:
                    self._head(column.key, as_label(column.head), column.meaning)
                put_words("th", "Files", "words", "scope=col role=columnheader")
            with ui.element("tbody").props("role=rowgroup"):
                for job in self._ordered():
                    self._line(job, winners)
        meanings = [f"{as_label(c.head)}: {c.meaning}" for c in self._columns if c.key in EXPLAINED]
        self._explained.set_text("; ".join(meanings) + ".")

    def _head(self, key: str, head: str, meaning: str) -> None:
        order = {True: "descending", False: "ascending"}[self._down] if key == self._by else "none"
        arrow = {"descending": " ↓", "ascending": " ↑", "none": ""}[order]
        with ui.element("th").props(f"scope=col role=columnheader aria-sort={order}"):
            button = ui.button(f"{head}{arrow}", on_click=lambda: self._sort(key), color=None)
            button.props(f"flat dense no-caps data-testid=sort-{key}").classes("head-button")
            button.tooltip(meaning)

    def _line(self, job: Job, winners: dict[str, set[int]]) -> None:
        with ui.element("tr").props(f"role=row data-testid=run-{job.number}"):
            with ui.element("th").props("scope=row role=rowheader"):
                ui.button(job.title, on_click=lambda: self._open(job), color=None).props(
                    f"flat dense no-caps align=left data-testid=open-{job.number}"
                ).classes("run-button")
            with ui.element("td").classes("words").props("role=cell data-head=Verdict"):
                show_verdict(job, self._workspace)
            for column in self._columns:
                self._entry(column, job, job.number in winners[column.key])
            with ui.element("td").props("role=cell"):
                ui.button("Export this one", on_click=lambda: self._open(job, "export")).props(
                    f"outline dense no-caps data-testid=export-{job.number}"
                )

    def _entry(self, column: Measure, job: Job, wins: bool) -> None:
        value = self._measures[job.number][column.key]
        entry = format_measure(column, value, job)
        with ui.element("td").classes("wins" if wins else "") as place:
            place.props(f'data-testid={column.key}-{job.number} title="{format_number(value)}"')
            place.props(f'role=cell data-head="{as_label(column.head)}"')
            ui.label(f"★ {entry}" if wins else entry)

    def _open(self, job: Job, screen: str = "result") -> None:
        """Lead to another page, which then shows this run."""
        with notices.attempt():
            self._workspace.choose(job)
            frame.open_screen(screen)
