"""Records at hand: what their columns hold, and which of them make the table."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial

from nicegui import run, ui
from nicegui.events import ValueChangeEventArguments

from tacita.app.controls import notices
from tacita.app.controls.classification_dialog import ClassificationDialog
from tacita.app.controls.page_parts import make_heading, make_text_field, put_words
from tacita.app.controls.remedies import lead_to
from tacita.app.work.open_case import Case
from tacita.app.work.records import CONTRIBUTORS, CONTRIBUTORS_HELP, Choice, RecordsFile, tabulate_records
from tacita.app.work.workspace import Workspace
from tacita.core.errors import InputError
from tacita.core.hierarchy import Hierarchy
from tacita.core.words import pluralize

SIGNS = {"": "as found", ".": "point: 1.5", ",": "comma: 1,5"}
NOTHING = -1
"""Stands for no column among the columns, which go by number: a column may have any name, or none."""


class RecordsPanel:
    """The form; what is chosen stays with the session until the records are put away.

    Parameters
    ----------
    begin
        Opens what a function makes; it is called outside of the event loop.
    on_show
        Called when records are at hand, and when they no longer are.
    """

    def __init__(
        self,
        workspace: Workspace,
        begin: Callable[[Callable[[], Case]], Awaitable[object]],
        on_show: Callable[[], None],
    ) -> None:
        self._workspace = workspace
        self._begin = begin
        self._on_show = on_show
        self._place = ui.element("div").classes("records-place")

    def show(self) -> None:
        """Show the form for the session's records on the page Start; nothing where there are none."""
        self._place.clear()
        records = self._workspace.records
        self._place.set_visibility(records is not None)
        self._on_show()
        if records is None:
            return
        title = f"Tabulate {records.path.name}"
        self._records = records
        with self._place, ui.element("section").classes("panel records") as panel:
            panel.props["aria-label"] = title
            panel.props("data-testid=records")
            with ui.element("div").classes("strip"):
                make_heading(title)
                ui.label(pluralize(records.seen.records, "record")).classes("muted number")
                self._offer_sheets(records)
            with ui.element("div").classes("records-parts"):
                _show_columns(records)
                with ui.element("div").classes("stack records-fields"):
                    self._fields(records)

    def scroll_into_view(self) -> None:
        """Bring the form for records into view on the page, ready for the first choice."""
        lead_to("records-by")

    def _offer_sheets(self, records: RecordsFile) -> None:
        """Offer the sheets of a workbook of records, if several; another one is surveyed at once."""
        if records.sheets is None or records.sheet is None or len(records.sheets.names) < 2:
            return
        names = records.sheets.names

        async def look(event: ValueChangeEventArguments[int]) -> None:
            await self._look_again(partial(records.with_sheet, names[int(event.value)]))

        sheet = ui.select(
            dict(enumerate(records.sheets.labels)),
            label="Sheet",
            value=names.index(records.sheet),
            on_change=look,
        )
        sheet.classes("records-sheet").props("dense outlined options-dense data-testid=records-sheet")

    def _fields(self, records: RecordsFile) -> None:
        chosen, names = records.choice, records.seen.names
        named = {k: name or "(no name)" for k, name in enumerate(names)}
        self._by = ui.select(
            named,
            label="Columns that make the table, in order",
            value=[names.index(name) for name in chosen.by],
            multiple=True,
            on_change=self._keep,
        ).props("dense outlined options-dense use-chips stack-label data-testid=records-by")
        self._classified = ui.checkbox(
            f"Use {', '.join(file.name for files in records.classifications.values() for file in files)}",
            value=chosen.classified,
            on_change=self._keep,
        ).props("dense data-testid=records-classified")
        self._classified.set_visibility(bool(records.classifications))
        self._trees = dict(chosen.trees)
        self._made = ui.element("div").classes("strip").props('role=group aria-label="Classifications"')
        self._offer_classifying()
        with ui.element("div").classes("fields"):
            columns = enumerate(records.seen.columns)
            numbers = {k: named[k] for k, column in columns if column.could_be_numbers}
            one = partial(_select_column, names, self._keep)
            self._value = one(numbers, "Values", _name_counts(chosen), chosen.value, "value")
            self._respondent = one(
                named, CONTRIBUTORS["respondent"], "each record its own", chosen.respondent, "respondent"
            )
            self._holding = one(named, CONTRIBUTORS["holding"], "none", chosen.holding, "holding")
            for role, who in (("respondent", self._respondent), ("holding", self._holding)):
                who.props["hint"] = CONTRIBUTORS_HELP[role]
            self._weight = one(numbers, "Sampling weight", "none", chosen.weight, "weight")
        with (
            ui.expansion("More", caption="Condition, contributions, decimals", icon="tune")
            .classes("reading")
            .props("data-testid=records-more dense"),
            ui.element("div").classes("fields"),
        ):
            self._where = make_text_field(
                "Condition on records", "such as turnover > 0", "records-where", chosen.where or ""
            )
            self._largest = make_text_field("Contributions kept", "", "records-largest", str(chosen.largest))
            self._decimals = make_text_field(
                "Decimals that count",
                "as the values have",
                "records-decimals",
                "" if chosen.decimals is None else str(chosen.decimals),
            )
            if records.is_text:
                ui.select(
                    SIGNS, label="Decimal sign", value=records.decimal or "", on_change=self._read_numbers
                ).props("dense outlined options-dense data-testid=records-decimal")
            for field in (self._where, self._largest, self._decimals):
                field.on("blur", self._keep)
        with ui.element("div").classes("strip"):
            ui.button("Tabulate", on_click=self._tabulate).props(
                "no-caps unelevated data-testid=records-tabulate"
            )
            ui.button("Put away", on_click=self._put_away, color=None).props(
                "flat no-caps data-testid=records-away"
            )

    @property
    def _choice(self) -> Choice:
        """The choice of columns and options that the user filled into the form for records."""
        names = self._records.seen.names

        def column(field: ui.select) -> str | None:
            return None if field.value in (None, NOTHING) else names[int(field.value)]

        return Choice(
            by=tuple(names[int(k)] for k in self._by.value or ()),
            value=column(self._value),
            respondent=column(self._respondent),
            holding=column(self._holding),
            weight=column(self._weight),
            where=str(self._where.value or "").strip() or None,
            largest=Choice.largest if (largest := _read_integer(self._largest)) is None else largest,
            decimals=_read_integer(self._decimals),
            classified=bool(self._classified.value),
            trees=self._trees,
        )

    def _offer_classifying(self) -> None:
        """Show a button per column of the table that opens its classification."""
        names = self._records.seen.names
        self._made.clear()
        with self._made:
            for k in map(int, self._by.value or ()):
                name = names[k]
                tree = self._trees.get(name)
                size = "" if tree is None else f": {pluralize(int(tree.depth.max()), 'level')}"
                ui.button(
                    f"Classification of {name}{size}…", on_click=partial(self._classify, name), color=None
                ).props("outline dense no-caps").props["data-testid"] = f"classify-{k}"

    async def _classify(self, name: str) -> None:
        self._keep()
        records = self._records
        with notices.attempt():
            draft = await run.io_bound(records.draft_tree, name)
            groupings = await run.io_bound(records.list_groupings, name)
            # None when the server is stopping.
            if draft is None or groupings is None:
                return

            async def use(made: Hierarchy) -> None:
                self._trees = {**self._trees, name: made}
                self._keep()

            with self._place:
                find = partial(records.find_tree_of_columns, name)
                ClassificationDialog(name, draft, use, groupings, find)

    def _keep(self) -> None:
        """Keep what is filled in for a reload of the page; mistakes are reported when it is used."""
        try:
            self._records = replace(self._records, choice=self._choice)
        except InputError:
            return
        self._offer_classifying()
        # Another window may have put these away, or have others at hand.
        if (there := self._workspace.records) is not None and there.seen is self._records.seen:
            self._workspace.records = self._records
        self._value.options[NOTHING] = _name_counts(self._records.choice)
        self._value.update()

    async def _read_numbers(self, event: ValueChangeEventArguments[str]) -> None:
        await self._look_again(partial(self._records.with_decimal, str(event.value) or None))

    async def _look_again(self, look: Callable[[], RecordsFile]) -> None:
        with notices.attempt():
            self._workspace.records = await run.io_bound(look)
        # What was there before, with its own sheet and sign, where that failed.
        self.show()

    async def _tabulate(self) -> None:
        await self._begin(self._case)

    def _case(self) -> Case:
        return tabulate_records(self._records, self._choice)

    def _put_away(self) -> None:
        self._workspace.records = None
        self.show()


