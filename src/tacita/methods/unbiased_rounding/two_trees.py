"""The part of any table that is a network: two trees over the same inner cells.

Inner cells summed along one dimension after another give totals of totals: a tree. Another order gives
another tree. Inner cells with the totals of two trees are a network: flow runs down the first tree to the
inner cells and up the second one. Totals in neither tree are sums, so that a rounding of the network is one
of the whole table. Of ``I x J x K`` cells, for example, one tree has the totals over J, then over J and I,
the other those over I, then over I and K; those over K alone and over J and K are sums of rounded cells.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

import numpy as np

from tacita.core.exact import Cells, Mask, Units
from tacita.core.tables.equations import Equations
from tacita.core.tables.structure import Structure
from tacita.solvers.network import Network

NONE = -1
PROBE = 1 << 40


@dataclass(frozen=True, eq=False)
class TwoTrees:
    """A network of two trees.

    Attributes
    ----------
    network
        Its arcs; a total that is in both trees has an arc in each, with the same flow.
    cell
        The cell of each arc.
    n_parts
        Per cell, the number of cells of the network that it is the sum of; 1 for these themselves.
    """

    network: Network
    cell: Cells
    n_parts: Units

    @classmethod
    def of(cls, structure: Structure) -> TwoTrees | None:
        """Return the largest two trees for unbiased rounding, over dimensions summed first and last.

        None if some total is no sum of inner cells, or several independent ones, as in linked tables.
        """
        equations, inner = structure.equations, ~structure.is_total
        if not _sums_hold(equations, inner):
            return None
        label, best = _find_summed_dimensions(structure), None
        every = np.unique(label).tolist()
        for crossed in every:
            others = tuple(other for other in every if other != crossed)
            orders = sorted({others, others[::-1]})
            downs = [_build_tree(equations, inner, label, (*order, crossed), 1) for order in orders]
            ups = [_build_tree(equations, inner, label, (crossed, *order), -1) for order in orders]
            for down, up in product(downs, ups):
                size = int(((down >= 0) | (up >= 0)).sum())
                if best is None or size > best[0]:
                    best = size, down, up
        return None if best is None else cls._join(equations, inner, best[1], best[2])

    @classmethod
    def _join(cls, equations: Equations, inner: Mask, down: Cells, up: Cells) -> TwoTrees:
        n = inner.size
        parts, total_down, total_up = (
            np.flatnonzero(mask) for mask in (inner, ~inner & (down >= 0), ~inner & (up >= 0))
        )
        ground = total_down.size + total_up.size
        node_down, node_up = (np.full(n + 1, ground, dtype=np.int32) for _ in range(2))
        node_down[total_down] = np.arange(total_down.size)
        node_up[total_up] = np.arange(total_down.size, ground)
        tail = np.concatenate([node_down[down[parts]], node_down[down[total_down]], node_up[total_up]])
        head = np.concatenate([node_up[up[parts]], node_down[total_down], node_up[up[total_up]]])
        network = Network(tail, head, np.ones(ground, dtype=np.int8), ground + 1)
        kept = inner | (down >= 0) | (up >= 0)
        n_parts, _ = complete_totals(equations, kept, kept.astype(np.int64))
        return cls(network, np.concatenate([parts, total_down, total_up]), n_parts)


def complete_totals(equations: Equations, known: Mask, value: Units) -> tuple[Units, Mask]:
    """Return values of an unbiased rounding with those of totals of known cells, the least where there are
    several; and which cells are known then.
    """
    value, known = np.where(known, value, 0), known.copy()
    total, length = _find_totals(equations), np.diff(equations.starts)
    while True:
        known_parts = np.bincount(equations.row_of_entry, known[equations.cells], len(equations))
        rows = np.flatnonzero((total >= 0) & (known_parts == length - 1))
        rows = rows[~known[total[rows]]]
        if not rows.size:
            return value, known
        sums = np.asarray(equations.matrix[rows] @ value) - equations.rhs[rows]
        order = np.lexsort((sums, total[rows]))
        found, first = np.unique(total[rows][order], return_index=True)
        value[found], known[found] = sums[order][first], True


def _sums_hold(equations: Equations, inner: Mask) -> bool:
    """Return whether all equations of a table to round follow from sums of inner cells, tried at random."""
    random = np.random.default_rng(0).integers(0, PROBE, inner.size) * inner
    value, known = complete_totals(equations, inner, random)
    return bool(known.all()) and not equations.residuals(value).any()


def _find_summed_dimensions(structure: Structure) -> Cells:
    """Return per equation of a table to round the dimension that it sums over; 0 if there are none."""
    equations = structure.equations
    if not structure.dimensions:
        return np.zeros(len(equations), dtype=np.int64)
    first, last = equations.cells[equations.starts[:-1]], equations.cells[equations.starts[1:] - 1]
    return np.asarray(np.argmax(structure.codes[first] != structure.codes[last], axis=1))


def _build_tree(equations: Equations, inner: Mask, label: Cells, order: Iterable[int], way: int) -> Cells:
    """Return per cell of a tree for unbiased rounding the total above it, cell count at a root, or NONE.

    Dimensions are summed in order. An equation joins the tree when its parts are all roots and its total is
    not in the tree; where two have a part in common, the first (``way`` 1) or the last does.
    """
    n, row, total = inner.size, equations.row_of_entry, _find_totals(equations)
    above, length = np.where(inner, n, NONE), np.diff(equations.starts)
    rank = np.arange(len(equations)) * way
    for along in order:
        while True:
            roots = np.bincount(row, above[equations.cells] == n, len(equations))
            ready = (label == along) & (total >= 0) & (roots == length - 1)
            ready &= above[total] == NONE
            entry = np.flatnonzero(ready[row])
            if not entry.size:
                break
            claim = np.full(n, np.iinfo(np.int64).max)
            np.minimum.at(claim, equations.cells[entry], rank[row[entry]])
            lost = np.bincount(row[entry], claim[equations.cells[entry]] != rank[row[entry]], len(equations))
            entry = entry[lost[row[entry]] == 0]
            above[equations.cells[entry]] = total[row[entry]]
            above[total[row[entry]]] = n
    return above


def _find_totals(equations: Equations) -> Cells:
    """Return per equation of a table to round its total, or NONE where it is not one total and parts."""
    coefficients = equations.coefficients
    below = np.bincount(equations.row_of_entry, coefficients < 0, len(equations))
    plain = np.bincount(equations.row_of_entry, np.abs(coefficients) == 1, len(equations))
    total = np.full(len(equations), NONE, dtype=np.int64)
    negative = np.flatnonzero(coefficients < 0)
    total[equations.row_of_entry[negative]] = equations.cells[negative]
    return np.where((below == 1) & (plain == np.diff(equations.starts)), total, NONE)
