"""Two runs of one table cell by cell: what each of them would publish, and what only one hides or changes."""

from __future__ import annotations

from collections.abc import Sequence

from nicegui import ui

from tacita.app.controls.arrangement_selects import ArrangementSelects, get_arrangement
from tacita.app.controls.page_parts import make_heading
from tacita.app.controls.sheet_size import estimate_width, format_height
from tacita.app.sheet import Sheet
from tacita.app.work.job import Job, State
from tacita.app.work.view import view_compared
from tacita.app.work.workspace import Workspace
from tacita.problem.cell_comparison import CellComparison, compare_cells

ABOUT = (
    "What each run would publish. ■ primary, ▲ secondary; ≠ marks what this run hides or changes and the "
    "other one shows as it is."
)
SIDES = ("first", "second")


class CellsPanel:
    """A choice of two runs, their protected tables in sheets that move together, and counts."""

    def __init__(self, workspace: Workspace, jobs: list[Job], position: int) -> None:
        self._workspace, self._jobs = workspace, {job.number: job for job in jobs}
        self._group = f"compared-{position}"
        names = {job.number: job.title for job in jobs}
        group = ui.element("div").classes("compared").props("role=group data-testid=cells-compared")
        with group.props('aria-label="Cell by cell"'):
            make_heading("Cell by cell")
            ui.label(ABOUT).classes("muted")
            with ui.element("div").classes("strip"):
                self._chosen = [
                    ui.select(names, value=job.number, label=f"{side.capitalize()} run", on_change=self._show)
                    .props(f"outlined dense options-dense data-testid=cells-{side}")
                    .classes("wide")
                    for side, job in zip(SIDES, propose_pair(jobs), strict=True)
                ]
                ui.space()
                ArrangementSelects(workspace, jobs[0].problem.table.structure, self._show)
            self._counts = ui.label().props("role=status data-testid=cells-counts")
            self._place = ui.element("div").classes("beside")
        self._show()

    def _show(self) -> None:
        jobs = [self._jobs[field.value] for field in self._chosen]
        releases = [job.release for job in jobs if job.release is not None]
        self._place.clear()
        if len(releases) < len(SIDES):
            return
        table = jobs[0].problem.table
        found = compare_cells(table, *releases)
        self._counts.set_text(describe_counts(found))
        where = get_arrangement(self._workspace).lay_out(table.structure)
        alone = (found.only_first, found.only_second)
        contents = [
            view_compared(table, release, job.problem.levels.sensitive, only, where).to_content()
            for job, release, only in zip(jobs, releases, alone, strict=True)
        ]
        self._place.style(f"--least: {max(map(estimate_width, contents))}px")
        with self._place:
            for side, job, content in zip(SIDES, jobs, contents, strict=True):
                with ui.element("div").classes("beside-one").props(f"data-testid=cells-sheet-{side}"):
                    ui.label(job.title).classes("beside-name")
                    with ui.element("div").style(format_height(content)):
                        Sheet(content, name=f"{side.capitalize()}: {job.title}", group=self._group)


def propose_pair(jobs: Sequence[Job]) -> tuple[Job, Job]:
    """Return the two runs that the page Compare begins with: the safe ones that lose the fewest cells, of two
    methods if there are two; else the newest.
    """

    def rank(job: Job) -> tuple[bool, int, int]:
        lost = job.lost.changed if job.lost is not None else len(job.problem.table)
        return job.state is not State.SAFE, lost, -job.number

    first, *others = sorted(jobs, key=rank)
    safe = [job for job in others if job.state is State.SAFE]
    other = next((job for job in safe if job.method.name != first.method.name), None)
    if first.state is not State.SAFE or not safe:
        return jobs[-2], jobs[-1]
    one, two = sorted((first, other or safe[0]), key=lambda job: job.number)
    return one, two


def describe_counts(found: CellComparison) -> str:
    """Return a sentence for the page Compare on how many cells only one of two runs hides or changes."""
    n = found.counts
    return (
        f"Hidden or changed by the first only: {n['only_first']:,}, by the second only: "
        f"{n['only_second']:,}, by both: {n['both']:,}. Of these show no number: "
        f"{n['hidden_first']:,} in the first only, {n['hidden_second']:,} in the second only, "
        f"{n['hidden_both']:,} in both."
    )
