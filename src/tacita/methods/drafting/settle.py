"""From a solved model to a release in whole units.

Variables come as floats. Numbers that are shown are whole by their model; ends of intervals that are not are
rounded outward, which protects no less. What a float may have missed, and what protects a count by fractions
alone, is looked for and mended before intervals are drawn in to values that are attained.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tacita.core import exact
from tacita.core.errors import InfeasibleError, SolverError
from tacita.core.exact import UNBOUNDED, Floats, Mask
from tacita.core.outcome import Outcome, Status
from tacita.core.release import Mark, Release
from tacita.core.run import Run
from tacita.engine.attack.requirements import OUTSIDER, Requirements, room
from tacita.engine.model import NO_SWITCH
from tacita.methods.drafting.attained import drawn_in
from tacita.methods.drafting.draft import FINE, NO_VARIABLE, StatedModel
from tacita.methods.drafting.scaling import solved
from tacita.methods.moving.moves import NOISE, outward, unmet
from tacita.methods.moving.sums import refuse_telling_sums
from tacita.methods.moving.whole_moves import with_whole_moves
from tacita.methods.options.distances import Draws
from tacita.methods.options.per_cell import scale_for
from tacita.solvers.linear_program import Solution

Start = Callable[[StatedModel, Run], Floats | None]
"""A heuristic that finds a first point of a model, or none."""
HAIR, SPARE = 1e-3, 0.2
"""How much farther ends go, in units of their variable: where a step is too small for floats to tell, and
where they fell short all the same.
"""

NOTICED = 1e-2
"""Levels below this, in units of their variable, may be noise."""


def settle(
    stated: StatedModel, made_by: Mapping[str, Any], run: Run | None, remedy: str, start: Start | None = None
) -> Release:
    """Solve a model, perhaps from a first point; the release it stands for, with its loss and the bound on
    every loss.
    """
    run = run or Run()
    model, first = stated.model, None if start is None else start(stated, run)
    hair = HAIR if stated.scale > model.problem.table.unit else 0.0
    while True:
        try:
            solution = solved(model, run, first)
        except InfeasibleError as error:
            raise InfeasibleError(str(error).rstrip("."), remedy=remedy, options=error.options) from None
        x = _in_steps(stated, solution.x[: stated.model.size], hair)
        if not _doubtful(stated):
            break
        missing = unmet(stated.model, x, stated.scale, run)
        if not len(missing):
            break
        if not model.problem.table.whole:
            x = _in_steps(stated, solution.x, SPARE)
            break
        model, first = with_whole_moves(model, missing), None
    seed = {"seed": run.seed} if stated.drawn else {}
    x = _further_out(stated, x)
    release = read(stated, _attained(stated, x, run), solution, {**made_by, **seed}, run.seconds)
    if stated.sums:
        refuse_telling_sums(stated.model.problem, release, stated.sums, run)
    return release


def settle_drawn(
    state: Callable[[Draws], StatedModel],
    made_by: Mapping[str, Any],
    run: Run | None,
    remedy: str,
    start: Callable[[Draws], Start] | None = None,
) -> Release:
    """Settle a model of random distances; with smaller ones where these leave no release."""
    run = run or Run()
    for draws in Draws(run.seed).less_and_less():
        stated = state(draws)
        try:
            return settle(stated, made_by, run, remedy, None if start is None else start(draws))
        except InfeasibleError:
            if not stated.drawn or run.over:
                raise
    raise AssertionError("without random distances the last error is raised")


def _attained(stated: StatedModel, x: Floats, run: Run) -> Floats:
    """Return the variables with intervals drawn in to what is attained, but never so that levels are lost
    which are noise to the solver; raise where they were lost before.
    """
    drawn = drawn_in(stated, x, run)
    if not len(_lost(stated, drawn, run)):
        return drawn
    if len(missing := _lost(stated, x, run)):
        table = stated.model.problem.table
        raise SolverError(
            f"{table.structure.names(np.unique(missing.cell))}: the level is too small for the solver "
            "beside the largest one, and is missed: raise it to "
            f"{exact.to_text(round(NOTICED * stated.scale), table.decimals)} or more, or use another method"
        )
    return x


def _lost(stated: StatedModel, x: Floats, run: Run) -> Requirements:
    """Return the requirements that are missed, of those whose levels are noise to the solver that chose
    ``x``.
    """
    problem, most = stated.model.problem, NOTICED * stated.scale
    return unmet(stated.model, x, scale_for(problem, int(most), FINE), run, most=most)


def _further_out(stated: StatedModel, x: Floats) -> Floats:
    """Return the variables with ends of open intervals farther out, as far as random shares of their reach
    and what everyone knows allow: windows grow, so nothing is protected less.
    """
    if stated.further is None:
        return x
    model, step, scale = stated.model, stated.model.problem.table.unit, stated.scale
    ends = np.stack([stated.end_above, stated.end_below])
    reach = np.where(ends != NO_VARIABLE, x[np.maximum(ends, 0)] * scale, 0.0)
    longest = np.floor(reach.max(axis=0) / step + NOISE)
    more = np.floor(stated.further * (longest + (longest > 0))) * step
    known = np.stack(room(model.problem, OUTSIDER))
    farther = np.minimum(reach + more, np.maximum(known, reach))
    out = x.copy()
    out[ends[more > 0]] = farther[more > 0] / scale
    return out


def _doubtful(stated: StatedModel) -> bool:
    """Whether what floats call protected may not be: beyond networks by fractions, anywhere by rounding.

    In a network moves inside whole windows are whole, so that missing a level by less than a step is meeting
    it.
    """
    table = stated.model.problem.table
    if not table.whole and stated.model.integer.all():
        return False
    return not stated.network or stated.scale > table.unit


def read(
    stated: StatedModel, x: Floats, solution: Solution, made_by: Mapping[str, Any], seconds: float
) -> Release:
    """The release that variables in whole steps stand for."""
    model, table = stated.model, stated.model.problem.table
    hidden, shown = _hidden(stated, x), stated.radius > 0
    value = table.units + np.where(shown, np.rint(stated.moved.at(x)), 0.0).astype(np.int64)
    above, below = (np.rint(side.at(x)).astype(np.int64) for side in (model.above, model.below))
    announced = shown & (above + below > 0)
    low = np.where(announced, value - stated.radius, table.units - below)
    high = np.where(announced, value + stated.radius, table.units + above)
    loss = model.loss(x)
    size = max(abs(loss), abs(model.constant), abs(solution.bound))
    proven = bool(solution.status) and loss <= solution.bound + NOISE * size
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
        outcome=Outcome(status, loss, min(loss, solution.bound), seconds, stated.remarks),
        assumption=stated.assumption,
        alone="the subtotals of a rounding" if stated.sums else "",
    )


def _hidden(stated: StatedModel, x: Floats) -> Mask:
    """Cells whose switch is on."""
    switch = stated.model.switch
    hidden = np.zeros(switch.size, dtype=bool)
    switched = np.flatnonzero(switch != NO_SWITCH)
    hidden[switched] = x[switch[switched]] > 0.5
    return hidden


def _in_steps(stated: StatedModel, found: Floats, spare: float) -> Floats:
    """Whole variables as whole numbers, ends of intervals in whole steps, outward and ``spare`` farther; no
    interval where a cell is suppressed.
    """
    model, step, scale = stated.model, stated.model.problem.table.unit, stated.scale
    x = np.where(model.integer, np.rint(found), found)
    hidden = _hidden(stated, x)
    for ends, known in zip((stated.end_above, stated.end_below), room(model.problem, OUTSIDER), strict=True):
        x[ends[hidden & (ends != NO_VARIABLE)]] = 0.0
        cells = np.flatnonzero(~hidden & (ends != NO_VARIABLE))
        cells = cells[~model.integer[ends[cells]]]
        end = ends[cells]
        farther = outward((found[end] + spare) * scale, step)
        # A level of one step is less than noise beside one of a billion; an end that has one is open.
        is_open = (found[end] > NOISE) | (model.lower[end] > 0.0)
        x[end] = np.where(is_open, np.minimum(farther, known[cells]) / scale, 0.0)
    return x
