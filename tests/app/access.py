"""What a page is checked for, for those who see little, or nothing, or use no mouse: see access.js."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import Page

SCREENS = ("start", "table", "rules", "protect", "result", "compare", "export")
LAPTOP = (1366, 768)
ZOOMED = (1093, 614)
"""The laptop at 125 %."""
MODES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
SCRIPT = Path(__file__).with_name("access.js").read_text(encoding="utf-8")


def asked(page: Page, what: str) -> Any:
    """The answer of one of the functions of the script, or of an expression of them."""
    return page.evaluate(f"async () => {{ const access = ({SCRIPT})(); return await {what}; }}")


def complaints(page: Page) -> list[str]:
    """All complaints about the page as it is: on a laptop and at 125 %, in the light and in the dark."""
    found = []
    for (width, height), mode in product((LAPTOP, ZOOMED), MODES):
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=mode)
        page.wait_for_function("(mode) => document.body.classList.contains(`body--${mode}`)", arg=mode)
        found += [f"{width} pixels, {mode}: {complaint}" for complaint in asked(page, "access.all()")]
    page.set_viewport_size({"width": LAPTOP[0], "height": LAPTOP[1]})
    page.emulate_media(color_scheme="light")
    return found
