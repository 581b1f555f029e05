"""Ways to a table: files, pasted text or an example at once; records, a path, typing and chance on request.

Files and pasted text come in by a request of their own, whatever their size: a message of a megabyte would
cut the connection that carries the page's events. Files stay in the session's folder, and there only while
the case needs them.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from nicegui import run, ui
from nicegui.events import GenericEventArguments, MultiUploadEventArguments, UploadEventArguments

from tacita.app import frame
from tacita.app.controls import next_step, notices
from tacita.app.controls.dialogs import confirm
from tacita.app.controls.inlets import (
    RECORDS_ZONE,
    handle_drops_and_pastes,
    make_file_inlet,
    make_one_file_inlet,
    make_picker_handler,
    make_sending_handler,
)
from tacita.app.controls.page_parts import make_heading, make_panel
from tacita.app.controls.remedies import Remedy, find_field_remedies, lead_to
from tacita.app.controls.runs import name_table
from tacita.app.screens.start.reading_panel import ReadingPanel
from tacita.app.screens.start.recent_panel import RecentPanel
from tacita.app.screens.start.records_panel import RecordsPanel
from tacita.app.screens.start.refusals import (
    PASTE,
    RECORDS_FIELDS,
    describe_records,
    find_line_remedies,
    find_reading_fields,
    find_reading_remedies,
    find_table_remedies,
    find_text_remedies,
)
from tacita.app.screens.start.table_makers import Generator, NewTable
from tacita.app.work.inputs import (
    RecordsAlternative,
    SheetQuestion,
    UserInput,
    find_alternative,
    take_files,
    take_path,
    take_text,
)
from tacita.app.work.job import Job
from tacita.app.work.open_case import Case
from tacita.app.work.opening import NO_OPTIONS, list_endings, list_reading_notes, open_case_of_example
from tacita.app.work.paths import assign_paths, strip_folders
from tacita.app.work.recent import Offer, RecentWork, restore
from tacita.app.work.workspace import Workspace
from tacita.core.errors import (
    DecimalSignError,
    InputError,
    RecordsError,
    SeveralValuesError,
    TacitaError,
)
from tacita.core.tables.read_options import ReadOptions
from tacita.core.words import pluralize
from tacita.examples import EXAMPLES

PURPOSE = (
    "Tacita finds the cells of a table that would give somebody away, hides or changes what it must, and "
    "proves that the result is safe to publish."
)
FIRST_EXAMPLES = {
    "nchs": "Counts of patients: 66 cells, those below 5 are sensitive.",
    "salazar": "Amounts by activity and region: one cell needs 10 below and 12 above it.",
}
"""Examples for a first look, in words without their sources."""


def build(workspace: Workspace) -> None:
    """Fill the page Start: the ways to open, paste, type, tabulate or generate a table."""
    StartScreen(workspace)


class StartScreen:
    """The page; whatever opens a table leads on to it, whatever fails leaves everything as it was."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._open_now()
        self._busy = ui.label("Reading …").classes("muted").props("role=status data-testid=busy")
        self._busy.set_visibility(False)
        self._files = make_file_inlet(self._uploaded, self._failed)
        self._record_files = make_file_inlet(self._handed_records, self._failed, "upload-records")
        self._texts = make_one_file_inlet(self._pasted, self._failed, "upload-text")
        handle_drops_and_pastes(self._files, self._record_files, self._texts, PASTE)
        kept = workspace.recent is not None and bool(workspace.recent.list_offers())
        if kept:
            RecentPanel(workspace, self._go_on_with)
        self._records = RecordsPanel(workspace, partial(self._begin, reading=NO_OPTIONS), self._rank_actions)
        with ui.element("div").classes("columns ways-in"):
            self._open_files()
            self._paste()
            self._offer_first_examples()
        self._records.show()
        make_heading("Other ways to begin")
        with ui.element("div").classes("ways-in other-ways"):
            self._tabulate_records()
            self._open_path()
            with _fold(
                "Type a new table", "All cells are zero at first; totals follow what you type.", "new"
            ):
                NewTable(self._begin)
            with _fold("Generate a random table", "The same for the same seed.", "generate"):
                Generator(self._begin)
            self._examples()
        if not kept:
            # There is nothing to go on with yet, but the switch.
            RecentPanel(workspace, self._go_on_with)

    def _open_now(self) -> None:
        case = self.workspace.case
        with ui.element("div").classes("strip open-now").props("data-testid=open-now"):
            if case is None:
                ui.label(PURPOSE).props("data-testid=purpose")
                return
            names = " by ".join(d.name for d in case.table.structure.dimensions) or "a list of cells"
            own, others = len(self.workspace.runs_of_table), len(self.workspace.runs_of_others)
            runs = f" · {pluralize(own, 'run')}" if own else ""
            runs += f" · {pluralize(others, 'run')} of other tables" if others else ""
            ui.label("Open now:").classes("muted")
            ui.link(case.name, "/table").classes("open-name").props("data-testid=open-now-link")
            ui.label(f"{names} · {pluralize(len(case.table), 'cell')}{runs}").classes("number")
            ui.button("Clear all tables", on_click=self._clear, color=None).props(
                "flat dense no-caps data-testid=clear-all"
            )
        self._offer_open_tables(case)

    def _offer_open_tables(self, present: Case) -> None:
        """Offer the session's other tables, each by one click."""
        others = [case for case in self.workspace.tables if case.work != present.work]
        if not others:
            return
        with ui.element("div").classes("strip").props("data-testid=open-tables"):
            ui.label("Also open:").classes("muted")
            for case in others:
                button = ui.button(
                    name_table(case, self.workspace), on_click=partial(self._switch, case.work), color=None
                )
                button.props("flat dense no-caps data-testid=switch-table")

    def _switch(self, work: str) -> None:
        """Open another table of the session as it was last, and lead to the page Table."""
        with notices.attempt():
            self.workspace.switch(work)
            frame.open_screen("table")

    def _open_files(self) -> None:
        with make_panel("Open files").classes("drop-zone").props("data-testid=drop-zone"):
            ui.label("Drop them anywhere on this page, or").classes("drop-words")
            self._choose = ui.button("Choose files").props("no-caps unelevated data-testid=open-files")
            self._choose.on("click", js_handler=make_picker_handler(self._files))
            ui.label(
                "A table, with classifications called like its dimensions; a project with its data; or "
                "microdata."
            ).classes("muted")
            ui.label(" ".join(list_endings())).classes("muted endings")
            self._reading = ReadingPanel(self.workspace.sheet_question, self._chosen_sheet)

    def _open_path(self) -> None:
        with _fold("Open a path on this machine", "For large files, folders and projects.", "path"):
            path = ui.input("Path").props("dense outlined autocomplete=off data-testid=path")

            async def read() -> None:
                if (user_input := self._take_path(path)) is not None:
                    await self._open(user_input)

            async def look() -> None:
                if (user_input := self._take_path(path)) is not None:
                    await self._look_at(user_input)

            path.on("keydown.enter", read)
            with ui.element("div").classes("strip"):
                ui.button("Open", on_click=read).props("no-caps outline data-testid=path-open")
                ui.button("Tabulate its records", on_click=look).props(
                    "no-caps outline data-testid=path-records"
                )

    def _tabulate_records(self) -> None:
        about = "One row per respondent or contribution: choose the columns that make the table."
        with _fold("Tabulate records", about, "records").classes(RECORDS_ZONE):
            ui.label("Drop the file here, or").classes("drop-words")
            ui.button("Choose records").props("no-caps outline data-testid=open-records").on(
                "click", js_handler=make_picker_handler(self._record_files)
            )
            ui.label("With classifications called like its columns, if there are any.").classes("muted")

    def _rank_actions(self) -> None:
        """Leave one primary action on the page: tabulate new records, go on with an open table, or choose
        files.
        """
        case, records = self.workspace.case, self.workspace.records
        if case is None and records is None:
            self._choose.props(remove="outline")
        else:
            self._choose.props("outline")
        # Whoever asks may be a field of records that are gone from the page.
        with self._choose:
            if case is not None and (records is None or records.are_of(case)):
                next_step.propose(f"Go on with {case.name}", "/table")
            else:
                next_step.withdraw()

    def _paste(self) -> None:
        with make_panel(
            "Paste from a spreadsheet", "A block with names, or only numbers; Ctrl+V outside of fields."
        ):
            area = ui.element("textarea").classes("paste").props(f"id={PASTE} rows=5 spellcheck=false")
            area.props('data-testid=paste-text wrap=off aria-label="Pasted cells"')
            area.props["placeholder"] = "region\tfood\ttools\nNorth\t12\t7\nSouth\t9\t15"
            ui.button("Read it").props("no-caps outline data-testid=paste-open").on(
                "click", js_handler=make_sending_handler(self._texts, PASTE)
            )

    def _offer_first_examples(self) -> None:
        with make_panel("Try an example"):
            for name, about in FIRST_EXAMPLES.items():
                ui.label(about)
                button = ui.button(
                    "Open it", on_click=partial(self._begin, partial(open_case_of_example, name)), color=None
                )
                button.props(f'no-caps outline data-testid=first-{name} aria-label="Open: {about}"')
            ui.label("More of them, from the literature, are below.").classes("muted")

    def _examples(self) -> None:
        about = "Tables from the literature and of well-known sizes, each with its sensitive cells."
        with _fold("More examples", about, "examples"), ui.element("div").classes("examples-list"):
            for name, each in EXAMPLES.items():
                with ui.element("div").classes("example"):
                    button = ui.button(
                        each.title,
                        on_click=partial(self._begin, partial(open_case_of_example, name)),
                        color=None,
                    )
                    button.props(f"flat dense no-caps align=left data-testid=example-{name}")
                    ui.label(each.about).classes("muted example-about")

    def _take_path(self, field: ui.input) -> UserInput | None:
        """Return the user's input at the path that a field of the page names; None where it names none."""
        user_input = None
        with notices.attempt(lambda error: [Remedy("Go to the path", partial(lead_to, "path"))]):
            # Copied from a file manager, a path may come in quotation marks.
            written = str(field.value or "").strip().strip("\"'")
            if not written:
                raise InputError(
                    "none is given",
                    place="Path",
                    remedy="name a file or folder on this machine",
                )
            user_input = take_path(written, self._reading.reading)
        return user_input

    async def _uploaded(self, event: MultiUploadEventArguments) -> None:
        reading = self._reading.reading
        if paths := await self._save_files(event):
            case = await self._open(take_files(paths, reading))
            if case is None or not case.from_project:
                self.workspace.drop(paths[0].parent)
        self._files.reset()

    async def _handed_records(self, event: MultiUploadEventArguments) -> None:
        reading = self._reading.reading
        if paths := await self._save_files(event):
            await self._look_at(take_files(paths, reading))
            self.workspace.drop(paths[0].parent)
        self._record_files.reset()

    async def _save_files(self, event: MultiUploadEventArguments) -> list[Path]:
        """Return the paths of uploaded files, saved in a folder of their own; none where that fails."""
        folder = Path(tempfile.mkdtemp(prefix="opened-", dir=self.workspace.folder))
        saved: list[Path] = []
        with notices.attempt():
            paths = assign_paths(folder, [file.name for file in event.files])
            for file, path in zip(event.files, paths, strict=True):
                await file.save(path)
            saved = paths
        if not saved:
            shutil.rmtree(folder)
        return saved

    async def _pasted(self, event: UploadEventArguments) -> None:
        await self._open_text(await event.file.text(), self._reading.reading)
        self._texts.reset()

    async def _open_text(self, text: str, reading: ReadOptions) -> None:
        await self._open(take_text(text, self.workspace.folder, reading))

    def _failed(self, event: GenericEventArguments) -> None:
        for inlet in (self._files, self._record_files, self._texts):
            inlet.reset()
        notices.tell(
            f"{event.args}: more than the server accepts at once. Open it by its path, or start the server "
            "with a larger --largest-upload.",
            "error",
            [Remedy("Open it by its path", partial(lead_to, "path"))],
        )

    async def _open(self, user_input: UserInput) -> Case | None:
        """Open the user's input as a case and return it; None where a sheet is asked for, or it failed."""
        if await self._asks_for_sheet(user_input, as_records=False):
            return None
        return await self._begin(user_input.open_table, user_input.reading, user_input)

    async def _look_at(self, user_input: UserInput) -> None:
        """Survey the user's input as records, and show the form that asks what to make of them."""
        if await self._asks_for_sheet(user_input, as_records=True):
            return
        with notices.attempt():
            await self._have_at_hand(user_input)

    async def _have_at_hand(self, user_input: UserInput) -> None:
        with self._busily():
            self.workspace.records = await run.io_bound(user_input.open_records)
        self._records.show()
        self._records.scroll_into_view()
        # Last, since it takes away the button that may have been pressed.
        self.workspace.sheet_question = None
        self._reading.ask_for_sheet(None)

    async def _asks_for_sheet(self, user_input: UserInput, *, as_records: bool) -> bool:
        """Return whether the user's input is a workbook of several sheets; the page then asks for one."""
        sheets = None
        with notices.attempt(), self._busily():
            sheets = await run.io_bound(user_input.find_sheets)
        if sheets is None:
            return False
        self.workspace.sheet_question = SheetQuestion(user_input, sheets, as_records)
        self._reading.ask_for_sheet(self.workspace.sheet_question)
        return True

    async def _chosen_sheet(self, question: SheetQuestion, sheet: str) -> None:
        # What else is said of the reading is beside the question, and may be said after it was put.
        user_input = replace(question.user_input, reading=replace(self._reading.reading, sheet=sheet))
        await (self._look_at(user_input) if question.as_records else self._open(user_input))

    @contextmanager
    def _busily(self) -> Iterator[None]:
        self._busy.set_visibility(True)
        try:
            yield
        finally:
            self._busy.set_visibility(False)

    async def _begin(
        self,
        make: Callable[[], Case],
        reading: ReadOptions | None = None,
        user_input: UserInput | None = None,
    ) -> Case | None:
        """Open the case that a function makes and lead to the page Table; return it, or None if it failed.

        Where the rows of a table turn out to be records, and it is told where they come from, these are at
        hand; where they could be, the table's page offers them, or a remedy if there is no table.
        """

        def made() -> tuple[Case, RecordsAlternative | None]:
            case = make()
            return case, None if user_input is None else find_alternative(user_input, case)

        # Files that were refused are kept until others are read, or they themselves in another way.
        refused = self.workspace.refused
        opened = None
        with notices.attempt(partial(self._find_remedies, user_input), self._forget_refused):
            try:
                with self._busily():
                    opened = await run.io_bound(made)
            except DecimalSignError:
                if user_input is not None:
                    self._reading.ask_for_decimal()
                raise
            except (RecordsError, SeveralValuesError) as error:
                if user_input is None or not await self._take_for_records(user_input, error):
                    raise
        if self.workspace.refused is refused:
            self.workspace.refused = None
        if opened is None:
            return None
        case, other = opened
        left = self.workspace.runs_of_table
        self.workspace.change(case)
        self.workspace.alternative = other
        self.workspace.sheet_question = None
        notes = list_reading_notes(case, reading) if reading is not None else []
        if left:
            notes.append(describe_left_runs(left))
        private = None if user_input is None else user_input.private
        self.workspace.notes = [strip_folders(note, private) for note in notes]
        frame.open_screen("table")
        return case

    async def _take_for_records(
        self, user_input: UserInput, error: RecordsError | SeveralValuesError
    ) -> bool:
        """Return whether input that was refused as a table looks like records; then their form is shown, with
        a note and the ways to read a table all the same.
        """
        if isinstance(error, SeveralValuesError) and not error.identity:
            return False
        try:
            await self._have_at_hand(user_input)
        except TacitaError:
            return False
        remedies = find_table_remedies(user_input, error, self._open)
        if remedies:
            self.workspace.refused = user_input
        notices.tell(describe_records(error), remedies=remedies)
        return True

    async def _go_on_with(self, recent: RecentWork, offer: Offer) -> None:
        """Open a recent work of the user as it was kept, and lead to the page Table."""
        work = None
        with notices.attempt(), self._busily():
            work = await run.io_bound(recent.read, offer.key)
        if work is not None:
            left = self.workspace.runs_of_table
            notes = restore(self.workspace, work, in_use=offer.in_use)
            self.workspace.notes = [*notes, f"{describe_left_runs(left)}."] if left else notes
            frame.open_screen("table")

    def _find_remedies(self, user_input: UserInput | None, error: TacitaError) -> list[Remedy]:
        """Return what this page can do about an error in reading: another reading, or the way to a field."""
        if user_input is None:
            return find_field_remedies(error, RECORDS_FIELDS, "records")
        readings = find_reading_remedies(user_input, error, self._open, self._look_at)
        if readings:
            self.workspace.refused = user_input
        return [
            *find_line_remedies(user_input, error),
            *find_text_remedies(user_input, error, self._open_text),
            *readings,
            *find_reading_fields(user_input, error),
        ]

    def _forget_refused(self) -> None:
        self.workspace.refused = None

    async def _clear(self) -> None:
        if await confirm(
            "Drop all open tables, their changes and all runs?",
            "What was not exported is gone, and is not kept as recent work either.",
            "Keep them",
            "Clear all tables",
            "clear",
        ):
            self.workspace.clear()
            ui.navigate.reload()


def describe_left_runs(left: Sequence[Job]) -> str:
    """Return a sentence for the page on the runs of the table that was open before this one."""
    stay = "stays" if len(left) == 1 else "stay"
    runs = f"{pluralize(len(left), 'run')} of {left[-1].case.description}"
    return f"{runs} {stay} with that table, which the page Start lists as open"


def _fold(title: str, about: str, way: str) -> ui.expansion:
    """Return a fold of the page Start for a way to a table that few take first."""
    fold = ui.expansion(title, caption=about).classes("panel way-in")
    return fold.props(f"dense data-testid=way-{way}")
