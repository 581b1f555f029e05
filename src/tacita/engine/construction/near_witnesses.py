"""Witnesses of requirements within given windows, over neighbourhoods of their cells.

Where most windows are open, as in rounded and perturbed tables, nearly every requirement is met by a short
move nearby: a program over a hundred cells finds it in a millisecond, whatever the size of the table.
"""

from __future__ import annotations

import numpy as np

from tacita.core.exact import Mask
from tacita.engine.attack.attacks import WIDE
from tacita.engine.attack.presolved import PresolvedTable, WindowsAtPoint
from tacita.engine.attack.requirements import Requirements, list_directions
from tacita.engine.attack.routing import CARRIED, RoutedMove
from tacita.engine.construction.neighbourhood import Neighbourhoods
from tacita.solvers.highs import SmallPrograms

SIZES = (60, 250, 1000)
"""Cells of the neighbourhoods that are tried one after the other."""


class NearWitnesses:
    """Finds short moves within windows of one presolved table; ``unit``: in multiples of it, for counts."""

    def __init__(self, presolved: PresolvedTable, unit: float = 0.0) -> None:
        self.presolved, self._unit = presolved, unit
        self._near = Neighbourhoods(presolved, 1.0)
        self._price = np.ones(len(presolved))
        self._programs = SmallPrograms()

    def find(
        self, requirements: Requirements, k: int, windows: WindowsAtPoint, share: float = 1.0
    ) -> list[RoutedMove] | None:
        """Return moves, in levels, that meet a requirement within windows, one per direction; None if no
        neighbourhood has any.

        A sliding requirement is met by half of its level in each direction, or by all of it in one.
        """
        is_open = (windows.share > 0) | (windows.above > 0) | (windows.below > 0)
        directions = list_directions(int(requirements.sign[k]))
        for size in SIZES:
            length = share / len(directions)
            found = [self._route(requirements, k, s, length, windows, is_open, size) for s in directions]
            moves = [move for move in found if move is not None]
            if len(moves) == len(directions):
                return moves
            if len(directions) == 1:
                continue
            for direction in directions:
                move = self._route(requirements, k, direction, share, windows, is_open, size)
                if move is not None:
                    return [move]
        return None

    def _route(
        self,
        requirements: Requirements,
        k: int,
        direction: int,
        length: float,
        windows: WindowsAtPoint,
        is_open: Mask,
        size: int,
    ) -> RoutedMove | None:
        """Return a short move of a requirement's cell by ``length`` levels over a neighbourhood, or None."""
        target = int(self.presolved.position[requirements.cell[k]])
        if target < 0:
            return None
        found = self._near.gather(target, is_open, min(size, len(self.presolved)))
        program = self._near.state(requirements, k, direction, length, self._price, found)
        if program is None:
            return None
        cells, level = program.cells, float(requirements.level[k])
        up, down = self.presolved.find_room(int(requirements.attacker[k]))
        upper = np.concatenate(windows.of(cells).find_capacities(up[cells], down[cells], level, WIDE))
        upper = np.minimum(program.upper, upper)
        if (program.lower > upper).any():
            return None
        columns = (program.starts, program.row, program.entry)
        point = self._programs.solve(program.cost, (program.lower, upper), columns, program.rows.size)
        if point is not None and self._unit:
            steps = level / self._unit
            if np.abs(point * steps - np.rint(point * steps)).max(initial=0.0) > CARRIED:
                lower = np.ceil(program.lower * steps - CARRIED)
                within = lower, np.maximum(lower, np.floor(upper * steps + CARRIED))
                point = self._programs.solve(program.cost, within, columns, program.rows.size, integer=True)
                point = None if point is None else np.rint(point) / steps
        if point is None:
            return None
        n = cells.size
        change = point[:n] - point[n:]
        used = np.abs(change) > CARRIED
        return RoutedMove(cells[used], change[used])
