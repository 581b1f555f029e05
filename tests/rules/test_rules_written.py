"""Rules are written as they are read, and each one says what it is for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita.core.errors import RuleError, TacitaError
from tacita.core.levels import Levels
from tacita.methods.method import options_from
from tacita.rules import (
    PQ,
    RULES,
    Dominance,
    Given,
    LinearSensitivity,
    Marked,
    PPercent,
    Request,
    Rule,
    Threshold,
)
from tacita.rules.grammar import parse_rule, write_rule

TEXTS = st.text(st.characters(codec="utf-8"), max_size=8)
PERCENT = st.integers(1, 99) | st.floats(0.01, 99)
SHARE = st.integers(4, 99) | st.floats(4, 99)
PROTECTION = st.none() | PERCENT | st.tuples(PERCENT, PERCENT)
BY = st.sampled_from(["respondent", "holding"])
NAMES = st.frozensets(TEXTS, max_size=3)

WRITABLE: st.SearchStrategy[Rule] = st.one_of(
    st.builds(Threshold, PERCENT, zeros=st.booleans(), by=BY, protection=PROTECTION, waivers=NAMES),
    st.builds(Dominance, st.integers(1, 4), SHARE, protection=PROTECTION),
    st.builds(PPercent, SHARE, st.integers(1, 3), by=BY),
    st.builds(PQ, st.integers(1, 49), st.integers(50, 100)),
    st.builds(LinearSensitivity, st.lists(PERCENT, min_size=1, max_size=3).map(lambda w: sorted(w)[::-1])),
    st.builds(Request, NAMES, PERCENT, BY, PROTECTION),
    st.builds(Marked, st.lists(st.tuples(TEXTS, TEXTS), max_size=2) | TEXTS, st.none() | PERCENT),
)


@given(WRITABLE, WRITABLE)
def test_what_is_written_is_read_again(one: Rule, other: Rule) -> None:
    assert parse_rule(write_rule(one)) == one
    assert parse_rule(write_rule(one | other)) == one | other


def test_defaults_are_not_written() -> None:
    assert write_rule(PPercent(10, protection=None)) == "p-percent(10)"
    assert write_rule(Threshold(3, zeros=True)) == "threshold(3, zeros=true)"
    assert write_rule(Request(["b c", "a"])) == 'request([a, "b c"])'


def test_a_rule_without_a_name_is_not_written() -> None:
    with pytest.raises(RuleError, match="no written form"):
        write_rule(Given(Levels.none(2)))


@pytest.mark.parametrize("name", RULES)
def test_each_rule_says_what_it_does_and_what_its_arguments_mean(name: str) -> None:
    kind = RULES[name]
    assert kind.does.startswith("Sensitive: ")
    assert kind.does.endswith(".")
    assert isinstance(parse_rule(kind.example), kind)
    for option in options_from(kind):
        assert option.help, option.name


@pytest.mark.parametrize(
    "rule",
    ["threshold(1e30)", f"threshold({10**20})", "threshold(3, protection=1e300)", "zeros(1e30)"],
)
def test_numbers_beyond_all_values_are_refused_in_words(rule: str) -> None:
    table = tc.Table.from_array([[1, 2], [0, 4]], decimals=0, counts=True)
    with pytest.raises(TacitaError, match=r"at most|larger than any value"):
        tc.Problem(table, parse_rule(rule))
