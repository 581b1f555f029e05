"""Whole moves of least squares: against brute force, on networks and beyond, with short and long segments."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita.core.tables.table import Table
from tacita.methods.random_rounding import integer_squares
from tacita.methods.random_rounding.integer_squares import IntegerSquares, build_network, minimise_squares

SHAPES = ((4,), (2, 2), (2, 3), (3, 3), (2, 2, 2), (2, 2, 3))


def asked_of(table: Table, weight: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> IntegerSquares:
    """All totals stay; the rest is given for inner cells."""
    inner = ~table.structure.is_total
    columns = [np.zeros(len(table), dtype=np.int64) for _ in range(2)]
    columns[0][inner], columns[1][inner] = lower, upper
    weights = np.ones(len(table))
    weights[inner] = weight
    return IntegerSquares(table.structure, build_network(table.structure, inner), weights, *columns)


def cheapest_by_hand(shape: tuple[int, ...], weight, lower, upper) -> float | None:
    """Moves with sums of zero along every axis are given by those of all cells but the last of each axis."""
    weight, lower, upper = (np.array(x).reshape(shape) for x in (weight, lower, upper))
    first = tuple(slice(0, n - 1) for n in shape)
    ranges = [range(a, b + 1) for a, b in zip(lower[first].ravel(), upper[first].ravel(), strict=True)]
    best = None
    for chosen in product(*ranges):
        z = np.array(chosen, dtype=np.int64).reshape([n - 1 for n in shape])
        for axis in range(len(shape)):
            z = np.concatenate([z, -z.sum(axis=axis, keepdims=True)], axis=axis)
        if (z < lower).any() or (z > upper).any():
            continue
        loss = float((weight * z**2).sum())
        best = loss if best is None else min(best, loss)
    return best


@st.composite
def questions(draw):
    shape = draw(st.sampled_from(SHAPES))
    size = int(np.prod(shape))
    few = st.lists(st.integers(0, 3), min_size=size, max_size=size)
    lower, upper = -np.array(draw(few)), np.array(draw(few))
    given_cells = draw(st.lists(st.integers(0, size - 1), max_size=2, unique=True))
    for k in given_cells:
        lower[k] = upper[k] = draw(st.integers(-3, 3))
    weight = draw(st.lists(st.sampled_from([0.01, 0.3, 1.0, 7.0]), min_size=size, max_size=size))
    return shape, np.array(weight), lower, upper


@pytest.mark.parametrize("reach", [1, 32])
@given(question=questions(), as_network=st.booleans())
def test_is_the_best_by_brute_force(reach: int, question, as_network: bool) -> None:
    shape, weight, lower, upper = question
    table = Table.from_array(np.ones(shape, dtype=int))
    asked = asked_of(table, weight, lower, upper)
    if not as_network:
        asked = IntegerSquares(asked.structure, None, asked.weight, asked.lower, asked.upper)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(integer_squares, "REACH", reach)
        found = minimise_squares(asked, tc.Run())
    best = cheapest_by_hand(shape, weight, lower, upper)
    if best is None:
        assert found is None
        return
    assert found is not None
    assert found.loss == pytest.approx(best)
    assert found.proven
    assert not table.equations.residuals(table.units + found.z).any()
    assert (found.z >= asked.lower).all()
    assert (found.z <= asked.upper).all()


@pytest.mark.parametrize("as_network", [True, False])
def test_long_moves_take_few_segments(as_network: bool) -> None:
    """A sum of a million is made up for in proportion to the values: the answer of calculus, to a step."""
    values = np.array([1_000_000, 2_000_000, 5_000_000, 12_000_000])
    table = Table.from_array(values)
    lower, upper = -values // 2, values.copy()
    lower[0] = upper[0] = 900_000
    asked = asked_of(table, 1.0 / values, lower, upper)
    if not as_network:
        asked = IntegerSquares(asked.structure, None, asked.weight, asked.lower, asked.upper)
    found = minimise_squares(asked, tc.Run())
    assert found is not None
    assert found.proven
    inner = found.z[~table.structure.is_total]
    expected = -900_000 * values[1:] / values[1:].sum()
    assert np.abs(inner[1:] - expected).max() < 1


def test_weights_far_apart() -> None:
    """Values from 1 to 2e11, one of which gives way to another."""
    values = np.array([[1, 200_000_000_000], [30, 7_000_000]])
    table = Table.from_array(values)
    flat = values.ravel()
    lower, upper = -(flat // 2), flat.copy()
    lower[2] = upper[2] = -1
    found = minimise_squares(asked_of(table, 1.0 / flat, lower, upper), tc.Run())
    assert found is not None
    assert found.z[~table.structure.is_total].tolist() == [1, -1, -1, 1]


def test_two_hierarchies_are_a_network_when_totals_stay() -> None:
    tree = tc.Hierarchy.from_dict({"A": ["a1", "a2"], "B": ["b1", "b2"]})
    leaves = ["a1", "a2", "b1", "b2"]
    frame = pl.DataFrame({"one": np.repeat(leaves, 4), "other": np.tile(leaves, 4), "value": [5] * 16})
    table = Table.from_frame(frame, {"one": tree, "other": tree}, value="value", totals="compute")
    assert build_network(table.structure, ~table.structure.is_total) is not None
    assert build_network(table.structure, np.ones(len(table), dtype=bool)) is None
