"""The demands that given windows leave unmet: for methods that choose without looking at levels.

On a large network they are asked by flows, elsewhere by linear programs.
"""

from __future__ import annotations

import numpy as np

from tacita.compiled import LARGE
from tacita.engine.demands import Demands, all_demands, outsider_demands, room
from tacita.engine.model import NO_SWITCH, Affine, Model
from tacita.engine.network import Network
from tacita.exact import Floats, Units
from tacita.methods.moving.moves import unmet
from tacita.problem import Problem
from tacita.run import Run


def missed(problem: Problem, above: Units, below: Units, run: Run, network: Network | None = None) -> Demands:
    """Demands of any attacker that fail when cell ``i`` lies between ``a_i - below_i`` and ``a_i + above_i``.

    ``network`` is that of the table, if it is at hand. What was not looked at when the time ended is not
    among them: the audit will find it.
    """
    if len(problem.table) >= LARGE and network is None:
        network = Network.of(problem.table.equations.matrix)
    if len(problem.table) < LARGE or network is None:
        model = _fixed(problem, above.astype(np.float64), below.astype(np.float64))
        return unmet(model, np.zeros(0), problem.table.unit, run)
    return _by_flows(problem, above, below, network, run)


def _by_flows(problem: Problem, above: Units, below: Units, network: Network, run: Run) -> Demands:
    from tacita.engine.flows import Flows

    demands, step = all_demands(problem), problem.table.unit
    published, failed = np.zeros(above.size), np.zeros(len(demands), dtype=bool)
    for attacker in np.unique(demands.attacker):
        his = np.flatnonzero(demands.attacker == attacker)
        up, down = room(problem, int(attacker))
        # Counts move by whole steps, and on a network within whole windows.
        above_him, below_him = np.minimum(up, above) // step * step, np.minimum(down, below) // step * step
        flows = Flows(network, up, down, demands[his], run)
        found, _ = flows.blocked(published, above_him, below_him, most=his.size)
        failed[his[[blocked.demand for blocked in found]]] = True
    return demands[failed]


def _fixed(problem: Problem, above: Floats, below: Floats) -> Model:
    """A model without variables."""
    from scipy.sparse import csr_array

    nothing, n = np.zeros(0), len(problem.table)
    return Model(
        problem,
        nothing,
        nothing,
        nothing,
        np.zeros(0, dtype=bool),
        csr_array((0, 0)),
        nothing,
        nothing,
        Affine(above, csr_array((n, 0))),
        Affine(below, csr_array((n, 0))),
        np.full(n, NO_SWITCH),
        outsider_demands(problem),
    )
