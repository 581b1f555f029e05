"""What a search may conclude: grain, bounds, proofs of optimality and fixings, on models small enough to list
every loss.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from tacita import Levels, Problem, Table
from tacita.core.errors import SolverError, StoppedError
from tacita.core.outcome import Status
from tacita.core.run import Event, Run
from tacita.engine.attack.requirements import list_all_requirements
from tacita.engine.model import NO_SWITCH, Affine, Model
from tacita.engine.search.incumbent import NOISE, ROUGH, ReleaseSearch


def model(cost: list[float], integer: list[bool] | None = None, constant: float = 0.0) -> Model:
    """Binary variables (or continuous ones) with these costs; the table behind them plays no part."""
    table = Table.from_array(np.array([[3, 4], [5, 6]]))
    problem = Problem(table, Levels.of(np.arange(len(table)) == 0, upper=1, lower=1))
    n, cells = len(cost), len(table)
    return Model(
        problem=problem,
        cost=np.array(cost, dtype=float),
        lower=np.zeros(n),
        upper=np.ones(n),
        integer=np.ones(n, dtype=bool) if integer is None else np.array(integer),
        rows=csr_array((0, n)),
        row_lower=np.zeros(0),
        row_upper=np.zeros(0),
        above=Affine.zero(cells, n),
        below=Affine.zero(cells, n),
        switch=np.full(cells, NO_SWITCH),
        requirements=list_all_requirements(problem),
        constant=constant,
    )


def search(cost: list[float], integer: list[bool] | None = None, constant: float = 0.0) -> ReleaseSearch:
    return ReleaseSearch(model(cost, integer, constant), Run())


def losses(m: Model) -> np.ndarray:
    """Of every binary point."""
    return np.array([m.loss(np.array(x, dtype=float)) for x in product([0, 1], repeat=m.size)])


@pytest.mark.parametrize(
    ("cost", "grain"),
    [
        ([6, 10, 4], 2.0),
        ([7], 7.0),
        ([1, 0, 0], 1.0),
        ([0.5, 1.25], 0.25),
        ([0.3, 0.6, 1.2], 0.3),
        ([0.001, 1.0], 0.001),
        ([-6, 10, 4], 2.0),
        ([1e11, 3e11], 1e11),
        ([1e11, 1], 1.0),
        ([0, 0], 0.0),
        ([np.log(2), np.log(3)], 0.0),
        ([1 / 3, 1], 0.0),
        ([1e-5, 1], 0.0),
    ],
)
def test_grain_divides_every_cost(cost: list[float], grain: float) -> None:
    assert search(cost).grain == pytest.approx(grain)


def test_costs_of_variables_that_are_not_whole_have_no_grain() -> None:
    assert search([2, 4], integer=[True, False]).grain == 0.0
    assert search([2, 0], integer=[True, False]).grain == 2.0


@given(st.lists(st.one_of(st.integers(0, 50), st.decimals(0, 20, places=2)), min_size=1, max_size=5))
def test_all_losses_are_multiples_of_the_grain(cost: list[float]) -> None:
    s = search([float(c) for c in cost], constant=0.7)
    if s.grain:
        steps = (losses(s.model) - 0.7) / s.grain
        assert np.allclose(steps, np.rint(steps), atol=1e-6)
    else:
        assert not any(cost)


def test_a_bound_rises_to_the_next_possible_loss() -> None:
    s = search([6, 10, 4], constant=1.0)
    s.raise_bound(4.2)
    assert s.bound == 5.0
    s.raise_bound(5.0)
    assert s.bound == 5.0
    s.raise_bound(2.0)
    assert s.bound == 5.0


def test_arithmetic_does_not_carry_a_bound_over_a_loss() -> None:
    s = search([6, 10, 4])
    s.raise_bound(4 + 1e-9)
    assert s.bound == 4.0
    dear = search([1e9, 3])
    dear.raise_bound(1e9 + 1e-3)
    assert dear.bound == 1e9


COSTS = st.lists(
    st.one_of(
        st.just(0.0),
        st.integers(1, 40).map(float),
        st.decimals(0, 9, places=2).map(float),
        st.floats(0.001, 100.0),
        st.integers(10**9, 10**12).map(float),
        st.floats(1e8, 1e11),
    ),
    min_size=1,
    max_size=5,
)


@given(COSTS, st.floats(0.0, 1.0), st.integers(0, 31), st.sampled_from([0.0, 3.0, 0.25]))
def test_no_bound_exceeds_the_optimum_of_which_it_is_a_relaxation(
    cost: list[float], share: float, which: int, constant: float
) -> None:
    """Whichever point is optimal, and however far below it the relaxation is."""
    s = search(cost, constant=constant)
    every = losses(s.model)
    optimum = every[which % every.size]
    s.raise_bound(constant + share * (optimum - constant))
    assert s.bound <= optimum * (1 + NOISE)


@given(COSTS, st.integers(0, 31), st.floats(0.0, 1.0))
def test_closed_means_that_no_loss_lies_between(cost: list[float], which: int, share: float) -> None:
    s = search(cost)
    points = [np.array(x, dtype=float) for x in product([0, 1], repeat=s.model.size)]
    s.offer(points[which % len(points)])
    s.raise_bound(share * s.loss)
    if s.closed:
        better = [loss for loss in losses(s.model) if s.bound - 1e-9 * s.loss <= loss < s.loss]
        assert all(s.loss - loss <= 1.1 * NOISE * max(1.0, s.loss) for loss in better)


def test_closed_at_the_incumbent_and_open_below_it() -> None:
    s = search([6, 10, 4])
    assert not s.closed
    s.offer(np.array([1.0, 0.0, 1.0]))
    s.raise_bound(7.9)
    assert not s.closed
    s.raise_bound(8.1)
    assert s.closed


@pytest.mark.parametrize("cost", [[1e7, 1.0], [1e10, 5.0], [0.0, 0.0], [1e-4, 2e-4]])
def test_slack_is_never_negative_and_never_above_grain_and_noise(cost: list[float]) -> None:
    s = search(cost)
    s.offer(np.ones(2))
    assert 0 < s.slack <= max(s.grain, ROUGH * max(1.0, s.loss))


def test_a_better_offer_is_taken_and_a_worse_one_is_not() -> None:
    s = search([6, 10, 4])
    first = np.array([0.0, 1.0, 0.0])
    assert s.offer(first)
    first[:] = 0.0
    assert s.best is not None
    assert s.best.tolist() == [0.0, 1.0, 0.0]
    assert not s.offer(np.array([1.0, 0.0, 1.0]))
    assert s.offer(np.array([1.0, 0.0, 0.0]))
    assert s.loss == 6.0


def test_nothing_is_fixed_without_an_incumbent() -> None:
    s = search([6, 10, 4])
    assert s.fix_by_reduced_cost(0.0, np.array([1e9, 1e9, 1e9])) == 0


def test_variables_are_fixed_where_bound_and_reduced_cost_reach_the_incumbent() -> None:
    """Losses are even: better than 14 is at most 12."""
    s = search([6, 10, 4])
    s.offer(np.array([0.0, 1.0, 1.0]))
    assert s.fix_by_reduced_cost(8.0, np.array([4.0, 4.1, 6.0])) == 2
    assert s.upper.tolist() == [1.0, 0.0, 0.0]
    assert s.fix_by_reduced_cost(8.0, np.array([4.0, 4.1, 6.0])) == 0


def test_what_is_at_one_or_not_whole_or_free_of_charge_is_not_fixed() -> None:
    s = search([6, 10, 4, 2], integer=[True, False, True, True])
    s.lower[2] = 1.0
    s.offer(np.array([0.0, 0.0, 1.0, 0.0]))
    assert s.fix_by_reduced_cost(4.0, np.array([9.0, 9.0, 9.0, 0.0])) == 1
    assert s.upper.tolist() == [0.0, 1.0, 1.0, 1.0]


@given(COSTS, st.integers(0, 31), st.lists(st.floats(0, 1), min_size=5, max_size=5), st.floats(0, 1))
def test_fixing_spares_every_point_that_is_better(
    cost: list[float], which: int, shares: list[float], price: float
) -> None:
    """Relax ``a x >= b`` with a price: reduced costs ``cost - price a`` and the Lagrange value are valid for
    all points that keep the row, and none of them that is better loses a variable.
    """
    s = search(cost)
    n = s.model.size
    points = [np.array(x, dtype=float) for x in product([0, 1], repeat=n)]
    incumbent = points[which % len(points)]
    a = np.round(np.array(shares[:n]), 3)
    b = float(a @ incumbent)
    price *= max(cost)
    reduced = s.model.cost - price * a
    relaxation = price * b + float(np.minimum(reduced, 0.0).sum())
    feasible = [x for x in points if a @ x >= b]
    s.offer(max(feasible, key=s.model.loss))
    s.fix_by_reduced_cost(relaxation, reduced)
    for x in feasible:
        if s.model.loss(x) < s.loss - 3 * NOISE * max(1.0, s.loss):
            assert (x <= s.upper).all()


def test_more_time_is_advised_only_where_it_was_short() -> None:
    s = search([6, 10, 4])
    s.run.cancel()
    with pytest.raises(StoppedError, match="allow more time"):
        s.make_solution()


def test_a_solution_is_optimal_only_when_closed() -> None:
    s = search([6, 10, 4])
    with pytest.raises(SolverError, match="without a proof"):
        s.make_solution()
    s.offer(np.array([1.0, 0.0, 1.0]))
    s.raise_bound(5.0)
    found = s.make_solution()
    assert (found.status, found.loss, found.bound) == (Status.FEASIBLE, 10.0, 6.0)
    s.raise_bound(9.0)
    found = s.make_solution()
    assert (found.status, found.loss, found.bound) == (Status.OPTIMAL, 10.0, 10.0)


def test_a_listener_hears_what_is_known() -> None:
    heard: list[Event] = []
    s = ReleaseSearch(model([6, 10, 4]), Run(listener=heard.append))
    s.report_progress("bounding")
    s.raise_bound(3.0)
    s.offer(np.ones(3))
    s.report_progress("bounding")
    assert [(event.incumbent, event.bound) for event in heard] == [(None, None), (20.0, 4.0)]
