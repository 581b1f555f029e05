"""Temporary folders of processes: locked while their process lives, and removed by a later one if it died."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tacita.core.errors import describe_write_failure
from tacita.storage.drafts import LOCK
from tacita.storage.locks import acquire_lock
from tacita.storage.signals import defer_signals

_NAME = re.compile(r"tacita-app-[0-9a-f]{16}")
_ATTEMPTS = 5


@contextmanager
def make_temporary_folder() -> Iterator[Path]:
    """Yield a new folder among the system's temporary files that only its user can read; it is removed when
    the block ends.

    Raises
    ------
    InputError
        No folder can be made there.
    """
    home = Path(tempfile.gettempdir())
    with defer_signals():
        folder, lock = _make(home)
    try:
        yield folder
    finally:
        with defer_signals():
            shutil.rmtree(folder, ignore_errors=True)
            if lock is not None:
                os.close(lock)
                # Systems that do not remove open files have left the lock.
                shutil.rmtree(folder, ignore_errors=True)


def list_temporary_folders() -> list[Path]:
    """Return the temporary folders of this user's processes, of those that live and of those that died."""
    home = Path(tempfile.gettempdir())
    try:
        names = sorted(name for name in os.listdir(home) if _NAME.fullmatch(name))
    except OSError:
        return []
    return [home / name for name in names if _is_own_folder(home / name)]


def remove_dead_folders() -> tuple[Path, ...]:
    """Remove the temporary folders that dead processes of this user left; return the paths of those that are
    gone. Folders of processes that live are left alone, and so are those where that cannot be told.
    """
    removed = []
    with defer_signals():
        for folder in list_temporary_folders():
            if (lock := acquire_lock(folder / LOCK)) is None:
                continue
            shutil.rmtree(folder, ignore_errors=True)
            os.close(lock)
            shutil.rmtree(folder, ignore_errors=True)
            if not folder.exists():
                removed.append(folder)
    return tuple(removed)


def _make(home: Path) -> tuple[Path, int | None]:
    """Return a new temporary folder and the lock on it; without one where there are no locks."""
    for attempt in range(_ATTEMPTS):
        folder = home / f"tacita-app-{secrets.token_hex(8)}"
        try:
            folder.mkdir(mode=0o700)
        except OSError as error:
            raise describe_write_failure(home, error) from error
        lock = acquire_lock(folder / LOCK)
        if lock is not None or attempt == _ATTEMPTS - 1:
            return folder, lock
        # Another process that tidies up may have been faster: that folder is lost to it.
        shutil.rmtree(folder, ignore_errors=True)
    raise AssertionError("the last attempt is returned")


def _is_own_folder(path: Path) -> bool:
    """Return whether a path is a folder of this user, and no link: anybody can put things among temporary
    files.
    """
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and (not hasattr(os, "getuid") or found.st_uid == os.getuid())
