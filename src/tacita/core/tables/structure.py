"""The public structure of a table: its cells, their names, and the equations between them.

A cell is one code per dimension. For each dimension, each tree and each cell whose code has children in it
there is one equation ``cell = sum of the cells of its children``; cells that are not listed are empty, which
anyone knows, so they take no part.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacita.core.errors import InputError
from tacita.core.exact import Cells, freeze
from tacita.core.tables.dimension import Codes, Dimension
from tacita.core.tables.equations import Equations
from tacita.core.words import pluralize


@dataclass(frozen=True, eq=False)
class Part:
    """How a table is listed: one row per displayed line, with its codes and the cell it shows.

    Rows may repeat a cell (nodes with one child) and a linked problem has one part per table.
    """

    name: str
    dimensions: tuple[int, ...]
    codes: Codes
    cells: Cells


@dataclass(frozen=True, eq=False)
class Structure:
    """Cells, names and equations; no values, so it may be shown to anyone.

    ``codes[i, d]`` is the code of cell ``i`` in dimension ``d``. Systems that come without dimensions (JJ
    files) have ``labels`` instead.
    """

    dimensions: tuple[Dimension, ...]
    codes: Codes
    equations: Equations
    labels: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()

    def __len__(self) -> int:
        return self.equations.n_cells

    def name(self, cell: int) -> str:
        """Return the name of a cell: ``region=North, industry=Steel``."""
        if self.labels:
            return f"cell {self.labels[cell]}"
        return ", ".join(
            f"{dimension.name}={dimension.codes[code]}"
            for dimension, code in zip(self.dimensions, self.codes[cell], strict=True)
        )

    def names(self, cells: Iterable[int], most: int = 5) -> str:
        """Return a text with the names of a few cells, and the number of the rest."""
        listed = [int(c) for c in cells]
        shown = "; ".join(f"({self.name(c)})" for c in listed[:most])
        return shown + (f" and {len(listed) - most} more" if len(listed) > most else "")

    def key(self, cell: int) -> tuple[str, ...]:
        """Return the codes of a cell, or its label, as a tuple of texts."""
        if self.labels:
            return (self.labels[cell],)
        return tuple(d.codes[c] for d, c in zip(self.dimensions, self.codes[cell], strict=True))

    def same_cells(self, other: Structure) -> bool:
        """Return whether two tables list the same cells under the same names in the same order."""
        return self is other or (
            self.labels == other.labels
            and [(d.name, d.codes) for d in self.dimensions] == [(d.name, d.codes) for d in other.dimensions]
            and np.array_equal(self.codes, other.codes)
        )

    def find(self, /, *codes: str, **by_name: str) -> int:
        """Return the position of the cell with these codes, in order or by name; others are at totals."""
        if self.labels:
            wanted = str(codes[0] if codes else by_name.get("cell", ""))
            if wanted in self._label_position:
                return self._label_position[wanted]
            raise InputError(f"there is no cell '{wanted}' in this table")
        chosen = {d.name: d.total for d in self.dimensions}
        if len(codes) > len(self.dimensions) or any(name not in chosen for name in by_name):
            raise InputError(f"cells of this table are named by {', '.join(chosen)}")
        chosen.update({d.name: str(c) for d, c in zip(self.dimensions, codes, strict=False)})
        chosen.update({name: str(code) for name, code in by_name.items()})
        row = [d.representative[d.index(chosen[d.name])] for d in self.dimensions]
        found = self.locate(np.array([row], dtype=np.int32))[0]
        if found < 0:
            raise InputError(
                f"there is no cell ({', '.join(f'{k}={v}' for k, v in chosen.items())}): it is empty"
            )
        return int(found)

    @cached_property
    def _label_position(self) -> Mapping[str, int]:
        return {label: i for i, label in enumerate(self.labels)}

    @cached_property
    def _sorted_keys(self) -> tuple[Cells, Cells]:
        keys = make_keys(self.dimensions, self.codes)
        order = np.argsort(keys, kind="stable")
        return keys[order], order

    def locate(self, codes: Codes) -> Cells:
        """Return the positions of many cells given by representative codes; -1 where a cell is empty."""
        keys, order = self._sorted_keys
        return _search(keys, order, make_keys(self.dimensions, codes))

    def describe_equation(self, j: int) -> str:
        """Return an equation in words: ``(region=Total, sex=f) = sum of 12 cells along region``."""
        cells, total = self.equations.row(j)[0], self.equations.total_of(j)
        parts = pluralize(cells.size - 1, "cell")
        return f"({self.name(total)}) = sum of {parts}{self.describe_direction(j)}"

    def describe_direction(self, j: int) -> str:
        """Return along which dimension an equation adds up, `` along region``; "" where there is none."""
        cells, total = self.equations.row(j)[0], self.equations.total_of(j)
        if not self.dimensions or cells.size < 2:
            return ""
        other = next(int(c) for c in cells if c != total)
        return "".join(
            f" along {d.name}"
            for d, here, there in zip(self.dimensions, self.codes[total], self.codes[other], strict=True)
            if here != there
        )

    @cached_property
    def is_total(self) -> NDArray[np.bool_]:
        """A mask of the cells that are the total of some equation."""
        total = np.zeros(len(self), dtype=bool)
        total[self.equations.cells[self.equations.coefficients < 0]] = True
        return freeze(total)


def make_keys(dimensions: Sequence[Dimension], codes: Codes) -> Cells:
    """Return an integer key for each cell, from its row of codes; equal exactly for equal rows."""
    size = math.prod(len(dimension.codes) for dimension in dimensions)
    if size >= 2**62:
        raise InputError(
            f"{len(dimensions)} dimensions with {size:.3g} possible cells are too many to number",
            remedy="drop codes that do not occur from the hierarchies",
        )
    keys = np.zeros(codes.shape[0], dtype=np.int64)
    for d, dimension in enumerate(dimensions):
        keys = keys * len(dimension.codes) + codes[:, d]
    return keys


def find_distinct(keys: Cells) -> tuple[Cells, Cells]:
    """Return where each distinct cell key first occurs, in this order, and which of them each row has."""
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    return first[order], rank[which]


def build_equations(dimensions: Sequence[Dimension], codes: Codes) -> tuple[Equations, int]:
    """Return all equations between the listed cells of a table, and how many families lack their total.

    For each dimension and tree, the cells whose codes share a parent and agree in the other dimensions sum
    up to the cell at that parent. Where that one is not listed they are parts of the nearest one above it:
    readers can leave out a level as well as the table does.
    """
    keys = make_keys(dimensions, codes)
    order = np.argsort(keys, kind="stable")
    sorted_keys = keys[order]
    totals: list[Cells] = []
    parts: list[Cells] = []
    without_total = 0
    stride = 1
    for d in range(len(dimensions) - 1, -1, -1):
        for parent in dimensions[d].parents:
            above = parent[codes[:, d]]
            part = np.flatnonzero(above >= 0)
            above = above[part]
            total = np.full(part.size, -1, dtype=np.int64)
            wanted = keys[part] + (above.astype(np.int64) - codes[part, d]) * stride
            family = wanted.copy()
            climbing = np.arange(part.size)
            while climbing.size:
                total[climbing] = _search(sorted_keys, order, wanted[climbing])
                climbing = climbing[(total[climbing] < 0) & (parent[above[climbing]] >= 0)]
                higher = parent[above[climbing]]
                wanted[climbing] += (higher.astype(np.int64) - above[climbing]) * stride
                above[climbing] = higher
            without_total += np.unique(family[total < 0]).size
            totals.append(total[total >= 0])
            parts.append(part[total >= 0])
        stride *= len(dimensions[d].codes)
    return Equations.from_families(totals[::-1], parts[::-1], codes.shape[0]), without_total


def _search(sorted_keys: Cells, order: Cells, wanted: Cells) -> Cells:
    at = np.searchsorted(sorted_keys, wanted)
    at[at == sorted_keys.size] = 0
    if sorted_keys.size == 0:
        return np.full(wanted.size, -1, dtype=np.int64)
    return np.where(sorted_keys[at] == wanted, order[at], -1)
