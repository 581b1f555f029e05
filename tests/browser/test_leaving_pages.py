"""What is done on a page just before it is left is kept, and so is what is done on the next one at once."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from driving import cell, enter, go, leads_on, open_example
from running_server import SLOW_LINE, RunningServer

TRIES = 6


def type_and_leave(page: Page, tries: int) -> None:
    """Type a number into a rule, leave for the table at once, type a number there, and so on."""
    open_example(page, "nchs")
    go(page, "rules")
    for k in range(tries):
        number, value = str(20 + k), str(700 + k)
        field = page.get_by_test_id("rule-1-n")
        field.click()
        field.press("Control+a")
        page.keyboard.type(number)
        with leads_on(page):
            page.get_by_test_id("nav-table").click()
        cell(page, 0, 0).click()
        page.keyboard.type(value)
        # The entry ends when the sheet loses the focus to the link.
        with leads_on(page):
            page.get_by_test_id("nav-rules").click()
        field = page.get_by_test_id("rule-1-n")
        expect(page.get_by_test_id("notice-note")).to_have_count(0)
        expect(field).to_have_value(number)
        with leads_on(page):
            page.get_by_test_id("nav-table").click()
        expect(cell(page, 0, 0)).to_contain_text(value)
        go(page, "rules")


@pytest.mark.slow
def test_numbers_typed_just_before_a_page_is_left_are_kept(page: Page) -> None:
    type_and_leave(page, TRIES)


@pytest.mark.slow
def test_they_are_kept_behind_a_slow_line(
    monkeypatch: pytest.MonkeyPatch,
    new_context: Callable[..., BrowserContext],
    start_server: Callable[..., RunningServer],
) -> None:
    monkeypatch.setenv("TACITA_TEST_LAG", "0.15")
    server = start_server(program=(str(SLOW_LINE),))
    type_and_leave(enter(new_context(), server.first_address), TRIES)
