"""``tacita app CASE``: the first visitor finds the case, and nobody else does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import BrowserContext, Page, expect

from driving import open_by
from running_server import RunningServer
from tacita.cli import main


def test_the_first_visitor_finds_the_case(
    tmp_path: Path,
    start_server: Callable[..., RunningServer],
    new_context: Callable[[], BrowserContext],
) -> None:
    table = tmp_path / "visits.csv"
    assert main(["generate", "table", "--shape", "4,5", "--out", str(table)]) == 0
    server = start_server(str(table))
    first, second = new_context().new_page(), new_context().new_page()
    first.goto(server.first_address)
    second.goto(server.new_address())
    expect(first.get_by_test_id("case-name")).to_contain_text("visits")
    expect(second.get_by_test_id("nav-table")).to_be_visible()
    expect(second.get_by_test_id("case-name")).to_have_count(0)


def test_a_long_note_is_folded_on_a_narrow_screen(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.get_by_test_id("paste-text").fill("1\t20\n30\t40")
    open_by(page, "paste-open")
    note, more = page.get_by_test_id("notice-note"), page.get_by_test_id("notice-more")
    expect(more).to_have_text("More")
    folded = (note.bounding_box() or {})["height"]
    more.click()
    expect(more).to_have_text("Less")
    assert (note.bounding_box() or {})["height"] > folded
    page.set_viewport_size({"width": 1366, "height": 768})
    expect(more).to_be_hidden()
