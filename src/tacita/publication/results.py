"""Write results: to ``publication``, and internal files to ``internal`` beside it.

| file | for | written |
|---|---|---|
| ``publication/release.csv`` and other formats | publication | if the release is safe, or a reason is given |
| ``internal/release-internal.xlsx`` | internal use | with ``release.xlsx``: tells primary cells apart |
| ``internal/audit.json`` | internal use | always |
| ``internal/certificate.json`` | internal use | if the release is safe |
| ``internal/earlier-release.csv`` | internal use | if another release of the same table was there |

All of them are complete before any takes its place, and all take their places or none does. Files of an
earlier release go first: a certificate beside another release would be taken for its proof, and two releases
of one table can be set off against each other. A release that says something else of its cells than the new
one is copied to ``internal`` first, with a warning, since readers may have kept it: two releases of one table
are one release to whoever has both (see :mod:`tacita.core.windows`). The release comes last, and so never
without its verdict.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tacita.core.errors import InputError, TacitaError
from tacita.core.run import AVERAGES
from tacita.core.windows import have_same_windows
from tacita.publication.folders import (
    CERTIFICATE,
    INTERNAL,
    PUBLICATION,
    RELEASES,
    note_releases_outside,
    refuse_mixed,
    remove_earlier_drafts,
)
from tacita.publication.release_write import FORMATS, check_reason, write_release
from tacita.storage.atomic import write_text
from tacita.storage.file_set import open_file_set

if TYPE_CHECKING:
    from tacita.auditing.audit import Audit

VERDICT = (f"{INTERNAL}/{CERTIFICATE}", f"{INTERNAL}/audit.json")
WORKBOOK = f"{INTERNAL}/release-internal.xlsx"
RESULTS = (*VERDICT, WORKBOOK, *(f"{PUBLICATION}/{name}" for name in RELEASES))
"""What speaks of one release alone, by its place in the folder; the certificate first, as it goes first."""
REPLACED = "earlier-release"
"""What copies of releases that are replaced are called, the first one without a number."""
PRIMARY_NOTE = (
    "marks primary cells PS and the others CS, as its format demands: readers learn which cells a rule hits, "
    "which the audit does not assume them to know. Publish another format where that matters."
)


@dataclass(frozen=True)
class Written:
    """The files that were written, and what their owner should know of them; warnings ask for a decision."""

    paths: tuple[Path, ...]
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def write_results(
    audit: Audit,
    folder: Path,
    formats: Sequence[str] = ("csv",),
    reason: str | None = None,
    *,
    with_them: Sequence[Path] = (),
) -> Written:
    """Write a release to ``publication`` and the verdict on it to ``internal``, in place of earlier ones.

    Parameters
    ----------
    formats
        Endings without the point: ``csv``, ``parquet``, ``xlsx``, ``txt``, ``tsv``, ``html``.
    reason
        Why a release that is not proven safe is written all the same, in a few words, which its files then
        carry. Without it nothing is written for publication. A safe release needs none, and carries none.
    with_them
        Further internal files, complete but not in their places: they are moved with the others.

    Raises
    ------
    UnsafeError
        The reason is not one.
    InputError
        There is no such format, or the folder cannot take results; see :func:`refuse_blocked`.
    """
    from tacita.formats.excel import write_excel

    refuse_blocked(folder)
    if strange := [ending for ending in formats if ending not in FORMATS]:
        raise InputError(
            f"no format of a release is called '{strange[0]}'", remedy=f"choose among {', '.join(FORMATS)}"
        )
    unaudited = None if audit.safe or reason is None else check_reason(reason)
    chosen = list(dict.fromkeys(formats)) if audit.safe or unaudited is not None else []
    with open_file_set(folder) as files:
        public, internal = files.make_folder(PUBLICATION), files.make_folder(INTERNAL)
        for ending in chosen:
            write_release(audit.release, public / f"release.{ending}", audit=audit, unaudited=unaudited)
        if "xlsx" in chosen:
            write_excel(audit.release, internal / Path(WORKBOOK).name, internal=True)
        _write_verdict(audit, internal)
        for path in with_them:
            shutil.move(path, internal / path.name)
        warnings = _keep_replaced(audit, folder, internal, published=bool(chosen))
        notes = (*files.notes, *remove_earlier_drafts(folder))
        gone = find_earlier_results(folder)
        placed = files.move_into_place(gone, whole=PUBLICATION)
    paths = tuple(sorted(placed, key=lambda path: path.parent.name == INTERNAL))
    primary = [f"{path} {PRIMARY_NOTE}" for path in paths if path.suffix in (".txt", ".tsv")]
    more = (*_note_removed(gone, paths), *note_releases_outside(folder))
    return Written(paths, (*notes, *primary, *more), warnings)


def write_verdict(audit: Audit, folder: Path) -> Written:
    """Write the verdict on a release as ``internal/audit.json``, with ``internal/certificate.json`` if it is
    safe, in place of an earlier one.
    """
    refuse_blocked(folder)
    with open_file_set(folder) as files:
        _write_verdict(audit, files.make_folder(INTERNAL))
        gone = find_earlier_results(folder, VERDICT)
        paths = files.move_into_place(gone)
    return Written(paths, (*files.notes, *_note_removed(gone, paths)))


def refuse_blocked(folder: Path) -> None:
    """Refuse a folder that cannot take published results, before any are worked out for it.

    Raises
    ------
    InputError
        See :func:`tacita.publication.folders.refuse_mixed`; or a folder stands where a result is to be.
    """
    refuse_mixed(folder)
    if blocked := next((folder / name for name in RESULTS if (folder / name).is_dir()), None):
        raise InputError(
            "this is a folder, where a result is to be", place=blocked, remedy="move it, or choose another"
        )


def find_earlier_results(folder: Path, names: Iterable[str] = RESULTS) -> list[Path]:
    """Return the paths of an earlier release's files in a folder of results, among those of these names."""
    return [folder / name for name in names if (folder / name).is_file()]


