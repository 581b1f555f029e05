"""Write results: to ``publication`` with internal files in ``internal`` beside it, or to a file with internal
files in a folder beside that; see :mod:`tacita.publication.destination`.

| file | for | written |
|---|---|---|
| ``publication/release.csv`` and other formats | publication | if the release is safe, or a reason is given |
| ``internal/release-internal.xlsx`` | internal use | with ``release.xlsx``: tells primary cells apart |
| ``internal/release-sbs.csv``, ``release.tab``, ``release.jj`` | internal use | if they are wanted |
| ``internal/release-internal-sdmx.csv`` | internal use | with SDMX-CSV: true values with statuses |
| ``internal/audit.json`` | internal use | always |
| ``internal/certificate.json`` | internal use | if the release is safe |
| ``internal/earlier-release.csv`` | internal use | if another release of the same table was there |
| ``safe.internal/release.csv`` | internal use | beside a named file: the release, as its certificate has it |

All of them are complete before any takes its place, and all take their places or none does. Files of an
earlier release go first: a certificate beside another release would be taken for its proof, and two releases
of one table can be set off against each other. A release that says something else of its cells than the new
one is copied to ``internal`` first, with a warning, since readers may have kept it: two releases of one table
are one release to whoever has both (see :mod:`tacita.core.windows`). The release comes last, and so never
without its verdict.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tacita.core.errors import InputError, TacitaError
from tacita.core.run import AVERAGES
from tacita.core.windows import have_same_windows
from tacita.formats.presentation import USUAL_MARK, Presentation
from tacita.formats.sdmx.release_write import TELLS_PRIMARY, SdmxOptions, note_sdmx, write_transmission
from tacita.publication.destination import (
    CERTIFICATE,
    INTERNAL_FORMATS,
    PUBLISHED_FILES,
    RECORD,
    TRANSMISSION,
    VERDICT,
    WORKBOOK,
    Destination,
    find_destination,
)
from tacita.publication.folders import note_releases_outside, refuse_mixed, remove_earlier_drafts
from tacita.publication.release_write import build_labels, check_reason, write_release
from tacita.publication.same_layout.input_sheet import InputSheet, list_hidden_values, look_for_values
from tacita.publication.same_layout.sheet_order import refuse_telling_order
from tacita.publication.same_layout.telling_texts import Telling
from tacita.publication.same_layout.write_workbook import write_same_layout
from tacita.storage.atomic import write_text
from tacita.storage.file_set import open_file_set
from tacita.storage.internal import PUBLICATION

if TYPE_CHECKING:
    from tacita.auditing.audit import Audit

LAID_OUT = frozenset(["crosstab", "html", "xlsx"])
"""Formats that lay a release out as it is printed, with its title, and its mark in place of numbers."""
REPLACED = "earlier-release"
"""What copies of releases that are replaced are called, the first one without a number."""
PRIMARY_NOTE = (
    "marks primary cells PS and the others CS, as its format demands: readers learn which cells a rule hits, "
    "which the audit does not assume them to know. Publish another format where that matters."
)


@dataclass(frozen=True)
class Written:
    """The files that were written, and what their owner should know of them; warnings ask for a decision.

    ``public`` are those of ``paths`` that are for publication.
    """

    paths: tuple[Path, ...]
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    public: tuple[Path, ...] = ()


def write_results(
    audit: Audit,
    place: str | os.PathLike[str] | Destination,
    formats: Sequence[str] = (),
    reason: str | None = None,
    *,
    mark: str = USUAL_MARK,
    title: str = "",
    sdmx: SdmxOptions | None = None,
    like: InputSheet | str | os.PathLike[str] | None = None,
    keep_sheets: bool = False,
    with_them: Sequence[Path] = (),
) -> Written:
    """Write a release for publication and the verdict on it for internal use, in place of earlier ones.

    Parameters
    ----------
    place
        A folder, or a file by its ending; see :mod:`tacita.publication.destination`.
    formats
        ``csv``, ``crosstab``, ``sdmx``, ``parquet``, ``xlsx``, ``txt``, ``tsv``, ``html``; by default that of
        the named file, or ``csv``. ``sbs``, ``intermediate`` and ``jj``, those of tau-ARGUS with true values,
        are internal.
    reason
        Why a release that is not proven safe is written all the same, in a few words, which its files then
        carry. Without it nothing is written for publication. A safe release needs none, and carries none.
    mark, title
        What stands in place of suppressed numbers, and above the table, where it is laid out.
    sdmx
        How SDMX-CSV is written: its dataflow, its attributes.
    like, keep_sheets
        The workbook that the table was read from: a named ``.xlsx`` file then has its layout, see
        :mod:`tacita.publication.same_layout`; and whether further sheets of nothing but texts are kept.
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

    place = find_destination(place)
    planned = place.plan(formats)
    refuse_blocked(place, formats)
    unaudited = None if audit.safe or reason is None else check_reason(reason)
    chosen = planned if audit.safe or unaudited is not None else {}
    layout: tuple[str, ...] = ()
    title, on_title = _check_title(title, audit)
    with open_file_set(place.home) as files:
        public, internal = files.make_folder(place.public), files.make_folder(place.internal)
        for each, name in chosen.items():
            if each == "xlsx" and like is not None and place.file is not None:
                source = like if isinstance(like, InputSheet) else InputSheet(Path(like))
                refuse_telling_order(source, audit.release, audit.problem.table)
                layout = write_same_layout(
                    audit.release,
                    public / name,
                    source,
                    build_labels(audit.release, unaudited),
                    Presentation(mark, title),
                    truth=audit.problem.table,
                    keep_sheets=keep_sheets,
                )
                continue
            write_release(
                audit.release,
                public / name,
                audit=audit,
                unaudited=unaudited,
                format=each,  # type: ignore[arg-type]
                mark=mark,
                title=title,
                sdmx=sdmx,
            )
        if "xlsx" in chosen:
            write_excel(audit.release, internal / WORKBOOK, None, Presentation(mark, title), internal=True)
        if "sdmx" in chosen:
            sensitive, options = audit.problem.levels.sensitive, sdmx or SdmxOptions()
            write_transmission(
                audit.problem.table, sensitive, audit.release, internal / TRANSMISSION, options
            )
        if place.file is not None and chosen:
            write_release(audit.release, internal / RECORD, audit=audit, unaudited=unaudited)
            write_text(internal / PUBLISHED_FILES, "".join(f"{name}\n" for name in chosen.values()))
        write_verdict_files(audit, internal)
        left_out = _write_internal_formats(audit, formats, internal) if chosen else ()
        for path in with_them:
            shutil.move(path, internal / path.name)
        warnings = (*on_title, *_keep_replaced(audit, place, internal, published=bool(chosen)))
        notes = (*files.notes, *remove_earlier_drafts(place), *left_out)
        gone = place.find_earlier()
        placed = files.move_into_place(gone, whole=PUBLICATION if place.file is None else None)
    inside = place.home / place.internal
    paths = tuple(sorted(placed, key=lambda path: path.parent == inside))
    shown = tuple(path for path in paths if path.parent != inside)
    primary = [f"{path} {PRIMARY_NOTE}" for path in shown if path.suffix in (".txt", ".tsv")]
    more = (*_note_removed(gone, paths), *note_releases_outside(place))
    said = [*_note_unseen(mark, title, chosen), *_list_sdmx_notes(audit, place, chosen, sdmx)]
    if "sdmx" in chosen and sdmx is not None and sdmx.primary:
        warnings = (*warnings, f"{place.home / place.public / chosen['sdmx']} {TELLS_PRIMARY}")
    return Written(paths, (*notes, *layout, *primary, *said, *more), warnings, shown)


