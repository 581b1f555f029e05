"""Intervals without impossible values.

An interval may be wider than the values that a reader can deduce from the rest of the release. Tightening it
to the attainable values changes nothing for anyone. Let ``R = {y : M y = b, l <= y <= u, lower <= y <=
upper}`` be the tables that the outsider considers possible, and ``[l'_i, u'_i]`` the smallest and the largest
``y_i`` in it. ``R`` lies within the new intervals, and these within the old, so ``R`` stays the same when all
are tightened at once: one round is enough. Each end is then attained, and each value between, as ``R`` is
convex. Insiders consider a subset of ``R`` possible, the same as before. For counts ``y`` is integer.

With positive weights an optimum is tight: an end that no requirement's witness reaches could be moved for a
gain, and every witness lies in ``R``. Intervals that are not tight come from zero weights, from ends rounded
to integer steps, and from solutions that are not proven optimal.
"""

from __future__ import annotations

import numpy as np

from tacita.core.exact import Floats
from tacita.core.run import Run
from tacita.engine.attack.requirements import DOWN, OUTSIDER, UP, find_room
from tacita.methods.modelling.model_builder import NO_VARIABLE, ReleaseModel
from tacita.methods.protection.attacker_moves import AttackerMoves, round_outward

TELLING = 1e-9
"""Relative differences below this may be rounding errors; an end is not moved for them."""


def tighten_intervals(built: ReleaseModel, x: Floats, run: Run) -> Floats:
    """Return a method's variables with every end of an interval at a value that the outsider considers
    possible, to the next integer step; unchanged where the time ends first.
    """
    table, cells = built.model.problem.table, built.intervals
    reaches = built.model.find_attacker_windows(x, *find_room(built.model.problem, OUTSIDER))
    moves = AttackerMoves(table, *reaches, built.scale)
    attained = np.zeros((2, len(table)))
    drawn = x.copy()
    for side, sign, ends in ((0, UP, built.end_above), (1, DOWN, built.end_below)):
        for cell in cells[ends[cells] != NO_VARIABLE].tolist():
            units = x[ends[cell]] * built.scale
            if units <= 0 or attained[side, cell] >= units * (1 - TELLING):
                continue
            if run.over:
                return drawn
            farthest, move = moves.find_farthest(cell, sign, run)
            if move.size:
                attained[:, moves.cells] = np.maximum(attained[:, moves.cells], [move, -move])
            if farthest < units * (1 - TELLING):
                drawn[ends[cell]] = float(round_outward(np.array([farthest]), table.unit)[0]) / built.scale
    return drawn
