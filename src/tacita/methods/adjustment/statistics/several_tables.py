"""Changes of several tables of one structure that preserve statistics of each and of each pair.

Tables ``a, b, ...`` over the same cells become ``a + y, b + z, ...``. Their covariance becomes

    Cov(a + y, b + z) = Cov(a, b) + Cov(a, z) + Cov(b, y) + Cov(y, z),

which is bilinear. *Alternating* changes one table at a time, the others fixed: the covariance is then linear,
and each program is as small as that of one table. *Joint* changes all tables at once, in one program whose
rows linearise the bilinear terms around the last changes. It is larger, and finds changes that no single
table could make alone.
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
from tacita.methods.adjustment.statistics.measures import (
    TOGETHER,
    Keep,
    MeasuredStatistic,
    measure_changes,
    measure_changes_together,
    measure_statistics,
)
from tacita.methods.adjustment.statistics.preserve import (
    LITTLE,
    ROUNDS,
    PreservingSolution,
    conclude_rounds,
    linearise_all,
    refuse_contradiction,
    run_rounds,
)
from tacita.methods.adjustment.statistics.rounds import (
    RoundState,
    Solve,
    StatisticTarget,
    make_target,
    run_round,
    start_rounds,
)
from tacita.methods.adjustment.task import (
    AdjustmentSolution,
    AdjustmentTask,
    DirectionChoice,
    SideConstraints,
)


def solve_together(
    tasks: Sequence[AdjustmentTask],
    values: Sequence[Floats],
    keep: Keep,
    cells: Mask,
    run: Run,
    how: Literal["alternating", "joint"] = "alternating",
) -> list[PreservingSolution]:
    """Return the cheapest adjustments found that preserve statistics of each table and of each pair.

    Parameters
    ----------
    tasks
        One for each table, with directions given.
    values
        Of all cells of each table before.
    cells
        Those of the statistics.

    Returns
    -------
    list of PreservingSolution
        One for each table. A tolerance that is missed between two tables is a remark of the first.

    Raises
    ------
    InfeasibleError
        A task has no solution; or, jointly, tolerances are too narrow.
    """
    if how not in ("alternating", "joint"):
        raise InputError(f"tables are adjusted 'alternating' or 'joint', not '{how}'")
    tables = _Tables(tasks, values, keep, cells)
    # Only the first changes may take longer than the time limit; rounds improve them.
    plain = [_default_solver(run.extended())(task) for task in tasks]
    changing = _solve_alternating if how == "alternating" else _solve_jointly
    states = changing(tables, plain, run, _default_solver(run))
    results = [conclude_rounds(s, p.bound, len(tables)) for s, p in zip(states, plain, strict=True)]
    noted: set[str] = set()
    for number, result in enumerate(results):
        results[number] = replace(result, remarks=tuple(r for r in result.remarks if r not in noted))
        noted.update(result.remarks)
    return results


def choose_directions_together(
    tasks: Sequence[AdjustmentTask],
    values: Sequence[Floats],
    keep: Keep,
    cells: Mask,
    first: Sequence[Mask],
    run: Run,
    choose: Callable[[AdjustmentTask], Mask],
) -> list[Mask]:
    """Return adjustment directions of all tables that preserve linearised statistics at the least loss.

    Parameters
    ----------
    tasks
        One for each table, with the choice of its sensitive cells.
    first
        Directions of each table, whose changes give the terms of second order.
    choose
        Chooses the directions of one task that contains all tables and the rows of their statistics.

    Raises
    ------
    InfeasibleError, StoppedError
        None were found.
    """
    directed = [task.directed(up) for task, up in zip(tasks, first, strict=True)]
    tables, solve = _Tables(directed, values, keep, cells), _default_solver(run)
    z = np.concatenate([solve(task).z for task in directed])
    side = linearise_all(lambda z: tables.measure_targets(np.split(z, len(tasks))), z)
    up = choose(replace(_stack_tasks(tasks), side=side))
    return np.split(up, np.cumsum([mask.size for mask in first])[:-1])


class _Tables:
    """Several tables and the statistics of their changes."""

    def __init__(
        self, tasks: Sequence[AdjustmentTask], values: Sequence[Floats], keep: Keep, cells: Mask
    ) -> None:
        if len(tasks) < 2 or len({len(task) for task in tasks} | {v.size for v in values}) > 1:
            raise InputError("tables are adjusted together when there are two or more, over the same cells")
        unknown = [name for name in keep.asked if name not in TOGETHER]
        if unknown:
            raise InputError(
                f"{unknown[0]} cannot be preserved of several tables",
                remedy=f"write some of {', '.join(TOGETHER)}",
            )
        if any(task.choice is not None for task in tasks):
            raise InputError("statistics are preserved with given directions", remedy="choose them first")
        self.tasks, self.keep, self.where = tasks, keep, np.flatnonzero(cells)
        self.before = [v[self.where] for v in values]

    def __len__(self) -> int:
        return len(self.tasks[0])

    def measure_statistics(self, zs: Sequence[Floats]) -> list[MeasuredStatistic]:
        moved = zip(self.before, zs, self.tasks, strict=True)
        return measure_statistics(
            tuple(self.keep.asked), self.before, [a + z[self.where] / task.one for a, z, task in moved]
        )

    def measure_targets(self, zs: Sequence[Floats]) -> list[StatisticTarget]:
        """Return the statistics to preserve, as functions of the stacked adjustments of all tables."""
        return [
            make_target(m, self.keep, [self.where + i * len(self) for i in m.tables], self.tasks[0].one)
            for m in self.measure_statistics(zs)
        ]

    def measure_targets_of(self, i: int, zs: Sequence[Floats]) -> list[StatisticTarget]:
        """Return the statistics to preserve that involve table ``i``, as functions of its adjustment."""
        return [
            make_target(
                replace(m, gradients=(m.gradients[m.tables.index(i)],)),
                self.keep,
                [self.where],
                self.tasks[i].one,
            )
            for m in self.measure_statistics(zs)
            if i in m.tables
        ]

    def find_weights(self) -> Floats:
        """Return weights of squared adjustments of all cells, relative to the variance of each table."""
        cells = np.full(len(self), LITTLE)
        cells[self.where] = 1.0
        variances = [float(a.var()) or 1.0 for a in self.before]
        return np.concatenate([cells * (max(variances) / variance) for variance in variances])

    def start_states(self, found: Sequence[AdjustmentSolution], zs: Sequence[Floats]) -> list[RoundState]:
        """Return the state of each table before its rounds, with the adjustment that was found."""
        return [
            start_rounds(task, solution, self.measure_targets_of(i, zs))
            for i, (task, solution) in enumerate(zip(self.tasks, found, strict=True))
        ]


def _solve_alternating(
    tables: _Tables, plain: Sequence[AdjustmentSolution], run: Run, solve: Solve
) -> list[RoundState]:
    """Return the states of all tables' adjustments after rounds on one table at a time."""
    zs = [found.z for found in plain]
    states = tables.start_states(plain, zs)
    for turn in range(ROUNDS * len(zs)):
        i = turn % len(zs)
        if run.over or all(s.is_finished(p.value) for s, p in zip(states, plain, strict=True)):
            break
        if states[i].is_finished(plain[i].value):
            continue
        run.report("statistics", turn, ROUNDS * len(zs))

        def measure(z: Floats, i: int = i) -> list[StatisticTarget]:
            return tables.measure_targets_of(i, [*zs[:i], z, *zs[i + 1 :]])

        try:
            states[i] = run_round(tables.tasks[i], states[i], measure, run, solve)
        except (StoppedError, SolverError, InfeasibleError):
            # The best changes so far are returned; remarks name the tolerances that they miss.
            break
        if states[i].stalled == 0:
            # The gain of one table changes the statistics of the others.
            zs[i] = states[i].z
            states = [
                replace(s, targets=tables.measure_targets_of(j, zs), stalled=0) for j, s in enumerate(states)
            ]
    return states


