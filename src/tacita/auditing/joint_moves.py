"""Joint moves: one linear program whose move proves many targets of a large block.

For targets ``P``, direction ``s`` and levels ``l``

    max  sum_{p in P} s z_p / l_p    s.t.  M z = 0,  low <= z <= high,  s z_p <= l_p for p in P.

No target gains from going beyond its level, so each leaves room for the others. Of the other columns, which
only balance the equations, a few per equation are enough. Every column with a cost is bounded in its
direction, so that the dual simplex can start where nothing moves.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csc_array, csr_array

from tacita.core.exact import Cells, Floats
from tacita.core.run import Run
from tacita.solvers.highs import Ended, Session
from tacita.solvers.linear_program import LinearProgram

MANY = 50
"""Fewer targets are judged one by one."""
WORTHWHILE = 0.1
"""Another round follows one that proved at least this share of its targets."""
HELPERS = 20
"""Columns of every equation that may move besides the targets."""
PIVOTS = 3
"""Pivots allowed per equation and target. Networks need fewer; after more the vertex is rarely made exact."""


def is_flat(columns: csc_array) -> bool:
    """Return whether most cells of an audited block lie in at most two equations, as in two dimensions.

    Beyond them pivots are slow, and the denominators of a move for many targets are too large.
    """
    return bool(np.median(np.diff(columns.indptr)) <= 2)


def find_joint_move(
    rows: csr_array,
    columns: csc_array,
    low: Floats,
    high: Floats,
    targets: Cells,
    levels: Floats,
    sign: int,
    run: Run,
) -> Floats | None:
    """Return one move that proves many targets of the audit up to their levels, or None without one."""
    used = np.union1d(targets, _draw_helpers(rows, seed=targets.size))
    at = np.searchsorted(used, targets)
    lower, upper, costs = low[used], high[used], np.zeros(used.size)
    if sign > 0:
        upper[at] = np.minimum(upper[at], levels)
    else:
        lower[at] = np.maximum(lower[at], -levels)
    costs[at] = -sign / levels
    program = LinearProgram.of_equations(columns[:, used], lower, upper, np.zeros(rows.shape[0]))
    session = Session(program, from_slack_basis=True)
    answer = session.minimise(costs, run, most_pivots=PIVOTS * (rows.shape[0] + targets.size))
    if answer.status is not Ended.OPTIMAL:
        return None
    move = np.zeros(low.size)
    move[used] = answer.point
    return move


def _draw_helpers(rows: csr_array, seed: int) -> Cells:
    """Return columns of an audited block that may move besides targets: some per equation, at random."""
    draws = np.random.default_rng(seed).random((rows.shape[0], HELPERS))
    places = rows.indptr[:-1, None] + np.floor(draws * np.diff(rows.indptr)[:, None])
    return np.unique(rows.indices[places.astype(np.int64)])
