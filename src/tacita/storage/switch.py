"""The switch from the files that are there to those of a draft.

The journal comes first, then a marker in every folder whose files move one by one; what leaves goes into the
draft, what comes takes its place. Whatever ends the run in between, :func:`resolve_switch` undoes what has
moved, or finishes what has moved completely.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import stat
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from tacita.core.errors import InputError, describe_write_failure
from tacita.storage import exchange as system
from tacita.storage.drafts import is_draft
from tacita.storage.journal import (
    BEGUN,
    DONE,
    SWITCH,
    Journal,
    Place,
    read_journal,
    write_journal,
)
from tacita.storage.signals import defer_signals

MARKER = "INCOMPLETE.txt"
MARKER_TEXT = (
    "Do not publish or copy this folder. A run of tacita is replacing its files, or was interrupted while\n"
    "it did: some may be of one release and some of another. Remedy: run it again, or: tacita doctor DIR\n"
    "where DIR is this folder, or the one that it lies in.\n"
)
PATIENCE = 60.0
"""Seconds to wait while another run switches files in the same folder."""


def switch(
    home: Path, draft: Path, leaving: Iterable[Path] = (), whole: str | None = None
) -> tuple[Path, ...]:
    """Move a draft's files from below ``new`` to the same places below ``home``; return their paths there.

    Parameters
    ----------
    leaving
        Files of ``home`` or a folder in it that go, whether or not something comes in their place.
    whole
        The folder that is replaced in one step if nothing is in it but what leaves, where the system can do
        that; it comes after all others.

    Raises
    ------
    InputError
        Something cannot be moved. All is as it was.
    """
    journal = _plan_switch(home, draft, list(leaving), whole)
    prepared = draft / "switch"
    prepared.mkdir()
    write_journal(prepared, journal)
    waiting_ends = time.monotonic() + PATIENCE
    while True:
        with defer_signals():
            if _begin_switch(home, prepared):
                _carry_out(home, journal)
                break
        if time.monotonic() > waiting_ends:
            raise InputError(
                "another run is writing there", place=home, remedy="wait until it has ended, then run again"
            )
        time.sleep(0.1)
    places = (*journal.places, *((journal.whole,) if journal.whole else ()))
    return tuple(home / place.folder / name for place in places for name in place.coming)


def resolve_switch(home: Path) -> bool:
    """Undo an interrupted switch of files, or finish one where all has moved; return whether it finished.

    Doing it again, after an end in between, does no harm.
    """
    found = read_journal(home)
    if found is None:
        return False
    journal, done = found
    if not done and not _has_arrived(home, journal):
        _undo(home, journal)
        return False
    _finish(home, journal)
    return True


def _plan_switch(home: Path, draft: Path, leaving: list[Path], whole: str | None) -> Journal:
    """Return the journal of a switch of files; the folder that may be replaced as a whole comes last."""
    new = draft / "new"
    folders = dict.fromkeys(path.parent.relative_to(home).as_posix() for path in leaving)
    found = [path.relative_to(new) for path in sorted(new.rglob("*")) if path.is_file()]
    # A writer that failed to remove its own draft.
    arriving = [path for path in found if not any(map(is_draft, path.parts))]
    folders |= dict.fromkeys(path.parent.as_posix() for path in arriving)
    places = []
    for folder in sorted(folders, key=lambda name: name == whole):
        coming = tuple(path.name for path in arriving if path.parent.as_posix() == folder)
        names = dict.fromkeys((*(p.name for p in leaving if p.parent == home / folder), *coming))
        there = tuple(name for name in names if _is_file(home / folder / name))
        if coming or there:
            places.append(Place(folder, coming, there, not os.path.lexists(home / folder)))
    if not places or places[-1].folder != whole or not _can_be_replaced(home, draft, places[-1]):
        return Journal(draft.name, tuple(places))
    return Journal(
        draft.name, tuple(places[:-1]), places[-1], _compute_fingerprint(new / places[-1].folder, places[-1])
    )


def _is_file(path: Path) -> bool:
    """Return whether a file or link is in the switch's way; refuse a folder, which is somebody's own."""
    if path.is_dir() and not path.is_symlink():
        raise describe_write_failure(path, IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR)))
    return os.path.lexists(path)


def _can_be_replaced(home: Path, draft: Path, place: Place) -> bool:
    """Return whether nothing gets lost, and nobody loses access, if the draft's folder takes the place of
    this one.
    """
    target, new = home / place.folder, draft / "new" / place.folder
    if place.made:
        return True
    about = target.lstat()
    if not stat.S_ISDIR(about.st_mode) or about.st_dev != draft.stat().st_dev:
        return False
    if not set(os.listdir(target)) <= {*place.leaving, MARKER}:
        return False
    if not place.coming:
        return True
    with suppress(OSError, AttributeError):
        os.chown(new, -1, about.st_gid)
    with suppress(OSError):
        shutil.copystat(target, new)
    copy = new.lstat()
    return (copy.st_mode, copy.st_uid, copy.st_gid) == (about.st_mode, about.st_uid, about.st_gid)


def _begin_switch(home: Path, prepared: Path) -> bool:
    """Announce a switch of files; return False while another is under way, resolved if its run died."""
    try:
        # No file: systems that replace files replace no folder that holds something.
        os.rename(prepared, home / SWITCH)
    except OSError as error:
        if not (home / SWITCH).exists():
            raise describe_write_failure(home, error) from error
        from tacita.storage.recovery import recover

        recover(home)
        return False
    return True


def _carry_out(home: Path, journal: Journal) -> None:
    try:
        for place in journal.places:
            _mark(home, place)
        for place in journal.places:
            _move(home, journal, place)
        if journal.whole is not None and not _replace_whole(home, journal, journal.whole):
            journal = replace(journal, places=(*journal.places, journal.whole), whole=None)
            write_journal(home / SWITCH, journal)
            _mark(home, journal.places[-1])
            _move(home, journal, journal.places[-1])
        os.replace(home / SWITCH / BEGUN, home / SWITCH / DONE)
    except BaseException as error:
        try:
            finished = resolve_switch(home)
        except OSError as second:
            raise InputError(
                f"not all files could be moved ({error}), nor put back ({second})",
                place=home,
                remedy=f"mend that, then: tacita doctor {home}",
            ) from error
        if finished:
            return
        raise
    _finish(home, journal)


def _mark(home: Path, place: Place) -> None:
    folder = home / place.folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / MARKER).write_text(MARKER_TEXT, encoding="utf-8")
    except OSError as error:
        raise describe_write_failure(folder, error) from error


def _move(home: Path, journal: Journal, place: Place) -> None:
    draft = home / journal.draft
    aside = draft / "old" / place.folder
    aside.mkdir(parents=True, exist_ok=True)
    for name in place.leaving:
        target = home / place.folder / name
        try:
            _set_aside(target, aside / name)
        except OSError as error:
            raise describe_write_failure(target, error) from error
    for name in place.coming:
        target = home / place.folder / name
        try:
            _move_file(draft / "new" / place.folder / name, target)
        except OSError as error:
            raise describe_write_failure(target, error) from error


def _set_aside(source: Path, target: Path) -> None:
    try:
        os.replace(source, target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        # What is aside is put back: it must not be a part of a file.
        part = target.with_name(f"{target.name}.part")
        shutil.copy2(source, part)
        os.replace(part, target)
        source.unlink()


def _move_file(source: Path, target: Path) -> None:
    """Move a file of a switch to a folder that is marked, which may be on another device."""
    try:
        os.replace(source, target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        shutil.copy2(source, target)
        source.unlink()


def _replace_whole(home: Path, journal: Journal, place: Place) -> bool:
    """Replace a folder in one step of the switch; return False, nothing moved, where that fails."""
    target, draft = home / place.folder, home / journal.draft
    try:
        if not place.coming:
            (draft / "old").mkdir(exist_ok=True)
            os.rename(target, draft / "old" / place.folder)
        elif place.made:
            os.rename(draft / "new" / place.folder, target)
        else:
            system.exchange(draft / "new" / place.folder, target)
    except OSError:
        return False
    return True


def _has_arrived(home: Path, journal: Journal) -> bool:
    """Return whether the switch has replaced the folder that is replaced whole: last, so all has moved."""
    place, draft = journal.whole, home / journal.draft
    if place is None or not draft.is_dir():
        return False
    if not place.coming:
        return (draft / "old" / place.folder).is_dir()
    return _compute_fingerprint(home / place.folder, place) == journal.fingerprint


def _undo(home: Path, journal: Journal) -> None:
    draft = home / journal.draft
    if not draft.is_dir():
        # Somebody has removed what could be put back: the markers stay.
        shutil.rmtree(home / SWITCH)
        return
    for place in reversed(journal.places):
        folder, aside = home / place.folder, draft / "old" / place.folder
        for name in place.coming:
            if name not in place.leaving or os.path.lexists(aside / name):
                (folder / name).unlink(missing_ok=True)
        for name in place.leaving:
            if os.path.lexists(aside / name):
                _move_file(aside / name, folder / name)
        (folder / MARKER).unlink(missing_ok=True)
        if place.made:
            with suppress(OSError):
                folder.rmdir()
    _close_switch(home, journal)


def _finish(home: Path, journal: Journal) -> None:
    for place in journal.places:
        (home / place.folder / MARKER).unlink(missing_ok=True)
    _close_switch(home, journal)


def _close_switch(home: Path, journal: Journal) -> None:
    """End a switch of files; what is left of it goes with its draft."""
    draft = home / journal.draft
    if draft.is_dir():
        os.rename(home / SWITCH, draft / "closed")
    else:
        shutil.rmtree(home / SWITCH)


def _compute_fingerprint(folder: Path, place: Place) -> str:
    """Return a digest of the names and contents of a folder's files that come or leave in a switch."""
    digest = hashlib.sha256()
    for name in sorted({*place.coming, *place.leaving}):
        if (folder / name).is_file():
            digest.update(repr(name).encode() + hashlib.sha256((folder / name).read_bytes()).digest())
    return digest.hexdigest()
