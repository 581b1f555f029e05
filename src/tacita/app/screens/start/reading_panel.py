"""How to read it: what only the user knows of a file or a pasted text."""

from __future__ import annotations

from nicegui import ui

from tacita.app.work.opening import Reading

TOLD_BY_VALUES, COUNTS, AMOUNTS = "told by the values", "counts", "amounts"
AS_FOUND, POINT, COMMA = "as usual", "point: 1.5", "comma: 1,5"


class ReadingPanel:
    """Answers to questions that a file leaves open, folded away until they are needed."""

    def __init__(self) -> None:
        self._asking = False
        self._fold = ui.expansion("How to read it", caption="Files, paths and pasted text", icon="tune")
        self._fold.classes("reading").props("data-testid=reading dense")
        self._fold.on("after-show", lambda: self._focus_decimal() if self._asking else None, args=[])
        with self._fold, ui.element("div").classes("fields"):
            self._counts = _choice("Whole values are", [TOLD_BY_VALUES, COUNTS, AMOUNTS], "counts")
            self._decimal = _choice("Decimal sign", [AS_FOUND, POINT, COMMA], "decimal")
            self._value = _words("Column of values", "found by its name", "value")
            self._count = _words("Column of respondents", "found by its name", "count")
            self._by = _words("Columns of codes", "such as region, size", "by")
            self._total = _words("Code of totals", "such as Total", "total")
            self._sheet = _words("Sheet of a workbook", "the first", "sheet")
            self._repair = ui.checkbox("Compute wrong totals anew").props("dense data-testid=reading-repair")

    def ask_for_decimal(self) -> None:
        """Unfold the questions and lead to the one of the decimal sign."""
        if self._fold.value:
            self._focus_decimal()
        else:
            # What is folded away cannot take the focus.
            self._asking = True
            self._fold.open()

    def _focus_decimal(self) -> None:
        self._asking = False
        self._decimal.run_method("focus")

    @property
    def reading(self) -> Reading:
        """What is filled in."""
        return Reading(
            counts={COUNTS: True, AMOUNTS: False}.get(str(self._counts.value)),
            repair=bool(self._repair.value),
            decimal={POINT: ".", COMMA: ","}.get(str(self._decimal.value)),
            sheet=_said(self._sheet),
            by=tuple(word.strip() for word in (_said(self._by) or "").split(",") if word.strip()),
            value=_said(self._value),
            count=_said(self._count),
            total=_said(self._total),
        )


def _choice(label: str, options: list[str], name: str) -> ui.select:
    return ui.select(options, label=label, value=options[0]).props(
        f"dense outlined options-dense data-testid=reading-{name}"
    )


def _words(label: str, placeholder: str, name: str) -> ui.input:
    return ui.input(label, placeholder=placeholder).props(
        f"dense outlined stack-label autocomplete=off data-testid=reading-{name}"
    )


def _said(field: ui.input) -> str | None:
    return str(field.value or "").strip() or None
