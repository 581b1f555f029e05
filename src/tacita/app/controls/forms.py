"""A form from options: one control for each, by its type, with its help beneath.

| type | control |
|---|---|
| ``bool`` | a switch |
| ``Literal`` | a choice |
| anything else | a line of text, empty where there is no value |

Numbers are typed as text too: a field that says what is wrong with ``2,5`` is better than one that drops it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from nicegui import ui
from nicegui.elements.mixins.value_element import ValueElement

from tacita.app.controls.page_parts import as_label
from tacita.core.errors import InputError
from tacita.methods.method import Option

STYLE = Path(__file__).with_name("forms.css")
NOTHING: Mapping[str, Any] = MappingProxyType({})
YES, NO = "yes", "no"


def format_value(value: Any) -> str:
    """Return the text that a form of the app shows for an option's value: ``5`` for 5.0, empty for None."""
    if isinstance(value, bool):
        return YES if value else NO
    if value is None:
        return ""
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def read_value(option: Option, text: str) -> Any:
    """Return an option's value from the text typed in a form: the default if empty, integers as int.

    Raises
    ------
    InputError
        The text is no value of the option.
    """
    if not text.strip():
        return option.default
    value = option.read(text.strip())
    return int(value) if isinstance(value, float) and value.is_integer() else value


class OptionForm:
    """Controls for some options.

    Parameters
    ----------
    values
        What is chosen at the beginning, instead of defaults.
    on_change
        Called after each change with the name of the option, not when the form is filled.
    on_leave
        Called when a text field loses the focus.
    name
        Of the form; the controls have it in their ``data-testid``, as in ``option-base``.
    show
        How values are shown.
    checked
        Say at the field if its text is no value of the option. Where somebody else judges them: no.
    folded
        Tells which options are shown on request only, below the others; none by default. The fold is open
        from the beginning if one of them is not at its default.
    """

    def __init__(
        self,
        options: Sequence[Option],
        values: Mapping[str, Any] = NOTHING,
        *,
        on_change: Callable[[str], None] | None = None,
        on_leave: Callable[[], None] | None = None,
        name: str = "option",
        show: Callable[[Any], str] = format_value,
        checked: bool = True,
        folded: Callable[[Option], bool] = lambda option: False,
    ) -> None:
        self._on_change = on_change
        self._filling = False
        self._fold: ui.expansion | None = None

        def add(chosen: Sequence[Option]) -> list[_Field]:
            with ui.element("div").classes("form"):
                return [
                    _Field(option, values, name, show, checked, self._changed, on_leave) for option in chosen
                ]

        later = [option for option in options if folded(option)]
        self._fields = add([option for option in options if option not in later])
        self._folded: list[_Field] = []
        if later:
            self._fold = ui.expansion(f"More ({len(later)})").classes("more")
            with self._fold.props(f"dense data-testid={name}-more"):
                self._folded = add(later)
            self._fields += self._folded
        self._unfold_changed()

    def fill(self, values: Mapping[str, Any]) -> None:
        """Show these values in the form, and the defaults of all other options."""
        self._filling = True
        for field in self._fields:
            field.fill(values)
        self._filling = False
        self._unfold_changed()

    def get_texts(self) -> dict[str, str]:
        """Return the texts typed in the form, by option; options at their default are left out."""
        return {field.option.name: field.text for field in self._fields if field.changed}

    def read_values(self) -> dict[str, Any]:
        """Return the values typed in the form, by option; options at their default are left out.

        Raises
        ------
        InputError
            A text is no value of its option.
        """
        return {
            field.option.name: read_value(field.option, field.text) for field in self._fields if field.changed
        }

    def _unfold_changed(self) -> None:
        """Open the fold if it hides an option that is not at its default."""
        if self._fold is not None and any(field.changed for field in self._folded):
            self._fold.set_value(True)

    def _changed(self, field: _Field) -> None:
        field.note()
        if not self._filling and self._on_change is not None:
            self._on_change(field.option.name)


class _Field:
    """One option: its control, and a note that tells its help and whether it was changed.

    The control is made with its value: a value set afterwards reaches the page in a message of its own, and
    would undo what somebody typed in between.
    """

    def __init__(
        self,
        option: Option,
        values: Mapping[str, Any],
        form: str,
        show: Callable[[Any], str],
        checked: bool,
        on_change: Callable[[_Field], None],
        on_leave: Callable[[], None] | None,
    ) -> None:
        self.option = option
        self._show = show
        self._checked = checked
        self._default = "" if option.required else show(option.default)
        label = as_label(option.name)
        with ui.element("div").classes("field") as self._place:
            self._control = self._make(label, self._choose_value(values))
            self._note = ui.label().classes("field-note")
        self._control.props(
            f'data-testid={form}-{option.name} aria-label="{label}" aria-describedby={self._note.html_id}'
        )
        self._control.on_value_change(lambda: on_change(self))
        if on_leave is not None:
            self._control.on("blur", on_leave)
        self.note()

    def _make(self, label: str, value: str | bool) -> ValueElement[Any]:
        if isinstance(value, bool):
            return ui.switch(label, value=value)
        if self.option.words:
            choice = ui.select(list(self.option.words), label=label, value=value or None)
            return choice.props("outlined dense options-dense")
        field = ui.input(label, value=value, validation=self._complaint).props(
            "outlined dense stack-label hide-bottom-space"
        )
        return field.props("spellcheck=false autocomplete=off")

    @property
    def text(self) -> str:
        value = self._control.value
        return (YES if value else NO) if isinstance(value, bool) else str(value or "").strip()

    @property
    def changed(self) -> bool:
        """Whether the form's control holds another value than the option's default."""
        text = self.text
        if text == self._default or not text:
            return False
        try:
            return not self._checked or bool(read_value(self.option, text) != self.option.default)
        except InputError:
            return True

    def fill(self, values: Mapping[str, Any]) -> None:
        self._control.set_value(self._choose_value(values))
        self.note()

    def _choose_value(self, values: Mapping[str, Any]) -> str | bool:
        """Return what the form's control is to show: the option's value among these, or its default."""
        text = self._show(values[self.option.name]) if self.option.name in values else self._default
        return text == YES if self.option.kind is bool else text

    def note(self) -> None:
        """Show the option's help below its control, with the default where another value is chosen."""
        changed = self.changed
        left = changed and not self.option.required
        self._note.set_text(
            self.option.help + (f" · changed, default: {self._default or 'empty'}" if left else "")
        )
        self._place.classes(add="field-changed" if changed else "", remove="" if changed else "field-changed")

    def _complaint(self, text: str | None) -> str | None:
        if self.option.required and not (text or "").strip():
            return "needed"
        if not self._checked:
            return None
        try:
            read_value(self.option, text or "")
        except InputError as error:
            return str(error)
        return None
