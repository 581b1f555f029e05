"""The table as a spreadsheet: typed into, marked, folded and turned; beside it the cell in focus."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from nicegui import background_tasks, run, ui

from tacita.app import frame
from tacita.app.controls import next_step, notices
from tacita.app.controls.arrangement_selects import ArrangementSelects, get_arrangement, rename_in_arrangement
from tacita.app.controls.page_parts import show_no_table
from tacita.app.controls.remedies import Remedy
from tacita.app.screens.table.cell_panel import CellPanel
from tacita.app.screens.table.reshaping import show_reshaping
from tacita.app.screens.table.table_tools import SeekButtons, show_folding, show_marking
from tacita.app.sheet import Entry, Flag, Selection, Sheet
from tacita.app.sheet.content import LOOKS
from tacita.app.work.cell_facts import OutsiderAttack, describe_cell
from tacita.app.work.entries import EntryError, enter, find_wrong_sum, name_cell
from tacita.app.work.inputs import RecordsAlternative
from tacita.app.work.job import Job
from tacita.app.work.open_case import Case, Decision
from tacita.app.work.paths import hide_folders
from tacita.app.work.seek_cell import seek
from tacita.app.work.view import Sensitivity, View, find_block, find_place, view_case, view_release
from tacita.app.work.workspace import Workspace
from tacita.core.errors import InputError, TacitaError
from tacita.core.hierarchy import Hierarchy
from tacita.core.tables.editing import as_counts
from tacita.core.tables.table import Table
from tacita.core.words import pluralize

SIGNS_OF_VALUES = Flag.SENSITIVE | Flag.EXEMPT | Flag.PUBLISH | Flag.HIDE
SIGNS_OF_RUN = Flag.SENSITIVE | Flag.OTHER | Flag.EXPOSED
CHANGED_ELSEWHERE = (
    "The table was changed in another window. Here it is as it is now, without what you did last on this "
    "page: look at it and do it again."
)


def build(workspace: Workspace) -> None:
    """Fill the page Table: the table in a sheet, tools around it, and the cell in focus beside it."""
    if workspace.case is None:
        show_no_table()
        return
    if (other := workspace.alternative) is not None and other.case is workspace.case:
        _offer_records(workspace, other)
    TableScreen(workspace, workspace.case)


def _offer_records(workspace: Workspace, other: RecordsAlternative) -> None:
    """Offer the form for records in a notice, where rows were read as cells and could be records."""

    def take() -> None:
        workspace.records = other.records
        workspace.alternative = None
        frame.open_screen("start")

    def leave() -> None:
        if workspace.alternative is other:
            workspace.alternative = None

    notices.offer(
        "Each row was read as a cell: none repeats another one, and none is a total. They could as well be "
        "records, one for each respondent or contribution.",
        "Tabulate them as records",
        take,
        leave,
    )


class TableScreen:
    """One page that shows the table of a workspace.

    The case on screen is ``case``; whatever is done makes the next one, of which only the cells that look
    different are sent. What is sensitive follows a moment later, from a thread.
    """

    def __init__(self, workspace: Workspace, case: Case) -> None:
        self.workspace = workspace
        self.case = case
        self.layout = get_arrangement(workspace).lay_out(case.table.structure)
        self._judged = Sensitivity.guess(case)
        self._attack: OutsiderAttack | None = None
        self._shows_run = False
        self._offered: Job | None = None
        self._view = self._seen()
        self._build()
        if (sought := workspace.sought) is not None:
            workspace.sought = None
            self._go(sought)
        self._show_focus_soon()
        self._judge_soon()

    # ------------------------------------------------------------------ what the menus ask

    @property
    def table(self) -> Table:
        return self.case.table

    @property
    def selection(self) -> Selection:
        return self._sheet.selection

    # ------------------------------------------------------------------ the page

    def _build(self) -> None:
        with ui.element("div").classes("table-page"):
            with ui.element("div").classes("strip"):
                self._arranging = ArrangementSelects(self.workspace, self.table.structure, self._arrange)
                self._folds = ui.element("div").classes("strip")
            with ui.element("div").classes("strip table-tools"):
                show_marking(self._decide)
                with ui.element("div").classes("apart"):
                    show_reshaping(self)
                self._runs = ui.element("div").classes("apart")
            with ui.element("div").classes("table-body"):
                with ui.element("div").classes("table-main"):
                    self._place = ui.element("div").classes("table-sheet")
                    with ui.element("div").classes("strip table-foot"):
                        self._counts = ui.label().classes("number").props("data-testid=counts")
                        self._seeking = SeekButtons(self._seek)
                        ui.space()
                        self._legend = ui.element("ul").classes("strip legend").props('aria-label="Signs"')
                self._panel = CellPanel()
        self._offer_folding()
        self._offer_run()
        self._put_sheet()
        self._count()

    def _put_sheet(self) -> None:
        """Show a new sheet on the page and the signs it uses; what a run publishes cannot be typed into."""
        self._show_legend()
        self._place.clear()
        with self._place:
            self._sheet = Sheet(
                self._view.to_content(),
                editable=not self._shows_run,
                name=f"Table {self.case.name}",
                on_edit=self._edit,
                on_select=self._select,
                on_undo=lambda: self._step(self.workspace.undo),
                on_redo=lambda: self._step(self.workspace.redo),
                on_seek=self._seek,
            )
            self._sheet.props("data-testid=sheet")

    def _show_legend(self) -> None:
        """Show the signs of the sheet in words; that of exempt cells, risky and rare, with their number."""
        exempt = int(self._judged.exempt.sum())
        wanted = SIGNS_OF_RUN if self._shows_run else SIGNS_OF_VALUES
        self._legend.clear()
        if (self._view.flags & Flag.EMPTY).any():
            wanted |= Flag.EMPTY
        with self._legend:
            for look in LOOKS:
                if look.flag & (wanted if exempt else wanted & ~Flag.EXEMPT):
                    with ui.element("li").props(f"data-testid=legend-{look.name}"):
                        ui.label(look.sign).classes(f"legend-sign sign-{look.name}").props("aria-hidden=true")
                        ui.label(f"{look.meaning}: {exempt:,}" if look.flag is Flag.EXEMPT else look.meaning)

    def _offer_folding(self) -> None:
        self._folds.clear()
        with self._folds:
            show_folding(self.layout, lambda: self._sheet)

    def _offer_run(self) -> None:
        """Offer the page's switch to what a run publishes, where there is a run of this very case."""
        job = self._find_run()
        if job is self._offered:
            return
        self._offered = job
        self._runs.clear()
        if job is None:
            return
        with self._runs:
            shown = ui.toggle(
                {False: "Values", True: f"Run {job.number} publishes"},
                value=self._shows_run,
                on_change=lambda event: self._switch(bool(event.value)),
            )
            shown.props('dense no-caps unelevated aria-label="Show" data-testid=show')

    def _count(self) -> None:
        sensitive, marked = len(self._judged.levels), len(self.case.decisions)
        kind = "counts" if self.table.integer else "amounts"
        self._seeking.enable(sensitive)
        if not self._judged.is_guess:
            next_step.propose_after_counting(sensitive)
        self._counts.set_text(
            f"{pluralize(len(self.table), 'cell')} ({kind}) · {sensitive:,} sensitive · {marked:,} marked by "
            "hand"
        )

    # ------------------------------------------------------------------ what is seen

    def _find_run(self) -> Job | None:
        """Return the session's chosen run, if it is of this very case and has come to a release."""
        job = self.workspace.chosen
        return job if job is not None and job.case is self.case and job.release is not None else None

    def _seen(self) -> View:
        job = self._find_run()
        if self._shows_run and job is not None and job.release is not None:
            return view_release(self.table, job.release, self._judged.levels.sensitive, self.layout)
        return view_case(self.case, self._judged.levels, self.layout, self._judged.exempt)

    def _redraw(self) -> None:
        """Send the cells of the sheet that look different to the browser, or the whole sheet."""
        before, self._view = self._view, self._seen()
        changes = self._view.find_changes(before)
        if changes is None:
            self._sheet.show(self._view.to_content())
        else:
            self._sheet.patch(changes)

    def _switch(self, shows_run: bool) -> None:
        self._shows_run = shows_run
        self._view = self._seen()
        self._put_sheet()
        self._show_focus_soon()

    def _arrange(self) -> None:
        self.layout = get_arrangement(self.workspace).lay_out(self.table.structure)
        self._view = self._seen()
        self._sheet.show(self._view.to_content())
        self._offer_folding()
        self._show_focus_soon()

    def _seek(self, step: int) -> None:
        """Put the sheet's focus on the next sensitive cell (1) or the one before (-1), in any slice."""
        if not len(self._judged.levels):
            self._sheet.tell("No cell is sensitive.")
            return
        chosen, focus = get_arrangement(self.workspace), self.selection
        sought = seek(self._judged.levels.cells, step, chosen, self.layout, focus.row, focus.column)
        self._go(sought.cell)
        self._sheet.tell(
            f"Sensitive cell {sought.number:,} of {sought.count:,}: {self.table.name(sought.cell)}."
        )

    def _go(self, cell: int) -> None:
        """Put the sheet's focus on a cell, in whatever slice it is."""
        chosen = get_arrangement(self.workspace)
        arrangement = chosen.shift_to(self.table.structure, cell)
        if arrangement is not chosen:
            self._arranging.take(arrangement)
        if (place := find_place(self.layout, cell)) is not None:
            self._sheet.go(*place)

    # ------------------------------------------------------------------ what is done

    def _is_current(self) -> bool:
        """Return whether what the page shows is still the session's. If another window has changed it, the
        page is shown anew, its head too, and what was meant for the old one is not done.

        Rules, attackers and costs are on another page: who changes them changes nothing that is shown here.
        """
        now = self.workspace.case
        if now is self.case:
            return True
        if now is not None and now.data is self.case.data and now.decisions == self.case.decisions:
            self.case = now
            return True
        self.workspace.notes = [CHANGED_ELSEWHERE]
        ui.navigate.reload()
        return False

    def _edit(self, entries: tuple[Entry, ...]) -> None:
        with notices.attempt(partial(self._find_remedies, entries)):
            if not self._is_current():
                return
            table, where = enter(self.table, self.layout, entries), self.layout
            self._change(self.case.with_table(table))
            if (wrong := find_wrong_sum(table, where, entries)) is not None:
                notices.tell(str(wrong), remedies=self._find_remedies(entries, wrong))

    def _find_remedies(self, entries: tuple[Entry, ...], error: TacitaError) -> list[Remedy]:
        """Return what helps entries that were refused: to make them possible, or the way to the cell."""

        def enter_after(make_possible: Callable[[], None]) -> None:
            make_possible()
            self._edit(entries)

        found = []
        if isinstance(error, EntryError):
            place = error.entry
            found.append(Remedy("Go to the cell", lambda: self._sheet.go(place.row, place.column)))
        if "counts=no" in error.options:
            as_amounts = partial(self.reshape, as_counts(self.table, False))
            found.append(Remedy("The values are amounts", partial(enter_after, as_amounts)))
        if "contributors=forget" in error.options:
            found.append(Remedy("Forget who contributed", partial(enter_after, self.forget_contributors)))
        return found

    def _decide(self, decision: Decision | None) -> None:
        with notices.attempt():
            if not self._is_current():
                return
            cells = find_block(self.layout, self.selection.rows, self.selection.columns).tolist()
            if not cells:
                raise InputError("only empty cells are selected, which nobody needs to protect")
            self._change(self.case.decide(cells, decision))

    def reshape(self, table: Table, renamed: tuple[str, str] | None = None) -> None:
        """Go on with a table of other codes, names or kind, as the page's menu made it."""
        if not self._is_current():
            return
        if renamed is not None:
            rename_in_arrangement(self.workspace, *renamed)
        self._change(self.case.with_table(table))

    def forget_contributors(self) -> None:
        """Go on without who contributed, and so without the records, as the page's menu or a remedy says."""
        if self._is_current():
            self._change(self.case.forget_contributors())

    async def classify(self, dimension: str, tree: Hierarchy) -> None:
        """Go on with another classification of a dimension, which takes a moment where records are read."""
        if not self._is_current():
            return
        before = self.case
        with hide_folders(*self.workspace.folder.iterdir()):
            case = await run.io_bound(before.with_tree, dimension, tree)
        if case is not None and self.case is before and self._is_current():
            self._change(case)

    def _step(self, move: Callable[[], None]) -> None:
        with notices.attempt():
            if self._is_current():
                move()
                self._follow()

    def _change(self, case: Case) -> None:
        self.workspace.change(case)
        self._follow()

    def _follow(self) -> None:
        """Show the case of the workspace on the page, whatever it is now."""
        before, self.case = self.case, self.workspace.require_case()
        frame.name_case(self.case)
        structure, lines = self.table.structure, (self.layout.rows, self.layout.columns)
        if structure is not before.table.structure:
            self.layout = get_arrangement(self.workspace).lay_out(structure)
        if len(self.table) != len(before.table) or not structure.same_cells(before.table.structure):
            self._judged = Sensitivity.guess(self.case)
        else:
            self._judged = Sensitivity(self._judged.levels, self._judged.hits)
        was_run, self._shows_run = self._shows_run, self._shows_run and self._find_run() is not None
        self._attack = None
        if was_run != self._shows_run:
            self._switch(self._shows_run)
        else:
            self._redraw()
        if structure is not before.table.structure:
            self._arranging.show(structure)
        if (self.layout.rows, self.layout.columns) != lines:
            self._offer_folding()
        self._offer_run()
        self._judge_soon()

    # ------------------------------------------------------------------ what follows from a thread

    def _judge_soon(self) -> None:
        background_tasks.create(self._judge(self.case), name="what is sensitive", context=self._place)

    async def _judge(self, case: Case) -> None:
        judged = await run.io_bound(Sensitivity.find, case)
        # None when the server is stopping; another case when something newer is under way.
        if judged is None or case is not self.case or self._place.is_deleted:
            return
        self._judged = judged
        with self._place:
            self._redraw()
            self._show_legend()
            self._count()
            if judged.trouble is not None:
                notices.tell_error(judged.trouble)
        await self._show_focus()

    def _show_focus_soon(self) -> None:
        background_tasks.create(self._show_focus(), name="the cell in focus", context=self._place)

    async def _show_focus(self) -> None:
        """Show the panel for the cell of the sheet that is in focus now."""
        await self._select(self.selection)

    async def _select(self, selection: Selection) -> None:
        row, column = selection.row, selection.column
        cell = int(self.layout.cells[row, column])
        if cell < 0:
            is_sum = bool(self._view.flags[row, column] & Flag.TOTAL)
            self._panel.show_empty(name_cell(self.layout, self.layout.codes_at(row, column)), is_sum)
            return
        job = self._find_run()
        whose = (
            "if the sensitive cells were hidden and no others"
            if job is None
            else f"from what run {job.number} publishes"
        )
        await self._panel.show(describe_cell(self.case, self._judged, cell), self._find_attack(job), whose)

    def _find_attack(self, job: Job | None) -> OutsiderAttack | None:
        """Return the outsider's attack for the panel, kept per case and run; None without a problem."""
        problem, release = self._judged.problem, None if job is None else job.release
        if problem is None:
            return None
        if self._attack is None or not self._attack.concerns(problem, release):
            self._attack = OutsiderAttack(problem, release)
        return self._attack
