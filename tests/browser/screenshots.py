"""Pictures of every screen for the docs: ``make screenshots`` takes them anew, from the app as it is.

python tests/browser/screenshots.py FOLDER
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from driving import cell, go, listening, open_by, open_example, result, run, unfold
from get_chromium import REMEDY, find_chromium
from running_server import RunningServer

LAPTOP = {"width": 1366, "height": 768}
QUIET = 600
"""Milliseconds until charts and tooltips have settled."""


class Camera:
    """Takes a picture of the page as it is."""

    def __init__(self, page: Page, folder: Path) -> None:
        self._page = page
        self._folder = folder

    def take(self, name: str, *, whole: bool = False) -> None:
        self._page.mouse.move(0, 0)
        self._page.evaluate("() => window.scrollTo(0, 0)")
        self._page.wait_for_timeout(QUIET)
        path = self._folder / f"app-{name}.png"
        self._page.screenshot(path=path, full_page=whole)
        print(path)


def tour(page: Page, camera: Camera) -> None:
    """Through all screens with the table of Gonzalez and Cox."""
    expect(page.get_by_test_id("first-nchs")).to_be_visible()
    camera.take("start")
    open_example(page, "nchs")
    cell(page, 2, 2).click()
    expect(page.get_by_test_id("cell-interval")).to_be_visible()
    camera.take("table")
    go(page, "rules")
    expect(page.get_by_test_id("sensitive-count")).to_have_text("3")
    camera.take("rules")
    go(page, "protect")
    run(page)
    run(page, "NCHS: controlled rounding")
    run(page, "NCHS: controlled tabular adjustment")
    camera.take("protect", whole=True)
    result(page, 1)
    expect(cell(page, 0, 0, "sheet-protected")).to_be_visible()
    camera.take("result", whole=True)
    go(page, "compare")
    expect(page.get_by_test_id("loss-3")).to_be_visible()
    camera.take("compare")
    go(page, "export")
    expect(page.get_by_test_id("download-publication")).to_be_visible()
    # The folder of this machine is nobody's business.
    page.get_by_test_id("export-folder").fill("~/tacita-export")
    page.get_by_test_id("save-place").fill("~/nchs")
    camera.take("export", whole=True)
    page.get_by_test_id("help").click()
    camera.take("help")
    page.get_by_test_id("help-close").click()


def dark_and_large(page: Page, camera: Camera) -> None:
    """A table with hierarchies, in the dark."""
    go(page, "start")
    unfold(page, "way-generate")
    page.get_by_test_id("generate-rows").fill("60")
    page.get_by_test_id("generate-columns").fill("24")
    page.get_by_test_id("generate-levels").fill("3, 2")
    open_by(page, "generate-open")
    page.get_by_test_id("light").click()
    expect(cell(page, 0, 0)).to_be_visible()
    camera.take("dark")


def main(folder: Path) -> int:
    """Take all pictures."""
    chromium = find_chromium()
    if chromium is None:
        print(f"no Chromium on this machine. Remedy: {REMEDY}")
        return 1
    folder.mkdir(parents=True, exist_ok=True)
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        working = Path(temporary) / "working"
        working.mkdir()
        server = RunningServer.start((), folder=working, temporary=Path(temporary), words=working / "stderr")
        try:
            browser = playwright.chromium.launch(
                executable_path=chromium, args=["--no-sandbox"] if root else []
            )
            page = browser.new_context(viewport=LAPTOP, reduced_motion="reduce").new_page()
            page.goto(server.first_address)
            listening(page)
            tour(page, Camera(page, folder))
            dark_and_large(page, Camera(page, folder))
            browser.close()
        finally:
            server.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
