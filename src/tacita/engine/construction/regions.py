"""Regions of a suppression pattern, given up and solved anew while the rest stands.

A *region* is a hidden cell, the requirements whose witnesses use it, and the cells that only these witnesses
use. Regions are solved independently of each other, by any workers, on the pattern as it was when they were
listed; :class:`.construct.Construction` takes a solution over if it still saves something when its turn
comes. What comes out therefore does not depend on the workers.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from threading import local
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacita.core.exact import Cells, Floats, Mask
from tacita.core.run import Run
from tacita.engine.attack.presolved import PresolvedTable
from tacita.engine.attack.requirements import Requirements
from tacita.engine.attack.routing import Witness
from tacita.engine.construction.local_moves import LocalMoves
from tacita.engine.construction.neighbourhood import Neighbourhoods

NEAR = 300
"""Cells of any kind in the neighbourhoods of improvements."""


@dataclass(frozen=True, eq=False)
class Region:
    """A hidden cell that is to be published, the requirements that use it, in the order in which they find
    new witnesses, and the cells that only they use; ``hidden`` is the whole pattern, packed into bits.
    """

    cell: int
    users: tuple[int, ...]
    exclusive: Cells
    hidden: NDArray[np.uint8]


class RegionSolver:
    """Solves regions of one presolved table, in any thread or process.

    ``cost`` is infinite where a cell must be published; cells with ``conditional`` requirements stay as they
    are.
    """

    def __init__(
        self,
        presolved: PresolvedTable,
        requirements: Requirements,
        cost: Floats,
        conditional: Mask,
        integer: bool,
    ) -> None:
        self._of = presolved, requirements, cost, conditional, integer
        self._local = local()
        self._bytes: bytes | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        # Every map pickles what it shares anew, and a table does not change.
        if self._bytes is None:
            self._bytes = pickle.dumps(self._of, pickle.HIGHEST_PROTOCOL)
        return _read_solver, (self._bytes,)

    def solve(self, region: Region, run: Run) -> dict[int, Witness] | None:
        """Return witnesses of a region's requirements without its cell that cost less, or None."""
        presolved, _, cost, conditional, _ = self._of
        if run.over:
            return None
        hidden = np.unpackbits(region.hidden, count=len(presolved)).astype(bool)
        hidden[region.exclusive] = False
        marginal_cost = np.where(hidden, 0.0, cost)
        marginal_cost[region.cell] = np.inf
        left, found = float(cost[region.exclusive].sum()), dict[int, Witness]()
        for k in region.users:
            witness = self._moves.find(k, hidden, marginal_cost, NEAR)
            if witness is None:
                return None
            fresh = witness.cells[~hidden[witness.cells]]
            left -= float(cost[fresh].sum())
            if left <= 0.0 or conditional[fresh].any():
                return None
            hidden[fresh], marginal_cost[fresh] = True, 0.0
            found[k] = witness
        return found

    @property
    def _moves(self) -> LocalMoves:
        """The moves of this thread, with its own memory and solver."""
        if not hasattr(self._local, "moves"):
            presolved, requirements, _, _, integer = self._of
            self._local.moves = LocalMoves(Neighbourhoods(presolved), requirements, integer)
        moves: LocalMoves = self._local.moves
        return moves


def solve_region(solver: RegionSolver, region: Region, run: Run) -> dict[int, Witness] | None:
    """Return a region's new witnesses if they cost less than the old, or None: the task of a worker."""
    return solver.solve(region, run)


def _read_solver(packed: bytes) -> RegionSolver:
    """Return the solver that another process packed."""
    return RegionSolver(*pickle.loads(packed))
