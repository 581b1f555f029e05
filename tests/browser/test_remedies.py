"""What an error says would help is a button, which does it or leads to what a person must mend."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from driving import cell, go, leads_on, new_table, open_example, pick_rule, run_method

WRONG_TOTAL = "region\ta\tb\tTotal\nN\t1200\t7\t1207\nS\t18000\t40\t18041\nTotal\t19200\t47\t19247"
MISTYPED = "region\ta\tb\tc\nN\t12\t7\t3\nS\t18\t4o\t5\nW\t11\t9\t6"


def paste(page: Page, text: str) -> None:
    page.get_by_test_id("paste-text").fill(text)
    page.get_by_test_id("paste-open").click()
    expect(page.get_by_test_id("notice-error")).to_be_visible()


def take(page: Page, words: str) -> None:
    page.get_by_test_id("remedy").get_by_text(words, exact=True).click()


def test_wrong_totals_are_computed_anew(page: Page) -> None:
    paste(page, WRONG_TOTAL)
    expect(page.get_by_test_id("notice-error")).to_contain_text("does not add up")
    with leads_on(page):
        take(page, "Compute wrong totals anew")
    page.wait_for_url("**/table")
    expect(page.get_by_test_id("notice-note")).to_contain_text("corrected by -1")
    expect(cell(page, 2, 2)).to_have_text("19,247")


def test_a_first_line_of_numbers_is_data_or_names_at_the_press_of_a_button(page: Page) -> None:
    block = "Altona\t12\t7\nBergen\t17\t14\nCastel\t25\t12"
    paste(page, block)
    expect(page.get_by_role("button", name="They are names")).to_be_visible()
    with leads_on(page):
        take(page, "They are numbers: number the columns")
    page.wait_for_url("**/table")
    expect(page.get_by_test_id("case-name")).to_have_text("pasted · 12 cells")


def test_a_column_with_a_mistyped_number_holds_codes_if_the_user_says_so(page: Page) -> None:
    paste(page, "men\twomen\n12\t17\n14\tl7\n9\t15\n20\t30")
    expect(page.get_by_test_id("notice-error")).to_contain_text(
        "'l7' among numbers: is it a mistyped number?"
    )
    take(page, "Go to line 3")
    field = page.get_by_test_id("paste-text")
    expect(field).to_be_focused()
    assert field.evaluate("field => field.value.slice(field.selectionStart, field.selectionEnd)") == "l7"
    with leads_on(page):
        take(page, "The codes are in women")
    page.wait_for_url("**/table")
    expect(page.get_by_test_id("case-name")).to_have_text("pasted · 5 cells")


def test_a_mistyped_number_is_found_in_the_pasted_text(page: Page) -> None:
    paste(page, MISTYPED)
    page.evaluate("() => window.scrollTo(0, document.body.scrollHeight)")
    take(page, "Go to line 3")
    field = page.get_by_test_id("paste-text")
    expect(field).to_be_focused()
    expect(field).to_be_in_viewport()
    chosen = field.evaluate("field => field.value.slice(field.selectionStart, field.selectionEnd)")
    assert chosen == "4o"


def test_a_question_that_opens_is_scrolled_to_and_answered_by_a_button(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 480})
    paste(page, "1,234\t2,345\n3,456\t4,567")
    field = page.get_by_role("combobox", name="Decimal sign")
    expect(field).to_be_focused()
    expect(field).to_be_in_viewport()
    with leads_on(page):
        take(page, "Read a decimal comma")
    page.wait_for_url("**/table")
    expect(cell(page, 0, 0)).to_have_text("1.234")


def test_what_cannot_be_typed_leads_back_to_its_cell_or_becomes_possible(page: Page) -> None:
    new_table(page, 9, 5, "counts")
    cell(page, 2, 1).click()
    page.keyboard.type("1.5")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("notice-error")).to_contain_text("is no integer")
    cell(page, 7, 3).click()
    take(page, "Go to the cell")
    expect(cell(page, 2, 1)).to_have_class(re.compile("sheet-active"))
    take(page, "The values are amounts")
    expect(cell(page, 2, 1)).to_have_text("1.5")
    expect(page.get_by_test_id("notice-error")).to_have_count(0)
    expect(page.get_by_test_id("counts")).to_contain_text("amounts")


def test_an_error_on_rules_leads_to_the_cell_on_table(page: Page) -> None:
    open_example(page, "nchs")
    cell(page, 5, 0).click()
    page.get_by_test_id("mark-publish").click()
    expect(page.get_by_test_id("counts")).to_contain_text("1 marked by hand")
    go(page, "rules")
    pick_rule(page, "threshold")
    page.get_by_test_id("rule-2-n").fill("20")
    expect(page.get_by_test_id("rules-error")).to_contain_text("yet must be published")
    with leads_on(page):
        take(page, "Go to the cell")
    page.wait_for_url("**/table")
    expect(cell(page, 5, 0)).to_have_class(re.compile("sheet-active"))


@pytest.mark.slow
def test_a_run_that_failed_leads_to_the_option_that_helps(page: Page) -> None:
    open_example(page, "nchs")
    run_method(page, "rounding", 1, "! failed", base="2")
    expect(page.get_by_test_id("run-1-error")).to_contain_text("cannot be protected")
    page.get_by_test_id("method-suppression").click()
    expect(page.get_by_test_id("method-name")).to_have_text("suppression")
    take(page, "Run with base 6")
    expect(page.get_by_test_id("method-name")).to_have_text("rounding")
    expect(page.get_by_test_id("option-base")).to_have_value("6")
    expect(page.get_by_test_id("run-2-state")).to_have_text("✔ safe")


def test_a_path_that_is_missing_is_asked_for(page: Page) -> None:
    page.get_by_test_id("way-path").locator(".q-item").first.click()
    page.get_by_test_id("path-open").click()
    take(page, "Go to the path")
    expect(page.get_by_test_id("path")).to_be_focused()
