"""Every norm as a quadratic or a second-order cone program in Clarabel.

Changes are scaled by their weights, ``s = w x`` (``s = sqrt(w) x`` for squares), so that weights that differ
by many orders of magnitude give losses of one size. Then all are divided by the largest ``|s|`` that bounds
force, and every equation by its largest entry.

| norm | formulation | program, each over ``M x = 0, lower <= x <= upper`` |
|---|---|---|
| ``l1`` | cones | ``min sum t_i : \\|s_i\\| <= t_i`` |
| ``l2`` | quadratic | ``min sum s_i^2`` |
| ``l2`` | cones | ``min t : \\|(s, (t - 1) / 2)\\| <= (t + 1) / 2``, which says ``sum s_i^2 <= t`` |
| ``huber`` | cones | ``min sum t_i - w_i delta : \\|(w_i delta, s_i)\\| <= t_i`` |
| ``linf`` | cones | ``min t : \\|s_i\\| <= t`` |

An interior point satisfies equations and bounds up to a tolerance only. It is moved inside its bounds and
projected onto the equations; then its loss is compared with the bound that its dual values prove. Only a gap
below 1e-6 is accepted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacita.core.errors import SolverError
from tacita.core.exact import Floats, Mask
from tacita.core.run import Run
from tacita.methods.adjustment.convex.convex_program import (
    ConvexProgram,
    PrimalDualPoint,
    make_infeasible_error,
    make_timeout_error,
)
from tacita.methods.adjustment.convex.newton_method import project_onto_equations

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array

GAP = 1e-6
TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class _Block:
    """Rows ``rhs - rows (s, t)`` that lie in cones."""

    rows: csr_array
    rhs: Floats
    cones: list[Any]


@dataclass(frozen=True, eq=False)
class _Scales:
    """``x = s * cell``, and each equation times ``equation``; a loss is ``loss`` times that of ``s``."""

    cell: Floats
    equation: Floats
    loss: float


def solve_by_cones(program: ConvexProgram, quadratic: bool, run: Run) -> PrimalDualPoint:
    """Return the adjustment of least loss, with dual values, solved by Clarabel as a cone program."""
    import clarabel
    from scipy.sparse import csc_array, diags_array

    scales, n = _scales(program), program.lower.size
    blocks = [_build_equation_block(program, scales), _build_bound_block(program, scales)]
    squares = quadratic and program.norm == "l2"
    tops, cost, cone = (0, np.zeros(0), None) if squares else _build_cone_block(program, scales)
    blocks += [] if cone is None else [cone]
    rows, rhs = _stack(blocks, n + tops)
    curve = np.append(2.0 * (program.weight > 0.0), np.zeros(tops)) if squares else np.zeros(n + tops)
    solver = clarabel.DefaultSolver(
        csc_array(diags_array(curve)),
        np.append(np.zeros(n), cost),
        rows,
        rhs,
        [cone for block in blocks for cone in block.cones],
        _make_settings(run),
    )
    solver.set_termination_callback(lambda _: run.over)
    solution = solver.solve()
    duals = -np.array(solution.z)[: program.equations] * scales.equation * scales.loss
    return _verify(
        program, str(solution.status), np.array(solution.x)[:n] * scales.cell, duals, solution.iterations, run
    )


def _scales(program: ConvexProgram) -> _Scales:
    weight = np.where(program.weight > 0.0, program.weight, 1.0)
    cell = 1.0 / (np.sqrt(weight) if program.norm == "l2" else weight)
    forced = float(np.abs(program.least_change / cell).max(initial=0.0)) or 1.0
    cell = cell * forced
    largest = np.asarray(abs(program.by_cell.multiply(cell[:, None])).max(axis=0).todense()).ravel()
    largest[largest == 0.0] = 1.0
    return _Scales(cell, 1.0 / largest, forced**2 if program.norm == "l2" else forced)


def _build_equation_block(program: ConvexProgram, scales: _Scales) -> _Block:
    import clarabel
    from scipy.sparse import csr_array, diags_array

    rows = diags_array(scales.equation) @ program.by_cell.T @ diags_array(scales.cell)
    return _Block(csr_array(rows), np.zeros(program.equations), [clarabel.ZeroConeT(program.equations)])


def _build_bound_block(program: ConvexProgram, scales: _Scales) -> _Block:
    import clarabel
    from scipy.sparse import vstack

    fixed = program.fixed
    above, below = np.isfinite(program.upper) & ~fixed, np.isfinite(program.lower) & ~fixed
    rows = vstack([_unit_rows(fixed, 1.0), _unit_rows(above, 1.0), _unit_rows(below, -1.0)], format="csr")
    bound = [program.lower[fixed], program.upper[above], -program.lower[below]]
    cell = np.concatenate([scales.cell[chosen] for chosen in (fixed, above, below)])
    count = int(fixed.sum())
    cones = [clarabel.ZeroConeT(count), clarabel.NonnegativeConeT(cell.size - count)]
    return _Block(
        rows,
        np.concatenate(bound) / cell,
        [c for c, k in zip(cones, (count, cell.size - count), strict=True) if k],
    )


def _build_cone_block(program: ConvexProgram, scales: _Scales) -> tuple[int, Floats, _Block]:
    """Return the number of variables ``t`` of an adjustment's loss, their costs, and cones of ``t, s``."""
    import clarabel
    from scipy.sparse import block_array, csr_array

    heavy = program.weight > 0.0
    k = int(heavy.sum())
    s = _unit_rows(heavy, -1.0)
    if program.norm == "l2":
        # (t + 1, t - 1, 2 s), halved.
        head = csr_array(np.array([[-0.5], [-0.5]]))
        rows = block_array([[csr_array((2, heavy.size)), head], [s, csr_array((k, 1))]], format="csr")
        rhs = np.concatenate([[0.5, -0.5], np.zeros(k)])
        return 1, np.ones(1), _Block(rows, rhs, [clarabel.SecondOrderConeT(k + 2)])
    tops = 1 if program.norm == "linf" else k
    spread = 3 if program.norm == "huber" else 2
    ends = csr_array(
        (np.full(k, -1.0), (np.arange(k) * spread, np.arange(k) % max(tops, 1))), shape=(spread * k, tops)
    )
    place = csr_array((np.ones(k), (np.arange(k) * spread + spread - 1, np.arange(k))), shape=(spread * k, k))
    rhs = np.zeros(spread * k)
    if program.norm == "huber":
        rhs[1::3] = program.delta / scales.cell[heavy]
    rows = block_array([[place @ s, ends]], format="csr")
    return tops, np.ones(tops), _Block(rows, rhs, [clarabel.SecondOrderConeT(spread)] * k)


