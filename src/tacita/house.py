"""What stays in the house is never written inside what is published.

Files hold true values, or tell which cells are sensitive, unless they are releases. So only what its writer
calls public goes into a folder called ``publication``, or anywhere inside one that results were written to. A
folder of that name in which an office keeps all its work is no such place.
"""

from __future__ import annotations

import os
from pathlib import Path

from tacita.errors import InputError

PUBLICATION = "publication"
INTERNAL = "internal"


def refuse_published(place: str | os.PathLike[str]) -> None:
    """Refuse a file or folder of the house that lies in what is published, by its path as it is given or as
    links lead it.

    Raises
    ------
    InputError
        It is called ``publication``, lies directly in a folder of that name, or deeper in one that holds a
        release or stands beside ``internal``.
    """
    given = Path(place)
    for path in (Path(os.path.normpath(given.absolute())), given.resolve()):
        named = [folder for folder in (path, *path.parents) if folder.name.lower() == PUBLICATION]
        if any(folder in (path, path.parent) or _of_results(folder) for folder in named):
            raise InputError(
                f"{given}: what stays in the house would lie inside a folder called '{PUBLICATION}': choose "
                "a place outside it"
            )


def _of_results(folder: Path) -> bool:
    return (folder.parent / INTERNAL).exists() or any(folder.glob("release.*"))
