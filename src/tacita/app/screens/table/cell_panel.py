"""The panel beside the sheet: what is known of the cell in focus."""

from __future__ import annotations

import asyncio
from math import isnan

from nicegui import run, ui

from tacita.app.controls.page_parts import put_words
from tacita.app.sheet.content import LOOKS, Flag
from tacita.app.work.cell_facts import LONGEST, CellFacts, Contributor, DeducedInterval, OutsiderAttack
from tacita.app.work.open_case import DecisionKind
from tacita.core.errors import TacitaError
from tacita.core.run import Run
from tacita.core.words import format_number, pluralize
from tacita.report.interval_picture import draw_interval

PAUSE = 0.15
"""Seconds that the focus rests on a cell before its interval is worked out: arrow keys pass over many."""
LOOK = {look.flag: look for look in LOOKS}


class CellPanel:
    """Shows one cell at a time; of an interval that takes long the place is kept free."""

    def __init__(self) -> None:
        self._run: Run | None = None
        self._place = ui.element("aside").classes("panel cell-panel")
        self._place.props('aria-label="The cell in focus" data-testid=cell-panel')

    def show_empty(self, name: str, is_sum: bool) -> None:
        """Show a cell that the table does not list in the panel beside the sheet."""
        self._begin()
        with self._place:
            self._heading(name)
            ui.label("Empty: nobody contributed, and everybody knows.")
            if not is_sum:
                ui.label("Type a number to list it.").classes("muted")

    async def show(self, about: CellFacts, attack: OutsiderAttack | None, whose: str) -> None:
        """Show a cell beside the sheet; ``attack`` is the outsider's on what ``whose`` names, or None."""
        self._begin()
        with self._place:
            self._heading(about.name)
            with ui.element("div").classes("strip"):
                ui.label(format_number(about.value)).classes("cell-value number").props(
                    "data-testid=cell-value"
                )
                for word in _list_states(about):
                    ui.label(word).classes("state")
            self._requirement(about)
            interval_place = ui.element("div").classes("cell-section").props("data-testid=cell-interval")
            if about.of_records:
                self._contributors("Largest records", about.contributors, about.count, "record")
            else:
                self._contributors("Largest contributors", about.contributors, about.count)
            self._contributors("Largest holdings", about.holdings, None)
            self._sums(about)
        if attack is not None:
            await self._attack(interval_place, about, attack, whose)

    def _begin(self) -> None:
        if self._run is not None:
            self._run.cancel()
            self._run = None
        self._place.clear()

    def _heading(self, name: str) -> None:
        ui.label(name).classes("panel-title").props("role=heading aria-level=2 data-testid=cell-name")

    def _requirement(self, about: CellFacts) -> None:
        if not (about.sensitive or about.exempt):
            return
        with ui.element("div").classes("cell-section"):
            _show_title("Why sensitive" if about.sensitive else "Sensitive, were it not exempt")
            for reason in about.why:
                ui.label(reason).props("data-testid=cell-why")
            if about.exempt:
                ui.label("Nothing protects it.").classes("muted")
                return
            _show_title("Levels")
            with ui.element("dl").classes("facts number").props("data-testid=cell-levels"):
                for name, amount in (
                    ("Lower protection level (LPL)", about.lower),
                    ("Upper protection level (UPL)", about.upper),
                    ("Width (SPL)", about.sliding),
                ):
                    _show_fact(name, format_number(amount))

    def _contributors(
        self, title: str, listed: tuple[Contributor, ...], count: int | None, counted: str = "respondent"
    ) -> None:
        if not listed and count is None:
            return
        with ui.element("div").classes("cell-section").props("data-testid=cell-contributors"):
            _show_title(title)
            if count is not None:
                ui.label(pluralize(count, counted))
            if listed:
                with ui.element("dl").classes("facts number"):
                    for one in listed:
                        _show_fact(one.name, f"{format_number(one.amount)} ({one.share:.1f} %)")

    def _sums(self, about: CellFacts) -> None:
        with ui.element("div").classes("cell-section"):
            _show_title("Sums it is in")
            for equation in about.equations:
                ui.label(equation).classes("equation")
            if about.more_equations:
                ui.label(f"and {about.more_equations:,} more").classes("muted")
            if not about.equations:
                ui.label("none").classes("muted")
            if about.cost is not None:
                with ui.element("dl").classes("facts number"):
                    _show_fact("Cost of hiding", format_number(about.cost))

    async def _attack(self, place: ui.element, about: CellFacts, attack: OutsiderAttack, whose: str) -> None:
        if not attack.hides(about.cell):
            return
        interval = attack.get_known(about.cell)
        with place:
            _show_title("What an outsider deduces")
            ui.label(whose).classes("muted")
            waiting = ui.label("…")
        if interval is None:
            effort = self._run = Run(LONGEST)
            await asyncio.sleep(PAUSE)
            if self._run is not effort:
                return
            try:
                found = await run.io_bound(attack.deduce, about.cell, effort)
            except TacitaError as error:
                waiting.set_text(str(error))
                return
            # None when the server is stopping; another run when the focus has moved on.
            if found is None or self._run is not effort or place.is_deleted:
                return
            interval = found
        waiting.delete()
        with place:
            ui.label(_describe_interval(interval)).classes("number").props("data-testid=cell-deduced")
            picture = draw_interval(
                interval.low,
                interval.high,
                float(about.value),
                float(about.lower),
                float(about.upper),
                interval.bounds,
                float(about.sliding),
            )
            ui.html(picture, sanitize=False)


def _list_states(about: CellFacts) -> list[str]:
    """Return words for the panel on what a cell is; a decision that says the same is not repeated."""
    words = ["a sum"] if about.is_sum else []
    if about.sensitive:
        words.append(_name_flag(Flag.SENSITIVE))
    if about.exempt:
        words.append(_name_flag(Flag.EXEMPT))
    repeated = {DecisionKind.SENSITIVE.value: about.sensitive, DecisionKind.SAFE.value: about.exempt}
    if about.decision and not repeated.get(about.decision):
        words.append(f"marked: {about.decision}")
    return words


def _name_flag(flag: Flag) -> str:
    return f"{LOOK[flag].sign} {LOOK[flag].meaning}"


def _describe_interval(interval: DeducedInterval) -> str:
    if isnan(interval.low) or isnan(interval.high):
        return f"not worked out within {LONGEST:g} s"
    if interval.low == interval.high:
        return f"exactly {format_number(interval.low)}: no secret"
    return f"{format_number(interval.low)} to {format_number(interval.high)}"


def _show_title(text: str) -> None:
    ui.label(text).classes("cell-title").props("role=heading aria-level=3")


def _show_fact(name: str, value: str) -> None:
    put_words("dt", name)
    put_words("dd", value)
