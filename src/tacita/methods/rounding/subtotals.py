"""Subtotals that rounding keeps within one base of the truth, though the table does not list them.

For a group ``G`` of cells with ``A = sum of a_i`` and base ``r``

    sum of v_i over G  in  { floor(A / r) r,  ceil(A / r) r }.

The sum becomes a cell of its own, ``s_G = sum of v_i``, which is rounded like the others. Where one equation
contains all of a group, ``s_G`` replaces it there. So a two-dimensional table with groups in rows and groups
in columns stays a network if those of one row or column are disjoint or nested, and then such a table always
exists. With groups that overlap, and blocks of rows and columns, it may not (Cox and George 1989).

Groups are written by codes: ``+`` adds them up, ``|`` lists several sums, a dimension that is not named has a
sum for each of its codes, and ``;`` separates:

    column=1+2+3, row=6|7|8|9;  row=1+2, column=1+2

From Python the same is a list of dictionaries, with the codes of one sum or a list of sums per dimension:

    [{"column": ["1", "2", "3"], "row": [["6"], ["7"]]}, {"row": ["1", "2"], "column": ["1", "2"]}]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from tacita.core.errors import InputError, did_you_mean
from tacita.core.exact import Cells, Units
from tacita.core.tables.structure import Structure
from tacita.core.tables.table import Table
from tacita.methods.options.phrases import quote_word, split_text, unquote_word
from tacita.methods.rounding.lattice import Lattice

if TYPE_CHECKING:
    from scipy.sparse import csr_array


Sums = Sequence[Mapping[str, Sequence[str] | Sequence[Sequence[str]]]]
"""Groups of cells: per dimension the codes that are added up, or several such lists of codes."""


def format_subtotals(sums: Sums) -> str:
    """Return the subtotals that rounding keeps, in the written form of the option."""
    phrases = []
    for group in [sums] if isinstance(sums, Mapping) else sums:
        pieces = []
        for name, codes in group.items():
            several = [codes] if all(isinstance(code, str) for code in codes) else codes
            choices = ("+".join(quote_word(str(code)) for code in choice) for choice in several)
            pieces.append(f"{quote_word(name)}={'|'.join(choices)}")
        phrases.append(", ".join(pieces))
    return "; ".join(phrases)


@dataclass(frozen=True, eq=False)
class Subtotal:
    """Cells whose sum is kept within one base."""

    name: str
    cells: Cells


def parse_subtotals(table: Table, text: str) -> tuple[Subtotal, ...]:
    """Return the subtotals that an option of rounding names; sums of a single cell are none."""
    structure = table.structure
    if not structure.dimensions:
        raise InputError("option 'subtotals' names codes, and this table has none", remedy="leave it out")
    found = [group for phrase in split_text(text, ";") for group in _parse_groups(structure, phrase)]
    if not found:
        raise InputError(
            f"option 'subtotals': '{text}' adds up no cells", remedy="write such as 'region=A+B'"
        )
    return tuple(found)


def _parse_groups(structure: Structure, phrase: str) -> list[Subtotal]:
    dimensions = structure.dimensions
    position = {d.name: k for k, d in enumerate(dimensions)}
    named: dict[int, list[list[str]]] = {}
    for piece in split_text(phrase, ","):
        name, equals, text = piece.partition("=")
        if not equals or unquote_word(name) not in position:
            hint = did_you_mean(unquote_word(name), position)
            raise InputError(
                f"option 'subtotals': '{piece}' names no dimension{hint}",
                remedy=f"write NAME=CODE+CODE with one of {', '.join(position)}",
            )
        at = position[unquote_word(name)]
        sums = [[unquote_word(code) for code in split_text(choice, "+")] for choice in split_text(text, "|")]
        if at in named:
            raise InputError(
                f"option 'subtotals': '{phrase}' names {unquote_word(name)} twice",
                remedy="list several sums as 'NAME=A+B|C+D', or separate them with ';'",
            )
        if not sums:
            raise InputError(f"option 'subtotals': '{piece}' names no code", remedy="write NAME=CODE+CODE")
        named[at] = sums
    others = [k for k in range(len(dimensions)) if k not in named]
    groups = []
    for choice in product(*named.values()):
        inside = np.ones(len(structure), dtype=bool)
        for k, codes in zip(named, choice, strict=True):
            own = [dimensions[k].representative[dimensions[k].index(code)] for code in codes]
            inside &= np.isin(structure.codes[:, k], own)
        cells = np.flatnonzero(inside)
        words = [f"{dimensions[k].name}={'+'.join(codes)}" for k, codes in zip(named, choice, strict=True)]
        rows, which = np.unique(structure.codes[cells][:, others], axis=0, return_inverse=True)
        for g in range(len(rows)):
            own = cells[which.ravel() == g]
            rest = [
                f"{dimensions[k].name}={dimensions[k].codes[c]}" for k, c in zip(others, rows[g], strict=True)
            ]
            if own.size > 1:
                groups.append(Subtotal(", ".join([*words, *rest]), own))
    return groups


def find_neighbours(table: Table, base: Units, group: Subtotal) -> tuple[int, int]:
    """Return the multiple at or below a subtotal to round, and its base, 0 where it is a multiple."""
    bases = np.unique(base[group.cells])
    if bases.size > 1:
        raise InputError(
            f"subtotal ({group.name}) adds up cells of different bases", remedy="give them one base"
        )
    total = int(table.units[group.cells].sum())
    floor = total // int(bases[0]) * int(bases[0])
    return floor, int(bases[0]) if total > floor else 0


def add_subtotals(points: Lattice, table: Table, groups: Sequence[Subtotal]) -> Lattice:
    """Return the lattice of a rounding with a cell for every subtotal."""
    from scipy.sparse import csr_array, eye_array, hstack, vstack

    if not groups:
        return points
    count = len(groups)
    sizes = np.array([group.cells.size for group in groups])
    entries = np.repeat(np.arange(count), sizes), np.concatenate([group.cells for group in groups])
    sums = csr_array((np.ones(entries[0].size, dtype=np.int64), entries), shape=(count, points.own))
    equations = csr_array(points.matrix)
    # Multiples of a group's equation may be subtracted from others: the system stays equivalent.
    taken = _find_places(csr_array(vstack([equations, sums])), sums, sizes)
    own = csr_array(hstack([sums, -eye_array(count, dtype=np.int64)]))
    wide = csr_array(hstack([equations, csr_array((equations.shape[0], count), dtype=np.int64)]))
    matrix = csr_array(csr_array(vstack([wide, own])) - taken @ own)
    matrix.eliminate_zeros()
    floors, bases = np.array(
        [find_neighbours(table, points.base, group) for group in groups], dtype=np.int64
    ).T
    rises = points.own + np.flatnonzero(bases > 0)
    return replace(
        points,
        matrix=matrix,
        rhs=np.concatenate([points.rhs, np.zeros(count, dtype=np.int64)]),
        base=np.concatenate([points.base, np.maximum(bases, 1)]),
        low=np.concatenate([points.low, floors]),
        cell=np.concatenate([points.cell, rises]),
        cost=np.concatenate([points.cost, np.zeros(rises.size)]),
    )


def _find_places(rows: csr_array, sums: csr_array, sizes: Cells) -> csr_array:
    """Return for each subtotal of a rounding one equation that contains all its cells with one sign, and
    that sign: of the smallest group around it, or else the first of the table.
    """
    from scipy.sparse import coo_array, csr_array

    overlap, equations = coo_array(rows @ sums.T), rows.shape[0] - sizes.size
    row, group, sign = overlap.row, overlap.col, np.sign(overlap.data)
    around = np.concatenate([np.full(equations, np.iinfo(np.int64).max), sizes])[row]
    earlier = (around > sizes[group]) | (row - equations < group)
    holds = np.flatnonzero((np.abs(overlap.data) == sizes[group]) & earlier)
    holds = holds[np.lexsort((row[holds], around[holds], group[holds]))]
    _, first = np.unique(group[holds], return_index=True)
    chosen = holds[first]
    return csr_array((sign[chosen], (row[chosen], group[chosen])), shape=(rows.shape[0], sizes.size))


def find_smallest_conflict(
    groups: Sequence[Subtotal], works: Callable[[Sequence[Subtotal]], bool]
) -> tuple[Subtotal, ...]:
    """Return subtotals that no rounding keeps together, though without any one of them it keeps the others.

    Groups are removed by halves first, which takes few tests where few of them conflict.
    """

    def find_conflict(sure: Sequence[Subtotal], doubtful: Sequence[Subtotal], grown: bool) -> list[Subtotal]:
        if grown and not works(sure):
            return []
        if len(doubtful) == 1:
            return list(doubtful)
        half = len(doubtful) // 2
        early, late = doubtful[:half], doubtful[half:]
        of_late = find_conflict([*sure, *early], late, True)
        of_early = find_conflict([*sure, *of_late], early, bool(of_late))
        return [*of_early, *of_late]

    return tuple(find_conflict([], list(groups), False))
