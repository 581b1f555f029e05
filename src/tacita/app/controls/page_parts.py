"""Parts that many pages have: panels, headings, labels, words in elements, and what stands in for a table."""

from __future__ import annotations

from nicegui import ui

from tacita.app.controls import next_step
from tacita.core.words import pluralize

LONGEST_SYMBOL = 2


def make_panel(title: str, about: str = "", *, label: str = "", test_id: str = "") -> ui.element:
    """Return a section of a page with a heading, and a line ``about`` it if there is one. Screen readers
    call it by its ``label``, or else by its title.
    """
    section = ui.element("section").classes("panel").props(f'aria-label="{label or title}"')
    if test_id:
        section.props(f"data-testid={test_id}")
    with section:
        make_heading(title)
        if about:
            ui.label(about).classes("muted")
    return section


def make_heading(text: str = "") -> ui.label:
    """Return the label that is the heading of a panel of a page."""
    return ui.label(text).classes("panel-title").props("role=heading aria-level=2")


def put_words(tag: str, text: str, classes: str = "", props: str = "") -> ui.label:
    """Put words on the page in an element of their own, such as a ``td``, and return their label."""
    with ui.element(tag).classes(classes).props(props):
        return ui.label(text)


def make_text_field(label: str, placeholder: str, test_id: str, value: str = "") -> ui.input:
    """Return a field of a page for one line of text."""
    field = ui.input(label, value=value, placeholder=placeholder)
    return field.props(f"dense outlined stack-label autocomplete=off data-testid={test_id}")


def make_choice_field(label: str, options: list[str], test_id: str) -> ui.select:
    """Return a select of a page, of which the first option is chosen."""
    field = ui.select(options, label=label, value=options[0])
    return field.props(f"dense outlined options-dense data-testid={test_id}")


def make_scroll_region(name: str) -> ui.element:
    """Return an element that scrolls sideways within itself, for what may be wider than the page.

    It does so with the arrow keys too, once Tab has come to it; screen readers call it by its name.
    """
    place = ui.element("div").classes("scroll-across").props("role=region tabindex=0")
    place.props["aria-label"] = name
    return place


def as_label(name: str) -> str:
    """Return a name as a label on a page of the app: ``at_or_below`` becomes ``At or below``.

    Symbols, such as ``p`` and ``l1``, stay as they are, and so does what can be chosen or typed, since
    project files and the command line spell it the same.
    """
    words = name.replace("_", " ")
    return words if len(words) <= LONGEST_SYMBOL else words[0].upper() + words[1:]


def show_no_table() -> None:
    """Say that a page's content needs a table, and propose to open one."""
    ui.label("There is no table yet.").props("data-testid=no-table")
    next_step.propose_table()


def show_no_run(others: int = 0, *, has_table: bool = True) -> None:
    """Say that a page's content needs a run of the open table, and propose one; a table where none is open.

    Parameters
    ----------
    others
        How many runs of other tables there are, which the page Compare has.
    """
    with ui.element("div").classes("strip").props("data-testid=no-run"):
        ui.label("There is no run of this table yet." if others else "There is no run yet.")
        if others:
            ui.link(f"See {pluralize(others, 'run')} of other tables", "/compare")
    next_step.propose_run() if has_table else next_step.propose_table()
