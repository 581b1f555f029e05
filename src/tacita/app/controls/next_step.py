"""The next step: one link at the head of every page, which says what is known and what to do with it."""

from __future__ import annotations

from nicegui import ElementFilter, ui
from nicegui.events import ClickEventArguments, Handler

from tacita.core.words import pluralize

MARK = "next-step"
PLACE = "next-steps"


def show_place() -> None:
    """Make the place of the next step at the head of a page; it is empty until a step is proposed."""
    with ui.element("div").classes("strip").mark(PLACE):
        link = ui.link("", "").classes("next-step").props("data-testid=next-step").mark(MARK)
        link.set_visibility(False)


def offer_beside(text: str, about: str, icon: str, name: str, act: Handler[ClickEventArguments]) -> ui.button:
    """Return a new button before the next step on the current page, for what can be done at once instead,
    with a line ``about`` what it gives below it.
    """
    with next(iter(ElementFilter(marker=PLACE))), ui.element("div").classes("beside-step") as place:
        button = ui.button(text, icon=icon, on_click=act, color=None).props(
            f"no-caps outline data-testid={name}"
        )
        ui.label(about).classes("muted small").props(f"data-testid={name}-about")
    place.move(target_index=0)
    return button


def propose(text: str, path: str) -> None:
    """Show the next step on the current page, in place of the one before, as in ``Safe: write the files``.

    Parameters
    ----------
    path
        Address of the page where the step is taken.
    """
    for link in ElementFilter(kind=ui.link, marker=MARK):
        link.set_text(text)
        link.props["href"] = path
        link.set_visibility(True)


def withdraw() -> None:
    """Remove the next step from the current page: there is none as things are."""
    for link in ElementFilter(kind=ui.link, marker=MARK):
        link.set_visibility(False)


def propose_table() -> None:
    """Propose to open a table, where none is open."""
    propose("Open, paste, type or generate a table", "/")


def propose_run() -> None:
    """Propose to protect the open table, where it has no run."""
    propose("Choose a method and run it", "/protect")


def propose_files(run: int) -> None:
    """Propose to write the files of a safe run, by its number."""
    propose(f"Run {run} is safe: write its files", "/export")


def propose_after_counting(sensitive: int) -> None:
    """Show the step that follows from the number of sensitive cells: to protect them, or to state a rule."""
    if sensitive:
        them = "it" if sensitive == 1 else "them"
        propose(f"{pluralize(sensitive, 'sensitive cell')}: protect {them}", "/protect")
    else:
        propose("No sensitive cell yet: state what is sensitive", "/rules")
