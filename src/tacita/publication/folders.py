"""The two folders that results go to, side by side, so that what is published never holds what is not.

DIR/publication/*     what may be published, and nothing else
DIR/internal/*        what stays internal: the verdict, the proof, true values
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from tacita.core.errors import InputError
from tacita.publication.destination import CERTIFICATE as CERTIFICATE
from tacita.publication.destination import RECORD, Destination, find_destination
from tacita.publication.release_write import ENDINGS
from tacita.storage.internal import INTERNAL as INTERNAL
from tacita.storage.internal import PUBLICATION as PUBLICATION
from tacita.storage.internal import refuse_published
from tacita.storage.recovery import recover
from tacita.storage.switch import MARKER

RELEASES = tuple(f"release{ending}" for ending in ENDINGS.values())
"""Names of a release, one per format."""
EARLIER_DRAFT = re.compile(r"\.draft-[a-z0-9_]{8}|\..+\.[0-9a-f]{8}\.(tmp|old)")
"""What interrupted runs of earlier versions left inside the folders of results."""


def find_release(folder: Path) -> Path:
    """Return the path of ``release.csv`` in a folder of results: in its ``publication``, or in itself.

    Raises
    ------
    InputError
        There is none, or there are two: earlier versions wrote releases to the folder itself.
    """
    files = (folder / PUBLICATION / RECORD, folder / RECORD)
    for file in files:
        refuse_incomplete(file)
    found = [file for file in files if file.is_file()]
    if not found:
        raise InputError(
            f"it holds no release.csv, nor does {PUBLICATION} in it",
            place=folder,
            remedy="name the file of the release",
        )
    if len(found) > 1:
        raise InputError(
            f"it holds two releases, {found[0]} and {found[1]}",
            place=folder,
            remedy="name the file that is meant",
        )
    return found[0]


def find_certificate(folder: Path) -> Path:
    """Return the path of ``certificate.json`` in a folder of results: in itself, in its ``internal``, or in
    the one beside it if the folder is a ``publication``.

    Raises
    ------
    InputError
        There is none.
    """
    whole = {folder.absolute(), folder.resolve()}
    beside = [path.parent / INTERNAL for path in whole if path.name == PUBLICATION]
    for place in (folder, folder / INTERNAL, *beside):
        refuse_incomplete(place / CERTIFICATE)
        if (place / CERTIFICATE).is_file():
            return place / CERTIFICATE
    where = "beside it" if beside else "in it"
    raise InputError(
        f"it holds no {CERTIFICATE}, nor does {INTERNAL} {where}", place=folder, remedy="name the file"
    )


def refuse_incomplete(file: Path) -> None:
    """Refuse a file of results if an interrupted run may have left files of two releases in its folder.

    Raises
    ------
    InputError
        The folder is marked: a run was interrupted while it replaced the files, or is at it.
    """
    if (file.parent / MARKER).exists():
        raise InputError(
            f"it is marked by {MARKER}: a run was interrupted while it replaced the files there",
            place=file.parent,
            remedy=f"Run it again, or: tacita doctor {file.parent.parent}",
        )


def recover_results(place: Path | Destination) -> tuple[str, ...]:
    """Undo or finish what interrupted runs left where results are published; return notes on that.

    Raises
    ------
    InputError
        See :func:`tacita.storage.recovery.recover`.
    """
    place = find_destination(place)
    return (*recover(place.home), *remove_earlier_drafts(place))


def remove_earlier_drafts(place: Destination) -> tuple[str, ...]:
    """Remove drafts that earlier versions left in ``publication`` and ``internal``; return a note."""
    removed = []
    for folder in () if place.file is not None else (place.home / PUBLICATION, place.home / INTERNAL):
        names = sorted(os.listdir(folder)) if folder.is_dir() else []
        for path in (folder / name for name in names if EARLIER_DRAFT.fullmatch(name)):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
            removed.append(path)
    return (f"removed, as left by an interrupted run: {', '.join(map(str, removed))}",) if removed else ()


def refuse_mixed(place: Path | Destination) -> None:
    """Refuse a destination of results that cannot be filled, or that would put internal files in publication.

    Raises
    ------
    InputError
        The folder lies in what is published (see :func:`tacita.storage.internal.refuse_published`), links
        lead its internal files into its publication, its publication holds internal files of other results,
        or something else stands in the way.
    """
    place = find_destination(place)
    public, internal = place.home / place.public, place.home / place.internal
    for folder in (place.home, internal):
        refuse_published(folder)
    for folder in (place.home, public, internal):
        _refuse_blocked(folder)
    if place.file is not None:
        return
    kept = internal.resolve()
    if public.resolve() in (kept, *kept.parents):
        raise InputError(f"{internal} leads into {public}: what is internal would be published")
    for below, folders, _ in os.walk(public):
        if inside := next((name for name in folders if name.lower() == INTERNAL), None):
            raise InputError(
                f"what is internal lies inside a folder called '{PUBLICATION}'",
                place=Path(below, inside),
                remedy="move it elsewhere, or choose another folder",
            )


def _refuse_blocked(place: Path) -> None:
    """Refuse a folder for published results that is a file, lies below one, or may not be written to."""
    there = place if os.path.lexists(place) else place.absolute()
    while not os.path.lexists(there):
        there = there.parent
    if not there.is_dir():
        raise InputError(
            "this is no folder, and results need one",
            place=there,
            remedy="Choose another, or move it elsewhere",
        )
    if not os.access(there, os.W_OK | os.X_OK):
        raise InputError(
            "nothing may be written to it", place=there, remedy="check its permissions, or choose another"
        )


def note_releases_outside(place: Path | Destination) -> tuple[str, ...]:
    """Return a note on files beside the folder ``publication`` that are named like releases: earlier versions
    wrote them there.

    They may as well be somebody's own, hence they are reported and not removed.
    """
    place = find_destination(place)
    there = [str(place.home / name) for name in RELEASES if (place.home / name).is_file()]
    if place.file is not None or not there:
        return ()
    return (
        f"not of this release: {', '.join(there)}. Earlier versions wrote releases there: remove what is "
        "one, since two releases of a table can be set off against each other",
    )
