"""Parse the rows of a release: what each publishes of its cell, in our own form or as others write it.

What a row tells readers beyond its window is refused: the audit would not see it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tacita.core.errors import InputError, ReleaseError, and_others
from tacita.core.exact import Cells, Floats, Mask
from tacita.core.release import Mark
from tacita.core.tables.columns import Columns
from tacita.core.tables.table import Table
from tacita.formats.published_cells import DASHES, parse_published
from tacita.publication.rounded_by_others import find_rounding_windows

WORDS = {mark.word: int(mark) for mark in Mark}


@dataclass(frozen=True, eq=False)
class ReleaseRows:
    """What each row of a file says of its cell; NaN where no number is shown."""

    marks: NDArray[np.uint8]
    low: Floats
    high: Floats
    value: Floats
    primary: Mask
    bare: Mask
    """Rounded numbers without a window of their own, which is then that of the base."""
    assumption: str = ""
    dashes: bool = False
    """Whether a dash stands in a row: it is read as a zero where the value is zero, and else as hidden."""


def parse_own_rows(source: Columns, base: float | None, radius: float | None) -> ReleaseRows:
    """Return what each row of our own release file publishes of its cell; refuse a row that says more."""
    codes, distinct = source.codes("mark")
    strange = [k for k, word in enumerate(distinct) if word.lower() not in WORDS]
    if strange:
        row = int(np.flatnonzero(codes == strange[0])[0])
        raise ReleaseError(
            f"mark {distinct[strange[0]]!r} is unknown",
            place=source.place(row),
            remedy=f"use one of {', '.join(WORDS)}",
        )
    marks = np.array([WORDS[word.lower()] for word in distinct], dtype=np.uint8)[codes]
    low, high, shown = (_read_numbers(source, name) for name in ("low", "high", "value"))
    exactly = marks == Mark.PUBLISHED
    hidden = marks == Mark.SUPPRESSED
    near = np.isin(marks, (Mark.ROUNDED, Mark.ADJUSTED))
    reach = base if base is not None else radius
    bare = (marks == Mark.ROUNDED) & np.isnan(low) & np.isnan(high) & (base is not None)
    if reach is not None:
        low = np.where(near & np.isnan(low), shown - reach, low)
        high = np.where(near & np.isnan(high), shown + reach, high)
    has_window = ~np.isnan(low) | ~np.isnan(high)
    wide = near & (high - low > 2 * (np.inf if reach is None else reach))
    for wrong, what, options in (
        (exactly & np.isnan(shown), "is published but has no value: give it", ()),
        (near & np.isnan(shown), "is rounded or adjusted but has no value: give it", ()),
        (hidden & ~np.isnan(shown), "is suppressed but has a value: take it out", ()),
        (hidden & has_window, "is suppressed but has low or high: mark it 'interval' or take them out", ()),
        ((marks == Mark.INTERVAL) & ~np.isnan(shown), "is an interval but has a value: take it out", ()),
        (
            (marks == Mark.INTERVAL) & ~has_window,
            "is an interval but has neither low nor high: give them",
            (),
        ),
        (
            near & (np.isnan(low) | np.isnan(high)),
            "is rounded or adjusted, but how far? Give low and high, or the base of the release",
            ("base",),
        ),
        (
            wide,
            "has a window wider than what is announced: readers know more than the file says: correct the "
            "window, or give neither the base of the release nor its radius, as the file says how far itself",
            ("base", "radius"),
        ),
        (low > high, "has low above high: correct it", ()),
    ):
        if wrong.any():
            place = source.place(int(np.flatnonzero(wrong)[0]))
            raise ReleaseError(f"the cell {what}", place=place, options=options)
    low = np.where(exactly, shown, np.where(np.isnan(low), -np.inf, low))
    high = np.where(exactly, shown, np.where(np.isnan(high), np.inf, high))
    return ReleaseRows(marks, low, high, shown, np.zeros(marks.size, dtype=bool), bare)


def _read_numbers(source: Columns, name: str) -> Floats:
    if name not in source.names:
        return np.full(source.data.num_rows, np.nan)
    numbers, missing = source.numbers(name)
    return np.where(missing, np.nan, numbers.astype(np.float64))


def parse_foreign_rows(
    source: Columns,
    table: Table,
    cells: Cells,
    name: str,
    base: float | None,
    radius: float | None,
) -> ReleaseRows:
    """Return what each row of another program's release file publishes of its cell, in column ``name``."""
    encoded = source.texts(name).combine_chunks().dictionary_encode()
    distinct = encoded.dictionary.to_pylist()
    at = encoded.indices.to_numpy()
    parsed = parse_published(distinct, source.sign, table.integer)
    if (wrong := np.flatnonzero(parsed.beside[at])).size:
        row = int(wrong[0])
        raise ReleaseError(
            "something stands beside the mark of "
            f"({table.name(int(cells[row]))}){and_others(wrong.size, 'cell')}, so every reader knows it",
            place=source.place(row),
            remedy="write the mark alone",
        )
    if (wrong := np.flatnonzero(parsed.unreadable[at])).size:
        row = int(wrong[0])
        raise ReleaseError(
            f"'{distinct[at[row]]}' is neither a number, nor a mark such as x, nor an interval such as "
            "[4...10]",
            place=source.place(row),
        )
    marks, low, high = parsed.marks[at].copy(), parsed.low[at].copy(), parsed.high[at].copy()
    # Many offices write a zero as a dash: a reader may take it for one, so the audit must.
    dashed = np.isin(at, [k for k, text in enumerate(distinct) if text.strip() in DASHES])
    dashed_zero = dashed & (table.units[cells] == 0)
    marks[dashed_zero], low[dashed_zero], high[dashed_zero] = Mark.PUBLISHED, 0.0, 0.0
    shown = np.where(marks == Mark.PUBLISHED, low, np.nan)
    reach = float(base if base is not None else radius or 0.0)
    if reach > 0:
        number = marks == Mark.PUBLISHED
        marks[number] = Mark.ROUNDED if base is not None else Mark.ADJUSTED
        low, high = np.where(number, low - reach, low), np.where(number, high + reach, high)
    bare = marks == Mark.ROUNDED
    return ReleaseRows(marks, low, high, shown, parsed.primary[at], bare, dashes=bool(dashed.any()))


