"""Cheapest moves that meet requirements, within neighbourhoods of their cells.

The program of :mod:`tacita.engine.attack.routing` over a few hundred cells takes a millisecond, whatever the
size of the table. The neighbourhood of a cell are the cells that paths of least cost lead to, from equation
to equation. It grows until a move is found, in the end to the whole table. What a large neighbourhood lacks
is mostly a single expensive cell, a total or the only partner of another; so it is completed by the cells
that its equations have in common, which are few, before it grows on.

Hiding a cell costs the same however little it moves, while a linear program charges by the move. So the
program is solved again with the cost of each cell that it used spread over what it moved there, and ten times
the cost of the others, as long as that makes the move cheaper.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from tacita.core.exact import Floats, Mask
from tacita.engine.attack.requirements import Requirements, list_directions
from tacita.engine.attack.routing import CARRIED, FITTING, RoutedMove, Witness, meet_by_moves
from tacita.engine.construction.neighbourhood import FAINT, MOST, NARROW, Neighbourhoods
from tacita.engine.construction.neighbourhood_kernels import SmallProgram
from tacita.solvers.highs import SmallPrograms

HIDDEN = 150
"""Hidden cells near a target among which a move is searched first."""
CHEAP = 0.1
"""Cost of a step from cell to cell, in parts of the median cost, for cells that cheap paths lead to.

