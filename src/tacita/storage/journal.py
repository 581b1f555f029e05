"""The journal of a switch: which files leave their folders and which come, written before the first moves."""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tacita.core.errors import FormatError

SWITCH = ".tacita-switch"
BEGUN, DONE = "begun.json", "done.json"
"""The journal is called the one until everything has moved, the other from then on."""
_PLAIN = re.compile(r"[^/\\\0]+")


@dataclass(frozen=True)
class Place:
    """A folder, relative to the one that the drafts are in, with the names that come and leave.

    ``made`` says that it was not there before.
    """

    folder: str
    coming: tuple[str, ...]
    leaving: tuple[str, ...]
    made: bool


@dataclass(frozen=True)
class Journal:
    """A switch: folders whose files move one by one, and one that is replaced as a whole after them, if any.

    ``fingerprint`` is that of the new folder: the journal cannot tell whether it has been exchanged.
    """

    draft: str
    places: tuple[Place, ...]
    whole: Place | None = None
    fingerprint: str = ""


def write_journal(folder: Path, journal: Journal) -> None:
    """Write the journal of a switch of files that has begun into a folder; all or nothing."""
    draft = folder / f"{BEGUN}.part"
    with draft.open("w", encoding="utf-8") as out:
        json.dump(asdict(journal), out)
        out.flush()
        os.fsync(out.fileno())
    os.replace(draft, folder / BEGUN)


def read_journal(home: Path) -> tuple[Journal, bool] | None:
    """Return the journal of a folder's switch and whether all files have moved; None if none has begun.

    Raises
    ------
    FormatError
        The journal is not one of ours: its names must not lead out of the folder.
    """
    # In this order: the one is renamed to the other.
    for name, done in ((BEGUN, False), (DONE, True)):
        try:
            text = (home / SWITCH / name).read_text(encoding="utf-8")
        except FileNotFoundError:
            continue
        except (OSError, UnicodeDecodeError) as error:
            raise _not_a_journal(home) from error
        try:
            return _parse_journal(json.loads(text)), done
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise _not_a_journal(home) from error
    return None


def find_draft_in_use(home: Path) -> str | None:
    """Return the name of the draft whose files an unfinished switch moves, None if there is none."""
    try:
        found = read_journal(home)
    except FormatError:
        return None
    return None if found is None else found[0].draft


def _parse_journal(content: Any) -> Journal:
    whole = content["whole"]
    return Journal(
        _parse_name(content["draft"]),
        tuple(map(_parse_place, content["places"])),
        None if whole is None else _parse_place(whole),
        str(content["fingerprint"]),
    )


def _parse_place(content: Any) -> Place:
    folder = content["folder"] if content["folder"] == "." else _parse_name(content["folder"])
    coming, leaving = (tuple(map(_parse_name, content[key])) for key in ("coming", "leaving"))
    return Place(folder, coming, leaving, bool(content["made"]))


def _parse_name(name: Any) -> str:
    if not isinstance(name, str) or name in (".", "..") or _PLAIN.fullmatch(name) is None:
        raise ValueError(name)
    return name


def _not_a_journal(home: Path) -> FormatError:
    return FormatError(
        "this is no journal of an interrupted run",
        place=home / SWITCH,
        remedy=f"remove the folder, and check the files in {home} yourself",
    )
