"""What a page is checked for, for those who see little, or nothing, or use no mouse: see access.js."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import Page, expect

READY = {
    "start": "first-nchs",
    "table": "sheet",
    "rules": "attackers-count",
    "protect": "run",
    "result": "verdict-word",
    "compare": "runs",
    "export": "publish",
}
"""What is seen last when a screen is built."""
SCREENS = tuple(READY)
LAPTOP = (1366, 768)
ZOOMED = (1093, 614)
"""The laptop at 125 %."""
MODES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
SCRIPT = Path(__file__).with_name("access.js").read_text(encoding="utf-8")


def asked(page: Page, what: Literal["all", "stop", "again"], mode: Literal["light", "dark"]) -> Any:
    """The answer of one of the functions of the script, in the light or in the dark."""
    page.emulate_media(color_scheme=mode)
    return page.evaluate(f"(mode) => ({SCRIPT})().{what}(mode)", mode)


def complaints(page: Page, *, pointer_away: bool = True) -> list[str]:
    """All complaints about the page as it is: on a laptop and at 125 %, in the light and in the dark."""
    found = []
    # The bar that an upload shows for a moment.
    expect(page.locator(".q-loading-bar:not([aria-hidden=true])")).to_have_count(0)
    # Words beside the pointer are no part of the page, unless a test asks for them.
    if pointer_away:
        page.mouse.move(0, 0)
        expect(page.get_by_role("tooltip")).to_have_count(0)
    for (width, height), mode in product((LAPTOP, ZOOMED), MODES):
        page.set_viewport_size({"width": width, "height": height})
        found += [f"{width} pixels, {mode}: {complaint}" for complaint in asked(page, "all", mode)]
    page.set_viewport_size({"width": LAPTOP[0], "height": LAPTOP[1]})
    page.emulate_media(color_scheme="light")
    return found
