"""Files that are there as a whole or not at all.

What is written goes to a draft (see :mod:`tacita.storage`), from which it takes the place of the
old file in one step when it is complete. An interrupted run leaves the old file as it was. Files inside a
draft are written as they are, since it takes its place as a whole. What is not
``public`` is internal, and refused where things are published; see :mod:`tacita.storage.internal`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tacita.core.errors import InputError, describe_write_failure
from tacita.storage.drafts import is_draft, make_draft
from tacita.storage.internal import find_draft_home, refuse_published
from tacita.storage.recovery import recover


@contextmanager
def replace_file(path: str | os.PathLike[str], *, public: bool = False) -> Iterator[Path]:
    """Yield a draft's path to write to, which becomes ``path`` when the block ends well, else vanishes.

    Parameters
    ----------
    public
        Whether the file may be published, as releases may.

    Raises
    ------
    InputError
        The file cannot be written: there is no such folder, no permission, no room on the disk. Or it is
        internal and would lie inside what is published.

    Examples
    --------
    >>> with replace_file("release.csv") as temporary:  # doctest: +SKIP
    ...     temporary.write_text("cell,mark\\n")
    """
    target = Path(path)
    if not public:
        refuse_published(target)
    if target.is_dir():
        raise InputError("this is a folder", place=target, remedy="give the name of a file in it")
    if not target.parent.is_dir():
        raise InputError(
            f"the folder {target.parent} does not exist", remedy="make it first, or write elsewhere"
        )
    if any(map(is_draft, target.absolute().parts)):
        # A draft is there as a whole or not at all already.
        with _describe_failures(target):
            yield target
            _sync(target)
        return
    home = find_draft_home(target.parent)
    if notes := recover(home):
        # There is no result that could carry them.
        import logging

        logging.getLogger("tacita").warning("; ".join(notes))
    with make_draft(home) as draft:
        temporary = draft / target.name
        with _describe_failures(target):
            yield temporary
            _sync(temporary)
            os.replace(temporary, target)


@contextmanager
def _describe_failures(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise describe_write_failure(target, error) from error


def _sync(path: Path) -> None:
    with path.open("rb+") as written:
        os.fsync(written.fileno())


def write_text(path: str | os.PathLike[str], text: str, *, public: bool = False) -> Path:
    """Write a text file in UTF-8 by way of a draft, all or nothing; return its path."""
    with replace_file(path, public=public) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="")
    return Path(path)
