"""Read crosstabs with several rows of headings: nested column headings are dimensions of their own.

|        | men   |       | women |       | Total |
|--------|-------|-------|-------|-------|-------|
| region | small | large | small | large |       |
| North  | 4     | 7     | 3     | 9     | 23    |

A heading holds for the columns to its right up to the next one, whether its cells are merged or blank. A
column without a lower heading is the total of its group, and one without an upper heading is a total over
groups. A heading over all columns names their dimension. Row headings in several columns are nested alike.
Totals between those that are shown are added without a value, since they follow from the others.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from tacita.core.errors import FormatError
from tacita.core.numerals import is_number, tidy
from tacita.core.tables.dimension import recognise_total
from tacita.formats.captions import are_years_or_numbers
from tacita.formats.published_cells import SUPPRESSED, parse_published

MOST_ROWS = 4
"""Rows of headings; more than that are something else."""
USUAL_TOTAL = "Total"
ROWS, COLUMNS = "row", "column"
"""Names of dimensions that have none."""

Merged = tuple[int, int, int, int]
"""First row and column, last row and column of merged cells, counted from 0."""


@dataclass(frozen=True)
class Headings:
    """The headings of a crosstab in a sheet.

    Attributes
    ----------
    top, below
        The first row of headings, and the first row below them.
    side
        How many columns on the left hold row headings.
    names
        The dimensions: of the row headings from the left, then of the column headings from above.
    columns
        The codes above each column of numbers, from above.
    """

    top: int
    below: int
    side: int
    names: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]


def list_totals_between(shown: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return the totals over nested headings of a sheet that follow from those shown and are not shown.

    >>> list_totals_between([("men", "small"), ("men", "large"), ("Total", "Total")])
    [('Total', 'small'), ('men', 'Total'), ('Total', 'large')]
    """
    depth = len(shown[0]) if shown else 0
    totals = [recognise_total(list(dict.fromkeys(codes[k] for codes in shown))) for k in range(depth)]
    known = [total for total in totals if total is not None]
    if len(known) < depth:
        return []
    every = (
        tuple(known[k] if chosen >> k & 1 else own for k, own in enumerate(codes))
        for codes in shown
        for chosen in range(1, 2**depth)
    )
    listed = set(shown)
    return list(dict.fromkeys(codes for codes in every if codes not in listed))


def find_headings(
    texts: Sequence[Sequence[str]], merged: Sequence[Merged], codes: Collection[str] = ()
) -> Headings | None:
    """Return the nested headings of a crosstab in a sheet, or None if it has one row of headings, or none.

    Parameters
    ----------
    codes
        Those of the table, if the sheet holds a release of it: ``4-10`` is an interval unless it is a code.

    Raises
    ------
    FormatError
        Two columns have the same headings, or a column of numbers has none.
    """
    top = _find_top(texts)
    if top is None:
        return None
    below = _find_below(texts, merged, top)
    if below - top < 2:
        return None
    side = _count_side(texts, below, codes)
    width = max(len(row) for row in texts[top:below])
    while width > side and not any(_get(texts, r, width - 1) for r in range(top, below)):
        width -= 1
    if width - side < 2:
        return None
    filled = _fill_headings(texts, merged, range(top, below), range(side, width))
    # A heading over all columns is no code: it names the dimension below it, or nothing.
    spanning = [len(set(row)) == 1 and row[0] != "" for row in filled]
    kept = [row for row, alone in zip(filled, spanning, strict=True) if not alone]
    if not kept:
        return None
    columns = _complete_codes(kept)
    named = _name_columns(filled, spanning)
    corner = [_name_row(texts, range(top, below), c) for c in range(side)]
    names = _make_different([*(name or ROWS for name in corner), *(name or COLUMNS for name in named)])
    if len(set(columns)) < len(columns):
        twice = next(codes for codes in columns if columns.count(codes) > 1)
        raise FormatError(f"two columns have the headings '{' / '.join(twice)}'", remedy="rename one of them")
    return Headings(top, below, side, names, tuple(columns))


def fill_row_headings(
    texts: Sequence[Sequence[str]], rows: Sequence[int], side: int
) -> list[tuple[str, ...]]:
    """Return the codes on the left of each row of a sheet: an outer heading holds until the next one, and a
    row without an inner heading is a total.
    """
    found: list[list[str]] = []
    outer = [""] * side
    for r in rows:
        for c in range(side):
            if own := _get(texts, r, c):
                # What is further in begins anew below another heading.
                outer = [*outer[:c], own, *[""] * (side - c - 1)]
        found.append(outer)
    totals = [
        recognise_total(list(dict.fromkeys(codes[c] for codes in found))) or USUAL_TOTAL for c in range(side)
    ]
    return [tuple(code or (totals[c] if c else "") for c, code in enumerate(codes)) for codes in found]


