"""Rules and insiders against definitions written out over single contributions."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from itertools import chain
from math import ceil

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tacita.attackers.insiders import Coalition
from tacita.core.attacker import Insider
from tacita.core.errors import RuleError
from tacita.core.exact import UNBOUNDED
from tacita.core.levels import Levels
from tacita.core.tables.contributions import Contributions, Shares
from tacita.core.tables.table import Table
from tacita.problem.problem import Problem
from tacita.rules import (
    PQ,
    Concentration,
    Dominance,
    LinearSensitivity,
    MinimumFrequency,
    PPercent,
    Threshold,
    parse_rule,
)

amounts = st.lists(st.integers(0, 60), min_size=1, max_size=6)
percentages = st.sampled_from([1, 5, 12.5, 33.3, 60, 85, 100])
weights = st.lists(st.sampled_from([0, 0.5, 1, 1.1, 3]), min_size=1, max_size=3).map(
    lambda w: tuple(sorted(w, reverse=True))
)
rules = st.one_of(
    st.builds(PPercent, percentages, st.integers(1, 2)),
    st.builds(Dominance, st.integers(1, 3), percentages.filter(lambda k: k >= 3)),
    st.builds(lambda p: PQ(p, 100 if p >= 50 else 50), percentages.filter(lambda p: p < 100)),
    st.builds(LinearSensitivity, weights, st.sampled_from([0.5, 1, 2])),
)
people = st.lists(
    st.tuples(st.sampled_from("abcdef"), st.integers(0, 1), st.integers(0, 1), st.integers(0, 40)),
    max_size=14,
)


def of_cells(cells: list[list[int]], depth: int) -> Table:
    """A row of cells, each with its own contributors ``i.j``; cell 0 is the total."""
    everyone = [[(v, f"{i}.{j}") for j, v in enumerate(cell)] for i, cell in enumerate(cells)]
    everyone.insert(0, list(chain.from_iterable(everyone)))
    names = [name for _, name in everyone[0]]
    values = np.zeros((len(everyone), depth), dtype=np.int64)
    who = np.full((len(everyone), depth), -1, dtype=np.int64)
    for i, cell in enumerate(everyone):
        for j, (value, name) in enumerate(sorted(cell, key=lambda pair: -pair[0])[:depth]):
            values[i, j], who[i, j] = value, names.index(name)
    sums = np.array([sum(value for value, _ in cell) for cell in everyone])
    table = Table.from_array(sums[1:], counts=False)
    counts = np.array([len(cell) for cell in everyone])
    return replace(table, count=counts, contributions=Contributions(values, who, sums, names))


def excess(rule: Concentration, ordered: list[int], total: int) -> Fraction:
    """``(w_1 x_1 + .. + w_m x_m - c X) / c`` with the contributions in this order."""
    w, c = rule.measure()
    return (sum((a * x for a, x in zip(w, ordered, strict=False)), Fraction(0)) - c * total) / c


def written_out(rule: Concentration, x: list[int]) -> Fraction:
    """The excess of each rule as its definition states it, in the table's units."""
    x = sorted(x, reverse=True) + [0] * 4
    total = sum(x)
    if isinstance(rule, Dominance):
        return Fraction(100) / Fraction(str(rule.k)) * sum(x[: rule.n]) - total
    if isinstance(rule, PPercent):
        return Fraction(str(rule.p)) / 100 * x[0] - (total - sum(x[: rule.n + 1]))
    if isinstance(rule, PQ):
        return Fraction(str(rule.p)) / Fraction(str(rule.q)) * x[0] - (total - x[0] - x[1])
    return excess(rule, x, total)


@given(rules, st.lists(amounts, min_size=2, max_size=4))
def test_sensitivity_and_level_follow_the_definition(rule: Concentration, cells: list[list[int]]) -> None:
    levels = rule.levels(of_cells(cells, depth=3))
    for i, x in enumerate([list(chain.from_iterable(cells)), *cells]):
        expected = written_out(rule, x)
        assert levels.sensitive[i] == (expected > 0)
        assert levels.upper[i] == max(0, ceil(expected))
        assert levels.lower[i] == min(levels.upper[i], sum(x))


