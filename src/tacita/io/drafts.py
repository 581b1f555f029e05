"""Several files that belong together: all of them take their places, or none does.

They are written to a draft inside the folder that they are meant for, and moved when all are complete.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tacita.errors import TacitaError


@contextmanager
def draft_in(folder: Path) -> Iterator[Path]:
    """A new folder inside ``folder``, which is made if need be; it is gone when the block ends, and so is
    ``folder`` if the block leaves it empty and did not find it so.

    Errors name the files as they would have been called: a draft says nothing to those who read of it.
    """
    was_empty = folder.is_dir() and not any(folder.iterdir())
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(dir=folder, prefix=".draft-") as name:
            try:
                yield Path(name)
            except TacitaError as error:
                told = str(error).replace(name, str(folder))
                raise type(error)(told) from error.__cause__
    finally:
        if not was_empty:
            # The system refuses where something is in it.
            with suppress(OSError):
                folder.rmdir()


def moved(files: Iterable[Path], folder: Path) -> tuple[Path, ...]:
    """The files, taken from their draft to the folder; each replaces what is called like it."""
    targets = []
    for file in files:
        targets.append(folder / file.name)
        os.replace(file, targets[-1])
    return tuple(targets)
