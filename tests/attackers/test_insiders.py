"""Attackers from microdata: what they know, what is asked against them, and who needs no attention."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from tacita.attackers.insiders import Coalition
from tacita.auditing.audit import audit
from tacita.core.attacker import Insider, Outsider
from tacita.core.errors import InputError, LevelsError
from tacita.core.exact import UNBOUNDED
from tacita.core.levels import Levels
from tacita.core.release import Release
from tacita.core.tables.contributions import Contributions, Shares
from tacita.core.tables.table import Table
from tacita.problem.problem import Problem
from tacita.rules import MinimumFrequency, PPercent, Rule
from tacita.tabulation.tabulate import tabulate

People = Mapping[tuple[str, str], Mapping[str, int]]


def business(people: People, depth: int = 3, remember: bool = True) -> Table:
    """A two-way table from ``{(row, column): {name: amount}}``, with the largest contributions of every cell.

    ``remember`` lets the contributions be asked for all cells of a respondent, as tabulated microdata can be.
    """
    rows, columns = sorted({r for r, _ in people}), sorted({c for _, c in people})
    inner = [[sum(people.get((r, c), {}).values()) for c in columns] for r in rows]
    table = Table.from_array(inner, codes=[rows, columns], counts=False)
    names = sorted({name for cell in people.values() for name in cell})
    values = np.zeros((len(table), depth), dtype=np.int64)
    who = np.full((len(table), depth), -1, dtype=np.int64)
    count, sums, shares = np.zeros(len(table), np.int64), np.zeros(len(table), np.int64), []
    for i in range(len(table)):
        row, column = table.structure.key(i)
        there: dict[str, int] = {}
        for (r, c), cell in people.items():
            if row in ("Total", r) and column in ("Total", c):
                for name, amount in cell.items():
                    there[name] = there.get(name, 0) + amount
        largest = sorted(there.items(), key=lambda pair: (-abs(pair[1]), pair[0]))
        for j, (name, amount) in enumerate(largest[:depth]):
            values[i, j], who[i, j] = abs(amount), names.index(name)
        count[i], sums[i] = len(there), sum(map(abs, there.values()))
        shares += [(names.index(name), i, amount) for name, amount in there.items()]
    everything = Shares(*np.array(shares, dtype=np.int64).T)

    def ask(wanted: np.ndarray) -> Shares:
        at = np.isin(everything.who, wanted)
        return Shares(everything.who[at], everything.cells[at], everything.units[at])

    return replace(
        table, count=count, contributions=Contributions(values, who, sums, names, ask if remember else None)
    )


PEOPLE: People = {
    ("r1", "c1"): {"a": 80, "b": 15, "c": 1},
    ("r1", "c2"): {"b": 40},
    ("r1", "c3"): {"e": 30, "f": 30, "g": 30},
    ("r2", "c1"): {"e": 10, "f": 10, "g": 10},
    ("r2", "c2"): {"e": 20, "d": 12, "a": 8},
    ("r2", "c3"): {"e": 9, "f": 9, "g": 9},
}


def sampled(
    people: Mapping[tuple[str, str], Sequence[tuple[str, int, float]]], holding: str | None = None
) -> Table:
    """A table tabulated from a sample, ``{(row, column): [(name, amount, weight)]}``, besides a safe cell."""
    everyone = {**people, ("r2", "c9"): [(name, 9, 1.0) for name in "nopqrstuvw"]}
    records = [(*cell, *who) for cell, there in everyone.items() for who in there]
    columns = dict(
        zip(("row", "column", "firm", "amount", "weight"), zip(*records, strict=True), strict=True)
    )
    owners = [holding if row == "r1" else name for row, _, name, _, _ in records]
    return tabulate(
        {name: list(column) for name, column in columns.items()} | {"holding": owners},
        ["row", "column"],
        "amount",
        "firm",
        "holding" if holding else None,
        "weight",
        decimals=0,
    )


# Cells that are safe by any rule here, so that a cell is not its own total.
NEIGHBOURS: People = {
    (row, column): dict.fromkeys("uvwxyz", 50) for row, column in (("r1", "c2"), ("r2", "c1"), ("r2", "c2"))
}


def by_name(problem: Problem) -> dict[str, Insider]:
    return {insider.name: insider for insider in problem.insiders}


def known(table: Table, insider: Insider) -> dict[tuple[str, ...], tuple[int, int]]:
    return {
        table.structure.key(int(cell)): (int(low), int(high))
        for cell, low, high in zip(insider.cells, insider.lower, insider.upper, strict=True)
    }


def asked(problem: Problem, name: str) -> dict[tuple[str, ...], tuple[int, int, int]]:
    need = next(need for need in problem.requirements() if need.attacker == name)
    return {
        problem.table.structure.key(int(cell)): (int(low), int(up), int(slide))
        for cell, low, up, slide in zip(need.cells, need.lower, need.upper, need.sliding, strict=True)
    }


RULE: Rule = PPercent(10) | MinimumFrequency(2)


def test_respondents_know_their_own_contributions_in_every_cell() -> None:
    table = business(PEOPLE)
    problem = Problem(table, RULE, attackers="respondents")
    assert [table.structure.key(c) for c in problem.sensitive] == [("r1", "c1"), ("r1", "c2")]
    # c knows less than a; d, f and g are where e is, with no more than e.
    assert sorted(by_name(problem)) == [f"respondent {name}" for name in "abe"]
    assert known(table, by_name(problem)["respondent b"]) == {
        ("r1", "c1"): (15, UNBOUNDED),
        ("r1", "c2"): (40, 40),
        ("r1", "Total"): (55, UNBOUNDED),
        ("Total", "c1"): (15, UNBOUNDED),
        ("Total", "c2"): (40, UNBOUNDED),
        ("Total", "Total"): (55, UNBOUNDED),
    }


def test_levels_of_an_insider_are_his_own_where_he_is_and_the_problems_elsewhere() -> None:
    problem = Problem(business(PEOPLE), RULE, attackers="respondents")
    assert asked(problem, "outsider") == {("r1", "c1"): (7, 7, 0), ("r1", "c2"): (4, 4, 0)}
    # b knows (r1, c2), so it is no target of his; in (r1, c1) he is the attacker whom the rule has in mind.
    assert asked(problem, "respondent b") == {("r1", "c1"): (7, 7, 0)}
    # a attacks b: 1.5 - (96 - 15 - 80) = 0.5 upwards; elsewhere he is like anybody.
    assert asked(problem, "respondent a") == {("r1", "c1"): (1, 1, 0), ("r1", "c2"): (4, 4, 0)}


def test_the_lower_level_stops_at_what_an_insider_knows_to_be_there() -> None:
    """90 and 1 with p = 300: the larger one knows y >= 90 of 91, so 1 of the 3 can be asked downwards."""
    table = business({("r1", "c1"): {"a": 90, "b": 1}, **NEIGHBOURS})
    problem = Problem(table, PPercent(300), attackers="respondents")
    assert asked(problem, "respondent a")["r1", "c1"] == (1, 3, 0)
    assert asked(problem, "respondent b")["r1", "c1"] == (90, 270, 0)


def test_given_levels_keep_the_upper_and_cap_the_lower_level() -> None:
    table = business(PEOPLE)
    cell = table.find("r1", "c1")
    sensitive = np.arange(len(table)) == cell
    levels = Levels.of(sensitive, upper=np.where(sensitive, 20, 0))
    problem = Problem(table, levels, attackers="respondents")
    assert asked(problem, "respondent a")["r1", "c1"] == (16, 20, 0)


def test_a_cell_of_two_keeps_a_step_of_uncertainty_for_each_of_them() -> None:
    """Levels that only look downwards vanish for him who has it all; the other put in nothing."""
    table = business({("r1", "c1"): {"a": 60, "b": 0}, **NEIGHBOURS})
    sensitive = np.arange(len(table)) == table.find("r1", "c1")
    nothing = np.zeros(len(table), dtype=np.int64)
    levels = Levels(sensitive, np.where(sensitive, 60, 0), nothing, nothing.copy())
    problem = Problem(table, levels, attackers=["outsider", Coalition("a")])
    assert asked(problem, "coalition of a")["r1", "c1"] == (0, 0, 1)


def test_a_coalition_pools_contributions() -> None:
    table = business(PEOPLE)
    problem = Problem(table, RULE, attackers=["outsider", Coalition("b", "c")])
    (pair,) = problem.insiders
    assert known(table, pair)["r1", "c1"] == (16, UNBOUNDED)
    assert known(table, pair)["r1", "Total"] == (56, UNBOUNDED)
    # They know all but a: 10 % of 80.
    assert asked(problem, pair.name) == {("r1", "c1"): (8, 8, 0)}


def test_a_coalition_of_all_contributors_knows_the_cell() -> None:
    table = business(PEOPLE)
    (trio,) = Problem(table, RULE, attackers=["outsider", Coalition("a", "b", "c")]).insiders
    assert known(table, trio)["r1", "c1"] == (96, 96)


def test_who_can_only_deduce_what_another_can_is_dropped() -> None:
    """c and b are in the same cells, b with more and with the higher level."""
    people = {("r1", "c1"): {"a": 80, "b": 15, "c": 1}, ("r2", "c1"): {"x": 9, "y": 9, "z": 9}}
    problem = Problem(business(people), PPercent(10), attackers="respondents")
    assert sorted(by_name(problem)) == ["respondent a", "respondent b", "respondent x"]


def test_of_equals_one_stays() -> None:
    people = {("r1", "c1"): {"a": 50, "b": 50}, ("r2", "c1"): {"x": 9, "y": 9, "z": 9}}
    problem = Problem(business(people), PPercent(10), attackers=["respondents", Coalition("b")])
    assert list(by_name(problem)) == ["respondent a", "respondent x"]


def test_one_who_knows_a_sensitive_cell_does_not_stand_in_for_one_who_does_not() -> None:
    """b is in all of c's cells with more, but knows (r1, c2), which c attacks: both stay."""
    table = business(PEOPLE)
    alone = np.arange(len(table)) == table.find("r1", "c2")
    problem = Problem(
        table,
        Levels.of(alone, upper=np.where(alone, 4, 0)),
        attackers=["outsider", Coalition("b"), Coalition("c")],
    )
    assert asked(problem, "coalition of b") == {}
    assert asked(problem, "coalition of c") == {("r1", "c2"): (4, 4, 0)}
    elsewhere = np.arange(len(table)) == table.find("r2", "c2")
    levels = Levels.of(elsewhere, upper=np.where(elsewhere, 4, 0))
    problem = Problem(table, levels, attackers=["outsider", Coalition("c"), Coalition("b")])
    assert list(by_name(problem)) == ["coalition of b"]


