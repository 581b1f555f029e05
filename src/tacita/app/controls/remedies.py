"""Remedies of errors as buttons: each does what helps, or leads to the field or cell that a person must mend.

Errors name what helps as data: the ``options`` and the ``cell`` of :class:`~tacita.core.errors.TacitaError`.
A page knows which of them it can set, and says so by a function from errors to remedies.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from nicegui import ui

from tacita.app.work.workspace import Workspace
from tacita.core.errors import TacitaError

SCRIPT = Path(__file__).with_name("remedies.js")


@dataclass(frozen=True)
class Remedy:
    """What helps, in words for a button, and the function that does it, which may be asynchronous."""

    words: str
    take: Callable[[], object]


FindRemedies = Callable[[TacitaError], Sequence[Remedy]]


def add_script() -> None:
    """Add to the page what leads to its fields, also where its address names one after ``#``."""
    ui.add_body_html(f"<script>{SCRIPT.read_text(encoding='utf-8')}</script>")


def lead_to(field: str, path: str = "") -> None:
    """Lead to a field by its ``data-testid``: unfold what hides it, scroll to it and give it the focus.

    Parameters
    ----------
    path
        Address of the page that has the field; the present one by default.
    """
    ui.run_javascript(f"leadTo({json.dumps(field)}, {json.dumps(path)})")


def bring_into_view(part: str) -> None:
    """Scroll to a part of the page by its ``data-testid``, as little as needed; the focus stays."""
    ui.run_javascript(f"bringIntoView({json.dumps(part)})")


def lead_to_line(field: str, text: str, line: int, words: Sequence[str] = ()) -> None:
    """Select the first of some words that a line of a field on the page has, or else the line, counted from
    1; if the field is empty, the text is put there.
    """
    ui.run_javascript(
        f"leadToLine({json.dumps(field)}, {json.dumps(text)}, {line}, {json.dumps(list(words))})"
    )


def draw_remedies(remedies: Iterable[Remedy]) -> None:
    """Draw a button for each remedy in a row at the current place of the page; nothing without any."""
    if not (remedies := list(remedies)):
        return
    # What helps mostly takes the error away, and the button with it: it is done from where the page is.
    page = ui.context.client.layout

    async def take(remedy: Remedy) -> None:
        with page:
            done = remedy.take()
            if isinstance(done, Awaitable):
                await done

    with ui.element("div").classes("strip remedies"):
        for remedy in remedies:
            button = ui.button(remedy.words, on_click=partial(take, remedy))
            button.props("outline dense no-caps data-testid=remedy").classes("remedy")


PAGES = {
    "attackers": ("Go to the attackers", "outsider", "/rules"),
    "cost": ("Go to the costs", "cost", "/rules"),
    "lower": ("Go to what everyone knows", "outsider", "/rules"),
    "protect": ("Choose a method", "", "/protect"),
    "published": ("Go to earlier releases", "add-published", "/rules"),
    "rules": ("Go to the rules", "add-rule", "/rules"),
    "start": ("Open a table", "", "/"),
    "table": ("Go to the table", "", "/table"),
}
"""Where options of every case, and pages, are: words, the field and the page."""


def find_common_remedies(workspace: Workspace, error: TacitaError) -> list[Remedy]:
    """Return the remedies of an error that every page has: ways to the cell, the rules, other pages."""
    found = []
    if error.cell is not None and workspace.case is not None and error.cell < len(workspace.case.table):
        found.append(Remedy("Go to the cell", partial(show_cell, workspace, error.cell)))
    names = dict.fromkeys(option.partition("=")[0] for option in error.options)
    for words, field, path in dict.fromkeys(PAGES[name] for name in names if name in PAGES):
        found.append(Remedy(words, partial(lead_to, field, path)))
    if "reload" in names:
        found.append(Remedy("Reload the page", ui.navigate.reload))
    return found


def find_field_remedies(error: TacitaError, fields: Mapping[str, str], form: str) -> list[Remedy]:
    """Return remedies that lead to fields of a form, by name and label, which an error names as options."""
    return [
        Remedy(f"Go to “{fields[name]}”", partial(lead_to, f"{form}-{name}"))
        for name in dict.fromkeys(error.options)
        if name in fields
    ]


def show_cell(workspace: Workspace, cell: int) -> None:
    """Open the page Table with its focus on a cell of the session's case."""
    workspace.sought = cell
    ui.navigate.to("/table")
