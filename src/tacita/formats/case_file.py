"""Read a file of cells in any format, which the ending of its name tells.

``.jj`` files and the folder of the thesis program state a problem, NCHS text a table. CSV, Parquet and Excel
files state a table, one row per cell; with a column ``status``, or a rule, they state a problem too.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Unpack

from tacita.core.errors import FormatError, InputError, MissingFileError
from tacita.core.tables.read_options import ReadOptions
from tacita.core.tables.table import Table
from tacita.formats.argus.apriori import apply_apriori, parse_apriori
from tacita.formats.argus.described_files import find_metadata
from tacita.formats.argus.missing_header import name_missing_header
from tacita.formats.columns import has_columns, list_column_endings
from tacita.formats.jj import read_jj
from tacita.formats.nchs import read_nchs
from tacita.formats.petrenko import FILES as THESIS
from tacita.formats.petrenko import LowerLevels, read_thesis
from tacita.formats.table_file import AS_USUAL, FileSpecification, read_table_file
from tacita.problem.problem import Problem
from tacita.rules import Rule
from tacita.tabulation.address import is_address, mask_passwords

NUMBERS = ("decimals", "counts")
DECISIONS = ("apriori",)
SAY_LOWER = "say 'symmetric' or 'none'"


def read_case_file(
    path: str | os.PathLike[str],
    read: ReadOptions = AS_USUAL,
    *,
    rule: Rule | str | None = None,
    lower: float | LowerLevels | None = None,
    **specified: Unpack[FileSpecification],
) -> Problem | Table:
    """Return the problem that a file of cells states, or its table where nothing says what is sensitive.

    Parameters
    ----------
    lower
        A bound of :func:`~tacita.formats.table_file.read_table_file`, or the lower levels of
        :func:`~tacita.formats.petrenko.read_thesis`.
    rule, specified
        Further options of :func:`~tacita.formats.table_file.read_table_file`.
    """
    found = _read_cells(path, read, rule, lower, specified)
    return found if read.apriori is None else apply_apriori(found, parse_apriori(read.apriori))


def has_cells(path: Path, metadata: str | os.PathLike[str] | None = None) -> bool:
    """Return whether a file lists cells in columns: by the ending of its name, or by its metadata."""
    return not path.is_dir() and (has_columns(path) or find_metadata(path, metadata)[0] is not None)


def _read_cells(
    path: str | os.PathLike[str],
    read: ReadOptions,
    rule: Rule | str | None,
    lower: float | LowerLevels | None,
    specified: FileSpecification,
) -> Problem | Table:
    """Return what a file of cells states, before decisions on single cells; see :func:`read_case_file`."""
    if is_address(path):
        raise FormatError(
            "a database holds records, not a table with one row per cell",
            place=mask_passwords(str(path)),
            remedy="Make a table of them with tacita tabulate, or name them as microdata in a project",
        )
    path = Path(path)
    names = [
        name for name, value in (*specified.items(), ("rule", rule), ("lower", lower)) if value is not None
    ]
    if not path.exists():
        raise MissingFileError("there is no such file", place=path, remedy="check the path")
    refuse_options(path, read.given)
    if path.is_dir():
        if not any((path / name).exists() for name in THESIS):
            raise FormatError(
                f"a folder should hold a project.toml, or {', '.join(THESIS)} of the thesis program",
                place=path,
                remedy="name a file, or another folder",
            )
        _refuse(path, names, ("lower",))
        if isinstance(lower, float | int):
            raise InputError(f"lower: {lower} is no word for lower levels", place=path, remedy=SAY_LOWER)
        return read_thesis(path, lower=lower or "symmetric")
    if has_cells(path, read.metadata):
        if isinstance(lower, str):
            raise InputError(f"lower: '{lower}' is no bound", place=path, remedy="give a number")
        return read_table_file(path, read, rule=rule, lower=lower, **specified)
    _refuse(path, names, NUMBERS)
    if (suffix := path.suffix.lower()) == ".jj":
        return read_jj(path, decimals=read.decimals, counts=read.counts)
    if suffix in (".txt", ".dat"):
        with name_missing_header(path, named=True, numbers_alone=False):
            return read_nchs(path, decimals=read.decimals, counts=read.counts)
    known = ", ".join([".jj", ".toml", ".txt", *list_column_endings()])
    raise FormatError(
        f"no case has the ending '{suffix}'",
        place=path,
        remedy=f"Use one of {known}; or name the metadata of τ-ARGUS (.rda) that describe the file",
        options=["metadata"],
    )


def refuse_options(path: Path, given: Mapping[str, Any]) -> None:
    """Refuse reading options (delimiter, sheet, ...) that a file of this format does not have."""
    if not has_cells(path, given.get("metadata")):
        _refuse(path, given, DECISIONS if path.is_dir() else (*NUMBERS, *DECISIONS))


def _refuse(path: Path, names: Iterable[str], known: tuple[str, ...]) -> None:
    if strange := [name for name in names if name not in known]:
        raise InputError(
            f"this kind of file has no option '{strange[0]}', only {', '.join(known) or 'none'}", place=path
        )
