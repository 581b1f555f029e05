"""A first release with a minimum width: its interval cells are guessed, their ends are solved.

The cells that are intervals without a minimum width are a good guess. All of them are opened as far as
possible; those that are still too narrow are closed and replaced by others, until every open cell can be wide
enough. With these cells given, the rest of the model is a linear program.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tacita.core.errors import InfeasibleError, SolverError, StoppedError
from tacita.core.exact import Cells, Floats, Mask
from tacita.core.run import Run
from tacita.engine.attack.requirements import ALWAYS, SLIDING, Requirements
from tacita.engine.model import Model
from tacita.methods.modelling.model_builder import ReleaseModel
from tacita.methods.modelling.scaled_losses import solve_scaled
from tacita.methods.modelling.tight_intervals import tighten_intervals

ROUNDS = 10


def find_wide_start(built: ReleaseModel, plain: ReleaseModel, run: Run) -> Floats | None:
    """Return a point of the interval model ``built``, found with the help of ``plain``, the same without a
    minimum width; None where the guess fails.
    """
    problem, upper, run = built.model.problem, plain.model.upper.copy(), run.preparing()
    needed = problem.levels.sensitive | problem.must_hide
    try:
        for _ in range(ROUNDS):
            found = solve_scaled(
                replace(plain.model, lower=np.minimum(plain.model.lower, upper), upper=upper), run
            )
            cells = _find_open_cells(plain, found.x)
            narrow = cells[~_are_wide_enough(built, cells, run)]
            if not narrow.size:
                return solve_scaled(_fix_interval_cells(built.model, cells), run).x
            if needed[narrow].all():
                return None
            for ends in (plain.end_above, plain.end_below):
                upper[ends[narrow[~needed[narrow]]]] = 0.0
    except (InfeasibleError, SolverError, StoppedError):
        return None
    return None


def _find_open_cells(built: ReleaseModel, x: Floats) -> Cells:
    """Return the cells whose published interval has a width at a point of the model."""
    cells = built.intervals
    return cells[x[built.end_above[cells]] + x[built.end_below[cells]] > 0]


def _are_wide_enough(built: ReleaseModel, cells: Cells, run: Run) -> Mask:
    """Return whether each cell's published interval can get its minimum width when all of them are open."""
    model = built.model
    x = np.zeros(model.size)
    for ends in (built.end_above, built.end_below):
        x[ends[cells]] = model.upper[ends[cells]]
    x = tighten_intervals(built, x, run)
    least = np.zeros(built.marks.size)
    widths = _select_width_requirements(model)
    least[widths.cell] = widths.level
    width = (x[built.end_above[cells]] + x[built.end_below[cells]]) * built.scale
    return np.asarray(width >= least[cells] - 0.5)


def _fix_interval_cells(model: Model, cells: Cells) -> Model:
    """Return the model of published intervals with intervals exactly in these cells."""
    widths, lower, upper = _select_width_requirements(model), model.lower.copy(), model.upper.copy()
    lower[widths.switch] = upper[widths.switch] = np.isin(widths.cell, cells)
    return replace(model, lower=lower, upper=upper)


def _select_width_requirements(model: Model) -> Requirements:
    """Return the requirements of the model that published intervals have a minimum width."""
    return model.requirements[(model.requirements.switch != ALWAYS) & (model.requirements.sign == SLIDING)]