def _solve_jointly(
    tables: _Tables, plain: Sequence[AdjustmentSolution], run: Run, solve: Solve
) -> list[RoundState]:
    """Return the states of all tables' adjustments after rounds on one task that contains all."""
    task, count = _stack_tasks(tables.tasks), len(plain)
    start = AdjustmentSolution(
        z=np.concatenate([found.z for found in plain]),
        value=task.loss(np.concatenate([found.z for found in plain])),
        bound=sum(found.bound for found in plain),
        formulation=plain[0].formulation,
        iterations=sum(found.iterations for found in plain),
    )

    def measure(z: Floats) -> list[StatisticTarget]:
        return tables.measure_targets(np.split(z, count))

    state = run_rounds(task, start, measure, run, solve, tables.find_weights())
    refuse_contradiction(state)
    found = [replace(p, z=z) for p, z in zip(plain, np.split(state.z, count), strict=True)]
    return [
        replace(s, iterations=state.iterations, formulation=state.formulation)
        for s in tables.start_states(found, [f.z for f in found])
    ]


def can_stack(tasks: Sequence[AdjustmentTask]) -> bool:
    """Return whether one program can adjust all tables: in the same units, in the same norm."""
    return len({(task.one, task.step, task.norm, task.delta) for task in tasks}) == 1


