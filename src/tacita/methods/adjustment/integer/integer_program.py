"""Whole steps by integer programs: for small tables as they are, in large ones for what must be mended.

With pieces ``p`` of cells in a set ``F`` and all other cells as they are in ``x``, the program is

    min  sum_p c_p k_p + price (s+ + s-)    s.t.  M_F sum_p sign_p k_p = -M x,    0 <= k <= most,  k whole,
                                                  least <= G (x + sum_p sign_p k_p) + s+ - s- <= most.

Rows that keep statistics can hardly ever be kept exactly by whole steps, hence the slack ``s``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from tacita.core.exact import Floats, Mask, Units
from tacita.core.run import Run
from tacita.methods.adjustment.integer.steps import FARTHEST, Steps
from tacita.methods.adjustment.task import Side
from tacita.solvers.highs import solve_mip
from tacita.solvers.integer_pieces import Pieces
from tacita.solvers.integer_programs import solve_roughly, stopped
from tacita.solvers.linear_program import IntegerProgram

NEAR = 1
"""Steps beyond the two numbers around its target that a cell may take where that suffices."""
NODES = 20
"""Of a search: good points come early, and nobody asks for a proof that there is none a hair cheaper."""
MISSED = 10.0
"""What a statistic costs that is missed by a step of its largest coefficient, in the dearest steps."""
DEAREST = 1e3
"""What the dearest step costs in a program: HiGHS judges costs by absolute tolerances."""


def by_program(steps: Steps, x: Units, pieces: Pieces, run: Run) -> Units | None:
    """Cheap pieces with which all adds up, taken from ``x``; None if there are none, which is then proven."""
    from scipy.sparse import csr_array

    size = pieces.cell.size
    missing = -(steps.matrix @ x)
    if not size:
        return None if missing.any() else x
    rows = pieces.columns(steps.matrix)
    touched = np.diff(rows.indptr) > 0
    if missing[~touched].any():
        return None
    even = missing[touched].astype(np.float64)
    dearest = float(np.abs(pieces.cost).max()) or 1.0
    program = IntegerProgram(
        pieces.cost * (DEAREST / dearest),
        np.zeros(size),
        pieces.most.astype(np.float64),
        csr_array(rows[np.flatnonzero(touched)]),
        even,
        even,
        np.ones(size, dtype=bool),
    )
    side = steps.task.side
    taken = solve_roughly(program, run) if side is None else _kept(program, side, steps, pieces, x, run)
    if taken is None:
        return None
    found = x + pieces.moved(np.rint(taken[:size]).astype(np.int64), len(steps))
    return found if steps.holds(found) else None


def in_all_cells(steps: Steps, run: Run) -> Units | None:
    """Cheap whole steps near the targets, or else anywhere inside the bounds; None if there are none."""
    for reach in (NEAR, NEAR + steps.imbalance, FARTHEST):
        x = by_program(steps, steps.below, steps.around_box(reach), run)
        if x is not None:
            return x
    return None


def mend(steps: Steps, x: Units, neighbourhoods: Iterable[Mask], run: Run) -> Units | None:
    """Whole steps near ``x``, which misses bounds or equations, changed in the first of some neighbourhoods
    that allows it; None if none does.
    """
    inside = np.clip(x, steps.low, steps.high)
    for free in neighbourhoods:
        pieces = steps.around(inside, np.flatnonzero(free & steps.movable), NEAR)
        # As few steps as can be: a search whose losses are small whole numbers soon ends.
        found = by_program(steps, inside, replace(pieces, cost=np.ones(pieces.cell.size)), run)
        if found is not None:
            return found
    return None


def _kept(
    program: IntegerProgram, side: Side, steps: Steps, pieces: Pieces, x: Units, run: Run
) -> Floats | None:
    from scipy.sparse import csr_array, eye_array, hstack, vstack

    count, none = side.rows.shape[0], program.rows.shape[0]
    rows = pieces.columns(side.rows) * float(steps.task.step)
    largest = np.maximum(abs(rows).max(axis=1).toarray().ravel(), np.finfo(np.float64).tiny)
    # Each row is measured in its largest coefficient.
    rows = csr_array(rows.multiply((1.0 / largest)[:, None]))
    start = side.rows @ (x * float(steps.task.step))
    slack = eye_array(count, format="csr")
    elastic = IntegerProgram(
        np.append(program.cost, np.full(2 * count, MISSED * DEAREST)),
        np.append(program.lower, np.zeros(2 * count)),
        np.append(program.upper, np.full(2 * count, np.inf)),
        csr_array(
            vstack([hstack([program.rows, csr_array((none, 2 * count))]), hstack([rows, slack, -slack])])
        ),
        np.append(program.row_lower, (side.least - start) / largest),
        np.append(program.row_upper, (side.most - start) / largest),
        np.append(program.integer, np.zeros(2 * count, dtype=bool)),
    )
    found = solve_mip(elastic, run, nodes=NODES)
    if not found.point.size and run.over:
        raise stopped(run)
    return found.point if found.point.size else None