@given(rules, amounts, amounts)
def test_the_union_of_safe_cells_is_safe(rule: Concentration, first: list[int], second: list[int]) -> None:
    safe = ~rule.levels(of_cells([first, second], depth=3)).sensitive
    assume(safe[1] and safe[2])
    assert safe[0]


@given(rules, amounts, st.sets(st.integers(0, 5)))
def test_with_waivers_the_most_endangered_of_the_others_is_protected(
    rule: Concentration, x: list[int], waived: set[int]
) -> None:
    """Everyone who has not consented is put in the first place in turn; all contributions are stored."""
    table = of_cells([x, [7, 7]], depth=8)
    levels = rule.with_consent(f"0.{j}" for j in waived).levels(table)
    needs = [
        excess(rule, [x[j], *sorted(x[:j] + x[j + 1 :], reverse=True)], sum(x))
        for j in range(len(x))
        if j not in waived and x[j] > 0
    ]
    assert levels.upper[1] == max([0, *map(ceil, needs)])


@given(rules, amounts, st.sets(st.integers(0, 5)))
def test_knowing_fewer_contributions_never_asks_for_less(
    rule: Concentration, x: list[int], waived: set[int]
) -> None:
    with_waivers = rule.with_consent(f"0.{j}" for j in waived)
    few, all_known = (with_waivers.levels(of_cells([x, [7, 7]], depth)).upper[1] for depth in (3, 8))
    assert few >= all_known


@given(rules, rules, st.lists(amounts, min_size=2, max_size=4))
def test_joined_rules_are_the_larger_of_both(
    a: Concentration, b: Concentration, cells: list[list[int]]
) -> None:
    table = of_cells(cells, depth=3)
    both, one, other = (a | b).levels(table), a.levels(table), b.levels(table)
    assert np.array_equal(both.sensitive, one.sensitive | other.sensitive)
    assert np.array_equal(both.upper, np.maximum(one.upper, other.upper))


@given(st.lists(st.integers(0, 9), min_size=2, max_size=6), st.integers(1, 6), st.booleans())
def test_a_count_below_the_threshold_can_be_taken_for_the_threshold(
    values: list[int], n: int, zeros: bool
) -> None:
    table = Table.from_array(values, counts=True)
    levels = Threshold(n, zeros=zeros).levels(table)
    for i, value in enumerate(table.units):
        sensitive = value < n and (value > 0 or zeros)
        assert levels.sensitive[i] == sensitive
        assert value + levels.upper[i] == (n if sensitive else value)
        assert levels.lower[i] == min(levels.upper[i], value)


@given(st.text(alphabet="p-ercnt(10,)|=' \"[]thresold3", max_size=30))
def test_any_text_is_a_rule_or_a_rule_error(text: str) -> None:
    with suppress(RuleError):
        assert parse_rule(text).text


# ---------------------------------------------------------------------- insiders


def business(records: list[tuple[str, int, int, int]], depth: int = 2) -> Table:
    """A 2 x 2 table of records ``(name, row, column, amount)``, padded with safe contributors."""
    records = records + [
        (name, row, column, 4) for name in "uvwxyz" for row in (0, 1) for column in (0, 1) if row + column
    ]
    there: dict[tuple[int, int], dict[str, int]] = {}
    for name, row, column, amount in records:
        for r in (row, 2):
            for c in (column, 2):
                cell = there.setdefault((r, c), {})
                cell[name] = cell.get(name, 0) + amount
    inner = [[sum(there.get((r, c), {}).values()) for c in (0, 1)] for r in (0, 1)]
    table = Table.from_array(inner, codes=[["0", "1"], ["0", "1"]], counts=False)
    names = sorted({name for name, *_ in records})
    values, who = (
        np.zeros((len(table), depth), dtype=np.int64),
        np.full((len(table), depth), -1, dtype=np.int64),
    )
    count, shares = np.zeros(len(table), dtype=np.int64), []
    for i in range(len(table)):
        r, c = (2 if code == "Total" else int(code) for code in table.structure.key(i))
        cell = there.get((r, c), {})
        for j, (name, amount) in enumerate(
            sorted(cell.items(), key=lambda pair: (-pair[1], pair[0]))[:depth]
        ):
            values[i, j], who[i, j] = amount, names.index(name)
        count[i] = len(cell)
        shares += [(names.index(name), i, amount) for name, amount in cell.items()]
    rows = np.array(shares, dtype=np.int64).reshape(-1, 3)

    def ask(wanted: np.ndarray) -> Shares:
        return Shares(*rows[np.isin(rows[:, 0], wanted)].T)

    return replace(
        table, count=count, contributions=Contributions(values, who, table.units.copy(), names, ask)
    )


