"""Petrenko, Figure 6.1: a table of 3 x 4, its margins fixed, two sensitive cells, every weight 1.

The figure's 20.69 for least squares is the sum of absolute changes of that solution, 724/35; its own loss is
2088/35. The least sums of absolute changes are attained by many tables, so only losses are compared.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.sparse import csr_array

from tacita.core.exact import UNBOUNDED
from tacita.core.run import Run
from tacita.examples.printed import PETRENKO
from tacita.methods.adjustment.convex.solve_convex import FORMULATIONS, solve_convex
from tacita.methods.adjustment.task import NORMS, AdjustmentTask, DirectionChoice, Norm

TABLE = np.array(PETRENKO)
SENSITIVE, LEAST = np.array([0, 11]), np.array([3, 5])
UP_UP = np.array([True, True])


def figure_6_1(norm: Norm, decimals: int = 0) -> AdjustmentTask:
    cells, one = np.arange(12).reshape(3, 4), 10**decimals
    matrix = np.zeros((7, 12), dtype=np.int64)
    for j, line in enumerate((*cells, *cells.T)):
        matrix[j, line] = 1
    values = TABLE.ravel()
    choice = DirectionChoice(
        SENSITIVE, LEAST * one, np.full(2, UNBOUNDED), LEAST * one, values[SENSITIVE] * one
    )
    return AdjustmentTask(
        csr_array(matrix), -values * one, np.full(12, UNBOUNDED), np.ones(12), one, 1, norm, choice=choice
    )


@pytest.mark.parametrize("formulation", ["auto", *FORMULATIONS["l1"]])
@pytest.mark.parametrize("decimals", [0, 2])
def test_the_least_sum_of_absolute_changes_is_20_in_every_formulation(
    formulation: str, decimals: int
) -> None:
    answer = solve_convex(figure_6_1("l1", decimals).directed(UP_UP), Run(), formulation)
    assert answer.value == pytest.approx(20, rel=1e-7)
    assert answer.bound == pytest.approx(20, rel=1e-7)


@pytest.mark.parametrize("formulation", ["auto", *FORMULATIONS["l2"]])
def test_least_squares_lose_2088_35ths_and_change_724_35ths(formulation: str) -> None:
    task = figure_6_1("l2").directed(UP_UP)
    answer = solve_convex(task, Run(), formulation)
    assert answer.value == pytest.approx(2088 / 35, rel=1e-7)
    assert answer.bound == pytest.approx(2088 / 35, rel=1e-7)
    # The square root of a gap of 1e-9 shows in the changes themselves.
    assert task.loss(answer.z, "l1") == pytest.approx(724 / 35, rel=1e-4)


def test_pseudo_huber_with_a_thousandth() -> None:
    answer = solve_convex(figure_6_1("huber").directed(UP_UP), Run())
    assert answer.value == pytest.approx(19.98800845, abs=2e-7)
    assert answer.bound == pytest.approx(19.98800845, abs=2e-7)


@pytest.mark.parametrize("formulation", FORMULATIONS["l1"])
@pytest.mark.parametrize("up", list(product([True, False], repeat=2)))
def test_mixed_directions_cost_26(up: tuple[bool, bool], formulation: str) -> None:
    answer = solve_convex(figure_6_1("l1").directed(np.array(up)), Run(), formulation)
    assert answer.value == pytest.approx(20 if up[0] == up[1] else 26, rel=1e-7)


@pytest.mark.parametrize("norm", NORMS)
def test_margins_stay_and_sensitive_cells_are_safe(norm: Norm) -> None:
    answer = solve_convex(figure_6_1(norm).directed(UP_UP), Run())
    table = TABLE + answer.z.reshape(3, 4)
    assert table.sum(axis=0) == pytest.approx([28, 37, 34, 37])
    assert table.sum(axis=1) == pytest.approx([45, 45, 46])
    assert table[0, 0] >= 13
    assert table[2, 3] >= 18
    assert (table >= 0).all()
