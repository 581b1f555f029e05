"""Cox's network heuristic for secondary suppression: one primary cell at a time, by a flow of least cost.

Equations are nodes and cells are arcs. To let primary cell ``p`` move by its level ``L``, a flow of that size
runs around a cycle through ``p``:

    min  sum_i c_i (f_i + g_i)    s.t.  M (f - g) = 0,  f_p - g_p = L,  0 <= f <= up,  0 <= g <= down

with ``c_i`` the cost of cell ``i`` per unit, or almost 0 where it is suppressed already. Every cell with flow
is suppressed. The sum over all primary cells is in general not the least possible one; the heuristic is
offered for comparison with the literature and with programs that use it.
"""

from __future__ import annotations

import numpy as np

from tacita.core.errors import InfeasibleError, InputError
from tacita.core.exact import Floats, Mask
from tacita.core.run import Run
from tacita.engine.attack.requirements import DOWN, SLIDING, UP, find_room
from tacita.engine.model import Model
from tacita.solvers.cheapest_flow import find_cheapest_flow
from tacita.solvers.network import Network

NEGLIGIBLE = 1e-6
"""Cost of a suppressed cell, relative to the least cost: it is used first, and cycles stay short."""
SHARES = (1.0, 0.0, 0.5, 0.75, 0.25)
"""Shares of a sliding level that are tried upwards, the rest downwards."""


def suppress_one_by_one(model: Model, hidden: Mask, apart: bool, run: Run) -> Mask:
    """Return ``hidden`` with the secondary suppressions that each level needs, in the order of the cells.

    Parameters
    ----------
    apart
        No cycle goes through another primary cell.

    Raises
    ------
    InputError
        The equations of the table are no network.
    InfeasibleError
        A level cannot be met whatever is suppressed.
    """
    network = Network.of(model.problem.table.equations.matrix.tocsc())
    if network is None:
        raise InputError(
            "option 'search' = network is for tables that are networks: one or two dimensions, one of them "
            "with a hierarchy",
            remedy="Use search = auto",
            options=("search=auto",),
        )
    routes, hidden = _Routes(model, network, apart, run), hidden.copy()
    requirements = model.requirements
    for d in np.argsort(requirements.cell, kind="stable").tolist():
        cell, sign, level = int(requirements.cell[d]), int(requirements.sign[d]), int(requirements.level[d])
        if requirements.switch[d] >= 0 and not hidden[cell]:
            continue
        used = routes.find_cells(int(requirements.attacker[d]), cell, sign, level, hidden)
        if used is None:
            raise InfeasibleError(
                "no flow meets its level through the cells that may be suppressed",
                place=f"({model.problem.table.name(cell)})",
                remedy="Use search = auto, which says what stands in the way",
                options=("search=auto",),
                cell=cell,
            )
        hidden |= used
    return hidden


class _Routes:
    """Flows of least cost through the cells of one table."""

    def __init__(self, model: Model, network: Network, apart: bool, run: Run) -> None:
        self.model, self.network, self.run = model, network, run
        self._closed = model.problem.levels.sensitive if apart else np.zeros(len(model.problem.table), bool)
        least = model.cost[model.cost > 0].min(initial=1.0)
        self._negligible = NEGLIGIBLE * float(least)

    def find_cells(self, attacker: int, cell: int, sign: int, level: int, hidden: Mask) -> Mask | None:
        """Return which cells to suppress so that a flow meets a level, or None if none can."""
        if sign != SLIDING:
            return self._find_flow(attacker, cell, sign, level, hidden)
        for share in SHARES:
            upwards = round(share * level)
            parts = [(sign, amount) for sign, amount in ((UP, upwards), (DOWN, level - upwards)) if amount]
            used = [self._find_flow(attacker, cell, sign, amount, hidden) for sign, amount in parts]
            if all(cells is not None for cells in used):
                return np.asarray(np.any([cells for cells in used if cells is not None], axis=0))
        return None

    def _find_flow(self, attacker: int, cell: int, sign: int, amount: int, hidden: Mask) -> Mask | None:
        network, model = self.network, self.model
        up, down = find_room(model.problem, attacker)
        if (up if sign == UP else down)[cell] < amount:
            return None
        usable = (hidden | (model.upper > 0)) & ~self._closed
        usable[cell] = False
        capacity = np.where(np.tile(usable, 2), np.minimum(np.concatenate([up, down]), amount), 0.0)
        cost: Floats = np.where(hidden, self._negligible, np.maximum(model.cost, self._negligible))
        supply = np.zeros(network.n_nodes, dtype=np.int64)
        supply[network.head[cell]] += sign * amount
        supply[network.tail[cell]] -= sign * amount
        flow = find_cheapest_flow(
            network.n_nodes,
            np.concatenate([network.tail, network.head]),
            np.concatenate([network.head, network.tail]),
            capacity.astype(np.int64),
            np.tile(cost, 2),
            supply,
            self.run,
        )
        if flow is None:
            return None
        carried = flow.amount.reshape(2, -1)
        used = np.asarray(carried[0] != carried[1])
        used[cell] = True
        return used
