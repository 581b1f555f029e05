"""Whether the order in which a table lists its codes or rows tells of its values.

Of industries that are listed largest first, readers bound a hidden number by the numbers above and below it;
no audit considers that. So codes without a classification that stand in the order of the values of some
column are listed by code instead, as are rows of cells in the order of their values.

An order may be chance: codes of ``n`` different values stand in this order in one table out of ``n!``. The
*evidence* in bits is ``log2(n! / ties)``, with ``ties`` the number of orders of equal values, less the
logarithm of the number of orders that were tried. From :data:`FEWEST` codes and :data:`LEAST_EVIDENCE` bits
on codes are listed anew, which harms nothing if it was chance.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import lgamma, log, log2

import numpy as np
from numpy.typing import NDArray

from tacita.core.exact import Mask, Units
from tacita.core.tables.code_matrix import find_columns
from tacita.core.tables.dimension import Codes, Dimension
from tacita.core.tables.structure import make_keys
from tacita.core.tables.table import Table

FEWEST = 5
LEAST_EVIDENCE = 4.0
MOST_ENTRIES = 4_000_000
"""Numbers of a dimension by columns; of more, only the totals of its codes are looked at."""
BOUNDS = "readers who know that bound hidden numbers by those above and below"

Column = dict[str, str]
"""Codes of the other dimensions, by name; none for the totals of all of them."""


@dataclass(frozen=True)
class TellingOrder:
    """What the order of a table in its input tells.

    Attributes
    ----------
    sorted_by
        Dimensions whose codes are sorted by values, each with the column that these are in.
    rows
        Whether rows of cells are sorted by their values.
    """

    sorted_by: Mapping[str, Column]
    rows: bool

    @property
    def tells(self) -> bool:
        """Whether the order of a table tells anything of its values."""
        return self.rows or bool(self.sorted_by)

    @property
    def _texts(self) -> list[str]:
        texts = [describe_order(name, column) for name, column in self.sorted_by.items()]
        return [*texts, *(["rows are sorted by their values in the input"] if self.rows else [])]

    @property
    def notes(self) -> tuple[str, ...]:
        """What the owner of a table should know that is listed by code instead."""
        return tuple(
            f"{text}, and are listed by code: {BOUNDS} (order=input keeps it)" for text in self._texts
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the owner of a table should know that keeps its order."""
        return tuple(
            f"{text}, and keep this order: {BOUNDS}, which no audit considers; list them by code, unless "
            "nothing there is hidden"
            for text in self._texts
        )


def find_order(
    dimensions: Sequence[Dimension], shown: Codes, units: Units, missing: Mask, flat: Sequence[str]
) -> TellingOrder:
    """Return what the order of a table's codes and rows tells of its values.

    Parameters
    ----------
    flat
        The dimensions without a classification, whose codes stand in the order of the input.
    """
    sorted_by = {
        dimension.name: column
        for k, dimension in enumerate(dimensions)
        if dimension.name in flat
        and (column := next(find_telling_columns(dimensions, k, shown, units, missing), None)) is not None
    }
    return TellingOrder(sorted_by, is_listing_telling(dimensions, shown, units, missing))


def describe_order(dimension: str, column: Column) -> str:
    """Return what the codes of a table's dimension are sorted by, for a note or warning."""
    where = ", ".join(f"{name}={code}" for name, code in column.items())
    return f"codes of '{dimension}' are sorted by the values of {where or 'their totals'} in the input"


def list_by_code(table: Table) -> Table:
    """Return the table with its rows listed in the order of codes, dimension by dimension."""
    structure = table.structure
    parts = []
    for part in structure.parts:
        own = [structure.dimensions[d] for d in part.dimensions]
        order = np.argsort(make_keys(own, part.codes), kind="stable")
        parts.append(replace(part, codes=part.codes[order], cells=part.cells[order]))
    return replace(table, structure=replace(structure, parts=tuple(parts)))


def sort_codes(codes: Sequence[str]) -> list[str]:
    """Return the codes of a dimension in natural order: numbers in them by size, letters by the alphabet."""
    return sorted(codes, key=_split)


