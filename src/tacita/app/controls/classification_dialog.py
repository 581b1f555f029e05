"""A dialog in which a dimension's classification is made: by digits, from a column or a file, or by hand."""

from __future__ import annotations

import tempfile
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from nicegui import run, ui
from nicegui.events import GenericEventArguments, UploadEventArguments

from tacita.app.controls.code_tree import CodeTree
from tacita.app.controls.dialogs import Question, ask, confirm
from tacita.app.controls.inlets import make_one_file_inlet, make_picker_handler
from tacita.app.controls.page_parts import make_heading, make_text_field
from tacita.app.controls.remedies import Remedy, draw_remedies
from tacita.app.work.paths import assign_paths, hide_folders
from tacita.app.work.tree_draft import TreeDraft
from tacita.core.errors import InputError, TacitaError
from tacita.core.hierarchy import Hierarchy
from tacita.core.words import list_names, pluralize
from tacita.formats.hierarchy import recognise_hierarchy

FAILED = (
    "The file was not taken: it is larger than the server allows. Start it with a larger --largest-upload."
)

USUAL_DIGITS = "2-1-1"
"""Digits as an example where the codes are words."""
KEYS = (
    "Ctrl+click and Shift+click select several codes. Drag them, also onto their own group to put them last, "
    "or press Alt+Shift+arrow to indent and outdent, F2 to rename, Delete to remove a group, Ctrl+Z to undo."
)
ESCAPE_DOWN = """(event) => {
    event.currentTarget.isEscaping = document.querySelector(".q-menu") === null;
}"""
"""Escape leaves the dialog, unless it folds a list or closes a dialog above. Whose key it is, is decided when
it goes down, when the list is open still; a question asked before it is up again would be closed by it."""
ESCAPE_UP = """(event) => {
    if (event.currentTarget.isEscaping) emit();
    event.currentTarget.isEscaping = false;
}"""
NOTHING = -1
"""Stands for no column among the columns, which go by number."""


