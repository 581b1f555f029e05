"""Releases that readers may have: a file of each, or a run of this session."""

from __future__ import annotations

import shutil
import tempfile
from functools import partial
from pathlib import Path

from nicegui import run, ui
from nicegui.events import GenericEventArguments, UploadEventArguments

from tacita.app.controls import notices
from tacita.app.controls.inlets import make_one_file_inlet, make_picker_handler
from tacita.app.controls.page_parts import make_panel
from tacita.app.controls.runs import name_table
from tacita.app.work.desk import Desk
from tacita.app.work.paths import assign_paths, hide_folders
from tacita.app.work.sharing_runs import list_sharing_runs, take_release
from tacita.app.work.workspace import Workspace
from tacita.core.errors import InputError
from tacita.core.release import Mark, Release
from tacita.core.tables.table import Table
from tacita.core.windows import count_unshared_cells, match_cells
from tacita.core.words import pluralize
from tacita.publication.earlier import read_earlier

ABOUT = (
    "Releases of this table, or of one that shares cells with it, that readers may have kept. Everyone knows "
    "what they say of cells of this table, and methods protect against all of it together. Where their other "
    "cells add up to cells of this table, protect both as linked tables: Help says how."
)
EXACT, BASE, RADIUS = "exact", "base", "radius"
NUMBERS = {
    EXACT: "the values, marks or intervals",
    BASE: "rounded to multiples of",
    RADIUS: "adjusted, the truth being within",
}


class PublishedPanel:
    """The panel: one line for each release, and two ways to add one."""

    def __init__(self, desk: Desk, workspace: Workspace) -> None:
        self._desk, self._workspace = desk, workspace
        with make_panel("Already published"):
            ui.label(ABOUT).classes("muted")
            self._list = ui.element("div").props("data-testid=published-list")
            self._inlet = make_one_file_inlet(self._uploaded, self._failed, "upload-published")
            with ui.element("div").classes("strip"):
                self._numbers = ui.select(NUMBERS, value=EXACT, label="Its numbers are")
                self._numbers.props(
                    'outlined dense options-dense data-testid=published-numbers aria-label="Its numbers are"'
                )
                self._reach = ui.input("Base or radius").props(
                    "outlined dense stack-label inputmode=decimal data-testid=published-reach "
                    'aria-label="Base or radius"'
                )
                self._reach.bind_visibility_from(self._numbers, "value", lambda way: way != EXACT)
                ui.button("Add the file of a release").props("no-caps outline data-testid=add-published").on(
                    "click", js_handler=make_picker_handler(self._inlet)
                )
            self._offer_runs()
        self._show()

    def _offer_runs(self) -> None:
        """Offer the runs of this session, which may have been published as well, on the page Rules."""
        case, jobs = self._desk.case, self._workspace.jobs
        own = [job for job in jobs if job.state.judged and job.case.table is case.table]
        others = [each.job for each in list_sharing_runs(jobs, case)]
        if not own and not others:
            return
        runs = {job.key: job.title for job in own}
        runs |= {job.key: f"{job.title} · of {name_table(job.case, self._workspace)}" for job in others}

        def add(key: str | None) -> None:
            job = self._workspace.find_job(key) if key is not None else None
            if job is not None:
                choice.set_value(None)
                self._add(take_release(job))

        choice = ui.select(runs, label="Add the release of a run", on_change=lambda e: add(e.value))
        choice.props(
            'outlined dense options-dense data-testid=add-published-run aria-label="Add the release of a run"'
        )

    def _show(self) -> None:
        self._list.clear()
        table = self._desk.case.table
        with self._list:
            for position, release in enumerate(self._desk.case.published):
                with ui.element("div").classes("strip").props(f"data-testid=published-{position}"):
                    ui.label(
                        f"{release.made_by.get('file') or 'a release'}: {describe_published(table, release)}"
                    )
                    ui.button("Remove", on_click=partial(self._remove, position), color=None).props(
                        f"flat dense no-caps data-testid=published-{position}-remove"
                    )

    async def _uploaded(self, event: UploadEventArguments) -> None:
        folder = Path(tempfile.mkdtemp(prefix="published-", dir=self._workspace.folder))
        with notices.attempt(), hide_folders(folder):
            [path] = assign_paths(folder, [event.file.name])
            await event.file.save(path)
            if (release := await run.io_bound(self._read, path)) is not None:
                self._add(release)
        shutil.rmtree(folder, ignore_errors=True)
        self._inlet.reset()

    def _read(self, path: Path) -> Release:
        reach = None
        if (way := self._numbers.value) != EXACT:
            try:
                reach = float(self._reach.value or "")
            except ValueError:
                raise InputError("no number", place="Base or radius", remedy="give one, such as 5") from None
        base, radius = (reach if way == word else None for word in (BASE, RADIUS))
        return read_earlier(path, self._desk.case.table, base=base, radius=radius)

    def _failed(self, event: GenericEventArguments) -> None:
        self._inlet.reset()
        notices.tell(f"{event.args}: more than the server accepts at once.", "error")

    def _add(self, release: Release) -> None:
        self._put((*self._desk.case.published, release))

    def _remove(self, position: int) -> None:
        others = self._desk.case.published
        self._put((*others[:position], *others[position + 1 :]))

    def _put(self, releases: tuple[Release, ...]) -> None:
        self._desk.change("published", self._desk.case.with_published(releases))
        self._desk.end_step()
        self._show()


def describe_published(table: Table, release: Release) -> str:
    """Return words for the page on what a release says of a table: ``12 published, 4 suppressed``; and how
    many of its cells are in the table, unless all are. Cells that it does not list are not counted.
    """
    marks = release.marks
    if release.structure.same_cells(table.structure):
        rows, apart = int(release.made_by.get("rows", len(release))), count_unshared_cells(table, release)
    else:
        shared = match_cells(table.structure, release.structure) >= 0
        rows, apart, marks = len(release), int((~shared).sum()), marks[shared]
    counts = {mark: int((marks == mark).sum()) for mark in Mark}
    # What is read from a file has the cells of the table, and those that it does not list look suppressed.
    counts[Mark.SUPPRESSED] -= max(0, len(marks) - (rows - apart))
    said = ", ".join(f"{count:,} {mark.word}" for mark, count in counts.items() if count > 0)
    if not apart:
        return said
    return f"{rows - apart:,} of its {pluralize(rows, 'cell')} in this table ({said}), {apart:,} not"
