"""Why a cell is hidden: a click or Enter on a cell of the result explains it, and marks its partners."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, StorageState, expect

from access import complaints
from driving import Prepare, cell, new_table, result, run_method, type_numbers

NUMBERS = [[20, 50, 10], [8, 19, 22], [17, 32, 12]]


@pytest.fixture(scope="module")
def square_run(prepare: Prepare) -> StorageState:
    """A table of three by three with one sensitive cell, which three others protect."""

    def steps(page: Page) -> None:
        new_table(page, 3, 3, "counts")
        type_numbers(page, NUMBERS)
        cell(page, 1, 0).click()
        page.get_by_test_id("mark-sensitive").click()
        expect(page.get_by_test_id("counts")).to_contain_text("1 sensitive")
        run_method(page, "suppression", 1)
        result(page, 1)

    return prepare(steps)


@pytest.fixture
def square(square_run: StorageState, new_page: Callable[..., Page]) -> Page:
    return new_page(square_run, "/result")


def find_secondary(page: Page) -> tuple[int, int]:
    """Place of a secondary cell among the inner ones."""
    for row in range(3):
        for column in range(3):
            if "sheet-other" in str(cell(page, row, column, "sheet-protected").get_attribute("class")):
                return row, column
    raise AssertionError("nothing is hidden besides the sensitive cell")


def test_a_click_on_a_secondary_names_and_marks_what_it_protects(square: Page) -> None:
    page = square
    expect(page.get_by_test_id("explain-hint")).to_be_visible()
    expect(cell(page, 1, 0, "sheet-protected")).to_have_class(re.compile("sheet-sensitive"))
    row, column = find_secondary(page)
    cell(page, row, column, "sheet-protected").click()
    expect(page.get_by_test_id("explained-protects")).to_contain_text("would be known exactly to an outsider")
    expect(page.get_by_test_id("explained-value")).to_have_text(f"True value: {NUMBERS[row][column]}")
    expect(page.get_by_test_id("explain-hint")).to_be_hidden()
    for sheet in ("sheet-original", "sheet-protected"):
        marked = page.get_by_test_id(sheet).locator(".sheet-protected")
        expect(marked).to_have_count(1)
        expect(cell(page, 1, 0, sheet)).to_have_accessible_name(re.compile("protected by the cell that is"))
    assert complaints(page) == []


def test_enter_explains_a_primary_and_escape_gives_the_focus_back(square: Page) -> None:
    page = square
    cell(page, 0, 0, "sheet-original").click()
    expect(page.get_by_test_id("explained-shown")).to_contain_text("Published as it is: 20")
    expect(page.locator(".sheet-protecting")).to_have_count(0)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    panel = page.get_by_test_id("explanation")
    expect(panel).to_be_focused()
    expect(page.get_by_test_id("explained-sensitive")).to_contain_text("levels:")
    expect(page.get_by_test_id("explained-protected").get_by_role("button")).to_have_count(3)
    expect(page.get_by_test_id("explained-protected")).to_contain_text("◆ in the sheets, outlined")
    expect(page.get_by_test_id("sheet-original").locator(".sheet-protecting")).to_have_count(3)
    expect(page.get_by_test_id("explained-deduced").locator("svg")).to_be_visible()
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(page.get_by_test_id("sheet-original").get_by_role("grid")).to_be_focused()
    expect(cell(page, 1, 0, "sheet-original")).to_have_class(re.compile("sheet-active"))
    expect(page.locator(".sheet-protecting")).to_have_count(0)


def test_names_in_the_explanation_lead_to_cells_and_marks_outlive_another_view(square: Page) -> None:
    page = square
    cell(page, 1, 0, "sheet-protected").click()
    first = page.get_by_test_id("explained-protected").get_by_role("button").first
    name = first.inner_text()
    page.get_by_test_id("beside-way").get_by_text("Difference").click()
    expect(page.get_by_test_id("sheet-difference").locator(".sheet-protecting")).to_have_count(3)
    first.click()
    expect(page.get_by_test_id("sheet-difference").locator(".sheet-message")).to_have_text(f"{name}.")
    page.get_by_test_id("explanation-close").click()
    expect(page.get_by_test_id("explanation")).to_be_hidden()


def test_the_explanation_is_scrolled_to_and_the_sheet_keeps_the_focus(square: Page) -> None:
    square.set_viewport_size({"width": 1366, "height": 500})
    square.evaluate("() => window.scrollTo(0, 0)")
    clicked = cell(square, 1, 0, "sheet-original")
    clicked.click()
    expect(square.get_by_test_id("explained-deduced")).to_be_in_viewport()
    assert square.evaluate("() => document.activeElement.closest('[data-testid=sheet-original]') !== null")