def test_contributions_of_zero_give_no_knowledge_and_no_attacker() -> None:
    people = {("r1", "c1"): {"a": 80, "b": 15, "n": 0}, ("r2", "c1"): {"x": 9, "y": 9, "z": 9}}
    assert "respondent n" not in by_name(Problem(business(people), PPercent(10), attackers="respondents"))


def test_negative_contributions_are_no_bound_unless_one_is_alone() -> None:
    people = {
        ("r1", "c1"): {"a": 80, "b": -15},
        ("r1", "c2"): {"b": -40},
        ("r2", "c1"): {"x": 9, "y": 9, "z": 9},
        ("r2", "c2"): {"x": 9, "y": 9, "z": 9},
    }
    table = business(people)
    outsider = Outsider.of(table, lower=-np.inf)
    problem = Problem(table, RULE, attackers=[outsider, "respondents"])
    assert known(table, by_name(problem)["respondent b"]) == {("r1", "c2"): (-40, -40)}


def test_without_microdata_the_largest_contributions_tell_what_they_can() -> None:
    table = business(PEOPLE, remember=False)
    bounds = known(table, by_name(Problem(table, RULE, attackers="respondents"))["respondent b"])
    assert bounds["r1", "c1"] == (15, UNBOUNDED)
    assert bounds["r1", "c2"] == (40, 40)
    assert ("Total", "c1") not in bounds or bounds["Total", "c1"] == (15, UNBOUNDED)


