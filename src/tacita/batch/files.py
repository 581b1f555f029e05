"""Which files a batch reads, and where it writes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from tacita.formats.argus.batch import (
    Apriori,
    Batch,
    OpenMetadata,
    OpenMicrodata,
    OpenTableData,
    Recode,
    WriteTable,
)
from tacita.formats.argus.tokens import find_beside
from tacita.publication.argus_results import find_results_folder
from tacita.storage.internal import INTERNAL, PUBLICATION


def list_folders(path: Path, data_folder: str | os.PathLike[str] | None) -> tuple[Path, ...]:
    """Return the folders in which files of a batch are looked for: its own, then the one for data."""
    return (path.parent, *([] if data_folder is None else [Path(data_folder)]))


def list_inputs(batch: Batch, folders: Sequence[Path]) -> tuple[Path, ...]:
    """Return the paths of all files that the commands of a batch read; those that metadata name are not
    among them.
    """
    named = [
        command.file
        for command in batch.commands
        if isinstance(command, OpenMicrodata | OpenTableData | OpenMetadata | Apriori)
    ]
    named += [c.by for c in batch.commands if isinstance(c, Recode) and isinstance(c.by, str)]
    return tuple(dict.fromkeys(find_beside(name, *folders) for name in named))


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