def find_nothing_or_zero(source: Columns, name: str) -> Mask:
    """Return a mask of the rows of another program's release file that say nothing, zero, or a dash."""
    encoded = source.texts(name).combine_chunks().dictionary_encode()
    distinct = encoded.dictionary.to_pylist()
    parsed = parse_published(distinct, source.sign)
    zero = (parsed.marks == Mark.PUBLISHED) & (parsed.low == 0) & ~parsed.beside
    said = [text.strip() in ("", *DASHES) for text in distinct]
    return np.asarray((zero | said)[encoded.indices.to_numpy()])


def apply_rounding(
    rows: ReleaseRows, table: Table, cells: Cells, base: float | None, how: str | None
) -> ReleaseRows:
    """Return the rows of a release file with the intervals that readers infer from bare rounded numbers."""
    if base is None:
        if how is not None:
            raise InputError(
                "how numbers were rounded is given without the base of the release",
                remedy="give it too",
                options=["base"],
            )
        return rows
    at = np.flatnonzero(rows.bare)
    found = find_rounding_windows(table, cells[at], rows.value[at], base, how)
    low, high, marks, value = rows.low.copy(), rows.high.copy(), rows.marks.copy(), rows.value.copy()
    low[at], high[at] = found.low, found.high
    # A number that does not stand in the middle of its window is given as the window alone.
    aside = at[found.high - value[at] != value[at] - found.low]
    marks[aside], value[aside] = Mark.INTERVAL, np.nan
    assumption = found.assumption if at.size else ""
    return replace(rows, marks=marks, low=low, high=high, value=value, assumption=assumption)
