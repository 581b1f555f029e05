"""The table screen in a browser: typing, marks, slices, codes, and all about the cell in focus."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from driving import (
    cell,
    choose,
    go,
    leads_on,
    listening,
    open_by,
    open_example,
    open_path,
    reload,
    run,
    unfold,
)
from tacita.cli import main

# Salazar's table: rows I, II, III, Total by columns A, B, C, Total; (II, C) = 22 is sensitive.
SENSITIVE = (1, 2)


@pytest.fixture
def salazar(page: Page) -> Page:
    open_example(page, "salazar")
    expect(cell(page, 3, 3)).to_contain_text("190")
    return page


def enter(page: Page, row: int, column: int, text: str) -> None:
    cell(page, row, column).click()
    page.keyboard.type(text)
    page.keyboard.press("Enter")


def paste(page: Page, text: str) -> None:
    page.evaluate(
        """text => {
            const data = new DataTransfer();
            data.setData("text/plain", text);
            const how = { clipboardData: data, bubbles: true, cancelable: true };
            document.activeElement.dispatchEvent(new ClipboardEvent("paste", how));
        }""",
        text,
    )


def edit_menu(page: Page, item: str) -> None:
    page.get_by_test_id("edit-table").click()
    page.get_by_test_id(item).click()


def codes_of_rows(page: Page) -> Locator:
    return page.get_by_test_id("sheet").locator("[role=rowheader] .sheet-code")


def test_without_a_table_the_way_to_one_is_shown(page: Page) -> None:
    go(page, "table")
    expect(page.get_by_test_id("no-table")).to_contain_text("no table yet")
    with leads_on(page):
        page.get_by_role("link", name="Open, paste, type").click()
    expect(page.get_by_test_id("nav-start")).to_have_attribute("aria-current", "page")


def test_totals_follow_and_undo_leads_back(salazar: Page) -> None:
    enter(salazar, 0, 0, "25")
    expect(cell(salazar, 0, 3)).to_contain_text("85")
    expect(cell(salazar, 3, 0)).to_contain_text("50")
    expect(cell(salazar, 3, 3)).to_contain_text("195")
    salazar.keyboard.press("Control+z")
    expect(cell(salazar, 3, 3)).to_contain_text("190")
    salazar.keyboard.press("Control+y")
    expect(cell(salazar, 3, 3)).to_contain_text("195")
    reload(salazar)
    expect(cell(salazar, 0, 0)).to_contain_text("25")


def test_decimals_may_be_typed_into_amounts(salazar: Page) -> None:
    enter(salazar, 0, 0, "20.25")
    expect(cell(salazar, 3, 3)).to_contain_text("190.25")
    expect(cell(salazar, 0, 1)).to_have_text("50")
    cell(salazar, *SENSITIVE).click()
    expect(salazar.get_by_test_id("cell-levels")).to_contain_text("12")


def test_what_is_no_number_is_refused_by_cell(salazar: Page) -> None:
    enter(salazar, 0, 0, "many")
    expect(salazar.get_by_test_id("notice-error")).to_contain_text(
        "(activity=I, region=A): 'many' is not a number"
    )
    expect(cell(salazar, 0, 0)).to_contain_text("20")
    enter(salazar, 0, 0, "21")
    expect(cell(salazar, 3, 3)).to_contain_text("191")
    expect(salazar.get_by_test_id("notice-error")).to_have_count(0)


def test_a_pasted_block_is_taken_whole_or_not_at_all(salazar: Page) -> None:
    cell(salazar, 0, 0).click()
    paste(salazar, "1\t2\n3\tfour")
    expect(salazar.get_by_test_id("notice-error")).to_contain_text("(activity=II, region=B)")
    expect(cell(salazar, 0, 0)).to_contain_text("20")
    paste(salazar, "1\t2\n3\t4")
    expect(cell(salazar, 0, 0)).to_have_text("1")
    expect(cell(salazar, 1, 1)).to_have_text("4")
    expect(cell(salazar, 3, 3)).to_contain_text("103")


def test_pasted_sums_that_differ_are_told(salazar: Page) -> None:
    cell(salazar, 0, 0).click()
    paste(salazar, "1.000,5\t2\t3\t1.007,5")
    expect(salazar.get_by_test_id("notice-note")).to_contain_text(
        "(activity=I, region=Total): 1.007,5 was pasted, but its parts add up to 1005.5."
    )
    expect(cell(salazar, 0, 3)).to_contain_text("1,005.5")


def test_marks_are_signs_and_can_be_taken_away(salazar: Page) -> None:
    counts = salazar.get_by_test_id("counts")
    expect(counts).to_contain_text("1 sensitive · 1 marked")
    cell(salazar, 0, 0).click()
    salazar.keyboard.press("Shift+ArrowRight")
    expect(salazar.get_by_test_id("cell-value")).to_have_text("20")
    salazar.get_by_test_id("mark-hide").click()
    for column in (0, 1):
        expect(cell(salazar, 0, column)).to_have_accessible_name(re.compile("must be hidden"))
    expect(counts).to_contain_text("1 sensitive · 3 marked")
    salazar.get_by_test_id("mark-sensitive").click()
    expect(counts).to_contain_text("3 sensitive · 3 marked")
    salazar.get_by_test_id("mark-clear").click()
    expect(counts).to_contain_text("1 sensitive · 1 marked")


def test_a_mark_is_for_the_cells_selected_now_however_fast_the_hand(salazar: Page) -> None:
    page = salazar
    cell(page, 0, 0).click()
    expect(page.get_by_test_id("cell-name")).to_have_text("activity=I, region=A")
    # All within one task of the browser: no time for the selection to rest.
    page.get_by_test_id("mark-hide").evaluate(
        """button => {
            const grid = document.activeElement;
            grid.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
            button.focus();
            button.click();
        }"""
    )
    expect(cell(page, 0, 1)).to_have_attribute("data-signs", "✕")
    expect(cell(page, 0, 0)).not_to_have_attribute("data-signs", "✕")


def test_the_cell_that_is_outlined_on_opening_is_the_one_in_focus(salazar: Page) -> None:
    page = salazar
    expect(cell(page, 0, 0)).to_have_class(re.compile("sheet-active"))
    expect(page.get_by_test_id("cell-name")).to_have_text("activity=I, region=A")
    page.get_by_test_id("mark-hide").click()
    expect(cell(page, 0, 0)).to_have_attribute("data-signs", "✕")
    expect(page.get_by_test_id("counts")).to_contain_text("· 2 marked")


def test_levels_are_given_as_amounts(salazar: Page) -> None:
    cell(salazar, 0, 0).click()
    salazar.get_by_test_id("mark-levels").click()
    salazar.get_by_test_id("ask-lower").fill("2")
    salazar.get_by_test_id("ask-upper").fill("3")
    salazar.keyboard.press("Enter")
    expect(salazar.get_by_test_id("cell-levels").locator("dd")).to_have_text(["2", "3", "0"])
    expect(salazar.get_by_test_id("counts")).to_contain_text("2 sensitive")


@pytest.mark.slow
def test_levels_that_are_no_amounts_are_refused(salazar: Page) -> None:
    cell(salazar, 0, 0).click()
    salazar.get_by_test_id("mark-levels").click()
    salazar.get_by_test_id("ask-lower").fill("-2")
    salazar.get_by_test_id("ask-ok").click()
    expect(salazar.get_by_test_id("notice-error")).to_contain_text("zero or more")


@pytest.mark.slow
def test_a_mark_against_a_rule_is_told(page: Page) -> None:
    open_example(page, "nchs")
    cell(page, 0, 0).click()
    expect(page.get_by_test_id("cell-why")).to_contain_text("threshold")
    page.get_by_test_id("mark-publish").click()
    notice = page.get_by_test_id("notice-error")
    expect(notice).to_contain_text("(row=1, column=1): sensitive, yet must be published")
    page.get_by_test_id("mark-clear").click()
    expect(notice).to_have_count(0)


def test_the_panel_tells_why_and_what_is_deduced(salazar: Page) -> None:
    cell(salazar, *SENSITIVE).click()
    panel = salazar.get_by_test_id("cell-panel")
    expect(salazar.get_by_test_id("cell-name")).to_have_text("activity=II, region=C")
    expect(salazar.get_by_test_id("cell-value")).to_have_text("22")
    expect(salazar.get_by_test_id("cell-why")).to_contain_text("marked by hand")
    expect(salazar.get_by_test_id("cell-deduced")).to_have_text("exactly 22: no secret")
    expect(panel).to_contain_text("(activity=II, region=Total) = sum of 3 cells along region")
    cell(salazar, 0, 0).click()
    expect(salazar.get_by_test_id("cell-value")).to_have_text("20")
    expect(salazar.get_by_test_id("cell-deduced")).to_have_count(0)


def test_the_panel_draws_what_is_deduced_of_a_large_value(salazar: Page) -> None:
    enter(salazar, *SENSITIVE, "12345678")
    cell(salazar, *SENSITIVE).click()
    expect(salazar.get_by_test_id("cell-value")).to_have_text("12,345,678")
    expect(salazar.get_by_test_id("cell-deduced")).to_have_text("exactly 12,345,678: no secret")
    picture = salazar.get_by_test_id("cell-interval").locator("svg")
    expect(picture).to_have_attribute("aria-label", re.compile("value 12,345,678"))


@pytest.mark.slow
def test_what_a_run_publishes_can_be_looked_at(salazar: Page) -> None:
    go(salazar, "protect")
    number = run(salazar)
    go(salazar, "table")
    salazar.get_by_role("button", name=f"Run {number} publishes").click()
    expect(cell(salazar, *SENSITIVE)).to_have_text("")
    expect(cell(salazar, *SENSITIVE)).to_have_accessible_name(re.compile("sensitive"))
    shown = " ".join(salazar.get_by_test_id("sheet").get_by_role("gridcell").all_inner_texts())
    assert "22" not in shown.split()
    cell(salazar, *SENSITIVE).click()
    expect(salazar.get_by_test_id("cell-deduced")).to_have_text("0 to 34")
    salazar.get_by_role("button", name="Values").click()
    expect(cell(salazar, *SENSITIVE)).to_have_text("22")
    enter(salazar, 0, 0, "30")
    expect(cell(salazar, 3, 3)).to_contain_text("200")
    expect(salazar.get_by_test_id("show")).to_have_count(0)


@pytest.mark.slow
def test_rows_and_columns_swap_and_stay_swapped(salazar: Page) -> None:
    salazar.get_by_test_id("swap").click()
    expect(cell(salazar, 0, 1)).to_have_text("8")
    expect(codes_of_rows(salazar)).to_have_text(["A", "B", "C", "Total"])
    reload(salazar)
    expect(cell(salazar, 0, 1)).to_have_text("8")


@pytest.mark.slow
def test_codes_are_added_renamed_and_removed(salazar: Page) -> None:
    cell(salazar, 0, 0).click()
    edit_menu(salazar, "add-row")
    salazar.get_by_test_id("ask-code").fill("IV")
    salazar.keyboard.press("Enter")
    expect(cell(salazar, 4, 3)).to_contain_text("190")
    expect(codes_of_rows(salazar)).to_have_text(["I", "II", "III", "IV", "Total"])
    enter(salazar, 3, 0, "10")
    expect(cell(salazar, 4, 3)).to_contain_text("200")
    cell(salazar, 3, 0).click()
    edit_menu(salazar, "rename-row")
    salazar.get_by_test_id("ask-code").fill("last")
    salazar.get_by_test_id("ask-ok").click()
    expect(salazar.get_by_test_id("cell-name")).to_have_text("activity=last, region=A")
    edit_menu(salazar, "remove-rows")
    expect(cell(salazar, 3, 3)).to_contain_text("190")
    expect(salazar.get_by_test_id("counts")).to_contain_text("16 cells (amounts) · 1 sensitive")


@pytest.mark.slow
def test_a_code_is_text_wherever_it_stands(page: Page) -> None:
    """Codes come from files of others: none is taken for an attribute, a script or a template."""
    codes = (
        '" onclick="window.hit=1" :a="window.hit=2',
        "<img src=x onerror=window.hit=3>",
        "{{window.hit=4}}",
    )
    unfold(page, "way-new")
    page.get_by_test_id("new-dimensions").fill(f"place: {', '.join(codes)}\nkind: a, b")
    open_by(page, "new-open")
    for row, code in enumerate(codes):
        cell(page, row, 0).click()
        expect(page.get_by_test_id("cell-name")).to_have_text(f"place={code}, kind=a")
        edit_menu(page, "rename-row")
        expect(page.get_by_role("dialog", name=f"Rename {code}", exact=True)).to_be_visible()
        page.get_by_role("heading", name="Rename").click()
        page.get_by_test_id("ask-cancel").click()
    assert page.evaluate("window.hit") is None


@pytest.mark.slow
def test_a_dimension_is_renamed_where_it_stands(salazar: Page) -> None:
    salazar.get_by_test_id("swap").click()
    expect(cell(salazar, 0, 1)).to_have_text("8")
    edit_menu(salazar, "rename-dimension")
    choose(salazar, "ask-old", "region")
    salazar.get_by_test_id("ask-new").fill("place")
    salazar.get_by_test_id("ask-ok").click()
    expect(salazar.get_by_test_id("sheet")).to_contain_text("place ↓")
    expect(cell(salazar, 0, 1)).to_have_text("8")


@pytest.mark.slow
def test_another_window_is_not_overwritten(salazar: Page) -> None:
    other = salazar.context.new_page()
    other.goto(salazar.url)
    listening(other)
    expect(cell(other, 0, 0)).to_have_text("20")
    enter(salazar, 0, 0, "25")
    expect(cell(salazar, 3, 3)).to_contain_text("195")
    enter(other, 0, 1, "51")
    expect(other.get_by_test_id("notice-note")).to_contain_text("changed in another window")
    expect(cell(other, 0, 0)).to_have_text("25")
    expect(cell(other, 0, 1)).to_have_text("50")
    listening(other)
    enter(other, 0, 1, "51")
    expect(cell(other, 3, 3)).to_contain_text("196")


@pytest.mark.slow
def test_a_table_that_another_window_opened_is_shown_with_its_name(salazar: Page) -> None:
    """Nothing is done to it that was meant for the one before, and nothing is taken back."""
    other = salazar.context.new_page()
    other.goto(salazar.url)
    listening(other)
    expect(other.get_by_test_id("case-name")).to_contain_text("16 cells")
    for act in (lambda: other.get_by_test_id("mark-hide").click(), lambda: other.keyboard.press("Control+z")):
        cell(other, 0, 0).click()
        go(salazar, "start")
        open_example(salazar, "nchs")
        with leads_on(other):
            act()
        expect(other.get_by_test_id("notice-note")).to_contain_text("changed in another window")
        expect(other.get_by_test_id("case-name")).to_contain_text("66 cells")
        expect(other.get_by_test_id("counts")).to_contain_text("66 cells (counts) · 3 sensitive · 0 marked")


@pytest.mark.slow
def test_the_head_of_the_page_counts_the_cells_that_there_are(salazar: Page) -> None:
    cell(salazar, 0, 0).click()
    edit_menu(salazar, "add-row")
    salazar.get_by_test_id("ask-code").fill("IV")
    salazar.keyboard.press("Enter")
    expect(salazar.get_by_test_id("case-name")).to_contain_text("· 20 cells")


@pytest.mark.slow
def test_an_exempt_cell_is_seen_counted_and_explained(page: Page) -> None:
    open_example(page, "nchs")
    legend = page.get_by_test_id("legend-exempt")
    expect(page.get_by_test_id("counts")).to_contain_text("3 sensitive")
    expect(legend).to_have_count(0)
    cell(page, 0, 0).click()
    page.get_by_test_id("mark-safe").click()
    expect(cell(page, 0, 0)).to_have_attribute("data-signs", "□")
    expect(cell(page, 0, 0)).to_have_accessible_name("1, exempt by hand")
    expect(legend).to_contain_text("exempt by hand: 1")
    expect(page.get_by_test_id("cell-why")).to_contain_text("threshold 5")
    page.get_by_test_id("mark-clear").click()
    expect(cell(page, 0, 0)).to_have_accessible_name("1, sensitive")
    expect(legend).to_have_count(0)


@pytest.mark.slow
def test_a_slice_of_a_cube_is_chosen_and_typed_into(page: Page) -> None:
    unfold(page, "way-new")
    page.get_by_test_id("new-dimensions").fill("region: N, S\nsex: f, m\nyear: 2024, 2025")
    open_by(page, "new-open")
    expect(cell(page, 0, 0)).to_have_attribute("aria-readonly", "true")
    choose(page, "slicer-year", "2025")
    expect(cell(page, 0, 0)).to_have_attribute("aria-readonly", "false")
    enter(page, 0, 0, "7")
    expect(cell(page, 2, 2)).to_contain_text("7")
    choose(page, "slicer-year", "2024")
    expect(cell(page, 0, 0)).to_have_text("0")
    choose(page, "slicer-year", "Total")
    expect(cell(page, 0, 0)).to_contain_text("7")


def four_dimensions(folder: Path) -> Path:
    """Leaves 1, 2, ..., 16 by region, sex, age and year."""
    codes = product("NS", "fm", ("young", "old"), ("2024", "2025"))
    rows = [f"{','.join(key)},{number}" for number, key in enumerate(codes, start=1)]
    path = folder / "four.csv"
    path.write_text("\n".join(["region,sex,age,year,value", *rows]), encoding="utf-8")
    return path


@pytest.mark.slow
def test_sensitive_cells_are_found_in_whatever_slice_they_are(page: Page, tmp_path: Path) -> None:
    open_path(page, four_dimensions(tmp_path))
    expect(page.get_by_test_id("next-sensitive")).to_be_disabled()
    for age, year, place, value in (("young", "2025", (0, 1), "6"), ("old", "2024", (1, 0), "11")):
        choose(page, "slicer-age", age)
        choose(page, "slicer-year", year)
        expect(cell(page, *place)).to_have_text(value)
        cell(page, *place).click()
        page.get_by_test_id("mark-sensitive").click()
        expect(cell(page, *place)).to_have_accessible_name(f"{value}, sensitive")
    choose(page, "slicer-age", "Total")
    choose(page, "slicer-year", "Total")
    expect(page.get_by_test_id("sheet").get_by_role("gridcell", name="sensitive")).to_have_count(0)

    first, second = "region=N, sex=m, age=young, year=2025", "region=S, sex=f, age=old, year=2024"
    for step, number, name, age, year, place in (
        ("next", 1, first, "young", "2025", (0, 1)),
        ("next", 2, second, "old", "2024", (1, 0)),
        ("next", 1, first, "young", "2025", (0, 1)),
        ("previous", 2, second, "old", "2024", (1, 0)),
    ):
        page.get_by_test_id(f"{step}-sensitive").click()
        expect(page.locator(".sheet-message")).to_have_text(f"Sensitive cell {number} of 2: {name}.")
        expect(page.get_by_test_id("slicer-age")).to_have_value(age)
        expect(page.get_by_test_id("slicer-year")).to_have_value(year)
        expect(cell(page, *place)).to_have_class(re.compile("sheet-active"))
        expect(page.get_by_test_id("cell-name")).to_have_text(name)
        expect(page.get_by_test_id("sheet").get_by_role("grid")).to_be_focused()
    page.keyboard.press("Alt+PageUp")
    expect(page.get_by_test_id("cell-name")).to_have_text(first)
    page.keyboard.press("Alt+PageDown")
    expect(page.get_by_test_id("cell-name")).to_have_text(second)


@pytest.mark.slow
def test_a_sensitive_cell_that_is_folded_away_is_unfolded(page: Page) -> None:
    unfold(page, "way-generate")
    page.get_by_test_id("generate-levels").fill("2, 1")
    open_by(page, "generate-open")
    rows = codes_of_rows(page)
    expect(page.get_by_test_id("next-sensitive")).to_be_enabled()
    choose(page, "levels-rows", "total only")
    expect(rows).to_have_count(1)
    page.get_by_test_id("sheet").get_by_role("gridcell").first.click()
    page.get_by_test_id("next-sensitive").click()
    expect(page.locator(".sheet-active")).to_have_accessible_name(re.compile("sensitive"))
    expect(page.get_by_test_id("cell-panel")).to_contain_text("■ sensitive")
    assert rows.count() > 1


@pytest.mark.slow
def test_what_was_taken_as_counts_is_made_amounts_where_the_notice_says(page: Page, tmp_path: Path) -> None:
    open_path(page, four_dimensions(tmp_path))
    notice = page.get_by_test_id("notice-note")
    expect(notice).to_contain_text("taken as counts; if they are amounts, say so below")
    for button in (page.get_by_test_id("edit-table"), page.get_by_test_id("kind")):
        button.click()
        expect(notice).to_contain_text(button.inner_text().split("\n")[0].strip("…"))
    choose(page, "ask-kind", "amounts")
    page.get_by_test_id("ask-ok").click()
    expect(page.get_by_test_id("counts")).to_contain_text("(amounts)")


def test_a_list_has_one_column(page: Page) -> None:
    open_example(page, "tiwari-1")
    enter(page, 0, 0, "13")
    expect(cell(page, 10, 0)).to_contain_text("233")


@pytest.mark.slow
def test_cells_without_dimensions_are_listed_by_label(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "system.jj"
    assert main(["generate", "table", "--shape", "3,3", "--family", "uniform", "--out", str(path)]) == 0
    open_path(page, path)
    sums = page.get_by_test_id("sheet").locator("[role=gridcell][aria-readonly=true]")
    expect(sums).to_have_count(7)
    leaf = page.get_by_test_id("sheet").locator("[role=gridcell][aria-readonly=false]").first
    leaf.click()
    expect(page.get_by_test_id("cell-name")).to_contain_text("cell ")
    edit_menu(page, "add-row")
    expect(page.get_by_test_id("notice-error")).to_contain_text("no dimension along its rows")


@pytest.mark.slow
def test_linked_tables_are_chosen_by_name(page: Page, tmp_path: Path) -> None:
    (tmp_path / "sex.csv").write_text("region,sex,value\nN,f,1\nN,m,2\nS,f,3\nS,m,4\n")
    (tmp_path / "age.csv").write_text("region,age,value\nN,young,2\nN,old,1\nS,young,3\nS,old,4\n")
    project = tmp_path / "project.toml"
    project.write_text(
        '[tables.sex]\nfile = "sex.csv"\nby = { region = "", sex = "" }\nvalue = "value"\n'
        '[tables.age]\nfile = "age.csv"\nby = { region = "", age = "" }\nvalue = "value"\n'
    )
    open_path(page, project)
    expect(cell(page, 0, 1)).to_have_text("2")
    choose(page, "arrange-table", "age")
    expect(cell(page, 0, 0)).to_have_text("2")
    expect(page.get_by_test_id("sheet")).to_contain_text("age →")


@pytest.mark.slow
def test_a_table_from_records_names_contributors_and_is_typed_over_without_them(
    page: Page, tmp_path: Path
) -> None:
    (tmp_path / "firms.csv").write_text("firm,region,turnover\nHill,N,90\nBrook,N,10\nMoor,S,11\nDale,S,12\n")
    project = tmp_path / "project.toml"
    project.write_text(
        '[table]\nmicrodata = "firms.csv"\nby = { region = "" }\nvalue = "turnover"\nrespondent = "firm"\n'
    )
    open_path(page, project)
    cell(page, 0, 0).click()
    expect(page.get_by_test_id("cell-contributors")).to_contain_text("2 respondents")
    expect(page.get_by_test_id("cell-contributors").locator("dt").first).to_have_text("Hill")
    expect(page.get_by_test_id("cell-contributors").locator("dd").first).to_have_text("90 (90.0 %)")
    enter(page, 0, 0, "120")
    expect(page.get_by_test_id("notice-error")).to_contain_text("come from records")
    expect(cell(page, 2, 0)).to_contain_text("123")
    edit_menu(page, "forget-contributors")
    expect(page.get_by_test_id("cell-contributors")).to_have_count(0)
    enter(page, 0, 0, "120")
    expect(cell(page, 2, 0)).to_contain_text("143")


@pytest.mark.slow
def test_what_is_folded_stays_folded_when_cells_change(page: Page) -> None:
    unfold(page, "way-generate")
    page.get_by_test_id("generate-levels").fill("2, 1")
    open_by(page, "generate-open")
    codes = codes_of_rows(page)
    deepest = codes.first.inner_text()
    choose(page, "levels-rows", "1 below the total")
    expect(codes.first).not_to_have_text(deepest)
    folded = codes.all_inner_texts()
    page.get_by_test_id("sheet").get_by_role("gridcell").first.click()
    expect(page.get_by_test_id("cell-name")).to_be_visible()
    page.get_by_test_id("mark-hide").click()
    expect(page.get_by_test_id("counts")).to_contain_text("· 1 marked")
    expect(codes).to_have_text(folded)
    expect(page.get_by_test_id("levels-rows")).to_have_value("1 below the total")
