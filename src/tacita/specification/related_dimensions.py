"""Dimensions of several projects by which their tables share cells that matching by name does not find.

One dimension may have two names, or group the codes of another: regions in one table, lands in the other.
Readers know such classifications. So tables are refused unless their records, or the numbers of their codes,
exclude it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from itertools import combinations

import numpy as np

from tacita.core.errors import InputError, TacitaError
from tacita.core.exact import Cells
from tacita.core.tables.table import Table
from tacita.specification.compile import read_data
from tacita.specification.sections import Source
from tacita.specification.specification import Specification

MOST_CODES = 12
"""Of dimensions with more codes, some sums are equal by chance: 12 codes have 4,096."""


def refuse_related(specifications: Mapping[str, Specification], tables: Mapping[str, Table]) -> None:
    """Refuse tables of projects that may share cells by dimensions which do not have the same name and total.

    Raises
    ------
    InputError
        The message names the two dimensions.
    """
    margins = {name: find_margins(table) for name, table in tables.items()}
    for one, other in combinations(tables, 2):
        _refuse_two_totals(one, tables[one], other, tables[other])
        for mine in sorted(_list_names(tables[one]) - _list_names(tables[other])):
            for theirs in sorted(_list_names(tables[other]) - _list_names(tables[one])):
                pair = f"'{mine}' of {one} and '{theirs}' of {other}"
                numbers = margins[one].get(mine, ())
                if len(numbers) > 2 and numbers == margins[other].get(theirs):
                    raise InputError(
                        f"{pair} have the same numbers: they seem to be one dimension by two names",
                        remedy="give it the same name and codes in both",
                    )
                apart = _are_apart_in_records((specifications[one], specifications[other]), mine, theirs)
                if apart or (
                    apart is None and _may_have_equal_sums(tables[one], mine, tables[other], theirs)
                ):
                    raise InputError(
                        f"codes of {pair} may be sums of each other, as of regions and lands"
                        + ("" if apart else ", and no records tell"),
                        remedy="give both projects one dimension with the same hierarchy, which has the "
                        "codes of both",
                    )


def _list_names(table: Table) -> set[str]:
    return {dimension.name for dimension in table.structure.dimensions}


def _refuse_two_totals(one: str, table: Table, other: str, another: Table) -> None:
    """Refuse a dimension of two tables in which the total of neither is a code of the other."""
    theirs = {dimension.name: dimension for dimension in another.structure.dimensions}
    for mine in table.structure.dimensions:
        same = theirs.get(mine.name)
        if same is not None and mine.total not in same.position and same.total not in mine.position:
            raise InputError(
                f"the total of '{mine.name}' is {mine.total!r} in {one} and {same.total!r} in {other}: how "
                "its codes are related cannot be known",
                remedy="give both projects the same hierarchy of it",
            )


def _are_apart_in_records(specifications: tuple[Specification, ...], mine: str, theirs: str) -> bool | None:
    """Return whether some codes of a column occur only with some of another, and these only with them; None
    if no records with both columns can be read.
    """
    found = [
        _count_components(table) > 1
        for specification in specifications
        for table in _tabulate_pairs(specification, mine, theirs)
    ]
    return any(found) if found else None


def _tabulate_pairs(specification: Specification, mine: str, theirs: str) -> Iterator[Table]:
    """Yield the counts of records by two columns, of each source of a project that has both."""
    for source in specification.sources:
        if source.microdata is None:
            continue
        counted = Source(
            microdata=source.microdata,
            by=(mine, theirs),
            metadata=source.metadata,
            sheet=source.sheet,
            decimal=source.decimal,
            where=source.where,
        )
        try:
            yield read_data(Specification(table=counted, folder=specification.folder))
        except (TacitaError, OSError):
            # Most often the source lacks a column; then another one tells, or none.
            continue


def _count_components(table: Table) -> int:
    """Return the number of parts of a table of two dimensions that have no row and no column in common.

    Each part is a sum of codes of either dimension. A single one leaves the total alone.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    first, second = table.structure.dimensions
    rows, columns = table.structure.codes.T
    there = first.is_leaf[rows] & second.is_leaf[columns] & (table.units != 0)
    _, rows = np.unique(rows[there], return_inverse=True)
    _, columns = np.unique(columns[there], return_inverse=True)
    columns = columns + rows.max(initial=-1) + 1
    size = int(columns.max(initial=-1)) + 1
    links = coo_array((np.ones(rows.size), (rows, columns)), shape=(size, size))
    number, _ = connected_components(links, directed=False)
    return int(number)


def _may_have_equal_sums(one: Table, mine: str, other: Table, theirs: str) -> bool:
    """Return whether some codes of a dimension may have the same sum as some of another, unless all do."""
    sums = _list_sums(one, mine), _list_sums(other, theirs)
    return None in sums or not (sums[0] or set()).isdisjoint(sums[1] or ())


def _list_sums(table: Table, name: str) -> set[Decimal] | None:
    """Return the sums of some but not all finest codes of a dimension; None if they are too many to tell."""
    d = [dimension.name for dimension in table.structure.dimensions].index(name)
    dimension = table.structure.dimensions[d]
    cells = _find_margin(table, d)
    codes = table.structure.codes[cells, d]
    finest = _read_numbers(table, cells[dimension.is_leaf[codes]])
    total = _read_numbers(table, cells[codes == dimension.representative[dimension.index(dimension.total)]])
    numbers = [number for number in finest if number]
    if len(numbers) > MOST_CODES or any(number < 0 for number in numbers) or [sum(numbers)] != total:
        return None
    sums = {Decimal(0)}
    for number in numbers:
        sums |= {number + each for each in sums}
    return sums - {Decimal(0), *total}


def find_margins(table: Table) -> dict[str, tuple[Decimal, ...]]:
    """Return the numbers of each dimension's codes, all others at their totals, from the smallest to the
    largest; without dimensions that show none.
    """
    found = {
        dimension.name: tuple(sorted(_read_numbers(table, _find_margin(table, d))))
        for d, dimension in enumerate(table.structure.dimensions)
    }
    return {name: numbers for name, numbers in found.items() if numbers}


def _find_margin(table: Table, d: int) -> Cells:
    """Return the cells of a table at the totals of all dimensions but one."""
    at = np.ones(len(table), dtype=bool)
    for other, each in enumerate(table.structure.dimensions):
        at &= (table.structure.codes[:, other] == each.representative[each.index(each.total)]) | (other == d)
    return np.flatnonzero(at)


def _read_numbers(table: Table, cells: Cells) -> list[Decimal]:
    return [Decimal(unit).scaleb(-table.decimals).normalize() for unit in table.units[cells].tolist()]
