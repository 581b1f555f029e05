"""The cheapest point of a lattice: a flow where the equations are a network, else an integer program.

With one base ``r`` for all cells the steps ``x`` satisfy ``M x = (b - M low) / r``, all coefficients -1, 0 or
1. On a network that is a flow with integer supplies and capacities 1, hence with an integer optimum.
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
"""Share of a loss, or of a smaller cost of one step, that counts as rounding error."""
LEAST, MOST, USUAL = 1.0, 2.0**20, 10
"""Between these the largest cost is not scaled, elsewhere it becomes about ``2**USUAL``."""


@dataclass(frozen=True, eq=False)
class NearestTable:
    """The numbers of a table, their loss, a lower bound, and whether the two are proven to be equal."""

    value: Units
    cost: float
    bound: float
    proven: bool


def find_nearest(points: Lattice, structure: Structure, run: Run) -> NearestTable | None:
    """Return the rounded table of least loss that adds up; None if there is none, which is proven."""
    run = run.translated(lambda cost: cost + points.constant)
    base = np.unique(points.base[points.cell])
    rest = points.rest
    if not points.cell.size:
        return None if rest.any() else _to_table(points, np.zeros(0, dtype=np.int64), -np.inf)
    if base.size == 1:
        if (rest % base[0]).any():
            return None
        network = Network.of(points.matrix)
        if network is not None:
            once = np.ones(points.cell.size, dtype=np.int64)
            flow = Pieces(points.cell, once, once, points.cost).find_cheapest_flow(
                network, rest // base[0], run
            )
            return None if flow is None else _to_table(points, flow.amount, flow.bound)
    return _solve_program(points, rest, structure, run)


def _solve_program(points: Lattice, rest: Units, structure: Structure, run: Run) -> NearestTable | None:
    from scipy.sparse import csr_array

    rows = csr_array(points.matrix[:, points.cell])
    rows.data *= points.base[points.cell][rows.indices]
    # Rows are divided by the greatest common divisor of their entries.
    divisor = np.zeros(rows.shape[0], dtype=np.int64)
    of_entry = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    np.gcd.at(divisor, of_entry, np.abs(rows.data))
    if ((divisor == 0) & (rest != 0)).any() or (rest % np.maximum(divisor, 1)).any():
        return None
    kept = np.flatnonzero(divisor)
    rows.data //= divisor[of_entry]
    rows = csr_array(rows[kept].astype(np.float64))
    even = (rest[kept] // divisor[kept]).astype(np.float64)
    size, larger = points.cell.size, _choose_scale_exponent(points)
    cost = np.ldexp(points.cost, larger)
    program = LinearProgram(cost, np.zeros(size), np.ones(size), rows, even, even).in_integers()
    run = run.translated(lambda found: float(np.ldexp(found, -larger)))
    own = np.flatnonzero(points.cell < points.own)
    try:
        solution = solve_integer_program(
            program, [own[group] for group in group_by_code(structure, points.cell[own])], run
        )
    except InfeasibleError:
        return None
    return _to_table(points, np.rint(solution.x).astype(np.int64), float(np.ldexp(solution.bound, -larger)))


def _choose_scale_exponent(points: Lattice) -> int:
    """Return the exponent of two that scales a rounding's costs for solvers with absolute tolerances."""
    largest = _largest(points)
    if largest == 0.0 or LEAST <= largest < MOST:
        return 0
    return USUAL - int(np.frexp(largest)[1])


def _largest(points: Lattice) -> float:
    return float(np.abs(points.cost).max(initial=0.0))


def _to_table(points: Lattice, taken: Units, bound: float) -> NearestTable:
    # A dot product would start the threads of the algebra library for a sum.
    cost = float((points.cost * taken).sum())
    least = cost if not points.cell.size else min(cost, bound)
    loss = cost + points.constant
    proven = cost - least <= NOISE * max(abs(loss), min(1.0, _largest(points)))
    return NearestTable(points.values(taken), loss, least + points.constant, proven)
