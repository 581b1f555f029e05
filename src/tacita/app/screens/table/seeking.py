"""Buttons that lead from one sensitive cell to the next, in whatever slice it is."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from nicegui import ui


class Seeking:
    """Previous and next; ``seek`` gets -1 or 1."""

    def __init__(self, seek: Callable[[int], None]) -> None:
        with ui.element("div").classes("strip seeking").props('role=group aria-label="Sensitive cells"'):
            self._buttons = [
                self._button("Previous sensitive", "previous", "Alt+Page Up", partial(seek, -1)),
                self._button("Next sensitive", "next", "Alt+Page Down", partial(seek, 1)),
            ]

    def offer(self, count: int) -> None:
        """Nothing to press where no cell is sensitive."""
        for button in self._buttons:
            button.set_enabled(count > 0)

    @staticmethod
    def _button(text: str, name: str, keys: str, act: Callable[[], None]) -> ui.button:
        button = ui.button(text, on_click=act, color=None)
        button.props(f"outline dense no-caps data-testid={name}-sensitive")
        button.tooltip(f"Also in other slices; {keys} in the table")
        return button
