"""``tacita app CASE``: the first visitor finds the case, and nobody else does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import BrowserContext

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
    first.get_by_test_id("case-name").get_by_text("visits").wait_for()
    second.get_by_test_id("nav-table").wait_for()
    assert second.get_by_test_id("case-name").count() == 0
