"""The cheapest point of a lattice: a flow where the equations are a network, else an integer program.

With one base ``r`` for all cells the steps ``x`` satisfy ``M x = (b - M low) / r``, all coefficients -1, 0 or
1. On a network that is a flow with whole supplies and capacities 1, whose cheapest is whole by itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacita.core.errors import InfeasibleError
from tacita.core.exact import Units
from tacita.core.run import Run
from tacita.core.tables.structure import Structure
from tacita.methods.rounding.lattice import Lattice
from tacita.solvers.integer_pieces import Pieces, group_by_code
from tacita.solvers.integer_programs import solve_integer_program
from tacita.solvers.linear_program import LinearProgram
from tacita.solvers.network import Network

NOISE = 1e-9
"""Share of a loss, or of a smaller cost of one step, below which differences are arithmetic."""
CHEAPEST, DEAREST, USUAL = 1.0, 2.0**20, 10
"""Between these the largest cost is left as it is, elsewhere it is made about ``2**USUAL``."""


@dataclass(frozen=True, eq=False)
class Nearest:
    """The table's numbers, what they cost, and what no other point can cost less than."""

    value: Units
    cost: float
    bound: float
    proven: bool


def nearest(lattice: Lattice, structure: Structure, run: Run) -> Nearest | None:
    """The cheapest point; None if there is none at all, which is then proven."""
    run = run.translated(lambda cost: cost + lattice.constant)
    base = np.unique(lattice.base[lattice.cell])
    rest = lattice.rest
    if not lattice.cell.size:
        return None if rest.any() else _found(lattice, np.zeros(0, dtype=np.int64), -np.inf)
    if base.size == 1:
        if (rest % base[0]).any():
            return None
        network = Network.of(lattice.matrix)
        if network is not None:
            once = np.ones(lattice.cell.size, dtype=np.int64)
            pieces = Pieces(lattice.cell, once, once, lattice.cost)
            flow = pieces.find_cheapest_flow(network, rest // base[0], run)
            return None if flow is None else _found(lattice, flow.amount, flow.bound)
    return _by_program(lattice, rest, structure, run)


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
    size, larger = lattice.cell.size, _enlargement(lattice)
    cost = np.ldexp(lattice.cost, larger)
    program = LinearProgram(cost, np.zeros(size), np.ones(size), rows, even, even).in_integers()
    run = run.translated(lambda found: float(np.ldexp(found, -larger)))
    own = np.flatnonzero(lattice.cell < lattice.own)
    try:
        solution = solve_integer_program(
            program, [own[group] for group in group_by_code(structure, lattice.cell[own])], run
        )
    except InfeasibleError:
        return None
    return _found(lattice, np.rint(solution.x).astype(np.int64), float(np.ldexp(solution.bound, -larger)))


def _enlargement(lattice: Lattice) -> int:
    """The power of two by which costs are multiplied for a solver that judges them by absolute tolerances."""
    largest = _largest(lattice)
    if largest == 0.0 or CHEAPEST <= largest < DEAREST:
        return 0
    return USUAL - int(np.frexp(largest)[1])


def _largest(lattice: Lattice) -> float:
    return float(np.abs(lattice.cost).max(initial=0.0))


def _found(lattice: Lattice, taken: Units, bound: float) -> Nearest:
    # A dot product would wake the threads of the algebra library for a sum.
    cost = float((lattice.cost * taken).sum())
    least = cost if not lattice.cell.size else min(cost, bound)
    loss = cost + lattice.constant
    proven = cost - least <= NOISE * max(abs(loss), min(1.0, _largest(lattice)))
    return Nearest(lattice.values(taken), loss, least + lattice.constant, proven)
