"""The port that the app was served at last, which the next server takes if it is free.

Pages of a server that has ended ask at its port whether there is another one. What was open there needs no
memory of them: a new server knows no browser of the last one, at whatever port it is.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from tacita.core.errors import InputError
from tacita.storage.atomic import write_text
from tacita.storage.state_folder import find_state_folder, make_private_folder

LOWEST = 1024
"""Ports below belong to services of the system."""


def read_last_port(state: Path | None = None) -> int:
    """Return the port of the user's last server; 0, which takes a free one, where none is known."""
    with suppress(OSError, ValueError):
        port = int(_find_file(state).read_text("ascii"))
        return port if LOWEST <= port < 2**16 else 0
    return 0


def remember_port(port: int, state: Path | None = None) -> None:
    """Keep the port of the user's server for the next one; where that cannot be, it takes a free one."""
    with suppress(OSError, InputError):
        file = _find_file(state)
        make_private_folder(file.parent)
        write_text(file, str(port))


def _find_file(state: Path | None) -> Path:
    return (state or find_state_folder()) / "port"
