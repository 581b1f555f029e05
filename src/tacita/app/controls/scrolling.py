"""Room for what may be wider than the page: it scrolls within itself, so that the page never does."""

from __future__ import annotations

from nicegui import ui


def across(name: str) -> ui.element:
    """A place that scrolls sideways, with the arrow keys too once Tab has come to it; ``name`` is for those
    who do not see it.
    """
    place = ui.element("div").classes("scroll-across").props("role=region tabindex=0")
    place.props["aria-label"] = name
    return place
