"""What a person does in the browser, by name: for tests that go from one screen to the next.

Whatever leads to another page goes through :func:`leads_on`, so that nothing is done on a page that is about
to be left, or on one that does not listen yet.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, Locator, Page, StorageState, expect

Prepare = Callable[[Callable[[Page], None]], StorageState]
"""Takes steps in a session of their own; the session, to go on in."""
PATIENCE = 120_000
"""Milliseconds that anything may take: a busy machine is no defect of the page, and the first run of a fresh
checkout compiles."""


def listening(page: Page) -> None:
    """Wait until the page is there and what is done on it is heard, at once and in order."""
    page.wait_for_function("() => !window.isLeft && window.did_handshake")


def enter(context: BrowserContext, address: str) -> Page:
    """A page at this address, once it listens."""
    page = context.new_page()
    page.goto(address)
    listening(page)
    return page


@contextmanager
def leads_on(page: Page) -> Iterator[None]:
    """What is done inside leads to another page, or to this one anew: afterwards that one listens."""
    page.evaluate("() => { window.isLeft = true; }")
    yield
    listening(page)


def go(page: Page, screen: str) -> None:
    """Follow the link in the head of the page."""
    with leads_on(page):
        page.get_by_test_id(f"nav-{screen}").click()
    expect(page.get_by_test_id(f"nav-{screen}")).to_have_attribute("aria-current", "page")


def reload(page: Page) -> None:
    """What F5 does."""
    with leads_on(page):
        page.reload()


def undo(page: Page) -> None:
    """The button in the head of every page."""
    with leads_on(page):
        page.get_by_test_id("undo").click()


def open_example(page: Page, name: str) -> None:
    """Begin with an example, from whatever page; it is Table afterwards."""
    if urlsplit(page.url).path != "/":
        go(page, "start")
    unfold(page, "way-examples")
    open_by(page, f"example-{name}")


def open_path(page: Page, path: Path) -> None:
    """Begin with a file of this machine, from the page Start; the page is Table afterwards."""
    unfold(page, "way-path")
    page.get_by_test_id("path").fill(str(path))
    open_by(page, "path-open")


def open_by(page: Page, button: str) -> None:
    """Press what opens a table; the page is Table afterwards, and the table on it."""
    with leads_on(page):
        page.get_by_test_id(button).click()
    page.wait_for_url("**/table")
    expect(page.get_by_test_id("sheet").get_by_role("gridcell").first).to_be_visible()


def new_table(page: Page, rows: int, columns: int, kind: str, decimals: int = 0) -> None:
    """A table of zeros to type into; ``kind`` is ``counts`` or ``amounts``."""
    unfold(page, "way-new")
    page.get_by_test_id("new-rows").fill(str(rows))
    page.get_by_test_id("new-columns").fill(str(columns))
    choose(page, "new-kind", kind)
    if decimals:
        page.get_by_test_id("new-decimals").fill(str(decimals))
    open_by(page, "new-open")


def type_numbers(page: Page, numbers: Sequence[Sequence[float]]) -> None:
    """Type numbers row by row from the first cell on, with the keyboard alone."""
    cell(page, 0, 0).click()
    for row in numbers:
        for number in row:
            page.keyboard.type(f"{number:g}")
            page.keyboard.press("Tab")
        page.keyboard.press("Home")
        page.keyboard.press("ArrowDown")
    last = f"{numbers[-1][-1]:,g}"
    expect(cell(page, len(numbers) - 1, len(numbers[-1]) - 1)).to_contain_text(last)


def cell(page: Page, row: int, column: int, sheet: str = "sheet") -> Locator:
    """A cell of a sheet by its place, counted from zero."""
    line = page.get_by_test_id(sheet).locator(f'[role=row][aria-rowindex="{row + 2}"]')
    return line.locator(f'[role=gridcell][aria-colindex="{column + 2}"]')


def choose(page: Page, field: str, what: str) -> None:
    """Pick from a list; it is closed afterwards."""
    page.get_by_test_id(field).click()
    page.get_by_role("option", name=what, exact=True).click()
    expect(page.get_by_role("option")).to_have_count(0)


def choose_run(page: Page, title: str) -> None:
    """Another run than the one that Result or Export shows."""
    with leads_on(page):
        choose(page, "choose-run", title)


def pick_rule(page: Page, kind: str) -> None:
    """A further rule of a kind, from the list."""
    unfold(page, "add-rule")
    page.get_by_test_id(f"add-{kind}").click()


def add_rule(page: Page, kind: str, written: str) -> None:
    """A further rule, given by its written form."""
    pick_rule(page, kind)
    field = page.get_by_test_id("rule-1-text")
    field.fill(written)
    field.blur()


def unfold(page: Page, fold: str) -> None:
    """Open what is folded away, unless it is open; it has its height afterwards."""
    head = page.get_by_test_id(fold).locator(".q-item").first
    if head.get_attribute("aria-expanded") != "true":
        head.click()
    expect(head).to_have_attribute("aria-expanded", "true")
    expect(page.get_by_test_id(fold).locator(".q-expansion-item__content").first).to_be_visible()


def start(page: Page) -> None:
    """Press Run and stay. The form is whole by then: one that grows would move the button from under the
    mouse.
    """
    expect(page.get_by_test_id("run-question")).not_to_have_text("…")
    opens = page.get_by_test_id("opens-result")
    if opens.get_attribute("aria-checked") == "true":
        opens.click()
        expect(opens).to_have_attribute("aria-checked", "false")
    page.get_by_test_id("run").click()


def run(page: Page, shortcut: str = "", *, state: str = "safe") -> int:
    """Run what the form says, after a shortcut if one is named; the number of the run."""
    if shortcut:
        unfold(page, "presets")
        about = page.get_by_test_id("preset-about")
        before = about.inner_text()
        choose(page, "preset", shortcut)
        expect(about).not_to_have_text(before)
    number = 1 + page.locator("[data-testid^=run-][data-testid$=-state]").count()
    start(page)
    expect(page.get_by_test_id(f"run-{number}-state")).to_contain_text(state)
    return number


def run_method(
    page: Page, method: str, number: int, state: str = "✔ safe", seed: str = "", **options: str | bool
) -> None:
    """Run a method and wait until it is over; ``number`` is the run's."""
    go(page, "protect")
    # By way of another method, so that it is seen when the form of this one is there.
    for name in ("mixture", method):
        page.get_by_test_id(f"method-{name}").click()
        expect(page.get_by_test_id("method-name")).to_have_text(name)
    for name, value in options.items():
        field = page.get_by_test_id(f"option-{name}")
        if not field.is_visible():
            unfold(page, "option-more")
        if isinstance(value, bool):
            field.click()
        else:
            field.fill(value)
    if seed:
        unfold(page, "effort-more")
        page.get_by_test_id("seed").fill(seed)
    expect(page.locator(".field-changed")).to_have_count(len(options))
    start(page)
    expect(page.get_by_test_id(f"run-{number}-state")).to_have_text(state)


def result(page: Page, number: int) -> None:
    """Look at what a run found."""
    with leads_on(page):
        page.get_by_test_id(f"run-{number}-result").click()
    expect(page.get_by_test_id("verdict-word")).to_be_visible()


def numbers_of(page: Page, sheet: str, rows: int, columns: int) -> list[list[str]]:
    """What a sheet shows, without the signs and without commas between thousands."""
    expect(cell(page, rows - 1, columns - 1, sheet)).to_be_visible()
    return [
        [cell(page, r, c, sheet).inner_text().strip().replace(",", "") for c in range(columns)]
        for r in range(rows)
    ]


def downloaded(page: Page, button: str) -> dict[str, bytes]:
    """The files of the archive that a button hands out, by name."""
    with page.expect_download() as download:
        page.get_by_test_id(button).click()
    with zipfile.ZipFile(io.BytesIO(download.value.path().read_bytes())) as archive:
        return {name: archive.read(name) for name in archive.namelist()}
