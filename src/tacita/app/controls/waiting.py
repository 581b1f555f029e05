"""Pages that open by themselves, for users who wait for them and do nothing else meanwhile."""

from __future__ import annotations

import json
from pathlib import Path

from nicegui import ui

SCRIPT = Path(__file__).with_name("waiting.js")


def add_script() -> None:
    """Add to the page what minds whether the user still waits for what a button began."""
    ui.add_body_html(f"<script>{SCRIPT.read_text(encoding='utf-8')}</script>")


def open_if_awaited(button: str, path: str) -> None:
    """Open another page if the user has done nothing since a button, by its ``data-testid``, was pressed."""
    ui.run_javascript(f"openIfAwaited({json.dumps(button)}, {json.dumps(path)})")
