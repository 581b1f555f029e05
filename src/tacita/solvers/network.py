"""A table as a network: equations are nodes, cells are arcs.

If every column of ``M`` has at most one +1 and one -1, once some equations are multiplied by -1, then
``M z = 0`` says that the moves ``z`` flow round the network without loss: a move of cell ``i`` by ``z_i > 0``
leaves equation ``tail[i]`` and enters equation ``head[i]``. One- and two-dimensional tables are networks, and
a two-dimensional table stays one when one of its dimensions has a hierarchy. Then attackers' problems are
maximum flows.

A cell in one equation ends at the *ground*, a node of its own after the last equation, whose balance follows
from all others. A cell in no equation is a loop at the ground.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tacita.core.exact import Mask

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array

Nodes = NDArray[np.int32]
Signs = NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class Network:
    """Cells as arcs between equations.

    Attributes
    ----------
    tail, head
        Per cell the nodes that ``z_i > 0`` leaves and enters.
    row_sign
        Per equation the factor that makes column ``i`` of ``M`` +1 at ``tail[i]`` and -1 at ``head[i]``; 0
        for an equation that follows from the others and is no node.
    n_nodes
        Equations and the ground, which is the last node.
    """

    tail: Nodes
    head: Nodes
    row_sign: Signs
    n_nodes: int

    @property
    def ground(self) -> int:
        """The number of the network's last node, at which cells in fewer than two equations end."""
        return self.n_nodes - 1

    @cached_property
    def grounded(self) -> bool:
        """Whether some cell of the network joins the ground with another node."""
        return bool(((self.tail == self.ground) != (self.head == self.ground)).any())

    @cached_property
    def joined(self) -> NDArray[np.int64]:
        """The number of nodes connected with each node of the network, itself included."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        arcs = coo_array((np.ones(self.tail.size, np.int8), (self.tail, self.head)), (self.n_nodes,) * 2)
        _, part = connected_components(arcs, directed=False)
        return np.bincount(part)[part]

    @classmethod
    def of(cls, matrix: csc_array | csr_array) -> Network | None:
        """Return the table of equations ``M`` as a network, or None if it is no network.

        Where cells are in more than two equations, equations that follow from others are left out: with a
        hierarchy in one of two dimensions the row of a subtotal is the sum of the rows of its parts.
        """
        matrix = _to_canonical(matrix)
        if (np.abs(matrix.data) != 1).any():
            return None
        implied = np.zeros(matrix.shape[0], dtype=bool)
        if (np.diff(matrix.indptr) > 2).any():
            implied = _find_implied_rows(matrix)
            matrix = _empty_rows(matrix, implied)
            if (np.diff(matrix.indptr) > 2).any():
                return None
        sign = _find_row_signs(matrix)
        return None if sign is None else cls._from_signs(matrix, np.where(implied, 0, sign).astype(np.int8))

    @classmethod
    def _from_signs(cls, matrix: csc_array, sign: Signs) -> Network:
        """Return the network of equations whose signs are known: tail and head of every cell."""
        ground, n_cells = matrix.shape
        entries = np.diff(matrix.indptr)
        joined = np.flatnonzero(entries)
        at = matrix.indptr[joined]
        row = matrix.indices[at]
        other = np.where(entries[joined] == 2, matrix.indices.take(at + 1, mode="clip"), ground)
        leaves = (matrix.data[at] > 0) == (sign[row] > 0)
        tail, head = (np.full(n_cells, ground, dtype=np.int32) for _ in range(2))
        tail[joined], head[joined] = np.where(leaves, row, other), np.where(leaves, other, row)
        return cls(tail, head, sign, ground + 1)


def _to_canonical(matrix: csc_array | csr_array) -> csc_array:
    """Return a copy of the equations by columns, each entry once and none zero, to find the network."""
    own = matrix.tocsc(copy=True)
    own.sum_duplicates()
    own.eliminate_zeros()
    return own


def _find_row_signs(matrix: csc_array) -> Signs | None:
    """Return signs ``s`` of equations that make them a network, ``s_q m_qi = -s_r m_ri``, or None.

    Each row is a node twice, as it is and negated, joined with those that must have the same sign. Signs
    exist unless a row is connected with its own negation. A few columns per row connect nearly all of them;
    the others are only compared with the components.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    rows = matrix.shape[0]
    pair = matrix.indptr[:-1][np.diff(matrix.indptr) == 2]
    one, other = matrix.indices[pair], matrix.indices[pair + 1]
    alike = matrix.data[pair] != matrix.data[pair + 1]
    same = np.where(alike, other, other + rows)
    part, used = np.arange(2 * rows, dtype=np.int32), np.zeros(0, dtype=np.int64)
    while (apart := np.flatnonzero(part[one] != part[same])).size:
        chosen = np.full((2, 2 * rows), -1)
        chosen[0, part[one[apart]]] = chosen[1, part[same[apart]]] = apart
        used = np.union1d(used, chosen[chosen >= 0])
        start, end = one[used], same[used]
        ends = np.concatenate([start, start + rows]), np.concatenate([end, (end + rows) % (2 * rows)])
        joined = coo_array((np.ones(ends[0].size, dtype=np.int8), ends), shape=(2 * rows, 2 * rows))
        _, part = connected_components(joined, directed=False)
    as_it_is, negated = part[:rows], part[rows:]
    if (as_it_is == negated).any():
        return None
    return np.where(as_it_is < negated, 1, -1).astype(np.int8)


