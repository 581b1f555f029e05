"""Tables that differ from another one in a few values or codes; the totals follow.

Whoever types a table changes cells that are no total, adds and drops codes, and renames them. Each function
here returns a new :class:`Table`; the one it was given stays as it is. Cells keep their order: those that
both tables have come first, in the order of the old one, and :func:`moved` tells where each of them is.
Renaming moves nothing.

What stands behind the values (contributions, numbers of respondents) cannot follow a value that someone
types. Such tables are refused; :func:`without_contributors` is the way round.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

import numpy as np

from tacita.core.errors import DecimalSignError, HierarchyError, InputError, did_you_mean
from tacita.core.exact import LARGEST, MOST_DECIMALS, Cells, Units
from tacita.core.hierarchy import Hierarchy
from tacita.core.numerals import OTHER, is_number, plain, signs_told, tidy
from tacita.core.tables.dimension import Dimension
from tacita.core.tables.following import following
from tacita.core.tables.regrown import (
    count_of,
    free_cells,
    refuse_contributors,
    refuse_new_parts,
    regrown,
    row_name,
)
from tacita.core.tables.regrown import moved as moved
from tacita.core.tables.structure import Structure, cell_keys
from tacita.core.tables.table import Table
from tacita.core.words import pluralize


def with_values(table: Table, cells: Cells, units: Units) -> Table:
    """``a_i`` replaced for the listed cells, which are no totals; every total above them is summed anew.

    Parameters
    ----------
    cells, units
        Positions, and the new values in units of ``table.decimals``.

    Raises
    ------
    InputError
        A cell is a total or a structural zero, or contributions stand behind the table.
    """
    cells, units = np.asarray(cells, dtype=np.int64), np.asarray(units, dtype=np.int64)
    refuse_contributors(table)
    if table.structural is not None and (fixed := cells[table.structural[cells] & (units != 0)]).size:
        raise InputError(
            f"{table.structure.names(fixed)} can only be zero (a structural zero): leave or unmark it"
        )
    changed = table.units + following(table.structure, cells, units - table.units[cells])
    return replace(table, units=changed, count=count_of(table, changed))


def with_cells(table: Table, entries: Mapping[tuple[str, ...], int]) -> Table:
    """As :func:`with_values`, by codes (one per dimension); cells that were empty so far are listed then.

    Raises
    ------
    InputError
        Besides what :func:`with_values` refuses: a code is unknown, an empty cell is no leaf, or the table
        does not list all totals, so that nobody can tell which ones an empty cell would bring along.
    """
    if not entries:
        return table
    structure = table.structure
    units = np.array(list(entries.values()), dtype=np.int64)
    if structure.labels:
        return with_values(table, np.array([structure.find(*codes) for codes in entries]), units)
    codes = np.array([_positions(structure, key) for key in entries], dtype=np.int32)
    at = structure.locate(codes)
    listed = at >= 0
    known = with_values(table, at[listed], units[listed]) if listed.any() else table
    if listed.all():
        return known
    empty, added = codes[~listed], units[~listed]
    leaf = np.column_stack([d.is_leaf[empty[:, k]] for k, d in enumerate(structure.dimensions)]).all(axis=1)
    if not leaf.all():
        raise InputError(f"({row_name(structure.dimensions, empty[~leaf][0])}) is a sum: change its parts")
    old, values = free_cells(known)
    refuse_new_parts(structure.dimensions, old, empty)
    return regrown(known, structure.dimensions, np.concatenate([old, empty]), np.concatenate([values, added]))


def parse_entry(table: Table, text: str) -> tuple[int, int]:
    """A typed number as ``(units, decimals)``: as many decimals as the table has, or more if it needs them.

    A table takes finer values after ``table.with_decimals(decimals)``.
    """
    units, decimals = parse_entries(table, [text])
    return int(units[0]), decimals


def parse_entries(table: Table, texts: Sequence[str]) -> tuple[Units, int]:
    """Many typed numbers as units of the same number of decimals: see :func:`parse_entry`.

    They are written as people write them (see :mod:`tacita.core.numerals`); what one of them tells of the
    decimal sign goes for all. Where none tells, ``1,234`` and ``1.234`` are in thousands if the table holds
    counts; else they are refused, unless the table has such decimals itself, after a point.
    """
    tidied = [tidy(text) for text in texts]
    sign = _decimal_sign(table, tidied)
    numbers = [_typed(text, number, sign) for text, number in zip(texts, tidied, strict=True)]
    places = [_places(number, text) for number, text in zip(numbers, texts, strict=True)]
    decimals = max([table.decimals, *places])
    for number, needed, text in zip(numbers, places, texts, strict=True):
        if table.whole and needed:
            raise InputError(
                f"'{text}' is no whole number, and the cells of this table are counts: write a whole number, "
                "or say that the values are amounts"
            )
        if abs(number) * 10**decimals > LARGEST:
            raise InputError(
                f"'{text}' does not fit into 53 bits with {pluralize(decimals, 'decimal')}: use fewer of "
                "them or a larger unit, such as thousands"
            )
    return np.array([int(number * 10**decimals) for number in numbers], dtype=np.int64), decimals


def _decimal_sign(table: Table, texts: Sequence[str]) -> str:
    """The sign of the decimals of numbers that are typed or pasted together."""
    numbers = [text for text in texts if is_number(text) and ("," in text or "." in text)]
    told = signs_told(numbers)
    if len(told) == 2:
        point, comma = numbers[told["."]], numbers[told[","]]
        raise DecimalSignError(
            f"'{point}' has a decimal point, '{comma}' a decimal comma: write all numbers alike"
        )
    if told or not numbers:
        return next(iter(told), ".")
    first = numbers[0]
    written = "." if "." in first else ","
    if table.whole:
        return OTHER[written]
    if written == "." and table.decimals >= 3:
        return "."
    whole, part = first.split(written)
    raise DecimalSignError(
        f"'{first}' may be in thousands or have three decimals: write {whole}{part}, or {whole}.{part}0"
    )


def _typed(text: str, tidied: str, sign: str) -> Decimal:
    """A number as people type or paste it, exactly."""
    written = plain(tidied, sign)
    if written is None:
        raise InputError(
            f"'{text}' is not a number: write digits, with a point or a comma before decimals, such as 1234.5"
        )
    return Decimal(written)


def _places(number: Decimal, text: str) -> int:
    """Decimals that a number needs."""
    exponent = number.normalize().as_tuple().exponent
    places = max(0, -exponent) if isinstance(exponent, int) else 0
    if places > MOST_DECIMALS:
        raise InputError(f"'{text}' has more than {MOST_DECIMALS} decimals: round it")
    return places


def as_counts(table: Table, whole: bool) -> Table:
    """The same values, with everyone knowing that cells are counts, or not."""
    return replace(table, whole=whole)


def without_contributors(table: Table) -> Table:
    """The same values with nobody behind them: no contributions, no numbers of respondents or holdings."""
    return replace(table, count=None, population=None, contributions=None, holding_count=None, holdings=None)


def with_code(
    table: Table, dimension: str, code: str, parent: str | None = None, before: str | None = None
) -> Table:
    """One more code under ``parent`` (the total by default), all its cells zero and listed.

    The first code under a leaf is the same cell as that leaf, so it has its values.

    Parameters
    ----------
    before
        The code of the same parent that the new one precedes; by default it comes last.
    """
    d, tree = _only_tree(table, dimension)
    _refuse_code(table.structure.dimensions[d], code)
    above = parent
    if before is not None:
        above = tree.parent(before)
        if above is None or parent not in (None, above):
            raise InputError(
                f"'{dimension}': {code!r} cannot stand before {before!r}, which is not under "
                f"{parent or tree.total!r}: name a code of the same parent"
            )
    above = tree.total if above is None else above
    under = tree.index(above)
    end = under + 1 + int((tree.depth[under + 1 :] > tree.depth[under]).cumprod().sum())
    at = end if before is None else tree.index(before)
    shifted = tree.parents + (tree.parents >= at)
    grown = Hierarchy(
        (*tree.codes[:at], code, *tree.codes[at:]),
        np.concatenate([shifted[:at], [under], shifted[at:]]),
        tree.labels,
    )
    codes, units = free_cells(table)
    recoded = codes.copy()
    recoded[:, d] += recoded[:, d] >= at
    dimensions = _with_dimension(table.structure, d, Dimension(dimension, (grown,)))
    if not tree.children(above):
        recoded[codes[:, d] == under, d] = at
        return regrown(table, dimensions, recoded, units)
    beside = recoded.copy()
    beside[:, d] = at
    beside = beside[np.unique(cell_keys(dimensions, beside), return_index=True)[1]]
    refuse_new_parts(dimensions, recoded, beside)
    zeros = np.zeros(beside.shape[0], dtype=np.int64)
    return regrown(table, dimensions, np.concatenate([recoded, beside]), np.concatenate([units, zeros]))


def without_code(table: Table, dimension: str, code: str) -> Table:
    """One leaf code less; its values leave the totals.

    A code that is the only one under its parent is the same cell: there only the name goes.
    """
    d, tree = _only_tree(table, dimension)
    at = tree.index(code)
    if at == 0:
        raise InputError(f"'{dimension}': {code!r} is the total of all other codes and stays")
    if children := tree.children(code):
        raise InputError(
            f"'{dimension}': {code!r} is the sum of {', '.join(map(repr, children[:5]))}"
            f"{' and others' if len(children) > 5 else ''}: drop these first"
        )
    if len(tree) == 2:
        raise InputError(f"'{dimension}': {code!r} is the last code: a dimension needs one besides its total")
    above = np.delete(tree.parents, at)
    smaller = Hierarchy(tree.codes[:at] + tree.codes[at + 1 :], above - (above > at), tree.labels)
    codes, units = free_cells(table)
    if len(tree.children(tree.codes[tree.parents[at]])) == 1:
        codes[codes[:, d] == at, d] = tree.parents[at]
    stay = codes[:, d] != at
    if not stay.any():
        raise InputError(f"'{dimension}': all cells have the code {code!r}, none would be left: keep it")
    codes, units = codes[stay], units[stay]
    codes[:, d] -= codes[:, d] > at
    dimensions = _with_dimension(table.structure, d, Dimension(dimension, (smaller,)))
    return regrown(table, dimensions, codes, units)


def renamed_code(table: Table, dimension: str, old: str, new: str) -> Table:
    """One code under another name, in all trees; every cell stays where it is."""
    d = _dimension(table, dimension)
    own = table.structure.dimensions[d]
    own.index(old)
    if old == new:
        return table
    _refuse_code(own, new)
    trees = tuple(
        Hierarchy(
            tuple(new if code == old else code for code in tree.codes),
            tree.parents,
            {new if code == old else code: label for code, label in tree.labels.items()},
        )
        for tree in own.trees
    )
    dimensions = _with_dimension(table.structure, d, Dimension(dimension, trees))
    return replace(table, structure=replace(table.structure, dimensions=dimensions))


def renamed_dimension(table: Table, old: str, new: str) -> Table:
    """One dimension under another name; every cell stays where it is."""
    d = _dimension(table, old)
    if old == new:
        return table
    taken = [*(own.name for own in table.structure.dimensions), table.value_name, *table.columns]
    if not new.strip() or new in taken:
        raise InputError(
            f"dimension '{old}' cannot be called {new!r}: "
            + ("something of that name is there already" if new.strip() else "a name is not empty")
            + "; choose another name"
        )
    renamed = replace(table.structure.dimensions[d], name=new)
    dimensions = _with_dimension(table.structure, d, renamed)
    return replace(table, structure=replace(table.structure, dimensions=dimensions))


def _positions(structure: Structure, key: tuple[str, ...]) -> list[int]:
    """Representative codes of a cell given by one code per dimension."""
    if len(key) != len(structure.dimensions):
        names = ", ".join(dimension.name for dimension in structure.dimensions)
        raise InputError(f"{key} does not name a cell: give one code for each of {names}")
    return [int(d.representative[d.index(code)]) for d, code in zip(structure.dimensions, key, strict=True)]


def _dimension(table: Table, name: str) -> int:
    names = [dimension.name for dimension in table.structure.dimensions]
    if name not in names:
        known = ", ".join(names) or "none: it comes without dimensions (a JJ file)"
        raise InputError(
            f"the table has no dimension '{name}'{did_you_mean(name, names)}; its dimensions: {known}"
        )
    return names.index(name)


def _only_tree(table: Table, name: str) -> tuple[int, Hierarchy]:
    d = _dimension(table, name)
    trees = table.structure.dimensions[d].trees
    if len(trees) > 1:
        totals = ", ".join(repr(tree.total) for tree in trees)
        raise InputError(
            f"'{name}' has {len(trees)} trees ({totals}), which would all have to change: change them and "
            "build the table anew"
        )
    return d, trees[0]


def _refuse_code(dimension: Dimension, code: str) -> None:
    if code in dimension.position:
        raise HierarchyError(f"'{dimension.name}' has a code {code!r} already: choose another name")


def _with_dimension(structure: Structure, d: int, dimension: Dimension) -> tuple[Dimension, ...]:
    return (*structure.dimensions[:d], dimension, *structure.dimensions[d + 1 :])
