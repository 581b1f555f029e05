"""Adjustment of several tables of one structure that preserves statistics of each pair.

    Cov(a + y, b + z) = Cov(a, b),   Corr(a + y, b + z) = Corr(a, b),   ...    within tolerances,

besides everything that :class:`Adjustment` does for each table. Directions are chosen table by table, and
once more for all tables in one program with rows of their statistics; the cheaper of the two counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Literal, cast

import numpy as np

from tacita.core.errors import InfeasibleError, InputError, StoppedError
from tacita.core.exact import Floats, Mask
from tacita.core.release import Release
from tacita.core.run import Run
from tacita.methods.adjustment.adjustment import Adjustment, round_changes
from tacita.methods.adjustment.directions.choose_directions import Directions, How, choose_directions
from tacita.methods.adjustment.statistics.measures import (
    TOGETHER,
    Keep,
    describe_changes,
    measure_changes_together,
    parse_keep,
)
from tacita.methods.adjustment.statistics.preserve import PreservingSolution
from tacita.methods.adjustment.statistics.several_tables import (
    DirectionOutcome,
    can_stack,
    choose_directions_together,
    enumerate_directions,
    solve_together,
)
from tacita.methods.adjustment.task import AdjustmentTask
from tacita.methods.options.distances import NONE_DRAWN, Draws, find_first_feasible
from tacita.problem.problem import Problem, start_run

OF_EACH = ("mean", "variance", "slope")
SEARCHED = ("auto", "optimal", "greedy", "block")
"""Options of directions that search by loss, and can take statistics into account."""


def adjust_together(
    problems: Sequence[Problem],
    keep: str | Keep = "covariance, correlation, regression",
    method: Adjustment | None = None,
    how: Literal["alternating", "joint"] = "alternating",
    run: Run | None = None,
) -> tuple[Release, ...]:
    """Return the adjusted release of each table; statistics of each and of each pair are preserved.

    Parameters
    ----------
    problems
        Of tables that list the same cells.
    keep
        Statistics and their tolerances in percent: ``mean``, ``variance``, ``slope`` of each table,
        ``covariance``, ``correlation``, ``regression`` of each pair.
    method
        Options of each adjustment; its own ``keep`` is not used.
    how
        ``alternating`` changes one table at a time, ``joint`` all at once.
    """
    _check_same_cells(problems)
    run, method = start_run(problems[0], run), method or Adjustment()
    if method.distance == "exact":
        return _adjust(problems, keep, method, how, run, NONE_DRAWN)
    return find_first_feasible(
        lambda draws: _adjust(problems, keep, method, how, run, draws), Draws(run.seed)
    )


def _adjust(
    problems: Sequence[Problem],
    keep: str | Keep,
    method: Adjustment,
    how: Literal["alternating", "joint"],
    run: Run,
    draws: Draws,
) -> tuple[Release, ...]:
    """Return the adjusted release of each table, with the random distances of ``draws``."""
    own = [replace(draws, table=number) for number in range(len(problems))]
    tasks = [method.task(problem, drawn) for problem, drawn in zip(problems, own, strict=True)]
    wanted = parse_keep(keep, TOGETHER)
    alone = ", ".join(f"{name}={percent}" for name, percent in wanted.asked.items() if name in OF_EACH)
    chooser = replace(method, keep=alone or None, kept_cells=None)
    alone_best = [chooser.find_directions(p, task, run) for p, task in zip(problems, tasks, strict=True)]
    values, cells = [problem.table.values for problem in problems], _inner_cells(problems)
    candidates = [alone_best]
    with suppress(InfeasibleError, StoppedError):
        candidates += _choose_together(method, tasks, values, wanted, cells, alone_best, run)
    directions, directed, found = _choose_cheapest(tasks, values, wanted, cells, candidates, how, run)
    releases = [
        method.make_release(problem, task, round_changes(problem, convex, solution, d, run), run, drawn)
        for problem, task, convex, solution, d, drawn in zip(
            problems, tasks, directed, found, directions, own, strict=True
        )
    ]
    after = [release.value / 10.0**release.decimals for release in releases]
    remark = describe_changes(measure_changes_together(values, after, cells, wanted.asked), wanted)
    return tuple(_with_remark(release, remark) for release in releases)


def _choose_together(
    method: Adjustment,
    tasks: Sequence[AdjustmentTask],
    values: Sequence[Floats],
    keep: Keep,
    cells: Mask,
    first: list[Directions],
    run: Run,
) -> list[list[Directions]]:
    """Return adjustment directions chosen for all tables at once; none if given or not stackable."""
    if method.directions not in SEARCHED or not can_stack(tasks):
        return []

    def choose(task: AdjustmentTask) -> Mask:
        count = 0 if task.choice is None else task.choice.cells.size
        return choose_directions(task, cast(How, method.direction_search(count)), run).up

    ups = choose_directions_together(tasks, values, keep, cells, [d.up for d in first], run, choose)
    # Bounds hold for all directions of a table; that of the first ones proves nothing about others.
    return [
        [
            replace(d, up=up, optimal=d.optimal and bool((up == d.up).all()))
            for d, up in zip(first, ups, strict=True)
        ]
    ]


def _choose_cheapest(
    tasks: Sequence[AdjustmentTask],
    values: Sequence[Floats],
    keep: Keep,
    cells: Mask,
    candidates: list[list[Directions]],
    how: Literal["alternating", "joint"],
    run: Run,
) -> tuple[list[Directions], list[AdjustmentTask], list[PreservingSolution]]:
    """Return adjustment directions that miss fewest tolerances, then lose least, with tasks and changes."""
    solved, refused = [], []
    for directions in candidates:
        directed = [task.directed(d.up) for task, d in zip(tasks, directions, strict=True)]
        try:
            found = solve_together(directed, values, keep, cells, run, how)
        except (InfeasibleError, StoppedError) as error:
            refused.append(error)
            continue
        solved.append((directions, directed, found))
    if not solved:
        raise refused[0]
    return min(
        solved,
        key=lambda candidate: (sum(len(f.remarks) for f in candidate[2]), sum(f.value for f in candidate[2])),
    )


def changed_statistics(problems: Sequence[Problem], releases: Sequence[Release]) -> dict[str, float]:
    """Return by how many percent adjusted releases change statistics of inner cells, per table and pair."""
    _check_same_cells(problems)
    before = [problem.table.values for problem in problems]
    after = [release.value / 10.0**release.decimals for release in releases]
    return measure_changes_together(before, after, _inner_cells(problems))


def every_direction(
    problems: Sequence[Problem],
    method: Adjustment | None = None,
    most: int = 4096,
    run: Run | None = None,
) -> Iterator[DirectionOutcome]:
    """Yield loss and changed statistics of adjustments by all combinations of directions, if few enough."""
    _check_same_cells(problems)
    method = method or Adjustment()
    tasks = [method.task(problem) for problem in problems]
    values = [problem.table.values for problem in problems]
    return enumerate_directions(tasks, values, _inner_cells(problems), (run or Run()).begin(), most)


def _with_remark(release: Release, remark: str) -> Release:
    if release.outcome is None:
        return release
    return replace(release, outcome=replace(release.outcome, remarks=(remark, *release.outcome.remarks)))


def _inner_cells(problems: Sequence[Problem]) -> Mask:
    return np.asarray(~problems[0].table.structure.is_total)


def _check_same_cells(problems: Sequence[Problem]) -> None:
    if not problems:
        raise InputError("no tables to adjust", remedy="give the problem of each")
    first = problems[0].table.structure
    for number, problem in enumerate(problems[1:], start=2):
        if not first.same_cells(problem.table.structure):
            raise InputError(
                f"table {number} lists other cells than the first: statistics need the same cells"
            )
