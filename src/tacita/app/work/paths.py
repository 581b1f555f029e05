"""Paths as people write them."""

from __future__ import annotations

import os
from pathlib import Path

from tacita.errors import InputError


def path_written(text: str | os.PathLike[str]) -> Path:
    """A path in which ``~`` stands for a user's own folder.

    Raises
    ------
    InputError
        It begins with ``~name``, and nobody is called so.
    """
    try:
        return Path(text).expanduser()
    except RuntimeError:
        raise InputError(f"{text}: there is no such user on this machine; write the whole path") from None
