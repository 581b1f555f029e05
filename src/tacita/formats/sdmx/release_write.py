"""Write a release as SDMX-CSV.

A suppressed cell has no ``OBS_VALUE``, ``OBS_STATUS`` ``Q`` (missing, suppressed) and ``CONF_STATUS`` ``C``;
all others have ``A`` and ``F``. Whether a hidden cell is primary is not told, unless that is asked for: then
secondary ones have ``D``, and readers learn which cells a rule hits. Intervals and the distances of rounded
numbers stand in ``COMMENT_OBS``, a notice to readers in ``COMMENT_DSET``; see
:mod:`tacita.formats.sdmx.release_rows`.

Dimensions with one code, the dataflow and the order of columns are those of the file that the table was read
from. Of its attributes those pass that are the same in all rows and known to describe units and not cells,
and those that the user lists, which are left empty in rows of cells that are not published as they are.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tacita.core.errors import InputError, did_you_mean
from tacita.core.exact import Cells, Mask
from tacita.core.release import Mark, Release
from tacita.core.tables.frames import list_rows
from tacita.core.tables.read_options import ReadOptions
from tacita.core.tables.structure import Structure
from tacita.core.tables.table import Table
from tacita.formats.cell_rows import find_cells
from tacita.formats.csv import read_csv, write_rows
from tacita.formats.escape import escape, escape_all
from tacita.formats.number_texts import format_numbers
from tacita.formats.sdmx.header import (
    COMMENT,
    CONFIDENTIALITY,
    DATASET_COMMENT,
    FIRST,
    STATUS,
    VALUE,
    find_version,
)
from tacita.formats.sdmx.structure_file import read_structure
from tacita.formats.sdmx.table import SdmxTable, take_apart

UNNAMED = "SELF:TABLE(1.0)"
"""The dataflow of a release for which none is named."""
OF_UNITS = frozenset([
    "UNIT_MULT", "DECIMALS", "UNIT_MEASURE", "UNIT", "CURRENCY", "TIME_FORMAT", "COLLECTION", "BASE_PER",
])  # fmt: skip
"""Attributes that pass where they are the same in all rows."""
NORMAL, MISSING = "A", "Q"
FREE, CONFIDENTIAL, SECONDARY = "F", "C", "D"
TELLS_PRIMARY = (
    "tells primary cells (C) from secondary ones (D): readers learn which cells a rule hits, which the audit "
    "does not assume them to know"
)
_DATAFLOW = re.compile(r"[A-Za-z][\w.-]*:[A-Za-z0-9_@$-]+\(\d[\w.+-]*\)\Z")


@dataclass(frozen=True)
class SdmxOptions:
    """How a release is written as SDMX-CSV.

    Attributes
    ----------
    dataflow
        ``AGENCY:ID(VERSION)``; None: that of ``like``.
    attributes
        Attributes of ``like`` to keep, in rows of cells that are published as they are.
    primary
        Whether the file tells primary cells from secondary ones.
    like, read
        The SDMX-CSV file that the table was read from, and how.
    """

    dataflow: str | None = None
    attributes: tuple[str, ...] = ()
    primary: bool = False
    like: str | os.PathLike[str] | None = None
    read: ReadOptions = field(default_factory=ReadOptions)

    def __post_init__(self) -> None:
        object.__setattr__(self, "attributes", tuple(self.attributes))
        if self.dataflow is not None and not _DATAFLOW.match(self.dataflow):
            raise InputError(
                f"'{self.dataflow}' is no dataflow",
                remedy="write AGENCY:ID(VERSION), as in ESTAT:TURNOVER(1.0)",
            )
        if wrong := [
            name for name in self.attributes if name in (*CONFIDENTIALITY, COMMENT, DATASET_COMMENT)
        ]:
            raise InputError(
                f"'{wrong[0]}' is written anew, and not kept", remedy="leave it out", place="attributes"
            )


def is_sdmx_file(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is SDMX-CSV, by its ending and the names of its columns."""
    return (
        Path(path).suffix.lower() == ".csv"
        and Path(path).is_file()
        and find_version(read_csv(path).names) is not None
    )


