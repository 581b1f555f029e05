"""Local search around the incumbent: forget a neighbourhood of its pattern, protect again, keep the better.

A good pattern is right in most places. So some hidden cells that lie close together are freed, counted in
equations from one of them; what then fails is routed anew, at prices that follow the relaxation but are a
little wrong each time,

    w_i (1 - x_i) exp(noise),                                   x the point of the relaxation,

and the whole is cleaned up. Patterns of equal loss are walked through, dearer ones are dropped.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csc_array

from tacita.core.exact import Cells, Floats, Mask
from tacita.engine.search.incumbent import ReleaseSearch
from tacita.engine.search.proposals import Proposals

LEAST, MOST = 0.05, 0.35
"""Share of the hidden cells that is freed."""
NOISE = 0.3
"""Standard deviation of the logarithm of prices."""


class Neighbourhood:
    """Attempts around the incumbent of one search; what they try follows from the run's seed."""

    def __init__(self, search: ReleaseSearch, proposals: Proposals) -> None:
        self.search, self.proposals = search, proposals
        self._random = np.random.default_rng(search.run.search)
        self._incidence = csc_array(proposals.presolved.incidence)

    def __call__(self, guide: Floats, patience: int) -> None:
        """Offer better patterns to the search until ``patience`` attempts in a row brought none."""
        search, failures = self.search, 0
        current, loss = search.best, search.loss
        while current is not None and failures < patience and not search.closed and not search.run.over:
            search.tell("improving", failures, patience)
            found = self._attempt(current, guide)
            failures += 1
            if found is None or search.model.loss(found) > loss:
                continue
            current, loss = found, search.model.loss(found)
            if search.offer(found):
                failures = 0

    def _attempt(self, x: Floats, guide: Floats) -> Floats | None:
        """A pattern like that of ``x`` but for one neighbourhood, or None if none was found."""
        switch, random = self.proposals.presolved.switch, self._random
        hidden, kept = x[switch] > 0, self.search.model.lower[switch] > 0
        near = _nearest(self._incidence, hidden, random)
        near = near[~kept[near]]
        hidden[near[: max(2, int(random.uniform(LEAST, MOST) * near.size))]] = False
        noise = np.exp(random.normal(0.0, NOISE, switch.size))
        return self.proposals.near(hidden, guide[switch], noise)


def _nearest(incidence: csc_array, hidden: Mask, random: np.random.Generator) -> Cells:
    """The hidden cells by their distance from one of them, in equations; ties in any order."""
    cells = random.permutation(np.flatnonzero(hidden))
    touched = incidence[:, cells]
    distance = np.full(cells.size, np.inf)
    wave, steps = np.zeros(cells.size), 0
    wave[0] = 1.0
    while wave.any():
        distance[wave > 0] = steps
        wave, steps = (touched.T @ (touched @ wave) > 0) & np.isinf(distance), steps + 1
    return cells[np.argsort(distance, kind="stable")]
