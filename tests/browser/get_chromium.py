"""Chromium for the browser tests: where it is, and how to get it."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from system_packages import list_installations, run_quietly

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
REMEDY = (
    "install Chromium (Debian: apt-get install chromium; elsewhere: python -m playwright install chromium)"
)


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
    attempts = [*list_installations("chromium"), (sys.executable, "-m", "playwright", "install", "chromium")]
    found = find_chromium()
    for attempt in attempts:
        if found is None:
            run_quietly(attempt, PLAYWRIGHT_DOWNLOAD_CONNECTION_TIMEOUT="15000")
            found = find_chromium()
    return found
