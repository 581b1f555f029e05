"""Every norm as a quadratic or a second-order cone program in Clarabel.

Cells are counted in shares of what they cost, ``s = w x`` (``s = sqrt(w) x`` for squares), so that weights
that differ by many orders of magnitude give losses of one size; the whole is divided by the largest ``s``
that is forced, and every equation by its largest entry.

| norm | formulation | program, each over ``M x = 0, lower <= x <= upper`` |
|---|---|---|
| ``l1`` | cones | ``min sum t_i : \\|s_i\\| <= t_i`` |
| ``l2`` | quadratic | ``min sum s_i^2`` |
| ``l2`` | cones | ``min t : \\|(s, (t - 1) / 2)\\| <= (t + 1) / 2``, which says ``sum s_i^2 <= t`` |
| ``huber`` | cones | ``min sum t_i - w_i delta : \\|(w_i delta, s_i)\\| <= t_i`` |
| ``linf`` | cones | ``min t : \\|s_i\\| <= t`` |

An interior point keeps equations and bounds up to a tolerance only. It is moved inside its bounds and then
onto the equations, and its loss is compared with what its prices prove: only a gap below 1e-6 is an answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacita.core.errors import InfeasibleError, SolverError, StoppedError
from tacita.core.exact import Floats, Mask
from tacita.core.run import Run
from tacita.methods.adjustment.convex.boxed import NONE_WITHIN, Boxed, PricedPoint
from tacita.methods.adjustment.convex.newton import onto_equations

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


def by_cones(boxed: Boxed, quadratic: bool, run: Run) -> PricedPoint:
    """The least adjustment.

    Raises
    ------
    InfeasibleError
        There is none: prices prove it.
    StoppedError
        The time was over.
    SolverError
        Clarabel found neither an adjustment with a gap below 1e-6 nor a proof that there is none.
    """
    import clarabel
    from scipy.sparse import csc_array, diags_array

    scales, n = _scales(boxed), boxed.lower.size
    blocks = [_equations(boxed, scales), _bounds(boxed, scales)]
    squares = quadratic and boxed.norm == "l2"
    tops, cost, cone = (0, np.zeros(0), None) if squares else _cone(boxed, scales)
    blocks += [] if cone is None else [cone]
    rows, rhs = _stacked(blocks, n + tops)
    curve = np.append(2.0 * (boxed.weight > 0.0), np.zeros(tops)) if squares else np.zeros(n + tops)
    solver = clarabel.DefaultSolver(
        csc_array(diags_array(curve)),
        np.append(np.zeros(n), cost),
        rows,
        rhs,
        [cone for block in blocks for cone in block.cones],
        _settings(run),
    )
    solver.set_termination_callback(lambda _: run.over)
    solution = solver.solve()
    prices = -np.array(solution.z)[: boxed.equations] * scales.equation * scales.loss
    return _judged(
        boxed, str(solution.status), np.array(solution.x)[:n] * scales.cell, prices, solution.iterations, run
    )


def _scales(boxed: Boxed) -> _Scales:
    weight = np.where(boxed.weight > 0.0, boxed.weight, 1.0)
    cell = 1.0 / (np.sqrt(weight) if boxed.norm == "l2" else weight)
    forced = float(np.abs(boxed.resting / cell).max(initial=0.0)) or 1.0
    cell = cell * forced
    largest = np.asarray(abs(boxed.by_cell.multiply(cell[:, None])).max(axis=0).todense()).ravel()
    largest[largest == 0.0] = 1.0
    return _Scales(cell, 1.0 / largest, forced**2 if boxed.norm == "l2" else forced)


def _equations(boxed: Boxed, scales: _Scales) -> _Block:
    import clarabel
    from scipy.sparse import csr_array, diags_array

    rows = diags_array(scales.equation) @ boxed.by_cell.T @ diags_array(scales.cell)
    return _Block(csr_array(rows), np.zeros(boxed.equations), [clarabel.ZeroConeT(boxed.equations)])


def _bounds(boxed: Boxed, scales: _Scales) -> _Block:
    import clarabel
    from scipy.sparse import vstack

    fixed = boxed.fixed
    above, below = np.isfinite(boxed.upper) & ~fixed, np.isfinite(boxed.lower) & ~fixed
    rows = vstack([_unit(fixed, 1.0), _unit(above, 1.0), _unit(below, -1.0)], format="csr")
    bound = [boxed.lower[fixed], boxed.upper[above], -boxed.lower[below]]
    cell = np.concatenate([scales.cell[chosen] for chosen in (fixed, above, below)])
    count = int(fixed.sum())
    cones = [clarabel.ZeroConeT(count), clarabel.NonnegativeConeT(cell.size - count)]
    return _Block(
        rows,
        np.concatenate(bound) / cell,
        [c for c, k in zip(cones, (count, cell.size - count), strict=True) if k],
    )


def _cone(boxed: Boxed, scales: _Scales) -> tuple[int, Floats, _Block]:
    """How many ``t`` there are, what they cost, and the cones that they are in with ``s``."""
    import clarabel
    from scipy.sparse import block_array, csr_array

    heavy = boxed.weight > 0.0
    k = int(heavy.sum())
    s = _unit(heavy, -1.0)
    if boxed.norm == "l2":
        # (t + 1, t - 1, 2 s), halved.
        head = csr_array(np.array([[-0.5], [-0.5]]))
        rows = block_array([[csr_array((2, heavy.size)), head], [s, csr_array((k, 1))]], format="csr")
        rhs = np.concatenate([[0.5, -0.5], np.zeros(k)])
        return 1, np.ones(1), _Block(rows, rhs, [clarabel.SecondOrderConeT(k + 2)])
    tops = 1 if boxed.norm == "linf" else k
    spread = 3 if boxed.norm == "huber" else 2
    ends = csr_array(
        (np.full(k, -1.0), (np.arange(k) * spread, np.arange(k) % max(tops, 1))), shape=(spread * k, tops)
    )
    place = csr_array((np.ones(k), (np.arange(k) * spread + spread - 1, np.arange(k))), shape=(spread * k, k))
    rhs = np.zeros(spread * k)
    if boxed.norm == "huber":
        rhs[1::3] = boxed.delta / scales.cell[heavy]
    rows = block_array([[place @ s, ends]], format="csr")
    return tops, np.ones(tops), _Block(rows, rhs, [clarabel.SecondOrderConeT(spread)] * k)


def _unit(chosen: Mask, sign: float) -> csr_array:
    from scipy.sparse import csr_array

    at = np.flatnonzero(chosen)
    return csr_array((np.full(at.size, sign), (np.arange(at.size), at)), shape=(at.size, chosen.size))


def _stacked(blocks: list[_Block], columns: int) -> tuple[csc_array, Floats]:
    from scipy.sparse import csr_array, vstack

    wide = [
        csr_array((b.rows.data, b.rows.indices, b.rows.indptr), shape=(b.rows.shape[0], columns))
        for b in blocks
    ]
    return vstack(wide, format="csc"), np.concatenate([block.rhs for block in blocks])


def _settings(run: Run) -> Any:
    import clarabel

    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = TOLERANCE
    if np.isfinite(run.remaining):
        settings.time_limit = max(run.remaining, 1e-3)
    return settings


def _judged(boxed: Boxed, status: str, x: Floats, prices: Floats, iterations: int, run: Run) -> PricedPoint:
    if status in ("MaxTime", "CallbackTerminated"):
        raise StoppedError("the time was over before the adjustment was found: allow more of it")
    if "PrimalInfeasible" in status and boxed.contradicted(prices):
        raise InfeasibleError(NONE_WITHIN)
    on = onto_equations(boxed, x, run) if np.isfinite(x).all() else None
    if on is not None and (boxed.proves(on, prices, GAP) or _past_proof(boxed, on, prices, status)):
        return PricedPoint(on, prices, iterations)
    remedy = (
        "another delta, nearer to the size of changes" if boxed.norm == "huber" else "another formulation"
    )
    raise SolverError(
        f"Clarabel ended with '{status}' and no adjustment whose loss its prices prove: try {remedy}"
    )


def _past_proof(boxed: Boxed, x: Floats, prices: Floats, status: str) -> bool:
    """Whether Clarabel must be believed: free cells without weight let no inexact prices prove anything."""
    return status == "Solved" and bool(np.isneginf(boxed.lagrange(x, prices)))
