"""Records in a browser: dropped, chosen or opened by their path, tabulated, and protected by a rule on who
stands behind the cells.
"""

from __future__ import annotations

import io
from pathlib import Path

import pyarrow.csv
import pytest
from playwright.sync_api import Page, expect

from access import complaints
from driving import add_rule, choose, downloaded, go, leads_on, open_by, reload, run, unfold
from tacita.formats.hierarchy import write_hierarchy
from tacita.generate import microdata

MADE = microdata(600, {"region": (6, 2), "size": (3, 1)}, respondents=200, seed=7)
DROP = """([name, content]) => {
    const data = new DataTransfer();
    data.items.add(new File([content], name));
    return data;
}"""


def as_csv() -> str:
    written = io.BytesIO()
    pyarrow.csv.write_csv(MADE.records, written)
    return written.getvalue().decode()


def drop(page: Page, where: str, content: str) -> None:
    data = page.evaluate_handle(DROP, ["firms.csv", content])
    page.dispatch_event(where, "dragover", {"dataTransfer": data})
    page.dispatch_event(where, "drop", {"dataTransfer": data})


def choose_columns(page: Page, *names: str) -> None:
    """Columns that make the table, in this order."""
    page.get_by_test_id("records-by").click()
    for name in names:
        option = page.get_by_role("option", name=name, exact=True)
        option.click()
        expect(option).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Escape")
    expect(page.get_by_role("option")).to_have_count(0)


def leave_out_column(page: Page, name: str) -> None:
    """Make the table without one of its columns."""
    page.get_by_test_id("records-by").click()
    option = page.get_by_role("option", name=name, exact=True)
    option.click()
    expect(option).to_have_attribute("aria-selected", "false")
    page.keyboard.press("Escape")
    expect(page.get_by_role("option")).to_have_count(0)


def fill_in(page: Page) -> None:
    choose_columns(page, "size", "region")
    choose(page, "records-value", "value")
    choose(page, "records-respondent", "respondent")


def protect_records(page: Page) -> None:
    """Tabulate the records at hand and protect the table."""
    fill_in(page)
    open_by(page, "records-tabulate")
    go(page, "rules")
    add_rule(page, "p-percent", "p-percent(10)")
    go(page, "protect")
    run(page, state="safe")


def test_dropped_records_are_tabulated_and_protected(page: Page) -> None:
    drop(page, "[data-testid=way-records]", as_csv())
    columns = page.get_by_test_id("records-columns")
    expect(columns.get_by_role("row", name="region text 6")).to_be_visible()
    expect(columns.get_by_role("row", name="respondent numbers 200")).to_be_visible()
    page.get_by_test_id("records-tabulate").click()
    expect(page.get_by_test_id("notice-error")).to_contain_text("choose at least one")
    fill_in(page)
    # One action is primary.
    expect(page.locator(".q-btn.bg-primary:visible")).to_have_text(["Tabulate"])
    page.get_by_test_id("records-more").get_by_text("More").click()
    expect(page.get_by_test_id("records-where")).to_be_visible()
    assert complaints(page) == []
    # What was chosen outlives a reload.
    reload(page)
    open_by(page, "records-tabulate")
    expect(page.get_by_test_id("notice-note")).to_contain_text("600 records tabulated")
    expect(page.get_by_test_id("arrange-rows")).to_have_value("size")
    go(page, "rules")
    add_rule(page, "p-percent", "p-percent(10)")
    expect(page.get_by_test_id("sensitive-count")).not_to_have_text("0")
    go(page, "protect")
    run(page, state="safe")
    go(page, "start")
    page.get_by_test_id("records-away").click()
    expect(page.get_by_test_id("records")).to_have_count(0)


def test_rules_say_which_column_would_tell_the_holdings(page: Page) -> None:
    drop(page, "[data-testid=way-records]", as_csv())
    fill_in(page)
    open_by(page, "records-tabulate")
    go(page, "rules")
    unfold(page, "unknown-insiders")
    expect(page.get_by_test_id("unknown-insiders")).to_contain_text(
        "tabulated without a column of holdings; if they have one, choose it under Holding or group"
    )


@pytest.mark.slow
def test_runs_stay_with_the_table_that_was_tabulated(page: Page) -> None:
    drop(page, "[data-testid=way-records]", as_csv())
    protect_records(page)
    go(page, "start")
    expect(page.get_by_test_id("open-now")).to_contain_text("1 run")
    leave_out_column(page, "size")
    open_by(page, "records-tabulate")
    first = "firms (value, size by region)"
    expect(page.get_by_test_id("notice-note")).to_contain_text(f"1 run of {first} stays with that table")
    go(page, "start")
    expect(page.get_by_test_id("open-now")).to_contain_text("1 run of other tables")
    go(page, "protect")
    expect(page.get_by_test_id("other-runs")).to_contain_text("1 run of other tables")
    for screen in ("result", "export"):
        go(page, screen)
        expect(page.get_by_test_id("no-run")).to_contain_text("There is no run of this table yet.")
        expect(page.get_by_test_id("verdict")).to_have_count(0)
    go(page, "compare")
    expect(page.get_by_test_id("nothing-to-compare")).to_contain_text("No run of this table is over yet.")
    expect(page.get_by_test_id("compared-0")).to_contain_text(f"Runs of another table: {first}")
    with leads_on(page):
        page.get_by_test_id("open-1").click()
    expect(page.get_by_test_id("earlier-case")).to_contain_text(f"are of {first}: another table")


