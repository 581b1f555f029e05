"""The method ``hide-small``: suppression that hides all small cells besides."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import ClassVar

import tacita as tc


@dataclass(frozen=True)
class HideSmall:
    """Hide what suppression hides, and every cell below a limit."""

    name: ClassVar[str] = "hide-small"
    does: ClassVar[str] = "Hides what suppression hides, and every cell below a limit."
    choose: ClassVar[str] = "Choose it when the office never shows small numbers. Not when readers need them."

    below: float = field(default=5.0, metadata={"help": "cells with a smaller value are hidden too"})
    zeros: bool = field(default=False, metadata={"help": "zeros are hidden too"})

    def protect(self, problem: tc.Problem, run: tc.Run | None = None) -> tc.Release:
        """Return a release with at least the suppressions that protect: to hide more protects no less."""
        best = tc.Suppression().protect(problem, run)
        values = problem.table.values
        small = (values < self.below) & (values != 0 if not self.zeros else True) & ~problem.must_publish
        hidden = best.changed | small
        loss = float(problem.cost[hidden].sum())
        bound = best.outcome.bound if best.outcome is not None else 0.0
        status = tc.Status.OPTIMAL if loss <= bound else tc.Status.FEASIBLE
        return tc.Release.suppress(
            problem.table,
            hidden,
            primary=problem.levels.sensitive,
            outcome=tc.Outcome(status, loss, min(loss, bound)),
            made_by={"method": self.name, "options": asdict(self)},
        )

    def loss(self, problem: tc.Problem, release: tc.Release) -> float:
        """Return the cost of all cells that are not published as they are."""
        return float(problem.cost[release.changed].sum())
