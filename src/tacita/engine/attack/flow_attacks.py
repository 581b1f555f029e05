"""Separation and patterns on a network, by flows: the same questions as ``attacks.py`` and ``patterns.py``,
on tables of one or two dimensions (one of them with a hierarchy), much faster and exact.

Small networks are asked by linear programs all the same: they are done before the kernels are loaded.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csc_array

from tacita.core.compiled import LARGE
from tacita.core.errors import StoppedError
from tacita.core.exact import Cells, Floats, Mask
from tacita.core.run import Run
from tacita.engine.attack.arena import Arena, WindowsAtPoint
from tacita.engine.attack.attacks import BlockedDemand, Blocking
from tacita.engine.attack.demands import Demands
from tacita.solvers.network import Network

if TYPE_CHECKING:
    from tacita.engine.attack import flows
    from tacita.engine.attack.flows import Flows


def network_of(arena: Arena) -> Network | None:
    """The network of a large arena, if it is one."""
    return Network.of(arena.matrix) if len(arena) >= LARGE else None


class FlowAttacks:
    """What blocks demands at points of one arena."""

    def __init__(self, arena: Arena, network: Network) -> None:
        self.arena, self.network = arena, network

    def blocked(
        self, demands: Demands, which: Cells, reach: WindowsAtPoint, run: Run, enough: int | None = None
    ) -> list[BlockedDemand]:
        """Demands of ``which`` that fail, until there are ``enough``; two cuts for some of them.

        Raises
        ------
        StoppedError
            The time was over before all of them were looked at.
        """
        found: list[BlockedDemand] = []
        for attacker in np.unique(demands.attacker[which]).tolist():
            his = which[demands.attacker[which] == attacker]
            flow = flows_of(self.arena, self.network, demands[his], run)
            missed, looked = flow.blocked(
                reach.share, reach.above, reach.below, most=his.size if enough is None else enough
            )
            if run.over and looked < his.size:
                raise StoppedError("stopped before all demands were looked at: allow more time")
            limits = iter(self._limits(demands.cell[his], missed))
            for blocked in missed:
                ways = tuple(next(limits) for _ in blocked.prices)
                found.append(BlockedDemand(int(his[blocked.demand]), ways))
        return found

    def _limits(self, cells: Cells, missed: list[flows.BlockedFlow]) -> Iterator[Blocking]:
        """``c = way e_p - M' price``, for many prices at once."""
        places = self.arena.position[cells]
        every = [(places[b.demand], way, price) for b in missed for way, price in b.prices]
        if not every:
            return
        targets, ways = np.array([p for p, _, _ in every]), np.array([float(way) for _, way, _ in every])
        prices = csc_array(-np.array([price for _, _, price in every]).T)
        shape = len(self.arena), len(every)
        own = csc_array((ways, (targets, np.arange(len(every)))), shape=shape)
        limits = csc_array(own + self.arena.transposed @ prices)
        limits.eliminate_zeros()
        for j, way in enumerate(ways.tolist()):
            at = slice(limits.indptr[j], limits.indptr[j + 1])
            priced = slice(prices.indptr[j], prices.indptr[j + 1])
            yield Blocking(
                int(way),
                limits.indices[at].astype(np.int64),
                limits.data[at],
                prices.indices[priced].astype(np.int64),
                prices.data[priced],
            )


class FlowPatterns:
    """Suppression patterns of one attacker's demands on a network."""

    def __init__(self, arena: Arena, network: Network, demands: Demands, run: Run) -> None:
        self.demands = demands
        self._flows = flows_of(arena, network, demands, run)

    def unprotected(self, hidden: Mask) -> Cells:
        return self._flows.unprotected(hidden)

    def build(self, hidden: Mask, price: Floats, order: Cells) -> Mask | None:
        return self._flows.build(hidden, price, order)

    def clean(self, hidden: Mask, kept: Mask, price: Floats) -> Mask:
        removable = np.flatnonzero(hidden & ~kept)
        return self._flows.clean(hidden, removable[np.argsort(-price[removable], kind="stable")])


def flows_of(arena: Arena, network: Network, demands: Demands, run: Run) -> Flows:
    """The demands of one attacker, with cells numbered as in the arena."""
    from tacita.engine.attack.flows import Flows

    attacker = int(demands.attacker[0]) if len(demands) else -1
    local = Demands(
        demands.attacker, arena.position[demands.cell], demands.sign, demands.level, demands.switch
    )
    return Flows(network, *arena.room(attacker), local, run)
