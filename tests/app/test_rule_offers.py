"""Rules that are proposed for a table: by what it holds, and by whom it names."""

from __future__ import annotations

import pytest

import tacita as tc
from tacita.app.work.rule_offers import find_by, list_offers, look_at, propose_by

FIRMS = {
    "region": ["N", "N", "N", "S", "S", "S"],
    "firm": ["a", "b", "c", "d", "e", "f"],
    "group": ["G", "G", "H", "H", "K", "L"],
    "turnover": [90, 70, 30, 60, 25, 80],
}


def tabulate(holding: str | None = "group", value: str | None = "turnover") -> tc.Table:
    return tc.tabulate(FIRMS, ["region"], value, respondent="firm", holding=holding)


def counts() -> tc.Table:
    return tc.Table.from_array([[20, 50], [8, 19]])


def test_what_is_recommended_for_the_kind_of_the_table_comes_first() -> None:
    assert list_offers(counts(), "respondent")[0].key == "recommended-counts"
    assert list_offers(tabulate(), "holding")[0].key == "recommended-amounts"


def test_rules_that_a_table_cannot_support_come_last_with_the_reason() -> None:
    offers = {offer.key: offer for offer in list_offers(counts(), "respondent")}
    assert "needs the largest contributions per cell by respondent" in offers["add-p-percent"].reason
    assert offers["recommended-amounts"].reason
    assert not offers["add-threshold"].reason
    reasons = [bool(offer.reason) for offer in offers.values()]
    assert reasons == sorted(reasons)
    reasons = {offer.key: offer.reason for offer in list_offers(tabulate(), "holding") if offer.reason}
    assert reasons.keys() == {"add-marked", "add-columns"}
    assert "no column 'column'" in reasons["add-marked"]
    assert "no column 'status'" in reasons["add-columns"]


def test_amounts_look_at_the_holdings_that_the_records_name() -> None:
    assert propose_by(tabulate()) == "holding"
    assert propose_by(tabulate(holding=None)) == "respondent"
    assert propose_by(tabulate(value=None)) == "respondent"
    assert list_offers(tabulate(), "holding")[0].rules == (
        "p-percent(10, by=holding)",
        "threshold(3, by=holding)",
    )


def test_holdings_find_a_cell_whose_largest_contributors_are_one_group() -> None:
    problem = tc.Problem(tabulate(), look_at("p-percent(10)", "holding"))
    # Of N group G holds 160 of 190, and H knows the rest: no third one hides G.
    assert problem.table.find("N") in problem.sensitive


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("threshold(3)", "threshold(3, by=holding)"),
        ("p-percent(10) | zeros", "p-percent(10, by=holding) | zeros"),
        ("request([a])", "request([a])"),
        ("threshold(3, weighted=true)", "threshold(3, weighted=true)"),
        ("treshold(3)", "treshold(3)"),
        ("zeros( )", "zeros( )"),
    ],
)
def test_written_rules_look_at_others_if_they_can(text: str, changed: str) -> None:
    assert look_at(text, "holding") == changed
    assert look_at(changed, "respondent").replace(" ", "") == text.replace(" ", "")


def test_whom_written_rules_look_at() -> None:
    assert find_by(["zeros", "treshold(3)"]) == set()
    assert find_by(["threshold(3)", "p-percent(10, by=holding)"]) == {"respondent", "holding"}