def _name_counts(choice: Choice) -> str:
    """Return words for the form on what the table counts where no column of values is chosen."""
    return "count the records" if choice.respondent is None else "count the respondents"


def _show_columns(records: RecordsFile) -> None:
    """Show one line per column of the records on the page: enough to see which is a classification."""
    with (
        ui.element("div").classes("records-columns").props('tabindex=0 role=region aria-label="Columns"'),
        ui.element("table").classes("plain").props("data-testid=records-columns"),
    ):
        with ui.element("thead"), ui.element("tr"):
            for head, kind in (("Column", ""), ("Holds", "words"), ("Different", ""), ("Such as", "words")):
                put_words("th", head, kind, "scope=col")
        with ui.element("tbody"):
            for column in records.seen.columns:
                with ui.element("tr"):
                    put_words("th", column.name or "(no name)", props="scope=row")
                    with ui.element("td").classes("words"):
                        gaps = f", {column.missing:,} missing" if column.missing else ""
                        ui.label(("numbers" if column.numbers else "text") + gaps)
                    put_words("td", f"{column.distinct:,}")
                    put_words("td", " · ".join(column.samples), "words records-samples")


def _select_column(
    names: tuple[str, ...],
    keep: Callable[[], None],
    offered: dict[int, str],
    label: str,
    nothing: str,
    chosen: str | None,
    test_id: str,
) -> ui.select:
    value = NOTHING if chosen is None else names.index(chosen)
    # What was chosen stays on offer, also where it holds no numbers with another decimal sign.
    kept = {} if chosen is None else {value: chosen or "(no name)"}
    field = ui.select({NOTHING: nothing, **kept, **offered}, label=label, value=value, on_change=keep)
    return field.props(f"dense outlined options-dense data-testid=records-{test_id}")


def _read_integer(field: ui.input) -> int | None:
    text = str(field.value or "").strip()
    if text and not text.isdecimal():
        raise InputError(f"{field.props['label']}: '{text}' should be an integer")
    return int(text) if text else None
