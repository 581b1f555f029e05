"""What a person does in the browser, by name: for tests that go from one screen to the next."""

from __future__ import annotations

from collections.abc import Sequence

from playwright.sync_api import Locator, Page, expect

PATIENCE = 30_000
"""Milliseconds that a run may take on a busy machine."""


def go(page: Page, screen: str) -> None:
    """Follow the link in the head of the page."""
    page.get_by_test_id(f"nav-{screen}").click()
    expect(page.get_by_test_id(f"nav-{screen}")).to_have_attribute("aria-current", "page")


def new_table(page: Page, rows: int, columns: int, kind: str, decimals: int = 0) -> None:
    """A table of zeros to type into; ``kind`` is ``counts`` or ``amounts``."""
    page.get_by_test_id("new-rows").fill(str(rows))
    page.get_by_test_id("new-columns").fill(str(columns))
    choose(page, "new-kind", kind)
    if decimals:
        page.get_by_test_id("new-decimals").fill(str(decimals))
    page.get_by_test_id("new-open").click()
    page.wait_for_url("**/table")


def type_numbers(page: Page, numbers: Sequence[Sequence[float]]) -> None:
    """Type numbers row by row from the first cell on, with the keyboard alone."""
    expect(cell(page, 0, 0)).to_be_visible()
    cell(page, 0, 0).click()
    for row in numbers:
        for number in row:
            page.keyboard.type(f"{number:g}")
            page.keyboard.press("Tab")
        page.keyboard.press("Home")
        page.keyboard.press("ArrowDown")
    last = f"{numbers[-1][-1]:g}"
    expect(cell(page, len(numbers) - 1, len(numbers[-1]) - 1)).to_contain_text(last)


def cell(page: Page, row: int, column: int, sheet: str = "sheet") -> Locator:
    """A cell of a sheet by its place, counted from zero."""
    line = page.get_by_test_id(sheet).locator(f'[role=row][aria-rowindex="{row + 2}"]')
    return line.locator(f'[role=gridcell][aria-colindex="{column + 2}"]')


def choose(page: Page, field: str, what: str) -> None:
    """Pick from a list."""
    page.get_by_test_id(field).click()
    page.get_by_role("option", name=what, exact=True).click()


def add_rule(page: Page, kind: str, written: str) -> None:
    """A further rule, given by its written form."""
    choose(page, "add-rule", kind)
    field = page.get_by_test_id("rule-1-text")
    field.fill(written)
    field.blur()


def run(page: Page, shortcut: str = "", *, state: str = "safe") -> int:
    """Run what the form says, after a shortcut if one is named; the number of the run."""
    if shortcut:
        choose(page, "preset", shortcut)
    number = 1 + page.locator("[data-testid^=run-][data-testid$=-state]").count()
    page.get_by_test_id("run").click()
    expect(page.get_by_test_id(f"run-{number}-state")).to_contain_text(state, timeout=PATIENCE)
    return number


def result(page: Page, number: int) -> None:
    """Look at what a run found."""
    page.get_by_test_id(f"run-{number}-result").click()
    page.wait_for_url("**/result")
    expect(page.get_by_test_id("verdict-word")).to_be_visible()


def numbers_of(page: Page, sheet: str, rows: int, columns: int) -> list[list[str]]:
    """What a sheet shows, without the signs."""
    expect(cell(page, 0, 0, sheet)).to_be_visible()
    return [[cell(page, r, c, sheet).inner_text().strip() for c in range(columns)] for r in range(rows)]


def open_example(page: Page, name: str) -> None:
    """Begin with an example; the page is Table afterwards."""
    page.get_by_test_id("nav-start").click()
    page.get_by_test_id(f"example-{name}").click()
    page.wait_for_url("**/table")
    expect(page.get_by_test_id("case-name")).to_be_visible()


def run_method(page: Page, method: str, number: int, state: str = "✔ safe", **options: str | bool) -> None:
    """Run a method and wait until it is over; ``number`` is the run's."""
    page.get_by_test_id("nav-protect").click()
    # By way of another method, so that it is seen when the form of this one is there.
    for name in ("mixture", method):
        page.get_by_test_id(f"method-{name}").click()
        expect(page.get_by_test_id("method-name")).to_have_text(name)
    for name, value in options.items():
        field = page.get_by_test_id(f"option-{name}")
        if isinstance(value, bool):
            field.click()
        else:
            field.fill(value)
            expect(field).to_have_value(value)
    page.get_by_test_id("run").click()
    expect(page.get_by_test_id(f"run-{number}-state")).to_have_text(state, timeout=PATIENCE)