The cheaper it is, the cheaper the pattern and the longer its moves, which need larger neighbourhoods.
"""
Tries = tuple[tuple[int, float], ...]
CHEAP_FIRST: Tries = ((600, CHEAP), (1200, 0.3), (2400, 0.3))
"""Sizes and costs of a step of the neighbourhoods that are tried in turn, before ever larger ones."""
NEAR_FIRST: Tries = ((600, CHEAP), (600, 1.0), (1200, 1.0), (2400, 0.3))
"""The same for tables with insiders: the shorter a move is, the fewer of them can rule it out."""
SPREAD = 0.02
"""A cell that moved by less than this share of a level costs as if it had moved by this."""
TRIES = 2
"""Times that a program is solved again with costs that follow its last move."""


class LocalMoves:
    """The cheapest moves found for the requirements of one presolved table.

    ``integer``: cells move by multiples of ``unit``, as in tables of counts beyond networks. ``work`` counts
    the cells of all programs.
    """

    def __init__(
        self,
        neighbourhoods: Neighbourhoods,
        requirements: Requirements,
        integer: bool,
        tries: Tries = CHEAP_FIRST,
    ) -> None:
        self.neighbourhoods, self.requirements, self.integer = neighbourhoods, requirements, integer
        self.presolved = presolved = neighbourhoods.presolved
        self._unit = float(presolved.model.problem.table.unit) if integer else 0.0
        self._tries = _extend(tries, len(presolved))
        self._programs = SmallPrograms()
        self.work = 0

    def find(self, k: int, hidden: Mask, marginal_cost: Floats, near: int | None = None) -> Witness | None:
        """Return the cheapest witness found of requirement ``k``, or None without one.

        ``marginal_cost`` is 0 for hidden cells and infinite for cells that must be published. ``near``
        limits the search to one neighbourhood of so many cells beside the hidden ones.
        """
        found = self._meet(k, marginal_cost, hidden, 0)
        if found is not None:
            return found
        if near is not None:
            return self._meet(k, marginal_cost, hidden, near)
        each = (self._meet(k, marginal_cost, hidden, *one) for one in self._tries)
        return next((found for found in each if found is not None), None)

    def adapt(self, k: int, witness: Witness) -> Witness | None:
        """Return the witness of another requirement, turned or scaled so that it meets ``k``, or None."""
        target, level = self.presolved.position[self.requirements.cell[k]], float(self.requirements.level[k])
        up, down = self.presolved.find_room(int(self.requirements.attacker[k]))
        for move, direction in product(witness.moves, list_directions(int(self.requirements.sign[k]))):
            own = move.change[move.cells == target]
            # To scale a move up would scale its errors up.
            if not own.size or abs(own[0]) < 1.0 - CARRIED:
                continue
            change = move.change * (direction / own[0])
            room = np.where(change > 0, up[move.cells], down[move.cells]) / level
            fits = np.abs(change) <= np.minimum(room * (1.0 + FITTING), MOST)
            if fits.all() and self._is_integer(change, level):
                return Witness((RoutedMove(move.cells, change),))
        return None

    def confirm(self, k: int, allowed: Mask, marginal_cost: Floats) -> Witness | None:
        """Return a witness of requirement ``k`` over the allowed cells, or None."""
        return self._meet(k, marginal_cost, allowed, 0)

    def _meet(
        self,
        k: int,
        marginal_cost: Floats,
        hidden: Mask,
        cheap: int,
        step: float = CHEAP,
        completed: bool = False,
    ) -> Witness | None:
        """Return moves that meet a requirement within one neighbourhood, or None."""
        return meet_by_moves(
            int(self.requirements.sign[k]),
            lambda direction, length: self.route(
                k, direction, length, marginal_cost, hidden, cheap, step, completed
            ),
        )

    def route(
        self,
        k: int,
        direction: int,
        length: float,
        marginal_cost: Floats,
        hidden: Mask,
        cheap: int = 0,
        step: float = CHEAP,
        completed: bool = False,
        room: tuple[Floats, Floats] | None = None,
        near_hidden: int = HIDDEN,
    ) -> RoutedMove | None:
        """Return the cheapest move of a requirement's cell by ``length`` levels over one neighbourhood.

        It has the hidden cells nearest to the target, and so many ``cheap`` ones; if ``completed`` also those
        that their equations have in common. ``room`` is how far cells can go above and below; by default as
        far as the attacker believes.
        """
        near, target = self.neighbourhoods, int(self.presolved.position[self.requirements.cell[k]])
        found = near.gather_cheap(target, marginal_cost, cheap, step) if cheap else 0
        found = near.gather(target, hidden, near_hidden, found)
        if completed:
            found = near.complete(marginal_cost, found)
        program = near.state(self.requirements, k, direction, length, marginal_cost, found, room=room)
        if program is None:
            return None
        self.work += program.cells.size
        columns = (program.starts, program.row, program.entry)
        point = self._programs.solve(program.cost, (program.lower, program.upper), columns, program.rows.size)
        if point is None:
            return None
        best = _read_move(program, point)
        own = marginal_cost[program.cells]
        for _ in range(TRIES):
            loss = float(marginal_cost[best.cells].sum())
            if loss == 0.0:
                break
            spread = 10.0 * own
            at = np.searchsorted(program.cells, best.cells)
            spread[at] = own[at] / np.clip(np.abs(best.change), SPREAD, 1.0)
            point = self._programs.solve_again(self._spread_costs(program, spread))
            if (
                point is None
                or float(marginal_cost[(move := _read_move(program, point)).cells].sum()) >= loss
            ):
                break
            best = move
        return self._make_integer(k, program, best, marginal_cost)

    def _spread_costs(self, program: SmallProgram, cost: Floats) -> Floats:
        """Return the costs of a small program's columns for other costs of hiding its cells."""
        faint = FAINT * max(float(cost.max()), FAINT)
        return np.asarray(np.tile(cost + faint, 2) / np.clip(program.upper, NARROW, 1.0))

    def _make_integer(
        self, k: int, program: SmallProgram, move: RoutedMove, marginal_cost: Floats
    ) -> RoutedMove | None:
        """Return the move if it is in integers, else the cheapest one that is, or None."""
        if self._is_integer(move.change, float(self.requirements.level[k])):
            return move
        level = float(self.requirements.level[k]) / self._unit
        lower = np.ceil(program.lower * level - CARRIED)
        bounds = (lower, np.maximum(lower, np.floor(program.upper * level + CARRIED)))
        columns = (program.starts, program.row, program.entry)
        cost = self._spread_costs(program, marginal_cost[program.cells]) / level
        point = self._programs.solve(cost, bounds, columns, program.rows.size, integer=True)
        return None if point is None else _read_move(program, point / level)

    def _is_integer(self, change: Floats, level: float) -> bool:
        """Return whether changes of cells in levels are integers, or need not be."""
        if not self._unit:
            return True
        steps = change * (level / self._unit)
        return bool(np.abs(steps - np.rint(steps)).max(initial=0.0) <= CARRIED)


def _read_move(program: SmallProgram, point: Floats) -> RoutedMove:
    """Return the move that a point of a small program stands for, over cells of the presolved table."""
    n = program.cells.size
    change = point[:n] - point[n:]
    used = np.abs(change) > CARRIED
    return RoutedMove(program.cells[used], change[used])


def _extend(tries: Tries, last: int) -> list[tuple[int, float, bool]]:
    """Return the sizes and costs of a step of neighbourhoods, and whether they are completed.

    Ever larger ones follow the given ones, as they are and completed, up to everything.
    """
    every = [(*one, False) for one in tries]
    size, step = tries[-1]
    while 4 * size < last:
        size *= 4
        every += [(size, step, False), (size, step, True)]
    return every if size >= last else [*every, (last, step, False)]
