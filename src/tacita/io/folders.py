"""The two folders that results go to, side by side, so that what is published never holds what is not.

DIR/publication/*     what may be published, and nothing else
DIR/internal/*        what stays in the house: the verdict, the proof, true values
"""

from __future__ import annotations

from pathlib import Path

from tacita.errors import InputError
from tacita.io.release_write import FORMATS

PUBLICATION = "publication"
INTERNAL = "internal"
RELEASES = tuple(f"release.{ending}" for ending in FORMATS)
"""Names of a release, one per format."""
CERTIFICATE = "certificate.json"


def release_in(folder: Path) -> Path:
    """The ``release.csv`` of a folder: in its ``publication``, or in itself.

    Raises
    ------
    InputError
        There is none, or there are two: earlier versions wrote releases to the folder itself.
    """
    found = [
        file for file in (folder / PUBLICATION / "release.csv", folder / "release.csv") if file.is_file()
    ]
    if not found:
        raise InputError(
            f"{folder} holds no release.csv, nor does {PUBLICATION} in it: name the file of the release"
        )
    if len(found) > 1:
        raise InputError(
            f"{folder} holds two releases, {found[0]} and {found[1]}: name the file that is meant"
        )
    return found[0]


def certificate_in(folder: Path) -> Path:
    """The ``certificate.json`` of a folder: in itself, in its ``internal``, or in the one beside it if the
    folder is a ``publication``.

    Raises
    ------
    InputError
        There is none.
    """
    whole = folder.absolute()
    beside = [whole.parent / INTERNAL] if whole.name == PUBLICATION else []
    for place in (folder, folder / INTERNAL, *beside):
        if (place / CERTIFICATE).is_file():
            return place / CERTIFICATE
    told = "beside it" if beside else "in it"
    raise InputError(f"{folder} holds no {CERTIFICATE}, nor does {INTERNAL} {told}: name the file")


def refuse_published(folder: Path) -> None:
    """Refuse results in a folder called ``publication``, or inside the publication of other results.

    Raises
    ------
    InputError
        What stays in the house would lie inside what is published.
    """
    whole = folder.resolve()
    for place in (whole, *whole.parents):
        if place.name.lower() == PUBLICATION and (place == whole or (place.parent / INTERNAL).is_dir()):
            raise InputError(
                f"{folder}: '{INTERNAL}', which stays in the house, would lie inside a folder called "
                f"'{PUBLICATION}': choose a folder outside it, which gets both, side by side"
            )


def releases_outside(folder: Path) -> tuple[str, ...]:
    """What to know of files beside ``publication`` that are called like releases: earlier versions wrote them
    there.

    They may as well be somebody's own, hence they are told and not removed.
    """
    there = [str(folder / name) for name in RELEASES if (folder / name).is_file()]
    if not there:
        return ()
    return (
        f"not of this release: {', '.join(there)}. Earlier versions wrote releases there: remove what is "
        "one, since two releases of a table can be set off against each other",
    )
