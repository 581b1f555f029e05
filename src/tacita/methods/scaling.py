"""Losses in a unit that solvers can bear.

Weights of 1e11 for intervals of 1e10 make losses of 1e21. A solver works to a relative accuracy, and with
absolute tolerances: it is given losses in a power of ten that keeps each of them small.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tacita.engine.model import Model
from tacita.engine.solution import Solution
from tacita.engine.solve import solve
from tacita.exact import Floats
from tacita.run import Run

DEAR = 1e7
"""What one variable may cost."""


def solved(model: Model, run: Run, start: Floats | None = None) -> Solution:
    """The solution, found with losses counted in a unit that keeps each below ``DEAR``."""
    model = model.settled()
    dearest = float(np.abs(model.cost * np.maximum(np.abs(model.lower), model.upper)).max(initial=0.0))
    unit = 10.0 ** max(0, np.ceil(np.log10(max(dearest, 1.0) / DEAR)))
    if unit == 1.0:
        return solve(model, run, start)
    small = replace(model, cost=model.cost / unit, constant=model.constant / unit)
    solution = solve(small, run.retold(lambda loss: loss * unit), start)
    return replace(solution, loss=solution.loss * unit, bound=solution.bound * unit)
