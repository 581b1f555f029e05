"""Chromium for the browser tests: where it is, and how to get it. ``make test`` runs it once per environment.

It never fails: without a browser the tests that need one are skipped, and say so.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
REMEDY = (
    "install Chromium (Debian: apt-get install chromium; elsewhere: python -m playwright install chromium)"
)
APT = ("apt-get", "-qq", "-o", "Acquire::Retries=0", "-o", "Acquire::http::Timeout=15")
PATIENCE = 240
"""Seconds for one attempt; a machine without network gives up much sooner."""


def find_chromium() -> Path | None:
    """The browser of the system, else the one that Playwright installed."""
    installed = next((found for name in NAMES if (found := shutil.which(name))), None)
    if installed is not None:
        return Path(installed)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        own = Path(playwright.chromium.executable_path)
    return own if own.exists() else None


def get_chromium() -> Path | None:
    """Install it where that can be done without asking anybody."""
    attempts: list[tuple[str, ...]] = []
    if shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0:
        install = (*APT, "install", "-y", "--no-install-recommends", "chromium")
        # A fresh image knows no packages before its first update.
        attempts += [install, (*APT, "update"), install]
    attempts.append((sys.executable, "-m", "playwright", "install", "chromium"))
    found = find_chromium()
    for attempt in attempts:
        if found is None:
            _try(attempt)
            found = find_chromium()
    return found


def _try(command: tuple[str, ...]) -> None:
    environment = {
        **os.environ,
        "DEBIAN_FRONTEND": "noninteractive",
        "PLAYWRIGHT_DOWNLOAD_CONNECTION_TIMEOUT": "15000",
    }
    try:
        subprocess.run(command, env=environment, capture_output=True, timeout=PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired) as trouble:
        print(f"  {command[0]}: {trouble}")


if __name__ == "__main__":
    chromium = get_chromium()
    if chromium is None:
        print(f"No Chromium: the tests in tests/browser will be skipped. Remedy: {REMEDY}")
    else:
        print(f"Browser tests use {chromium}")
