"""Attackers who know that cells are integer, beyond networks.

A requirement holds against them only if an integer move meets it; a release may protect by fractional moves
only. Then the model gets the missing move as variables of its own, one integer ``f_i`` per cell:

    M f = 0,   -down_i <= f_i <= up_i,   f_p >= L,
    -D_i(x) - down_i x_switch(i) <= f_i <= U_i(x) + up_i x_switch(i),

and is solved again. Only requirements that fail are treated so, and the added rows hold for every release
that protects: lower bounds stay valid.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tacita.core.exact import Cells, Floats
from tacita.engine.attack.requirements import ALWAYS, DOWN, SLIDING, UP, Requirements, find_room
from tacita.engine.model import NO_SWITCH, Affine, Model

if TYPE_CHECKING:
    from scipy.sparse import csr_array

LONGEST = 16
"""Limit of the change of a cell in such a move, as a multiple of the level; circuits of tables need less."""


def add_integer_moves(model: Model, requirements: Requirements) -> Model:
    """Return a method's model in which each of these requirements has an integer move of its own."""
    for d in range(len(requirements)):
        model = _add_move(model, requirements[np.array([d])])
    return model


def _add_move(model: Model, requirement: Requirements) -> Model:
    from scipy.sparse import csr_array, hstack, vstack

    step, level, sign = model.problem.table.unit, int(requirement.level[0]), int(requirement.sign[0])
    signs = (UP, DOWN) if sign == SLIDING else (sign,)
    up, down = (
        np.floor(np.minimum(known, LONGEST * level) / step)
        for known in find_room(model.problem, int(requirement.attacker[0]))
    )
    n, added = up.size, up.size * len(signs)
    size = model.size + added
    firsts = model.size + n * np.arange(len(signs))
    blocks = [block for first in firsts for block in _confine(model, first + np.arange(n), up, down, size)]
    target = csr_array(
        (np.array(signs, dtype=np.float64), (np.zeros(len(signs), int), firsts + int(requirement.cell[0]))),
        shape=(1, size),
    )
    asked = level / step
    if requirement.switch[0] != ALWAYS:
        condition = (np.array([asked]), (np.array([0]), requirement.switch))
        target, asked = csr_array(target - csr_array(condition, shape=(1, size))), 0.0
    own = csr_array(hstack([model.rows, csr_array((model.rows.shape[0], added))]))
    return replace(
        model,
        cost=np.concatenate([model.cost, np.zeros(added)]),
        lower=np.concatenate([model.lower, np.tile(-down, len(signs))]),
        upper=np.concatenate([model.upper, np.tile(up, len(signs))]),
        integer=np.concatenate([model.integer, np.ones(added, dtype=bool)]),
        rows=csr_array(vstack([own, *(rows for rows, _, _ in blocks), target])),
        row_lower=np.concatenate([model.row_lower, *(least for _, least, _ in blocks), [asked]]),
        row_upper=np.concatenate([model.row_upper, *(most for _, _, most in blocks), [np.inf]]),
        above=_widen(model.above, added),
        below=_widen(model.below, added),
    )


def _confine(
    model: Model, columns: Cells, up: Floats, down: Floats, size: int
) -> list[tuple[csr_array, Floats, Floats]]:
    """Return rows and bounds that keep a move within the equations and the windows of a method's model."""
    from scipy.sparse import csr_array, diags_array

    step = model.problem.table.unit
    matrix = csr_array(model.problem.table.equations.matrix.astype(np.float64))
    n, nothing = up.size, np.zeros(matrix.shape[0])
    place = csr_array((np.ones(n), (np.arange(n), columns)), shape=(n, size))
    switched = np.flatnonzero(model.switch != NO_SWITCH)
    opens = csr_array((np.ones(switched.size), (switched, model.switch[switched])), shape=(n, size))
    found = [(csr_array(matrix @ place), nothing, nothing)]
    for sign, window, most in ((1.0, model.above, up), (-1.0, model.below, down)):
        stretched = _widen(window, size - model.size).matrix / step + diags_array(most) @ opens
        found.append((csr_array(sign * place - stretched), np.full(n, -np.inf), window.base / step))
    return found


def _widen(affine: Affine, added: int) -> Affine:
    from scipy.sparse import csr_array, hstack

    return Affine(affine.base, csr_array(hstack([affine.matrix, csr_array((affine.base.size, added))])))
