"""Losses in a unit that solvers can bear.

Weights of 1e11 for intervals of 1e10 make losses of 1e21, and weights of one over the value make losses of
1e-11. A solver works with absolute tolerances: it is given losses in a power of ten that keeps the largest
between 1 and 1e7.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tacita.core.exact import Floats
from tacita.core.run import Run
from tacita.engine.model import Model
from tacita.engine.search.solve_model import solve_model
from tacita.solvers.linear_program import Solution

CHEAP, DEAR = 1.0, 1e7
"""What the dearest variable costs, at least and at most; brought up it costs ``USUAL``."""
USUAL = 1e3


def solved(model: Model, run: Run, start: Floats | None = None) -> Solution:
    """The solution, found with losses counted in a unit that suits solvers."""
    model = model.with_fixed_costs_in_constant()
    dearest = float(np.abs(model.cost * np.maximum(np.abs(model.lower), model.upper)).max(initial=0.0))
    if dearest == 0.0 or CHEAP <= dearest <= DEAR:
        return solve_model(model, run, start)
    unit = 10.0 ** np.ceil(np.log10(dearest / (DEAR if dearest > DEAR else USUAL)))
    small = replace(model, cost=model.cost / unit, constant=model.constant / unit)
    solution = solve_model(small, run.translated(lambda loss: loss * unit), start)
    return replace(solution, loss=solution.loss * unit, bound=solution.bound * unit)
