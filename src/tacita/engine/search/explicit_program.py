"""Small models whose windows only grow, as one program with a witness of every requirement.

    min  cost x    s.t.  own rows,   M z_k = 0,   -D(x) <= z_k <= U(x),   z_k at its cell reaches the level

for every requirement ``k`` of every attacker, within what they believe possible. Its size is the number of
requirements times that of the table, so it pays for small tables only; there it has no rounds of cuts.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tacita.core.exact import Cells, Floats, Mask
from tacita.engine.attack.requirements import (
    ALWAYS,
    OUTSIDER,
    Requirements,
    list_all_requirements,
    list_directions,
)
from tacita.engine.attack.separation import Separation
from tacita.engine.construction.growing_windows import NO_VARIABLE, GrowingWindows
from tacita.engine.model import NO_SWITCH
from tacita.engine.search.incumbent import ReleaseSearch
from tacita.solvers.highs import Ended, solve_mip
from tacita.solvers.linear_program import IntegerProgram
from tacita.solvers.network import Network

if TYPE_CHECKING:
    from scipy.sparse import csr_array

LARGEST = 3000
"""Entries of all witnesses up to which the explicit program is faster than rounds of cuts."""
MOST_CELLS = 300
"""Cells up to which it is: on 441 cells with three sensitive ones it took three times as long as cuts."""
LONGEST = 16.0
"""Largest change of a cell in a witness on a network, in levels. One is enough there, see
:mod:`~tacita.engine.search.explicit_model`; elsewhere no length is proven to be, and none is set."""


class ExplicitProgram:
    """The explicit program of a model with growing windows and no suppression."""

    def __init__(self, growing: GrowingWindows, search: ReleaseSearch) -> None:
        self.growing, self.search, self.presolved = growing, search, growing.presolved
        self._windows = np.flatnonzero((growing.variable != NO_VARIABLE).any(axis=0))
        self.requirements = _list_binding(growing)

    @property
    def is_small(self) -> bool:
        """Whether the explicit program is worth its size, and can be stated."""
        moves = sum(len(list_directions(int(sign))) for sign in self.requirements.sign)
        if (self.presolved.switch != NO_SWITCH).any() or len(self.presolved) > MOST_CELLS:
            return False
        return 0 < moves * len(self.presolved) <= LARGEST

    @cached_property
    def longest(self) -> float:
        """The largest change of a cell in the program's witnesses, in levels."""
        return np.inf if Network.of(self.presolved.rows.tocsc()) is None else LONGEST

    def solve(self, separation: Separation) -> bool:
        """Offer the optimum to the search and raise its bound; return whether it is proven and protects."""
        search, model = self.search, self.search.model
        search.report_progress("explicit program")
        found = solve_mip(self._make_program(), search.run)
        if found.status is not Ended.OPTIMAL:
            return False
        x = found.point[: model.size]
        x = np.clip(np.where(model.integer, np.rint(x), x), search.lower, search.upper)
        if not separation.protects(x) or not search.offer(x):
            return False
        search.raise_bound(found.bound + model.constant)
        return search.closed

    def _make_program(self) -> IntegerProgram:
        """Return the model's own rows, and the moves and rows of all witnesses."""
        from scipy.sparse import block_array, block_diag, csr_array, vstack

        model = self.search.model
        witnesses = [self._make_witness(k) for k in range(len(self.requirements))]
        on_variables, on_moves, least, most, bounds = zip(*witnesses, strict=True)
        moved = sum(part.shape[1] for part in on_moves)
        rows = block_array(
            [
                [csr_array(model.rows), csr_array((model.rows.shape[0], moved))],
                [vstack(on_variables), block_diag(on_moves)],
            ]
        )
        return IntegerProgram(
            np.concatenate([model.cost, np.zeros(moved)]),
            np.concatenate([self.search.lower, *(low for low, _ in bounds)]),
            np.concatenate([self.search.upper, *(high for _, high in bounds)]),
            csr_array(rows),
            np.concatenate([model.row_lower, *least]),
            np.concatenate([model.row_upper, *most]),
            np.concatenate([model.integer, np.zeros(moved, dtype=bool)]),
        )

    def _make_witness(self, k: int) -> tuple[csr_array, csr_array, Floats, Floats, tuple[Floats, Floats]]:
        """Return the rows of one requirement on variables and moves, their bounds, and those of moves."""
        from scipy.sparse import block_diag, csr_array, eye_array, vstack

        presolved, requirements, size = self.presolved, self.requirements, self.search.model.size
        level, switch = float(requirements.level[k]), int(requirements.switch[k])
        directions = list_directions(int(requirements.sign[k]))
        n, equations = len(presolved), presolved.rows
        select = csr_array(eye_array(n, format="csr")[self._windows])
        on_move = csr_array(vstack([equations, select, -select]))
        on_variables = csr_array(
            vstack(
                [
                    csr_array((equations.shape[0], size)),
                    -presolved.above.matrix[self._windows] / level,
                    -presolved.below.matrix[self._windows] / level,
                ]
            )
        )
        nothing, no_end = np.zeros(equations.shape[0]), np.full(2 * self._windows.size, -np.inf)
        base = np.concatenate([presolved.above.base[self._windows], presolved.below.base[self._windows]])
        target = int(presolved.position[requirements.cell[k]])
        reached = csr_array(
            (
                np.array(directions, dtype=np.float64),
                (np.zeros(len(directions), int), n * np.arange(len(directions)) + target),
            ),
            shape=(1, n * len(directions)),
        )
        counted = [] if switch == ALWAYS else [switch]
        required = csr_array(
            (np.full(len(counted), -1.0), (np.zeros(len(counted), int), counted)), shape=(1, size)
        )
        repeat = len(directions)
        return (
            csr_array(vstack([*[on_variables] * repeat, required])),
            csr_array(vstack([block_diag([on_move] * repeat), reached])),
            np.concatenate([*[nothing, no_end] * repeat, [0.0 if counted else 1.0]]),
            np.concatenate([*[nothing, base / level] * repeat, [np.inf]]),
            self._bound_moves(int(requirements.attacker[k]), level, repeat),
        )

    def _bound_moves(self, attacker: int, level: float, repeat: int) -> tuple[Floats, Floats]:
        """Return how far cells move at most, in levels: as an attacker believes, and as far as windows go."""
        up, down = self.presolved.find_room(attacker)
        high, low = (
            np.minimum(np.minimum(room, most) / level, self.longest)
            for room, most in zip((up, down), self.growing.most, strict=True)
        )
        return np.tile(-low, repeat), np.tile(high, repeat)


