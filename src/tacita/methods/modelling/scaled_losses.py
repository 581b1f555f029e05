"""Models solved with losses in a unit that suits solvers.

Weights of 1e11 for intervals of 1e10 make losses of 1e21, and weights of one over the value make losses of
1e-11. Solvers have absolute tolerances: losses are divided by a power of ten so that the largest lies between
1 and 1e7.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tacita.core.exact import Floats
from tacita.core.run import Run
from tacita.engine.model import Model
from tacita.engine.search.solve_model import Rung, solve_model
from tacita.solvers.linear_program import Solution

LEAST, MOST, USUAL = 1.0, 1e7, 1e3
"""The largest cost of a variable, at least and at most, and where it was below."""


def solve_scaled(model: Model, run: Run, start: Floats | None = None, rung: Rung = "auto") -> Solution:
    """Return the solution of a method's model, found with losses in a unit that suits solvers."""
    model = model.with_fixed_costs_in_constant()
    largest = float(np.abs(model.cost * np.maximum(np.abs(model.lower), model.upper)).max(initial=0.0))
    if largest == 0.0 or LEAST <= largest <= MOST:
        return solve_model(model, run, start, rung)
    unit = 10.0 ** np.ceil(np.log10(largest / (MOST if largest > MOST else USUAL)))
    small = replace(model, cost=model.cost / unit, constant=model.constant / unit)
    solution = solve_model(small, run.translated(lambda loss: loss * unit), start, rung)
    return replace(solution, loss=solution.loss * unit, bound=solution.bound * unit)
