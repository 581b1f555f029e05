"""Relative errors, ranks and distances of counts: as their definitions say, and of shown numbers only."""

from __future__ import annotations

from math import isnan

import numpy as np
import pytest
from budget import examples
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import tacita as tc
from tacita.core.errors import ReleaseError
from tacita.problem.deviations import (
    correlate_ranks,
    measure_chi_square,
    measure_deviations,
    measure_hellinger,
)

COUNTS = st.lists(st.integers(0, 9), min_size=2, max_size=9)


@given(COUNTS, st.randoms())
@examples(100)
def test_ranks_agree_with_another_implementation(true: list[int], random) -> None:
    shown = [max(0, value + random.randint(-2, 2)) for value in true]
    found = correlate_ranks(np.array(true, float), np.array(shown, float))
    if len(set(true)) == 1 or len(set(shown)) == 1:
        assert isnan(found)
    else:
        assert found == pytest.approx(stats.spearmanr(true, shown).statistic)


@given(COUNTS)
@examples(50)
def test_hellinger_is_zero_for_a_multiple_and_one_without_common_cells(true: list[int]) -> None:
    before = np.array(true, float)
    if not before.sum():
        assert isnan(measure_hellinger(before, before))
        return
    assert measure_hellinger(before, 3 * before) == pytest.approx(0, abs=1e-7)
    empty = np.zeros_like(before)
    apart = measure_hellinger(np.r_[before, empty], np.r_[empty, before])
    assert apart == pytest.approx(1)


def test_distances_of_counts_by_hand() -> None:
    true, shown = np.array([4.0, 0, 16, 5]), np.array([5.0, 5, 15, 5])
    assert measure_chi_square(true, shown) == pytest.approx(1 / 4 + 1 / 16)
    by_hand = sum((np.sqrt(v / 30) - np.sqrt(a / 25)) ** 2 for v, a in zip(shown, true, strict=True)) / 2
    assert measure_hellinger(true, shown) == pytest.approx(np.sqrt(by_hand))
    assert isnan(measure_hellinger(true, -shown))
    assert isnan(measure_chi_square(np.zeros(2), np.ones(2)))


def test_zeros_have_no_relative_error_and_hidden_cells_have_none_at_all() -> None:
    table = tc.Table.from_array([0, 10, 20, 30])
    shown = np.array([table.units[i] + 5 for i in range(len(table))])
    found = measure_deviations(table, tc.Release.rounded(table, shown, 5))
    errors = [100 * 5 / a for a in table.units.tolist() if a]
    assert found.relative == pytest.approx(np.mean(errors))
    assert (found.relative_median, found.relative_largest) == pytest.approx((np.median(errors), max(errors)))
    hidden = measure_deviations(table, tc.Release.suppress(table, np.ones(len(table), dtype=bool)))
    assert all(isnan(number) for number in vars(hidden).values())


def test_distances_of_counts_are_not_computed_of_amounts() -> None:
    table = tc.Table.from_array([1.5, 10, 20], counts=False)
    found = measure_deviations(table, tc.Release.suppress(table, []))
    assert isnan(found.hellinger)
    assert isnan(found.chi_square)
    assert (found.relative, found.rank) == (0, pytest.approx(1))


def nested() -> tc.Problem:
    tree = tc.Hierarchy.from_dict({"N": ["N1", "N2"], "S": ["S1", "S2"]})
    rows = {"region": ["N1", "N2", "S1", "S2"], "value": [1, 9, 20, 70]}
    import pyarrow as pa

    return tc.Problem(tc.Table.from_frame(pa.table(rows), {"region": tree}, value="value"), tc.Threshold(3))


def test_losses_by_level_of_a_suppression() -> None:
    problem = nested()
    hidden = [problem.table.find(code) for code in ("N1", "N2", "N", "S")]
    found = tc.compare_by_level(problem, [tc.Release.suppress(problem.table, hidden)])
    assert [(row.dimension, row.level, row.cells, row.lost, row.changed) for row in found] == [
        *(("region", 0, 1, 0, 0), ("region", 1, 2, 2, 2), ("region", 2, 4, 2, 2))
    ]
    assert [row.value_percent for row in found] == pytest.approx([0, 100, 10])
    assert found.to_arrow().column_names[:3] == ["release", "dimension", "level"]


def test_losses_by_level_of_a_rounding_add_up_to_those_of_the_release() -> None:
    problem = tc.Problem(tc.Table.from_array([[1, 7, 8], [3, 4, 9]]), tc.Threshold(3))
    release = tc.Rounding(base=5).protect(problem)
    (lost,) = tc.compare(problem, [release])
    found = tc.compare_by_level(problem, [release])
    for dimension in {row.dimension for row in found}:
        own = [row for row in found if row.dimension == dimension]
        assert sum(row.l1 for row in own) == lost.l1
        assert sum(row.changed for row in own) == lost.changed
        assert sum(row.cells for row in own) == len(problem.table)


def test_losses_by_level_refuse_releases_of_other_tables() -> None:
    other = tc.Table.from_array([1, 2, 3, 4])
    with pytest.raises(ReleaseError, match="lists other cells"):
        tc.compare_by_level(nested(), [tc.Release.suppress(other, [0])])