def _list_binding(growing: GrowingWindows) -> Requirements:
    """Return the requirements of all attackers, without those of the outsider that others imply."""
    model = growing.presolved.model
    conditional = model.requirements[model.requirements.conditional]
    every = Requirements.join([list_all_requirements(model.problem), conditional])
    always = ~every.conditional
    always[every.conditional] = model.lower[conditional.switch] == 1.0
    switch = np.where(always, ALWAYS, every.switch)
    every = Requirements(every.attacker, every.cell, every.sign, every.level, switch)
    # Requirements on cells that never move are refused or switched off before.
    stated = (every.level > 0) & (growing.presolved.position[every.cell] >= 0)
    return every[stated & ~_find_implied(every, always & (every.attacker == OUTSIDER))]


def _find_implied(requirements: Requirements, outsider: Mask) -> Mask:
    """Return a mask of the outsider's requirements with a larger one of the same cell and direction."""
    largest = dict[tuple[int, int], int]()
    implied = np.zeros(len(requirements), dtype=bool)
    at: Cells = np.flatnonzero(outsider)
    for k in at[np.argsort(-requirements.level[at], kind="stable")].tolist():
        key = int(requirements.cell[k]), int(requirements.sign[k])
        implied[k] = largest.setdefault(key, k) != k
    return implied
