"""The dimensions of a table file, each with what a user says of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from tacita.core.errors import InputError
from tacita.core.hierarchy import Hierarchy
from tacita.formats.columns import read_columns
from tacita.formats.crosstab import one_row_per_cell
from tacita.formats.hierarchy import read_hierarchy
from tacita.formats.roles import find_roles
from tacita.formats.workbook import other_sheets_told


def dimensions_as_said(
    path: Path,
    by: Sequence[str] = (),
    trees: Mapping[str, Sequence[Path]] | None = None,
    totals: Mapping[str, str] | str | None = None,
    *,
    value: str | None = None,
    count: str | None = None,
    decimal: str = ".",
    sheet: str | None = None,
) -> dict[str, list[Hierarchy] | str | None]:
    """Each dimension with its classifications, or the code of its total, or None: to be found in the file.

    What is said of one dimension leaves the others as they are.

    Parameters
    ----------
    by
        Columns of codes; none: told by their names.
    trees
        Files of classifications, by dimension.
    totals
        Codes of totals, by dimension; or one code, for every dimension that has it.
    value, count, decimal, sheet
        How the file is read.

    Raises
    ------
    InputError
        A classification or a total is of no dimension.
    """
    trees, codes = trees or {}, totals if isinstance(totals, Mapping) else {}
    names = list(by)
    if isinstance(totals, str) or not names:
        named = {"value": value, "count": count}
        with other_sheets_told(path, sheet):
            read = read_columns(path, decimal=decimal, sheet=sheet)
            source = one_row_per_cell(read, path, names or None, named)
            names = names or list(find_roles(source, path, None, named, None).dimensions)
        if isinstance(totals, str):
            codes = {name: totals for name in names if totals in source.codes(name)[1]}
    if strange := [name for name in (*trees, *codes) if name not in names]:
        files = ", ".join(Path(file).name for file in trees.get(strange[0], ()))
        raise InputError(
            f"{path}: '{strange[0]}' is none of the dimensions {', '.join(names)}"
            f"{f', so {files} classifies nothing' if files else ''}; correct the name"
        )
    return {
        name: [read_hierarchy(file, codes.get(name)) for file in trees[name]]
        if name in trees
        else codes.get(name)
        for name in names
    }
