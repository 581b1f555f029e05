"""Several files that belong together: all of them take their places, or none does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tacita.core.errors import TacitaError, describe_write_failure
from tacita.storage.drafts import make_draft
from tacita.storage.internal import refuse_published
from tacita.storage.recovery import recover
from tacita.storage.switch import switch


@dataclass(frozen=True)
class FileSet:
    """Files for a folder and for folders in it, written to a draft first.

    ``notes`` report what interrupted runs had left there.
    """

    home: Path
    draft: Path
    notes: tuple[str, ...]

    def make_folder(self, folder: str = ".") -> Path:
        """Return the draft's folder, made if need be, for files that are meant for ``home / folder``."""
        place = self.draft / "new" / folder
        place.mkdir(parents=True, exist_ok=True)
        return place

    def move_into_place(self, leaving: Iterable[Path] = (), whole: str | None = None) -> tuple[Path, ...]:
        """Move all files from the draft to their places, and return their paths; see
        :func:`tacita.storage.switch.switch`.
        """
        return switch(self.home, self.draft, leaving, whole)


@contextmanager
def open_file_set(home: Path) -> Iterator[FileSet]:
    """Yield a draft for files of an unpublished folder, which is made if need be; one that the block leaves
    empty goes, unless it was there.

    What interrupted runs have left goes first. Errors name files as they would have been called: a draft says
    nothing to those who read of it.
    """
    refuse_published(home)
    was_there = home.is_dir()
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise describe_write_failure(home, error) from error
    try:
        notes = recover(home)
        with make_draft(home) as draft:
            try:
                yield FileSet(home, draft, notes)
            except TacitaError as error:
                raise error.map_parts(lambda text: _write_final_names(draft, home, text)) from error.__cause__
            except OSError as error:
                raise describe_write_failure(
                    Path(_write_final_names(draft, home, error.filename or home)), error
                ) from error
    finally:
        if not was_there:
            # The system refuses where something is in it.
            with suppress(OSError):
                home.rmdir()


def _write_final_names(draft: Path, home: Path, text: object) -> str:
    """Return a text, such as a message, with final paths in place of those of files in a draft."""
    return str(text).replace(str(draft / "new"), str(home)).replace(str(draft), str(home))
