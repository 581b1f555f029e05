"""Paths as people write them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tacita.core.errors import InputError


def expand_path(text: str | os.PathLike[str]) -> Path:
    """Return the path that the user of the app typed, in which ``~`` stands for a user's own folder.

    Raises
    ------
    InputError
        It begins with ``~name``, and nobody is called so.
    """
    try:
        return Path(text).expanduser()
    except RuntimeError:
        raise InputError(
            "there is no such user on this machine", place=text, remedy="write the absolute path"
        ) from None


def assign_paths(folder: Path, names: Sequence[str]) -> list[Path]:
    """Return the paths for uploaded files in a folder of the session, whatever folder their names say."""
    plain = [name.replace("\\", "/").rpartition("/")[2] for name in names]
    if wrong := [name for k, name in enumerate(plain) if name in ("", ".", "..", *plain[:k])]:
        raise InputError(f"'{wrong[0]}': every file needs a name, and no two the same", remedy="rename it")
    return [folder / name for name in plain]


@contextmanager
def hide_folders(*private: Path | None) -> Iterator[None]:
    """Leave the session's folders, which mean nothing to users, out of the messages of errors."""
    try:
        yield
    except InputError as error:
        raise error.map_parts(lambda text: strip_folders(text, *private)) from None


def strip_folders(text: str, *private: Path | None) -> str:
    """Return a message without the session's folders in front of file names."""
    for folder in (path for each in private if each for path in (each.resolve(), each)):
        text = text.replace(f"{folder}{os.sep}", "")
    return text
