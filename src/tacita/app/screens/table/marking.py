"""Buttons that mark the selected cells: sensitive or not, must publish, must hide, levels by amount."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

from nicegui import ui

from tacita.app.controls import notices
from tacita.app.controls.asking import Field, ask
from tacita.app.sheet.content import LOOKS, Flag
from tacita.app.work.open_case import Decision, Kind
from tacita.core.errors import InputError
from tacita.core.exact import parse_number

SIGN = {look.flag: look.sign for look in LOOKS}
MARKS = (
    (Kind.SENSITIVE, SIGN[Flag.SENSITIVE], "Sensitive", "Sensitive, with 20 % of the value as levels"),
    (Kind.SAFE, SIGN[Flag.EXEMPT], "Not sensitive", "Not sensitive, whatever rules or the file say"),
    (Kind.PUBLISH, SIGN[Flag.PUBLISH], "Must publish", "No method may hide or change it"),
    (Kind.HIDE, SIGN[Flag.HIDE], "Must hide", "Hidden by every method, though not sensitive"),
)


def marking(decide: Callable[[Decision | None], None]) -> None:
    """The buttons; ``decide`` is told what to say of the selected cells, None to say nothing any more."""
    with ui.element("div").classes("strip marking").props('role=group aria-label="Mark the selected cells"'):
        ui.label("Mark selected").classes("muted")
        for kind, sign, name, meaning in MARKS:
            _button(f"{sign} {name}", meaning, kind.name.lower(), partial(decide, Decision(kind)))

        async def levels() -> None:
            with notices.attempt():
                if (decision := await _levels()) is not None:
                    decide(decision)

        _button("Levels…", "Sensitive, with levels as amounts", "levels", levels)
        _button("Clear", "Take the mark away", "clear", partial(decide, None))


def _button(text: str, meaning: str, name: str, act: Callable[[], object]) -> None:
    button = ui.button(text, on_click=act, color=None).props(f"outline dense no-caps data-testid=mark-{name}")
    with button:
        # Above, and not at once: below are the heads of the columns that one is about to mark in.
        ui.tooltip(meaning).props('anchor="top middle" self="bottom middle" delay=500')


async def _levels() -> Decision | None:
    answers = await ask(
        "Sensitive, with these levels",
        [
            Field(
                "lower", "Lower level (LPL)", hint="how far below the value an attacker must be left in doubt"
            ),
            Field("upper", "Upper level (UPL)", hint="how far above"),
            Field("sliding", "Sliding level (SPL)", hint="how wide his interval must be at least"),
        ],
        "Mark",
    )
    if answers is None:
        return None
    amounts = {name: _amount(name, text) for name, text in answers.items()}
    if not any(amounts.values()):
        raise InputError("a sensitive cell needs a level above zero: give an amount, or mark it as sensitive")
    return Decision(Kind.SENSITIVE, amounts["lower"], amounts["upper"], amounts["sliding"])


def _amount(name: str, text: str) -> Fraction | None:
    number = parse_number(text)
    if number is None:
        return None
    if not number.is_finite() or number < 0:
        raise InputError(f"{name} level '{text}': give an amount, zero or more")
    return Fraction(number)
