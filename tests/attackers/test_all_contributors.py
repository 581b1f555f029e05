"""Every contributor is an attacker, by default and by whatever cells they are in; verdicts name them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tacita as tc
from tacita.attackers.considered import Considered
from tacita.core.errors import InputError
from tacita.core.levels import Levels
from tacita.core.release import Release
from tacita.core.tables.contributions import Beyond, Contributions
from tacita.core.tables.table import Table
from tacita.specification.project import load_project

FIRMS = {
    ("N", "F"): {"a": 60, "b": 40},
    ("N", "G"): {"c": 98, "d": 1, "e": 1},
    ("S", "F"): {"f": 40, "g": 30, "h": 30},
    ("S", "G"): {"i": 40, "k": 30, "l": 30},
    **{
        cell: {f"m{i}": 25 for i in range(4)}
        for cell in (("N", "M"), ("S", "M"), ("E", "F"), ("E", "G"), ("E", "M"))
    },
}


def firms(**options: object) -> Table:
    rows = [(*cell, name, amount) for cell, there in FIRMS.items() for name, amount in there.items()]
    names = ("region", "industry", "firm", "turnover")
    columns = {name: [row[k] for row in rows] for k, name in enumerate(names)}
    columns["group"] = ["G1" if firm in "ac" else f"of {firm}" for firm in columns["firm"]]
    return tc.tabulate(columns, ["region", "industry"], "turnover", respondent="firm", **options)


RULE = tc.Marked([("N", "F")], lower=20, upper=20)


def corners(table: Table) -> Release:
    return Release.suppress(table, [table.find(region, code) for region in "NS" for code in "FG"])


def test_who_dominates_a_hidden_cell_that_is_not_sensitive_is_an_attacker() -> None:
    """N/F = 60 + 40 needs 20 either way. c has 98 of the 100 in N/G, so N/F is 102 at most to c."""
    table = firms()
    outsider = tc.Problem(table, RULE, attackers="outsider")
    assert tc.audit(outsider, corners(table)).safe
    found = tc.audit(tc.Problem(table, RULE), corners(table))
    assert not found.safe
    assert [(f.name, f.attacker, f.verdict) for f in found.findings(only_unsafe=True)] == [
        ("region=N, industry=F", "respondent c", "below upper")
    ]
    assert found.verdict == "1 sensitive cell: 0 safe, 1 UNSAFE, against an outsider and 15 respondents"


@pytest.mark.parametrize(
    "method", [tc.Suppression(), tc.Intervals(), tc.Rounding(base=50), tc.Adjustment()], ids=lambda m: m.name
)
def test_methods_protect_against_them(method: tc.Method) -> None:
    problem = tc.Problem(firms(), RULE)
    found = tc.audit(problem, method.protect(problem))
    assert found.safe
    assert "against an outsider and 15 respondents" in found.verdict


@pytest.mark.parametrize(
    ("attackers", "words"),
    [
        (None, "an outsider, 15 respondents and 14 holdings"),
        (tc.Outsider.within(firms(), 1, 9), "an outsider, 15 respondents and 14 holdings"),
        (tc.Coalition("a", "b"), "an outsider, 15 respondents, 14 holdings and 1 coalition"),
        ("outsider", "an outsider, respondents and holdings left out"),
        ("respondents", "an outsider and 15 respondents, holdings left out"),
        (
            ["outsider", tc.Coalition("G1", "of d", of="holdings")],
            "an outsider and 1 coalition, respondents and holdings left out",
        ),
    ],
)
def test_a_word_is_needed_to_leave_them_out(attackers: object, words: str) -> None:
    problem = tc.Problem(firms(holding="group"), RULE, attackers=attackers)
    assert problem.considered.text == words
    assert tc.audit(problem, corners(problem.table)).verdict.endswith(f"against {words}")


def test_a_coalition_of_holdings_pools_what_they_know() -> None:
    table = firms(holding="group")
    pair = tc.Coalition("G1", "of d", of="holdings")
    (insider,) = tc.Problem(table, RULE, attackers=["outsider", pair]).insiders
    known = dict(zip(insider.cells.tolist(), insider.lower.tolist(), strict=True))
    assert known[table.find("N", "G")] == 99
    assert known[table.find("N", "F")] == 60
    with pytest.raises(InputError, match="respondents or holdings"):
        tc.Coalition("a", of="firms")


def test_without_all_contributors_the_verdict_says_how_many_of_each_cell_were_considered() -> None:
    table = firms()
    assert table.contributions is not None
    known = replace(table.contributions, query=None, beyond=Beyond.ANYONE)
    problem = tc.Problem(replace(table, contributions=known), RULE)
    assert "(only the 2 largest of each cell are known)" in problem.considered.text
    nobody = replace(known, who=np.full_like(known.who, -1), names=())
    with pytest.warns(tc.TacitaWarning, match="the table counts respondents but does not say who they are"):
        anonymous = tc.Problem(replace(table, contributions=nobody), RULE)
    assert anonymous.considered == Considered(unknown=("respondents",))
    assert anonymous.considered.text == "an outsider, respondents left out as they are unknown"
    listed = tc.Insider("F", np.array([0]), table.units[:1], table.units[:1] + 1)
    with pytest.warns(tc.TacitaWarning, match="only 1 listed insider can attack, so that what others"):
        some = tc.Problem(replace(table, contributions=nobody), RULE, attackers=[listed])
    assert some.considered.text == "an outsider and 1 insider, other respondents left out as they are unknown"
    on_purpose = tc.Problem(replace(table, contributions=nobody), RULE, attackers="outsider")
    assert on_purpose.considered == Considered()
    assert not on_purpose.warnings


def test_records_without_respondents_stand_for_the_smaller_ones_of_their_cell() -> None:
    """Two of each leaf cell are kept; no level is so large that a smaller one could need more."""
    rows = [(region, code) for region in "NS" for code in "FG" for _ in range(5)]
    table = tc.tabulate({"region": [r for r, _ in rows], "code": [c for _, c in rows]}, ["region", "code"])
    problem = tc.Problem(table, tc.Marked([("N", "F")], lower=2, upper=2))
    assert problem.considered == Considered(respondents=20)


def test_smaller_records_than_those_that_are_kept_may_need_higher_levels() -> None:
    """Who put in 1 of 43 needs a level of 42; the two who are kept, with 20 each, only one of 23."""
    amounts = {"region": list("NNNNNS"), "code": ["F"] * 6, "amount": [20, 20, 1, 1, 1, 9]}
    table = tc.tabulate(amounts, ["region", "code"], "amount")
    deep = tc.Problem(table, tc.Marked([("N", "F")], lower=43, upper=2))
    assert deep.considered == Considered(respondents=6, largest=2)


def test_counted_records_are_alike_so_that_those_who_are_kept_stand_for_all() -> None:
    rows = [(region, code) for region in "NS" for code in "FG" for _ in range(5)]
    counted = {"region": [r for r, _ in rows], "code": [c for _, c in rows]}
    problems = [
        tc.Problem(
            tc.tabulate(counted, ["region", "code"], largest=largest),
            tc.Marked([("N", "F")], lower=5, upper=2),
        )
        for largest in (2, 20)
    ]
    few, all_of_them = problems
    assert few.considered == all_of_them.considered == Considered(respondents=20)
    needs = [{tuple(np.ravel([r.cells, r.lower, r.upper])) for r in each.requirements()} for each in problems]
    assert needs[0] == needs[1]


def test_those_who_are_in_no_list_of_the_largest_are_attackers_too() -> None:
    """z is third in both cells of row N: too small for any list, but in two hidden cells at once."""
    put = {("N", "F"): (50, 30, 20), ("N", "G"): (50, 30, 20), ("S", "F"): (9, 9, 9), ("S", "G"): (9, 9, 9)}
    rows = [
        (*cell, "z" if cell[0] == "N" and k == 2 else f"{cell}{k}", amount)
        for cell, amounts in put.items()
        for k, amount in enumerate(amounts)
    ]
    names = ("row", "column", "firm", "amount")
    columns = {name: [row[k] for row in rows] for k, name in enumerate(names)}
    table = tc.tabulate(columns, ["row", "column"], "amount", respondent="firm", largest=1)
    problem = tc.Problem(table, tc.Marked([("N", "F")], lower=2, upper=2))
    assert "respondent z" in problem.attackers


def test_objects_are_made_only_of_insiders_who_are_asked() -> None:
    problem = tc.Problem(firms(), tc.Marked([("N", "F")], lower=1, upper=1))
    assert tc.audit(problem, corners(problem.table)).safe
    assert len(problem.insiders._made) < len(problem.insiders)


def test_an_insider_by_hand_is_written_in_plain_numbers() -> None:
    """One decimal: bounds inwards to 4.3 and 9.9, levels up to 0.4 and 1.3."""
    table = Table.from_array([[5.1, 6.2], [7.3, 8.4]], decimals=1, counts=False)
    cell = table.find("1", "1")
    sensitive = np.arange(len(table)) == cell
    insider = tc.Insider.knowing(
        "clerk", table, {cell: (4.21, 9.99)}, targets=[cell], target_lower=0.31, target_upper=1.3
    )
    assert (insider.lower.tolist(), insider.upper.tolist()) == ([43], [99])
    assert insider.own_targets()[1].ravel().tolist() == [4, 13, 0]
    problem = tc.Problem(table, Levels.of(sensitive, upper=np.where(sensitive, 20, 0)), attackers=insider)
    need = list(problem.requirements())[1]
    assert (need.lower.tolist(), need.upper.tolist()) == ([4], [13])
    with pytest.raises(InputError, match="zero or more"):
        tc.Insider.knowing("clerk", table, {}, targets=[cell], target_lower=-1)


PROJECT = """[table]
microdata = "firms.csv"
by = ["region"]
value = "turnover"
respondent = "firm"
[rules]
rule = "frequency(2)"
{attackers}
"""


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ("", "an outsider and 3 respondents"),
        ('[attackers]\nkinds = ["outsider"]', "an outsider, respondents left out"),
        ("[attackers]\nupper = 99", "an outsider and 3 respondents"),
    ],
)
def test_a_project_has_the_same_default(tmp_path: Path, section: str, words: str) -> None:
    (tmp_path / "firms.csv").write_text("region,firm,turnover\nN,a,5\nN,b,7\nS,a,2\nS,c,4\n")
    (tmp_path / "project.toml").write_text(PROJECT.format(attackers=section))
    assert load_project(tmp_path / "project.toml").problem().considered.text == words


def test_an_empty_list_of_contributors_is_nobody() -> None:
    table = Table.from_array([[5, 6], [7, 8]])
    nothing = np.zeros((len(table), 1), dtype=np.int64)
    unknown = Contributions(nothing, nothing - 1, table.units.copy())
    with pytest.warns(tc.TacitaWarning, match="does not say who they are"):
        problem = tc.Problem(replace(table, contributions=unknown), RULE_BY_NUMBER)
    assert problem.considered == Considered(unknown=("respondents",))


RULE_BY_NUMBER = tc.Marked([0], lower=1, upper=1)
