"""A first release with a minimum width: which cells to open is guessed, how far is solved.

The cells that intervals of any width open are a good guess. All of them are opened as far as they go; those
that are still too narrow are closed, and others are sought in their place, until every open cell can be wide
enough. With these cells given, what is left of the model has no more choices to make and is solved.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tacita.core.errors import InfeasibleError, SolverError, StoppedError
from tacita.core.exact import Cells, Floats, Mask
from tacita.core.run import Run
from tacita.engine.attack.requirements import ALWAYS, SLIDING, Requirements
from tacita.engine.model import Model
from tacita.methods.drafting.attained import drawn_in
from tacita.methods.drafting.draft import StatedModel
from tacita.methods.drafting.scaling import solved

ROUNDS = 10


def wide_start(stated: StatedModel, plain: StatedModel, run: Run) -> Floats | None:
    """A point of ``stated``, found with the help of ``plain``, the same method without a minimum width; None
    where the guess leads nowhere.
    """
    problem, upper = stated.model.problem, plain.model.upper.copy()
    needed = problem.levels.sensitive | problem.must_hide
    try:
        for _ in range(ROUNDS):
            found = solved(replace(plain.model, lower=np.minimum(plain.model.lower, upper), upper=upper), run)
            cells = _open(plain, found.x)
            narrow = cells[~_wide_enough(stated, cells, run)]
            if not narrow.size:
                return solved(_given(stated.model, cells), run).x
            if needed[narrow].all():
                return None
            for ends in (plain.end_above, plain.end_below):
                upper[ends[narrow[~needed[narrow]]]] = 0.0
    except (InfeasibleError, SolverError, StoppedError):
        return None
    return None


def _open(stated: StatedModel, x: Floats) -> Cells:
    """Cells whose interval has a width."""
    cells = stated.intervals
    return cells[x[stated.end_above[cells]] + x[stated.end_below[cells]] > 0]


def _wide_enough(stated: StatedModel, cells: Cells, run: Run) -> Mask:
    """Whether each of these cells reaches its minimum width when all are opened as far as they go."""
    model = stated.model
    x = np.zeros(model.size)
    for ends in (stated.end_above, stated.end_below):
        x[ends[cells]] = model.upper[ends[cells]]
    x = drawn_in(stated, x, run)
    least = np.zeros(stated.marks.size)
    widths = _widths(model)
    least[widths.cell] = widths.level
    width = (x[stated.end_above[cells]] + x[stated.end_below[cells]]) * stated.scale
    return np.asarray(width >= least[cells] - 0.5)


def _given(model: Model, cells: Cells) -> Model:
    """The model with intervals exactly in these cells."""
    widths, lower, upper = _widths(model), model.lower.copy(), model.upper.copy()
    lower[widths.switch] = upper[widths.switch] = np.isin(widths.cell, cells)
    return replace(model, lower=lower, upper=upper)


def _widths(model: Model) -> Requirements:
    """The requirements that cells be of a minimum width where they are intervals."""
    return model.requirements[(model.requirements.switch != ALWAYS) & (model.requirements.sign == SLIDING)]
