"""Who attacks: what everyone knows of each cell, respondents and holdings, and who pools what they know."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

from nicegui import ui

from tacita.app.controls.page_parts import as_label, make_panel
from tacita.app.screens.rules.contributor_names import explain_unknown, join_names, split_names
from tacita.app.work.desk import Desk
from tacita.app.work.open_case import Case
from tacita.attackers.considered import KINDS
from tacita.attackers.insiders import list_known_kinds

FILE, POSITIVE, BOUNDS, WITHIN = "file", "positive", "bounds", "within"
KNOWN = {
    FILE: "as the file says, cell by cell",
    POSITIVE: "that no cell is negative",
    BOUNDS: "a lower and an upper bound of all cells",
    WITHIN: "every value to within some percent",
}
NO_BOUND = "none"
"""What is typed where there is no lower bound; an empty field is 0 there."""
POOLING = {
    "respondents": ("coalitions", "Coalitions"),
    "holdings": ("holding_coalitions", "Coalitions of holdings"),
}
"""Of each kind of contributors: the name and the label of its coalitions."""
ABOUT = {
    "respondents": "Everyone who contributes attacks with what they put in.",
    "holdings": "Likewise for groups of respondents that belong together.",
}


def show_attackers(desk: Desk) -> None:
    """Show the panel of the page Rules on who attacks, and what they know."""
    with make_panel("Who attacks, and what they know", label="Attackers"):
        _BoundsForm(desk)
        reasons = {kind: explain_unknown(desk.case, by) for kind, by in KINDS.items()}
        _show_kinds(desk, {kind: reason for kind, reason in reasons.items() if not reason})
        if any(reasons.values()):
            with ui.expansion("Insiders whom this table does not name").classes("more") as fold:
                fold.props("dense data-testid=unknown-insiders")
                _show_kinds(desk, {kind: reason for kind, reason in reasons.items() if reason})


def _show_kinds(desk: Desk, reasons: Mapping[str, str]) -> None:
    """Show switches and coalitions of some kinds of insiders, each with the reason why it is not available;
    empty if it is.
    """
    with ui.element("div").classes("form"):
        for kind, reason in reasons.items():
            _show_insiders(desk, kind, reason)
    for kind, reason in reasons.items():
        _show_coalitions(desk, kind, reason)


class _BoundsForm:
    """Bounds that everyone knows: one of four ways, two of them with numbers."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        chosen = _find_bounds_kind(desk.case)
        stated = desk.case.data.outsider is not None
        ways = {way: text for way, text in KNOWN.items() if way != FILE or stated}
        self._kind = ui.select(ways, value=chosen, label="Everyone knows")
        self._kind.props('outlined dense options-dense data-testid=outsider aria-label="Everyone knows"')
        self._kind.classes("wide")
        attackers = desk.case.attackers
        below, above = attackers.within or (0.5, 1.0)
        with ui.element("div").classes("strip") as self._bounds:
            self._lower = self._number("Lower bound", _shown(attackers.lower), "lower", "0 if empty; or none")
            self._upper = self._number("Upper bound", _shown(attackers.upper), "upper", "none if empty")
        with ui.element("div").classes("strip") as self._within:
            self._below = self._number("Percent below", _shown(100 * below), "below", "of the value")
            self._above = self._number("Percent above", _shown(100 * above), "above", "of the value")
        self._kind.on_value_change(self._chosen)
        self._show()

    def _number(self, label: str, value: str, name: str, hint: str) -> ui.input:
        field = ui.input(label, value=value, validation=_complaint, on_change=lambda: self._put(name))
        field.props(
            f'outlined dense stack-label hint="{hint}" data-testid=outsider-{name} aria-label="{label}"'
        )
        field.props("inputmode=decimal autocomplete=off").on("blur", self._desk.end_step)
        return field

    def _show(self) -> None:
        self._bounds.set_visibility(self._kind.value == BOUNDS)
        self._within.set_visibility(self._kind.value == WITHIN)

    def _chosen(self) -> None:
        self._show()
        self._put("outsider")
        self._desk.end_step()

    def _put(self, field: str) -> None:
        """Put the bounds in the form into the case, unless a number cannot be read; its field says so."""
        lower = upper = None
        within = None
        texts = {BOUNDS: (self._lower, self._upper), WITHIN: (self._below, self._above)}
        fields = texts.get(self._kind.value, ())
        if any(_complaint(text.value) for text in fields):
            return
        numbers = [_number(text.value) for text in fields]
        if self._kind.value == POSITIVE and self._desk.case.data.outsider is not None:
            lower = 0.0
        elif self._kind.value == BOUNDS:
            lower, upper = numbers
            if self._lower.value.strip().lower() == NO_BOUND:
                lower = -inf
        elif self._kind.value == WITHIN:
            within = ((numbers[0] or 0.0) / 100, (numbers[1] or 0.0) / 100)
        self._desk.specify(field, attackers={"lower": lower, "upper": upper, "within": within})


