"""Write outputs of tau-ARGUS's kinds to the two folders of results, with the verdict on what is published.

| file | for | written |
|---|---|---|
| ``publication/NAME`` | publication | crosstab, pivot, code-value, if the release is safe |
| ``internal/NAME.audit.json``, ``internal/NAME.certificate.json`` | internal use | with it |
| ``internal/earlier-release-NAME`` | internal use | if it takes the place of a file with other content |
| ``internal/NAME`` | internal use | whatever holds true values |
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from tacita.core.release import Release
from tacita.formats.argus.delimited import OutputOptions
from tacita.formats.argus.internal_outputs import InternalKind, write_internal_output
from tacita.publication.argus_outputs import PublicKind, write_public_output
from tacita.publication.destination import Destination
from tacita.publication.folders import INTERNAL, PUBLICATION, refuse_mixed
from tacita.publication.results import REPLACED, Written, write_verdict_files
from tacita.storage.file_set import open_file_set

if TYPE_CHECKING:
    from tacita.auditing.audit import Audit
    from tacita.problem.problem import Problem


def write_public_result(
    audit: Audit, file: Path, kind: PublicKind, options: OutputOptions, part: int | str = 0
) -> Written:
    """Write a release, or one of its linked tables, to ``publication`` beside where ``file`` would be.

    Raises
    ------
    UnsafeError
        The audit does not call it safe.
    """
    folder = find_results_folder(file)
    refuse_mixed(Destination(folder))
    with open_file_set(folder) as files:
        public, internal = files.make_folder(PUBLICATION), files.make_folder(INTERNAL)
        new = write_public_output(audit.release, public / file.name, kind, options, part, audit=audit)
        write_verdict_files(audit, internal, before=f"{file.name}.")
        old = folder / PUBLICATION / file.name
        replaced = old.is_file() and old.read_bytes() != new.read_bytes()
        copy = internal / _choose_name(folder / INTERNAL, file.name)
        if replaced:
            shutil.copyfile(old, copy)
        placed = files.move_into_place()
    warning = (
        f"{old} replaces a file with other content. Readers may have kept the old one, and two releases of a "
        f"table together tell more than each of them: it is kept as {folder / INTERNAL / copy.name}"
    )
    return Written(placed, files.notes, (warning,) if replaced else ())


def write_internal_result(
    problem: Problem,
    release: Release,
    file: Path,
    kind: InternalKind,
    options: OutputOptions,
    part: int | str = 0,
) -> Written:
    """Write a table with its true values and the status of its cells to ``internal`` beside where ``file``
    would be, never to what is published.
    """
    folder = find_results_folder(file)
    refuse_mixed(Destination(folder))
    with open_file_set(folder) as files:
        internal = files.make_folder(INTERNAL)
        write_internal_output(problem, release, internal / file.name, kind, options, part)
        placed = files.move_into_place()
    return Written(placed, files.notes)


def find_results_folder(file: Path) -> Path:
    """Return the folder of results for a file: its own, or the one around it if that is called
    ``publication`` or ``internal``.
    """
    folder = file.parent
    return folder.parent if folder.name.lower() in (PUBLICATION, INTERNAL) else folder


def _choose_name(folder: Path, name: str) -> str:
    number = 1
    while (folder / (copy := f"{REPLACED}{'' if number == 1 else f'-{number}'}-{name}")).exists():
        number += 1
    return copy
