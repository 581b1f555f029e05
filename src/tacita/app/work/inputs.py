"""Inputs of the user, kept as long as they may be read again: another sheet of them, or as records."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import lgamma, log, prod
from pathlib import Path

import numpy as np

from tacita.app.work.open_case import Case
from tacita.app.work.opening import open_case_at, open_case_of_files, open_case_of_text
from tacita.app.work.paths import expand_path
from tacita.app.work.records import RecordsFile, find_records_among, find_records_at, find_records_in_text
from tacita.core.errors import FormatError, TacitaError
from tacita.core.exact import Mask
from tacita.core.tables.read_options import ReadOptions
from tacita.core.tables.table import Table
from tacita.formats.roles import guess_role
from tacita.formats.workbook import Sheets, is_workbook, list_sheets
from tacita.specification.specification import find_project
from tacita.tabulation.overview import Overview


@dataclass(frozen=True)
class UserInput:
    """Files, a path or a text, and how the user wants them to be read.

    Attributes
    ----------
    name
        What the user calls it.
    workbook
        The workbook among it, if there is one whose sheet is to be chosen.
    private
        The session's folder of the files, if they were handed over and are no files of the user's.
    text
        What was pasted.
    takes_options
        Whether it can be read in another way; a project says itself how its files are read.
    """

    name: str
    reading: ReadOptions
    read_table: Callable[[ReadOptions], Case]
    read_records: Callable[[ReadOptions], RecordsFile]
    workbook: Path | None = None
    private: Path | None = None
    text: str = ""
    takes_options: bool = True

    def open_table(self) -> Case:
        """Return the case that the app makes of the input, as a table or whatever else makes one."""
        return self.read_table(self.reading)

    def open_records(self) -> RecordsFile:
        """Return the input as a file of records, looked through for the page Start."""
        return self.read_records(self.reading)

    def find_sheets(self) -> Sheets | None:
        """Return the workbook's sheets, of which the user is to choose one; None where it is specified, or
        there is nothing to choose.
        """
        if self.workbook is None or self.reading.sheet is not None:
            return None
        try:
            sheets = list_sheets(self.workbook)
        except FormatError:
            # Whoever reads it says what is wrong.
            return None
        return sheets if sheets.others else None


@dataclass(frozen=True)
class SheetQuestion:
    """A workbook of several sheets, until one is chosen; ``as_records``: what is made of it then."""

    user_input: UserInput
    sheets: Sheets
    as_records: bool

    @property
    def private(self) -> Path | None:
        return self.user_input.private


def take_path(written: str | os.PathLike[str], reading: ReadOptions) -> UserInput:
    """Return a file or folder of this machine, by the path that the user typed, as input of the app."""
    path = expand_path(written)
    return UserInput(
        path.name,
        reading,
        partial(open_case_at, path),
        partial(find_records_at, path),
        path if is_workbook(path) else None,
        takes_options=find_project(path) is None,
    )


def take_files(paths: Sequence[Path], reading: ReadOptions) -> UserInput:
    """Return uploaded files, in a folder of their own, as input of the app."""
    books = [path for path in paths if is_workbook(path)]
    takes_options = not any(path.suffix.lower() == ".toml" for path in paths)
    asks = len(books) == 1 and takes_options
    return UserInput(
        books[0].name if asks else paths[0].name,
        reading,
        partial(open_case_of_files, paths),
        partial(find_records_among, paths),
        books[0] if asks else None,
        paths[0].parent,
        takes_options=takes_options,
    )


def take_text(text: str, folder: Path, reading: ReadOptions) -> UserInput:
    """Return text that the user pasted as input of the app; ``folder`` is the session's."""
    return UserInput(
        "pasted",
        reading,
        partial(open_case_of_text, text),
        partial(find_records_in_text, text, folder),
        text=text,
    )


NEXT_TO_NOTHING = 0.01


@dataclass(frozen=True)
class RecordsAlternative:
    """A case as it was opened, and the records that its rows could be as well."""

    case: Case
    records: RecordsFile

    @property
    def private(self) -> Path | None:
        return self.records.private


def find_alternative(user_input: UserInput, case: Case) -> RecordsAlternative | None:
    """Return the records that the rows of an opened table could be as well; None where they are cells. Most
    tables tell at a glance.
    """
    if case.from_project or not _could_be_records(case.table):
        return None
    try:
        records = user_input.open_records()
    except TacitaError:
        return None
    if _has_same_rows(case.table, records.seen):
        return RecordsAlternative(case, records)
    if records.private is not None and records.private != user_input.private:
        shutil.rmtree(records.private)
    return None


def _could_be_records(table: Table) -> bool:
    """Return whether the user's table lists so few of its possible cells that rows could be records, or has
    a code of its own in each, as a name.
    """
    structure = table.structure
    if len(structure.dimensions) < 2 or len(structure.parts) > 1 or table.count is not None:
        return False
    inner = _find_inner(table)
    listed = int(inner.sum())
    if listed > 1 and any(np.unique(column).size == listed for column in structure.codes[inner].T):
        return True
    possible = prod(np.unique(column).size for column in structure.codes[inner].T)
    if not 1 < listed < possible:
        return False
    apart = lgamma(possible + 1) - lgamma(possible - listed + 1) - listed * log(possible)
    return apart >= log(NEXT_TO_NOTHING)


def _has_same_rows(table: Table, seen: Overview) -> bool:
    """Return whether each record is an inner cell of the user's table and no column speaks of cells."""
    parts = {guess_role(name) for name in seen.names}
    return (
        seen.records == int(_find_inner(table).sum())
        and {dimension.name for dimension in table.structure.dimensions} <= set(seen.names)
        and parts <= {None, "value", "identity"}
    )


def _find_inner(table: Table) -> Mask:
    """Return the mask of cells of the user's table that are no total in any dimension."""
    structure = table.structure
    inner = np.ones(len(table), dtype=bool)
    for d, dimension in enumerate(structure.dimensions):
        inner &= ~np.isin(structure.codes[:, d], np.concatenate(dimension.parents))
    return inner
