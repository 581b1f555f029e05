"""What the rows of a release in SDMX-CSV say, as columns of a release with one row per cell.

| ``OBS_VALUE`` | ``COMMENT_OBS`` | is |
|---|---|---|
| a number | | published |
| a number | ``±5`` | rounded or adjusted, the truth at most 5 away |
| | | suppressed |
| | ``[4...10]``, ``<=10``, ``>=4`` | an interval |

Whatever else readers see of a cell that is not published as it is would be more than the audit knows of:
other comments, a status of its own, an attribute. It is refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tacita.core.errors import ReleaseError, and_others
from tacita.core.exact import Mask
from tacita.core.release import Mark
from tacita.core.tables.columns import Columns
from tacita.core.tables.table import Table
from tacita.formats.published_cells import parse_published
from tacita.formats.sdmx.header import (
    COMMENT,
    CONFIDENTIALITY,
    DATASET_COMMENT,
    FIRST,
    STATUS,
    VALUE,
    find_dimensions,
    find_version,
)
from tacita.formats.sdmx.table import split_labels
from tacita.verify import NOTICES

NEAR = re.compile(r"±\s*(\d+(?:\.\d+)?)\Z")
MISSING = frozenset(["", "nan"])
TELLS_MORE = "readers would see what the audit cannot"


def convert_release(source: Columns, table: Table, bare: bool = False) -> Columns:
    """Return the columns of a release in SDMX-CSV as those of other releases; other files as they are.

    Parameters
    ----------
    bare
        Whether numbers are rounded or adjusted in a way that the user names, not the file.

    Raises
    ------
    ReleaseError
        The file tells more of a cell than a release can hold.
    """
    version = find_version(source.names)
    if version is None:
        return source
    plain = split_labels(source)
    if VALUE not in plain.names:
        raise ReleaseError(f"a release in SDMX-CSV without a column '{VALUE}'", remedy="add it")
    own = {dimension.name for dimension in table.structure.dimensions}
    texts = {name: np.array(plain.texts(name).to_pylist(), dtype=object) for name in plain.names}
    varying = {name for name, column in texts.items() if (column != column[0]).any()}
    dimensions = [
        name
        for name in dict.fromkeys([*find_dimensions(plain.names, VALUE), *own])
        if name in own or name in varying
    ]
    numbers = texts[VALUE]
    silent = np.array([str(text).strip().lower() in MISSING for text in numbers], dtype=bool)
    comments = texts.get(COMMENT, np.full(numbers.size, "", dtype=object))
    changed = silent | (comments != "")
    for name in sorted(varying - {*dimensions, VALUE, COMMENT, *CONFIDENTIALITY, *FIRST[version]}):
        _refuse_telling(plain, name, texts[name], silent if name == STATUS else changed, name == STATUS)
    notes = [*plain.notes, *_note_primary(texts, silent)]
    codes = {name: plain.data.column(name) for name in dimensions if name in plain.names}
    columns = (
        _write_bare(plain, numbers, comments, silent)
        if bare
        else _write_own(plain, numbers, comments, silent)
    )
    notice = _find_notice(texts)
    further = {"notice": pa.array([notice] * numbers.size)} if notice and not bare else {}
    return replace(plain, data=pa.table({**codes, **columns, **further}), notes=tuple(notes))


def _refuse_telling(source: Columns, name: str, column: NDArray[np.object_], rows: Mask, alike: bool) -> None:
    """Refuse an attribute of an SDMX-CSV release that says something of hidden cells, and not ``alike``."""
    said = column[rows]
    wrong = np.flatnonzero(said != (said[0] if alike and said.size else ""))
    if wrong.size:
        raise ReleaseError(
            f"column '{name}' says something of cells that are not published as they are"
            f"{and_others(wrong.size, 'row')}: {TELLS_MORE}",
            place=source.place(int(np.flatnonzero(rows)[wrong[0]])),
            remedy="leave it empty there" if not alike else "give all hidden cells the same one",
        )


def _note_primary(texts: dict[str, NDArray[np.object_]], silent: Mask) -> list[str]:
    """Return a note if an SDMX-CSV release tells primary cells from others."""
    notes = []
    for name in (name for name in CONFIDENTIALITY if name in texts):
        if len(set(texts[name][silent])) > 1:
            notes.append(f"{name} tells primary cells from others: readers learn which cells a rule hits")
    return notes


def _find_notice(texts: dict[str, NDArray[np.object_]]) -> str:
    comment = str(texts[DATASET_COMMENT][0]) if DATASET_COMMENT in texts else ""
    return next((notice for notice in NOTICES if notice and notice in comment), "")


def _write_own(
    source: Columns, numbers: NDArray[np.object_], comments: NDArray[np.object_], silent: Mask
) -> dict[str, pa.Array]:
    """Return mark, low, high and value of each row of an SDMX-CSV release."""
    rows = [
        _read_row(source, row, str(number).strip(), str(comment).strip(), bool(hidden))
        for row, (number, comment, hidden) in enumerate(zip(numbers, comments, silent, strict=True))
    ]
    names = ("mark", "low", "high", "value")
    return {
        name: pa.array(column, pa.string())
        for name, column in zip(names, zip(*rows, strict=True), strict=True)
    }


def _read_row(source: Columns, row: int, number: str, comment: str, hidden: bool) -> Sequence[str]:
    """Return mark, low, high and value of one row of an SDMX-CSV release."""
    if not hidden and not comment:
        return Mark.PUBLISHED.word, "", "", number
    if hidden and not comment:
        return Mark.SUPPRESSED.word, "", "", ""
    if not hidden and (near := NEAR.match(comment)):
        low, high = _find_ends(source, number, near[1])
        return Mark.ROUNDED.word, low, high, number
    if hidden:
        parsed = parse_published([comment], source.sign)
        if not parsed.unreadable[0] and parsed.marks[0] == Mark.INTERVAL:
            ends = (float(parsed.low[0]), float(parsed.high[0]))
            low, high = (_write_end(end, source.sign) for end in ends)
            return Mark.INTERVAL.word, low, high, ""
    raise ReleaseError(
        f"'{COMMENT}' holds neither ± and a distance beside a number, nor an interval in place of one: "
        f"{TELLS_MORE}",
        place=source.place(row),
        remedy="take it out",
    )


def _find_ends(source: Columns, number: str, radius: str) -> tuple[str, str]:
    """Return the ends of the window around a number of an SDMX-CSV release, as text, without rounding."""
    from decimal import Decimal

    middle, reach = Decimal(number.replace(",", ".") if source.sign == "," else number), Decimal(radius)
    ends = (f"{middle - reach:f}", f"{middle + reach:f}")
    low, high = (end.replace(".", ",") if source.sign == "," else end for end in ends)
    return low, high


def _write_end(end: float, decimal: str) -> str:
    if not np.isfinite(end):
        return ""
    text = repr(int(end)) if end == int(end) else repr(end)
    return text.replace(".", ",") if decimal == "," else text


def _write_bare(
    source: Columns, numbers: NDArray[np.object_], comments: NDArray[np.object_], silent: Mask
) -> dict[str, pa.Array]:
    """Return the value of each row of an SDMX-CSV release, whose comments may be intervals alone."""
    texts = np.where(silent, np.where(comments == "", "x", comments), numbers)
    if (wrong := np.flatnonzero(~silent & (comments != ""))).size:
        raise ReleaseError(
            f"the file says in '{COMMENT}' how near its numbers are",
            place=source.place(int(wrong[0])),
            remedy="give neither the base of the release nor its radius",
            options=["base", "radius"],
        )
    return {"value": pa.array(texts.tolist(), pa.string())}
