"""Which metadata describe a data file: those that are named, or a ``.rda`` of the same name beside it."""

from __future__ import annotations

import os
import re
from pathlib import Path

from tacita.core.errors import FormatError
from tacita.formats.argus.fields import NUMBER, split_line
from tacita.formats.argus.metadata import Kind, Metadata
from tacita.formats.argus.metadata_file import parse_metadata
from tacita.tabulation.address import is_address

OTHERS = (
    ".parquet",
    ".pq",
    ".xlsx",
    ".xlsm",
    ".xls",
    ".ods",
    ".jj",
    ".toml",
    ".duckdb",
    ".db",
    ".ddb",
    ".gz",
)
"""Endings of files that no metadata describe."""
WITH_READER = (".csv", ".tab", ".tsv", ".txt", ".dat")
"""Endings of files that can be read without metadata too."""
OPENING = 2**20
"""Bytes in which the first line of a data file is looked for."""


def find_metadata(
    path: str | os.PathLike[str], given: str | os.PathLike[str] | None = None, kind: Kind | None = None
) -> tuple[Metadata | None, tuple[str, ...]]:
    """Return the metadata of a data file, or None if it has none, and notes on metadata that were found.

    Metadata that are not named are a ``.rda`` file beside the data with the same name. They are left aside,
    with a note, where the file can be read without them and its first line is not as they say.
    """
    if given is not None:
        return parse_metadata(given, kind), ()
    data = Path(path)
    if is_address(path) or data.suffix.lower() in OTHERS or not data.is_file():
        return None, ()
    try:
        beside = next((file for file in _list_beside(data) if not _is_data_of_r(file)), None)
    except OSError:
        # A folder or a file that cannot be read has nothing to say.
        return None, ()
    if beside is None:
        return None, ()
    can_do_without = data.suffix.lower() in WITH_READER
    try:
        found = parse_metadata(beside, kind)
    except FormatError as error:
        if not can_do_without:
            raise
        return None, (f"{beside.name} beside it was left aside ({error.fault})",)
    if can_do_without and not _is_described(data, found):
        return None, (f"{beside.name} beside it was left aside, as line 1 is not what it describes",)
    return found, (f"{beside.name} beside it was taken as its metadata",)


def _list_beside(data: Path) -> list[Path]:
    wanted = f"{data.stem}.rda".casefold()
    return [
        file for file in sorted(data.parent.iterdir()) if file.name.casefold() == wanted and file.is_file()
    ]


def _is_data_of_r(path: Path) -> bool:
    """Return whether a ``.rda`` file is one of R, which has the same ending and is no text."""
    with path.open("rb") as file:
        start = file.read(6)
    return start.startswith((b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"RDX", b"RDA"))


def _is_described(data: Path, metadata: Metadata) -> bool:
    """Return whether the first line of a data file has the fields that metadata describe."""
    with data.open("rb") as file:
        opening = file.read(OPENING).decode("utf-8", "replace").removeprefix("\ufeff")
    line = next((line for line in opening.splitlines() if line.strip()), "")
    fields = split_line(line, metadata)
    if fields is None:
        return False
    names = [variable.name.casefold() for variable in metadata.variables]
    if [field.strip().casefold() for field in fields] == names:
        return True
    return all(
        re.match(NUMBER, text) or text in ("", "-")
        for text, variable in zip((field.strip() for field in fields), metadata.variables, strict=True)
        if variable.numeric or variable.role not in (None, "status")
    )