def find_telling_columns(
    dimensions: Sequence[Dimension], k: int, shown: Codes, units: Units, missing: Mask
) -> Iterator[Column]:
    """Yield the columns of a table by whose values the codes of dimension ``k`` are sorted.

    Codes that stand in natural order, or in its reverse, tell nothing. A last code may stand apart, such as
    "Other".

    Parameters
    ----------
    shown, units, missing
        Codes, value and whether it is missing, of each cell that is listed.
    """
    dimension = dimensions[k]
    total = dimension.index(dimension.total)
    present = np.unique(shown[:, k])
    parts = present[present != total]
    codes = [dimension.codes[code] for code in parts.tolist()]
    if parts.size < FEWEST or _is_natural(codes):
        return
    others, first, column = find_columns(dimensions, k, shown)
    is_part = shown[:, k] != total
    row = np.searchsorted(parts, shown[is_part, k])
    own = np.where(missing, 0, units)[is_part]
    is_total = np.array([d.index(d.total) for d in (dimensions[e] for e in others)], dtype=np.int32)
    # Sums of cells that are no totals of other dimensions.
    inner = (shown[is_part][:, others] != is_total).all(axis=1)
    sums = np.bincount(row[inner], weights=own[inner], minlength=parts.size)[:, None]
    values = sums.astype(np.float64)
    if parts.size * first.size <= MOST_ENTRIES:
        table = np.zeros((parts.size, first.size))
        table[row, column[is_part]] = own
        table[:, np.unique(column[missing])] = 0
        values = np.concatenate([values, table], axis=1)
    for found in _find_sorted(values):
        cell = shown[first[found - 1]]
        yield {dimensions[d].name: dimensions[d].codes[cell[d]] for d in others} if found else {}


def is_listing_telling(dimensions: Sequence[Dimension], shown: Codes, units: Units, missing: Mask) -> bool:
    """Return whether rows of cells stand in the order of their values, as a whole or code by code.

    Totals do not count: everyone knows that they exceed their parts.
    """
    totals = np.array([dimension.index(dimension.total) for dimension in dimensions], dtype=np.int32)
    inner = (shown != totals).all(axis=1)
    shown, units, missing = shown[inner], units[inner], missing[inner]
    keys = make_keys(dimensions, shown)
    if missing.any() or (keys[1:] >= keys[:-1]).all():
        return False
    for starts in ([0], np.flatnonzero(np.diff(shown[:, 0], prepend=-1)).tolist()):
        runs = [units[start:end] for start, end in pairwise([*starts, units.size])]
        for sign in (1, -1):
            if all((sign * np.diff(run) >= 0).all() for run in runs):
                bits = sum(_count_orders(run) for run in runs) - 2
                if units.size >= FEWEST and bits >= LEAST_EVIDENCE:
                    return True
    return False


def _find_sorted(values: NDArray[np.float64]) -> Iterator[int]:
    """Yield the columns whose values fall or rise from row to row, unless that is chance."""
    tried = 2 + log2(values.shape[1])
    for rows in (values, values[:-1]):
        if rows.shape[0] < FEWEST:
            continue
        step = np.diff(rows, axis=0)
        for column in np.flatnonzero((step >= 0).all(axis=0) | (step <= 0).all(axis=0)).tolist():
            if _count_orders(rows[:, column]) - tried >= LEAST_EVIDENCE:
                yield int(column)


def _count_orders(values: NDArray[np.float64] | Units) -> float:
    """Return the number of different orders of a table's values, in bits."""
    _, ties = np.unique(values, return_counts=True)
    return (lgamma(values.size + 1) - sum(lgamma(tie + 1) for tie in ties.tolist())) / log(2)


def _is_natural(codes: Sequence[str]) -> bool:
    """Return whether the codes of a dimension stand in an order that their names tell, or in its reverse."""
    numbers = [[float(number) for number in re.findall(r"\d+", code)] for code in codes]
    orders: list[list[object]] = [[_split(code) for code in codes]]
    if all(numbers):
        orders.append(list(numbers))
    for order in orders:
        ends = order[:-1] if len(order) > FEWEST else order
        for each in (order, ends):
            if each in (sorted(each), sorted(each, reverse=True)):  # type: ignore[type-var]
                return True
    return False


def _split(code: str) -> tuple[tuple[int, float, str], ...]:
    """Return a code of a dimension as its numbers and the text between them, to be compared in order."""
    parts = re.findall(r"\d+|\D+", code.casefold())
    return tuple((0, float(part), "") if part.isdecimal() else (1, 0.0, part) for part in parts)
