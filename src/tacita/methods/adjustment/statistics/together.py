"""Changes of several tables of one structure that keep what the tables have in common.

Tables ``a, b, ...`` over the same cells become ``a + y, b + z, ...``. Their covariance becomes

    Cov(a + y, b + z) = Cov(a, b) + Cov(a, z) + Cov(b, y) + Cov(y, z),

which is bilinear. *Alternating* changes one table at a time, the others as they are: the covariance is then
linear in what varies, and each program is as small as that of one table. *Joint* changes all tables at once,
in one program whose rows take the bilinear terms to first order around the last changes. It is larger, and
finds changes that no single table could make alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Literal

import numpy as np

from tacita.core.errors import InfeasibleError, InputError, SolverError, StoppedError
from tacita.core.exact import Floats, Mask
from tacita.core.run import Run
from tacita.methods.adjustment.statistics.keeping import (
    LITTLE,
    ROUNDS,
    AdjustedKeeping,
    concluded,
    refuse_contradiction,
    rounds,
    rows_around,
)
from tacita.methods.adjustment.statistics.measures import (
    TOGETHER,
    Keep,
    MeasuredStatistic,
    changes,
    changes_together,
    measures,
)
from tacita.methods.adjustment.statistics.rounds import Aim, RoundState, Solve, aim, another_round, begin
from tacita.methods.adjustment.task import Adjusted, AdjustmentTask, DirectionChoice, Side


def adjusted_together(
    tasks: Sequence[AdjustmentTask],
    values: Sequence[Floats],
    kept: Keep,
    cells: Mask,
    run: Run,
    how: Literal["alternating", "joint"] = "alternating",
    solve: Solve | None = None,
) -> list[AdjustedKeeping]:
    """The cheapest changes found that keep statistics of each table and of each pair of tables.

    Parameters
    ----------
    tasks
        One for each table, with directions given.
    values
        Of all cells of each table before.
    cells
        Those that the statistics are of.
    solve
        Solves a task with rows at its side; :func:`tacita.methods.adjustment.convex.solve.adjusted` by
        default.

    Returns
    -------
    list of AdjustedKeeping
        One for each table. A tolerance that is missed between two tables is remarked on with the first.

    Raises
    ------
    InfeasibleError
        A task has no solution; or, jointly, the statistics cannot be kept so closely.
    """
    if how not in ("alternating", "joint"):
        raise InputError(f"tables are adjusted 'alternating' or 'joint', not '{how}'")
    tables = _Tables(tasks, values, kept, cells)
    solving = solve or _default(run)
    # Only the first changes are worth waiting for once the time is over; rounds make them better.
    first = solve or _default(run.finishing())
    plain = [first(task) for task in tasks]
    changing = _alternating if how == "alternating" else _joint
    standings = changing(tables, plain, run, solving)
    results = [concluded(s, p.bound, len(tables)) for s, p in zip(standings, plain, strict=True)]
    told: set[str] = set()
    for number, result in enumerate(results):
        results[number] = replace(result, remarks=tuple(r for r in result.remarks if r not in told))
        told.update(result.remarks)
    return results


def chosen_together(
    tasks: Sequence[AdjustmentTask],
    values: Sequence[Floats],
    kept: Keep,
    cells: Mask,
    first: Sequence[Mask],
    run: Run,
    choose: Callable[[AdjustmentTask], Mask],
) -> list[Mask]:
    """Directions of all tables that keep, to first order, what the tables have in common at the least loss.

    Parameters
    ----------
    tasks
        One for each table, with the choice of its sensitive cells.
    first
        Directions of each table: changes in these say what terms of second order amount to.
    choose
        Chooses the directions of one task that holds all tables and the rows of their statistics.

    Raises
    ------
    InfeasibleError, StoppedError
        None were found.
    """
    directed = [task.directed(up) for task, up in zip(tasks, first, strict=True)]
    tables, solve = _Tables(directed, values, kept, cells), _default(run)
    z = np.concatenate([solve(task).z for task in directed])
    side = rows_around(lambda z: tables.aims(np.split(z, len(tasks))), z)
    up = choose(replace(_stacked(tasks), side=side))
    return np.split(up, np.cumsum([mask.size for mask in first])[:-1])


class _Tables:
    """Several tables, the changes of which are measured together."""

    def __init__(
        self, tasks: Sequence[AdjustmentTask], values: Sequence[Floats], kept: Keep, cells: Mask
    ) -> None:
        if len(tasks) < 2 or len({len(task) for task in tasks} | {v.size for v in values}) > 1:
            raise InputError("tables are adjusted together when there are two or more, over the same cells")
        unknown = [name for name in kept.asked if name not in TOGETHER]
        if unknown:
            raise InputError(
                f"{unknown[0]} cannot be kept of several tables: write some of {', '.join(TOGETHER)}"
            )
        if any(task.choice is not None for task in tasks):
            raise InputError("statistics are kept with given directions: choose them first")
        self.tasks, self.kept, self.where = tasks, kept, np.flatnonzero(cells)
        self.before = [v[self.where] for v in values]

    def __len__(self) -> int:
        return len(self.tasks[0])

    def measures(self, zs: Sequence[Floats]) -> list[MeasuredStatistic]:
        moved = zip(self.before, zs, self.tasks, strict=True)
        return measures(
            tuple(self.kept.asked), self.before, [a + z[self.where] / task.one for a, z, task in moved]
        )

    def aims(self, zs: Sequence[Floats]) -> list[Aim]:
        """All statistics, by the changes of all tables one after the other."""
        return [
            aim(m, self.kept, [self.where + i * len(self) for i in m.tables], self.tasks[0].one)
            for m in self.measures(zs)
        ]

    def aims_of(self, i: int, zs: Sequence[Floats]) -> list[Aim]:
        """The statistics that table ``i`` has a part in, by its own changes."""
        return [
            aim(
                replace(m, gradients=(m.gradients[m.tables.index(i)],)),
                self.kept,
                [self.where],
                self.tasks[i].one,
            )
            for m in self.measures(zs)
            if i in m.tables
        ]

    def weight(self) -> Floats:
        """Weights of squared changes that count alike in tables of different size."""
        cells = np.full(len(self), LITTLE)
        cells[self.where] = 1.0
        variances = [float(a.var()) or 1.0 for a in self.before]
        return np.concatenate([cells * (max(variances) / variance) for variance in variances])

    def standings(self, found: Sequence[Adjusted], zs: Sequence[Floats]) -> list[RoundState]:
        """How each table stands with the changes that were found."""
        return [
            begin(task, adjusted, self.aims_of(i, zs))
            for i, (task, adjusted) in enumerate(zip(self.tasks, found, strict=True))
        ]


def _alternating(tables: _Tables, plain: Sequence[Adjusted], run: Run, solve: Solve) -> list[RoundState]:
    """Round after round, one table at a time."""
    zs = [found.z for found in plain]
    standings = tables.standings(plain, zs)
    for turn in range(ROUNDS * len(zs)):
        i = turn % len(zs)
        if run.over or all(s.settled(p.value) for s, p in zip(standings, plain, strict=True)):
            break
        if standings[i].settled(plain[i].value):
            continue
        run.tell("statistics", turn, ROUNDS * len(zs))

        def measuring(z: Floats, i: int = i) -> list[Aim]:
            return tables.aims_of(i, [*zs[:i], z, *zs[i + 1 :]])

        try:
            standings[i] = another_round(tables.tasks[i], standings[i], measuring, run, solve)
        except (StoppedError, SolverError, InfeasibleError):
            # What has been reached so far stands; remarks say what it misses.
            break
        if standings[i].stalled == 0:
            # What one table has gained changes what is left to do for the others.
            zs[i] = standings[i].z
            standings = [replace(s, aims=tables.aims_of(j, zs), stalled=0) for j, s in enumerate(standings)]
    return standings


def _joint(tables: _Tables, plain: Sequence[Adjusted], run: Run, solve: Solve) -> list[RoundState]:
    """Rounds on one task that holds all tables, one after the other."""
    task, count = _stacked(tables.tasks), len(plain)
    start = Adjusted(
        z=np.concatenate([found.z for found in plain]),
        value=task.loss(np.concatenate([found.z for found in plain])),
        bound=sum(found.bound for found in plain),
        formulation=plain[0].formulation,
        iterations=sum(found.iterations for found in plain),
    )

    def measuring(z: Floats) -> list[Aim]:
        return tables.aims(np.split(z, count))

    standing = rounds(task, start, measuring, run, solve, tables.weight())
    refuse_contradiction(standing)
    found = [replace(p, z=z) for p, z in zip(plain, np.split(standing.z, count), strict=True)]
    return [
        replace(s, iterations=standing.iterations, formulation=standing.formulation)
        for s in tables.standings(found, [f.z for f in found])
    ]


def stackable(tasks: Sequence[AdjustmentTask]) -> bool:
    """Whether one program can hold all tasks: they count in the same units, in the same norm."""
    return len({(task.one, task.step, task.norm, task.delta) for task in tasks}) == 1


def _stacked(tasks: Sequence[AdjustmentTask]) -> AdjustmentTask:
    """All tasks as one; their losses are added, or of the largest change the larger taken."""
    from scipy.sparse import block_diag, csr_array

    first = tasks[0]
    if not stackable(tasks):
        raise InputError(
            "tables with different decimals or norms are not adjusted in one program: "
            "bring them to the same decimals, or adjust them alternating"
        )
    sides = [task.side or _no_rows(len(task)) for task in tasks]
    return replace(
        first,
        matrix=csr_array(block_diag([task.matrix for task in tasks])),
        lower=np.concatenate([task.lower for task in tasks]),
        upper=np.concatenate([task.upper for task in tasks]),
        weight=np.concatenate([task.weight for task in tasks]),
        choice=_choices(tasks),
        side=Side(
            csr_array(block_diag([side.rows for side in sides])),
            np.concatenate([side.least for side in sides]),
            np.concatenate([side.most for side in sides]),
        ),
    )


def _choices(tasks: Sequence[AdjustmentTask]) -> DirectionChoice | None:
    """The choices of all tasks, in the cells of the stacked one."""
    own = [(i * len(task), task.choice) for i, task in enumerate(tasks) if task.choice is not None]
    if not own:
        return None
    return DirectionChoice(
        np.concatenate([start + choice.cells for start, choice in own]),
        np.concatenate([choice.up_least for _, choice in own]),
        np.concatenate([choice.up_most for _, choice in own]),
        np.concatenate([choice.down_least for _, choice in own]),
        np.concatenate([choice.down_most for _, choice in own]),
    )


def _no_rows(size: int) -> Side:
    from scipy.sparse import csr_array

    return Side(csr_array((0, size), dtype=np.float64), np.empty(0), np.empty(0))


@dataclass(frozen=True, eq=False)
class Way:
    """One way to direct all sensitive cells: for each table which go up, the loss of all tables together, and
    the percent changes of their statistics.
    """

    up: tuple[Mask, ...]
    loss: float
    changes: dict[str, float]


def over_directions(
    tasks: Sequence[AdjustmentTask],
    values: Sequence[Floats],
    cells: Mask,
    run: Run,
    most: int = 4096,
    solve: Solve | None = None,
) -> Iterator[Way]:
    """Every way to direct the sensitive cells of one table or several that has a solution.

    Each table is solved once for each of its own ways; where its cheapest changes are not unique the
    statistics are those of the solver's. The iteration ends early when the run is over.

    Raises
    ------
    InputError
        There are more than ``most`` ways.
    """
    ways = [_ways(task.choice) for task in tasks]
    count = prod(prod(len(options) for options in table) for table in ways)
    if count > most:
        raise InputError(
            f"{count:,} ways to direct the sensitive cells are more than {most:,}: "
            "take smaller tables, or fix the directions of some cells"
        )
    return _each_way(tasks, values, cells, run, ways, solve or _default(run))


def _ways(choice: DirectionChoice | None) -> list[tuple[bool, ...]]:
    """For each sensitive cell of a table the directions it may take."""
    if choice is None:
        return []
    return [
        tuple(up for up, can in ((True, rise), (False, fall)) if can)
        for rise, fall in zip(choice.can_rise, choice.can_fall, strict=True)
    ]


def _each_way(
    tasks: Sequence[AdjustmentTask],
    values: Sequence[Floats],
    cells: Mask,
    run: Run,
    ways: Sequence[list[tuple[bool, ...]]],
    solve: Solve,
) -> Iterator[Way]:
    solved: list[list[tuple[Mask, float, Floats]]] = []
    for task, options, before in zip(tasks, ways, values, strict=True):
        solved.append([])
        for directions in product(*options):
            if run.over:
                return
            up = np.array(directions, dtype=bool)
            try:
                found = solve(task.directed(up))
            except InfeasibleError:
                continue
            solved[-1].append((up, found.value, before + found.z / task.one))
    for together in product(*solved):
        after = [x for _, _, x in together]
        measured = (
            changes(values[0], after[0], cells) if len(after) == 1 else changes_together(values, after, cells)
        )
        yield Way(tuple(up for up, _, _ in together), sum(loss for _, loss, _ in together), measured)


def _default(run: Run) -> Solve:
    from tacita.methods.adjustment.convex.solve import adjusted

    return lambda task: adjusted(task, run)