def _get(texts: Sequence[Sequence[str]], row: int, column: int) -> str:
    return texts[row][column] if row < len(texts) and column < len(texts[row]) else ""


def _find_top(texts: Sequence[Sequence[str]]) -> int | None:
    """Return the first row of a sheet with anything beside its first field, below which there is more."""
    for r, row in enumerate(texts[:-1]):
        if any(row[1:]):
            return r
    return None


def _find_below(texts: Sequence[Sequence[str]], merged: Sequence[Merged], top: int) -> int:
    """Return the first row of a sheet below its headings, which begin at ``top``."""
    r = top + 1
    while r < min(len(texts), top + MOST_ROWS) and _is_heading_row(texts, merged, top, r):
        r += 1
    return r


def _is_heading_row(texts: Sequence[Sequence[str]], merged: Sequence[Merged], top: int, row: int) -> bool:
    """Return whether a row of a sheet holds headings below other ones: more than they, and no numbers."""
    beside = [tidy(text) for text in texts[row][1:] if text]
    numbers = [text for text in beside if is_number(text)]
    if not beside or (numbers and not (len(numbers) == len(beside) and are_years_or_numbers(numbers))):
        return False
    named = any(_get(texts, r, 0) for r in range(top, row))
    covered = any(r0 < row <= r1 and c0 == 0 for r0, c0, r1, _ in merged)
    if _get(texts, row, 0) and (named or covered):
        return False
    # Lower headings stand where upper ones leave gaps; a row of the table stands below full headings.
    return any(text and not _get(texts, row - 1, c) for c, text in enumerate(texts[row]) if c > 0)


def _count_side(texts: Sequence[Sequence[str]], below: int, codes: Collection[str]) -> int:
    """Return how many columns on the left of a sheet hold row headings: the first, and others of words."""
    side = 1
    rows = [row for row in texts[below:] if any(row[1:])]
    while rows and side < max(map(len, rows)) - 1:
        entries = [tidy(row[side]) for row in rows if side < len(row) and row[side]]
        if not entries or any(_is_published(text, codes) for text in entries):
            break
        side += 1
    return side


def _is_published(text: str, codes: Collection[str]) -> bool:
    """Return whether a field of a sheet says something of a cell: a number, a mark, or an interval."""
    if is_number(text) or text.casefold() in SUPPRESSED:
        return True
    # Without codes to compare it with, '4-10' is one: a class of ages, or of sizes.
    classes = text in codes or (not codes and not text.startswith("["))
    return not classes and not parse_published([text]).unreadable[0]


def _fill_headings(
    texts: Sequence[Sequence[str]], merged: Sequence[Merged], rows: range, columns: range
) -> list[list[str]]:
    """Return the headings above each column of a sheet's numbers: outer ones hold until the next one."""
    found = []
    for r in rows:
        last = r == rows[-1]
        line: list[str] = []
        for c in columns:
            own = _get(texts, r, c)
            within = next(
                (each for each in merged if each[0] <= r <= each[2] and each[1] <= c <= each[3]), None
            )
            if within is not None and not own and within[0] == r:
                own = _get(texts, r, within[1])
            inherits = not own and not last and line and within is None
            # A heading further out that begins here ends those that are further in.
            if inherits and not any(_get(texts, above, c) for above in range(rows[0], r)):
                own = line[-1]
            line.append(own)
        found.append(line)
    return found


def _complete_codes(filled: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Return the codes above each column of a sheet, with those of totals where a heading is blank."""
    totals = [recognise_total(list(dict.fromkeys(row))) or USUAL_TOTAL for row in filled]
    columns = []
    for k, codes in enumerate(zip(*filled, strict=True)):
        if not any(codes):
            raise FormatError(f"column {k + 1} of the numbers has no heading", remedy="name it")
        own = [code or totals[row] for row, code in enumerate(codes)]
        # 'Total' over all rows of headings is the total of each.
        if len([code for code in codes if code]) == 1 and recognise_total([code for code in codes if code]):
            own = totals
        columns.append(tuple(own))
    return columns


def _name_columns(filled: Sequence[Sequence[str]], spanning: Sequence[bool]) -> list[str]:
    """Return the names of a sheet's column dimensions: a heading over all columns above their own."""
    names, waiting = [], ""
    for row, alone in zip(filled, spanning, strict=True):
        if alone:
            waiting = row[0]
        else:
            names.append(waiting)
            waiting = ""
    return names


def _name_row(texts: Sequence[Sequence[str]], rows: range, column: int) -> str:
    """Return the last text in a sheet's corner above a column of row headings."""
    return next((text for r in reversed(rows) if (text := _get(texts, r, column))), "")


def _make_different(names: Sequence[str]) -> tuple[str, ...]:
    found: list[str] = []
    for name in names:
        number, own = 2, name
        while own in found or own.casefold() == "value":
            own, number = f"{name} {number}", number + 1
        found.append(own)
    return tuple(found)
