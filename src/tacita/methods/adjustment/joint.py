"""Several tables of one structure, adjusted so that what they have in common is kept.

    Cov(a + y, b + z) = Cov(a, b),   Corr(a + y, b + z) = Corr(a, b),   ...    to within tolerances,

besides everything that :class:`Adjustment` asks of each table. Directions are chosen table by table, and once
more for all tables in one program with rows of their statistics; the cheaper of the two counts.
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
from tacita.methods.adjustment.adjustment import Adjustment, exact_changes
from tacita.methods.adjustment.directions.choose import Directions, How, chosen
from tacita.methods.adjustment.statistics.keeping import AdjustedKeeping
from tacita.methods.adjustment.statistics.measures import TOGETHER, Keep, changes_together, read_kept, told
from tacita.methods.adjustment.statistics.together import (
    Way,
    adjusted_together,
    chosen_together,
    over_directions,
    stackable,
)
from tacita.methods.adjustment.task import AdjustmentTask
from tacita.methods.options.distances import NONE_DRAWN, Draws, first_feasible
from tacita.problem.problem import Problem, start_run

OF_EACH = ("mean", "variance", "slope")
SEARCHED = ("auto", "optimal", "greedy", "block")
"""Directions that are looked for by their loss, so that statistics can be looked at beside it."""


def adjust_together(
    problems: Sequence[Problem],
    keep: str | Keep = "covariance, correlation, regression",
    method: Adjustment | None = None,
    how: Literal["alternating", "joint"] = "alternating",
    run: Run | None = None,
) -> tuple[Release, ...]:
    """A release of each table; statistics of each and of each pair are kept.

    Parameters
    ----------
    problems
        Of tables that list the same cells.
    keep
        What to keep, with tolerances in percent: ``mean``, ``variance``, ``slope`` of each table,
        ``covariance``, ``correlation``, ``regression`` of each pair.
    method
        Options of each adjustment; its own ``keep`` is not used.
    how
        ``alternating`` changes one table at a time, ``joint`` all at once.
    """
    _check(problems)
    run, method = start_run(problems[0], run), method or Adjustment()
    if method.distance == "exact":
        return _adjusted(problems, keep, method, how, run, NONE_DRAWN)
    return first_feasible(lambda draws: _adjusted(problems, keep, method, how, run, draws), Draws(run.seed))


def _adjusted(
    problems: Sequence[Problem],
    keep: str | Keep,
    method: Adjustment,
    how: Literal["alternating", "joint"],
    run: Run,
    draws: Draws,
) -> tuple[Release, ...]:
    """A release of each table with such distances."""
    own = [replace(draws, table=number) for number in range(len(problems))]
    tasks = [method.task(problem, drawn) for problem, drawn in zip(problems, own, strict=True)]
    kept = read_kept(keep, TOGETHER)
    alone = ", ".join(f"{name}={percent}" for name, percent in kept.asked.items() if name in OF_EACH)
    chooser = replace(method, keep=alone or None, kept_cells=None)
    alone_best = [chooser.directed(p, task, run) for p, task in zip(problems, tasks, strict=True)]
    values = [problem.table.values for problem in problems]
    ways = [alone_best]
    with suppress(InfeasibleError, StoppedError):
        ways += _together(method, tasks, values, kept, _inner(problems), alone_best, run)
    directions, directed, found = _cheapest(tasks, values, kept, _inner(problems), ways, how, run)
    releases = [
        method.released(problem, task, exact_changes(problem, way, changes, d, run), run, drawn)
        for problem, task, way, changes, d, drawn in zip(
            problems, tasks, directed, found, directions, own, strict=True
        )
    ]
    after = [release.value / 10.0**release.decimals for release in releases]
    remark = told(changes_together(values, after, _inner(problems), kept.asked), kept)
    return tuple(_with_remark(release, remark) for release in releases)


def _together(
    method: Adjustment,
    tasks: Sequence[AdjustmentTask],
    values: Sequence[Floats],
    kept: Keep,
    cells: Mask,
    first: list[Directions],
    run: Run,
) -> list[list[Directions]]:
    """Directions chosen for all tables at once, where they are searched for and tables can be stacked."""
    if method.directions not in SEARCHED or not stackable(tasks):
        return []

    def choose(task: AdjustmentTask) -> Mask:
        count = 0 if task.choice is None else task.choice.cells.size
        return chosen(task, cast(How, method.chooser(count)), run).up

    ups = chosen_together(tasks, values, kept, cells, [d.up for d in first], run, choose)
    # Bounds stay those of all directions of a table; what is best for other ones proves nothing about these.
    return [
        [
            replace(d, up=up, optimal=d.optimal and bool((up == d.up).all()))
            for d, up in zip(first, ups, strict=True)
        ]
    ]


def _cheapest(
    tasks: Sequence[AdjustmentTask],
    values: Sequence[Floats],
    kept: Keep,
    cells: Mask,
    ways: list[list[Directions]],
    how: Literal["alternating", "joint"],
    run: Run,
) -> tuple[list[Directions], list[AdjustmentTask], list[AdjustedKeeping]]:
    """Of some directions those whose changes miss the fewest tolerances and then lose least, with these."""
    solved, refused = [], []
    for directions in ways:
        directed = [task.directed(d.up) for task, d in zip(tasks, directions, strict=True)]
        try:
            found = adjusted_together(directed, values, kept, cells, run, how)
        except (InfeasibleError, StoppedError) as error:
            refused.append(error)
            continue
        solved.append((directions, directed, found))
    if not solved:
        raise refused[0]
    return min(solved, key=lambda way: (sum(len(f.remarks) for f in way[2]), sum(f.value for f in way[2])))


def changed_statistics(problems: Sequence[Problem], releases: Sequence[Release]) -> dict[str, float]:
    """Percent by which statistics of the inner cells changed: of each table, and of each pair."""
    _check(problems)
    before = [problem.table.values for problem in problems]
    after = [release.value / 10.0**release.decimals for release in releases]
    return changes_together(before, after, _inner(problems))


def every_direction(
    problems: Sequence[Problem],
    method: Adjustment | None = None,
    most: int = 4096,
    run: Run | None = None,
) -> Iterator[Way]:
    """What each way to direct all sensitive cells would lose and change; for small numbers of them."""
    _check(problems)
    method = method or Adjustment()
    tasks = [method.task(problem) for problem in problems]
    values = [problem.table.values for problem in problems]
    return over_directions(tasks, values, _inner(problems), (run or Run()).begin(), most)


def _with_remark(release: Release, remark: str) -> Release:
    if release.outcome is None:
        return release
    return replace(release, outcome=replace(release.outcome, remarks=(remark, *release.outcome.remarks)))


def _inner(problems: Sequence[Problem]) -> Mask:
    return np.asarray(~problems[0].table.structure.is_total)


def _check(problems: Sequence[Problem]) -> None:
    if not problems:
        raise InputError("no tables to adjust: give the problem of each")
    first = problems[0].table.structure
    for number, problem in enumerate(problems[1:], start=2):
        if not first.same_cells(problem.table.structure):
            raise InputError(
                f"table {number} lists other cells than the first: statistics need the same cells"
            )
