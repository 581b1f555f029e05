"""Locks that the system lets go when their process ends, however it ends."""

from __future__ import annotations

import os
import sys
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def acquire_lock(path: Path) -> int | None:
    """Return the descriptor of a draft's lock file, for the caller to close; None if somebody holds it.

    The file is made if need be. None also where that is not known: on file systems without locks, and in
    folders of other users. Such folders are left alone.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:
        return None
    try:
        _lock(descriptor)
        # Whoever removed the folder in between holds a file that has no name any more.
        if os.path.samestat(os.fstat(descriptor), os.stat(path)):
            return descriptor
    except OSError:
        pass
    os.close(descriptor)
    return None
