"""Tables that differ from another one in a few values or codes; the totals follow.

Whoever types a table changes cells that are no total, adds and drops codes, and renames them. Each function
here returns a new :class:`Table`; the one it was given stays as it is. Cells keep their order: those that
both tables have come first, in the order of the old one, and :func:`track_cells` finds each of them.
Renaming moves nothing.

A table that lists all totals is determined by its *free* cells, those that are no total. So a table with more
or fewer cells, or with other codes, is built from them: they are changed, and rolled up again.

Contributions and numbers of respondents cannot follow a value that someone types. Such tables are refused;
:func:`without_contributors` drops them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacita.core.errors import HierarchyError, InputError, did_you_mean
from tacita.core.exact import Cells, Units
from tacita.core.hierarchy import Hierarchy
from tacita.core.tables.additivity import propagate_change
from tacita.core.tables.build import build_from_cells, name_row, to_representatives
from tacita.core.tables.dimension import Codes, Dimension
from tacita.core.tables.equations import Equations
from tacita.core.tables.rollup import roll_up
from tacita.core.tables.structure import Structure, make_keys
from tacita.core.tables.table import Table


def with_values(table: Table, cells: Cells, units: Units) -> Table:
    """Return the table with other values of some cells that are no totals; the totals above are summed anew.

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
    _refuse_contributors(table)
    if table.structural is not None and (fixed := cells[table.structural[cells] & (units != 0)]).size:
        raise InputError(
            f"{table.structure.names(fixed)} can only be zero (a structural zero)",
            remedy="leave or unmark it",
        )
    changed = table.units + propagate_change(table.structure, cells, units - table.units[cells])
    return replace(table, units=changed, count=_recount(table, changed))


def with_cells(table: Table, entries: Mapping[tuple[str, ...], int]) -> Table:
    """Return the table with other values of cells given by codes, one per dimension; see :func:`with_values`.

    Cells that were empty so far are listed then.

    Raises
    ------
    InputError
        Besides what :func:`with_values` refuses: a code is unknown, an empty cell is no leaf, or the table
        does not list all totals, so that it is open which ones an empty cell would bring along.
    """
    if not entries:
        return table
    structure = table.structure
    units = np.array(list(entries.values()), dtype=np.int64)
    if structure.labels:
        return with_values(table, np.array([structure.find(*codes) for codes in entries]), units)
    codes = np.array([_read_codes(structure, key) for key in entries], dtype=np.int32)
    at = structure.locate(codes)
    listed = at >= 0
    known = with_values(table, at[listed], units[listed]) if listed.any() else table
    if listed.all():
        return known
    empty, added = codes[~listed], units[~listed]
    leaf = np.column_stack([d.is_leaf[empty[:, k]] for k, d in enumerate(structure.dimensions)]).all(axis=1)
    if not leaf.all():
        name = name_row(structure.dimensions, empty[~leaf][0])
        raise InputError(f"({name}) is a sum", remedy="change its parts")
    old, values = list_free_cells(known)
    _refuse_new_parts(structure.dimensions, old, empty)
    return rebuild(known, structure.dimensions, np.concatenate([old, empty]), np.concatenate([values, added]))


def as_counts(table: Table, counts: bool) -> Table:
    """Return the table with the same values, of which everyone knows that they are counts, or not."""
    return replace(table, integer=counts)


def without_contributors(table: Table) -> Table:
    """Return the table without contributions and without numbers of respondents or holdings."""
    bare = replace(table, count=None, population=None, contributions=None, shadow=None)
    return replace(bare, holding_count=None, holdings=None)


