"""A release as one page for publication: the table as it is shown, and what its signs mean.

A table of two dimensions is one crosstab; with more, there is one per combination of the further codes, as
long as they are few and well filled, and else a list of cells. All hidden cells look the same: a page that
told primary ones apart would tell which cells a rule hits. The page runs no script and asks nothing of other
hosts, and what the release hides is nowhere in it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import product
from pathlib import Path

import numpy as np

from tacita.core import exact
from tacita.core.errors import InputError
from tacita.core.release import Mark, Release
from tacita.core.tables.dimension import Dimension
from tacita.core.tables.frames import find_part, list_rows
from tacita.core.tables.layout import Layout, Line, lay_out, list_lines
from tacita.core.tables.structure import Part
from tacita.formats.presentation import HIDDEN, USUAL_PRESENTATION, Presentation
from tacita.formats.published_cells import format_cells
from tacita.storage.atomic import write_text

STYLE = Path(__file__).with_name("release.css")
# Nothing but the style that stands in the page itself, whatever a code or a notice may hold.
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
MOST_CELLS = 200_000
MOST_CROSSTABS = 60
EMPTIEST = 4
"""Crosstabs have at most so many places per cell; beyond that a list is easier to read."""
ALWAYS = 2_000
"""Places that are no burden however few of them are filled."""


def write_html(
    release: Release,
    path: Path,
    labels: Mapping[str, str],
    presentation: Presentation = USUAL_PRESENTATION,
) -> Path:
    """Write a release as an HTML page for publication, its crosstabs and a legend, and return its path.

    Parameters
    ----------
    labels
        Of the whole release: its ``notice``, and why it is ``unaudited``.

    Raises
    ------
    InputError
        There are more cells than a browser shows well.
    """
    if len(release) > MOST_CELLS:
        raise InputError(
            f"a page shows at most {MOST_CELLS:,} cells well, and here are {len(release):,}",
            place=path,
            remedy="write .csv, .parquet or .xlsx instead",
        )
    return write_text(path, _build_page(release, labels, presentation), public=True)


def _build_page(release: Release, labels: Mapping[str, str], presentation: Presentation) -> str:
    structure = release.structure
    title = presentation.name(release)
    texts = _format_texts(release, presentation.mark)
    several = len(structure.parts) > 1
    body = [f"<h1>{escape(title)}</h1>"]
    if reason := labels.get("unaudited"):
        body.append(f'<p class="unaudited">Not proven safe. Written all the same: {escape(reason)}</p>')
    body += [f"<p>{escape(text)}</p>" for name, text in labels.items() if name != "unaudited"]
    body.append(_build_legend(release, presentation.mark))
    for number in range(max(1, len(structure.parts))):
        part = find_part(structure, number) if structure.dimensions else None
        if several and part is not None:
            body.append(f"<h2>{escape(part.name)}</h2>")
        body += _list_tables(release, number, part, texts)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>\n{STYLE.read_text(encoding='utf-8')}</style></head><body>\n"
        + "\n".join(body)
        + "\n</body></html>\n"
    )


def _list_tables(release: Release, number: int, part: Part | None, texts: Sequence[str]) -> Iterator[str]:
    """Yield the HTML of a table's crosstabs on the page for publication, or of one list of its cells."""
    if part is None:
        yield _build_list(release, number, texts)
        return
    dimensions = [release.structure.dimensions[d] for d in part.dimensions]
    if len(dimensions) > 2:
        # The two longest make the fewest crosstabs.
        dimensions.sort(key=lambda dimension: -len(dimension.codes))
    along, further = dimensions[:2], dimensions[2:]
    combinations = math.prod(len(dimension.codes) for dimension in further)
    places = combinations * math.prod(len(dimension.codes) for dimension in along)
    if combinations > MOST_CROSSTABS or places > max(ALWAYS, EMPTIEST * part.cells.size):
        yield _build_list(release, number, texts)
        return
    rows, columns = along[0].name, along[1].name if len(along) > 1 else None
    name = part.name if len(release.structure.parts) > 1 else None
    for codes in product(*(_list_codes(dimension) for dimension in further)):
        fixed = {d.name: code for d, code in zip(further, codes, strict=True)}
        shown = lay_out(release.structure, rows, columns, fixed, part=name)
        if (shown.cells >= 0).any():
            caption = ", ".join(f"{other} = {code}" for other, code in fixed.items())
            yield _build_crosstab(release, shown, caption, texts)


def _list_codes(dimension: Dimension) -> list[str]:
    return [line.code for line in list_lines(dimension)[1]]


