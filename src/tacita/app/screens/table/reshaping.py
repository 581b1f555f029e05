"""A menu that changes a table's codes: rows and columns added, removed, renamed; counts or amounts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal, Protocol

from nicegui import run, ui

from tacita.app.controls import notices
from tacita.app.controls.classification_dialog import ClassificationDialog
from tacita.app.controls.dialogs import Question, ask
from tacita.app.controls.remedies import Remedy, lead_to
from tacita.app.sheet import Selection
from tacita.app.work.open_case import Case
from tacita.app.work.records import find_records_of
from tacita.app.work.tree_draft import TreeDraft
from tacita.app.work.workspace import Workspace
from tacita.core.errors import InputError, TacitaError
from tacita.core.hierarchy import Hierarchy
from tacita.core.hierarchy.editing import grouped
from tacita.core.tables.dimension import Dimension
from tacita.core.tables.editing import (
    as_counts,
    renamed_code,
    renamed_dimension,
    with_code,
    without_code,
)
from tacita.core.tables.layout import Layout, Line
from tacita.core.tables.table import Table
from tacita.core.words import list_names

Axis = Literal["rows", "columns"]
WALK = """(event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const items = [...event.currentTarget.querySelectorAll("[role=menuitem]")];
    const at = items.indexOf(document.activeElement);
    items.at(at < 0 && step < 0 ? -1 : (at + step) % items.length).focus();
}"""
"""Arrow keys go from item to item, as readers of menus expect; Tab does so as well."""
SINGULAR: dict[Axis, str] = {"rows": "row", "columns": "column"}


class TableOwner(Protocol):
    """The screen that shows the table."""

    workspace: Workspace
    case: Case

    @property
    def table(self) -> Table: ...
    @property
    def layout(self) -> Layout: ...
    @property
    def selection(self) -> Selection: ...
    def reshape(self, table: Table, renamed: tuple[str, str] | None = None) -> None: ...
    def forget_contributors(self) -> None: ...
    async def classify(self, dimension: str, tree: Hierarchy) -> None: ...


def show_reshaping(owner: TableOwner) -> None:
    """Show the menu of the page Table that changes the codes and the kind of the table."""
    changes = _Changes(owner)
    button = ui.button("Edit table", color=None).props(
        "outline dense no-caps icon-right=arrow_drop_down aria-haspopup=menu data-testid=edit-table"
    )
    with (
        button,
        ui.menu().props('auto-close role=menu aria-label="Edit table"').on("keydown", js_handler=WALK),
    ):
        axes: tuple[Axis, ...] = ("rows", "columns")
        for axis in axes:
            one = SINGULAR[axis]
            _item(f"Add a {one}…", f"add-{one}", partial(changes.add, axis))
            _item(f"Rename the {one}…", f"rename-{one}", partial(changes.rename, axis))
            _item(f"Remove the selected {axis}", f"remove-{axis}", partial(changes.remove, axis))
            _item(f"Group the selected {axis}…", f"group-{axis}", partial(changes.group, axis))
            _item(f"Classification of the {axis}…", f"classify-{axis}", partial(changes.classify, axis))
            ui.separator()
        _item("Rename a dimension…", "rename-dimension", changes.rename_dimension)
        _item("Counts or amounts…", "kind", changes.choose_kind)
        if owner.table.contributions is not None or owner.table.count is not None:
            _item("Forget who contributed", "forget-contributors", changes.forget_contributors)


def _item(text: str, name: str, act: Callable[[], object]) -> None:
    ui.menu_item(text, on_click=act).props(f"dense role=menuitem data-testid={name}")


class _Changes:
    """What the items do: each asks what it must know, and hands a new table to the screen."""

    def __init__(self, owner: TableOwner) -> None:
        self._owner = owner

    async def add(self, axis: Axis) -> None:
        with notices.attempt(partial(self._find_remedies, partial(self.add, axis))):
            dimension, line = self._dimension(axis), self._line(axis)
            tree, one = dimension.trees[0], SINGULAR[axis]
            beside = tree.parent(line.code) if line.code in tree else None
            answers = await ask(
                f"Add a {one}",
                [
                    Question("code", "Code"),
                    Question("parent", "Part of", beside or tree.total, options=tree.codes),
                ],
                "Add",
            )
            if answers is not None:
                self._owner.reshape(
                    with_code(self._owner.table, dimension.name, answers["code"], answers["parent"])
                )

    async def rename(self, axis: Axis) -> None:
        with notices.attempt():
            dimension, line = self._dimension(axis), self._line(axis)
            answers = await ask(f"Rename {line.code}", [Question("code", "New code", line.code)], "Rename")
            if answers is not None:
                self._owner.reshape(
                    renamed_code(self._owner.table, dimension.name, line.code, answers["code"])
                )

    def remove(self, axis: Axis) -> None:
        with notices.attempt(partial(self._find_remedies, partial(self.remove, axis))):
            dimension, selection = self._dimension(axis), self._owner.selection
            lines = self._owner.layout.rows if axis == "rows" else self._owner.layout.columns
            chosen = selection.rows if axis == "rows" else selection.columns
            table = self._owner.table
            # Parts before their sum, which can go when it has none left.
            for line in sorted((lines[at] for at in chosen), key=lambda line: -line.depth):
                table = without_code(table, dimension.name, line.code)
            self._owner.reshape(table)

    async def group(self, axis: Axis) -> None:
        with notices.attempt(partial(self._find_remedies, partial(self.group, axis))):
            self._owner.case.refuse_lost_records()
            dimension, selection = self._dimension(axis), self._owner.selection
            where = self._owner.layout
            lines, chosen = (
                (where.rows, selection.rows) if axis == "rows" else (where.columns, selection.columns)
            )
            codes = [lines[at].code for at in chosen]
            answers = await ask(
                f"Group {list_names(codes)}",
                [
                    Question("label", "Label of the subtotal"),
                    Question("code", "Code", hint="As the label, if left empty"),
                ],
                "Group",
            )
            if answers is not None:
                tree = grouped(dimension.trees[0], codes, answers["code"], answers["label"])
                await self._owner.classify(dimension.name, tree)

    async def classify(self, axis: Axis) -> None:
        with notices.attempt(partial(self._find_remedies, partial(self.classify, axis))):
            self._owner.case.refuse_lost_records()
            dimension = self._dimension(axis)
            if len(dimension.trees) > 1:
                raise InputError(
                    f"'{dimension.name}' has {len(dimension.trees)} trees", remedy="edit them in their files"
                )
            tree = dimension.trees[0]
            draft = TreeDraft(tree, tree.leaves, of_records=self._owner.case.from_records)
            use = partial(self._owner.classify, dimension.name)
            case, at_hand = self._owner.case, self._owner.workspace.records
            records = await run.io_bound(find_records_of, case, at_hand)
            if records is None:
                ClassificationDialog(dimension.name, draft, use)
            else:
                groupings = await run.io_bound(records.list_groupings, dimension.name)
                find = partial(records.find_tree_of_columns, dimension.name)
                ClassificationDialog(dimension.name, draft, use, groupings or (), find)

    async def rename_dimension(self) -> None:
        with notices.attempt():
            names = [dimension.name for dimension in self._owner.table.structure.dimensions]
            if not names:
                raise InputError("the cells of this table have labels, and no dimensions to rename")
            answers = await ask(
                "Rename a dimension",
                [Question("old", "Dimension", names[0], options=names), Question("new", "New name")],
                "Rename",
            )
            if answers is not None:
                old, new = answers["old"], answers["new"]
                self._owner.reshape(renamed_dimension(self._owner.table, old, new), (old, new))

    async def choose_kind(self) -> None:
        kinds = {"counts: everyone knows that cells are integers": True, "amounts": False}
        with notices.attempt():
            now = next(name for name, integer in kinds.items() if integer == self._owner.table.integer)
            answers = await ask(
                "Cells are", [Question("kind", "Cells are", now, options=tuple(kinds))], "Set"
            )
            if answers is not None:
                self._owner.reshape(as_counts(self._owner.table, kinds[answers["kind"]]))

    def forget_contributors(self) -> None:
        with notices.attempt():
            self._owner.forget_contributors()

    def _find_remedies(self, again: Callable[[], object], error: TacitaError) -> list[Remedy]:
        """Return what helps a change that was refused; without contributors it is tried again."""

        def go_on() -> object:
            self._owner.forget_contributors()
            return again()

        found = []
        if "records" in error.options:
            found.append(Remedy("Choose the records again", partial(lead_to, "open-records", "/")))
        if "contributors=forget" in error.options:
            found.append(Remedy("Go on without contributors", go_on))
        return found

    def _dimension(self, axis: Axis) -> Dimension:
        where = self._owner.layout
        d = where.row_dimension if axis == "rows" else where.column_dimension
        if d is None:
            raise InputError(f"this table has no dimension along its {axis}")
        return self._owner.table.structure.dimensions[d]

    def _line(self, axis: Axis) -> Line:
        selection, where = self._owner.selection, self._owner.layout
        return where.rows[selection.row] if axis == "rows" else where.columns[selection.column]
