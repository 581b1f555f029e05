"""General tables: values, and equations by label or by position."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita.core.errors import InputError, NotAdditiveError

VALUES = {"Total": 30, "a": 10, "b": 20, "men": 18, "women": 12}
SUMS: list[Any] = [("Total", ["a", "b"]), ("Total", ["men", "women"])]


def test_equations_by_label_and_by_position_are_the_same() -> None:
    named = tc.Table.from_equations(VALUES, SUMS)
    listed = tc.Table.from_equations(list(VALUES.values()), [(0, [1, 2]), (0, [3, 4])])
    weighted = tc.Table.from_equations(
        VALUES, [{"Total": -1, "a": 1, "b": 1}, ({"Total": -1, "men": 1, "women": 1}, 0)]
    )
    for other in (listed, weighted):
        assert (other.equations.matrix != named.equations.matrix).nnz == 0
        assert np.array_equal(other.units, named.units)
    assert named.find("women") == 4
    assert listed.find("4") == 4
    assert named.integer


def test_the_whole_way_on_a_general_table() -> None:
    problem = tc.Problem(tc.Table.from_equations(VALUES, SUMS), "threshold(11)")
    assert [problem.table.structure.labels[c] for c in problem.sensitive] == ["a"]
    release = tc.Suppression().protect(problem)
    assert tc.audit(problem, release).safe
    assert release.to_arrow().column_names[0] == "cell"
    assert tc.deduce(problem, release).to_arrow()["cell"].to_pylist() == ["a", "b"]
    assert "<td>women</td>" in problem._repr_html_()


def test_constants_and_decimals_are_exact() -> None:
    table = tc.Table.from_equations([0.1, 0.2], [({0: 1, 1: 2}, 0.5)])
    assert (table.decimals, table.equations.rhs.tolist(), table.units.tolist()) == (1, [5], [1, 2])
    assert not table.integer
    with pytest.raises(NotAdditiveError):
        tc.Table.from_equations([0.1, 0.2], [({0: 1, 1: 2}, 0.4)])
    with pytest.raises(NotAdditiveError, match="cell Total"):
        tc.Table.from_equations(VALUES, [("Total", ["a", "men"])])


@pytest.mark.parametrize(
    ("values", "equations", "message"),
    [
        (VALUES, [("Totl", ["a"])], r"equation 1: there is no cell 'Totl' \(did you mean 'Total'\?\)"),
        (VALUES, [*SUMS, (9, [1])], r"equation 3: there is no cell 9 .*among 5 cells"),
        (VALUES, [(-1, [1])], "there is no cell -1"),
        (VALUES, [("Total", "ab")], "equation 1 is none"),
        (VALUES, [("Total", 3)], r"equation 1 is none: write \(total, \[parts\]\)"),
        (VALUES, [{}], "equation 1 is none"),
        (VALUES, ["Total = a + b"], "equation 1 is none"),
        (VALUES, [("Total", ["a", "a"])], "names cell 'a' twice"),
        (VALUES, [{"a": 0.5}], "the coefficient 0.5 of cell 'a' is no integer"),
        (VALUES, [{"a": 0}], "the coefficient 0 of cell 'a'"),
        (VALUES, [({"a": 1}, "x")], "the constant 'x' is no number"),
        ({1: 2}, [], "labels of cells are text, not 1: write '1'"),
        ([[1, 2]], [], "a number per cell"),
        ([], [], "a number per cell"),
        ([1, float("nan")], [], "a number per cell"),
        (["a"], [], "a number per cell"),
    ],
)
def test_what_is_no_general_table_is_refused(values: Any, equations: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        tc.Table.from_equations(values, equations)


@given(st.lists(st.lists(st.integers(0, 10**6), min_size=2, max_size=4), min_size=1, max_size=4))
def test_sums_of_any_groups_make_a_table(groups: list[list[int]]) -> None:
    values, equations = [], []
    for group in groups:
        at = len(values)
        values += [sum(group), *group]
        equations.append((at, list(range(at + 1, len(values)))))
    table = tc.Table.from_equations(values, equations)
    assert table.to_arrow()["value"].to_pylist() == values
    assert not table.equations.residuals(table.units).any()