def put_in(table: Table, cell: int) -> dict[str, int]:
    """Everybody's contribution to a cell."""
    contributions = table.contributions
    assert contributions is not None
    shares = contributions.shares_of(np.arange(len(contributions.names)))
    here = shares.cells == cell
    return {contributions.name(w): int(u) for w, u in zip(shares.who[here], shares.units[here], strict=True)}


@given(people, percentages)
def test_no_respondent_can_estimate_another_within_p_percent(
    records: list[tuple[str, int, int, int]], p: float
) -> None:
    """With levels reached exactly his estimate of any other contribution is at least p percent too large."""
    table = business(records)
    for name in sorted({name for name, *_ in records}):
        problem = Problem(table, PPercent(p), attackers=["outsider", Coalition(name)])
        levels, needs = problem.levels, list(problem.requirements())[-1]
        own = bool(problem.insiders)
        for cell in problem.sensitive.tolist():
            there = put_in(table, cell)
            others = [amount for other, amount in there.items() if other != name]
            if name not in there or not others:
                continue
            upper = levels.upper[cell]
            if own:
                at = np.flatnonzero(needs.cells == cell)
                upper = needs.upper[at[0]] if at.size else 0
            reached = table.units[cell] + upper
            assert reached - there[name] >= (1 + Fraction(str(p)) / 100) * max(others)


@given(people, st.sampled_from(["p", "frequency", "both"]))
def test_every_insider_that_was_dropped_is_implied_by_one_who_stayed(
    records: list[tuple[str, int, int, int]], which: str
) -> None:
    table = business(records)
    p, frequency = PPercent(10), MinimumFrequency(3)
    rule = {"p": p, "frequency": frequency, "both": p | frequency}[which]
    problem = Problem(table, rule, attackers="respondents")
    kept = [everything(problem, None), *(everything(problem, insider) for insider in problem.insiders)]
    assert table.contributions is not None
    for who, name in enumerate(table.contributions.names):
        if not candidate(table, problem.levels, who):
            continue
        alone = Problem(table, rule, attackers=["outsider", Coalition(name)])
        single = everything(alone, alone.insiders[0] if alone.insiders else None)
        assert any(implies(strong, single) for strong in kept)
    for a, one in list(enumerate(kept))[1:]:  # the outsider always stays
        assert not any(implies(other, one) for b, other in enumerate(kept) if a != b)


def candidate(table: Table, levels: Levels, who: int) -> bool:
    contributions = table.contributions
    assert contributions is not None
    assert table.count is not None
    listed = (contributions.who == who).any(axis=1)
    return bool((listed & (levels.sensitive | (table.count == 1))).any())


def everything(problem: Problem, insider: Insider | None) -> np.ndarray:
    """Lower bound, minus upper bound, and the three levels for every cell of the table: more is stronger."""
    n = len(problem.table)
    low, high = problem.bounds_at(insider, np.arange(n))
    result = np.zeros((5, n), dtype=np.int64)
    result[0], result[1] = low, -np.minimum(high, UNBOUNDED)
    need = next(need for need in problem.requirements() if need.insider is insider)
    result[2:, need.cells] = need.lower, need.upper, need.sliding
    return result


def implies(strong: np.ndarray, weak: np.ndarray) -> bool:
    return bool((strong >= weak).all())


def test_a_waiver_of_an_unknown_name_changes_nothing() -> None:
    table = of_cells([[50, 3], [4, 4]], depth=2)
    assert PPercent(10).with_consent(["nobody"]).levels(table).cells.tolist() == [1, 2]
    with pytest.raises(RuleError, match="tabulate with the 3 largest"):
        PPercent(10, n=2).levels(table)
