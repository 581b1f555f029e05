"""Lay out a release as tables are printed: its last dimension across, all others down, totals after parts.

Labels of a classification stand beside its codes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np

from tacita.core.errors import InputError
from tacita.core.exact import Cells
from tacita.core.release import Release
from tacita.core.tables.dimension import Dimension
from tacita.core.tables.frames import find_part
from tacita.core.tables.layout import list_lines
from tacita.core.tables.structure import Structure
from tacita.formats.code_labels import name_label_columns
from tacita.formats.csv import write_lines
from tacita.formats.escape import escape
from tacita.formats.presentation import Presentation
from tacita.formats.published_cells import format_cells

MOST_PLACES = 50_000_000
"""Of a crosstab that is written as text, filled or not."""


@dataclass(frozen=True, eq=False)
class CrosstabPage:
    """The headings of a printed crosstab, and where each cell stands: ``at[k]`` is row and column of
    ``cells[k]``, in the order of rows.
    """

    dimensions: tuple[Dimension, ...]
    rows: tuple[tuple[str, ...], ...]
    columns: tuple[str, ...]
    at: tuple[Cells, Cells]
    cells: Cells

    @property
    def down(self) -> tuple[Dimension, ...]:
        """The dimensions that run down the crosstab: all but the last, or the only one."""
        return self.dimensions[:-1] if len(self.dimensions) > 1 else self.dimensions

    @property
    def stub(self) -> tuple[str, ...]:
        """The headings of the crosstab's columns of codes and labels, on the left."""
        labelled = name_label_columns(self.dimensions)
        return tuple(
            heading
            for d in self.down
            for heading in (d.name, *((labelled[d.name],) if d.name in labelled else ()))
        )

    @property
    def column_labels(self) -> tuple[str, ...]:
        """The labels below the crosstab's column headings; none where the classification has none."""
        across = self.dimensions[-1]
        if len(self.dimensions) < 2 or across.name not in name_label_columns(self.dimensions):
            return ()
        return tuple(map(across.label, self.columns))

    def list_stubs(self) -> Iterator[tuple[str, ...]]:
        """Yield the codes and labels at the left of each row of the crosstab."""
        labelled = name_label_columns(self.dimensions)
        for codes in self.rows:
            yield tuple(
                text
                for d, code in zip(self.down, codes, strict=True)
                for text in (code, *((d.label(code),) if d.name in labelled else ()))
            )


def build_crosstab_page(structure: Structure, part: int = 0) -> CrosstabPage:
    """Return how one of the tables in a release is printed as a crosstab, without empty rows and columns.

    Raises
    ------
    InputError
        Its cells have no codes to lay them out by.
    """
    if structure.labels:
        raise InputError("cells without codes make no crosstab", remedy="write .csv, .xlsx or .html instead")
    shown = find_part(structure, part)
    dimensions = tuple(structure.dimensions[d] for d in shown.dimensions)
    ranks = np.column_stack(
        [np.argsort(list_lines(dimension)[0])[shown.codes[:, c]] for c, dimension in enumerate(dimensions)]
    )
    side = max(1, len(dimensions) - 1)
    _, first, down = np.unique(ranks[:, :side], axis=0, return_index=True, return_inverse=True)
    rows = tuple(
        tuple(dimensions[c].codes[shown.codes[row, c]] for c in range(side)) for row in first.tolist()
    )
    if len(dimensions) == 1:
        columns, across = ("value",), np.zeros(down.size, dtype=np.int64)
    else:
        _, top, across = np.unique(ranks[:, -1], return_index=True, return_inverse=True)
        columns = tuple(dimensions[-1].codes[code] for code in shown.codes[top, -1].tolist())
    order = np.lexsort((across, down.ravel()))
    at = (down.ravel()[order], across[order])
    return CrosstabPage(dimensions, rows, columns, at, shown.cells[order])


def write_crosstab_csv(
    release: Release, path: Path, labels: Mapping[str, str], presentation: Presentation
) -> Path:
    """Write a release for publication as CSV laid out as crosstabs, linked tables below each other.

    Parameters
    ----------
    labels
        Of the whole release: its ``notice``, and why it is ``unaudited``; lines below the table.

    Raises
    ------
    InputError
        Its cells have no codes, or fill so little of a crosstab that nobody could read it.
    """
    structure = release.structure
    parts = range(max(1, len(structure.parts)))
    pages = [build_crosstab_page(structure, part) for part in parts]
    if sum(len(page.rows) * len(page.columns) for page in pages) > MOST_PLACES:
        raise InputError(
            f"a crosstab has at most {MOST_PLACES:,} places", place=path, remedy="write .csv or .parquet"
        )
    texts = format_cells(release, presentation.mark, presentation.mark)
    lines: list[Sequence[str]] = [[presentation.title]] if presentation.title else []
    for part, page in zip(parts, pages, strict=True):
        if len(parts) > 1:
            lines += [*([[]] if part else []), [find_part(structure, part).name]]
        lines += _list_lines(page, texts)
    lines += [[f"{name}: {text}"] for name, text in labels.items()]
    return write_lines(path, [[escape(text) for text in line] for line in lines], public=True)


def _list_lines(page: CrosstabPage, texts: Sequence[str]) -> Iterator[list[str]]:
    """Yield the lines of a crosstab, headings first; what is empty is blank."""
    yield [*page.stub, *page.columns]
    if page.column_labels:
        yield [*[""] * len(page.stub), *page.column_labels]
    filled = {
        row: {column: cell for _, column, cell in group}
        for row, group in groupby(zip(*(each.tolist() for each in (*page.at, page.cells)), strict=True), _row)
    }
    for row, stub in enumerate(page.list_stubs()):
        own = filled.get(row, {})
        yield [*stub, *(texts[own[c]] if c in own else "" for c in range(len(page.columns)))]


def _row(place: tuple[int, int, int]) -> int:
    return place[0]
