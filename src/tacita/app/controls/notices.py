"""Messages on a screen: errors in the words of the core, and things done.

Errors stay on the page until they are closed, since they name cells and remedies that take time to read. What
a remedy says is done by a button beside it (:mod:`tacita.app.controls.remedies`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Literal

from nicegui import ElementFilter, ui

from tacita.app.controls.remedies import FindRemedies, Remedy, draw_remedies
from tacita.core.errors import TacitaError

Tone = Literal["error", "note", "done", "offer"]
SIGNS: dict[Tone, str] = {"error": "!", "note": "i", "done": "✓", "offer": "?"}
AREA = "notices"
SHORT = 100
"""Letters of a notice that is never folded: about two lines of a telephone."""


class _Area(ui.element):
    """The area of a page where notices appear; ``find`` gives the remedies that are the same on all pages."""

    def __init__(self, find: FindRemedies) -> None:
        super().__init__("div")
        self.classes("notices").props("id=notices aria-live=polite").mark(AREA)
        self.find = find


def _find_none(error: TacitaError) -> Sequence[Remedy]:
    return ()


def show_area(find: FindRemedies = _find_none) -> None:
    """Make the area of a page where notices appear; once per page, before its content.

    Parameters
    ----------
    find
        Gives the remedies of an error that do not depend on what was tried.
    """
    _Area(find)


def tell(message: str, tone: Tone = "note", remedies: Sequence[Remedy] = ()) -> None:
    """Show a notice on the current page of the app, in place of the last one of the same tone."""
    _show(_find_area(), message, tone, remedies)


def tell_error(error: TacitaError) -> None:
    """Show an error as a notice on the current page of the app, with the remedies that all pages have."""
    place = _find_area()
    _show(place, str(error), "error", [] if place is None else place.find(error))


def offer(message: str, what: str, take: Callable[[], object], leave: Callable[[], object]) -> None:
    """Show a notice on the current page with a button for ``what`` it offers; on closing call ``leave``."""
    _show(_find_area(), message, "offer", [Remedy(what, take)], leave)


def _find_area() -> _Area | None:
    """Return the area for notices on the current page; None where that page is gone."""
    # Whoever asks may be in a part of the page that is gone: then in what that part was asked from.
    for slot in reversed(ui.context.slot_stack):
        with suppress(RuntimeError), slot:
            return next(iter(ElementFilter(kind=_Area)), None)
    return None


def _show(
    place: _Area | None,
    message: str,
    tone: Tone,
    remedies: Sequence[Remedy] = (),
    on_close: Callable[[], object] | None = None,
) -> None:
    if place is None or place.is_deleted:
        return
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
            with ui.element("div").classes("notice-body"):
                ui.label(message).classes("notice-text")
                if tone == "note" and len(message) > SHORT:
                    _show_fold(row)
                draw_remedies(remedies)
            ui.button("Close", on_click=close).props("flat dense no-caps").classes("notice-close")


def _show_fold(row: ui.element) -> None:
    """Fold the notice of a row on narrow screens, which it would fill, with a button to unfold it."""

    def turn() -> None:
        folded = "notice-folded" in row.classes
        row.classes(remove="notice-folded") if folded else row.classes("notice-folded")
        button.set_text("Less" if folded else "More")
        button.props(f"aria-expanded={'true' if folded else 'false'}")

    row.classes("notice-folded")
    button = ui.button("More", on_click=turn, color=None).classes("notice-more")
    button.props("flat dense no-caps aria-expanded=false data-testid=notice-more")


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
def attempt(find: FindRemedies = _find_none, on_close: Callable[[], object] | None = None) -> Iterator[None]:
    """Show an error raised inside as a notice on the page; if none is raised, remove the last one.

    Parameters
    ----------
    find
        Gives the remedies of an error that what is tried has besides those of all pages.
    on_close
        Called when the notice is closed, and none of its remedies will be taken.
    """
    # Found before: what is done may take away the button that was pressed, or outlast the page.
    place = _find_area()
    remedies: list[Remedy] = []
    try:
        yield
    except TacitaError as error:
        failed = str(error)
        remedies = [*find(error), *(place.find(error) if place is not None else ())]
    except OSError as error:
        where, why = error.filename or "file", error.strerror or error
        failed = f"{where}: {why}. Check the path, and whether you may read and write there."
    else:
        failed = ""
    _clear(place, "done" if failed else "error")
    if failed:
        _show(place, failed, "error", remedies, on_close)
