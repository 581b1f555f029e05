"""The table as it is beside the table as it would be published, in sheets that move together."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import ceil

import numpy as np
from nicegui import ui

from tacita.app.controls.arrangement_selects import ArrangementSelects, get_arrangement
from tacita.app.sheet import Content, Sheet
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
    "sensitive": "sensitive, not published exactly",
    "other": "others, hidden or changed",
    "exposed": "sensitive, yet published exactly",
}
LINE, AROUND = 26, 64
"""Pixels of a row, and of what a sheet has above and below its rows."""
DIGIT, AROUND_NUMBER, NARROWEST = 9.5, 32, 64
"""Pixels of a digit, of what a column has beside its numbers, and of the narrowest column."""
LETTER, AROUND_HEAD, FOLD = 9, 18, 24
"""Pixels of a letter of a head, of what a head has beside its letters, and of the button that folds it."""
STEP, WIDEST_HEAD, SCROLLBAR = 14, 150, 17
"""Pixels by which the head of a row is indented, that are enough for it, and of a scrollbar with borders."""
LEAST, WIDEST = 420, 1000
"""Pixels that a sheet gets at least, and those that no page has: a wider table is scrolled in any case."""
WAYS = {
    "beside": "Side by side",
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
        place = ui.element("div").classes("beside")
        _show_legend(release, job)

    def build_contents() -> dict[str, Content]:
        """Return the content of each sheet to be shown, by its name, and set the width that they need."""
        where = get_arrangement(workspace).lay_out(structure)
        names = ("original", "protected") if way.value == "beside" else (way.value,)
        contents = {name: views[name](where).to_content() for name in names}
        place.style(f"--least: {max(map(_estimate_width, contents.values()))}px")
        return contents

    def arrange() -> None:
        contents = build_contents()
        for name, sheet in sheets.items():
            sheet.show(contents[name])

    def show() -> None:
        place.clear()
        sheets.clear()
        with place:
            for name, content in build_contents().items():
                with ui.element("div").classes("beside-one").props(f"data-testid=sheet-{name}"):
                    ui.label(NAMES[name]).classes("beside-name")
                    with ui.element("div").style(_format_height(content)):
                        sheets[name] = Sheet(
                            content,
                            name=NAMES[name],
                            on_seek=partial(seek_from, name),
                            group="beside",
                        )

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


def _format_height(content: Content) -> str:
    """Return the CSS height of a sheet on the page: all rows, or less to leave room for the rest."""
    depth = 1 + max((line.depth for line in content.columns), default=0)
    return f"height: min({LINE * (len(content.rows) + depth) + AROUND}px, max(60vh, 260px))"


def _estimate_width(content: Content) -> int:
    """Return the pixels that all columns of a sheet take, roughly: with less, the last one, the total,
    would be cut off, and the sheet stands above the other one instead.
    """
    codes = max(LETTER * len(line.code) + STEP * line.depth for line in content.rows)
    titles = LETTER * max(len(content.row_title), len(content.column_title))
    width = min(max(codes, titles) + AROUND_HEAD + FOLD, WIDEST_HEAD) + SCROLLBAR
    folds = {line.parent for line in content.columns}
    for column, line in enumerate(content.columns):
        head = LETTER * len(line.code) + AROUND_HEAD + FOLD * (column in folds)
        longest = max(len(row[column]) for row in content.texts)
        width += ceil(max(NARROWEST, head, DIGIT * longest + AROUND_NUMBER))
    return max(LEAST, width) if width <= WIDEST else LEAST


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