def _keep_replaced(audit: Audit, folder: Path, draft: Path, *, published: bool) -> tuple[str, ...]:
    """Copy the published release that the audited one replaces in ``folder`` to ``draft``, the internal
    files; return a warning. If the new one is not ``published``, the old one goes all the same.

    Nothing is copied if there is none, if it is of another table or says the same, or if it was judged
    together with the new one.
    """
    from tacita.publication.release_read import read_release

    file, table = folder / PUBLICATION / "release.csv", audit.problem.table
    if not file.is_file():
        return ()
    try:
        old = read_release(file, table)
    except (TacitaError, OSError, ValueError):
        return ()
    known = (*audit.problem.already_published, *audit.earlier, *([audit.release] if published else ()))
    if any(have_same_windows(table, old, release) for release in known):
        return ()
    copy = draft / _choose_name(folder / INTERNAL)
    shutil.copyfile(file, copy)
    same = np.array_equal(old.hidden, audit.release.hidden)
    happened = (
        f"replaces a release of this table that {'published other numbers' if same else 'hid other cells'}"
    )
    return (
        f"{file} {happened if published else 'was a release of this table, and is removed'}. Readers may "
        "have kept the old one, and two releases together tell more than each of them: if it was ever "
        f"published, protect the table again with {folder / INTERNAL / copy.name} as a "
        "release that is already published",
        *([AVERAGES] if "seed" in audit.release.made_by else []),
    )


def _choose_name(folder: Path) -> str:
    number = 1
    while (folder / (name := f"{REPLACED}{'' if number == 1 else f'-{number}'}.csv")).exists():
        number += 1
    return name


def _write_verdict(audit: Audit, folder: Path) -> None:
    from tacita.auditing.certificate import certify, dump
    from tacita.report.record import build_audit_record, to_json_values

    record = json.dumps(
        to_json_values(build_audit_record(audit)), allow_nan=False, ensure_ascii=False, indent=1
    )
    write_text(folder / "audit.json", record + "\n")
    if audit.safe:
        write_text(folder / CERTIFICATE, dump(certify(audit)))


def _note_removed(gone: Iterable[Path], written: Sequence[Path]) -> tuple[str, ...]:
    """Return a note on published or internal files of an earlier release that nothing replaced."""
    lost = [str(path) for path in gone if path not in written]
    return (f"removed, as of an earlier release: {', '.join(lost)}",) if lost else ()
