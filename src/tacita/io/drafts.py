"""Several files that belong together: all of them take their places, or none does.

They are written to a draft inside the folder that they are meant for, and moved when all are complete. What
cannot be moved takes back those that were.
"""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from tacita.atomic import not_written
from tacita.errors import TacitaError
from tacita.house import refuse_published


@contextmanager
def draft_in(folder: Path, *, public: bool = False) -> Iterator[Path]:
    """A new folder inside ``folder``, which is made if need be; it is gone when the block ends, and so is
    ``folder`` if the block leaves it empty and did not find it so.

    Errors name the files as they would have been called: a draft says nothing to those who read of it. Drafts
    that are not ``public`` are refused where things are published.
    """
    if not public:
        refuse_published(folder)
    was_empty = folder.is_dir() and not any(folder.iterdir())
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise not_written(folder, error) from error
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
    return in_place({file: folder / file.name for file in files})


def in_place(places: Mapping[Path, Path], leaving: Iterable[Path] = ()) -> tuple[Path, ...]:
    """Each file, taken to its place; what stands there goes, and so do the files that are leaving.

    Raises
    ------
    InputError
        One of them cannot be moved. All others are where they were.
    """
    there = [path for path in dict.fromkeys((*leaving, *places.values())) if path.is_file()]
    aside = {path: path.with_name(f".{path.name}.{secrets.token_hex(4)}.old") for path in there}
    with ExitStack() as undoing:
        for source, target in (*aside.items(), *places.items()):
            try:
                os.replace(source, target)
            except OSError as error:
                raise not_written(source if source in aside else target, error) from error
            undoing.callback(os.replace, target, source)
        undoing.pop_all()
    for old in aside.values():
        old.unlink()
    return tuple(places.values())
