"""What a screen shows as long as there is nothing to show: why, and the way to change that."""

from __future__ import annotations

from nicegui import ui


def no_table() -> None:
    """In place of a screen that needs a table."""
    _nothing("There is no table yet.", "Open, paste, type or generate one", "/", "no-table")


def no_run() -> None:
    """In place of what needs a run."""
    _nothing("There is no run yet.", "Choose a method and run it", "/protect", "no-run")


def _nothing(why: str, remedy: str, path: str, name: str) -> None:
    with ui.element("div").classes("strip").props(f"data-testid={name}"):
        ui.label(why)
        ui.link(remedy, path)
