"""Workbooks of several sheets in a browser: one is asked for, of tables and of records. Rows that could be
either.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import xlsxwriter
from playwright.sync_api import Page, expect

from access import complaints
from driving import choose, leads_on, listening, open_by, reload, unfold

ROWS = {
    "about": [["Turnover of firms"], ["in the year 2024"]],
    "cells": [["region", "size", "value"], ["N", "s", 12], ["N", "l", 20], ["S", "s", 30], ["S", "l", 40]],
    "firms": [["region", "turnover"], ["N", 1.5], ["N", 2], ["S", 4]],
    "lists": [["code"], ["N"]],
}


@pytest.fixture
def book(tmp_path: Path) -> Path:
    path = tmp_path / "survey.xlsx"
    with xlsxwriter.Workbook(str(path)) as written:
        for name, rows in ROWS.items():
            sheet = written.add_worksheet(name)
            for r, row in enumerate(rows):
                sheet.write_row(r, 0, row)
            if name == "lists":
                sheet.hide()
    return path


def hand_over(page: Page, button: str, path: Path) -> None:
    with page.expect_file_chooser() as chooser:
        page.get_by_test_id(button).click()
    chooser.value.set_files(path)
    expect(page.get_by_test_id("sheet-question")).to_have_text("survey.xlsx has several sheets. Which one?")


def expect_open(page: Page, name: str) -> None:
    page.wait_for_url("**/table")
    listening(page)
    expect(page.get_by_test_id("case-name")).to_have_text(name)


@pytest.mark.slow
def test_a_sheet_of_a_workbook_is_chosen(page: Page, book: Path) -> None:
    hand_over(page, "open-files", book)
    sheet = page.get_by_test_id("reading-sheet")
    expect(page.get_by_role("combobox", name="Sheet")).to_be_focused()
    # The first that holds a table is proposed; one of words can be chosen, and then another one.
    expect(page.locator(".sheet-choice")).to_contain_text("cells")
    choose(page, "reading-sheet", "about")
    page.get_by_test_id("sheet-open").click()
    expect(page.get_by_test_id("notice-error")).to_contain_text("survey.xlsx")
    # The question outlives a reload.
    reload(page)
    expect(sheet).to_be_visible()
    assert complaints(page) == []
    sheet.click()
    expect(page.get_by_role("option")).to_have_text(["about", "cells", "firms", "lists (hidden)"])
    page.get_by_role("option", name="cells").click()
    expect(page.get_by_role("option")).to_have_count(0)
    open_by(page, "sheet-open")
    expect(page.get_by_test_id("case-name")).to_have_text("survey · 9 cells")


def test_what_else_is_said_of_the_reading_counts(page: Page, book: Path) -> None:
    unfold(page, "way-path")
    page.get_by_test_id("path").fill(str(book))
    page.get_by_test_id("path-open").click()
    choose(page, "reading-sheet", "cells")
    choose(page, "reading-counts", "amounts")
    open_by(page, "sheet-open")
    expect(page.get_by_test_id("counts")).to_contain_text("9 cells (amounts)")


def test_records_of_a_sheet(page: Page, book: Path) -> None:
    unfold(page, "way-records")
    hand_over(page, "open-records", book)
    choose(page, "reading-sheet", "firms")
    page.get_by_test_id("sheet-open").click()
    columns = page.get_by_test_id("records-columns")
    expect(columns.get_by_role("row", name="turnover numbers 3")).to_be_visible()
    expect(page.get_by_test_id("sheet-question")).to_have_count(0)
    # Another sheet is looked through at once, and the first again.
    choose(page, "records-sheet", "cells")
    expect(columns.get_by_role("row", name="size text 2")).to_be_visible()
    choose(page, "records-sheet", "firms")
    expect(columns.get_by_role("row", name="turnover numbers 3")).to_be_visible()
    assert complaints(page) == []
    page.get_by_test_id("records-by").click()
    page.get_by_role("option", name="region", exact=True).click()
    page.keyboard.press("Escape")
    open_by(page, "records-tabulate")
    expect(page.get_by_test_id("case-name")).to_have_text("survey · 3 cells")


@pytest.mark.slow
def test_rows_that_could_be_records_are_one_press_away_from_them(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "few.csv"
    path.write_text("region,branch,turnover\nN,steel,12\nS,food,3.5\nE,steel,8\nW,tools,1\n")
    with page.expect_file_chooser() as chooser:
        page.get_by_test_id("open-files").click()
    chooser.value.set_files(path)
    expect_open(page, "few · 12 cells")
    offer = page.get_by_test_id("notice-offer")
    expect(offer).to_contain_text("They could as well be records")
    assert complaints(page) == []
    reload(page)
    with leads_on(page):
        page.get_by_test_id("remedy").click()
    expect(page.get_by_test_id("records")).to_contain_text("4 records")
    page.get_by_test_id("records-by").click()
    page.get_by_role("option", name="branch", exact=True).click()
    page.keyboard.press("Escape")
    open_by(page, "records-tabulate")
    expect(page.get_by_test_id("case-name")).to_have_text("few · 4 cells")
    expect(offer).to_have_count(0)


@pytest.mark.slow
def test_an_offer_that_is_closed_stays_away(page: Page) -> None:
    page.get_by_test_id("paste-text").fill("region\tbranch\tturnover\nN\tsteel\t12\nS\tfood\t3.5")
    page.get_by_test_id("paste-open").click()
    expect_open(page, "pasted · 7 cells")
    offer = page.get_by_test_id("notice-offer")
    offer.get_by_role("button", name="Close").click()
    expect(offer).to_have_count(0)
    reload(page)
    expect(page.get_by_test_id("sheet").get_by_role("gridcell").first).to_be_visible()
    expect(offer).to_have_count(0)
