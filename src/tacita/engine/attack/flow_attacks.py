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
from tacita.engine.attack.attacks import BlockedRequirement, Blocking
from tacita.engine.attack.presolved import PresolvedTable, WindowsAtPoint
from tacita.engine.attack.requirements import Requirements
from tacita.solvers.network import Network

if TYPE_CHECKING:
    from tacita.engine.attack import flows
    from tacita.engine.attack.flows import Flows


def network_of(presolved: PresolvedTable) -> Network | None:
    """The network of a large presolved, if it is one."""
    return Network.of(presolved.matrix) if len(presolved) >= LARGE else None


class FlowAttacks:
    """What blocks requirements at points of one presolved."""

    def __init__(self, presolved: PresolvedTable, network: Network) -> None:
        self.presolved, self.network = presolved, network

    def blocked(
        self,
        requirements: Requirements,
        which: Cells,
        reach: WindowsAtPoint,
        run: Run,
        enough: int | None = None,
    ) -> list[BlockedRequirement]:
        """Requirements of ``which`` that fail, until there are ``enough``; two cuts for some of them.

        Raises
        ------
        StoppedError
            The time was over before all of them were looked at.
        """
        found: list[BlockedRequirement] = []
        for attacker in np.unique(requirements.attacker[which]).tolist():
            his = which[requirements.attacker[which] == attacker]
            flow = flows_of(self.presolved, self.network, requirements[his], run)
            missed, looked = flow.blocked(
                reach.share, reach.above, reach.below, most=his.size if enough is None else enough
            )
            if run.over and looked < his.size:
                raise StoppedError("stopped before all requirements were looked at: allow more time")
            limits = iter(self._limits(requirements.cell[his], missed))
            for blocked in missed:
                ways = tuple(next(limits) for _ in blocked.prices)
                found.append(BlockedRequirement(int(his[blocked.requirement]), ways))
        return found

    def _limits(self, cells: Cells, missed: list[flows.BlockedFlow]) -> Iterator[Blocking]:
        """``c = way e_p - M' price``, for many prices at once."""
        places = self.presolved.position[cells]
        every = [(places[b.requirement], way, price) for b in missed for way, price in b.prices]
        if not every:
            return
        targets, ways = np.array([p for p, _, _ in every]), np.array([float(way) for _, way, _ in every])
        prices = csc_array(-np.array([price for _, _, price in every]).T)
        shape = len(self.presolved), len(every)
        own = csc_array((ways, (targets, np.arange(len(every)))), shape=shape)
        limits = csc_array(own + self.presolved.transposed @ prices)
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
    """Suppression patterns of one attacker's requirements on a network."""

    def __init__(
        self, presolved: PresolvedTable, network: Network, requirements: Requirements, run: Run
    ) -> None:
        self.requirements = requirements
        self._flows = flows_of(presolved, network, requirements, run)

    def unprotected(self, hidden: Mask) -> Cells:
        return self._flows.unprotected(hidden)

    def build(self, hidden: Mask, price: Floats, order: Cells) -> Mask | None:
        return self._flows.build(hidden, price, order)

    def clean(self, hidden: Mask, kept: Mask, price: Floats) -> Mask:
        removable = np.flatnonzero(hidden & ~kept)
        return self._flows.clean(hidden, removable[np.argsort(-price[removable], kind="stable")])


def flows_of(presolved: PresolvedTable, network: Network, requirements: Requirements, run: Run) -> Flows:
    """The requirements of one attacker, with cells numbered as in the presolved table."""
    from tacita.engine.attack.flows import Flows

    attacker = int(requirements.attacker[0]) if len(requirements) else -1
    local = Requirements(
        requirements.attacker,
        presolved.position[requirements.cell],
        requirements.sign,
        requirements.level,
        requirements.switch,
    )
    return Flows(network, *presolved.room(attacker), local, run)
