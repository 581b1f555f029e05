"""Intervals whose every value is possible.

An interval may be wider than what a reader can deduce from the rest of the release. Drawing in its ends to
what is attained changes nothing for anyone. Let ``R = {y : M y = b, l <= y <= u, lower <= y <= upper}`` be
what the outsider thinks possible, and ``[l'_i, u'_i]`` the smallest and the largest ``y_i`` in it. No ``y``
of ``R`` leaves the new intervals and they lie within the old, so ``R`` stays the same when all are drawn in
at once: one round is enough. Each end is then attained, and each value between, as ``R`` is convex. Insiders
see a part of ``R``, the same as before. Where cells are counts, read "whole-number tables" for ``y``.

With positive weights an optimum has nothing to draw in: an end that no requirement's witness touches could be
moved for a gain, and every witness lies in ``R``. What is drawn in comes from zero weights, from ends that
were rounded to whole steps, and from solutions that are not proven optimal.
"""

from __future__ import annotations

import numpy as np

from tacita.core.exact import Floats
from tacita.core.run import Run
from tacita.engine.attack.requirements import DOWN, OUTSIDER, UP, room
from tacita.methods.drafting.draft import NO_VARIABLE, StatedModel
from tacita.methods.moving.moves import Moves, outward

TELLING = 1e-9
"""Relative differences below this may be arithmetic; an end is not moved for them."""


def drawn_in(stated: StatedModel, x: Floats, run: Run) -> Floats:
    """The same variables with every end of an interval at a value that the outsider thinks possible, to the
    next whole step; as they are where the time ends first.
    """
    table, cells = stated.model.problem.table, stated.intervals
    reaches = stated.model.attacker_windows(x, *room(stated.model.problem, OUTSIDER))
    moves = Moves(table, *reaches, stated.scale)
    attained = np.zeros((2, len(table)))
    drawn = x.copy()
    for side, way, ends in ((0, UP, stated.end_above), (1, DOWN, stated.end_below)):
        for cell in cells[ends[cells] != NO_VARIABLE].tolist():
            units = x[ends[cell]] * stated.scale
            if units <= 0 or attained[side, cell] >= units * (1 - TELLING):
                continue
            if run.over:
                return drawn
            farthest, move = moves.farthest(cell, way, run)
            if move.size:
                attained[:, moves.cells] = np.maximum(attained[:, moves.cells], [move, -move])
            if farthest < units * (1 - TELLING):
                drawn[ends[cell]] = float(outward(np.array([farthest]), table.unit)[0]) / stated.scale
    return drawn
