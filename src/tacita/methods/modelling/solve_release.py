"""Solution of a model, and its release in integer units.

Solutions are floats. Published numbers are integer in the model; ends of intervals that are not are rounded
outward, which protects no less. Requirements that rounding errors miss, or that only fractions meet, are
searched for and repaired before intervals are tightened to attainable values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tacita.core import exact
from tacita.core.errors import InfeasibleError, SolverError
from tacita.core.exact import UNBOUNDED, Floats, Mask
from tacita.core.outcome import Outcome
from tacita.core.release import Mark, Release
from tacita.core.run import Run
from tacita.engine.attack.requirements import OUTSIDER, Requirements, find_room
from tacita.engine.model import NO_SWITCH
from tacita.engine.search.solve_model import LARGE
from tacita.methods.modelling.model_builder import FINE, NO_VARIABLE, ReleaseModel
from tacita.methods.modelling.scaled_losses import solve_scaled
from tacita.methods.modelling.tight_intervals import tighten_intervals
from tacita.methods.options.distances import Draws
from tacita.methods.options.per_cell import choose_scale
from tacita.methods.protection.attacker_moves import NOISE, find_unmet, round_outward
from tacita.methods.protection.integer_moves import add_integer_moves
from tacita.methods.protection.known_sums import check_levels_with_sums
from tacita.solvers.linear_program import Solution

Start = Callable[[ReleaseModel, Run], Floats | None]
"""A heuristic that returns a first point of a model, or None."""
HAIR, SPARE = 1e-3, 0.2
"""By how much ends are moved out, in units of their variable: where steps are smaller than rounding errors,
and where a level was missed all the same."""
NOTICED = 1e-2
"""Levels below this, in units of their variable, may be lost in rounding errors."""


def solve_release(
    built: ReleaseModel, made_by: Mapping[str, Any], run: Run | None, remedy: str, start: Start | None = None
) -> Release:
    """Solve a method's model, possibly from a first point, and return its release with loss and bound."""
    run = run or Run()
    model, first = built.model, None if start is None else start(built, run)
    hair = HAIR if built.scale > model.problem.table.unit else 0.0
    while True:
        try:
            solution = solve_scaled(model, run, first)
        except InfeasibleError as error:
            raise error.with_remedy(remedy) from None
        x = _round_to_steps(built, solution.x[: built.model.size], hair)
        if not _needs_check(built):
            break
        missing = find_unmet(built.model, x, built.scale, _allow_check(built, run))
        if not len(missing):
            break
        if not model.problem.table.integer:
            x = _round_to_steps(built, solution.x, SPARE)
            break
        if (wider := _widen(built, x, missing, run)) is not None:
            x = wider
            break
        model, first = add_integer_moves(model, missing), None
    seed = {"seed": run.seed} if built.drawn else {}
    x = _extend_ends(built, x)
    release = make_release(built, _tighten(built, x, run), solution, {**made_by, **seed}, run)
    if built.sums:
        check_levels_with_sums(built.model.problem, release, built.sums, run)
    return release


def solve_with_draws(
    build: Callable[[Draws], ReleaseModel],
    made_by: Mapping[str, Any],
    run: Run | None,
    remedy: str,
    start: Callable[[Draws], Start] | None = None,
) -> Release:
    """Return the release of a method's model with random distances, smaller if these are infeasible."""
    run = run or Run()
    for draws in Draws(run.seed).shrinking():
        built = build(draws)
        try:
            return solve_release(built, made_by, run, remedy, None if start is None else start(draws))
        except InfeasibleError:
            if not built.drawn or run.over:
                raise
    raise AssertionError("without random distances the last error is raised")


def _allow_check(built: ReleaseModel, run: Run) -> Run:
    """Return the run with time to check a large table's release when its search was stopped: its moves may be
    fractional, and nothing proves counts then.
    """
    return run.extended() if len(built.model.problem.table) >= LARGE else run


def _widen(built: ReleaseModel, x: Floats, missing: Requirements, run: Run) -> Floats | None:
    """Return a method's variables with windows of a large table widened by integer moves that meet missing
    requirements; None where the table is small, or windows cannot be widened alone.
    """
    if len(built.model.problem.table) < LARGE:
        return None
    # Its kernels load the compiler.
    from tacita.engine.construction.window_construction import widen_windows

    while len(missing):
        wider = widen_windows(built.model, x, missing, run.extended())
        if wider is None:
            return None
        x = _round_to_steps(built, wider, 0.0)
        missing = find_unmet(built.model, x, built.scale, _allow_check(built, run))
    return x


