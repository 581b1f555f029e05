"""From a workbook to a safe workbook: few clicks, and no page opens for somebody who does something else."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from openpyxl import Workbook, load_workbook
from playwright.sync_api import Download, Locator, Page, expect

from driving import (
    go,
    leads_on,
    listening,
    open_by,
    open_example,
    open_path,
    pick_rule,
    run_method,
)

TITLE = "Notified cases by district and diagnosis, 2025"
ROWS = [
    ["District", "Measles", "Hepatitis A", "Tuberculosis", "Total"],
    ["Altona", 12, 7, 23, 42],
    ["Bergen", 3, 14, 31, 48],
    ["Castel", 25, 2, 18, 45],
    ["Total", 40, 23, 72, 135],
]
MOST_CLICKS = 6


@pytest.fixture
def workbook(tmp_path: Path) -> Path:
    """A crosstab of counts with a title above it, as health offices have them."""
    book = Workbook()
    assert book.active is not None
    for row in [[TITLE], *ROWS]:
        book.active.append(row)
    book.save(tmp_path / "cases-2025.xlsx")
    return tmp_path / "cases-2025.xlsx"


def read_published(download: Download) -> list[list[str]]:
    """The first sheet of a workbook that was downloaded, as texts."""
    book = load_workbook(io.BytesIO(download.path().read_bytes()))
    return [["" if value is None else str(value) for value in row] for row in book.worksheets[0].values]


def test_six_clicks_lead_from_a_workbook_to_a_safe_one(page: Page, workbook: Path) -> None:
    clicks = 0

    def click(name: str) -> None:
        nonlocal clicks
        page.get_by_test_id(name).click()
        clicks += 1

    with leads_on(page):
        with page.expect_file_chooser() as chooser:
            click("open-files")
        chooser.value.set_files(workbook)
    page.wait_for_url("**/table")
    with leads_on(page):
        click("next-step")
    click("recommended-counts")
    expect(page.get_by_test_id("next-step")).to_have_text("2 sensitive cells: protect them")
    with leads_on(page):
        click("next-step")
    expect(page.get_by_test_id("run-question")).not_to_have_text("…")
    with leads_on(page):
        click("run")
    page.wait_for_url("**/result")
    expect(page.get_by_test_id("verdict-word")).to_have_text("✔ Safe")
    with page.expect_download() as download:
        click("download-excel")
    assert clicks <= MOST_CLICKS
    assert download.value.suggested_filename == "cases-2025-run-1-publication.xlsx"
    rows = read_published(download.value)
    assert rows[0][0] == TITLE
    shown = {text for row in rows for text in row}
    assert "42" in shown
    assert "column" not in shown
    bergen = next(row for row in rows if row[0] == "Bergen")
    assert "3" not in bergen


def press_run(page: Page) -> None:
    """Press Run and leave it to the page what to show."""
    expect(page.get_by_test_id("run-question")).not_to_have_text("…")
    page.get_by_test_id("run").click()


def test_a_result_does_not_open_for_somebody_who_types(page: Page) -> None:
    open_example(page, "nchs")
    go(page, "protect")
    # At once after the click, so that the run cannot be over before.
    page.evaluate(
        """() => document.addEventListener("click", () => {
            document.dispatchEvent(new KeyboardEvent("keydown", { key: "6" }));
        })"""
    )
    press_run(page)
    expect(page.get_by_test_id("next-step")).to_have_text("Run 1 is safe: look at the result")
    page.wait_for_timeout(1000)
    assert page.url.endswith("/protect")


def test_a_result_that_is_not_safe_does_not_open(page: Page) -> None:
    page.get_by_test_id("paste-text").fill("1\t20\n30\t40")
    open_by(page, "paste-open")
    go(page, "protect")
    press_run(page)
    expect(page.get_by_test_id("run-1-state")).to_contain_text("nothing was sensitive")
    page.wait_for_timeout(1000)
    assert page.url.endswith("/protect")
    go(page, "result")
    expect(page.get_by_test_id("download-excel")).to_have_count(0)


@pytest.mark.slow
def test_a_workbook_is_refused_after_a_change_in_another_window(page: Page) -> None:
    open_example(page, "nchs")
    run_method(page, "suppression", 1)
    go(page, "result")
    other = page.context.new_page()
    other.goto(page.url.replace("result", "rules"))
    listening(other)
    pick_rule(other, "zeros")
    expect(other.get_by_test_id("rule-2-text")).to_be_visible()
    page.get_by_test_id("download-excel").click()
    expect(page.get_by_test_id("notice-error")).to_contain_text("changed in another window")
    page.reload()
    listening(page)
    expect(page.get_by_test_id("earlier-case")).to_be_visible()
    expect(page.get_by_test_id("download-excel")).to_have_count(0)


def test_one_format_is_downloaded_as_its_file(page: Page, workbook: Path) -> None:
    open_path(page, workbook)
    go(page, "rules")
    pick_rule(page, "threshold")
    expect(page.get_by_test_id("sensitive-count")).not_to_have_text("…")
    run_method(page, "suppression", 1)
    go(page, "export")
    expect(page.get_by_test_id("format-csv")).to_have_attribute("aria-checked", "false")
    with page.expect_download() as download:
        page.get_by_test_id("download-publication").click()
    assert download.value.suggested_filename == "cases-2025-run-1-publication.xlsx"
    assert read_published(download.value)[0][0] == TITLE


def test_a_failed_run_leaves_the_way_to_the_safe_one(page: Page) -> None:
    open_example(page, "salazar")
    run_method(page, "suppression", 1)
    run_method(page, "rounding", 2, "! failed", base="10")
    step = page.get_by_test_id("next-step")
    expect(step).to_have_text("Run 1 is safe: write its files")
    with leads_on(page):
        step.click()
    expect(page.get_by_test_id("choose-run")).to_have_value("1 · suppression · ✔ safe")
    expect(page.get_by_test_id("proposed")).to_contain_text(
        "The run shown last: 2 · rounding (base 10) · ! failed."
    )


RECORDS = "firm,region,district,nace,turnover\n" + "".join(
    f"F{k},{'NS'[k % 2]},{'NS'[k % 2]}{k % 4},{('10.11', '10.12', '13.10')[k % 3]},"
    f"{2000 if k in (3, 20) else 40 + k}\n"
    for k in range(40)
)
MOST_FOR_RECORDS = 21


def test_records_are_classified_protected_explained_and_exported(page: Page, tmp_path: Path) -> None:
    """With every click counted: no step needs a page that the one before does not lead to."""
    (tmp_path / "firms.csv").write_text(RECORDS)
    clicks = 0

    def click(target: str | Locator) -> None:
        nonlocal clicks
        (page.get_by_test_id(target) if isinstance(target, str) else target).click()
        clicks += 1

    def pick(field: str, *names: str) -> None:
        click(field)
        for name in names:
            click(page.get_by_role("option", name=name, exact=True))
        if len(names) > 1:
            page.keyboard.press("Escape")
        expect(page.get_by_role("option")).to_have_count(0)

    click(page.get_by_test_id("way-records").locator(".q-item").first)
    with page.expect_file_chooser() as chooser:
        click("open-records")
    chooser.value.set_files(tmp_path / "firms.csv")
    pick("records-by", "district", "nace")
    pick("records-value", "turnover")
    pick("records-respondent", "firm")
    click(page.get_by_role("button", name="Classification of district"))
    pick("tree-column", "region")
    click("tree-use")
    with leads_on(page):
        click("records-tabulate")
    with leads_on(page):
        click("next-step")
    click("recommended-amounts")
    expect(page.get_by_test_id("attackers-count")).to_contain_text("40 respondents")
    expect(page.get_by_test_id("next-step")).to_contain_text("protect them")
    with leads_on(page):
        click("next-step")
    expect(page.get_by_test_id("run-question")).not_to_have_text("…")
    with leads_on(page):
        click("run")
    expect(page.get_by_test_id("verdict-word")).to_have_text("✔ Safe")
    click(page.get_by_test_id("sheet-protected").locator(".sheet-other").first)
    expect(page.get_by_test_id("explained-protects")).to_contain_text("Without it")
    with leads_on(page):
        click("next-step")
    with page.expect_download() as download:
        click("download-publication")
    assert download.value.suggested_filename == "firms-district-by-nace-run-1-publication.zip"
    assert clicks <= MOST_FOR_RECORDS
