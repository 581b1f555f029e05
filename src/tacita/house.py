"""What stays in the house is never written inside what is published.

Files hold true values, or tell which cells are sensitive, unless they are releases. So a file goes into a
folder called ``publication``, or anywhere inside one, only if its writer says that it may be published.
"""

from __future__ import annotations

import os
from pathlib import Path

from tacita.errors import InputError

PUBLICATION = "publication"


def refuse_published(place: str | os.PathLike[str]) -> None:
    """Refuse a file or folder of the house inside a folder called ``publication``, by its path as it is given
    or as links lead it.

    Raises
    ------
    InputError
        It would lie inside what is published.
    """
    given = Path(place)
    for path in (Path(os.path.normpath(given.absolute())), given.resolve()):
        if any(part.lower() == PUBLICATION for part in path.parts):
            raise InputError(
                f"{given}: what stays in the house would lie inside a folder called '{PUBLICATION}': choose "
                "a place outside it"
            )
