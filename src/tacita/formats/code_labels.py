"""Columns of labels beside those of codes, in files that list the cells of a release."""

from __future__ import annotations

from collections.abc import Sequence

from tacita.core.exact import Cells
from tacita.core.tables.dimension import Dimension
from tacita.core.tables.frames import list_rows
from tacita.core.tables.structure import Structure
from tacita.formats.published_cells import COLUMNS


def name_label_columns(dimensions: Sequence[Dimension]) -> dict[str, str]:
    """Return the column of labels for each dimension of a published table whose classification has any.

    ``_`` is added where a dimension has the name.
    """
    taken = {*COLUMNS, "table", *(dimension.name for dimension in dimensions)}
    names = {}
    for dimension in dimensions:
        if any(map(dimension.label, dimension.codes)):
            name = f"{dimension.name} label"
            while name in taken:
                name += "_"
            names[dimension.name] = name
            taken.add(name)
    return names


def list_labelled_rows(structure: Structure, part: int) -> tuple[list[str], list[list[str]], Cells]:
    """Return names and texts of a listed table's columns of codes, each followed by that of its labels if
    there are any, and the cell of each row.
    """
    own, codes, cells = list_rows(structure, part)
    labelled = name_label_columns(structure.dimensions)
    dimensions = {dimension.name: dimension for dimension in structure.dimensions}
    names: list[str] = []
    columns: list[list[str]] = []
    for name, column in zip(own, codes, strict=True):
        texts = column.to_pylist()
        names.append(name)
        columns.append(texts)
        if name in labelled:
            known = {code: dimensions[name].label(code) for code in set(texts)}
            names.append(labelled[name])
            columns.append([known[code] for code in texts])
    return names, columns, cells
