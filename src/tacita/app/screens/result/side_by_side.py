"""The table as it is beside the table as it would be published, in sheets that move together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
from nicegui import ui

from tacita.app.controls.arrangement_selects import ArrangementSelects, get_arrangement
from tacita.app.controls.sheet_size import estimate_width, format_height
from tacita.app.screens.result.explanation_panel import ExplanationPanel
from tacita.app.sheet import Content, Flag, Sheet
from tacita.app.work.job import Job
from tacita.app.work.seek_cell import seek
from tacita.app.work.view import (
    View,
    classify_internally,
    find_place,
    view_case,
    view_difference,
    view_release,
)
from tacita.app.work.workspace import Workspace
from tacita.core.release import Release
from tacita.core.tables.layout import Layout
from tacita.problem.problem import Problem
from tacita.report.picture import KINDS, SIGNS

NAMES = {"original": "Original (true values)", "protected": "Protected", "difference": "Difference"}
# Not "protected": whether they are is for the verdict to say, and it may say no.
MEANINGS = {
    "published": "shown as they are",
    "sensitive": "primary, not shown exactly",
    "other": "secondary, hidden or changed",
    "exposed": "sensitive, yet shown exactly",
}
WAYS = {
    "beside": "Both",
    "original": "Original",
    "protected": "Protected",
    "difference": "Difference",
}


def build(workspace: Workspace, job: Job, release: Release) -> Callable[[int], None]:
    """Show original and protected table in sheets of the page Result; return what goes to a cell in them.

    Returns
    -------
    go
        Shows a cell in the sheets, in whatever slice it is, and puts the focus on it.
    """
    problem = job.problem
    structure = problem.table.structure
    views: dict[str, Callable[[Layout], View]] = {
        "original": lambda where: view_case(job.case, problem.levels, where),
        "protected": lambda where: view_release(problem.table, release, problem.levels.sensitive, where),
        "difference": lambda where: view_difference(problem, release, where),
    }
    sheets: dict[str, Sheet] = {}
    with ui.element("section").classes("panel").props('aria-label="The table" data-testid=beside'):
        with ui.element("div").classes("strip"):
            way = ui.toggle(WAYS, value="beside").props(
                'no-caps dense aria-label="What to show" data-testid=beside-way'
            )
            ui.space()
            arranging = ArrangementSelects(workspace, structure, lambda: arrange())
        place = ui.element("div").classes("beside protected-first")
        _show_legend(release, job)
        panel = ExplanationPanel(job, release, lambda flags: mark(flags), lambda cell: go(cell))
    marked: dict[int, Flag] = {}

    def build_contents() -> dict[str, Content]:
        """Return the content of each sheet to be shown, by its name, and set the width that they need."""
        where = get_arrangement(workspace).lay_out(structure)
        names = ("original", "protected") if way.value == "beside" else (way.value,)
        contents = {name: views[name](where).to_content() for name in names}
        place.style(f"--least: {max(map(estimate_width, contents.values()))}px")
        return contents

    def arrange() -> None:
        contents = build_contents()
        for name, sheet in sheets.items():
            sheet.show(contents[name])
        show_marks()

    def show() -> None:
        place.clear()
        sheets.clear()
        with place:
            for name, content in build_contents().items():
                with ui.element("div").classes("beside-one").props(f"data-testid=sheet-{name}"):
                    ui.label(NAMES[name]).classes("beside-name")
                    with ui.element("div").style(format_height(content)):
                        sheets[name] = Sheet(
                            content,
                            name=NAMES[name],
                            on_seek=partial(seek_from, name),
                            on_explain=explain_at,
                            group="beside",
                        )
        show_marks()

    def mark(flags: Mapping[int, Flag]) -> None:
        marked.clear()
        marked.update(flags)
        show_marks()

    def show_marks() -> None:
        """Flag the marked cells in all sheets, as far as they are in these slices."""
        where = get_arrangement(workspace).lay_out(structure)
        found = np.argwhere(np.isin(where.cells, [*marked])).tolist()
        places = {(row, column): int(marked[int(where.cells[row, column])]) for row, column in found}
        for sheet in sheets.values():
            sheet.highlight(places)

    async def explain_at(row: int, column: int, by_key: bool) -> None:
        where = get_arrangement(workspace).lay_out(structure)
        cell = int(where.cells[row, column])
        if cell >= 0:
            await panel.show(cell, by_key)
        else:
            await panel.show_empty(f"{where.rows[row].code}, {where.columns[column].code}", by_key)

    def go(cell: int) -> None:
        chosen = get_arrangement(workspace)
        arrangement = chosen.shift_to(structure, cell)
        if arrangement is not chosen:
            arranging.take(arrangement)
        focused = next(iter(sheets.values()))
        if (place := find_place(arrangement.lay_out(structure), cell)) is not None:
            focused.go(*place)
        focused.tell(f"{structure.name(cell)}.")

    def seek_from(name: str, step: int) -> None:
        chosen, focus = get_arrangement(workspace), sheets[name].selection
        if problem.sensitive.size:
            where = chosen.lay_out(structure)
            go(seek(problem.sensitive, step, chosen, where, focus.row, focus.column).cell)

    way.on_value_change(show)
    show()
    return go


def count_kinds(release: Release, problem: Problem) -> list[int]:
    """Return how many cells of a release the page Result shows of each of ``KINDS``, in their order."""
    found = classify_internally(problem.table, release, problem.levels.sensitive)
    return [int(count) for count in np.bincount(found, minlength=len(KINDS))]


def _show_legend(release: Release, job: Job) -> None:
    """Show the signs of the sheets in words on the page, with how many cells carry each."""
    counts = count_kinds(release, job.problem)
    with ui.element("div").classes("strip legend").props("data-testid=legend"):
        for kind, count in zip(KINDS, counts, strict=True):
            if count:
                sign = f"{SIGNS[kind]} " if SIGNS[kind] else ""
                ui.label(f"{sign}{MEANINGS[kind]}: {count:,}").classes(f"legend-entry sign-{kind}").props(
                    f"data-testid=legend-{kind}"
                )
