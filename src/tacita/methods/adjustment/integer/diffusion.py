"""Whole steps plane by plane, for tables of three and more dimensions whose margins leave no room.

A plane is a network: cells that share the codes of all but two dimensions. Planes are rounded one after
another. What earlier planes have rounded away at a place, ``e = sum (x - t)`` over an equation that joins
planes, is given back by the next one,

    x = rounding of  t - e,

to the whole number below or above that, so that ``|e| < 1`` and ``|x - t| < 2``; the last plane follows from
the others. Where bounds are in the way cells go farther and ``e`` may grow. Planes with the most room come
last, and a few of them together are an integer program for what is left.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tacita.core.exact import Cells, Floats, Units
from tacita.core.run import Run
from tacita.methods.adjustment.integer.integer_flow import routed
from tacita.methods.adjustment.integer.integer_program import mend
from tacita.methods.adjustment.integer.planes import Planes
from tacita.methods.adjustment.integer.steps import FARTHEST, Steps
from tacita.solvers.network import Network

if TYPE_CHECKING:
    from scipy.sparse import csc_array

ASIDE = 1e3
"""Price of a step away from the two whole numbers around what a plane is asked for, in dearest steps."""


def plane_by_plane(steps: Steps, run: Run) -> Units | None:
    """Whole steps that hold; None where planes are no networks, or too little room is left."""
    structure = steps.structure
    if len(structure.dimensions) < 3 or len(structure.parts) > 1:
        return None
    planes = Planes.of(steps)
    value = np.where(steps.between, steps.target, steps.nearest)
    x, owed = steps.nearest.copy(), steps.matrix @ value
    for p in range(len(planes)):
        cells = planes.cells(p)
        found = _rounded(steps, planes.equations(p), cells, value[cells] - planes.share(p, owed), run)
        if found is None:
            return None
        x[cells] = found
        planes.settle(p, owed, np.asarray(found - value[cells], dtype=np.float64))
        run.tell("planes", p + 1, len(planes))
    return x if steps.holds(x) else mend(steps, x, planes.around(steps, x), run)


def _rounded(steps: Steps, equations: csc_array, cells: Cells, asked: Floats, run: Run) -> Units | None:
    """Whole steps of a plane near what is asked for; None if it is no network."""
    low, high = steps.low[cells], steps.high[cells]
    task = replace(steps.task, matrix=equations.tocsr(), weight=steps.task.weight[cells], side=None)
    plane = Steps(task, steps.structure, low, high, np.clip(asked, low, high))
    network, everything = Network.of(equations), np.arange(cells.size)
    if network is None:
        return None
    x = routed(plane, network, everything, plane.box(), run)
    if x is None:
        dearest = np.abs(
            plane.prices(everything, plane.below + 1) - plane.prices(everything, plane.below)
        ).max()
        pieces = plane.around_box(FARTHEST, ASIDE * (float(dearest) or 1.0))
        x = routed(plane, network, everything, pieces, run)
    return plane.below if x is None else x
