"""Integer changes of cells that satisfy the equations, by pieces of a convex piecewise linear loss.

    min  sum_p c_p k_p    s.t.  M sum_p sign_p k_p = rest,   0 <= k <= most,   k integer

A convex loss of integers is a sum of pieces of rising cost, so the cheapest choice uses them in order. On a
network it is a cheapest flow, elsewhere an integer program (:mod:`tacita.solvers.integer_programs`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tacita.core.exact import Cells, Floats, Units
from tacita.core.run import Run
from tacita.core.tables.structure import Structure
from tacita.solvers.cheapest_flow import Flow, find_cheapest_flow
from tacita.solvers.network import Network

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, eq=False)
class Pieces:
    """Changes of cells: piece ``p`` changes ``cell`` by ``sign`` for ``cost``, at most ``most`` times."""

    cell: Cells
    sign: Units
    most: Units
    cost: Floats

    def sum_changes(self, taken: Units, n_cells: int) -> Units:
        """Return the integer change of every cell when each piece of the loss is used so many times."""
        change = np.zeros(n_cells, dtype=np.int64)
        np.add.at(change, self.cell, self.sign * taken)
        return change

    def make_columns(self, matrix: csr_array) -> csr_array:
        """Return the integer program's matrix: what each piece of the loss adds to each row."""
        from scipy.sparse import csr_array

        rows = csr_array(matrix.tocsc()[:, self.cell].astype(np.float64))
        rows.data *= self.sign[rows.indices]
        return rows

    def find_cheapest_flow(self, network: Network, rest: Units, run: Run) -> Flow | None:
        """Return how often a cheapest flow on the network uses each piece of the loss, or None if no changes
        satisfy the equations.
        """
        supply = np.append(network.row_sign * rest, 0)
        supply[network.ground] = -supply.sum()
        tail, head, up = network.tail[self.cell], network.head[self.cell], self.sign > 0
        return find_cheapest_flow(
            network.n_nodes,
            np.where(up, tail, head),
            np.where(up, head, tail),
            self.most,
            self.cost,
            supply,
            run,
        )


def group_by_code(structure: Structure, cell: Cells) -> list[Cells]:
    """Return groups of variables for :func:`~tacita.solvers.integer_programs.solve_integer_program`: the
    positions of cells that share a code, for every code of every dimension.
    """
    groups = []
    for d in range(len(structure.dimensions)):
        code = structure.codes[cell, d]
        order = np.argsort(code, kind="stable")
        groups += np.split(order, np.flatnonzero(np.diff(code[order])) + 1)
    return groups
