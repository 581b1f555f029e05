"""Protected patterns near a fractional point: hide what it mostly hides, complete the pattern, clean it.

The point of the relaxation guides the completion: a cell that it hides by share ``x_i`` costs ``w_i (1 -
x_i)``.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Protocol

import numpy as np

from tacita.core.errors import SolverError, StoppedError
from tacita.core.exact import Floats, Mask
from tacita.core.run import Run
from tacita.engine.attack.flows import Flows, find_network, make_flows
from tacita.engine.attack.patterns import PresolvedPatterns
from tacita.engine.attack.presolved import PresolvedTable
from tacita.engine.attack.requirements import Requirements
from tacita.engine.attack.separation import Separation
from tacita.engine.search.incumbent import ReleaseSearch

SHARES = (0.5, 0.999, 0.01, 0.2, 0.8)


def make_patterns(
    presolved: PresolvedTable, requirements: Requirements, run: Run
) -> PresolvedPatterns | Flows:
    """Return a builder of suppression patterns: flows on large networks, if one attacker, else programs."""
    network = None if requirements.conditional.any() else find_network(presolved)
    if network is None or np.unique(requirements.attacker).size > 1:
        return PresolvedPatterns(presolved, requirements, run)
    return make_flows(presolved, network, requirements, run)


class Patterns(Protocol):
    """A heuristic that returns protected patterns, as points, near fractional ones."""

    presolved: PresolvedTable

    def __call__(self, x: Floats, thorough: bool = False) -> Floats | None: ...

    def complete_near(self, hidden: Mask, share: Floats, noise: Floats | float = 1.0) -> Floats | None: ...


class Proposals:
    """A heuristic of one search in which every cell of the presolved table has its own switch."""

    def __init__(self, separation: Separation, search: ReleaseSearch) -> None:
        self.presolved, self.separation, self.search = separation.presolved, separation, search
        self._requirements: Requirements | None = None
        self._seen = set[bytes]()

    @property
    def patterns(self) -> PresolvedPatterns | Flows:
        """The builder of suppression patterns for the requirements that are listed now."""
        if self._requirements is not self.separation.requirements:
            self._requirements = self.separation.requirements
            self._patterns = make_patterns(self.presolved, self._requirements, self.search.run)
            self._order = np.argsort(-self._requirements.level, kind="stable")
        return self._patterns

    def __call__(self, x: Floats, thorough: bool = False) -> Floats | None:
        """Return the best protected pattern found near a fractional ``x``, as a point, or None without one.

        ``thorough`` tries several shares from which on a cell counts as hidden, not only one half.
        """
        share = x[self.presolved.switch]
        shares = SHARES if thorough and isinstance(self.patterns, Flows) else SHARES[:1]
        found = [self._complete_new(share > least, share) for least in shares]
        return min((y for y in found if y is not None), key=self.search.model.loss, default=None)

    def _complete_new(self, hidden: Mask, share: Floats) -> Floats | None:
        """Return the completed suppression pattern as a point, or None where it was completed before."""
        key = hidden.tobytes()
        if key in self._seen:
            return None
        self._seen.add(key)
        return self.complete_near(hidden, share)

    def complete_near(self, hidden: Mask, share: Floats, noise: Floats | float = 1.0) -> Floats | None:
        """Return a protected pattern that hides these cells and others of large ``share``, or None.

        ``noise`` multiplies the costs.
        """
        switch = self.presolved.switch
        # Nothing better than the incumbent hides cells that are fixed at 0.
        cost = np.where(self.search.upper[switch] > 0, self.search.model.cost[switch], np.inf)
        try:
            return self.complete(hidden, cost * (1.001 - share) * noise)
        except (StoppedError, SolverError):
            return None

    def complete(self, hidden: Mask, cost: Floats) -> Floats | None:
        """Return the cheapest protected pattern found that hides these cells, as a point, or None."""
        while True:
            patterns = self.patterns
            built = patterns.build(hidden, cost, self._order)
            if built is None:
                return None
            x, known = self._clean(patterns, built), len(self.separation.requirements)
            if self.separation.holds_against_insiders(x):
                return x
            if len(self.separation.requirements) == known:
                return None
            # The pattern meets all requirements but those that have just been listed.
            hidden = x[self.presolved.switch] > 0.5

    def _clean(self, patterns: PresolvedPatterns | Flows, hidden: Mask) -> Floats:
        """Return the suppression pattern without cells that it does not need, as a point of the model."""
        model, switch = self.search.model, self.presolved.switch
        with suppress(StoppedError, SolverError):
            hidden = patterns.clean(hidden, model.lower[switch] > 0, model.cost[switch])
        x = model.lower.copy()
        x[switch[hidden]] = 1.0
        return x