def _find_implied_rows(matrix: csc_array) -> Mask:
    """Return a mask of equations that follow from others, whose cells are in at least three equations.

    In row ``r`` of a subtotal, ``sum_c y_gc = y_gT``, every cell is replaced by the parts whose total it is.
    If what is left is a sum of complete rows, ``r`` follows from them. The rows used may be implied
    themselves, as long as no chain of such steps is a cycle.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    n_rows = matrix.shape[0]
    by_row = csr_array(matrix).astype(np.int64)
    crowded = np.diff(matrix.indptr) > 2
    length = np.diff(by_row.indptr)
    tried = np.flatnonzero((np.asarray(abs(by_row) @ crowded.astype(np.int64)) == length) & (length > 0))
    # A row of one part and one total has its total where the -1 is, like all others.
    upright = np.where(np.asarray((by_row > 0).sum(axis=1)) >= np.asarray((by_row < 0).sum(axis=1)), 1, -1)
    by_row.data *= np.repeat(upright, length)
    totals = csr_array((by_row < 0).astype(np.int64).T)
    itself = csr_array(
        (np.ones(tried.size, dtype=np.int64), (np.arange(tried.size), tried)), (tried.size, n_rows)
    )
    others = by_row[tried] @ totals
    used = csr_array(others - others * itself + itself)
    left = csr_array(used @ by_row)
    left.eliminate_zeros()
    overlap = csr_array(left @ by_row.T)
    complete = np.abs(overlap.data) == length[overlap.indices]
    overlap.data = np.where(complete, np.sign(overlap.data), 0)
    # Where totals are not among the cells a row may be all that is left of itself, which proves nothing.
    overlap = csr_array(overlap - overlap * itself)
    overlap.eliminate_zeros()
    rest = csr_array(left - overlap @ by_row)
    follows = np.asarray(abs(rest).sum(axis=1)) == 0
    implied = np.zeros(n_rows, dtype=bool)
    implied[tried[follows]] = True
    steps = csr_array(abs(used) + abs(overlap))[np.flatnonzero(follows)][:, tried[follows]]
    number, _ = connected_components(steps, directed=True, connection="strong")
    return implied if number == follows.sum() else np.zeros(n_rows, dtype=bool)


def _empty_rows(matrix: csc_array, dropped: Mask) -> csc_array:
    """Return the matrix of equations with some rows emptied, in the same shape."""
    thinner = matrix.copy()
    thinner.data = np.where(dropped[thinner.indices], 0, thinner.data)
    thinner.eliminate_zeros()
    return thinner
