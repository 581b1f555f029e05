"""A place on this machine to write to: a path, what is there already, and whether it may be replaced."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from nicegui import ui

from tacita.app.work.paths import expand_path
from tacita.core.errors import InputError
from tacita.storage.internal import refuse_published


class PlaceField:
    """The path of a folder or a file; a place that holds something needs a tick.

    Parameters
    ----------
    start
        The path that is proposed.
    on_change
        Called when :attr:`ready` may have changed.
    name
        For tests and labels: ``name`` and ``name-confirm``.
    file
        Whether a file is meant instead of a folder.
    """

    def __init__(self, start: Path, on_change: Callable[[], None], name: str, *, file: bool = False) -> None:
        self._on_change, self._file = on_change, file
        label = "File on this machine" if file else "Folder on this machine"
        self._field = ui.input(label, value=str(start), on_change=lambda: self.check())
        self._field.props(f"outlined dense debounce=200 spellcheck=false data-testid={name}").classes("path")
        self._confirm = ui.checkbox("", on_change=lambda: on_change())
        self._confirm.props(f"dense data-testid={name}-confirm")
        self._complaint = ui.label().classes("complaint").props(f"role=status data-testid={name}-refused")
        self._look()

    @property
    def path(self) -> Path:
        """The path of the folder or file on this machine that the page Export is to write to.

        Raises
        ------
        InputError
            The path is not absolute or begins with the folder of a user whom nobody knows, or lies inside
            what is published, or the place holds something and nobody agreed to replace it.
        """
        path = self._written()
        if _holds(path, self._file) and not self._confirm.value:
            raise InputError(f"{path} holds something already: agree to replace it, or choose another place")
        return path

    @property
    def ready(self) -> bool:
        """Whether the page Export can write to the chosen path, as far as is known before."""
        try:
            return bool(self.path)
        except (InputError, OSError):
            return False

    def _written(self) -> Path:
        text = str(self._field.value or "").strip()
        path = expand_path(text)
        if not text or not path.is_absolute():
            raise InputError(
                f"'{text}' is no absolute path", remedy="begin with the root of the disk, or with ~"
            )
        refuse_published(path)
        return path

    def check(self) -> None:
        """Look again at what the chosen path holds, and update the page."""
        self._look()
        self._on_change()

    def _look(self) -> None:
        filled, refused = False, ""
        try:
            filled = _holds(self._written(), self._file)
        except InputError as error:
            refused = str(error)
        except OSError as error:
            refused = f"it cannot be looked at: {error.strerror or error}"
        self._complaint.set_text(refused)
        self._confirm.set_value(False)
        self._confirm.set_text(
            "It is there already: replace it"
            if self._file
            else "It is not empty: write into it; files of an earlier export are replaced, others stay"
        )
        self._confirm.set_visibility(filled)


def _holds(path: Path, file: bool) -> bool:
    if path.is_dir():
        return file or any(path.iterdir())
    return path.exists()