def with_code(
    table: Table, dimension: str, code: str, parent: str | None = None, before: str | None = None
) -> Table:
    """Return the table with one more code under ``parent`` (the total by default), its cells zero and listed.

    The first code under a leaf is the same cell as that leaf, so it has its values.

    Parameters
    ----------
    before
        The code of the same parent that the new one precedes; by default it comes last.
    """
    d, tree = require_one_tree(table, dimension)
    _refuse_taken_code(table.structure.dimensions[d], code)
    above = parent
    if before is not None:
        above = tree.parent(before)
        if above is None or parent not in (None, above):
            raise InputError(
                f"{code!r} cannot stand before {before!r}, which is not under {parent or tree.total!r}",
                place=f"'{dimension}'",
                remedy="name a code of the same parent",
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
    codes, units = list_free_cells(table)
    recoded = codes.copy()
    recoded[:, d] += recoded[:, d] >= at
    dimensions = replace_dimension(table.structure, d, Dimension(dimension, (grown,)))
    if not tree.children(above):
        recoded[codes[:, d] == under, d] = at
        return rebuild(table, dimensions, recoded, units)
    beside = recoded.copy()
    beside[:, d] = at
    beside = beside[np.unique(make_keys(dimensions, beside), return_index=True)[1]]
    _refuse_new_parts(dimensions, recoded, beside)
    zeros = np.zeros(beside.shape[0], dtype=np.int64)
    return rebuild(table, dimensions, np.concatenate([recoded, beside]), np.concatenate([units, zeros]))


def without_code(table: Table, dimension: str, code: str) -> Table:
    """Return the table with one leaf code less; its values leave the totals.

    A code that is the only one under its parent is the same cell: there only the name goes.
    """
    d, tree = require_one_tree(table, dimension)
    at, place = tree.index(code), f"'{dimension}'"
    if at == 0:
        raise InputError(f"{code!r} is the total of all other codes and stays", place=place)
    if children := tree.children(code):
        more = " and others" if len(children) > 5 else ""
        parts = f"{', '.join(map(repr, children[:5]))}{more}"
        raise InputError(f"{code!r} is the sum of {parts}", place=place, remedy="drop these first")
    if len(tree) == 2:
        fault = f"{code!r} is the last code: a dimension needs one besides its total"
        raise InputError(fault, place=place)
    above = np.delete(tree.parents, at)
    smaller = Hierarchy(tree.codes[:at] + tree.codes[at + 1 :], above - (above > at), tree.labels)
    codes, units = list_free_cells(table)
    if len(tree.children(tree.codes[tree.parents[at]])) == 1:
        codes[codes[:, d] == at, d] = tree.parents[at]
    stay = codes[:, d] != at
    if not stay.any():
        fault = f"all cells have the code {code!r}, none would be left"
        raise InputError(fault, place=place, remedy="keep it")
    codes, units = codes[stay], units[stay]
    codes[:, d] -= codes[:, d] > at
    dimensions = replace_dimension(table.structure, d, Dimension(dimension, (smaller,)))
    return rebuild(table, dimensions, codes, units)


def renamed_code(table: Table, dimension: str, old: str, new: str) -> Table:
    """Return the table with one code under another name, in all trees; every cell stays where it is."""
    d = _find_dimension(table, dimension)
    own = table.structure.dimensions[d]
    own.index(old)
    if old == new:
        return table
    _refuse_taken_code(own, new)
    trees = tuple(
        Hierarchy(
            tuple(new if code == old else code for code in tree.codes),
            tree.parents,
            {new if code == old else code: label for code, label in tree.labels.items()},
        )
        for tree in own.trees
    )
    dimensions = replace_dimension(table.structure, d, Dimension(dimension, trees))
    return replace(table, structure=replace(table.structure, dimensions=dimensions))


def renamed_dimension(table: Table, old: str, new: str) -> Table:
    """Return the table with one dimension under another name; every cell stays where it is."""
    d = _find_dimension(table, old)
    if old == new:
        return table
    taken = [*(own.name for own in table.structure.dimensions), table.value_name, *table.columns]
    if not new.strip() or new in taken:
        why = "something of that name is there already" if new.strip() else "a name is not empty"
        raise InputError(f"dimension '{old}' cannot be called {new!r}: {why}", remedy="Choose another name.")
    renamed = replace(table.structure.dimensions[d], name=new)
    dimensions = replace_dimension(table.structure, d, renamed)
    return replace(table, structure=replace(table.structure, dimensions=dimensions))


def _read_codes(structure: Structure, key: tuple[str, ...]) -> list[int]:
    """Return the positions of a cell's representative codes, given one code per dimension."""
    if len(key) != len(structure.dimensions):
        names = ", ".join(dimension.name for dimension in structure.dimensions)
        raise InputError(f"{key} does not name a cell", remedy=f"give one code for each of {names}")
    return [int(d.representative[d.index(code)]) for d, code in zip(structure.dimensions, key, strict=True)]


def _find_dimension(table: Table, name: str) -> int:
    names = [dimension.name for dimension in table.structure.dimensions]
    if name not in names:
        known = ", ".join(names) or "none: it comes without dimensions (a JJ file)"
        raise InputError(
            f"the table has no dimension '{name}'{did_you_mean(name, names)}; its dimensions: {known}"
        )
    return names.index(name)


def require_one_tree(table: Table, name: str) -> tuple[int, Hierarchy]:
    """Return the position of a table's dimension and its only tree; refuse one that has several."""
    d = _find_dimension(table, name)
    trees = table.structure.dimensions[d].trees
    if len(trees) > 1:
        totals = ", ".join(repr(tree.total) for tree in trees)
        raise InputError(
            f"'{name}' has {len(trees)} trees ({totals}), which would all have to change",
            remedy="change them and build the table anew",
        )
    return d, trees[0]


def _refuse_taken_code(dimension: Dimension, code: str) -> None:
    if code in dimension.position:
        raise HierarchyError(f"'{dimension.name}' has a code {code!r} already", remedy="choose another name")


def replace_dimension(structure: Structure, d: int, dimension: Dimension) -> tuple[Dimension, ...]:
    """Return the dimensions of a structure with another one at position ``d``."""
    return (*structure.dimensions[:d], dimension, *structure.dimensions[d + 1 :])


def track_cells(
    old: Structure, new: Structure, cells: Cells, classified: Mapping[str, Mapping[str, str]] | None = None
) -> Cells:
    """Return the positions of an old table's cells in the edited one, by codes or labels; -1 if gone.

    A cell that stands for a chain of single children is where the finest of them is that still exists: when
    a code gets a sibling, decisions on its cell do not pass to the new total. ``classified`` says, for the
    dimensions with another classification, which code there stands for which one here.
    """
    cells = np.asarray(cells, dtype=np.int64)
    if classified is None and (old is new or old.same_cells(new)):
        return cells.copy()
    if old.labels:
        place = {label: i for i, label in enumerate(new.labels)}
        return np.array([place.get(old.labels[c], -1) for c in cells.tolist()], dtype=np.int64)
    axes = {dimension.name: d for d, dimension in enumerate(old.dimensions)}
    if set(axes) != {dimension.name for dimension in new.dimensions}:
        return np.full(cells.size, -1, dtype=np.int64)
    wanted = np.column_stack(
        [
            _recode(old.dimensions[axes[there.name]], there, (classified or {}).get(there.name))[
                old.codes[cells, axes[there.name]]
            ]
            for there in new.dimensions
        ]
    )
    found = new.locate(np.maximum(wanted, 0).astype(np.int32))
    return np.where((wanted >= 0).all(axis=1), found, -1)


def knows_contributors(table: Table) -> bool:
    """Return whether a table has contributions, or respondents that its values do not count themselves."""
    others = (table.population, table.contributions, table.holding_count, table.holdings, table.shadow)
    counts_itself = table.count is None or np.array_equal(table.count * 10**table.decimals, table.units)
    return not counts_itself or any(other is not None for other in others)


def _refuse_contributors(table: Table) -> None:
    if knows_contributors(table):
        raise InputError(
            "the table comes from records: the contributions and respondents behind its cells would not fit "
            "other values",
            remedy="Correct the records, or forget who contributed (without_contributors).",
            options=["contributors=forget"],
        )


def _recount(table: Table, units: Units) -> Units | None:
    """Return the respondents per cell of an edited table: None, or as many as its values count."""
    return None if table.count is None else units // 10**table.decimals


def list_free_cells(table: Table) -> tuple[Codes, Units]:
    """Return a table's cells that are no total, by finest codes of single-child chains, and their units.

    Refuses a table in which other cells are not all the sums of these: it would be open which totals a table
    with other cells has.
    """
    structure = table.structure
    _refuse_contributors(table)
    refuse_open_totals(table)
    free = ~structure.is_total
    finest = [_find_finest_codes(dimension) for dimension in structure.dimensions]
    codes = np.column_stack([fine[structure.codes[free, k]] for k, fine in enumerate(finest)])
    return codes.astype(np.int32), table.units[free]


def refuse_open_totals(table: Table) -> None:
    """Refuse a table that cells which are no totals do not determine: linked, or without some total."""
    structure = table.structure
    if not structure.dimensions:
        raise InputError("the table comes without dimensions (a JJ file): its cells are all there are")
    if len(structure.parts) > 1:
        names = ", ".join(repr(part.name) for part in structure.parts)
        raise InputError(
            f"the tables {names} are linked", remedy="change cells and codes in each, then link them again"
        )
    rolled = roll_up(structure.dimensions, structure.codes[~structure.is_total])
    at = structure.locate(rolled.codes)
    if (unlisted := np.flatnonzero(at < 0)).size:
        total = name_row(structure.dimensions, rolled.codes[unlisted[0]])
        raise InputError(
            f"the table leaves out totals such as ({total}), so it is open which of them new cells or codes "
            "would bring along",
            remedy="list all of them, or have all totals computed",
        )


def _refuse_new_parts(dimensions: tuple[Dimension, ...], free: Codes, new: Codes) -> None:
    """Refuse new cells of a table below one with a value of its own, which would not be their sum."""
    own = make_keys(dimensions, to_representatives(dimensions, free))
    above = roll_up(dimensions, to_representatives(dimensions, new)).keys
    if (wrong := np.flatnonzero(np.isin(own, above))).size:
        raise InputError(
            f"({name_row(dimensions, free[wrong[0]])}) is listed without parts, so its value would not be "
            "the sum of new ones",
            remedy="give its parts in the input, or leave it out",
        )


def rebuild(table: Table, dimensions: tuple[Dimension, ...], codes: Codes, units: Units) -> Table:
    """Return the table with these free cells and all totals above them; cells that it had come first."""
    rolled = roll_up(dimensions, to_representatives(dimensions, codes))
    n = rolled.keys.size
    bare = Structure(dimensions, rolled.codes, Equations.stack([], n))
    came = track_cells(table.structure, bare, np.arange(len(table)))
    source = np.full(n, -1, dtype=np.int64)
    # Backwards, so that of two cells which have become one the first keeps its place.
    source[came[came >= 0][::-1]] = np.flatnonzero(came >= 0)[::-1]
    order = np.argsort(np.where(source >= 0, source, len(table)), kind="stable")
    source, units = source[order], rolled.add(units)[order]
    structural = None
    if table.structural is not None:
        # Of two cells which have become one, what is known of either is known.
        structural = np.zeros(n, dtype=bool)
        structural[came[table.structural & (came >= 0)]] = True
        structural = structural[order]
    return build_from_cells(
        dimensions,
        rolled.codes[order],
        units,
        table.decimals,
        name=table.structure.parts[0].name if table.structure.parts else "table",
        integer=table.integer,
        count=_recount(table, units),
        structural=structural,
        columns={name: _carry_column(column, source) for name, column in table.columns.items()},
        value_name=table.value_name,
        notes=table.notes,
        warnings=table.warnings,
    )


def _recode(here: Dimension, there: Dimension, names: Mapping[str, str] | None = None) -> NDArray[np.int64]:
    """Return for each representative code its representative in another dimension, -1 where there is none.

    Codes have the same name there, or the one that ``names`` gives them.
    """
    recoded = np.full(len(here.codes), -1, dtype=np.int64)
    # Finer codes of a chain come later and so have the last word.
    for position, code in enumerate(here.codes):
        name = code if names is None else names.get(code, "")
        if name in there.position:
            recoded[here.representative[position]] = there.representative[there.position[name]]
    return recoded


def _find_finest_codes(dimension: Dimension) -> Codes:
    """Return for each representative code of a dimension the last of its chain of single children."""
    finest = np.arange(len(dimension.codes), dtype=np.int32)
    np.maximum.at(finest, dimension.representative, np.arange(len(dimension.codes), dtype=np.int32))
    return finest


def _carry_column(column: NDArray[Any], source: Cells) -> NDArray[Any]:
    """Return a table's further column for the edited table; NaN or empty text where a cell is new."""
    new = source < 0
    if not new.any():
        return column[source]
    text = column.dtype.kind in "OUS"
    carried = column[source].astype(object if text else np.float64)
    carried[new] = "" if text else np.nan
    return carried
