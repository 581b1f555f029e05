"""Capacities that are too tight: the smallest that works, and the least protection that must be given up."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from budget import examples
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

import tacita as tc
from tacita.core.errors import InfeasibleError, InputError
from tacita.methods.adjustment.feasibility import (
    apply_shortfall,
    find_smallest_capacity,
    find_smallest_shortfall,
)
from tacita.methods.adjustment.task import AdjustmentTask
from tacita.methods.adjustment.task_options import (
    build_task,
    find_capacity_shares,
    multiply_exactly,
    parse_percentage,
    read_amounts_or_percentages,
    read_directions,
)


def task(problem: tc.Problem, capacity=None, relaxed=None, fixed=False, zero=False) -> AdjustmentTask:
    return build_task(problem, "l1", 1e-3, "unit", capacity, relaxed, fixed, zero)


@st.composite
def sensitive_tables(draw) -> tc.Problem:
    shape = draw(st.sampled_from([(4,), (2, 3), (3, 3), (2, 2, 2)]))
    size = int(np.prod(shape))
    values = np.array(draw(st.lists(st.integers(5, 60), min_size=size, max_size=size))).reshape(shape)
    table = tc.Table.from_array(values, counts=False)
    cells = draw(st.lists(st.integers(0, len(table) - 1), min_size=1, max_size=3, unique=True))
    lower, upper = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    return tc.Problem(table, tc.Marked(cells, lower=lower, upper=upper))


def least_by_hand(asked: AdjustmentTask, share: np.ndarray, shortfall: bool) -> float:
    """The least over all directions of a linear program written for one of them."""
    n, choice = len(asked), asked.choice
    best = np.inf
    for up in product([True, False], repeat=choice.cells.size):
        directed = asked.directed(np.array(up))
        if (directed.lower > directed.upper).any():
            continue
        others = np.setdiff1d(np.arange(n), choice.cells)
        sign = np.where(up, 1.0, -1.0)
        least = np.where(up, choice.up_least, choice.down_least)
        extra = choice.cells.size if shortfall else 1
        rows, limits = [], []
        for k, cell in enumerate(choice.cells):
            row = np.zeros(n + extra)
            row[cell] = -sign[k]
            if shortfall:
                row[n + k] = -least[k]
            rows.append(row)
            limits.append(-least[k])
        bounds = list(zip(directed.lower, directed.upper, strict=True))
        for k, cell in enumerate(choice.cells):
            most = (choice.up_most if up[k] else choice.down_most)[k]
            bounds[cell] = (0, most) if up[k] else (-most, 0)
        if not shortfall:
            for cell in others:
                for way in (1.0, -1.0):
                    row = np.zeros(n + 1)
                    row[cell], row[n] = way, -share[cell]
                    rows.append(row)
                    limits.append(0.0)
        cost = np.concatenate([np.zeros(n), np.ones(extra)])
        matrix = np.hstack([asked.matrix.toarray(), np.zeros((asked.matrix.shape[0], extra))])
        more = [(0, 1 if shortfall else None)] * extra
        found = linprog(
            cost, np.array(rows), np.array(limits), matrix, np.zeros(matrix.shape[0]), [*bounds, *more]
        )
        if found.status == 0:
            best = min(best, found.fun)
    return best


@given(sensitive_tables())
@examples(25)
def test_the_smallest_capacity(problem: tc.Problem) -> None:
    loose, share = task(problem), find_capacity_shares(problem, "1%")
    found, least = find_smallest_capacity(loose, share, tc.Run()), least_by_hand(task(problem), share, False)
    if not np.isfinite(least):
        assert found is None
        return
    assert found.smallest
    assert found.amount == pytest.approx(least, abs=1e-7)
    assert np.setdiff1d(found.binding, loose.choice.cells).size == found.binding.size


@given(sensitive_tables(), st.sampled_from(["0%", "2%", "10%", "40%"]))
@examples(25)
def test_the_smallest_shortfall(problem: tc.Problem, capacity: str) -> None:
    tight = task(problem, capacity)
    found, least = find_smallest_shortfall(tight, tc.Run()), least_by_hand(tight, np.zeros(0), True)
    assert found.missing.sum() == pytest.approx(least, abs=1e-6)
    eased = apply_shortfall(tight, found)
    assert (eased.lower <= eased.upper).all()
    if least < 1e-9:
        directed = tight.directed(found.up)
        assert np.array_equal(eased.lower, directed.lower)
        assert np.array_equal(eased.upper, directed.upper)


def test_amounts_are_percentages_numbers_or_columns() -> None:
    table = tc.Table.from_array([[10, 20], [30, 45]], counts=False)
    problem = tc.Problem(table, tc.Marked([]))
    assert read_amounts_or_percentages(problem, "20%", "capacity")[table.find("2", "2")] == 9
    assert (read_amounts_or_percentages(problem, 7, "capacity") == 7).all()
    with pytest.raises(InputError, match="'x%' is no percentage"):
        read_amounts_or_percentages(problem, "x%", "capacity")
    with pytest.raises(InputError, match="no column 'wide'"):
        read_amounts_or_percentages(problem, "wide", "capacity")


@pytest.mark.parametrize("wrong", ["nan%", "inf%", "-5%", "1e999999999%"])
def test_percentages_are_finite_and_not_negative(wrong: str) -> None:
    with pytest.raises(InputError, match="is no percentage of zero or more"):
        parse_percentage(wrong)


def test_percentages_are_exact() -> None:
    units = np.array([100, 10**16 + 100, 3 * 10**15 + 1])
    # In floats 0.29 * 100 is less than 29, and 1e16 + 100 loses its last places.
    for said, hundredths in (("29%", 2900), ("33.33%", 3333), ("0.01%", 1), ("250%", 25000)):
        expected = [int(unit) * hundredths // 10**4 for unit in units]
        assert multiply_exactly(units, parse_percentage(said)).tolist() == expected
    assert (multiply_exactly(units, parse_percentage("1e300%")) >= units).all()


def test_counts_below_zero_cannot_fall_to_zero() -> None:
    table = tc.Table.from_array([[-4, 9], [8, 7]], counts=True)
    known = tc.Outsider(table.units - 20, table.units + 20)
    choice = task(tc.Problem(table, tc.Marked([("1", "1")], lower=3, upper=3), known), zero=True).choice
    assert not choice.can_fall.any()
    assert choice.up_least.tolist() == [3]


def test_counts_fall_to_zero() -> None:
    problem = tc.Problem(tc.Table.from_array([[2, 9], [8, 7]]), tc.Threshold(5))
    asked = task(problem, zero=True)
    assert asked.choice.down_least.tolist() == asked.choice.down_most.tolist() == [2]
    assert asked.choice.up_least.tolist() == [3]


def test_a_sensitive_total_cannot_be_fixed() -> None:
    table = tc.Table.from_array([[2, 9], [8, 7]], counts=False)
    with pytest.raises(InfeasibleError, match=r"row=1, column=Total.*let totals be free"):
        task(tc.Problem(table, tc.Marked([("1", "Total")], lower=1, upper=1)), fixed=True)


def test_signs_of_a_column_are_directions() -> None:
    table = tc.Table.from_array([[2, 9], [8, 7]], counts=False)
    signs = np.where(np.arange(9) % 2, 1, -1)
    problem = tc.Problem(
        replace(table, columns={"sign": signs, "none": np.zeros(9), "words": np.array(["up"] * 9)}),
        tc.Marked([0, 1], lower=1, upper=1),
    )
    choice = task(problem).choice
    assert read_directions(problem, choice, "sign").tolist() == [False, True]
    assert read_directions(problem, choice, "up").all()
    assert read_directions(problem, choice, "greedy") is None
    for column in ("none", "words"):
        with pytest.raises(InputError, match=r"gives .* no direction"):
            read_directions(problem, choice, column)


def test_given_directions_without_a_safe_value_name_the_cell() -> None:
    problem = tc.Problem(tc.Table.from_array([[0, 9], [8, 7]]), tc.Marked([("1", "1")], upper=2))
    with pytest.raises(InputError, match=r"row=1, column=1.*no safe value lies in the direction"):
        read_directions(problem, task(problem, zero=True).choice, "down")


def test_small_room_beside_large_levels_is_not_infeasible() -> None:
    """Staying is always possible if all protection may be given up."""
    values = [
        [[-19999999829, 0, 0], [40000000048, 10000000829, 30000000618]],
        [[-19999999094, 20000000494, 40000000749], [0, 0, 0]],
    ]
    table = tc.Table.from_array(values, counts=False)
    large, above = table.find("1", "Total", "Total"), np.full(len(table), 9)
    below = np.where(table.units < 0, 0, 9)
    above[large], below[large] = 11586682585, 1365650114
    known = tc.Outsider(table.units - below, table.units + above)
    rule = tc.Marked([large], lower=1365650114, upper=11586682585)
    found = find_smallest_shortfall(task(tc.Problem(table, rule, known)), tc.Run())
    assert found is not None
    assert found.missing[0] > 0.99