def _check_title(title: str, audit: Audit) -> tuple[str, tuple[str, ...]]:
    """Return the title to publish, none if it tells the value of a hidden cell, and a warning if it may."""
    hidden = look_for_values(audit.release, list_hidden_values(audit.release, audit.problem.table))
    telling = hidden.judge(title)
    if telling == Telling.VALUE:
        return "", ("the title is left out: it holds the value of a hidden cell",)
    if telling == Telling.PERHAPS:
        return title, (
            "a number in the title is also that of a hidden cell, or near it, perhaps by chance: check that "
            "the title does not speak of it",
        )
    return title, ()


def _note_unseen(mark: str, title: str, chosen: Mapping[str, str]) -> list[str]:
    """Return a note on a mark or title of the release that none of its published formats shows."""
    unseen = [word for word, given in (("mark", mark != USUAL_MARK), ("title", title)) if given]
    if not chosen or not unseen or not LAID_OUT.isdisjoint(chosen):
        return []
    return [
        f"the {' and the '.join(unseen)} can be seen in the formats {', '.join(sorted(LAID_OUT))} only, "
        f"not in {', '.join(chosen)}"
    ]


def _list_sdmx_notes(
    audit: Audit, place: Destination, chosen: Mapping[str, str], sdmx: SdmxOptions | None
) -> list[str]:
    """Return notes on the published file in SDMX-CSV, if there is one."""
    if "sdmx" not in chosen:
        return []
    path = place.home / place.public / chosen["sdmx"]
    return [f"{path}: {note}" for note in note_sdmx(audit.release, sdmx or SdmxOptions())]


