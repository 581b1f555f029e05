"""Keep internal files out of what is published.

Files hold true values, or tell which cells are sensitive, unless they are releases. So only what its writer
calls public goes into a folder called ``publication``, or anywhere inside one that results were written to. A
folder of that name in which an office keeps all its work is no such place.
"""

from __future__ import annotations

import os
from pathlib import Path

from tacita.core.errors import InputError

PUBLICATION = "publication"
INTERNAL = "internal"


def refuse_published(place: str | os.PathLike[str]) -> None:
    """Refuse an internal file or folder inside a ``publication`` folder, by its path as it is given or as
    links lead it.

    Raises
    ------
    InputError
        It is called ``publication``, lies directly in a folder of that name, or deeper in one that holds a
        release or stands beside ``internal``.
    """
    given = Path(place)
    for path in (Path(os.path.normpath(given.absolute())), given.resolve()):
        named = _list_publications(path)
        if any(folder in (path, path.parent) or _holds_results(folder) for folder in named):
            raise InputError(
                f"what is internal would lie inside a folder called '{PUBLICATION}'",
                place=given,
                remedy="choose a place outside it",
            )


def find_draft_home(folder: Path) -> Path:
    """Return the folder where drafts of files for a folder go: beside the outermost folder of results called
    ``publication`` that it is or lies in, or else into itself.

    So do those for a publication that is the only place on its device or that its user may write to.
    """
    given = Path(os.path.normpath(folder.absolute()))
    named = [place for place in _list_publications(given) if place == given or _holds_results(place)]
    if not named:
        return folder
    beside = named[-1].parent
    same = os.stat(beside).st_dev == os.stat(folder).st_dev and os.access(beside, os.W_OK | os.X_OK)
    return beside if same else folder


def _list_publications(path: Path) -> list[Path]:
    """Return those of a path and its parents that are called ``publication``, from the inside out."""
    if PUBLICATION not in str(path).lower():
        # Nearly always so, and a list of all parents takes time where many tables are written.
        return []
    return [folder for folder in (path, *path.parents) if folder.name.lower() == PUBLICATION]


def _holds_results(folder: Path) -> bool:
    return (folder.parent / INTERNAL).exists() or any(folder.glob("release.*"))
