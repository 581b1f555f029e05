"""Several variables with the same cells hidden."""

from __future__ import annotations

from typing import Any

import pytest
from budget import examples
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita.core.errors import InfeasibleError, InputError


def pose(rows: list[tuple[str, str, int, int]], value: str) -> tc.Problem:
    names = ("region", "size", "turnover", "staff")
    data: dict[str, Any] = {name: [row[k] for row in rows] for k, name in enumerate(names)}
    table = tc.tabulate(data, ["region", "size"], value, largest=3)
    return tc.Problem(table, tc.PPercent(40) | tc.MinimumFrequency(2), attackers="outsider")


def can_be_protected(problem: tc.Problem) -> bool:
    try:
        return tc.audit(problem, tc.Suppression().protect(problem)).safe
    except InfeasibleError:
        return False


@examples(5)
@given(
    st.lists(
        st.tuples(st.sampled_from("NSE"), st.sampled_from("abc"), st.integers(1, 90), st.integers(1, 90)),
        min_size=8,
        max_size=20,
    )
)
def test_the_same_cells_are_hidden_and_each_variable_is_safe(rows: list[tuple[str, str, int, int]]) -> None:
    problems = [pose(rows, "turnover"), pose(rows, "staff")]
    try:
        releases = tc.suppress_alike(problems)
    except InfeasibleError:
        # One of them alone cannot be protected either: hiding more never takes protection away.
        assert not all(map(can_be_protected, problems))
        return
    assert releases[0].hidden.tolist() == releases[1].hidden.tolist()
    for problem, release in zip(problems, releases, strict=True):
        assert tc.audit(problem, release).safe


def test_other_cells_are_refused() -> None:
    rows = [("N", "a", 5, 5), ("S", "a", 6, 6), ("S", "b", 7, 9)]
    with pytest.raises(InputError, match="the tables list different cells"):
        tc.suppress_alike([pose(rows, "turnover"), pose(rows[:2], "staff")])
    with pytest.raises(InputError, match="no variable is given"):
        tc.suppress_alike([])
