"""The folder where a program keeps what is its user's alone, on each system where such things are kept."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

from tacita.core.errors import InputError, describe_write_failure


def find_state_folder() -> Path:
    """Return the path of the folder of this user in which Tacita keeps its state; it need not be there."""
    home = Path.home()
    if given := os.environ.get("XDG_STATE_HOME"):
        return Path(given) / "tacita"
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "tacita"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "tacita"
    return home / ".local" / "state" / "tacita"


def make_private_folder(folder: Path) -> Path:
    """Make a folder that only this user can read, unless it is there, and return its path.

    Raises
    ------
    InputError
        It cannot be made, belongs to somebody else, or is a link.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = os.lstat(folder)
        own = not hasattr(os, "getuid") or found.st_uid == os.getuid()
        if not stat.S_ISDIR(found.st_mode) or not own:
            raise InputError("this is no folder of yours", place=folder, remedy="remove it")
        if os.name == "posix" and stat.S_IMODE(found.st_mode) != 0o700:
            folder.chmod(0o700)
    except OSError as error:
        raise describe_write_failure(folder, error) from error
    return folder
