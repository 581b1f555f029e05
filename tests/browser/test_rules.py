"""Rules: the count follows what is said, form and text are in step, and one undo takes back one change."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from driving import (
    choose,
    go,
    leads_on,
    listening,
    open_by,
    open_example,
    open_path,
    pick_rule,
    reload,
    undo,
    unfold,
)
from tacita.examples.printed import NCHS

RECORDS = """region,trade,firm,turnover
North,A,anna,900
North,A,bert,60
North,A,carl,30
North,B,dora,100
North,B,emil,90
North,B,fred,80
South,A,gina,50
South,A,hugo,40
South,A,ida,30
South,B,jens,70
South,B,kurt,60
South,B,lena,50
"""
PROJECT = """[table]
microdata = "firms.csv"
by = ["region", "trade"]
value = "turnover"
respondent = "firm"
largest = 3

[rules]
rule = "p-percent(10) | frequency(3)"
"""


def below(limit: int) -> int:
    return sum(0 < value < limit for row in NCHS for value in row)


def open_firms(page: Page, folder: Path) -> None:
    (folder / "firms.csv").write_text(RECORDS)
    (folder / "project.toml").write_text(PROJECT)
    open_path(page, folder / "project.toml")
    expect(page.get_by_test_id("case-name")).to_contain_text("9 cells")
    go(page, "rules")


@pytest.mark.slow
def test_the_count_follows_the_form_and_the_text_follows_it(page: Page) -> None:
    open_example(page, "thesis-3x4")
    go(page, "rules")
    expect(page.get_by_test_id("sensitive-count")).to_have_text("2")
    pick_rule(page, "zeros")
    page.get_by_test_id("rule-1-text").fill("marked([[1, 2], [2, 2]])")
    expect(page.get_by_test_id("rule-1-cells")).to_have_value("[1, 2], [2, 2]")
    # Codes that look like numbers are quoted: what cannot be found is told, not ignored.
    page.get_by_test_id("rule-1-text").fill('marked([["1", "2"], ["2", "2"]])')
    expect(page.get_by_test_id("sensitive-count")).to_have_text("4")
    expect(page.get_by_test_id("rule-hits")).to_contain_text("marked by hand")


def test_counts_by_threshold_and_undo_field_by_field(page: Page) -> None:
    open_example(page, "nchs")
    go(page, "rules")
    expect(page.get_by_test_id("sensitive-count")).to_have_text("3")
    expect(page.get_by_test_id("sensitive-of")).to_contain_text("of 66 cells")
    field = page.get_by_test_id("rule-1-n")
    expect(field).to_have_value("5")
    field.click()
    field.press("End")
    field.press("Backspace")
    page.keyboard.type("100", delay=200)
    expect(page.get_by_test_id("rule-1-text")).to_have_value("threshold(100)")
    expect(page.get_by_test_id("sensitive-count")).to_have_text(str(below(100)))
    field.blur()
    choose(page, "cost", "unit")
    expect(page.get_by_test_id("cost-meaning")).to_contain_text("as few cells as possible")
    reload(page)
    expect(page.get_by_test_id("rule-1-n")).to_have_value("100")
    undo(page)
    expect(page.get_by_test_id("cost-meaning")).not_to_contain_text("as few cells as possible")
    expect(page.get_by_test_id("rule-1-n")).to_have_value("100")
    undo(page)
    expect(page.get_by_test_id("rule-1-n")).to_have_value("5")
    expect(page.get_by_test_id("sensitive-count")).to_have_text("3")


@pytest.mark.slow
def test_a_rule_that_cannot_be_read_says_so_and_is_not_lost(page: Page) -> None:
    open_example(page, "nchs")
    go(page, "rules")
    page.get_by_test_id("rule-1-text").fill("treshold(5)")
    expect(page.get_by_test_id("rule-1-error")).to_contain_text("did you mean 'threshold'?")
    expect(page.get_by_test_id("sensitive-count")).to_have_text("?")
    reload(page)
    expect(page.get_by_test_id("rule-1-text")).to_have_value("treshold(5)")
    go(page, "protect")
    expect(page.get_by_test_id("run-refused")).to_contain_text("did you mean 'threshold'?")
    expect(page.get_by_test_id("run")).to_be_disabled()


@pytest.mark.slow
def test_a_rule_that_does_not_fit_the_table_says_what_is_missing(page: Page) -> None:
    open_example(page, "nchs")
    go(page, "rules")
    page.get_by_test_id("rule-1-text").fill("p-percent(10)")
    expect(page.get_by_test_id("rules-error")).to_contain_text("needs the largest contributions per cell")
    expect(page.get_by_test_id("attack-respondents")).to_have_attribute("aria-disabled", "true")
    expect(page.get_by_text("does not say which respondents stand behind its cells").first).to_be_visible()


@pytest.mark.slow
def test_respondents_attack_waive_and_pool_what_they_know(page: Page, tmp_path: Path) -> None:
    open_firms(page, tmp_path)
    expect(page.get_by_test_id("rule-1-text")).to_have_value("p-percent(10)")
    expect(page.get_by_test_id("rule-2-text")).to_have_value("frequency(3)")
    # X - x1 - x2 < x1 / 10: North A (30 < 90), and no other: the total has 1560 - 1000, North 1260 - 1000.
    expect(page.get_by_test_id("sensitive-count")).to_have_text("1")
    counted = page.get_by_test_id("attackers-count")
    expect(counted).to_have_text("Attackers: an outsider and 12 respondents")
    checked = page.get_by_test_id("attackers-checked")
    expect(checked).to_contain_text("All 13 are attackers, and nobody is left out.")
    expect(checked).to_contain_text("learn no more than one of these")
    page.get_by_test_id("attack-respondents").click()
    expect(counted).to_have_text("Attackers: an outsider, respondents left out")
    expect(checked).to_be_empty()
    page.get_by_test_id("attack-respondents").click()
    expect(counted).to_have_text("Attackers: an outsider and 12 respondents")
    page.get_by_test_id("coalitions").fill("bert, nobody")
    expect(page.get_by_test_id("rules-error")).to_contain_text("'nobody' is not among the contributors")
    page.get_by_test_id("coalitions").fill("bert, carl")
    expect(page.get_by_test_id("rules-error")).to_have_text("")
    # Who waives is passed over: bert takes the first place, and 60 is well hidden among 30 and 900.
    page.get_by_test_id("waived").fill("anna")
    expect(page.get_by_test_id("sensitive-count")).to_have_text("0")


@pytest.mark.slow
def test_what_everyone_knows(page: Page) -> None:
    open_example(page, "salazar")
    go(page, "rules")
    expect(page.get_by_test_id("sensitive-count")).to_have_text("1")
    choose(page, "outsider", "every value to within some percent")
    page.get_by_test_id("outsider-below").fill("10")
    # 22 less 10 percent is 20, the lower level wants 12.
    expect(page.get_by_test_id("rules-error")).to_contain_text("cannot be met against outsider")
    page.get_by_test_id("outsider-below").fill("50")
    expect(page.get_by_test_id("rules-error")).to_have_text("")
    choose(page, "outsider", "a lower and an upper bound of all cells")
    page.get_by_test_id("outsider-upper").fill("ten")
    expect(page.get_by_text("a number is needed")).to_be_visible()
    page.get_by_test_id("outsider-upper").fill("100")
    expect(page.get_by_test_id("rules-error")).to_contain_text("bounds that are not true")
    for bound in ("upper", "lower"):
        page.get_by_test_id(f"outsider-{bound}").fill("none")
    page.get_by_test_id("outsider-lower").blur()
    expect(page.get_by_test_id("rules-error")).to_have_text("")
    reload(page)
    expect(page.get_by_test_id("outsider-lower")).to_have_value("none")
    expect(page.get_by_test_id("outsider-upper")).to_have_value("")


def test_a_second_window_does_not_put_back_what_the_first_changed(page: Page) -> None:
    open_example(page, "nchs")
    go(page, "rules")
    expect(page.get_by_test_id("sensitive-count")).to_have_text("3")
    other = page.context.new_page()
    other.goto(page.url)
    listening(other)
    expect(other.get_by_test_id("sensitive-count")).to_have_text("3")
    pick_rule(page, "zeros")
    expect(page.get_by_test_id("rule-2-text")).to_be_visible()
    with leads_on(other):
        other.get_by_test_id("rule-1-n").fill("2")
    expect(other.get_by_test_id("notice-note")).to_contain_text("another window")
    expect(other.get_by_test_id("rule-2-text")).to_be_visible()
    expect(other.get_by_test_id("rule-1-n")).to_have_value("5")


def test_a_rule_is_chosen_by_keyboard_and_gets_the_focus(page: Page) -> None:
    page.get_by_test_id("paste-text").fill("1\t20\n30\t40")
    open_by(page, "paste-open")
    go(page, "rules")
    offer = page.get_by_test_id("add-threshold")
    expect(offer).to_contain_text("Usual for counts")
    offer.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("rule-1-text")).to_be_focused()
    expect(page.get_by_test_id("rule-1-text")).to_have_value("threshold(3)")
    expect(offer).to_be_hidden()
    expect(page.get_by_test_id("sensitive-count")).to_have_text("1")


@pytest.mark.slow
def test_recommended_rules_are_added_together_and_undone_as_one_step(page: Page, tmp_path: Path) -> None:
    open_firms(page, tmp_path)
    unfold(page, "add-rule")
    page.get_by_test_id("recommended-amounts").click()
    expect(page.get_by_test_id("rule-3-text")).to_have_value("p-percent(10)")
    expect(page.get_by_test_id("rule-4-text")).to_have_value("threshold(3)")
    undo(page)
    expect(page.get_by_test_id("rule-3")).to_have_count(0)


def test_rules_look_at_the_holdings_that_records_name_and_one_switch_changes_all(
    page: Page, tmp_path: Path
) -> None:
    lines = RECORDS.splitlines()
    groups = [f"{line},{'GH'[place % 2]}" for place, line in enumerate(lines[1:])]
    (tmp_path / "firms.csv").write_text("\n".join([f"{lines[0]},group", *groups]))
    project = PROJECT.replace('respondent = "firm"', 'respondent = "firm"\nholding = "group"')
    (tmp_path / "project.toml").write_text(project.split("[rules]")[0])
    open_path(page, tmp_path / "project.toml")
    go(page, "rules")
    offers = page.locator(".offer")
    expect(offers.first).to_have_attribute("data-testid", "recommended-amounts")
    offers.first.click()
    first, second = (page.get_by_test_id(f"rule-{number}-text") for number in (1, 2))
    expect(first).to_have_value("p-percent(10, by=holding)")
    expect(second).to_have_value("threshold(3, by=holding)")
    page.get_by_test_id("rules-by").get_by_role("button", name="respondents").click()
    expect(first).to_have_value("p-percent(10)")
    expect(second).to_have_value("threshold(3)")
    expect(page.get_by_test_id("sensitive-count")).to_have_text("1")
    undo(page)
    expect(first).to_have_value("p-percent(10, by=holding)")
    expect(second).to_have_value("threshold(3, by=holding)")


def test_rules_that_cannot_apply_say_why_and_add_nothing(page: Page) -> None:
    open_example(page, "nchs")
    go(page, "rules")
    unfold(page, "add-rule")
    expect(page.locator(".offer").first).to_have_attribute("data-testid", "recommended-counts")
    offer = page.get_by_test_id("add-p-percent")
    expect(offer).to_contain_text("Not for this table: p% (10) needs the largest contributions per cell")
    offer.dispatch_event("click")
    expect(page.get_by_test_id("rule-2")).to_have_count(0)


def test_a_table_that_counts_respondents_without_naming_them_gets_a_warning(
    page: Page, tmp_path: Path
) -> None:
    (tmp_path / "cells.csv").write_text("region,trade,value,count\nN,A,90,1\nN,B,70,9\nS,A,80,8\nS,B,60,7\n")
    (tmp_path / "project.toml").write_text('[table]\nfile = "cells.csv"\n[rules]\nrule = "frequency(3)"\n')
    open_path(page, tmp_path / "project.toml")
    expect(page.get_by_test_id("case-name")).to_contain_text("9 cells")
    go(page, "rules")
    expect(
        page.get_by_text("Warning: the table counts respondents but does not say who they are")
    ).to_be_visible()
    expect(
        page.get_by_text("Attackers: an outsider, respondents left out as they are unknown")
    ).to_be_visible()
