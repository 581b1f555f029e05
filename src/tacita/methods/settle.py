"""From a solved model to a release in whole units.

Variables come as floats. Numbers that are shown are whole by their model; ends of intervals that are not are
rounded outward, which protects no less. What a float may have missed, and what protects a count by fractions
alone, is looked for and mended before intervals are drawn in to values that are attained.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tacita.engine.model import NO_SWITCH
from tacita.engine.solution import Solution
from tacita.engine.solve import solve
from tacita.exact import UNBOUNDED, Floats, Mask
from tacita.methods.attained import drawn_in
from tacita.methods.draft import NO_VARIABLE, Stated
from tacita.methods.moves import EXACT, NOISE, unmet
from tacita.methods.whole_moves import with_whole_moves
from tacita.outcome import Outcome, Status
from tacita.release import Mark, Release
from tacita.run import Run

SPARE = 1e-2
"""How much farther ends go where floats fell short, in units of their variable."""


def settle(stated: Stated, made_by: Mapping[str, Any], run: Run | None) -> Release:
    """Solve a model; the release it stands for, with its loss and the bound on every loss."""
    run = run or Run()
    model, table = stated.model, stated.model.problem.table
    while True:
        solution = solve(model, run)
        x = _in_steps(stated, solution.x[: stated.model.size])
        if not table.whole and stated.model.whole.all():
            break
        missing = unmet(stated.model, x, stated.scale, run)
        if not len(missing):
            break
        if not table.whole:
            x = _in_steps(stated, solution.x, SPARE)
            break
        model = with_whole_moves(model, missing)
    return read(stated, drawn_in(stated, x, run), solution, {**made_by, "seed": run.seed}, run.seconds)


def read(
    stated: Stated, x: Floats, solution: Solution, made_by: Mapping[str, Any], seconds: float
) -> Release:
    """The release that variables in whole steps stand for."""
    model, table = stated.model, stated.model.problem.table
    hidden, shown = _hidden(stated, x), stated.radius > 0
    value = table.units + np.where(shown, np.rint(stated.moved.at(x)), 0.0).astype(np.int64)
    above, below = (np.rint(side.at(x)).astype(np.int64) for side in (model.above, model.below))
    low = np.where(shown, value - stated.radius, table.units - below)
    high = np.where(shown, value + stated.radius, table.units + above)
    loss = model.loss(x)
    proven = bool(solution.status) and loss <= solution.bound + NOISE * max(1.0, abs(loss))
    status = Status.OPTIMAL if proven else Status.FEASIBLE
    return Release.mixed(
        table,
        hidden | (low < high),
        np.where(hidden, Mark.SUPPRESSED, stated.marks).astype(np.uint8),
        np.where(hidden, -UNBOUNDED, low),
        np.where(hidden, UNBOUNDED, high),
        value=value,
        primary=model.problem.levels.sensitive,
        made_by=made_by,
        outcome=Outcome(status, loss, min(loss, solution.bound), seconds),
    )


def _hidden(stated: Stated, x: Floats) -> Mask:
    """Cells whose switch is on."""
    switch = stated.model.switch
    hidden = np.zeros(switch.size, dtype=bool)
    switched = np.flatnonzero(switch != NO_SWITCH)
    hidden[switched] = x[switch[switched]] > 0.5
    return hidden


def _in_steps(stated: Stated, found: Floats, spare: float = 0.0) -> Floats:
    """Whole variables as whole numbers, ends of intervals in whole steps, outward and ``spare`` farther; no
    interval where a cell is suppressed.
    """
    model, step = stated.model, stated.model.problem.table.unit
    x = np.where(model.whole, np.rint(found), found)
    hidden = _hidden(stated, x)
    for ends in (stated.end_above, stated.end_below):
        at = ends[(ends != NO_VARIABLE) & ~hidden]
        at = at[~model.whole[at]]
        steps = (found[at] + spare) * stated.scale / step
        near = np.rint(steps)
        outward = np.where(np.abs(steps - near) <= EXACT * near + NOISE, near, np.ceil(steps))
        x[at] = np.where(found[at] > NOISE, np.minimum(outward * step / stated.scale, model.upper[at]), 0.0)
        x[ends[(ends != NO_VARIABLE) & hidden]] = 0.0
    return x
