"""The rules of a case: each by its arguments or by its written form, both in step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any

from nicegui import ui
from nicegui.events import ValueChangeEventArguments

from tacita.app.controls.forms import NO, YES, OptionForm
from tacita.app.controls.page_parts import make_panel
from tacita.app.screens.rules.contributor_names import explain_unknown, join_names, split_names
from tacita.app.work.desk import Desk
from tacita.app.work.open_case import Case
from tacita.app.work.rule_offers import find_by, knows_holdings, list_offers, look_at, propose_by
from tacita.core.errors import TacitaError
from tacita.core.words import pluralize
from tacita.methods.method import Option, options_from
from tacita.rules import AnyOf, Rule, parse_rule, rule_kinds
from tacita.rules.grammar import compose_rule, find_rule_name, format_value, list_arguments, write_rule
from tacita.rules.rule import HOLDING, RESPONDENT, By

LESS_USED = {"by", "protection", "waivers", "weighted", "lower", "upper", "sliding", "cell_weight"}
"""Arguments that are shown on request."""
NAMES = {"respondents", "waivers"}
"""Arguments that are names of contributors, typed as a plain list."""
GRAMMAR = {YES: "true", NO: "false"}
LOOK_AT = {HOLDING: "holdings", RESPONDENT: "respondents"}
ABOUT_HOLDINGS = "A holding knows what each of its respondents put in: of amounts they are one contributor."


class RuleList:
    """A panel with one row for each rule, a way to add one, and those who waive."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._rows: list[_Row] = []
        # Numbers run on: two rows never have the same, whatever was removed before.
        self._numbers = count(1)
        self._following = False
        with make_panel("What is sensitive", label="Rules"):
            self._about = ui.label().classes("muted")
            self._by = self._show_by()
            self._place = ui.element("div").classes("rule-rows")
            self._offers = ui.expansion("Add a rule", value=not desk.case.rules).classes("add-rule")
            self._offers.props("dense data-testid=add-rule")
            self._show_offers()
            _show_waivers(desk)
        for text in desk.case.rules:
            for part in _split_rule(text):
                self._add(part)
        self._update_note()

    def _show_by(self) -> ui.toggle:
        """Show the choice whom the rules on the page look at, where the table names holdings."""
        case = self._desk.case
        with ui.element("div").classes("noted") as place:
            with ui.element("div").classes("strip"):
                ui.label("Rules look at")
                by = ui.toggle(LOOK_AT, value=self._find_by(case))
                by.props('no-caps dense aria-label="Rules look at" data-testid=rules-by')
            ui.label(ABOUT_HOLDINGS).classes("muted small")
        place.set_visibility(knows_holdings(case.table))
        by.on_value_change(self._choose_by)
        return by

    def _find_by(self, case: Case) -> By | None:
        """Return whom all rules on the page look at; None if some look at respondents, others at holdings."""
        found = find_by(case.rules) or {propose_by(case.table)}
        return found.pop() if len(found) == 1 else None

    def _choose_by(self, event: ValueChangeEventArguments[By | None]) -> None:
        self._show_offers()
        if self._following or event.value is None:
            return
        for row in self._rows:
            row.look_at(event.value)
        self.put_rules("by")
        self._desk.end_step()

    def _show_offers(self) -> None:
        """Show a button for each rule that can be added: its name, what it means and when it is usual."""
        by = self._by.value or propose_by(self._desk.case.table)
        self._offers.clear()
        with self._offers:
            ui.label("A cell is sensitive if any of the rules says so.").classes("muted")
            for offer in list_offers(self._desk.case.table, by):
                button = ui.element("button").classes("offer").props(f"type=button data-testid={offer.key}")
                with button:
                    ui.label(offer.title).classes("offer-name")
                    ui.label(offer.about).classes("muted small")
                if offer.fits_best:
                    button.classes("offer-first")
                if offer.reason:
                    button.props("aria-disabled=true")
                    with button:
                        ui.label(f"Not for this table: {offer.reason}.").classes("small")
                else:
                    button.on("click", partial(self._add_chosen, offer.rules), args=[])

    def _add_chosen(self, rules: Sequence[str]) -> None:
        self._offers.set_value(False)
        for text in rules:
            self._add(text)
        self.put_rules("add")
        self._desk.end_step()
        self._rows[-1].take_focus()

    def _add(self, text: str) -> None:
        with self._place:
            self._rows.append(_Row(self, next(self._numbers), text))

    def remove(self, row: _Row) -> None:
        """Remove a rule from the page Rules and from the case."""
        self._rows.remove(row)
        row.delete()
        self.put_rules("remove")
        self._desk.end_step()

    def put_rules(self, field: str) -> None:
        """Put all rules on the page into the case, after a change in this field."""
        self._desk.change(field, self._desk.case.with_rules(row.text for row in self._rows if row.text))
        self._following = True
        self._by.set_value(self._find_by(self._desk.case))
        self._following = False
        self._update_note()

    def end_step(self) -> None:
        """Make the next change on the page a step of undo of its own: a field was left."""
        self._desk.end_step()

    def _update_note(self) -> None:
        stated = len(self._desk.case.data.levels)
        marked = f"Sensitive by the file itself: {pluralize(stated, 'cell')}. " if stated else ""
        hint = "" if self._rows else "No rule yet: add one here, or mark cells on the page Table."
        self._about.set_text(f"{marked}{hint}")
        self._about.set_visibility(bool(marked or hint))


