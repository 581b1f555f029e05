"""The words of the page Rules on attackers: how many there are, and why fewer are checked one by one."""

from __future__ import annotations

import tacita as tc
from tacita.app.screens.result.certificate_panel import describe_pairs
from tacita.app.screens.rules.count_panel import MOST_ATTACKERS, explain_checked, name_checked
from tacita.attackers.considered import Considered


def test_those_whom_another_one_implies_are_attackers_and_the_reason_is_given() -> None:
    words = explain_checked(Considered(respondents=1806), 221)
    assert words.startswith("All 1,807 are attackers, and nobody is left out. 221 of them are checked")
    assert "The other 1,586 learn no more than one of these 221, who knows at least as much" in words
    assert words.endswith("safe against the 221 is safe against all.")


def test_where_the_outsider_implies_everyone_it_is_said_of_the_outsider() -> None:
    words = explain_checked(Considered(respondents=6, holdings=3), 1)
    assert "1 of them is checked one by one. The other 9 learn no more than the outsider" in words


def test_nothing_is_said_of_implied_attackers_where_there_are_none() -> None:
    assert explain_checked(Considered(), 1) == ""
    assert explain_checked(Considered(coalitions=2), 3) == ""


def test_contributors_whom_the_table_does_not_name_are_not_claimed_to_be_checked() -> None:
    words = explain_checked(Considered(respondents=90, largest=2), 11)
    assert "All" not in words
    assert words.endswith("Smaller contributors, whom it does not name, are not checked.")


def test_a_few_names_say_of_how_many_they_are() -> None:
    names = [f"respondent {k}" for k in range(221)]
    assert name_checked(names[:2]) == "Checked one by one: respondent 0, respondent 1."
    assert name_checked(names).startswith(
        f"The first {MOST_ATTACKERS} of the 221 who are checked one by one: "
    )
    assert "more" not in name_checked(names)


def test_the_pairs_that_a_check_counts_are_explained_where_insiders_attack() -> None:
    records = {"region": ["N"] * 4 + ["S"] * 3, "firm": list("abcdefg"), "turnover": [9, 8, 7, 6, 5, 4, 3]}
    table = tc.tabulate(records, ["region"], "turnover", respondent="firm")
    words = describe_pairs(tc.Problem(table, tc.Threshold(4)))
    assert words.startswith("Of 8 attackers ")
    assert "each cell with the outsider" in words
    assert describe_pairs(tc.Problem(table, tc.Threshold(4), attackers="outsider")) == ""
