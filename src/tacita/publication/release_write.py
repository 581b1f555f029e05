"""Write a release for publication.

Nothing is written unless an audit found this very release safe, or a reason for going without is given,
which the file then carries. What is written is what the release says; it knows no value that it hides.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from tacita.core.errors import InputError, ReleaseError, UnsafeError
from tacita.core.release import Mark, Release
from tacita.core.tables.frames import find_part, list_rows
from tacita.formats.csv import write_rows
from tacita.formats.escape import escape, escape_all
from tacita.formats.number_texts import format_numbers
from tacita.formats.presentation import USUAL_MARK, Presentation
from tacita.formats.published_cells import COLUMNS
from tacita.verify import NOTICES

if TYPE_CHECKING:
    from tacita.auditing.audit import Audit
    from tacita.formats.sdmx.release_write import SdmxOptions

Format = Literal["csv", "crosstab", "sdmx", "parquet", "xlsx", "txt", "tsv", "html"]
FORMATS: tuple[Format, ...] = get_args(Format)
"""What a release can be written as: endings of files, without the point; some are CSV too."""
OTHER_CSV: tuple[Format, ...] = ("crosstab", "sdmx")
"""Formats whose files end in ``.csv`` without being one row per cell as ``csv`` is."""
ENDINGS: dict[str, str] = {name: f"-{name}.csv" if name in OTHER_CSV else f".{name}" for name in FORMATS}
"""What is added to the name of a release in each format."""
FEWEST_WORDS, FEWEST_LETTERS = 3, 10
"""Of a reason."""
WORDS = [mark.word for mark in Mark]


def write_release(
    release: Release,
    path: str | os.PathLike[str],
    audit: Audit | None = None,
    unaudited: str | None = None,
    *,
    format: Format | None = None,
    mark: str = USUAL_MARK,
    title: str = "",
    sdmx: SdmxOptions | None = None,
) -> Path:
    """Write a release for publication, with a safe audit or a reason; the ending of ``path`` is the format.

    Parameters
    ----------
    path
        ``.csv`` and ``.parquet``: one row per cell with mark, low, high, value. ``.xlsx``: the same and a
        crosstab, all hidden cells alike. ``.txt`` and ``.tsv``: tab-separated rows of a 2-D table, hidden
        cells PS or CS: the only format that says which cells are primary. ``.html``: a page to look at.
    audit
        An audit of this release that found it safe.
    unaudited
        Why the release is written without one, in a few words (see :func:`is_reason`), which stand in the
        file, as the release's notice does.
    format
        ``"sdmx"``: SDMX-CSV. ``"crosstab"``: a CSV file laid out as the table is printed, not one row per
        cell.
    mark, title
        What stands in place of suppressed numbers, and above the table, where it is laid out.
    sdmx
        How SDMX-CSV is written: its dataflow, its attributes.

    Raises
    ------
    UnsafeError
        There is neither.
    """
    if unaudited is None:
        refuse_unless_safe(release, audit)
    labels = build_labels(release, unaudited)
    target, presentation = Path(path), Presentation(mark, title)
    suffix = target.suffix.lower()
    if format not in (None, *OTHER_CSV, suffix[1:]) or (format in OTHER_CSV and suffix != ".csv"):
        raise InputError(f"format '{format}'", place=target, remedy="give the file the ending of its format")
    if format == "crosstab":
        from tacita.formats.crosstab_page import write_crosstab_csv

        return write_crosstab_csv(release, target, labels, presentation)
    if format == "sdmx":
        from tacita.formats.sdmx.release_write import SdmxOptions, write_sdmx

        return write_sdmx(release, target, labels, sdmx or SdmxOptions())
    if suffix == ".csv":
        return write_csv(release, target, labels)
    if suffix == ".parquet":
        from tacita.formats.parquet import write_parquet

        return write_parquet(release, target, labels)
    if suffix == ".xlsx":
        from tacita.formats.excel import write_excel

        return write_excel(release, target, labels, presentation)
    if suffix in (".txt", ".tsv"):
        from tacita.formats.nchs import write_nchs_release

        return write_nchs_release(release, target, labels)
    if suffix == ".html":
        from tacita.publication.release_html import write_html

        return write_html(release, target, labels, presentation)
    known = ", ".join(f".{ending}" for ending in FORMATS if ending not in OTHER_CSV)
    raise InputError(f"no format has the ending '{suffix}'", place=target, remedy=f"use one of {known}")


def build_labels(release: Release, unaudited: str | None) -> dict[str, str]:
    """Return what every file says of a whole release: why it is published unaudited, and its notice."""
    if release.notice not in NOTICES:
        raise ReleaseError(
            "the release has a notice that readers cannot tell from a message",
            remedy=f"use one of tacita.verify.NOTICES, or none; not '{release.notice}'",
        )
    reason = "" if unaudited is None else check_reason(unaudited)
    return {name: text for name, text in (("unaudited", reason), ("notice", release.notice)) if text}


def is_reason(text: str) -> bool:
    """Return whether a text is a reason to publish a release that no audit calls safe: a few words, not mere
    letters.
    """
    return len(text.split()) >= FEWEST_WORDS and len(text.strip()) >= FEWEST_LETTERS


def check_reason(text: str) -> str:
    """Return the reason to publish a release unaudited, on one line as files carry it; refuse others."""
    if not is_reason(text):
        raise UnsafeError(
            "a release that is not proven safe is written with a reason only",
            remedy="say in a few words why, and for whom it is; they will stand in every file",
        )
    return " ".join(text.split())


def refuse_unless_safe(release: Release, audit: Audit | None) -> None:
    """Refuse to publish a release unless an audit of this very release found it safe."""
    if audit is None:
        raise UnsafeError(
            "no audit stands behind this release", remedy="give its audit, or a reason to write it unaudited"
        )
    if audit.release is not release:
        raise UnsafeError("the audit is of another release", remedy="audit this one")
    if not audit.safe:
        raise UnsafeError(
            "the audit does not call this release safe",
            remedy="protect the cells it names, or give a reason to write it all the same",
        )


def write_csv(release: Release, path: Path, labels: Mapping[str, str]) -> Path:
    """Write a release for publication as CSV: codes (or ``cell``), mark, low, high and value of each cell.

    Linked tables follow each other. ``labels`` of the whole release are columns of their own.
    """
    structure = release.structure
    linked = len(structure.parts) > 1
    names = [d.name for d in structure.dimensions] or ["cell"]
    header = [*(["table"] if linked else []), *map(escape, names), *COLUMNS]
    columns: list[list[str]] = [[] for _ in header]
    for part in range(max(1, len(structure.parts))):
        for column, more in zip(columns, _list_part_rows(release, part, names, linked), strict=True):
            column.extend(more)
    header += labels
    columns += [[escape(text)] * len(columns[0]) for text in labels.values()]
    return write_rows(path, header, columns, public=True)


def _list_part_rows(release: Release, part: int, names: list[str], linked: bool) -> list[list[str]]:
    own, codes, cells = list_rows(release.structure, part)
    by_name = {name: escape_all(column.to_pylist()) for name, column in zip(own, codes, strict=True)}
    blank = [""] * cells.size
    return [
        *([[escape(find_part(release.structure, part).name)] * cells.size] if linked else []),
        *(by_name.get(name, blank) for name in names),
        [WORDS[mark] for mark in release.marks[cells].tolist()],
        format_numbers(release.low[cells], release.decimals),
        format_numbers(release.high[cells], release.decimals),
        format_numbers(release.value[cells], release.decimals, ~release.shown[cells]),
    ]
