"""Which files a batch reads, and where it writes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from tacita.core.errors import TacitaError
from tacita.formats.argus.batch import (
    Apriori,
    Batch,
    OpenMetadata,
    OpenMicrodata,
    OpenTableData,
    Recode,
    SpecifyTable,
    WriteTable,
)
from tacita.formats.argus.metadata_file import parse_metadata
from tacita.formats.argus.tokens import find_beside
from tacita.publication.argus_results import find_results_folder
from tacita.storage.internal import INTERNAL, PUBLICATION


def list_folders(path: Path, data_folder: str | os.PathLike[str] | None) -> tuple[Path, ...]:
    """Return the folders in which files of a batch are looked for: its own, then the one for data."""
    return (path.parent, *([] if data_folder is None else [Path(data_folder)]))


def list_inputs(batch: Batch, folders: Sequence[Path]) -> tuple[Path, ...]:
    """Return the paths of all files that a batch reads, with those that its metadata name."""
    named = [
        command.file
        for command in batch.commands
        if isinstance(command, OpenMicrodata | OpenTableData | OpenMetadata | Apriori)
    ]
    named += [c.by for c in batch.commands if isinstance(c, Recode) and isinstance(c.by, str)]
    found = [find_beside(name, *folders) for name in named]
    data = folders[0]
    for command in batch.commands:
        if isinstance(command, OpenMicrodata | OpenTableData):
            data = find_beside(command.file, *folders).parent
        elif isinstance(command, OpenMetadata):
            found += _list_described(find_beside(command.file, *folders), data)
    return tuple(dict.fromkeys(found))


def list_tables(batch: Batch, folders: Sequence[Path]) -> list[tuple[Path, SpecifyTable]]:
    """Return the tables that a batch specifies, each with the path of its data."""
    data, found = folders[0], []
    for command in batch.commands:
        if isinstance(command, OpenMicrodata | OpenTableData):
            data = find_beside(command.file, *folders)
        elif isinstance(command, SpecifyTable):
            found.append((data, command))
    return found


def _list_described(metadata: Path, data: Path) -> list[Path]:
    """Return the paths of hierarchies and code lists that metadata name; none if they cannot be read."""
    try:
        variables = parse_metadata(metadata).variables
    except (TacitaError, OSError):
        # Whoever reads the table says what is wrong with them.
        return []
    names = [name for each in variables for name in (each.hierarchy, each.codelist) if name is not None]
    return [find_beside(name, data, metadata.parent) for name in names]


def list_outputs(batch: Batch) -> tuple[Path, ...]:
    """Return the paths that tables of a batch may be written to."""
    files = [find_output(batch, c.file) for c in batch.commands if isinstance(c, WriteTable)]
    return tuple(
        dict.fromkeys(
            find_results_folder(file) / place / file.name
            for file in files
            for place in (PUBLICATION, INTERNAL)
        )
    )


def find_output(batch: Batch, name: str) -> Path:
    """Return where a file that a batch names is to be written: relative to its folder.

    Names may be written as on Windows. Of one with a drive, elsewhere, the bare name counts.
    """
    plain = name.replace("\\", "/")
    drive = len(plain) > 1 and plain[1] == ":" and os.name != "nt"
    return batch.path.parent / (plain.rsplit("/", 1)[-1] if drive else plain)
