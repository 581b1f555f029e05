"""Calls with the wrong things, or with these in the wrong order, are errors of ours that name the remedy."""

from __future__ import annotations

from typing import Any

import pytest

import tacita as tc
from tacita.core.errors import InputError, RuleError
from tacita.methods.method import METHODS, method_class

TABLE = tc.Table.from_array([[20, 50, 10], [8, 19, 22], [17, 32, 12]])
PROBLEM = tc.Problem(TABLE, tc.Threshold(9))
RELEASE = tc.Release.suppress(TABLE, [("2", "1")])


def test_a_problem_takes_rules_as_they_are_written() -> None:
    problem = tc.Problem(TABLE, "threshold(9) | marked([[1, 1]])")
    assert problem.rule == tc.Threshold(9) | tc.Marked([(1, 1)])
    assert set(PROBLEM.sensitive.tolist()) < set(problem.sensitive.tolist())
    with pytest.raises(RuleError, match="did you mean 'threshold'"):
        tc.Problem(TABLE, "treshold(9)")


@pytest.mark.parametrize(
    ("table", "rule", "message"),
    [
        (TABLE, 5, r"needs a rule, not a int: give one such as Threshold\(3\)"),
        (TABLE, None, "needs a rule, not a NoneType"),
        (TABLE, [tc.PPercent(10), tc.Threshold(3)], r"not a list: join several with \|, as in PPercent"),
        (TABLE, tc.Threshold, "needs a rule, not a ABCMeta"),
        (tc.Threshold(5), TABLE, "needs a Table, not a Threshold"),
        ([[1, 2], [3, 4]], tc.Threshold(5), "Table, not a list: make one with Table.from_array"),
    ],
)
def test_a_problem_names_what_it_needs(table: Any, rule: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        tc.Problem(table, rule)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_names_what_it_needs(name: str) -> None:
    method = method_class(name)(**({"parts": "suppression"} if name == "mixture" else {}))
    with pytest.raises(InputError, match=r"a problem is needed, not a Table: .* Problem\(table, Threshold"):
        method.protect(TABLE)
    with pytest.raises(InputError, match=r"a run is needed, not 60: write Run\(time_limit=60\)"):
        method.protect(PROBLEM, 60)


def test_audit_and_deduce_name_what_they_need() -> None:
    wrong: Any = RELEASE, PROBLEM
    for function in (tc.audit, tc.deduce):
        with pytest.raises(InputError, match="a problem is needed, not a Release: give the problem first"):
            function(*wrong)
    for nothing in (TABLE, None, "release.csv"):
        with pytest.raises(InputError, match=r"release is needed after the problem, not a .*read_release"):
            tc.audit(PROBLEM, nothing)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"write Run\(time_limit=2.5\)"):
        tc.audit(PROBLEM, RELEASE, 2.5)  # type: ignore[arg-type]
