"""Tables with another classification of a dimension: parts stay as they are, totals are summed anew.

A code that the new tree makes a total may have values in the table already. They must be the sums of the
codes that stand under it there: a table is never built on two different numbers for one cell.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacita.core import exact
from tacita.core.errors import HierarchyError, InputError, and_others, did_you_mean
from tacita.core.exact import Cells, Units
from tacita.core.hierarchy import Hierarchy
from tacita.core.tables.build import name_row, to_representatives
from tacita.core.tables.dimension import Codes, Dimension
from tacita.core.tables.editing import (
    list_free_cells,
    rebuild,
    renamed_code,
    replace_dimension,
    require_one_tree,
    track_cells,
)
from tacita.core.tables.rollup import roll_up
from tacita.core.tables.structure import make_keys
from tacita.core.tables.table import Table


@dataclass(frozen=True, eq=False)
class Classified:
    """A table with another classification, and the place there of each cell that it had; -1 if gone."""

    table: Table
    places: Cells


def classify(table: Table, dimension: str, tree: Hierarchy) -> Classified:
    """Return the table with another tree of one dimension's codes; all totals are summed anew.

    Raises
    ------
    InputError
        A code with values has no place in the tree; a code that becomes a total has other values than the sum
        of its parts; or the table comes from records or lacks totals, see :mod:`tacita.core.tables.editing`.
    """
    before, before_tree = table, require_one_tree(table, dimension)[1]
    for old, new in _find_renamed(before_tree, tree).items():
        table = renamed_code(table, dimension, old, new)
    d, own = require_one_tree(table, dimension)
    codes, units = list_free_cells(table)
    place = np.array([tree.index(code) if code in tree else -1 for code in own.codes], dtype=np.int32)
    if lost := [own.codes[at] for at in np.unique(codes[:, d]).tolist() if place[at] < 0]:
        raise HierarchyError(
            f"code {lost[0]!r}{did_you_mean(lost[0], tree.codes)} of '{dimension}' has no place in the "
            f"classification{and_others(len(lost), 'code')}",
            remedy="Add it there, or remove it from the table.",
        )
    codes[:, d] = place[codes[:, d]]
    dimensions = replace_dimension(table.structure, d, Dimension(dimension, (tree,)))
    is_leaf = np.isin(codes[:, d], [tree.index(code) for code in tree.leaves])
    if not is_leaf.any():
        raise HierarchyError(
            f"no code of '{dimension}' that has values stands at the lowest level of the classification",
            remedy="Remove the empty codes under them.",
        )
    parts, sums = (codes[is_leaf], units[is_leaf]), (codes[~is_leaf], units[~is_leaf])
    _refuse_other_sums(dimensions, parts, sums, table.decimals)
    built = rebuild(table, dimensions, *parts)
    return Classified(built, track_classified(before, built, dimension, before_tree, tree))


def track_classified(before: Table, after: Table, dimension: str, old: Hierarchy, new: Hierarchy) -> Cells:
    """Return the places of a table's cells in one with another classification of a dimension; -1 if gone.

    A code is what it is the sum of: it is found again by its leaves, whatever it is called now.
    """
    names = {dimension: _find_same_sums(old, new)}
    return track_cells(before.structure, after.structure, np.arange(len(before)), names)


def _find_same_sums(old: Hierarchy, new: Hierarchy) -> dict[str, str]:
    """Return for codes of a tree those of another that are the sum of the same leaves.

    A leaf that has codes under it in the other tree is their sum. Leaves that only the other tree has do not
    count: nothing was known of them.
    """
    leaves, base = {*old.leaves}, {*old.leaves} & {*new.leaves}
    there: dict[frozenset[str], str] = {}
    for code in new.codes:
        there.setdefault(new.leaf_codes_of(code) & base, code)
    found = {}
    for code in old.codes:
        parts = old.leaf_codes_of(code)
        split = (new.leaf_codes_of(leaf) for leaf in parts - base if leaf in new)
        sums = frozenset[str]().union(parts & base, *split) & base
        if code in new and (new.leaf_codes_of(code) & base == sums or code in leaves):
            found[code] = code
        elif sums and sums in there:
            found[code] = there[sums]
    return found


def _find_renamed(old: Hierarchy, new: Hierarchy) -> dict[str, str]:
    """Return the codes that are called otherwise in another tree: a group of the same leaves that no code of
    its name is left of.
    """
    there = {new.leaf_codes_of(code): code for code in reversed(new.codes) if code not in old}
    gone = {old.leaf_codes_of(code): code for code in reversed(old.codes) if code not in new}
    return {code: there[leaves] for leaves, code in gone.items() if leaves in there}


def _refuse_other_sums(
    dimensions: tuple[Dimension, ...],
    parts: tuple[Codes, Units],
    sums: tuple[Codes, Units],
    decimals: int,
) -> None:
    """Refuse values of codes that become totals where they differ from the sums of their parts."""
    if not sums[1].size:
        return
    rolled = roll_up(dimensions, to_representatives(dimensions, parts[0]))
    keys = make_keys(dimensions, to_representatives(dimensions, sums[0]))
    at = np.minimum(np.searchsorted(rolled.keys, keys), rolled.keys.size - 1)
    found = np.where(rolled.keys[at] == keys, rolled.add(parts[1])[at], 0)
    if (wrong := np.flatnonzero(found != sums[1])).size:
        first = int(wrong[0])
        own, added = (exact.to_text(int(column[first]), decimals) for column in (sums[1], found))
        raise InputError(
            f"({name_row(dimensions, sums[0][first])}) is {own}, but the codes under it add up to {added}"
            f"{and_others(wrong.size, 'total')}",
            remedy="Move the missing code under it, correct the numbers, or group codes under a new name.",
        )