@pytest.mark.slow
def test_a_table_that_turns_out_to_be_records_leads_to_them(page: Page) -> None:
    drop(page, ".top", "region,value\nN,1\nN,2\nS,4\n")
    note = page.get_by_test_id("notice-note")
    expect(note).to_contain_text("These look like records: cell (region=N) is given more than once")
    expect(note).to_contain_text("If it is a table, keep one row per cell.")
    expect(page.get_by_test_id("notice-error")).to_have_count(0)
    choose_columns(page, "region")
    open_by(page, "records-tabulate")
    expect(page.get_by_test_id("case-name")).to_have_text("firms · 3 cells")


def test_rows_about_firms_are_taken_for_records_and_can_be_a_table(page: Page) -> None:
    drop(page, ".top", "firm,region,turnover,staff\nx,N,10,3\ny,S,20,1\nz,S,40,2\n")
    note = page.get_by_test_id("notice-note")
    expect(note).to_contain_text("These look like records: every row has a 'firm' of its own.")
    expect(note).not_to_contain_text("project.toml")
    expect(page.get_by_test_id("notice-error")).to_have_count(0)
    expect(page.get_by_role("combobox", name="Respondent")).to_have_value("firm")
    # Only numbers are offered as values.
    page.get_by_test_id("records-value").click()
    expect(page.get_by_role("option")).to_have_text(["count the respondents", "turnover", "staff"])
    page.keyboard.press("Escape")
    expect(page.get_by_role("option")).to_have_count(0)
    with leads_on(page):
        page.get_by_role("button", name="It is a table: the values are in turnover, without staff").click()
    expect(page.get_by_test_id("case-name")).to_have_text("firms · 9 cells")


@pytest.mark.slow
def test_rows_with_several_numbers_are_offered_as_records(page: Page) -> None:
    drop(page, ".top", "firm,region,turnover,staff\nx,N,1,3\nx,S,2,1\ny,S,4,2\n")
    expect(page.get_by_test_id("notice-error")).to_contain_text("which column holds the values")
    page.get_by_role("button", name="Tabulate its records").last.click()
    choose_columns(page, "region")
    expect(page.get_by_test_id("notice-error")).to_have_count(0)
    choose(page, "records-value", "turnover")
    open_by(page, "records-tabulate")
    expect(page.get_by_test_id("case-name")).to_have_text("firms · 3 cells")


@pytest.mark.slow
def test_numbers_with_a_decimal_comma(page: Page) -> None:
    drop(page, "[data-testid=way-records]", "region;value\nN;1,5\nN;2\nS;4\n")
    expect(page.get_by_test_id("records-columns").get_by_role("row", name="value text")).to_be_visible()
    choose_columns(page, "region")
    choose(page, "records-value", "value")
    page.get_by_test_id("records-more").get_by_text("More").click()
    choose(page, "records-decimal", "comma: 1,5")
    expect(page.get_by_test_id("records-columns").get_by_role("row", name="value numbers")).to_be_visible()
    open_by(page, "records-tabulate")
    expect(page.get_by_test_id("sheet")).to_contain_text("7.5")


@pytest.mark.slow
def test_records_by_their_path_stay_where_they_are(page: Page, tmp_path: Path) -> None:
    (tmp_path / "firms.csv").write_text(as_csv())
    write_hierarchy(MADE.hierarchies["region"], tmp_path / "region.csv")
    unfold(page, "way-path")
    page.get_by_test_id("path").fill(str(tmp_path / "firms.csv"))
    page.get_by_test_id("path-records").click()
    expect(page.get_by_test_id("records")).to_contain_text("Use region.csv")
    protect_records(page)
    go(page, "export")
    project = downloaded(page, "download-internal")["internal/project.toml"].decode()
    assert f'microdata = "{tmp_path / "firms.csv"}"' in project
    assert 'rule = "p-percent(10)"' in project
    assert str(tmp_path / "region.csv") in project


def test_numbers_that_may_be_in_thousands_are_asked_for(page: Page) -> None:
    drop(page, "[data-testid=way-records]", "region;value\nN;95\nN;1.204\nS;300\n")
    choose_columns(page, "region")
    choose(page, "records-value", "value")
    page.get_by_test_id("records-tabulate").click()
    expect(page.get_by_test_id("notice-error")).to_contain_text("'1.204' may be in thousands")
    page.get_by_role("button", name="Decimal sign").click()
    choose(page, "records-decimal", "comma: 1,5")
    # The form is there anew, folded.
    expect(page.get_by_test_id("records-decimal")).not_to_be_visible()
    open_by(page, "records-tabulate")
    expect(page.get_by_test_id("sheet")).to_contain_text("1,599")