def _stack_tasks(tasks: Sequence[AdjustmentTask]) -> AdjustmentTask:
    """Return the adjustment tasks of all tables as one, whose loss is the sum, or largest in ``linf``."""
    from scipy.sparse import block_diag, csr_array

    first = tasks[0]
    if not can_stack(tasks):
        raise InputError(
            "tables with different decimals or norms are not adjusted in one program",
            remedy="bring them to the same decimals, or adjust them alternating",
        )
    sides = [task.side or _empty_side(len(task)) for task in tasks]
    return replace(
        first,
        matrix=csr_array(block_diag([task.matrix for task in tasks])),
        lower=np.concatenate([task.lower for task in tasks]),
        upper=np.concatenate([task.upper for task in tasks]),
        weight=np.concatenate([task.weight for task in tasks]),
        choice=_join_choices(tasks),
        side=SideConstraints(
            csr_array(block_diag([side.rows for side in sides])),
            np.concatenate([side.least for side in sides]),
            np.concatenate([side.most for side in sides]),
        ),
    )


def _join_choices(tasks: Sequence[AdjustmentTask]) -> DirectionChoice | None:
    """Return the choices of adjustment directions of all tables, in the cells of the stacked task."""
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


def _empty_side(size: int) -> SideConstraints:
    from scipy.sparse import csr_array

    return SideConstraints(csr_array((0, size), dtype=np.float64), np.empty(0), np.empty(0))


@dataclass(frozen=True, eq=False)
class DirectionOutcome:
    """The result of one combination of directions: for each table which cells go up, the loss of all tables,
    and the changes of their statistics in percent.
    """

    up: tuple[Mask, ...]
    loss: float
    changes: dict[str, float]


def enumerate_directions(
    tasks: Sequence[AdjustmentTask],
    values: Sequence[Floats],
    cells: Mask,
    run: Run,
    most: int = 4096,
) -> Iterator[DirectionOutcome]:
    """Yield loss and statistics of the adjustments by all feasible directions, of one table or several.

    Each table is solved once for each of its own combinations; where its cheapest changes are not unique the
    statistics are those of the solver's. The iteration ends early when the run is over.

    Raises
    ------
    InputError
        There are more than ``most`` combinations.
    """
    possible = [_list_open_directions(task.choice) for task in tasks]
    count = prod(prod(len(options) for options in table) for table in possible)
    if count > most:
        raise InputError(
            f"{count:,} ways to direct the sensitive cells are more than {most:,}",
            remedy="take smaller tables, or fix the directions of some cells",
        )
    return _solve_each(tasks, values, cells, run, possible, _default_solver(run))


def _list_open_directions(choice: DirectionChoice | None) -> list[tuple[bool, ...]]:
    """Return the directions open to each sensitive cell of an adjustment: up, down, or both."""
    if choice is None:
        return []
    return [
        tuple(up for up, can in ((True, rise), (False, fall)) if can)
        for rise, fall in zip(choice.can_rise, choice.can_fall, strict=True)
    ]


def _solve_each(
    tasks: Sequence[AdjustmentTask],
    values: Sequence[Floats],
    cells: Mask,
    run: Run,
    possible: Sequence[list[tuple[bool, ...]]],
    solve: Solve,
) -> Iterator[DirectionOutcome]:
    solved: list[list[tuple[Mask, float, Floats]]] = []
    for task, options, before in zip(tasks, possible, values, strict=True):
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
            measure_changes(values[0], after[0], cells)
            if len(after) == 1
            else measure_changes_together(values, after, cells)
        )
        yield DirectionOutcome(
            tuple(up for up, _, _ in together), sum(loss for _, loss, _ in together), measured
        )


def _default_solver(run: Run) -> Solve:
    from tacita.methods.adjustment.convex.solve_convex import solve_convex

    return lambda task: solve_convex(task, run)