def _find_bounds_kind(case: Case) -> str:
    """Return which of the choices in ``KNOWN`` the page Rules shows for the bounds of a case."""
    known = case.attackers
    if known.within is not None:
        return WITHIN
    if known.lower == 0 and known.upper is None and case.data.outsider is not None:
        return POSITIVE
    if known.lower is not None or known.upper is not None:
        return BOUNDS
    return FILE if case.data.outsider is not None else POSITIVE


def _show_insiders(desk: Desk, kind: str, reason: str) -> None:
    def choose(on: bool) -> None:
        known = list_known_kinds(desk.case.table)
        others = [word for word in desk.case.attackers.kinds or known if word not in (kind, "outsider")]
        chosen = {*others, kind} if on else set(others)
        # All that are known is what holds if nothing is said; none of them has to be said.
        kinds = () if chosen == set(known) else tuple(sorted(chosen)) or ("outsider",)
        desk.specify(kind, attackers={"kinds": kinds})
        desk.end_step()

    with ui.element("div"):
        chosen = desk.case.attackers.kinds or list_known_kinds(desk.case.table)
        switch = ui.switch(as_label(kind), value=kind in chosen, on_change=lambda e: choose(e.value))
        switch.props(f"data-testid=attack-{kind}").set_enabled(not reason)
        ui.label(f"Not available: {reason}." if reason else ABOUT[kind]).classes("muted small")


def _show_coalitions(desk: Desk, kind: str, reason: str) -> None:
    name, label = POOLING[kind]
    if reason and kind != "respondents":
        return

    def put(text: str) -> None:
        groups = tuple(group for line in text.splitlines() if (group := split_names(line)))
        desk.specify(label.lower(), attackers={name: groups})

    lines = "\n".join(join_names(members) for members in getattr(desk.case.attackers, name))
    with ui.element("div").classes("noted"):
        field = ui.textarea(label, value=lines, on_change=lambda e: put(e.value or ""))
        field.props(f'outlined dense stack-label autogrow data-testid={name} aria-label="{label}"')
        field.props("spellcheck=false").classes("wide").on("blur", desk.end_step)
        field.set_enabled(not reason)
        ui.label(
            f"Not available: {reason}."
            if reason
            else f"{as_label(kind)} who pool what they know: one coalition on each line, names separated by "
            "commas."
        ).classes("muted small")


def _shown(number: float | None) -> str:
    if number is None:
        return ""
    return NO_BOUND if number == -inf else f"{number:.12g}"


def _number(text: str | None) -> float | None:
    return float(text) if text and not _is_blank(text) else None


def _is_blank(text: str) -> bool:
    return text.strip().lower() in ("", NO_BOUND)


def _complaint(text: str | None) -> str | None:
    try:
        number = _number(text)
    except ValueError:
        return "a number is needed, such as 12.5"
    return "a number is needed, such as 12.5" if number is not None and number != number else None
