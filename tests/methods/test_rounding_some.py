"""Rounding of some cells: values that are given, and a limit on how many cells are rounded."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita.core.errors import InfeasibleError, InputError
from tacita.core.release import Mark, Release
from tacita.engine.search.explicit_model import solve_explicit_model
from tacita.methods.rounding.rounding import Rounding
from tacita.testing import check_method

FIGURE_1 = [[20, 50, 10], [8, 19, 22], [17, 32, 12]]
TABLE = tc.Table.from_array(FIGURE_1, counts=False)
II_C = TABLE.find("2", "3")


def problem_of(table: tc.Table = TABLE, lower: int = 1, upper: int = 4) -> tc.Problem:
    return tc.Problem(table, tc.Marked([II_C], lower=lower, upper=upper))


def with_column(**given_values: float) -> tc.Table:
    column = np.full(len(TABLE), np.nan)
    for name, value in given_values.items():
        column[TABLE.find(*name[1:].split("_"))] = value
    return replace(TABLE, columns={"wanted": column})


def test_given_values_are_published_and_the_others_are_the_nearest() -> None:
    free = Rounding(base=10).protect(problem_of())
    assert free.value[II_C] == 20
    table = with_column(c2_3=30)
    release = check_method(Rounding(base=10, given="wanted"), problem_of(table))
    assert release.value[II_C] == 30
    assert release.outcome.loss > free.outcome.loss
    rows = [(f, f + 10) if a > f else (a,) for a, f in zip(TABLE.units, TABLE.units // 10 * 10, strict=True)]
    inner = np.flatnonzero(~TABLE.structure.is_total)
    best = np.inf
    for choice in product(*(rows[cell] for cell in inner)):
        summed = tc.Table.from_array(np.reshape(choice, (3, 3)), counts=False).units
        near = np.abs(summed - TABLE.units) < 10
        if near.all() and summed[II_C] == 30:
            best = min(best, float(np.abs(summed - TABLE.units).sum()))
    unprotected = Rounding(base=10, given="wanted", protected=False).protect(problem_of(table))
    assert unprotected.outcome.loss == best


@pytest.mark.parametrize("value", [25, 40, 10])
def test_a_given_value_is_a_neighbour(value: int) -> None:
    with pytest.raises(InputError, match="row=2, column=3"):
        Rounding(base=10, given="wanted").protect(problem_of(with_column(c2_3=value)))


def test_given_values_that_leave_no_table_are_named() -> None:
    table = with_column(c2_1=0, c2_2=10, c2_3=20, c2_Total=50)
    with pytest.raises(InfeasibleError, match="values that are given"):
        Rounding(base=10, given="wanted").protect(problem_of(table))


def test_only_some_cells_are_rounded() -> None:
    """3 goes down by 3, which two 7s and another 3 balance; 55 and its totals stay as they are."""
    table = tc.Table.from_array([[3, 7, 10], [7, 3, 20], [40, 55, 60]], counts=False)
    secret = table.find("1", "1")
    problem = tc.Problem(table, tc.Marked([secret], lower=3, upper=5))
    release = check_method(Rounding(base=10, at_most=4), problem)
    changed = release.value != table.units
    assert changed.sum() == 4
    assert changed[secret]
    exact = (table.units % 10 != 0) & ~changed
    assert exact.sum() == 4
    assert (release.marks[exact] == Mark.PUBLISHED).all()
    assert (release.marks[~exact] == Mark.ROUNDED).all()
    with pytest.raises(InfeasibleError, match="Allow more than 3 rounded cells"):
        Rounding(base=10, at_most=3).protect(problem)


@pytest.mark.slow
@given(
    values=st.lists(st.integers(0, 25), min_size=4, max_size=4),
    lower=st.integers(0, 4),
    upper=st.integers(1, 4),
    at_most=st.integers(0, 9),
)
def test_no_rounded_cells_are_nearer(values: list[int], lower: int, upper: int, at_most: int) -> None:
    """Every choice of cells and neighbours of a 2x2 table, each judged by the audit."""
    table = tc.Table.from_array(np.reshape(values, (2, 2)), counts=False)
    lower = min(lower, values[0])
    problem = tc.Problem(table, tc.Marked([table.find("1", "1")], lower=lower, upper=upper))
    floor = table.units // 5 * 5
    best = np.inf
    options = [(f, a, f + 5) if a > f else (a,) for f, a in zip(floor, table.units, strict=True)]
    for inner in product(*(options[cell] for cell in np.flatnonzero(~table.structure.is_total))):
        value = tc.Table.from_array(np.reshape(inner, (2, 2)), counts=False).units
        near = all(v in allowed for v, allowed in zip(value, options, strict=True))
        if not near or (value != table.units).sum() > at_most:
            continue
        kept = (value == table.units) & (table.units % 5 != 0)
        release = Release.rounded(table, value, np.where(kept, 0, 4))
        if tc.audit(problem, release).safe:
            best = min(best, float(np.abs(value - table.units).sum()))
    method = Rounding(base=5, at_most=at_most)
    if best == np.inf:
        with pytest.raises(InfeasibleError):
            method.protect(problem)
        return
    release = check_method(method, problem)
    assert release.outcome.status
    assert release.outcome.loss == pytest.approx(best)
    assert solve_explicit_model(method.model(problem)).loss == pytest.approx(best)


@pytest.mark.parametrize(
    "more", [{"steps": 1}, {"multiples": "move"}, {"objective": "mean"}, {"subtotals": "row=1+2"}]
)
def test_options_that_have_no_meaning_beside_a_limit(more: dict[str, object]) -> None:
    with pytest.raises(InputError, match="at_most"):
        Rounding(base=5, at_most=3, **more)  # type: ignore[arg-type]
