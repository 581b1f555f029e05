"""From a fractional point to a protected pattern: hide what the point mostly hides, complete it, clean it up.

The point of the relaxation prices the completion: a cell that the relaxation has by share ``x_i`` costs only
``w_i (1 - x_i)``.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from tacita.core.errors import SolverError, StoppedError
from tacita.core.exact import Floats, Mask
from tacita.core.run import Run
from tacita.engine.attack.flow_attacks import FlowPatterns, network_of
from tacita.engine.attack.patterns import PresolvedPatterns
from tacita.engine.attack.presolved import PresolvedTable
from tacita.engine.attack.requirements import Requirements
from tacita.engine.attack.separation import Separation
from tacita.engine.search.incumbent import ReleaseSearch

SHARES = (0.5, 0.999, 0.01, 0.2, 0.8)


def patterns_for(
    presolved: PresolvedTable, requirements: Requirements, run: Run
) -> PresolvedPatterns | FlowPatterns:
    """Patterns by flows where the table is a large network seen by one attacker, else by linear programs."""
    network = network_of(presolved) if (requirements.switch < 0).all() else None
    if network is None or np.unique(requirements.attacker).size > 1:
        return PresolvedPatterns(presolved, requirements, run)
    return FlowPatterns(presolved, network, requirements, run)


class Proposals:
    """Patterns for one search. Every cell of the presolved table has its own switch."""

    def __init__(self, separation: Separation, search: ReleaseSearch) -> None:
        self.presolved, self.separation, self.search = separation.presolved, separation, search
        self._requirements: Requirements | None = None
        self._seen = set[bytes]()

    @property
    def patterns(self) -> PresolvedPatterns | FlowPatterns:
        """Patterns for the requirements that are listed now."""
        if self._requirements is not self.separation.requirements:
            self._requirements = self.separation.requirements
            self._patterns = patterns_for(self.presolved, self._requirements, self.search.run)
            self._order = np.argsort(-self._requirements.level, kind="stable")
        return self._patterns

    def __call__(self, x: Floats, thorough: bool = False) -> Floats | None:
        """The best pattern found near ``x``, or None if there is none or the time is over.

        ``thorough`` tries several shares from which on a cell counts as hidden, not only one half.
        """
        share = x[self.presolved.switch]
        shares = SHARES if thorough and isinstance(self.patterns, FlowPatterns) else SHARES[:1]
        found = [self._completed(share > least, share) for least in shares]
        return min((y for y in found if y is not None), key=self.search.model.loss, default=None)

    def _completed(self, hidden: Mask, share: Floats) -> Floats | None:
        mark = hidden.tobytes()
        if mark in self._seen:
            return None
        self._seen.add(mark)
        return self.near(hidden, share)

    def near(self, hidden: Mask, share: Floats, noise: Floats | float = 1.0) -> Floats | None:
        """These cells and what protection needs besides, cheapest as ``share`` has it; None if that fails."""
        try:
            return self.completed(hidden, self._price() * (1.001 - share) * noise)
        except (StoppedError, SolverError):
            return None

    def completed(self, hidden: Mask, price: Floats) -> Floats | None:
        """The cheapest found point that hides these cells and protects everything, cleaned up; or None."""
        while True:
            patterns = self.patterns
            built = patterns.build(hidden, price, self._order)
            if built is None:
                return None
            x, known = self._finished(patterns, built), len(self.separation.requirements)
            if self.separation.insiders_hold(x):
                return x
            if len(self.separation.requirements) == known:
                return None
            # What is hidden already protects all others.
            hidden = x[self.presolved.switch] > 0.5

    def _finished(self, patterns: PresolvedPatterns | FlowPatterns, hidden: Mask) -> Floats:
        """The pattern without what it does not need, as a point of the model."""
        model, switch = self.search.model, self.presolved.switch
        with suppress(StoppedError, SolverError):
            hidden = patterns.clean(hidden, model.lower[switch] > 0, model.cost[switch])
        x = model.lower.copy()
        x[switch[hidden]] = 1.0
        return x

    def _price(self) -> Floats:
        """What hiding costs; infinite for cells that nothing better than the incumbent can hide."""
        switch = self.presolved.switch
        return np.where(self.search.upper[switch] > 0, self.search.model.cost[switch], np.inf)
