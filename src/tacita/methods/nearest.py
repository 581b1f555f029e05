"""The cheapest point of a lattice: a flow where the equations are a network, else an integer program.

With one base ``r`` for all cells the steps ``x`` satisfy ``M x = (b - M low) / r``, all coefficients -1, 0 or
1. On a network that is a flow with whole supplies and capacities 1, whose cheapest is whole by itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacita.engine.network import Network
from tacita.engine.whole import solve_whole
from tacita.errors import InfeasibleError
from tacita.exact import Cells, Units
from tacita.methods.lattice import Lattice
from tacita.run import Run
from tacita.solvers.cheapest_flow import cheapest_flow
from tacita.solvers.program import Program
from tacita.tables.structure import Structure

NOISE = 1e-9


@dataclass(frozen=True, eq=False)
class Nearest:
    """The table's numbers, what they cost, and what no other point can cost less than."""

    value: Units
    cost: float
    bound: float

    @property
    def proven(self) -> bool:
        return self.cost <= self.bound + NOISE * max(1.0, abs(self.cost))


def nearest(lattice: Lattice, structure: Structure, run: Run) -> Nearest | None:
    """The cheapest point; None if there is none at all, which is then proven."""
    run = run.retold(lambda cost: cost + lattice.constant)
    base = np.unique(lattice.base[lattice.cell])
    rest = lattice.rest
    if not lattice.cell.size:
        return None if rest.any() else _found(lattice, np.zeros(0, dtype=np.int64), -np.inf)
    if base.size == 1:
        if (rest % base[0]).any():
            return None
        network = Network.of(lattice.matrix)
        if network is not None:
            return _by_flow(lattice, network, rest // base[0], run)
    return _by_program(lattice, rest, structure, run)


def _by_flow(lattice: Lattice, network: Network, rest: Units, run: Run) -> Nearest | None:
    supply = np.append(network.row_sign * rest, 0)
    supply[network.ground] = -supply.sum()
    flow = cheapest_flow(
        network.n_nodes,
        network.tail[lattice.cell],
        network.head[lattice.cell],
        np.ones(lattice.cell.size, dtype=np.int64),
        lattice.cost,
        supply,
        run,
    )
    return None if flow is None else _found(lattice, flow.amount, flow.bound)


def _by_program(lattice: Lattice, rest: Units, structure: Structure, run: Run) -> Nearest | None:
    from scipy.sparse import csr_array

    rows = csr_array(lattice.matrix[:, lattice.cell])
    rows.data *= lattice.base[lattice.cell][rows.indices]
    # Coefficients as small as can be: what every entry of a row is a multiple of is divided out.
    divisor = np.zeros(rows.shape[0], dtype=np.int64)
    of_entry = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    np.gcd.at(divisor, of_entry, np.abs(rows.data))
    if ((divisor == 0) & (rest != 0)).any() or (rest % np.maximum(divisor, 1)).any():
        return None
    kept = np.flatnonzero(divisor)
    rows.data //= divisor[of_entry]
    rows = csr_array(rows[kept].astype(np.float64))
    even = (rest[kept] // divisor[kept]).astype(np.float64)
    size = lattice.cell.size
    program = Program(
        lattice.cost, np.zeros(size), np.ones(size), np.ones(size, dtype=bool), rows, even, even
    )
    try:
        solution = solve_whole(program, _slabs(lattice, structure), run)
    except InfeasibleError:
        return None
    return _found(lattice, np.rint(solution.x).astype(np.int64), solution.bound)


def _slabs(lattice: Lattice, structure: Structure) -> list[Cells]:
    """Steps of cells that share a code of some dimension: what a search may vary with all others fixed."""
    own = np.flatnonzero(lattice.cell < lattice.own)
    slabs = []
    for d in range(len(structure.dimensions)):
        code = structure.codes[lattice.cell[own], d]
        order = np.argsort(code, kind="stable")
        slabs += np.split(own[order], np.flatnonzero(np.diff(code[order])) + 1)
    return slabs


def _found(lattice: Lattice, taken: Units, bound: float) -> Nearest:
    # A dot product would wake the threads of the algebra library for a sum.
    cost = float((lattice.cost * taken).sum())
    least = cost if not lattice.cell.size else min(cost, bound)
    return Nearest(lattice.values(taken), cost + lattice.constant, least + lattice.constant)
