"""How to read it: what only the user knows of a file or a pasted text."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from nicegui import ui

from tacita.app.controls.page_parts import make_choice_field, make_text_field
from tacita.app.controls.remedies import lead_to
from tacita.app.work.inputs import SheetQuestion
from tacita.core.tables.read_options import ReadOptions

AS_FOUND = "as found"
COUNTS, AMOUNTS = "counts", "amounts"
POINT, COMMA = "point: 1.5", "comma: 1,5"


class ReadingPanel:
    """Answers to questions that a file leaves open, folded away until they are needed.

    Parameters
    ----------
    question
        A workbook of several sheets that waits for one to be chosen, if there is one.
    choose
        Called with that workbook and the sheet that is chosen.
    """

    def __init__(
        self, question: SheetQuestion | None, choose: Callable[[SheetQuestion, str], Awaitable[None]]
    ) -> None:
        self._choose = choose
        self._fold = ui.expansion(
            "How to read it", caption="Files, paths and pasted text", icon="tune", value=question is not None
        )
        self._fold.classes("reading").props("data-testid=reading dense")
        with self._fold:
            self._question = ui.element("div").classes("sheet-question")
            self._put_question(question)
        with self._fold, ui.element("div").classes("fields"):
            self._counts = make_choice_field("Integers are", [AS_FOUND, COUNTS, AMOUNTS], "reading-counts")
            self._decimal = make_choice_field("Decimal sign", [AS_FOUND, POINT, COMMA], "reading-decimal")
            self._value = make_text_field("Column of values", "found by its name", "reading-value")
            self._count = make_text_field("Column of respondents", "found by its name", "reading-count")
            self._by = make_text_field("Columns of codes", "such as region, size", "reading-by")
            self._total = make_text_field("Code of totals", "such as Total", "reading-total")
            self._repair = ui.checkbox("Compute wrong totals anew").props("dense data-testid=reading-repair")
            self._ignore_sums = ui.checkbox("Ignore undeclared sums").props(
                "dense data-testid=reading-ignore-sums"
            )
            self._keep_order = ui.checkbox("Keep the order of the input").props(
                "dense data-testid=reading-keep-order"
            )

    def ask_for_decimal(self) -> None:
        """Unfold the page's questions on how to read a file, and lead to that of the decimal sign."""
        lead_to("reading-decimal")

    def ask_for_sheet(self, question: SheetQuestion | None) -> None:
        """Unfold the page's questions on how to read a file at that of the sheet; None: it is answered."""
        self._put_question(question)
        if question is not None:
            lead_to("reading-sheet")

    def _put_question(self, question: SheetQuestion | None) -> None:
        """Show the question which sheet of a workbook to read; nothing without one."""
        self._question.clear()
        self._question.set_visibility(question is not None)
        if question is None:
            return
        with self._question:
            ui.label(f"{question.user_input.name} has several sheets. Which one?").props(
                "data-testid=sheet-question"
            )
            with ui.element("div").classes("strip"):
                # By number, since labels are not quite the names.
                likely = question.sheets.names.index(question.sheets.likely or question.sheets.names[0])
                sheet = ui.select(dict(enumerate(question.sheets.labels)), label="Sheet", value=likely)
                sheet.classes("sheet-choice").props("dense outlined options-dense data-testid=reading-sheet")
                ui.button("Tabulate it" if question.as_records else "Open it").props(
                    "no-caps unelevated data-testid=sheet-open"
                ).on_click(lambda: self._choose(question, question.sheets.names[int(sheet.value)]))

    @property
    def reading(self) -> ReadOptions:
        """The options for reading a file or pasted text that are filled in on the page Start."""
        return ReadOptions(
            counts={COUNTS: True, AMOUNTS: False}.get(str(self._counts.value)),
            repair=bool(self._repair.value),
            decimal={POINT: ".", COMMA: ","}.get(str(self._decimal.value)),
            by=[word.strip() for word in (_read_text(self._by) or "").split(",") if word.strip()] or None,
            value=_read_text(self._value),
            count=_read_text(self._count),
            total=_read_text(self._total),
            undeclared_sums="ignore" if self._ignore_sums.value else "refuse",
            order="input" if self._keep_order.value else "safe",
        )


def _read_text(field: ui.input) -> str | None:
    return str(field.value or "").strip() or None
