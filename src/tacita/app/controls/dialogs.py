"""Small dialogs: one asks for a few words, one for consent; Escape leaves everything as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nicegui import ui

from tacita.app.controls.page_parts import make_heading


@dataclass(frozen=True)
class Question:
    """One question: a line of text, or a choice where ``options`` are given."""

    name: str
    label: str
    value: str = ""
    hint: str = ""
    options: Sequence[str] = ()


async def ask(title: str, fields: Sequence[Question], button: str) -> dict[str, str] | None:
    """Ask questions in a dialog of the page; return the answers by name, None where the user cancels."""
    with ui.dialog() as dialog, ui.card().classes("asking"):
        # Not as text for props(): titles name codes, and a code may hold quotation marks.
        dialog.props["aria-label"] = title
        make_heading(title)
        controls = {field.name: _make_control(field) for field in fields}

        def answer() -> None:
            dialog.submit({name: str(control.value or "").strip() for name, control in controls.items()})

        next(iter(controls.values())).props("autofocus")
        for control in controls.values():
            if isinstance(control, ui.input):
                control.on("keydown.enter", answer)
        with ui.element("div").classes("strip asking-buttons"):
            ui.button("Cancel", on_click=lambda: dialog.submit(None), color=None).props(
                "flat no-caps data-testid=ask-cancel"
            )
            ui.button(button, on_click=answer).props("no-caps unelevated data-testid=ask-ok")
    # Not before it is hidden: only then it has given the focus back.
    dialog.on("hide", dialog.delete)
    answers: dict[str, str] | None = await dialog
    return answers


async def confirm(title: str, about: str, keep: str, lose: str, test_id: str) -> bool:
    """Ask for consent to lose something; return whether it was given. The button ``keep`` has the focus."""
    with ui.dialog() as dialog, ui.card().classes("asking"):
        dialog.props["aria-label"] = title
        ui.label(title).classes("panel-title")
        ui.label(about).classes("muted")
        with ui.element("div").classes("strip asking-buttons"):
            ui.button(keep, on_click=lambda: dialog.submit(False), color=None).props(
                f"flat no-caps autofocus data-testid={test_id}-keep"
            )
            ui.button(lose, on_click=lambda: dialog.submit(True)).props(
                f"no-caps unelevated color=negative data-testid={test_id}-confirm"
            )
    dialog.on("hide", dialog.delete)
    return bool(await dialog)


def _make_control(field: Question) -> ui.input | ui.select:
    control: ui.input | ui.select
    if field.options:
        control = ui.select(list(field.options), label=field.label, value=field.value)
    else:
        control = ui.input(field.label, value=field.value).props("autocomplete=off")
    control.props(f"dense outlined data-testid=ask-{field.name}").classes("asking-field")
    if field.hint:
        control.props["hint"] = field.hint
    return control