def write_verdict(audit: Audit, folder: Path) -> Written:
    """Write the verdict on a release as ``internal/audit.json``, with ``internal/certificate.json`` if it is
    safe, in place of an earlier one.
    """
    place = Destination(folder)
    refuse_blocked(place)
    with open_file_set(folder) as files:
        write_verdict_files(audit, files.make_folder(place.internal))
        gone = [path for path in place.find_earlier() if path.name in VERDICT]
        paths = files.move_into_place(gone)
    return Written(paths, (*files.notes, *_note_removed(gone, paths)))


def refuse_blocked(place: Path | Destination, formats: Sequence[str] = ()) -> None:
    """Refuse a destination that cannot take published results, before any are worked out for it.

    Raises
    ------
    InputError
        See :func:`tacita.publication.folders.refuse_mixed`; or a folder stands where a result is to be.
    """
    place = find_destination(place)
    refuse_mixed(place)
    if blocked := next((path for path in place.find_results(formats) if path.is_dir()), None):
        raise InputError(
            "this is a folder, where a result is to be", place=blocked, remedy="move it, or choose another"
        )


def _keep_replaced(audit: Audit, place: Destination, draft: Path, *, published: bool) -> tuple[str, ...]:
    """Copy the published release that the audited one replaces at its place to ``draft``, the internal
    files; return a warning. If the new one is not ``published``, the old one goes all the same.

    Nothing is copied if there is none, if it is of another table or says the same, or if it was judged
    together with the new one.
    """
    from tacita.publication.release_read import read_release

    file, table, internal = place.record, audit.problem.table, place.home / place.internal
    if not file.is_file():
        return ()
    try:
        old = read_release(file, table)
    except (TacitaError, OSError, ValueError):
        return ()
    known = (*audit.problem.already_published, *audit.earlier, *([audit.release] if published else ()))
    if any(have_same_windows(table, old, release) for release in known):
        return ()
    copy = draft / _choose_name(internal)
    shown = file if place.file is None else place.home / place.file
    shutil.copyfile(file, copy)
    same = np.array_equal(old.hidden, audit.release.hidden)
    happened = (
        f"replaces a release of this table that {'published other numbers' if same else 'hid other cells'}"
    )
    return (
        f"{shown} {happened if published else 'was a release of this table, and is removed'}. Readers may "
        "have kept the old one, and two releases together tell more than each of them: if it was ever "
        f"published, protect the table again with it: --published {internal / copy.name} on the command "
        f'line, or files = ["{(internal / copy.name).as_posix()}"] under [published] in the project',
        *([AVERAGES] if "seed" in audit.release.made_by else []),
    )


def _choose_name(folder: Path) -> str:
    number = 1
    while (folder / (name := f"{REPLACED}{'' if number == 1 else f'-{number}'}.csv")).exists():
        number += 1
    return name


def _write_internal_formats(audit: Audit, formats: Sequence[str], folder: Path) -> tuple[str, ...]:
    """Write the internal formats of a release that are wanted; return notes on those that it has not."""
    from tacita.formats.argus.internal_outputs import write_internal_output

    notes = []
    for kind in dict.fromkeys(each for each in formats if each in INTERNAL_FORMATS):
        if kind != "jj" and len(audit.release.structure.parts) > 1:
            notes.append(f"{kind} is not written: it holds one table, and these are linked")
            continue
        try:
            write_internal_output(audit.problem, audit.release, folder / INTERNAL_FORMATS[kind], kind)  # type: ignore[arg-type]
        except InputError as error:
            notes.append(f"{kind} is not written: {error}")
    return tuple(notes)


def write_verdict_files(audit: Audit, folder: Path, before: str = "") -> None:
    """Write the verdict on a release to ``audit.json`` and, if it is safe, its proof to ``certificate.json``,
    both internal; ``before`` is put before their names.
    """
    from tacita.auditing.certificate import certify, dump
    from tacita.report.record import build_audit_record, to_json_values

    record = json.dumps(
        to_json_values(build_audit_record(audit)), allow_nan=False, ensure_ascii=False, indent=1
    )
    write_text(folder / f"{before}audit.json", record + "\n")
    if audit.safe:
        write_text(folder / f"{before}{CERTIFICATE}", dump(certify(audit)))


def _note_removed(gone: Iterable[Path], written: Sequence[Path]) -> tuple[str, ...]:
    """Return a note on published or internal files of an earlier release that nothing replaced."""
    lost = [str(path) for path in gone if path not in written]
    return (f"removed, as of an earlier release: {', '.join(lost)}",) if lost else ()