def _tighten(built: ReleaseModel, x: Floats, run: Run) -> Floats:
    """Return a method's variables with tight intervals, unless that misses levels which are small for the
    solver; raise an error where these were missed before.
    """
    drawn = tighten_intervals(built, x, run)
    if not len(_find_missed_small_levels(built, drawn, run)):
        return drawn
    if len(missing := _find_missed_small_levels(built, x, run)):
        table = built.model.problem.table
        enough = exact.to_text(round(NOTICED * built.scale), table.decimals)
        raise SolverError(
            "the level is too small for the solver beside the largest one, and is missed",
            place=table.structure.names(np.unique(missing.cell)),
            remedy=f"raise it to {enough} or more, or use another method",
        )
    return x


def _find_missed_small_levels(built: ReleaseModel, x: Floats, run: Run) -> Requirements:
    """Return requirements that a method's solution misses, of those with levels small for solvers."""
    problem, most = built.model.problem, NOTICED * built.scale
    return find_unmet(built.model, x, choose_scale(problem, int(most), FINE), run, most=most)


def _extend_ends(built: ReleaseModel, x: Floats) -> Floats:
    """Return a method's variables with ends of intervals moved out by random shares of their reach, within
    the outsider's bounds: windows grow, so nothing is protected less.
    """
    if built.extension is None:
        return x
    model, step, scale = built.model, built.model.problem.table.unit, built.scale
    ends = np.stack([built.end_above, built.end_below])
    reach = np.where(ends != NO_VARIABLE, x[np.maximum(ends, 0)] * scale, 0.0)
    longest = np.floor(reach.max(axis=0) / step + NOISE)
    more = np.floor(built.extension * (longest + (longest > 0))) * step
    known = np.stack(find_room(model.problem, OUTSIDER))
    farther = np.minimum(reach + more, np.maximum(known, reach))
    out = x.copy()
    out[ends[more > 0]] = farther[more > 0] / scale
    return out


def _needs_check(built: ReleaseModel) -> bool:
    """Return whether a method's solution may miss levels: by fractions (no network), or rounding errors.

    In a network moves within integer windows are integer, so that levels missed by less than a step are met.
    """
    table = built.model.problem.table
    if not table.integer and built.model.integer.all():
        return False
    return not built.network or built.scale > table.unit


def make_release(
    built: ReleaseModel, x: Floats, solution: Solution, made_by: Mapping[str, Any], run: Run
) -> Release:
    """Return the release of a method's solution, given its variables in integer steps."""
    model, table = built.model, built.model.problem.table
    hidden, shown = _find_suppressed(built, x), built.radius > 0
    value = table.units + np.where(shown, np.rint(built.moved.at(x)), 0.0).astype(np.int64)
    above, below = (np.rint(side.at(x)).astype(np.int64) for side in (model.above, model.below))
    announced = shown & (above + below > 0)
    low = np.where(announced, value - built.radius, table.units - below)
    high = np.where(announced, value + built.radius, table.units + above)
    loss = model.loss(x)
    size = max(abs(loss), abs(model.constant), abs(solution.bound))
    proven = bool(solution.status) and loss <= solution.bound + NOISE * size
    status = run.judge(proven, loss, solution.bound)
    return Release.mixed(
        table,
        hidden | (low < high),
        np.where(hidden, Mark.SUPPRESSED, built.marks).astype(np.uint8),
        np.where(hidden, -UNBOUNDED, low),
        np.where(hidden, UNBOUNDED, high),
        value=value,
        primary=model.problem.levels.sensitive,
        made_by={**made_by, "search": solution.search},
        outcome=Outcome(status, loss, min(loss, solution.bound), run.seconds, built.remarks),
        assumption=built.assumption,
        alone="the subtotals of a rounding" if built.sums else "",
    )


def _find_suppressed(built: ReleaseModel, x: Floats) -> Mask:
    """Return which cells a method's solution suppresses: those whose switch is on."""
    switch = built.model.switch
    hidden = np.zeros(switch.size, dtype=bool)
    switched = np.flatnonzero(switch != NO_SWITCH)
    hidden[switched] = x[switch[switched]] > 0.5
    return hidden


def _round_to_steps(built: ReleaseModel, found: Floats, spare: float) -> Floats:
    """Return a method's integer variables rounded, and ends of intervals in integer steps, rounded outward
    from ``spare`` farther; suppressed cells have no interval.
    """
    model, step, scale = built.model, built.model.problem.table.unit, built.scale
    x = np.where(model.integer, np.rint(found), found)
    hidden = _find_suppressed(built, x)
    for ends, known in zip(
        (built.end_above, built.end_below), find_room(model.problem, OUTSIDER), strict=True
    ):
        x[ends[hidden & (ends != NO_VARIABLE)]] = 0.0
        cells = np.flatnonzero(~hidden & (ends != NO_VARIABLE))
        cells = cells[~model.integer[ends[cells]]]
        end = ends[cells]
        farther = round_outward((found[end] + spare) * scale, step)
        # A level of one step is lost in rounding errors beside one of a billion: its end is open.
        is_open = (found[end] > NOISE) | (model.lower[end] > 0.0)
        x[end] = np.where(is_open, np.minimum(farther, known[cells]) / scale, 0.0)
    return x