def write_sdmx(release: Release, path: Path, labels: Mapping[str, str], options: SdmxOptions) -> Path:
    """Write a release as an SDMX-CSV file for publication, and return its path.

    Raises
    ------
    InputError
        It has no dimensions or several linked tables, or ``like`` is a file of another table.
    """
    like = _read_like(release, options)
    columns, cells = _start_columns(release.structure, path, like, options)
    hidden = ~release.shown[cells]
    columns[VALUE] = format_numbers(release.value[cells], release.decimals, hidden)
    columns[STATUS] = np.where(hidden, MISSING, NORMAL).tolist()
    secondary = SECONDARY if options.primary else CONFIDENTIAL
    told = np.where(release.primary[cells], CONFIDENTIAL, secondary)
    columns[_name_confidentiality(like)] = np.where(hidden, told, FREE).tolist()
    if any(comments := _write_comments(release, cells)):
        columns[COMMENT] = comments
    for name, texts in _list_attributes(release, like, options).items():
        columns[name] = escape_all(texts[cells].tolist())
    if labels:
        reason = labels.get("unaudited")
        said = [f"Not proven safe. Written all the same: {reason}"] if reason else []
        said += [text for name, text in labels.items() if name != "unaudited"]
        columns[DATASET_COMMENT] = [escape(". ".join(said))] * cells.size
    return write_rows(path, list(columns), list(columns.values()), public=True)


def write_transmission(
    table: Table, sensitive: Mask, release: Release, path: Path, options: SdmxOptions
) -> Path:
    """Write a table with its true values as SDMX-CSV for a receiver who may have them, and return its path.

    ``CONF_STATUS`` says what the receiver may not publish: sensitive cells are ``C``, others that the release
    does not publish as they are ``D``. All attributes of the file that the table was read from are kept. It
    is internal.
    """
    like = _read_like(release, options)
    columns, cells = _start_columns(release.structure, path, like, options)
    columns[VALUE] = format_numbers(table.units[cells], table.decimals)
    columns[STATUS] = [NORMAL] * cells.size
    told = np.where(sensitive, CONFIDENTIAL, np.where(release.changed, SECONDARY, FREE))
    columns[_name_confidentiality(like)] = told[cells].tolist()
    if like is not None:
        for name in (own for own in like.attributes if own not in CONFIDENTIALITY):
            columns[name] = escape_all(_read_attribute(release, like, name)[cells].tolist())
    return write_rows(path, list(columns), list(columns.values()))


def _start_columns(
    structure: Structure, path: Path, like: SdmxTable | None, options: SdmxOptions
) -> tuple[dict[str, Sequence[str]], Cells]:
    """Return the columns of an SDMX-CSV file before the value, and the cell of each row."""
    if structure.labels or len(structure.parts) > 1:
        what = "cells without dimensions" if structure.labels else "linked tables"
        raise InputError(f"SDMX-CSV holds one table, not {what}", place=path, remedy="write .csv instead")
    names, codes, cells = list_rows(structure)
    listed = {name: escape_all(column.to_pylist()) for name, column in zip(names, codes, strict=True)}
    columns: dict[str, Sequence[str]] = {
        name: [escape(text)] * cells.size for name, text in _identify(like, options).items()
    }
    for name in like.order if like is not None else names:
        constant = "" if like is None else like.constants.get(name, "")
        columns[escape(name)] = listed.get(name, [escape(constant)] * cells.size)
    return columns, cells


def _read_attribute(release: Release, like: SdmxTable, name: str) -> NDArray[np.object_]:
    """Return an attribute of the SDMX-CSV file that a table was read from, for each cell of its release."""
    cells = find_cells(like.source, release.structure)
    rows = np.flatnonzero(cells >= 0)
    texts: NDArray[np.object_] = np.full(len(release), "", dtype=object)
    texts[cells[rows]] = np.array(like.source.texts(name).to_pylist(), dtype=object)[rows]
    return texts


