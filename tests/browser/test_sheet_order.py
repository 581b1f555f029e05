"""How numbers and totals stand in the sheet: thousands apart for the eye only, totals after or before."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from driving import cell, choose, go, open_example, reload, result, run

COPIED = """() => {
    const data = new DataTransfer();
    document.activeElement.dispatchEvent(
        new ClipboardEvent('copy', {clipboardData: data, bubbles: true, cancelable: true}));
    return data.getData('text/plain');
}"""


def test_thousands_are_separated_on_the_page_and_nowhere_else(page: Page) -> None:
    open_example(page, "nchs")
    total = cell(page, 10, 5)
    expect(total).to_have_text("26,586")
    total.click()
    assert page.evaluate(COPIED) == "26586"
    cell(page, 0, 1).click()
    page.keyboard.type("12345")
    page.keyboard.press("Enter")
    expect(cell(page, 0, 1)).to_have_text("12,345")
    cell(page, 0, 1).dblclick()
    expect(page.locator(".sheet-editor")).to_have_value("12345")
    page.keyboard.press("Escape")
    cell(page, 0, 1).click()
    page.keyboard.press("Shift+ArrowDown")
    expect(page.locator(".sheet-summary")).to_have_text("2 × 1 cells, sum 13,087")


@pytest.mark.slow
def test_totals_stand_before_their_parts_on_all_pages_if_the_user_likes(page: Page) -> None:
    open_example(page, "nchs")
    expect(cell(page, 10, 5)).to_have_text("26,586")
    choose(page, "arrange-totals", "before their parts")
    expect(cell(page, 0, 0)).to_have_text("26,586")
    cell(page, 1, 2).click()
    page.keyboard.type("400")
    page.keyboard.press("Enter")
    expect(cell(page, 0, 0)).to_have_text("26,677")
    reload(page)
    expect(cell(page, 0, 0)).to_have_text("26,677")
    go(page, "protect")
    run(page)
    result(page, 1)
    for sheet in ("sheet-original", "sheet-protected"):
        expect(cell(page, 0, 0, sheet)).to_have_text("26,677")
    choose(page, "arrange-totals", "after their parts")
    for sheet in ("sheet-original", "sheet-protected"):
        expect(cell(page, 10, 5, sheet)).to_have_text("26,677")
