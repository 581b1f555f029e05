"""Seven ways to a table: files, a path, records, pasted text, typing, chance, examples.

Files and pasted text come in by a request of their own, whatever their size: a message of a megabyte would
cut the connection that carries the page's events. Files stay in the session's folder, and there only while
the case needs them.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from nicegui import run, ui
from nicegui.events import GenericEventArguments, MultiUploadEventArguments, UploadEventArguments

from tacita.app import frame
from tacita.app.controls import notices
from tacita.app.screens.start.inlets import (
    RECORDS_ZONE,
    file_inlet,
    open_picker,
    send_text,
    take_what_is_dropped,
    text_inlet,
)
from tacita.app.screens.start.making import Generator, NewTable
from tacita.app.screens.start.reading_panel import ReadingPanel
from tacita.app.screens.start.records_panel import RecordsPanel
from tacita.app.work.case import Case
from tacita.app.work.opening import (
    ENDINGS,
    UNTOLD,
    Reading,
    case_from_files,
    case_from_path,
    case_from_text,
    case_of_example,
    notes_on,
)
from tacita.app.work.records import (
    RecordsAtHand,
    records_from_files,
    records_from_path,
    records_from_text,
)
from tacita.app.work.workspace import Workspace
from tacita.errors import DecimalSignError, InputError, RepeatedCellError
from tacita.examples import EXAMPLES

PASTE = "paste-text"
Opened = TypeVar("Opened")


def build(workspace: Workspace) -> None:
    """Fill the page."""
    StartScreen(workspace)


class StartScreen:
    """The page; whatever opens a table leads on to it, whatever fails leaves everything as it was."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._open_now()
        self._busy = ui.label("Reading …").classes("muted").props("role=status data-testid=busy")
        self._busy.set_visibility(False)
        self._files = file_inlet(self._uploaded, self._failed)
        self._record_files = file_inlet(self._handed_records, self._failed, "upload-records")
        self._texts = text_inlet(self._pasted, self._failed)
        take_what_is_dropped(self._files, self._record_files, self._texts, PASTE)
        self._records = RecordsPanel(workspace, partial(self._begin, reading=UNTOLD))
        with ui.element("div").classes("columns ways-in"):
            with ui.element("div").classes("stack"):
                self._open_files()
                self._open_path()
            with ui.element("div").classes("stack"):
                self._paste()
                with _panel("Type a new table", "All cells are zero at first; totals follow what you type."):
                    NewTable(self._begin)
            with ui.element("div").classes("stack"):
                self._tabulate_records()
                with _panel("Generate", "Random, and the same for the same seed."):
                    Generator(self._begin)
        self._examples()

    def _open_now(self) -> None:
        case = self.workspace.case
        with ui.element("div").classes("strip open-now").props("data-testid=open-now"):
            if case is None:
                ui.label("Nothing is open yet: begin in one of these ways.").classes("muted")
                return
            names = " by ".join(d.name for d in case.table.structure.dimensions) or "a list of cells"
            runs = f" · runs: {len(self.workspace.jobs)}" if self.workspace.jobs else ""
            ui.label("Open now:").classes("muted")
            ui.link(case.name, "/table").classes("open-name").props("data-testid=open-now-link")
            ui.label(f"{names} · {len(case.table):,} cells{runs}").classes("number")
            ui.button("Clear all", on_click=self._clear, color=None).props(
                "flat dense no-caps data-testid=clear-all"
            )

    def _open_files(self) -> None:
        with _panel("Open files").classes("drop-zone").props("data-testid=drop-zone"):
            ui.label("Drop them anywhere on this page, or").classes("drop-words")
            ui.button("Choose files").props("no-caps unelevated data-testid=open-files").on(
                "click", js_handler=open_picker(self._files)
            )
            ui.label(
                "A table, with classifications called like its dimensions; or a project with its data; or A, "
                "PSC and VSC of the thesis program."
            ).classes("muted")
            ui.label(" ".join(ENDINGS)).classes("muted endings")
            self._reading = ReadingPanel()

    def _open_path(self) -> None:
        with _panel("Open a path on this machine", "For large files, folders and projects."):
            path = ui.input("Path").props("dense outlined autocomplete=off data-testid=path")

            async def read() -> None:
                reading = self._reading.reading
                with_records = partial(_from_path, records_from_path, path, reading)
                await self._begin(partial(_from_path, case_from_path, path, reading), reading, with_records)

            async def look() -> None:
                await self._look_at(partial(_from_path, records_from_path, path, self._reading.reading))

            path.on("keydown.enter", read)
            with ui.element("div").classes("strip"):
                ui.button("Open", on_click=read).props("no-caps unelevated data-testid=path-open")
                ui.button("Tabulate its records", on_click=look).props(
                    "no-caps outline data-testid=path-records"
                )

    def _tabulate_records(self) -> None:
        about = "One row per respondent or contribution: choose the columns that make the table."
        with _panel("Tabulate records", about).classes(RECORDS_ZONE).props(f"data-testid={RECORDS_ZONE}"):
            ui.label("Drop the file here, or").classes("drop-words")
            ui.button("Choose records").props("no-caps unelevated data-testid=open-records").on(
                "click", js_handler=open_picker(self._record_files)
            )
            ui.label("With classifications called like its columns, if there are any.").classes("muted")

    def _paste(self) -> None:
        with _panel(
            "Paste from a spreadsheet", "A block with names, or only numbers; Ctrl+V outside of fields."
        ):
            area = ui.element("textarea").classes("paste").props(f"id={PASTE} rows=5 spellcheck=false")
            area.props('data-testid=paste-text wrap=off aria-label="Pasted cells"')
            area.props["placeholder"] = "region\tfood\ttools\nNorth\t12\t7\nSouth\t9\t15"
            ui.button("Read it").props("no-caps unelevated data-testid=paste-open").on(
                "click", js_handler=send_text(self._texts, PASTE)
            )

    def _examples(self) -> None:
        about = "Tables from the literature and of well-known sizes, each with its sensitive cells."
        with _panel("Examples", about), ui.element("div").classes("examples-list"):
            for name, told in EXAMPLES.items():
                with ui.element("div").classes("example"):
                    button = ui.button(
                        told.title, on_click=partial(self._begin, partial(case_of_example, name)), color=None
                    )
                    button.props(f"flat dense no-caps align=left data-testid=example-{name}")
                    ui.label(told.about).classes("muted example-about")

    async def _uploaded(self, event: MultiUploadEventArguments) -> None:
        reading = self._reading.reading
        if paths := await self._saved(event):
            with_records = partial(records_from_files, paths, reading)
            case = await self._begin(partial(case_from_files, paths, reading), reading, with_records)
            if case is None or case.origin is None:
                self._drop_unless_at_hand(paths[0].parent)
        self._files.reset()

    async def _handed_records(self, event: MultiUploadEventArguments) -> None:
        reading = self._reading.reading
        if paths := await self._saved(event):
            await self._look_at(partial(records_from_files, paths, reading))
            self._drop_unless_at_hand(paths[0].parent)
        self._record_files.reset()

    async def _saved(self, event: MultiUploadEventArguments) -> list[Path]:
        """The files that came in, in a folder of their own; none where they cannot be kept."""
        folder = Path(tempfile.mkdtemp(prefix="opened-", dir=self.workspace.folder))
        saved: list[Path] = []
        with notices.attempt():
            paths = _places(folder, [file.name for file in event.files])
            for file, path in zip(event.files, paths, strict=True):
                await file.save(path)
            saved = paths
        if not saved:
            shutil.rmtree(folder)
        return saved

    def _drop_unless_at_hand(self, folder: Path) -> None:
        at_hand = self.workspace.records
        if at_hand is None or at_hand.private != folder:
            shutil.rmtree(folder)

    async def _pasted(self, event: UploadEventArguments) -> None:
        text, reading = await event.file.text(), self._reading.reading
        with_records = partial(records_from_text, text, self.workspace.folder, reading)
        await self._begin(partial(case_from_text, text, reading), reading, with_records)
        self._texts.reset()

    def _failed(self, event: GenericEventArguments) -> None:
        for inlet in (self._files, self._record_files, self._texts):
            inlet.reset()
        notices.tell(
            f"{event.args}: more than the server accepts at once. Open it by its path, or start the server "
            "with a larger --largest-upload.",
            "error",
        )

    async def _look_at(self, look: Callable[[], RecordsAtHand]) -> None:
        """Have records at hand, and ask what is to be made of them."""
        self._busy.set_visibility(True)
        with notices.attempt():
            self.workspace.records = await run.io_bound(look)
            self._records.show()
            self._records.lead_there()
        self._busy.set_visibility(False)

    async def _begin(
        self,
        make: Callable[[], Case],
        reading: Reading | None = None,
        with_records: Callable[[], RecordsAtHand] | None = None,
    ) -> Case | None:
        """Open what is made and lead on to it; None if nothing came of it.

        Where a table turns out to be records, and it is told how to look at these, they are at hand.
        """
        self._busy.set_visibility(True)
        case: Case | None = None
        with notices.attempt():
            try:
                case = await run.io_bound(make)
            except DecimalSignError:
                self._reading.ask_for_decimal()
                raise
            except RepeatedCellError:
                if with_records is not None:
                    await self._look_at(with_records)
                raise
        self._busy.set_visibility(False)
        if case is not None:
            self.workspace.change(case)
            self.workspace.notes = notes_on(case, reading) if reading is not None else []
            frame.go("table")
        return case

    async def _clear(self) -> None:
        with ui.dialog().props('aria-label="Clear all"') as dialog, ui.card():
            ui.label("Drop the table, its changes and all runs?").classes("panel-title")
            ui.label("What was not exported is gone.").classes("muted")
            with ui.element("div").classes("strip"):
                ui.button("Keep them", on_click=lambda: dialog.submit(False), color=None).props(
                    "flat no-caps autofocus"
                )
                ui.button("Clear all", on_click=lambda: dialog.submit(True)).props(
                    "no-caps unelevated color=negative data-testid=clear-confirm"
                )
        if await dialog:
            self.workspace.clear()
            ui.navigate.reload()


def _panel(title: str, about: str = "") -> ui.element:
    panel = ui.element("section").classes("panel").props(f'aria-label="{title}"')
    with panel:
        ui.label(title).classes("panel-title").props("role=heading aria-level=2")
        if about:
            ui.label(about).classes("muted")
    return panel


def _places(folder: Path, names: Sequence[str]) -> list[Path]:
    """Where files of these names are put: in this folder, whatever folder a name speaks of."""
    plain = [name.replace("\\", "/").rpartition("/")[2] for name in names]
    if wrong := [name for k, name in enumerate(plain) if name in ("", ".", "..", *plain[:k])]:
        raise InputError(f"'{wrong[0]}': every file needs a name, and no two the same; rename it")
    return [folder / name for name in plain]


def _from_path(open_it: Callable[[str, Reading], Opened], field: ui.input, reading: Reading) -> Opened:
    # Copied from a file manager, a path may come in quotation marks.
    written = str(field.value or "").strip().strip("\"'")
    if not written:
        raise InputError("Path: give the path of a file or folder on this machine")
    return open_it(written, reading)
