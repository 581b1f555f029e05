"""Cheapest moves that meet requirements, within neighbourhoods of their cells.

The program of :mod:`tacita.engine.attack.routing` over a few hundred cells takes a millisecond, whatever the
size of the table. The neighbourhood of a cell are the cells that paths of least cost lead to, from equation
to equation. It grows until a move is found, in the end to the whole table.

Hiding a cell costs the same however little it moves, while a linear program charges by the move. So the
program is solved again with the cost of each cell that it used spread over what it moved there, and ten times
the cost of the others, as long as that makes the move cheaper.
"""

from __future__ import annotations

import numpy as np

from tacita.core.exact import Cells, Floats, Mask
from tacita.engine.attack.requirements import Requirements
from tacita.engine.attack.routing import CARRIED, RoutedMove, meet_by_moves
from tacita.engine.construction.neighbourhood import FAINT, NARROW, Neighbourhoods
from tacita.engine.construction.neighbourhood_kernels import SmallProgram
from tacita.solvers.highs import SmallPrograms

HIDDEN = 150
"""Hidden cells near a target among which a move is searched first."""
CHEAP = 600
"""Cells of any kind in the first neighbourhood; the next ones are each four times as large."""
SPREAD = 0.02
"""A cell that moved by less than this share of a level costs as if it had moved by this."""
TRIES = 2
"""Times that a program is solved again with costs that follow its last move."""


class LocalMoves:
    """The cheapest moves found for the requirements of one presolved table.

    ``integer``: cells move by multiples of ``unit``, as in tables of counts beyond networks.
    """

    def __init__(self, neighbourhoods: Neighbourhoods, requirements: Requirements, integer: bool) -> None:
        self.neighbourhoods, self.requirements = neighbourhoods, requirements
        self.presolved = presolved = neighbourhoods.presolved
        self._unit = float(presolved.model.problem.table.unit) if integer else 0.0
        self._programs = SmallPrograms()

    def find(self, k: int, hidden: Mask, price: Floats, near: int | None = None) -> Cells | None:
        """Return the cells of the cheapest move found that meets requirement ``k``, or None without one.

        ``price`` is 0 for hidden cells and infinite for cells that must be published. ``near`` limits the
        search to one neighbourhood of so many cells beside the hidden ones.
        """
        found = self._meet(k, price, hidden, 0)
        if found is not None:
            return found
        sizes = [near] if near is not None else _list_sizes(CHEAP, len(self.presolved))
        return next(
            (cells for size in sizes if (cells := self._meet(k, price, hidden, size)) is not None), None
        )

    def confirm(self, k: int, allowed: Mask, price: Floats) -> Cells | None:
        """Return the cells of a move that meets requirement ``k`` over the allowed cells, or None."""
        return self._meet(k, price, allowed, 0)

    def _meet(self, k: int, price: Floats, hidden: Mask, cheap: int) -> Cells | None:
        """Return the cells of moves that meet a requirement within one neighbourhood, or None."""
        return meet_by_moves(
            int(self.requirements.sign[k]),
            lambda direction, length: self._route(k, direction, length, price, hidden, cheap),
        )

    def _route(
        self, k: int, direction: int, length: float, price: Floats, hidden: Mask, cheap: int
    ) -> RoutedMove | None:
        """Return the cheapest move of a requirement's cell by ``length`` levels over one neighbourhood."""
        near, target = self.neighbourhoods, int(self.presolved.position[self.requirements.cell[k]])
        found = near.gather_cheap(target, price, cheap) if cheap else 0
        found = near.gather(target, hidden, HIDDEN, found)
        program = near.state(self.requirements, k, direction, length, price, found)
        if program is None:
            return None
        columns = (program.starts, program.row, program.entry)
        point = self._programs.solve(program.cost, (program.lower, program.upper), columns, program.rows.size)
        if point is None:
            return None
        best = _read_move(program, point)
        own = price[program.cells]
        for _ in range(TRIES):
            loss = float(price[best.cells].sum())
            if loss == 0.0:
                break
            spread = 10.0 * own
            at = np.searchsorted(program.cells, best.cells)
            spread[at] = own[at] / np.clip(np.abs(best.change), SPREAD, 1.0)
            point = self._programs.solve_again(self._spread_costs(program, spread))
            if point is None or float(price[(move := _read_move(program, point)).cells].sum()) >= loss:
                break
            best = move
        return best if not self._unit else self._make_integer(k, program, best, price)

    def _spread_costs(self, program: SmallProgram, cost: Floats) -> Floats:
        """Return the costs of a small program's columns for other costs of hiding its cells."""
        faint = FAINT * max(float(cost.max()), FAINT)
        return np.asarray(np.tile(cost + faint, 2) / np.clip(program.upper, NARROW, 1.0))

    def _make_integer(
        self, k: int, program: SmallProgram, move: RoutedMove, price: Floats
    ) -> RoutedMove | None:
        """Return the move if it is in integers, else the cheapest one that is, or None."""
        level = float(self.requirements.level[k]) / self._unit
        steps = move.change * level
        if np.abs(steps - np.rint(steps)).max(initial=0.0) <= CARRIED:
            return move
        lower = np.ceil(program.lower * level - CARRIED)
        bounds = (lower, np.maximum(lower, np.floor(program.upper * level + CARRIED)))
        columns = (program.starts, program.row, program.entry)
        cost = self._spread_costs(program, price[program.cells]) / level
        point = self._programs.solve(cost, bounds, columns, program.rows.size, integer=True)
        return None if point is None else _read_move(program, point / level)


def _read_move(program: SmallProgram, point: Floats) -> RoutedMove:
    """Return the move that a point of a small program stands for, over cells of the presolved table."""
    n = program.cells.size
    change = point[:n] - point[n:]
    used = np.abs(change) > CARRIED
    return RoutedMove(program.cells[used], change[used])


def _list_sizes(first: int, last: int) -> list[int]:
    """Return sizes of neighbourhoods: each four times the one before, and the last one everything."""
    sizes = [first]
    while sizes[-1] < last:
        sizes.append(min(4 * sizes[-1], last))
    return sizes
