"""Cell suppression: some cells are not published, the others are published as they are.

    min  sum_i w_i x_i    s.t.  every sensitive cell keeps its levels against every attacker who sees the
    cells with x_i = 0

``w`` is the problem's cost; sensitive cells count too. This is the constructive heuristic: it finds a
protected pattern and says how far it can be from the best one by the trivial bound, the cost of what must be
hidden anyway.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import ClassVar

from tacita.engine.heuristics import build_pattern, drop_unneeded
from tacita.outcome import Outcome, Status
from tacita.problem import Problem
from tacita.release import Release
from tacita.run import Run


@dataclass(frozen=True)
class Suppression:
    """Hide sensitive cells and as few others as it finds."""

    name: ClassVar[str] = "suppression"

    cleanup: bool = field(default=True, metadata={"help": "publish again what turned out unnecessary"})

    def protect(self, problem: Problem, run: Run | None = None) -> Release:
        """A pattern that protects every sensitive cell against every attacker of the problem."""
        run = run or Run()
        hidden = build_pattern(problem, run)
        if self.cleanup:
            hidden = drop_unneeded(problem, hidden, run)
        loss = float(problem.cost[hidden].sum())
        bound = float(problem.cost[problem.levels.sensitive | problem.must_hide].sum())
        status = Status.OPTIMAL if loss <= bound else Status.FEASIBLE
        return Release.suppress(
            problem.table,
            hidden,
            primary=problem.levels.sensitive,
            outcome=Outcome(status, loss, bound, run.seconds),
            made_by={"method": self.name, "options": asdict(self), "seed": run.seed},
        )