def _build_crosstab(release: Release, shown: Layout, caption: str, texts: Sequence[str]) -> str:
    """Return a crosstab of a release as HTML for publication, without empty rows and columns."""
    filled = shown.cells >= 0
    across = np.flatnonzero(filled.any(axis=0)).tolist()
    dimensions = shown.structure.dimensions
    down = dimensions[shown.row_dimension] if shown.row_dimension is not None else None
    right = dimensions[shown.column_dimension] if shown.column_dimension is not None else None
    corner = " \\ ".join(d.name for d in (down, right) if d is not None)
    head = "".join(_build_heading("col", shown.columns[c], right) for c in across)
    rows = []
    for r in np.flatnonzero(filled.any(axis=1)).tolist():
        line = shown.rows[r]
        entries = "".join(_build_cell(release, int(shown.cells[r, c]), texts) for c in across)
        total = "" if line.leaf else ' class="total"'
        rows.append(f"<tr{total}>{_build_heading('row', line, down)}{entries}</tr>")
    above = f"<caption>{escape(caption)}</caption>" if caption else ""
    blank = "" if filled[:, across][filled.any(axis=1)].all() else "<p>Blank: nothing was counted there.</p>"
    return _wrap_scrolling(f"{above}<thead><tr><th>{escape(corner)}</th>{head}</tr></thead>", rows) + blank


def _build_heading(scope: str, line: Line, dimension: Dimension | None) -> str:
    indent = f' style="padding-left:{0.5 + 1.1 * line.depth:.1f}rem"' if scope == "row" and line.depth else ""
    return f'<th scope="{scope}"{indent}>{_build_code(line.code, dimension)}</th>'


def _build_code(code: str, dimension: Dimension | None) -> str:
    """Return a code as HTML for publication, with its label beside it unless the code says as much."""
    label = dimension.label(code) if dimension else ""
    meaning = f" <small>{escape(label)}</small>" if label and label != code else ""
    return f"{escape(code)}{meaning}"


def _build_list(release: Release, number: int, texts: Sequence[str]) -> str:
    """Return a release as an HTML table for publication, one row per cell: codes, and what is shown."""
    names, codes, cells = list_rows(release.structure, number)
    columns = [column.to_pylist() for column in codes]
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in (*names, "value"))
    named = {dimension.name: dimension for dimension in release.structure.dimensions}
    own = [named.get(name) for name in names]
    rows = []
    for r, cell in enumerate(cells.tolist()):
        headings = "".join(
            f'<th scope="row">{_build_code(column[r], dimension)}</th>'
            for column, dimension in zip(columns, own, strict=True)
        )
        rows.append(f"<tr>{headings}{_build_cell(release, cell, texts)}</tr>")
    return _wrap_scrolling(f"<thead><tr>{head}</tr></thead>", rows)


def _wrap_scrolling(top: str, rows: Sequence[str]) -> str:
    return f'<div class="scroll"><table>{top}<tbody>\n' + "\n".join(rows) + "\n</tbody></table></div>"


def _build_cell(release: Release, cell: int, texts: Sequence[str]) -> str:
    if cell < 0:
        return "<td></td>"
    changed = "" if release.marks[cell] == Mark.PUBLISHED else ' class="changed"'
    return f"<td{changed}>{escape(texts[cell])}</td>"


def _format_texts(release: Release, mark: str) -> list[str]:
    """Return the text of each cell on the HTML page for publication; numbers that are not exact carry ``≈``,
    and their distance from the truth unless it is one for all.
    """
    texts = format_cells(release, mark, mark)
    radius = _find_radius(release)
    for cell in np.flatnonzero(_find_inexact(release)).tolist():
        texts[cell] = f"≈{texts[cell]}"
        if radius is None:
            own = int(release.high[cell] - release.value[cell])
            texts[cell] += f" ±{exact.to_text(own, release.decimals)}"
    return texts


def _find_inexact(release: Release) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.asarray(release.shown & (release.marks != Mark.PUBLISHED))


def _find_radius(release: Release) -> int | None:
    """Return how far, in units, inexact numbers on the page for publication are from the truth at most, if
    that is the same for all; else None.
    """
    own = (release.high - release.value)[_find_inexact(release)]
    return int(own[0]) if own.size and (own == own[0]).all() else None


def _build_legend(release: Release, mark: str) -> str:
    entries = []
    if (release.marks == Mark.SUPPRESSED).any():
        entries.append((mark, HIDDEN))
    if (release.marks == Mark.INTERVAL).any():
        entries.append(("[4...10]", "the value lies between 4 and 10"))
    if (radius := _find_radius(release)) is not None:
        most = exact.to_text(radius, release.decimals)
        entries.append(("≈", f"rounded or adjusted: the true value is at most {most} away"))
    elif _find_inexact(release).any():
        entries.append(("≈20 ±3", "rounded or adjusted: the true value is at most 3 away from 20"))
    if not entries:
        return "<p>Every value is shown as it is.</p>"
    return "<dl>" + "".join(f"<dt>{escape(s)}</dt><dd>{escape(m)}</dd>" for s, m in entries) + "</dl>"