def _unit_rows(chosen: Mask, sign: float) -> csr_array:
    from scipy.sparse import csr_array

    at = np.flatnonzero(chosen)
    return csr_array((np.full(at.size, sign), (np.arange(at.size), at)), shape=(at.size, chosen.size))


def _stack(blocks: list[_Block], columns: int) -> tuple[csc_array, Floats]:
    from scipy.sparse import csr_array, vstack

    wide = [
        csr_array((b.rows.data, b.rows.indices, b.rows.indptr), shape=(b.rows.shape[0], columns))
        for b in blocks
    ]
    return vstack(wide, format="csc"), np.concatenate([block.rhs for block in blocks])


def _make_settings(run: Run) -> Any:
    import clarabel

    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = TOLERANCE
    if np.isfinite(run.remaining):
        settings.time_limit = max(run.remaining, 1e-3)
    return settings


def _verify(
    program: ConvexProgram, status: str, x: Floats, duals: Floats, iterations: int, run: Run
) -> PrimalDualPoint:
    """Return Clarabel's point as an adjustment, if dual values prove its loss least; else raise."""
    if status in ("MaxTime", "CallbackTerminated"):
        raise make_timeout_error()
    if "PrimalInfeasible" in status and program.proves_infeasible(duals):
        raise make_infeasible_error()
    near = project_onto_equations(program, x, run) if np.isfinite(x).all() else None
    if near is not None:
        # Where cells of weight 0 are unbounded inexact dual values prove nothing, and Clarabel is trusted.
        unprovable = status == "Solved" and bool(np.isneginf(program.lagrangian_bound(near, duals)))
        if unprovable or program.proves_gap(near, duals, GAP):
            return PrimalDualPoint(near, duals, iterations)
    other = (
        "another delta, nearer to the size of changes" if program.norm == "huber" else "another formulation"
    )
    raise SolverError(
        f"Clarabel ended with '{status}' and no adjustment whose loss its dual values prove",
        remedy=f"try {other}",
    )
