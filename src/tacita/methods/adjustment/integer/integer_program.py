"""Integer steps by integer programs: of all cells in small tables, of some cells for repairs in large ones.

With pieces ``p`` of cells in a set ``F`` and all other cells fixed in ``x``, the program is

    min  sum_p c_p k_p + penalty (s+ + s-)  s.t.  M_F sum_p sign_p k_p = -M x,    0 <= k <= most,  k integer,
                                                  least <= G (x + sum_p sign_p k_p) + s+ - s- <= most.

Integer steps can hardly ever satisfy side constraints exactly, hence the slack ``s``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from tacita.core.exact import Floats, Mask, Units
from tacita.core.run import Run
from tacita.methods.adjustment.integer.step_task import FARTHEST, StepTask
from tacita.methods.adjustment.task import SideConstraints
from tacita.solvers.highs import solve_mip
from tacita.solvers.integer_pieces import Pieces
from tacita.solvers.integer_programs import find_cheap_point, make_no_point_error
from tacita.solvers.linear_program import IntegerProgram

NEAR = 1
"""Steps beyond the two integers around its target that a cell may take at first."""
NODES = 20
"""Of a search: good points come early, and a proof of optimality is not needed."""
MISSED = 10.0
"""Penalty for missing a statistic by a step of its largest coefficient, in costs of the costliest step."""
MOST_EXPENSIVE = 1e3
"""Cost of the most expensive step in a program: HiGHS judges costs by absolute tolerances."""


def solve_program(steps: StepTask, x: Units, pieces: Pieces, run: Run) -> Units | None:
    """Return an adjustment in integer steps, ``x`` plus cheap pieces that add up; None if none is found."""
    from scipy.sparse import csr_array

    size = pieces.cell.size
    missing = -(steps.matrix @ x)
    if not size:
        return None if missing.any() else x
    rows = pieces.make_columns(steps.matrix)
    touched = np.diff(rows.indptr) > 0
    if missing[~touched].any():
        return None
    even = missing[touched].astype(np.float64)
    most_expensive = float(np.abs(pieces.cost).max()) or 1.0
    program = IntegerProgram(
        pieces.cost * (MOST_EXPENSIVE / most_expensive),
        np.zeros(size),
        pieces.most.astype(np.float64),
        csr_array(rows[np.flatnonzero(touched)]),
        even,
        even,
        np.ones(size, dtype=bool),
    )
    side = steps.task.side
    taken = (
        find_cheap_point(program, run)
        if side is None
        else _solve_with_side(program, side, steps, pieces, x, run)
    )
    if taken is None:
        return None
    found = x + pieces.sum_changes(np.rint(taken[:size]).astype(np.int64), len(steps))
    return found if steps.is_feasible(found) else None


def round_by_program(steps: StepTask, run: Run) -> Units | None:
    """Return cheap integer steps of an adjustment near its targets, or else in the bounds; None if none."""
    for reach in (NEAR, NEAR + steps.imbalance, FARTHEST):
        x = solve_program(steps, steps.below, steps.make_pieces_around_box(reach), run)
        if x is not None:
            return x
    return None


def repair_steps(steps: StepTask, x: Units, neighbourhoods: Iterable[Mask], run: Run) -> Units | None:
    """Return feasible integer steps of an adjustment near the infeasible ``x``, changed within the first of
    some neighbourhoods where that is possible; None if there is none.
    """
    inside = np.clip(x, steps.low, steps.high)
    for free in neighbourhoods:
        pieces = steps.make_pieces_around(inside, np.flatnonzero(free & steps.movable), NEAR)
        # The number of steps is minimised: searches with small integer losses end soon.
        found = solve_program(steps, inside, replace(pieces, cost=np.ones(pieces.cell.size)), run)
        if found is not None:
            return found
    return None


def _solve_with_side(
    program: IntegerProgram, side: SideConstraints, steps: StepTask, pieces: Pieces, x: Units, run: Run
) -> Floats | None:
    from scipy.sparse import csr_array, eye_array, hstack, vstack

    count, none = side.rows.shape[0], program.rows.shape[0]
    rows = pieces.make_columns(side.rows) * float(steps.task.step)
    largest = np.maximum(abs(rows).max(axis=1).toarray().ravel(), np.finfo(np.float64).tiny)
    # Each row is measured in its largest coefficient.
    rows = csr_array(rows.multiply((1.0 / largest)[:, None]))
    start = side.rows @ (x * float(steps.task.step))
    slack = eye_array(count, format="csr")
    elastic = IntegerProgram(
        np.append(program.cost, np.full(2 * count, MISSED * MOST_EXPENSIVE)),
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
        raise make_no_point_error(run)
    return found.point if found.point.size else None
