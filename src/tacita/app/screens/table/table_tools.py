"""Controls around the sheet: marks on the selected cells, folding, and the way to the next sensitive cell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Literal

from nicegui import ui

from tacita.app.controls import notices
from tacita.app.controls.dialogs import Question, ask
from tacita.app.sheet import Sheet
from tacita.app.sheet.content import LOOKS, Flag
from tacita.app.work.open_case import Decision, DecisionKind
from tacita.core.errors import InputError
from tacita.core.exact import parse_number
from tacita.core.tables.layout import Layout, Line

SIGN = {look.flag: look.sign for look in LOOKS}
MARKS = (
    (
        DecisionKind.SENSITIVE,
        SIGN[Flag.SENSITIVE],
        "Sensitive",
        "Sensitive, with 20 % of the value as levels",
    ),
    (DecisionKind.SAFE, SIGN[Flag.EXEMPT], "Not sensitive", "Not sensitive, whatever rules or the file say"),
    (DecisionKind.PUBLISH, SIGN[Flag.PUBLISH], "Must publish", "No method may hide or change it"),
    (DecisionKind.HIDE, SIGN[Flag.HIDE], "Must hide", "Hidden by every method, though not sensitive"),
)


def show_marking(decide: Callable[[Decision | None], None]) -> None:
    """Show the page's buttons that mark selected cells; ``decide`` gets the decision, None to clear."""
    with ui.element("div").classes("strip marking").props('role=group aria-label="Mark the selected cells"'):
        ui.label("Mark selected").classes("muted")
        for kind, sign, name, meaning in MARKS:
            _button(f"{sign} {name}", meaning, kind.name.lower(), partial(decide, Decision(kind)))

        async def mark_with_levels() -> None:
            with notices.attempt():
                if (decision := await _ask_levels()) is not None:
                    decide(decision)

        _button("Levels…", "Sensitive, with levels as amounts", "levels", mark_with_levels)
        _button("Clear", "Take the mark away", "clear", partial(decide, None))


def _button(text: str, meaning: str, name: str, act: Callable[[], object]) -> None:
    button = ui.button(text, on_click=act, color=None).props(f"outline dense no-caps data-testid=mark-{name}")
    with button:
        # Above, and not at once: below are the heads of the columns that one is about to mark in.
        ui.tooltip(meaning).props('anchor="top middle" self="bottom middle" delay=500')


async def _ask_levels() -> Decision | None:
    """Ask for protection levels in a dialog; return them as a decision, None where the user cancels."""
    answers = await ask(
        "Sensitive, with these levels",
        [
            Question(
                "lower", "Lower level (LPL)", hint="how far below the value an attacker must be left in doubt"
            ),
            Question("upper", "Upper level (UPL)", hint="how far above"),
            Question("sliding", "Sliding level (SPL)", hint="how wide their interval must be at least"),
        ],
        "Mark",
    )
    if answers is None:
        return None
    amounts = {name: _read_amount(name, text) for name, text in answers.items()}
    if not any(amounts.values()):
        raise InputError(
            "a sensitive cell needs a level above zero", remedy="give an amount, or mark it as sensitive"
        )
    return Decision(DecisionKind.SENSITIVE, amounts["lower"], amounts["upper"], amounts["sliding"])


def _read_amount(name: str, text: str) -> Fraction | None:
    number = parse_number(text)
    if number is None:
        return None
    if not number.is_finite() or number < 0:
        raise InputError(f"{name} level '{text}'", remedy="give an amount, zero or more")
    return Fraction(number)


def show_folding(where: Layout, sheet: Callable[[], Sheet]) -> None:
    """Show a select per axis of the sheet that folds it, if it has levels between total and leaves."""
    _select_depth("rows", where.rows, sheet)
    _select_depth("columns", where.columns, sheet)


def _select_depth(
    axis: Literal["rows", "columns"], lines: Sequence[Line], sheet: Callable[[], Sheet]
) -> None:
    deepest = max((line.depth for line in lines), default=0)
    if deepest < 2:
        return

    def fold(depth: int) -> None:
        if depth >= deepest:
            sheet().unfold(axis)
        else:
            sheet().fold(axis, depth)

    options = {depth: _name_depth(depth, deepest) for depth in range(deepest, -1, -1)}
    select = ui.select(
        options,
        label=f"{axis[:-1].capitalize()} levels",
        value=deepest,
        on_change=lambda event: fold(int(event.value)),
    )
    select.props(f"dense outlined options-dense data-testid=levels-{axis}").classes("choice")


def _name_depth(depth: int, deepest: int) -> str:
    if depth == deepest:
        return "all"
    return "total only" if depth == 0 else f"{depth} below the total"


class SeekButtons:
    """Buttons that lead to the previous and the next sensitive cell, in whatever slice it is.

    ``seek`` gets -1 or 1.
    """

    def __init__(self, seek: Callable[[int], None]) -> None:
        with ui.element("div").classes("strip seeking").props('role=group aria-label="Sensitive cells"'):
            self._buttons = [
                self._button("Previous sensitive", "previous", "Alt+Page Up", partial(seek, -1)),
                self._button("Next sensitive", "next", "Alt+Page Down", partial(seek, 1)),
            ]

    def enable(self, count: int) -> None:
        """Enable the buttons that lead the sheet to sensitive cells, if there are any such cells."""
        for button in self._buttons:
            button.set_enabled(count > 0)

    @staticmethod
    def _button(text: str, name: str, keys: str, act: Callable[[], None]) -> ui.button:
        button = ui.button(text, on_click=act, color=None)
        button.props(f"outline dense no-caps data-testid={name}-sensitive")
        button.tooltip(f"Also in other slices; {keys} in the table")
        return button
