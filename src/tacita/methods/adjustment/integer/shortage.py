"""What to say where no whole numbers exist inside the bounds.

    min  sum_j |s_j|    s.t.  M x = s,   low <= x <= high,   x whole:

equations with ``s_j != 0`` are the fewest steps by which whole numbers miss.
"""

from __future__ import annotations

import numpy as np

from tacita.core.errors import InfeasibleError, likewise
from tacita.core.exact import Cells
from tacita.core.run import Run
from tacita.methods.adjustment.integer.steps import Steps
from tacita.solvers.highs import solve_mip
from tacita.solvers.linear_program import IntegerProgram

NODES = 100


def refuse_empty_bounds(steps: Steps) -> None:
    """
    Raises
    ------
    InfeasibleError
        A cell has no multiple of the step within its bounds.
    """
    empty = np.flatnonzero(steps.low > steps.high)
    if empty.size:
        raise InfeasibleError(
            f"no change of ({steps.structure.name(int(empty[0]))}) within its capacity is a multiple "
            f"of {_step(steps)}{likewise(empty.size, 'cell')}: widen the capacity to the next multiple"
        )


def shortage(steps: Steps, run: Run) -> InfeasibleError:
    """The error that names equations which whole numbers miss."""
    missed = _missed(steps, run)
    if not missed.size or steps.matrix.shape[0] != len(steps.structure.equations):
        where = "all equations"
        remedy = "widen capacities"
    else:
        row = steps.matrix[[int(missed[0])]]
        where = steps.structure.describe_equation(int(missed[0])) + likewise(missed.size, "equation")
        remedy = f"widen those of {steps.structure.names(row.indices, 3)}"
    return InfeasibleError(
        f"capacities are too tight for whole numbers: no multiples of {_step(steps)} within them satisfy "
        f"{where}; {remedy}"
    )


def _step(steps: Steps) -> str:
    return f"{steps.task.step / steps.task.one:g}"


def _missed(steps: Steps, run: Run) -> Cells:
    from scipy.sparse import csr_array, eye_array, hstack

    count, size = steps.matrix.shape
    slack = eye_array(count, format="csr")
    start = steps.below
    missing = -(steps.matrix @ start).astype(np.float64)
    program = IntegerProgram(
        np.append(np.zeros(size), np.ones(2 * count)),
        np.append((steps.low - start).astype(np.float64), np.zeros(2 * count)),
        np.append((steps.high - start).astype(np.float64), np.full(2 * count, np.inf)),
        csr_array(hstack([steps.matrix.astype(np.float64), slack, -slack])),
        missing,
        missing,
        np.ones(size + 2 * count, dtype=bool),
    )
    found = solve_mip(program, run, nodes=NODES)
    short = (
        found.point[size : size + count] + found.point[size + count :]
        if found.point.size
        else np.zeros(count)
    )
    return np.flatnonzero(short > 0.5)
