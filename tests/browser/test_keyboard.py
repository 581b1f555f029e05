"""The app without a mouse: everything is reached, the focus is seen and given back, and a whole journey."""

from __future__ import annotations

import zipfile

import pytest
from playwright.sync_api import Locator, Page, expect

from access import READY, SCREENS, asked
from driving import cell, go, leads_on, open_example, run

MOST_STOPS = 200
HEAD = [
    "Skip to the content",
    "Start",
    "Table",
    "Rules",
    "Protect",
    "Result",
    "Compare",
    "Export",
]


def stops(page: Page) -> list[str]:
    """Names of what Tab comes to, until it leaves the page; what is wrong begins with ``!``."""
    names: list[str] = []
    while len(names) < MOST_STOPS:
        page.keyboard.press("Tab")
        role, unseen, name = asked(page, "stop", "light")
        if role == "body":
            return names
        if role == "grid":
            page.keyboard.press("Escape")
        names.append(f"! {unseen}" if unseen else name or "! no name")
    raise AssertionError(f"Tab does not leave the page: {names[-10:]}")


def reach(page: Page, place: Locator, key: str = "Tab") -> None:
    """Press Tab, or Shift+Tab, until a control has the focus."""
    expect(place).to_be_visible()
    for _ in range(MOST_STOPS):
        if place.evaluate("(element) => element.contains(document.activeElement)"):
            return
        page.keyboard.press(key)
    raise AssertionError(f"{key} does not lead to {place}")


def press(page: Page, name: str, key: str = "Enter") -> None:
    """Go to a button or link by Tab and press it."""
    reach(page, page.get_by_test_id(name))
    page.keyboard.press(key)


@pytest.mark.slow
def test_tab_comes_to_everything_and_is_seen(page: Page) -> None:
    open_example(page, "nchs")
    go(page, "protect")
    run(page)
    for screen in SCREENS:
        go(page, screen)
        expect(page.get_by_test_id(READY[screen])).to_be_visible()
        names = stops(page)
        assert [name for name in names if name.startswith("!")] == [], screen
        assert asked(page, "again", "dark") == [], screen
        assert names[: len(HEAD)] == HEAD
        buttons = page.locator("button:visible:enabled:not([tabindex='-1']), input:visible:enabled")
        assert len(names) >= buttons.count(), (screen, names)


def test_the_first_tab_skips_the_head(page: Page) -> None:
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    # What comes first depends on whether other tests left recent work.
    page.wait_for_function("() => document.activeElement.matches('.screen button, .screen a')")


@pytest.mark.slow
def test_dialogs_close_with_escape_and_give_the_focus_back(page: Page) -> None:
    open_example(page, "nchs")
    cell(page, 2, 2).click()
    for opener, inside in (("help", "help-close"), ("mark-levels", "ask-lower"), ("edit-table", "add-row")):
        page.get_by_test_id(opener).focus()
        page.keyboard.press("Enter")
        expect(page.get_by_test_id(inside)).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_test_id(inside)).not_to_be_visible()
        expect(page.get_by_test_id(opener)).to_be_focused()
    page.get_by_test_id("mark-levels").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("ask-lower")).to_be_focused()
    for _ in range(12):
        page.keyboard.press("Tab")
        page.wait_for_function("() => document.activeElement.closest('main, header') === null")
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("ask-lower")).not_to_be_visible()
    go(page, "start")
    page.get_by_test_id("clear-all").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("clear-confirm")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("clear-all")).to_be_focused()
    expect(page.get_by_test_id("open-now-link")).to_be_visible()


@pytest.mark.slow
def test_arrows_walk_through_a_menu(page: Page) -> None:
    open_example(page, "nchs")
    page.get_by_test_id("edit-table").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("menu")).to_be_focused()
    for key, item in (
        ("ArrowDown", "add-row"),
        ("ArrowDown", "rename-row"),
        ("ArrowUp", "add-row"),
        ("ArrowUp", "kind"),
    ):
        page.keyboard.press(key)
        expect(page.get_by_test_id(item)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("ask-kind")).to_be_visible()


def test_a_journey_without_a_mouse(page: Page) -> None:
    """From an example by a mark and a rule to a safe release, downloaded."""
    with leads_on(page):
        press(page, "first-salazar")
    expect(cell(page, 0, 0)).to_be_visible()

    reach(page, page.get_by_test_id("sheet").get_by_role("grid"))
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_test_id("cell-value")).to_have_text("19")
    page.keyboard.press("Escape")
    reach(page, page.get_by_test_id("mark-sensitive"), "Shift+Tab")
    page.keyboard.press("Space")
    expect(cell(page, 1, 1)).to_have_attribute("aria-label", "19, sensitive")

    reach(page, page.get_by_test_id("nav-rules"), "Shift+Tab")
    with leads_on(page):
        page.keyboard.press("Enter")
    expect(page.get_by_test_id("sensitive-count")).to_have_text("2")
    reach(page, page.get_by_test_id("outsider"))
    page.keyboard.press("Enter")
    page.get_by_role("option").first.wait_for()
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("outsider-below")).to_be_visible()
    reach(page, page.get_by_test_id("outsider-below"))
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.type("100")

    reach(page, page.get_by_test_id("nav-protect"), "Shift+Tab")
    with leads_on(page):
        page.keyboard.press("Enter")
    press(page, "method-suppression")
    expect(page.get_by_test_id("run-question")).not_to_have_text("…")
    with leads_on(page):
        press(page, "run", "Space")
    expect(page.get_by_test_id("verdict-word")).to_have_text("✔ Safe")

    reach(page, page.get_by_test_id("nav-export"))
    with leads_on(page):
        page.keyboard.press("Enter")
    press(page, "format-html", "Space")
    reach(page, page.get_by_test_id("download-publication"))
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    with zipfile.ZipFile(download.value.path()) as archive:
        names = sorted(archive.namelist())
    assert names == [f"publication/release.{ending}" for ending in ("csv", "html", "xlsx")]
