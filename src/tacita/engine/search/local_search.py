"""Local search around the incumbent: publish a neighbourhood of its pattern, and complete it again.

Some hidden cells that lie close together, by the number of equations between them, are published. The pattern
is then completed at costs that follow the relaxation, with noise,

    w_i (1 - x_i) exp(noise),                                   x the point of the relaxation,

and cleaned. The search goes on from patterns that lose little more than the incumbent, which leads out of
its neighbourhood, and returns to the incumbent after some attempts in vain.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csc_array

from tacita.core.exact import Cells, Floats, Mask
from tacita.engine.search.incumbent import ReleaseSearch
from tacita.engine.search.proposals import Patterns

LEAST, MOST = 0.02, 0.35
"""Share of the hidden cells that is published; small shares are as frequent as large ones."""
WORSE = 0.01
"""Share of the incumbent's loss by which a pattern may be worse for the search to go on from it."""
RETURN = 30
"""Attempts in vain after which the search returns to the incumbent."""
NOISE = 0.3
"""Standard deviation of the logarithm of costs."""


class LocalSearch:
    """Attempts around the incumbent of one search, determined by the run's seed."""

    def __init__(self, search: ReleaseSearch, proposals: Patterns) -> None:
        self.search, self.proposals = search, proposals
        self._random = np.random.default_rng(search.run.search)
        self._incidence = csc_array(proposals.presolved.incidence)

    def __call__(self, guide: Floats, patience: int, until: float = np.inf) -> None:
        """Offer better suppression patterns to the search until ``patience`` attempts in a row fail, or so
        many seconds of the run have passed.
        """
        search, failures = self.search, 0
        current, loss = search.best, search.loss
        while current is not None and failures < patience and not search.closed and not search.run.over:
            if search.run.seconds > until:
                return
            search.report_progress("improving", failures, patience)
            found = self._attempt(current, guide)
            failures += 1
            if failures % RETURN == 0:
                current, loss = search.best, search.loss
            if found is None or search.model.loss(found) > max(loss, (1.0 + WORSE) * search.loss):
                continue
            current, loss = found, search.model.loss(found)
            if search.offer(found):
                failures = 0

    def _attempt(self, x: Floats, guide: Floats) -> Floats | None:
        """Return a protected pattern like ``x`` except in one neighbourhood, as a point, or None."""
        switch, random = self.proposals.presolved.switch, self._random
        hidden, kept = x[switch] > 0, self.search.model.lower[switch] > 0
        near = _sort_by_distance(self._incidence, hidden, random)
        near = near[~kept[near]]
        share = LEAST * (MOST / LEAST) ** random.uniform()
        hidden[near[: max(2, int(share * near.size))]] = False
        noise = np.exp(random.normal(0.0, NOISE, switch.size))
        return self.proposals.complete_near(hidden, guide[switch], noise)


def _sort_by_distance(incidence: csc_array, hidden: Mask, random: np.random.Generator) -> Cells:
    """Return a pattern's hidden cells by distance, in equations, from a random one; ties at random."""
    cells = random.permutation(np.flatnonzero(hidden))
    touched = incidence[:, cells]
    distance = np.full(cells.size, np.inf)
    wave, steps = np.zeros(cells.size), 0
    wave[0] = 1.0
    while wave.any():
        distance[wave > 0] = steps
        wave, steps = (touched.T @ (touched @ wave) > 0) & np.isinf(distance), steps + 1
    return cells[np.argsort(distance, kind="stable")]
