"""Kill servers of the app while they work, and look at what they leave.

    python tests/browser/server_kills.py --count 20 --seed 1

In each round two sessions have a table each, and SIGKILL comes at a random moment of a run, or of an upload.
The next server, at the same port, must leave nothing of the last one outside the private folder of recent
work, and offer the tables of both sessions, unmixed. Prints counts as JSON, and ends with an error at the
first thing that is not so.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import stat
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

from driving import enter, go, listening, open_path, pick_rule, start, unfold
from get_chromium import find_chromium
from running_server import RunningServer
from tacita.app.work.recent import RecentWork

KEPT_AFTER = 3.0
"""Seconds after which small tables are kept for certain, on a machine that has more to do."""
ROWS = 150_000
"""Records of an upload: some megabytes."""


class WrongError(AssertionError):
    """Something was left, lost or mixed."""


class Rounds:
    """Servers that follow each other, each killed in the end, with the same temporary and private folders."""

    def __init__(self, work: Path, browser: Browser, rng: random.Random) -> None:
        self._browser, self._rng = browser, rng
        self._places = {name: work / name for name in ("working", "temporary", "state", "files")}
        for place in self._places.values():
            place.mkdir()
        self._number = 0
        self.server = self._start(0)

    def _start(self, port: int) -> RunningServer:
        return RunningServer.start(
            ("--port", str(port)),
            folder=self._places["working"],
            temporary=self._places["temporary"],
            words=self._places["files"] / f"stderr-{self._number}",
            state=self._places["state"],
        )

    def play(self, during: str) -> str:
        """Play one round; return what the killed server had left among temporary files."""
        self._number += 1
        marks = [f"mark{self._number}{side}" for side in ("one", "other")]
        files = [self._write_table(mark) for mark in marks]
        pages = [self._open(file) for file in files]
        time.sleep(KEPT_AFTER)
        if during == "run":
            self._begin_run(pages[0])
            time.sleep(self._rng.uniform(0, 1.5))
        else:
            self._begin_upload(pages[0], marks[0])
            time.sleep(self._rng.uniform(0, 0.8))
        port, dead = self.server.port, self.server.process.pid
        self.server.process.send_signal(signal.SIGKILL)
        self.server.process.communicate()
        left = "marks" if self._find_marks(marks) else "a folder" if self._list_folders() else "nothing"
        self.server = self._start(port)
        self._check(marks, dead)
        self._check_page(pages[1], marks)
        for page in pages:
            page.context.close()
        return left

    def _write_table(self, mark: str) -> Path:
        path = self._places["files"] / f"{mark}.csv"
        cells = [f"{mark}{r},c{c},{self._rng.randint(1, 999)}" for r in range(30) for c in range(30)]
        path.write_text("\n".join(["row,column,value", *cells]) + "\n")
        return path

    def _open(self, file: Path) -> Page:
        page = enter(self._browser.new_context(), self.server.new_address())
        open_path(page, file)
        return page

    def _begin_run(self, page: Page) -> None:
        go(page, "rules")
        pick_rule(page, "threshold")
        page.get_by_test_id("rule-1-text").fill("threshold(60)")
        go(page, "protect")
        start(page)
        expect(page.get_by_test_id("run-1")).to_be_visible()

    def _begin_upload(self, page: Page, mark: str) -> None:
        records = self._places["files"] / f"{mark}-records.csv"
        lines = (f"{mark}F{i},r{i % 7},s{i % 11},{i % 1000}" for i in range(ROWS))
        records.write_text("\n".join(["firm,region,size,turnover", *lines]) + "\n")
        go(page, "start")
        unfold(page, "way-records")
        with page.expect_file_chooser() as chooser:
            page.get_by_test_id("open-records").click()
        with page.expect_request(lambda request: request.method == "POST" and "upload" in request.url):
            chooser.value.set_files(records)

    def _list_folders(self) -> list[Path]:
        return sorted(self._places["temporary"].iterdir())

    def _find_marks(self, marks: list[str]) -> list[Path]:
        """Files outside the private folder that hold values of this round."""
        found = []
        for place in (self._places["temporary"], self._places["working"]):
            for path in place.rglob("*"):
                if path.is_file() and any(mark.encode() in path.read_bytes() for mark in marks):
                    found.append(path)
        return found

    def _check(self, marks: list[str], dead: int) -> None:
        if found := self._find_marks(marks):
            raise WrongError(f"left of the server {dead}: {found}")
        if len(folders := self._list_folders()) != 1:
            raise WrongError(f"folders of other servers than the one that runs: {folders}")
        recent = RecentWork(self._places["state"] / "tacita")
        for path in (recent.folder, *recent.folder.iterdir()):
            if stat.S_IMODE(path.stat().st_mode) & 0o077:
                raise WrongError(f"others can read {path}")
        for mark in marks:
            offers = [offer for offer in recent.list_offers() if offer.name == mark]
            if len(offers) != 1 or offers[0].in_use:
                raise WrongError(f"{mark} is not offered once: {offers}")
            case = recent.read(offers[0].key).case
            codes = {code for d in case.table.structure.dimensions for code in d.codes}
            if not any(code.startswith(mark) for code in codes):
                raise WrongError(f"{mark} holds another table: {sorted(codes)[:5]}")
            if others := {code for code in codes if code.startswith("mark") and not code.startswith(mark)}:
                raise WrongError(f"{mark} holds codes of another session: {sorted(others)[:5]}")

    def _check_page(self, page: Page, marks: list[str]) -> None:
        """The page says that the server is another one, and goes on once it has a session there."""
        cover = page.get_by_test_id("connection")
        expect(cover).to_have_attribute("data-state", "unknown")
        other = enter(page.context, self.server.new_address())
        page.wait_for_url(f"{self.server.origin}/")
        listening(page)
        for mark in marks:
            expect(other.get_by_test_id("recent")).to_contain_text(mark)
        row = other.locator("[data-testid^=recent-]", has_text=marks[1]).filter(
            has=other.get_by_test_id("recent-open")
        )
        row.get_by_test_id("recent-open").click()
        other.wait_for_url("**/table")
        expect(other.get_by_test_id("case-name")).to_contain_text(marks[1])


def run(count: int, seed: int) -> Counter[tuple[str, str]]:
    """Kill so many servers during a run, and as many during an upload."""
    rng = random.Random(seed)
    counts: Counter[tuple[str, str]] = Counter()
    chromium = find_chromium()
    arguments = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory() as work, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
        rounds = Rounds(Path(work), browser, rng)
        try:
            for during in ("run", "upload") * count:
                counts[during, rounds.play(during)] += 1
                print(dict(counts), file=sys.stderr, flush=True)
        finally:
            rounds.server.stop()
            browser.close()
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    started = time.perf_counter()
    counts = run(given.count, given.seed)
    answer = {
        f"during {during}, left before the next start: {left}": n for (during, left), n in counts.items()
    }
    print(json.dumps({**answer, "seconds": round(time.perf_counter() - started)}, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
