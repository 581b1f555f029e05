"""Messages on a screen: errors in the words of the core, and things done.

Errors stay on the page until they are closed, since they name cells and remedies that take time to read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Literal

from nicegui import ElementFilter, ui

from tacita.core.errors import TacitaError

Tone = Literal["error", "note", "done", "offer"]
SIGNS: dict[Tone, str] = {"error": "!", "note": "i", "done": "✓", "offer": "?"}
AREA = "notices"


def show_area() -> None:
    """Make the area of a page where notices appear; once per page, before its content."""
    ui.element("div").classes("notices").props("id=notices aria-live=polite").mark(AREA)


def tell(message: str, tone: Tone = "note") -> None:
    """Show a notice on the current page of the app, in place of the last one of the same tone."""
    _show(_find_area(), message, tone)


def offer(message: str, what: str, take: Callable[[], object], leave: Callable[[], object]) -> None:
    """Show a notice on the current page with a button for ``what`` it offers; on closing call ``leave``."""
    row = _show(_find_area(), message, "offer", leave)
    if row is not None:
        with row:
            button = ui.button(what, on_click=take).props("outline dense no-caps data-testid=notice-take")
            button.classes("notice-close").move(target_index=2)


def withdraw_offer() -> None:
    """Remove the notice with an offer from the current page: it was taken, or no longer stands."""
    _clear(_find_area(), "offer")


def _find_area() -> ui.element | None:
    """Return the area for notices on the current page; None where that page is gone."""
    # Whoever asks may be in a part of the page that is gone: then in what that part was asked from.
    for slot in reversed(ui.context.slot_stack):
        with suppress(RuntimeError), slot:
            return next(iter(ElementFilter(marker=AREA)), None)
    return None


def _show(
    place: ui.element | None, message: str, tone: Tone, on_close: Callable[[], object] | None = None
) -> ui.element | None:
    if place is None or place.is_deleted:
        return None
    _clear(place, tone)

    def close() -> None:
        row.delete()
        if on_close is not None:
            on_close()

    with place:
        row = ui.element("div").classes(f"notice notice-{tone}").mark(f"notice-{tone}")
        row.props(f"data-testid=notice-{tone}")
        with row:
            ui.label(SIGNS[tone]).classes("notice-sign").props("aria-hidden=true")
            ui.label(message).classes("notice-text")
            ui.button("Close", on_click=close).props("flat dense no-caps").classes("notice-close")
    return row


def tell_fault(error: Exception) -> None:
    """Show an unexpected error as a notice on the page: a button that does nothing would be worse."""
    tell(describe_fault(error), "error")


def describe_fault(error: Exception) -> str:
    """Return an unexpected error as a sentence for a page of the app, which asks to report it."""
    return f"{type(error).__name__}: {error}. A fault of the program: please report it."


def _clear(place: ui.element | None, tone: Tone) -> None:
    if place is None or place.is_deleted:
        return
    with place:
        for old in list(ElementFilter(marker=f"notice-{tone}", local_scope=True)):
            old.delete()


@contextmanager
def attempt() -> Iterator[None]:
    """Show an error raised inside as a notice on the page; if none is raised, remove the last one."""
    # Found before: what is done may take away the button that was pressed, or outlast the page.
    place = _find_area()
    try:
        yield
    except TacitaError as error:
        failed = str(error)
    except OSError as error:
        where, why = error.filename or "file", error.strerror or error
        failed = f"{where}: {why}. Check the path, and whether you may read and write there."
    else:
        failed = ""
    _clear(place, "done" if failed else "error")
    if failed:
        _show(place, failed, "error")
