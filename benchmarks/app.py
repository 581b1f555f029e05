"""The table screen with 100,000 cells, measured in the browser that shows it.

    python benchmarks/app.py

The real server, a process of its own, and headless Chromium. Three tables: a tiny one as the base of ratios,
a flat one of 317 x 317 cells, and one with hierarchies of four levels both ways. Of each:

* from the start of the navigation to the first cells on screen, with nothing in the browser's cache;
* the longest time between two frames that show the right cells, while the scroll bar is dragged through the
  whole table within a second, down and then across;
* from Enter after a number to the frame that shows the new grand total.

Frames count when they are painted. The machine should be idle.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from tacita.cli import main as tacita

VISITS, SCROLLS, EDITS = 5, 3, 10
LIMITS = {"first cells": 3000.0, "scrolling": 200.0, "edit to totals": 300.0}
"""Milliseconds that 100,000 cells may take."""
TABLES = {"3 x 4": ("3,4", "1,1"), "flat": ("316,316", "1,1"), "hierarchical": ("256,256", "4,4")}

PROJECT = """
[table]
file = "table.csv"
by = {{ {by} }}
value = "value"

[hierarchies]
{hierarchies}
"""

WATCH_FIRST_CELLS = """
(() => {
    const shown = cell => {
        const box = cell.getBoundingClientRect();
        return cell === document.elementFromPoint((box.left + box.right) / 2, (box.top + box.bottom) / 2);
    };
    const look = () => {
        const cell = document.querySelector("[role=gridcell]");
        if (!cell?.textContent || !shown(cell)) return requestAnimationFrame(look);
        requestAnimationFrame(() => setTimeout(() => { window.firstCells = performance.now(); }, 0));
    };
    requestAnimationFrame(look);
})();
"""

SCROLL = """
([axis, duration]) => new Promise(finish => {
    const grid = document.querySelector("[role=grid]"), box = grid.getBoundingClientRect();
    const head = grid.querySelector("[role=columnheader]").getBoundingClientRect();
    const [key, extent] = axis === "down"
        ? ["scrollTop", grid.scrollHeight - grid.clientHeight]
        : ["scrollLeft", grid.scrollWidth - grid.clientWidth];
    const cellAt = ([x, y]) => document.elementFromPoint(x, y)?.closest("[role=gridcell]");
    const painted = then => requestAnimationFrame(() => setTimeout(then, 0));
    const [left, right] = [head.right + 40, box.left + grid.clientWidth - 40];
    const [top, bottom] = [head.bottom + 40, box.top + grid.clientHeight - 40];
    let points = [[left, top], [right, top], [left, bottom], [right, bottom], [(left + right) / 2, top + 80]];
    // Cells stand at all points, and the row under the first is the one that belongs there now: a picture
    // that lags behind the scroll bar counts as little as a blank one.
    const isRight = () => {
        const cells = points.map(cellAt);
        if (!cells.every(cell => cell?.textContent)) return false;
        const row = cells[0].closest("[role=row]"), place = row.getBoundingClientRect();
        const belongs = (row.ariaRowIndex - 2) * place.height;
        return Math.abs(place.top - head.bottom + grid.scrollTop - belongs) < place.height;
    };
    grid[key] = 0;
    painted(() => {
        points = points.filter(cellAt);
        const start = performance.now();
        let good = start, longest = 0, frames = 0;
        const step = () => {
            const share = Math.min(1, (performance.now() - start) / duration);
            grid[key] = share * extent;
            painted(() => {
                const now = performance.now();
                frames += 1;
                if (isRight()) { longest = Math.max(longest, now - good); good = now; }
                if (share < 1) step();
                else finish([Math.max(longest, now - good), frames]);
            });
        };
        step();
    });
})
"""

WATCH_TOTAL = """
() => {
    const grid = document.querySelector("[role=grid]");
    const total = () => {
        const row = grid.querySelector(`[role=row][aria-rowindex='${grid.ariaRowCount}']`);
        return row?.querySelector(`[aria-colindex='${grid.ariaColCount}']`)?.textContent;
    };
    const before = total();
    window.edited = new Promise(finish => {
        grid.addEventListener("keydown", event => {
            if (event.key !== "Enter") return;
            const pressed = performance.now();
            const seen = new MutationObserver(() => {
                if (total() === before) return;
                seen.disconnect();
                requestAnimationFrame(() => setTimeout(() => finish(performance.now() - pressed), 0));
            });
            seen.observe(grid, { subtree: true, childList: true, characterData: true });
        }, { capture: true });
    });
    return before;
}
"""


@dataclass(frozen=True)
class Measured:
    """Milliseconds of all repeats of one measurement."""

    times: list[float]

    @property
    def median(self) -> float:
        return statistics.median(self.times)

    def __str__(self) -> str:
        return f"{self.median:7.0f} {max(self.times):7.0f}"


@contextmanager
def served(case: Path) -> Iterator[str]:
    """The address of a server that begins with a case."""
    command = [sys.executable, "-m", "tacita", "app", "--no-browser", str(case)]
    process = subprocess.Popen(
        command,
        cwd=case.parent,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield next(line for line in process.stdout if "http://" in line).split()[-1]
    finally:
        process.terminate()
        process.communicate(timeout=20)


def made(folder: Path, shape: str, hierarchy: str) -> Path:
    """A project with a random table."""
    table = folder / "table.csv"
    words = ["--shape", shape, "--hierarchy", hierarchy, "--zeros", "0", "--out", str(table)]
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        tacita(["generate", "table", *words])
    names = table.read_text().splitlines()[0].split(",")[:2]
    trees = [name for name in names if (folder / f"table-{name}.csv").exists()]
    by = ", ".join(f'{name} = "{name if name in trees else ""}"' for name in names)
    hierarchies = "\n".join(f'{name} = "table-{name}.csv"' for name in trees)
    project = folder / "project.toml"
    project.write_text(PROJECT.format(by=by, hierarchies=hierarchies))
    return project


def first_cells(browser: Browser, address: str) -> tuple[Measured, Page]:
    """Visits with an empty cache each; the page of the last one stays open."""
    entrance = browser.new_context()
    entrance.new_page().goto(address)
    session = entrance.storage_state()
    times = []
    for _ in range(VISITS):
        context = browser.new_context(storage_state=session, viewport={"width": 1366, "height": 768})
        context.add_init_script(WATCH_FIRST_CELLS)
        page = context.new_page()
        page.goto(address.split("?")[0] + "table")
        page.wait_for_function("window.firstCells", timeout=60_000)
        times.append(float(page.evaluate("window.firstCells")))
    return Measured(times), page


def scrolling(page: Page) -> Measured:
    """Down and across through the whole table, in a second each."""
    times, frames = [], 0
    page.wait_for_timeout(500)
    for _ in range(SCROLLS):
        for axis in ("down", "across"):
            longest, drawn = page.evaluate(SCROLL, [axis, 1000])
            times.append(float(longest))
            frames += drawn
    print(f"    {frames / (2 * SCROLLS):.0f} frames per second of scrolling", flush=True)
    return Measured(times)


def edit_to_totals(page: Page) -> Measured:
    """Numbers typed into the last leaf, beside the grand total."""
    page.locator("[role=gridcell]").first.click()
    page.keyboard.press("Control+End")
    active = (
        "document.getElementById(document.querySelector('[role=grid]').getAttribute('aria-activedescendant'))"
    )
    for key in ("ArrowUp", "ArrowLeft"):
        page.keyboard.press(key)
    while page.evaluate(f"{active}.ariaReadOnly") == "true":
        page.keyboard.press("ArrowUp")
        page.keyboard.press("ArrowLeft")
    times = []
    for number in range(EDITS):
        page.evaluate(WATCH_TOTAL)
        page.keyboard.type(str(1000 + number))
        page.keyboard.press("Enter")
        times.append(float(page.evaluate("window.edited")))
        page.wait_for_timeout(300)
        page.keyboard.press("ArrowUp")
    return Measured(times)


def main() -> None:
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    results: dict[str, dict[str, Measured]] = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name, (shape, hierarchy) in TABLES.items():
            with (
                tempfile.TemporaryDirectory() as folder,
                served(made(Path(folder), shape, hierarchy)) as address,
            ):
                first, page = first_cells(browser, address)
                print(f"{name}: {page.get_by_test_id('case-name').inner_text()}", flush=True)
                results[name] = {"first cells": first}
                results[name]["scrolling"] = scrolling(page)
                results[name]["edit to totals"] = edit_to_totals(page)
        browser.close()
    if hasattr(os, "getloadavg"):
        print(f"\nload of the last minute: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    base = results["3 x 4"]
    print(f"\n{'':30} {'median':>7} {'worst':>7}  ms")
    for name, measured in results.items():
        for what, result in measured.items():
            ratio = result.median / base[what].median
            verdict = "met" if max(result.times) <= LIMITS[what] else "MISSED"
            print(f"{name:13} {what:16} {result}  {ratio:5.1f} x tiny   must {LIMITS[what]:g} {verdict}")


if __name__ == "__main__":
    main()