def note_sdmx(release: Release, options: SdmxOptions) -> tuple[str, ...]:
    """Return what the owner of a release in SDMX-CSV should know: attributes that were left out."""
    like = _read_like(release, options)
    notes = []
    if like is None and options.dataflow is None:
        notes.append(f"no dataflow was named, so that it is {UNNAMED}")
    if like is not None:
        kept = {*_list_attributes(release, like, options), STATUS, *CONFIDENTIALITY}
        if dropped := [name for name in like.attributes if name not in kept]:
            notes.append(
                f"attributes were left out, since they may tell of hidden cells: {', '.join(dropped)}; name "
                "those to keep"
            )
    return tuple(notes)


def _read_like(release: Release, options: SdmxOptions) -> SdmxTable | None:
    """Return the file that a table was read from, for its release in SDMX-CSV; None if there is none."""
    if options.like is None:
        if options.attributes:
            raise InputError(
                f"there is no SDMX-CSV file that has '{options.attributes[0]}'",
                place="attributes",
                remedy="name attributes only of tables that were read from SDMX-CSV",
            )
        return None
    read = options.read
    source = read_csv(
        options.like, decimal=read.decimal or ".", delimiter=read.delimiter, encoding=read.encoding
    )
    structure = None if read.structure is None else read_structure(read.structure)
    like = take_apart(options.like, source, read, structure)
    own = {dimension.name for dimension in release.structure.dimensions}
    if own != {*like.dimensions}:
        raise InputError(
            f"its dimensions are {', '.join(like.dimensions)}, those of the release {', '.join(sorted(own))}",
            place=options.like,
            remedy="give the file that the table was read from",
        )
    return like


def _identify(like: SdmxTable | None, options: SdmxOptions) -> dict[str, str]:
    """Return the first columns of a release in SDMX-CSV: those of the file it is like, or version 2.0."""
    if like is not None and options.dataflow is None:
        return dict(like.identity)
    flow = options.dataflow or UNNAMED
    version = "2.0" if like is None else like.version
    return dict(zip(FIRST[version], (flow,) if version == "1.0" else ("dataflow", flow, "I"), strict=True))


def _name_confidentiality(like: SdmxTable | None) -> str:
    names = () if like is None else like.source.names
    return next((name for name in CONFIDENTIALITY if name in names), CONFIDENTIALITY[0])


def _write_comments(release: Release, cells: NDArray[np.int64]) -> list[str]:
    """Return the comment on each row of a release in SDMX-CSV: an interval, a distance, or nothing."""
    texts = [""] * len(release)
    low, high = (format_numbers(ends, release.decimals) for ends in (release.low, release.high))
    radius = format_numbers(release.high - release.value, release.decimals, release.high < release.value)
    for cell in np.flatnonzero(release.marks == Mark.INTERVAL).tolist():
        if low[cell] and high[cell]:
            texts[cell] = f"[{low[cell]}...{high[cell]}]"
        else:
            texts[cell] = f"<={high[cell]}" if high[cell] else f">={low[cell]}"
    for cell in np.flatnonzero(np.isin(release.marks, (Mark.ROUNDED, Mark.ADJUSTED))).tolist():
        texts[cell] = f"±{radius[cell]}"
    return [texts[cell] for cell in cells.tolist()]


def _list_attributes(
    release: Release, like: SdmxTable | None, options: SdmxOptions
) -> dict[str, NDArray[np.object_]]:
    """Return the attributes of a release in SDMX-CSV by name, with a text per cell.

    Listed ones say nothing of cells that are not published as they are; a status stays the one of hidden
    cells.
    """
    if like is None:
        return {}
    found: dict[str, NDArray[np.object_]] = {}
    for name in options.attributes:
        if name not in like.attributes:
            raise InputError(
                f"there is no attribute '{name}'{did_you_mean(name, like.attributes)}",
                place=options.like,
                remedy=f"choose from {', '.join(like.attributes) or 'none'}",
            )
        unchanged = release.marks == Mark.PUBLISHED
        other = np.where(release.shown, NORMAL, MISSING) if name == STATUS else ""
        found[name] = np.where(unchanged, _read_attribute(release, like, name), other).astype(object)
    for name in like.attributes:
        codes = like.source.texts(name).unique().to_pylist()
        if name in OF_UNITS and name not in found and len(codes) == 1:
            found[name] = np.full(len(release), codes[0], dtype=object)
    return found
