"""The state of a search: the best release so far, the lower bound, and the variables that are fixed.

A variable at 0 with reduced cost ``r`` in a relaxation of value ``B`` cannot be 1 in any release better than
the incumbent ``L`` if ``B + r >= L``; it is then fixed at 0 (*reduced-cost fixing*). If all costs are
multiples of a grain ``g``, so are all losses, and a bound within ``g`` below the incumbent proves it optimal.
"""

from __future__ import annotations

from math import gcd

import numpy as np

from tacita.core.errors import SolverError, StoppedError
from tacita.core.exact import LARGEST, Floats
from tacita.core.outcome import Status
from tacita.core.run import Run
from tacita.engine.checkpoint import KeptSearch
from tacita.engine.model import Model
from tacita.solvers.linear_program import Solution

NOISE = 1e-9
"""Relative error of losses, without the constant, where they are multiples of a grain."""
CAUTION = 1e-6
"""Share of the loss, without the constant, by which a reduced cost must exceed what is needed."""
ROUGH = 1e-8
"""Relative error of losses, without the constant, where they are no multiples of a grain."""


class ReleaseSearch:
    """The state of one search. ``lower`` and ``upper`` are bounds that any better release satisfies.

    ``kept`` keeps it in the checkpoint of the run, if that has one.
    """

    def __init__(self, model: Model, run: Run, kept: KeptSearch | None = None) -> None:
        self.model, self.run, self.kept = model, run, kept
        self.lower, self.upper = model.lower.copy(), model.upper.copy()
        self.best: Floats | None = None
        self.loss, self.bound = np.inf, -np.inf
        self.grain = _find_grain(model)
        self.rungs: list[str] = []

    @property
    def closed(self) -> bool:
        """Whether the incumbent of the search is proven good enough: optimal, or within the run's gap."""
        return self.proven or self.run.accepts(self.loss, self.bound)

    @property
    def proven(self) -> bool:
        """Whether the bound proves that no release is better than the incumbent of the search."""
        return self.bound >= self.loss - self.slack

    @property
    def slack(self) -> float:
        """How far below the incumbent's loss a bound of the search already proves it optimal."""
        return max(self.grain - self.noise, self.noise)

    @property
    def noise(self) -> float:
        """The error that floating-point arithmetic may leave in losses of the search."""
        open_loss = abs(self.loss - self.model.constant) if np.isfinite(self.loss) else 0.0
        return (NOISE if self.grain else ROUGH) * max(1.0, open_loss)

    def offer(self, x: Floats) -> bool:
        """Make a protected point the incumbent of the search if it is better and satisfies the model's own
        rows; return whether it became so.
        """
        loss = self.model.loss(x)
        if loss >= self.loss - 1e-3 * self.noise or not self.model.admits(x):
            return False
        self.best, self.loss = x.copy(), loss
        if self.kept is not None:
            self.kept.keep_point(self.best)
        return True

    def raise_bound(self, bound: float) -> None:
        """Take a valid lower bound of the search, rounded up to a multiple of the grain, if better."""
        if self.grain:
            steps = (bound - self.model.constant) / self.grain
            bound = self.model.constant + np.ceil(steps - max(1e-5, NOISE * abs(steps))) * self.grain
        self.bound = max(self.bound, bound)
        if self.kept is not None:
            self.kept.keep_bound(self.bound)

    def fix_by_reduced_cost(self, relaxation: float, reduced: Floats) -> int:
        """Fix binaries of the search at 0 that are 1 in no better release; return how many."""
        if self.best is None:
            return 0
        # The solver's reduced costs have errors up to its tolerance; a grain leaves room for that.
        open_loss = abs(self.loss - self.model.constant)
        least = self.loss - self.grain + max(CAUTION * open_loss, CAUTION)
        hopeless = relaxation + reduced > least
        hopeless &= self.model.integer & (self.lower == 0) & (self.upper == 1) & (reduced > 0)
        self.upper[hopeless] = 0.0
        return int(hopeless.sum())

    def enter(self, rung: str) -> None:
        """Note that the search goes on by another of its ways, and report that to the run's listener."""
        self.rungs.append(rung)
        self.report_progress(rung)

    def report_progress(self, phase: str, done: int = 0, total: int = 0) -> None:
        """Report a phase of the search with bound and incumbent's loss to the run's listener."""
        known = {"bound": float(self.bound)} if np.isfinite(self.bound) else {}
        if self.best is not None:
            known["incumbent"] = float(self.loss)
        self.run.report(phase, done, total, **known)
        if self.kept is not None:
            self.kept.write_if_due()

    def make_solution(self) -> Solution:
        """Return the incumbent release of the search with its loss and the lower bound.

        Raises
        ------
        StoppedError
            The time was over before there was one.
        SolverError
            The search ended without one, and without a proof that there is none.
        """
        if self.best is None and not self.run.over:
            raise SolverError(
                "the search ended without a protected release, and without a proof that there is none: the "
                "solver lacks precision here",
                remedy="Scale the values down, or try another method.",
            )
        if self.best is None:
            fault = f"stopped after {self.run.seconds:.2f} s before a first protected release was found"
            raise StoppedError(fault, remedy="allow more time", options=["time_limit"])
        status = Status.OPTIMAL if self.proven else Status.FEASIBLE
        bound = self.loss if status else min(max(self.bound, _find_least_loss(self.model)), self.loss)
        return Solution(self.best, self.loss, bound, status, ", then ".join(self.rungs) or "start")


def _find_least_loss(model: Model) -> float:
    """Return the loss of a model's variables, each at its cheapest bound: a lower bound at once."""
    free = np.where(model.cost > 0, model.lower, model.upper)
    return model.constant + float((model.cost * np.where(model.cost == 0, 0.0, free)).sum())


def _find_grain(model: Model) -> float:
    """Return the number that all losses of a model are multiples of (but for the constant), or 0."""
    costs = model.cost[model.cost != 0]
    if not model.integer[model.cost != 0].all() or not costs.size:
        return 0.0
    for scale in (1.0, 10.0, 100.0, 1000.0):
        scaled = np.rint(costs * scale)
        noise = np.abs(scaled - costs * scale) > 1e-9 * np.maximum(1.0, scaled)
        if not noise.any() and scaled.max() < LARGEST:
            return float(gcd(*(int(c) for c in np.unique(scaled)))) / scale
    return 0.0