class _Row:
    """One rule."""

    def __init__(self, owner: RuleList, number: int, text: str) -> None:
        self._owner = owner
        self._field = f"rule-{number}"
        self._number = number
        self._kind = ""
        self._form: OptionForm | None = None
        self._busy = False
        with ui.element("div").classes("rule-row").props(f"data-testid=rule-{number}") as self._place:
            with ui.element("div").classes("rule-head"):
                self._written = ui.input("Written", value=text)
                self._written.props(
                    "outlined dense stack-label hide-bottom-space spellcheck=false autocomplete=off "
                    f'aria-label="Rule {number}, written" data-testid=rule-{number}-text input-class=mono'
                ).classes("rule-text")
                self._written.on_value_change(self._text_changed).on("blur", owner.end_step)
                remove = ui.button("Remove", on_click=lambda: owner.remove(self)).props("flat dense no-caps")
                remove.props(f'data-testid=rule-{number}-remove aria-label="Remove rule {number}"')
            self._does = ui.label().classes("muted")
            self._complaint = ui.label().classes("complaint").props(f"data-testid=rule-{number}-error")
            self._arguments = ui.element("div").classes("rule-arguments")
        self._follow_text()

    @property
    def text(self) -> str:
        return str(self._written.value or "").strip()

    def delete(self) -> None:
        self._place.delete()

    def look_at(self, by: By) -> None:
        """Write the rule on the page for other contributors; the case is left to the caller."""
        self._busy = True
        self._written.set_value(look_at(self.text, by))
        self._busy = False
        self._follow_text()

    def take_focus(self) -> None:
        """Give the focus to the written form of the rule, which is new on the page."""
        self._written.run_method("focus")

    def _text_changed(self) -> None:
        if self._busy:
            return
        self._follow_text()
        self._owner.put_rules(self._field)

    def _follow_text(self) -> None:
        """Show the arguments of the written rule in its form; a text that is no rule leaves it as it is."""
        rule = self._parse()
        if rule is None or isinstance(rule, AnyOf):
            return
        given = list_arguments(rule)
        if find_rule_name(rule) == self._kind and self._form is not None:
            self._form.fill(given)
        else:
            self._kind = find_rule_name(rule)
            self._make_form(given)

    def _parse(self) -> Rule | None:
        """Return the rule that is written in this row of the page, or None with the complaint shown."""
        try:
            rule = parse_rule(self.text)
        except TacitaError as error:
            self._complaint.set_text(str(error))
            return None
        self._complaint.set_text("")
        return rule

    def _make_form(self, given: Mapping[str, Any]) -> None:
        kind = rule_kinds()[self._kind]
        self._does.set_text(kind.does)
        self._arguments.clear()
        with self._arguments:
            self._form = OptionForm(
                options_from(kind),
                given,
                on_change=lambda _: self._form_changed(),
                on_leave=self._owner.end_step,
                name=f"rule-{self._number}",
                show=_format_argument,
                checked=False,
                folded=lambda option: option.name in LESS_USED,
            )

    def _form_changed(self) -> None:
        kinds = {option.name: option for option in options_from(rule_kinds()[self._kind])}
        typed = self._form.get_texts() if self._form is not None else {}
        texts = {name: _write_argument(kinds[name], typed[name]) for name in kinds if name in typed}
        self._busy = True
        self._written.set_value(compose_rule(self._kind, texts))
        self._busy = False
        self._parse()
        self._owner.put_rules(self._field)


def _format_argument(value: Any) -> str:
    """Return a rule's argument as its form on the page shows it: names as a list, others as written."""
    if isinstance(value, bool):
        return YES if value else NO
    if value is None:
        return ""
    if isinstance(value, frozenset):
        return join_names(sorted(value))
    text = format_value(value)
    return text[1:-1] if isinstance(value, tuple | list) else text


def _write_argument(option: Option, text: str) -> str:
    """Return the text typed for a rule's argument on the page as the grammar has it, lists in brackets."""
    if option.kind is bool:
        return GRAMMAR[text]
    if option.name in NAMES:
        return format_value(split_names(text))
    return f"[{text}]" if "," in text or option.name == "weights" else text


def _split_rule(text: str) -> list[str]:
    """Return the written rules for the rows of the page, one each, from a text that may join several."""
    try:
        rule = parse_rule(text)
        return [write_rule(part) for part in rule.rules] if isinstance(rule, AnyOf) else [text]
    except TacitaError:
        return [text]


def _show_waivers(desk: Desk) -> None:
    reason, waived = explain_unknown(desk.case, "respondent"), desk.case.specification.rules.waived

    def put(names: str) -> None:
        desk.specify("waived", rules={"waived": split_names(names)})

    with ui.element("div").classes("noted"):
        field = ui.input("Respondents who waive protection", value=join_names(waived))
        field.props("outlined dense stack-label data-testid=waived")
        field.props('aria-label="Respondents who waive protection"')
        field.props("spellcheck=false autocomplete=off")
        field.on_value_change(lambda event: put(event.value or ""))
        field.on("blur", desk.end_step)
        field.set_enabled(not reason)
        ui.label(
            f"Not available: {reason}."
            if reason
            else "Names separated by commas: who has consented to be recognised needs no protection."
        ).classes("muted small")
