"""Directions of sensitive cells, against the loss of all directions one by one."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_array, hstack

import tacita as tc
from tacita import generate
from tacita.core.errors import InfeasibleError, InputError, StoppedError
from tacita.core.levels import Levels
from tacita.core.run import Event, Run
from tacita.methods.adjustment.convex.solve_convex import solve_convex
from tacita.methods.adjustment.directions.annealing import anneal, balance_greedily
from tacita.methods.adjustment.directions.balance import Balance
from tacita.methods.adjustment.directions.choose_directions import HOWS, Directions, How, choose_directions
from tacita.methods.adjustment.directions.direction_patterns import derive_pattern_rows
from tacita.methods.adjustment.directions.flip_search import FlipSearch
from tacita.methods.adjustment.directions.flow_losses import FlowLosses
from tacita.methods.adjustment.directions.losses import ProgramLosses
from tacita.methods.adjustment.task import AdjustmentTask, DirectionChoice, Norm, SideConstraints
from tacita.solvers.network import Network

SEARCHES: tuple[How, ...] = tuple(how for how in HOWS if how not in ("fixed", "optimal"))
TABLES = {
    "line": ((8,), None),
    "plane": ((4, 5), None),
    "cube": ((3, 3, 3), None),
    "one tree": ((8, 4), (2, 1)),
    "two trees": ((4, 4), (2, 2)),
}


def build_task(
    kind: str, seed: int, *, norm: Norm = "l1", capacity: float = 0.5, totals: bool = True, count: int = 5
) -> AdjustmentTask:
    """A table whose sensitive cells move by 15 % and others by a share; weights differ from cell to cell."""
    shape, hierarchy = TABLES[kind]
    table = generate.table(shape, "uniform", hierarchy=hierarchy, seed=seed)
    draw = np.random.default_rng(seed)
    value, matrix = table.units, csr_array(table.equations.matrix)
    inner = np.asarray((matrix < 0).sum(axis=0)).ravel() == 0
    reach = np.floor(capacity * value).astype(np.int64)
    if not totals:
        reach[~inner] = 0
    cells = np.sort(draw.choice(np.flatnonzero(inner), count, replace=False))
    least = np.maximum(1, np.ceil(0.15 * value[cells])).astype(np.int64)
    most = np.maximum(least, reach[cells])
    # The first cell can only rise, the second only fall.
    up_most, down_most = most.copy(), most.copy()
    down_most[0], up_most[1] = 0, 0
    choice = DirectionChoice(cells, least, up_most, least, down_most)
    weight = draw.choice([0.25, 1.0, 3.0], len(table))
    return AdjustmentTask(matrix, -reach, reach, weight, 1, 1, norm, choice=choice)


def linear_loss(task: AdjustmentTask, up: np.ndarray) -> float:
    """The least loss with given directions, by another solver; infinite where there is none."""
    directed = task.directed(up)
    n = len(task)
    matrix = csr_array(hstack([directed.matrix, -directed.matrix]))
    limits, right = None, None
    if task.side is not None:
        rows = hstack([task.side.rows, -task.side.rows]).toarray()
        limits, right = np.vstack([rows, -rows]), np.concatenate([task.side.most, -task.side.least])
    low, high = directed.lower, directed.upper
    bounds = [
        *zip(np.maximum(low, 0), np.maximum(high, 0), strict=True),
        *zip(np.maximum(-high, 0), np.maximum(-low, 0), strict=True),
    ]
    cost = np.tile(task.weight / task.one, 2)
    found = linprog(cost, limits, right, matrix, np.zeros(matrix.shape[0]), bounds)
    assert found.status in (0, 2)
    assert matrix.shape[1] == 2 * n
    return float(found.fun) if found.status == 0 else np.inf


def own_loss(task: AdjustmentTask, up: np.ndarray) -> float:
    try:
        return solve_convex(task.directed(up), Run()).value
    except InfeasibleError:
        return np.inf


def possible(task: AdjustmentTask) -> list[np.ndarray]:
    assert task.choice is not None
    ways = zip(task.choice.can_rise, task.choice.can_fall, strict=True)
    return [
        np.array(up) for up in product(*([w for w, can in ((True, r), (False, f)) if can] for r, f in ways))
    ]


def assert_can_go(task: AdjustmentTask, found: Directions) -> None:
    assert task.choice is not None
    assert not (found.up & ~task.choice.can_rise).any()
    assert not (~found.up & ~task.choice.can_fall).any()


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("totals", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_optimal_is_the_best_of_all_directions(kind: str, totals: bool, seed: int) -> None:
    task = build_task(kind, seed, totals=totals, capacity=0.3)
    best = min(linear_loss(task, up) for up in possible(task))
    if np.isinf(best):
        with pytest.raises(InfeasibleError):
            choose_directions(task, "optimal", Run())
        return
    found = choose_directions(task, "optimal", Run())
    assert_can_go(task, found)
    assert found.optimal
    assert linear_loss(task, found.up) == pytest.approx(best, rel=1e-6)
    assert found.bound == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("how", SEARCHES)
@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("seed", range(3))
def test_searches_hold_an_adjustment_and_tell_a_true_bound(how: How, kind: str, seed: int) -> None:
    task = build_task(kind, seed, capacity=0.3)
    best = min(linear_loss(task, up) for up in possible(task))
    if np.isinf(best):
        with pytest.raises(InfeasibleError, match="optimal"):
            choose_directions(task, how, Run())
        return
    found = choose_directions(task, how, Run())
    assert_can_go(task, found)
    reached = linear_loss(task, found.up)
    assert np.isfinite(reached)
    assert found.bound <= best * (1 + 1e-9)
    assert not found.optimal or reached == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("norm", ["l2", "huber", "linf"])
@pytest.mark.parametrize("kind", ["line", "plane", "cube"])
@pytest.mark.parametrize("seed", range(2))
def test_optimal_in_other_norms(norm: Norm, kind: str, seed: int) -> None:
    task = build_task(kind, seed, norm=norm)
    losses = [own_loss(task, up) for up in possible(task)]
    found = choose_directions(task, "optimal", Run())
    assert found.bound <= min(losses) * (1 + 1e-5)
    assert found.optimal
    assert own_loss(task, found.up) == pytest.approx(min(losses), rel=1e-5)


def test_kept_statistics_count() -> None:
    task = build_task("plane", 1)
    assert task.choice is not None
    rows = csr_array(np.ones((1, len(task))))
    free = linear_loss(task, choose_directions(task, "optimal", Run()).up)
    kept = replace(task, side=SideConstraints(rows, np.array([40.0]), np.array([45.0])))
    best = min(linear_loss(kept, up) for up in possible(kept))
    found = choose_directions(kept, "optimal", Run())
    assert linear_loss(kept, found.up) == pytest.approx(best, rel=1e-6)
    assert best > free
    for how in SEARCHES:
        assert np.isfinite(linear_loss(kept, choose_directions(kept, how, Run()).up))


@pytest.mark.parametrize("how", [*SEARCHES, "optimal"])
def test_the_same_seed_gives_the_same_directions(how: How) -> None:
    task = build_task("plane", 2, count=8)
    first, again = (choose_directions(task, how, Run(seed=5)) for _ in range(2))
    assert (first.up == again.up).all()
    assert first.bound == again.bound


def test_random_directions_differ_by_seed() -> None:
    task = build_task("plane", 2, count=12, capacity=1.0)
    drawn = {choose_directions(task, "random", Run(seed=seed)).up.tobytes() for seed in range(6)}
    assert len(drawn) > 3


def test_alternating_begins_with_the_largest_up() -> None:
    task = build_task("line", 3, capacity=1.0, count=6)
    assert task.choice is not None
    least = np.array([9, 50, 30, 20, 40, 10])
    wide = np.full(6, 1000)
    choice = DirectionChoice(task.choice.cells, least, wide, least, wide)
    task = replace(task, lower=np.full(len(task), -1000), upper=np.full(len(task), 1000), choice=choice)
    found = choose_directions(task, "alternating", Run())
    assert found.up.tolist() == [False, True, True, False, False, True]


def test_fixed_directions_are_kept_or_refused() -> None:
    task = build_task("plane", 0)
    assert task.choice is not None
    up = task.choice.can_rise.copy()
    assert (choose_directions(task, "fixed", Run(), up).up == up).all()
    with pytest.raises(InputError, match="cannot go up"):
        choose_directions(task, "fixed", Run(), np.ones(5, dtype=bool))
    with pytest.raises(InputError, match="one direction for each sensitive cell, 5 in all"):
        choose_directions(task, "fixed", Run())


def test_nothing_sensitive_has_no_directions() -> None:
    task = replace(build_task("plane", 0), choice=None)
    assert choose_directions(task, "optimal", Run()).optimal


def test_a_cell_that_can_go_nowhere_is_named() -> None:
    task = build_task("plane", 0)
    assert task.choice is not None
    stuck = replace(task.choice, up_most=np.zeros(5, np.int64), down_most=np.zeros(5, np.int64))
    with pytest.raises(InfeasibleError, match=f"cell number {int(stuck.cells[0]) + 1} "):
        choose_directions(replace(task, choice=stuck), "greedy", Run())


def test_an_unknown_way_is_refused_with_the_nearest() -> None:
    with pytest.raises(InputError, match="did you mean 'greedy'"):
        choose_directions(build_task("plane", 0), "gredy", Run())  # type: ignore[arg-type]  # what a user may type


@pytest.mark.parametrize("how", [*SEARCHES, "optimal"])
def test_a_sensitive_cell_without_equations_goes_the_cheaper_way(how: How) -> None:
    matrix = csr_array(np.zeros((1, 2), dtype=np.int64))
    choice = DirectionChoice(np.array([1]), np.array([7]), np.array([9]), np.array([3]), np.array([9]))
    task = AdjustmentTask(
        matrix, np.zeros(2, np.int64), np.zeros(2, np.int64), np.ones(2), 1, 1, choice=choice
    )
    found = choose_directions(task, how, Run())
    assert found.bound == pytest.approx(3.0)
    assert how in ("alternating", "random") or found.up.tolist() == [False]


def test_changes_in_steps() -> None:
    """Least moves of 3 are 5 where only multiples of 5 are published."""
    matrix = csr_array(np.array([[1, 1, -1]]))
    three, six = np.array([3]), np.array([6])
    choice = DirectionChoice(np.array([0]), three, six, three, np.array([4]))
    bound = np.array([0, 7, 0])
    task = AdjustmentTask(matrix, -bound, bound, np.ones(3), 1, 5, choice=choice)
    found = choose_directions(task, "optimal", Run())
    assert found.up.tolist() == [True]
    assert found.bound == pytest.approx(10.0)


@pytest.mark.parametrize("seed", [0, 4, 5])
@pytest.mark.parametrize("one", [1, 100])
def test_values_from_one_to_two_hundred_billion(seed: int, one: int) -> None:
    """With weights of 1 / value every cell counts alike, and no tolerance may drown the small ones."""
    draw, size = np.random.default_rng(seed), 8
    n, cell = size * size, np.arange(size * size)
    at = np.append(cell // size, size + cell % size), np.tile(cell, 2)
    value = (10 ** draw.uniform(0, 11.3, n)).astype(np.int64) * one
    cells = draw.choice(n, 6, replace=False)
    own = value[cells]
    least = np.maximum(1, np.ceil(0.1 * own)).astype(np.int64)
    choice = DirectionChoice(cells, least, 2 * own, least, np.maximum(least, own))
    matrix = csr_array((np.ones(2 * n, np.int64), at))
    task = AdjustmentTask(matrix, -value, 2 * value, one / value, one, 1, choice=choice)
    best = min(own_loss(task, up) for up in possible(task))
    found = choose_directions(task, "optimal", Run())
    assert found.optimal
    assert own_loss(task, found.up) == pytest.approx(best, rel=1e-6)
    assert found.bound == pytest.approx(best, rel=1e-6)


# ---------------------------------------------------------------- large tables


def large(size: int, count: int, seed: int = 0) -> AdjustmentTask:
    draw = np.random.default_rng(seed)
    n, cell = size * size, np.arange(size * size)
    matrix = csr_array(
        (np.ones(2 * n, np.int64), (np.append(cell // size, size + cell % size), np.tile(cell, 2)))
    )
    value = np.rint(np.exp(draw.normal(4, 1.2, n))).astype(np.int64) + 1
    cells = draw.choice(n, count, replace=False)
    least = np.maximum(1, np.ceil(0.15 * value[cells])).astype(np.int64)
    choice = DirectionChoice(cells, least, 2 * value[cells], np.minimum(least, value[cells]), value[cells])
    return AdjustmentTask(matrix, -value, 2 * value, np.ones(n), 1, 1, choice=choice)


def test_flows_and_programs_agree_flip_by_flip() -> None:
    task = large(40, 60)
    assert task.choice is not None
    network = Network.of(task.matrix)
    assert network is not None
    flow, program = FlowLosses(task, task.choice, network), ProgramLosses(task, task.choice)
    draw = np.random.default_rng(0)
    up = draw.random(60) < 0.5
    for _ in range(15):
        up[draw.integers(60)] ^= True
        assert flow.compute(up, Run()) == pytest.approx(program.compute(up, Run()), rel=1e-9)
        assert flow.adjustment().loss.value == pytest.approx(task.loss(flow.adjustment().z))
        assert not (task.matrix @ flow.adjustment().z).any()


def test_flips_that_look_hopeless_are() -> None:
    from tacita.methods.adjustment.directions.losses import bound_flip_gains

    task = large(40, 60)
    assert task.choice is not None
    network = Network.of(task.matrix)
    assert network is not None
    losses = FlowLosses(task, task.choice, network)
    up = balance_greedily(Balance.of(task, task.choice), task.choice)
    before, gain = losses.compute(up, Run()), bound_flip_gains(task, task.choice, up, losses.adjustment())
    for p in range(60):
        turned = up.copy()
        turned[p] ^= True
        after = losses.compute(turned, Run())
        assert after.missed > 0 or after.value - before.value >= gain[p] - 1e-9


def test_a_table_of_two_and_a_half_thousand_cells_is_proven() -> None:
    task = large(50, 50)
    found = choose_directions(task, "optimal", Run())
    assert found.optimal
    assert solve_convex(task.directed(found.up), Run()).value == found.bound == 1212


def test_annealing_and_bounds_without_a_solver() -> None:
    task = large(60, 150)
    assert task.choice is not None
    balance = Balance.of(task, task.choice)
    start = balance_greedily(balance, task.choice)
    better = anneal(balance, task.choice, start, Run(), 0)
    first, last = (solve_convex(task.directed(up), Run()).value for up in (start, better))
    bound = balance.bound(task.choice)
    assert bound <= last < first
    assert derive_pattern_rows(balance, task.choice, Run())[1] <= last
    assert (anneal(balance, task.choice, start, Run(), 0) == better).all()


def test_pattern_rows_hold_for_all_directions() -> None:
    task = build_task("plane", 4, count=7)
    assert task.choice is not None
    balance = Balance.of(task, task.choice)
    rows, bound = derive_pattern_rows(balance, task.choice, Run())
    assert rows
    for up in possible(task):
        out = np.abs(balance.imbalance(up))
        for row in rows:
            assert row.alpha @ up[row.cells] + row.beta <= out[row.equation] + 1e-9
        assert bound <= linear_loss(task, up) + 1e-9


def test_a_cancel_keeps_the_best() -> None:
    task = large(60, 150)
    stop: list[Run] = []

    def listen(event: Event) -> None:
        if event.phase == "directions":
            stop[0].cancel()

    run = Run(listener=listen)
    stop.append(run)
    found = choose_directions(task, "optimal", run)
    assert run.cancelled
    assert not found.optimal
    assert found.bound <= solve_convex(task.directed(found.up), Run()).value


def test_a_cancel_keeps_the_best_in_other_norms() -> None:
    task = replace(large(60, 150), norm="l2")
    run = Run(listener=lambda event: run.cancel())
    found = choose_directions(task, "optimal", run)
    assert run.cancelled
    assert not found.optimal
    assert found.bound <= solve_convex(task.directed(found.up), Run()).value


def test_without_any_time_there_is_nothing_to_keep() -> None:
    with pytest.raises(StoppedError):
        choose_directions(large(60, 150), "greedy", Run(time_limit=0.0))


def test_directions_that_hold_nothing_are_mended() -> None:
    """Two cells of one row that may not move otherwise must go against each other."""
    matrix = csr_array(np.array([[1, 1, 1, -1]]))
    four, five = np.array([4, 4]), np.array([5, 5])
    choice = DirectionChoice(np.array([0, 1]), four, five, four, five)
    bound = np.array([0, 0, 1, 0])
    task = AdjustmentTask(matrix, -bound, bound, np.ones(4), 1, 1, choice=choice)
    same = np.array([True, True])
    search = FlipSearch(task, choice, ProgramLosses(task, choice), same, Run())
    assert search.loss.missed > 0
    search.descend()
    assert search.loss == (0.0, 8.0)
    for how in SEARCHES:
        up = choose_directions(task, how, Run()).up
        assert up[0] != up[1]


def test_alternating_goes_by_least_change_or_by_value() -> None:
    """Seed 003 orders sensitive cells by value and by protection; the page promises both."""
    table = tc.Table.from_array([100, 200, 300, 400], counts=False)
    cells = [table.find(code) for code in "1234"]
    sensitive, levels = np.zeros(len(table), dtype=bool), np.zeros(len(table), dtype=np.int64)
    sensitive[cells], levels[cells] = True, [40, 30, 20, 10]
    problem = tc.Problem(table, Levels.of(sensitive, upper=levels))
    for directions, up in (
        ("alternating", [True, False, True, False]),
        ("alternating by value", [False, True, False, True]),
    ):
        release = tc.Adjustment(directions=directions, distance="exact", protected=False).protect(problem)
        assert (release.value[cells] > table.units[cells]).tolist() == up
