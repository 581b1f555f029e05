"""Drafts: private folders that their run removes, or the next run if it has died."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

from tacita.core.errors import describe_write_failure
from tacita.storage.journal import find_draft_in_use
from tacita.storage.locks import acquire_lock
from tacita.storage.signals import defer_signals

LOCK = ".tacita-lock"
_NAME = re.compile(r"\.tacita-[0-9a-f]{16}")


def is_draft(name: str) -> bool:
    """Return whether an entry of a folder is called like a draft of files to be stored."""
    return _NAME.fullmatch(name) is not None


@contextmanager
def make_draft(home: Path) -> Iterator[Path]:
    """Yield a draft: a new folder in ``home`` that only its user can read, gone when the block ends.

    It stays if a switch could not be undone: then the files that were there before are in it.

    Raises
    ------
    InputError
        No folder can be made there.
    """
    with defer_signals():
        draft, lock = _make(home)
    try:
        yield draft
    finally:
        with defer_signals():
            _remove(draft)
            if lock is not None:
                os.close(lock)
                # Systems that do not remove open files have left the lock.
                _remove(draft)


def list_drafts(home: Path) -> list[Path]:
    """Return the paths of the drafts in a folder, of runs that are at work or have ended."""
    try:
        found = [home / name for name in sorted(os.listdir(home)) if is_draft(name)]
    except OSError:
        return []
    return [draft for draft in found if draft.is_dir() and not draft.is_symlink()]


def lock_dead_drafts(home: Path) -> Generator[Path, None, None]:
    """Yield the paths of drafts whose runs have ended, each locked until the next is asked for."""
    for draft in list_drafts(home):
        if (lock := acquire_lock(draft / LOCK)) is None:
            continue
        try:
            yield draft
        finally:
            os.close(lock)


def remove_dead_drafts(home: Path) -> tuple[Path, ...]:
    """Remove the drafts that ended runs left in a folder; return the paths of those that are gone."""
    with defer_signals():
        found = []
        for draft in lock_dead_drafts(home):
            _remove(draft)
            found.append(draft)
        for draft in found:
            _remove(draft)
    return tuple(draft for draft in found if not draft.exists())


def _make(home: Path) -> tuple[Path, int | None]:
    while True:
        draft = home / f".tacita-{secrets.token_hex(8)}"
        try:
            draft.mkdir(mode=0o700)
        except OSError as error:
            raise describe_write_failure(home, error) from error
        lock = acquire_lock(draft / LOCK)
        # A run that tidies up may have been faster than the lock.
        if draft.is_dir():
            return draft, lock


def _remove(draft: Path) -> None:
    if find_draft_in_use(draft.parent) != draft.name:
        shutil.rmtree(draft, ignore_errors=True)