class ClassificationDialog:
    """The dialog. Nothing is changed before its last button is pressed; what cannot be is said in it.

    Parameters
    ----------
    name
        The dimension or column.
    draft
        The tree to begin with, and the codes that the data have.
    use
        Takes the tree at the end; the dialog stays open where it raises an error.
    columns, from_column
        Columns that may hold groups of the codes, and what makes a tree of one; none for a table.
    """

    def __init__(
        self,
        name: str,
        draft: TreeDraft,
        use: Callable[[Hierarchy], Awaitable[None]],
        columns: Sequence[str] = (),
        from_column: Callable[[str], Hierarchy] | None = None,
    ) -> None:
        self._name, self._draft, self._use = name, draft, use
        self._columns, self._from_column = columns, from_column
        self._taken = NOTHING
        title = f"Classification of {name}"
        with ui.dialog() as self._dialog, ui.card().classes("classification"):
            # Not as text for props(): a column may have any name.
            self._dialog.props["aria-label"] = title
            # A click beside it does not close it, and Escape asks first: the tree is hand work.
            self._dialog.props("persistent no-shake data-testid=classification")
            self._dialog.on("keydown.escape", js_handler=ESCAPE_DOWN)
            self._dialog.on("keyup.escape", self._leave, js_handler=ESCAPE_UP)
            make_heading(title)
            self._show_ways()
            with ui.element("div").classes("strip").props('role=group aria-label="Change the tree"'):
                self._show_actions()
            self._tree = CodeTree(title, draft.tree, self._move, self._act)
            self._tree.props("data-testid=code-tree")
            ui.label(KEYS).classes("muted tree-keys").props("data-testid=tree-keys")
            self._message = ui.label().props("role=status data-testid=tree-message").classes("tree-message")
            self._help = ui.element("div").classes("strip")
            with ui.element("div").classes("strip asking-buttons"):
                self._button("Cancel", "tree-cancel", self._dialog.close, flat=True)
                ui.button("Use this classification", on_click=self._finish).props(
                    "no-caps unelevated data-testid=tree-use"
                )
        self._dialog.on("hide", self._dialog.delete)
        self._show()
        self._dialog.open()

    def _show_ways(self) -> None:
        with ui.element("div").classes("strip tree-ways"):
            self._digits = make_text_field(
                "By digits", f"such as {self._draft.propose_digits() or USUAL_DIGITS}", "tree-digits"
            )
            self._digits.on("keydown.enter", self._take_digits)
            self._button("Split codes", "tree-digits-use", self._take_digits)
            if self._columns:
                named = dict(enumerate(name or "(no name)" for name in self._columns))
                self._column = ui.select(
                    {NOTHING: "none", **named},
                    label="Groups in the column",
                    value=NOTHING,
                    on_change=lambda event: self._take_column(int(event.value)),
                ).props("dense outlined options-dense data-testid=tree-column")
                self._column.classes("tree-column")
            self._inlet = make_one_file_inlet(self._take_file, self._fail, "upload-tree")
            self._choose_file("From a file…", "tree-file")

    def _show_actions(self) -> None:
        for text, name, key in (
            ("Group…", "group", ""),
            ("Move under…", "move", ""),
            ("Indent", "indent", "Alt+Shift+→"),
            ("Outdent", "outdent", "Alt+Shift+←"),
            ("Rename…", "rename", "F2"),
            ("Remove group", "ungroup", "Delete"),
            ("All under the total", "flatten", ""),
            ("Undo", "undo", "Ctrl+Z"),
            ("Redo", "redo", "Ctrl+Shift+Z"),
        ):
            button = self._button(text, f"tree-{name}", partial(self._act, name))
            if key:
                button.tooltip(key)

    def _choose_file(self, text: str, name: str) -> None:
        button = self._button(text, name, None)
        button.on("click", js_handler=make_picker_handler(self._inlet))

    @staticmethod
    def _button(text: str, name: str, act: Callable[[], object] | None, *, flat: bool = False) -> ui.button:
        button = ui.button(text, on_click=act, color=None)
        return button.props(f"{'flat' if flat else 'outline dense'} no-caps data-testid={name}")

    # ------------------------------------------------------------------ what is done

    async def _act(self, action: str) -> None:
        chosen = self._tree.selection
        with self._attempt():
            if action == "group":
                await self._group(chosen)
            elif action == "move":
                await self._move_by_name(chosen)
            elif action == "rename":
                await self._rename(chosen)
            elif action in ("indent", "outdent", "ungroup"):
                getattr(self._draft, action)(_require_one(chosen))
                self._show(chosen)
            else:
                getattr(self._draft, action)()
                self._show(chosen)

    async def _group(self, chosen: Sequence[str]) -> None:
        if not chosen:
            raise InputError("No code is selected", remedy="Select the codes of the group in the tree.")
        answers = await ask(
            "Group the selected codes",
            [
                Question("label", "Label of the group"),
                Question("code", "Code", hint="As the label, if left empty"),
            ],
            "Group",
        )
        if answers is not None:
            self._draft.group(chosen, answers["code"], answers["label"])
            self._show([answers["code"] or answers["label"]])

    async def _move_by_name(self, chosen: Sequence[str]) -> None:
        if not chosen:
            raise InputError("No code is selected", remedy="Select the codes to move in the tree.")
        if self._draft.tree.total in chosen:
            raise InputError(
                f"'{self._draft.tree.total}' is the total, which stands above all codes",
                remedy="Select codes below it.",
            )
        groups = self._draft.list_groups(chosen)
        answers = await ask(
            f"Move {list_names(chosen)}", [Question("under", "Under", groups[0], options=groups)], "Move"
        )
        if answers is not None:
            self._move(chosen, answers["under"])

    async def _rename(self, chosen: Sequence[str]) -> None:
        code = _require_one(chosen)
        fields = [Question("label", "Label", self._draft.tree.labels.get(code, ""))]
        if self._draft.can_rename(code):
            fields.insert(0, Question("code", "Code", code))
        answers = await ask(f"Rename {code}", fields, "Rename")
        if answers is not None:
            self._draft.rename(code, answers.get("code", code), answers["label"])
            self._show([answers.get("code", code)])

    def _move(self, codes: Sequence[str], under: str) -> None:
        with self._attempt():
            self._draft.move(codes, under)
            self._show(codes)

    def _take_digits(self) -> None:
        with self._attempt():
            self._show(note=self._draft.split(str(self._digits.value or "")))

    def _use_digits(self, digits: str) -> None:
        self._digits.set_value(digits)
        self._take_digits()

    def _group_parts(self) -> None:
        with self._attempt():
            self._show(note=self._draft.group_parts())

    async def _take_column(self, column: int) -> None:
        # The field goes back to the column before where the chosen one is refused.
        if column == self._taken or self._from_column is None:
            return
        with self._attempt():
            try:
                if column == NOTHING:
                    self._draft.flatten()
                    self._show()
                elif (found := await run.io_bound(self._from_column, self._columns[column])) is not None:
                    self._take(found)
                self._taken = column
            finally:
                self._column.set_value(self._taken)

    async def _take_file(self, event: UploadEventArguments) -> None:
        with self._attempt(), tempfile.TemporaryDirectory() as folder:
            (path,) = assign_paths(Path(folder), [event.file.name])
            await event.file.save(path)
            with hide_folders(Path(folder)):
                found = recognise_hierarchy(path, self._draft.codes, self._draft.tree.total)
            self._take(found)
        # The same file may be chosen again, after another one or after it was corrected. A reset would end
        # the upload of a file that was chosen meanwhile.
        self._inlet.run_method("removeUploadedFiles")

    def _take(self, found: Hierarchy) -> None:
        self._show(note=self._draft.take(found))
        if self._draft.unused:
            with self._help:
                draw_remedies([Remedy("Leave out codes without data", self._leave_out)])

    def _leave_out(self) -> None:
        with self._attempt():
            self._draft.leave_out_unused()
            self._show()

    def _fail(self, _: GenericEventArguments) -> None:
        self._inlet.reset()
        self._say(FAILED, is_error=True)

    async def _leave(self) -> None:
        """Close the dialog, with the user's consent if the tree was changed."""
        if self._draft.is_changed:
            with self._dialog:
                lost = await confirm(
                    "Discard the changes?",
                    f"The classification of {self._name} stays as it was before.",
                    "Go on editing",
                    "Discard",
                    "discard",
                )
            if not lost:
                return
        self._dialog.close()

    async def _finish(self) -> None:
        with self._attempt():
            await self._use(self._draft.tree)
            self._dialog.close()

    # ------------------------------------------------------------------ what is seen

    def _show(self, selection: Sequence[str] = (), note: str = "") -> None:
        self._tree.show(self._draft.tree, selection)
        self._say(" ".join([self._draft.describe(), note]))

    def _say(self, text: str, *, is_error: bool = False) -> None:
        self._help.clear()
        self._message.set_text(text)
        self._message.classes(add="tree-error" if is_error else "", remove="" if is_error else "tree-error")

    @contextmanager
    def _attempt(self) -> Iterator[None]:
        """Show an error raised inside in the dialog, which covers the page."""
        try:
            yield
        except TacitaError as error:
            self._say(str(error), is_error=True)
            with self._help:
                for option in error.options:
                    name, _, setting = option.partition("=")
                    if name == "digits":
                        draw_remedies([Remedy(f"Use {setting}", partial(self._use_digits, setting))])
                    elif name == "parts":
                        draw_remedies([Remedy("Group each such code with its parts", self._group_parts)])
                    elif name == "file":
                        self._choose_file("Another file…", "tree-other-file")


def _require_one(chosen: Sequence[str]) -> str:
    if len(chosen) != 1:
        raise InputError(
            f"{pluralize(len(chosen), 'code')} are selected" if chosen else "No code is selected",
            remedy="Select one code in the tree, and no other.",
        )
    return chosen[0]