@pytest.mark.parametrize(
    ("weight", "expected"),
    [
        (1.0, (40, 40)),
        (1.25, (50, 50)),  # he stands for one contributor: himself
        (0.5, (20, 20)),
        (3.0, (40, UNBOUNDED)),  # two more like him in the population, whom he does not know
    ],
)
def test_alone_in_a_sample_is_alone_only_where_the_population_is_one(
    weight: float, expected: tuple[int, int]
) -> None:
    table = sampled({("r1", "c1"): [("a", 40, weight)]})
    problem = Problem(table, MinimumFrequency(9), attackers="respondents")
    assert known(table, by_name(problem)["respondent a"])["r1", "c1"] == expected


def test_alone_in_a_sample_with_nothing_does_not_know_that_the_population_has_nothing() -> None:
    table = sampled({("r1", "c1"): [("a", 0, 3.0)], ("r1", "c2"): [("a", 5, 1.0)]})
    problem = Problem(table, MinimumFrequency(9), attackers="respondents")
    bounds = known(table, by_name(problem)["respondent a"])
    assert ("r1", "c1") not in bounds
    assert bounds["r1", "c2"] == (5, 5)


def test_all_of_a_sample_together_know_a_cell_only_where_nobody_was_left_out() -> None:
    people = {("r1", "c1"): [("a", 40, 1.0), ("b", 30, 1.0)], ("r1", "c2"): [("a", 40, 1.0), ("b", 30, 2.0)]}
    table = sampled(people)
    (pair,) = Problem(table, MinimumFrequency(9), attackers=["outsider", Coalition("a", "b")]).insiders
    assert known(table, pair)["r1", "c1"] == (70, 70)
    assert known(table, pair)["r1", "c2"] == (70, UNBOUNDED)


