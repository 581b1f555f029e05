"""Neighbourhoods of cells in a presolved table, and the small linear programs over them."""

from __future__ import annotations

import numpy as np

from tacita.core.exact import Cells, Floats, Mask
from tacita.engine.attack.presolved import PresolvedTable
from tacita.engine.attack.requirements import Requirements
from tacita.engine.construction.neighbourhood_kernels import (
    Gathered,
    Incidence,
    SmallProgram,
    complete,
    find_whole,
    gather,
    gather_cheap,
    peel,
    state_program,
)

MOST = 50.0
"""Levels that a single cell may move."""
FAINT = 1e-6
"""Cost of a hidden cell, in parts of the most expensive one: enough to keep moves short."""
NARROW = 0.05
"""A cell that can move by less than this share of a level costs as if it could move by this."""


class Neighbourhoods:
    """Gathers cells near a target, and states the program of its cheapest move over them.

    ``median`` is the median cost of a cell, by default of suppressing it.
    """

    def __init__(self, presolved: PresolvedTable, median: float | None = None) -> None:
        matrix, rows, model = presolved.matrix, presolved.rows, presolved.model
        self.presolved = presolved
        self._table = Incidence(
            matrix.indptr.astype(np.int64),
            matrix.indices.astype(np.int64),
            matrix.data.astype(np.float64),
            rows.indptr.astype(np.int64),
            rows.indices.astype(np.int64),
        )
        cells, equations = np.zeros((3, len(presolved)), np.int64), np.zeros((3, rows.shape[0]), np.int64)
        self._scratch = Gathered(
            cell_seen=cells[0],
            cell_count=cells[2],
            row_seen=equations[0],
            row_number=equations[1],
            row_count=equations[2],
            position=np.full(len(presolved), -1),
            cells=cells[1],
            stamp=np.zeros(1, np.int64),
        )
        if median is None:
            cost = model.cost[presolved.switch]
            counts = np.isfinite(cost) & (cost > 0)
            median = float(np.median(cost[counts])) if counts.any() else 1.0
        self._median = median

    def gather(self, target: int, allowed: Mask, most: int, found: int = 0) -> int:
        """Gather the allowed cells nearest to a target, by equations; return how many there are now."""
        return gather(self._table, self._scratch, target, allowed, most, found)

    def list_nearest(self, target: int, allowed: Mask, most: int) -> Cells:
        """Return the allowed cells nearest to an allowed target, by equations, in ascending order."""
        found = self._scratch.cells[: self.gather(target, allowed, most)].copy()
        self._scratch.position[found] = -1
        return np.sort(found)

    def gather_cheap(self, target: int, marginal_cost: Floats, most: int, step: float) -> int:
        """Gather the cells that the cheapest paths from a target lead to; return how many there are now.

        A step from cell to cell costs ``step`` times the median cost of a cell, besides the cell's own.
        """
        return gather_cheap(self._table, self._scratch, target, marginal_cost, step * self._median, most, 0)

    def complete(self, marginal_cost: Floats, found: int) -> int:
        """Gather the cells that equations of gathered ones have in common; return how many there are now.

        All equations of such a cell but at most one have gathered cells already.
        """
        return complete(self._table, self._scratch, marginal_cost, found)

    def state(
        self,
        requirements: Requirements,
        k: int,
        direction: int,
        length: float,
        marginal_cost: Floats,
        found: int,
        peeled: bool = True,
        room: tuple[Floats, Floats] | None = None,
    ) -> SmallProgram | None:
        """Return the program of the cheapest move of a requirement's cell over the gathered cells.

        None if the cell cannot move in it. Cells that cannot move are left out if ``peeled``. ``room`` is how
        far cells can go above and below; by default as far as the attacker believes. The list of gathered
        cells is empty after this.
        """
        scratch, target = self._scratch, int(self.presolved.position[requirements.cell[k]])
        gathered = scratch.cells[:found]
        if peeled:
            peel(self._table, scratch, found)
        if scratch.position[target] < 0:
            scratch.position[gathered] = -1
            return None
        up, down = self.presolved.find_room(int(requirements.attacker[k])) if room is None else room
        faint = FAINT * max(float(marginal_cost[gathered].max()), FAINT)
        level = float(requirements.level[k])
        return state_program(
            self._table,
            scratch,
            found,
            target,
            direction,
            length,
            up,
            down,
            level,
            MOST,
            marginal_cost,
            faint,
            NARROW,
        )

    def find_whole(self, stated: SmallProgram, open_cells: Mask) -> Mask:
        """Return a mask of the equations of a program that have no open cells outside it."""
        return find_whole(self._table, open_cells, stated.rows, stated.row[: stated.row.size // 2])