def test_a_weight_below_one_gives_no_bound_above_the_value() -> None:
    """a has 40, of which 20 are counted, and b adds 5: nobody may be taken to know y >= 40 of 25."""
    table = sampled({("r1", "c1"): [("a", 40, 0.5), ("b", 5, 1.0)]})
    problem = Problem(table, MinimumFrequency(9), attackers=["outsider", Coalition("a")])
    assert known(table, problem.insiders[0])["r1", "c1"] == (25, UNBOUNDED)


def test_a_holding_alone_in_a_sample_knows_the_cell_only_where_all_its_firms_were_sampled() -> None:
    people = {("r1", "c1"): [("a", 40, 1.0), ("b", 30, 1.0)], ("r1", "c2"): [("a", 40, 4.0)]}
    table = sampled(people, holding="H")
    problem = Problem(table, MinimumFrequency(9), attackers="holdings")
    bounds = known(table, by_name(problem)["holding H"])
    assert bounds["r1", "c1"] == (70, 70)
    assert bounds["r1", "c2"] == (40, UNBOUNDED)


def test_holdings_attack_with_all_that_their_firms_know() -> None:
    firms = business(PEOPLE)
    pooled: dict[tuple[str, str], dict[str, int]] = {}
    for cell, there in PEOPLE.items():
        pooled[cell] = {}
        for name, amount in there.items():
            owner = "H" if name in "bc" else name
            pooled[cell][owner] = pooled[cell].get(owner, 0) + amount
    owners = business(pooled)
    table = replace(firms, holdings=owners.contributions, holding_count=owners.count)
    problem = Problem(table, PPercent(10, by="holding"), attackers="holdings")
    assert known(table, by_name(problem)["holding H"])["r1", "c1"] == (16, UNBOUNDED)
    assert asked(problem, "holding H")["r1", "c1"] == (8, 8, 0)


def test_a_list_may_mix_all_kinds_and_keeps_those_made_by_hand() -> None:
    table = business(PEOPLE)
    by_hand = Insider.knowing("clerk", table, {table.find("r1", "c2"): (0, 100)})
    problem = Problem(table, RULE, ["outsider", by_hand, "respondents", Coalition("d", "e")])
    insiders = problem.insiders
    assert problem.outsider.name == "outsider"
    assert insiders[0] is by_hand
    assert "coalition of d, e" in [insider.name for insider in insiders]


@pytest.mark.parametrize(
    ("attackers", "message"),
    [
        ("respondent", r"there are no attackers 'respondent': use outsider, respondents, holdings"),
        ("holdings", r"tabulate records with a column of holdings"),
        (Coalition("a", "nobody"), r"'nobody' is not among the contributors"),
    ],
)
def test_attackers_that_cannot_be_are_refused(attackers: str | Coalition, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Problem(business(PEOPLE), RULE, attackers=attackers)


def test_two_outsiders_and_anonymous_contributors_are_refused() -> None:
    table = business(PEOPLE)
    with pytest.raises(InputError, match="two outsiders"):
        Problem(table, RULE, attackers=[Outsider.of(table), Outsider.of(table)])
    assert table.contributions is not None
    nameless = replace(table.contributions, who=np.full_like(table.contributions.who, -1), names=())
    with pytest.raises(InputError, match="does not say who"):
        Problem(replace(table, contributions=nameless), RULE, attackers="respondents")


def test_levels_by_hand_that_an_insider_can_rule_out_are_refused() -> None:
    table = business(PEOPLE)
    sure = Insider.knowing("sure", table, {table.find("r1", "c1"): (95, np.inf)})
    with pytest.raises(LevelsError, match=r"\(row=r1, column=c1\): the lower protection level .* sure"):
        Problem(table, RULE, attackers=sure)


def test_an_insider_by_hand_attacks_his_targets_only_unless_he_also_attacks_others() -> None:
    table = business(PEOPLE)
    target, unit = np.array([table.find("r1", "c1")]), np.array([1])
    none: Sequence[int] = []

    def requirement(also_others: bool) -> dict[tuple[str, ...], tuple[int, int, int]]:
        insider = Insider(
            "k",
            np.array(none, int),
            np.array(none, int),
            np.array(none, int),
            target,
            unit,
            unit,
            unit,
            also_others,
        )
        return asked(Problem(table, RULE, attackers=insider), "k")

    assert requirement(False) == {("r1", "c1"): (1, 1, 1)}
    assert requirement(True) == {("r1", "c1"): (1, 1, 1), ("r1", "c2"): (4, 4, 0)}


def test_a_sole_contributor_undoes_what_is_safe_against_outsiders() -> None:
    """Two cells of one contributor each hide behind each other in their row: each subtracts himself."""
    safe = dict.fromkeys("uvwxyz", 10)
    people: dict[tuple[str, str], Mapping[str, int]] = {
        (row, column): safe for row in ("r1", "r2", "r3") for column in ("c1", "c2", "c3")
    }
    table = business({**people, ("r1", "c1"): {"a": 40}, ("r1", "c2"): {"b": 40}})
    hidden = [table.find(row, column) for row in ("r1", "r2") for column in ("c1", "c2")]
    release = Release.suppress(table, np.array(hidden))
    rule = MinimumFrequency(3, protection=10)
    assert audit(Problem(table, rule, attackers="outsider"), release).safe
    assert not audit(Problem(table, rule), release).safe
