"""The cover of a page whose connection is lost, and the script that minds the connection."""

from __future__ import annotations

from pathlib import Path

from nicegui import ui

from tacita.app.serving.alive import SERVER
from tacita.app.work.workspace import Workspace

SCRIPT = Path(__file__).with_name("connection.js")
GONE = "Steps of undo, runs that were not over, and files that were looked at but not opened are gone."
KEPT = (
    "The table, everything specified of it, and finished runs are kept as recent work: "
    "the page Start of a new server offers them, as they were some seconds before the end."
)
NOT_KEPT = "Recent work is not kept, so the table and all runs are gone too, except for what was exported."
NOTHING_OPEN = "No table was open."
EVERY = 1.0
"""Seconds between two looks at what is kept."""
COVER = """
<dialog id="connection" class="connection" aria-labelledby="connection-title" aria-live="assertive"
        data-testid="connection" data-server="{server}" data-state="">
  <h2 id="connection-title">
    <span data-when="busy same">Connecting again …</span>
    <span data-when="gone" hidden>The server has ended</span>
    <span data-when="unknown" hidden>Another server runs here now</span>
  </h2>
  <p data-when="busy same">The server does not answer at this moment. Nothing on it is lost: your table, its
    changes and all runs are there. This page goes on by itself.</p>
  <p data-when="gone unknown" id="connection-kept" hidden></p>
  <p data-when="gone unknown" hidden>{gone}</p>
  <p data-when="gone" hidden>Start it again in the terminal with <code>tacita app</code>, and open the address
    that it prints. It takes the port of this page if that is free; in this browser, this page then leads to
    the start by itself, too (otherwise with <code>--port <span id="connection-port"></span></code>).</p>
  <p data-when="unknown" hidden>It does not know this browser yet. Open the address that stands in its
    terminal in this browser; Enter there prints a new one. This page then leads to the start by itself.</p>
</dialog>
<script>document.getElementById("connection-port").textContent = location.port;</script>
<script>{script}</script>
"""


def add_connection_cover(workspace: Workspace) -> None:
    """Add to the page what covers it when its connection is lost, and says what is gone and what is not.

    What is kept changes while a page is open, in other windows too: the page gets it at once, since a
    server that has ended cannot be asked.
    """
    ui.add_body_html(COVER.format(server=SERVER, gone=GONE, script=SCRIPT.read_text(encoding="utf-8")))
    kept = ui.label(describe_kept(workspace)).props("hidden id=kept-now aria-hidden=true")
    ui.timer(EVERY, lambda: kept.set_text(describe_kept(workspace)))


def describe_kept(workspace: Workspace) -> str:
    """Return a sentence on what would be left of the session's work if its server ended now."""
    if workspace.case is None:
        return NOTHING_OPEN
    return KEPT if workspace.keeps_recent else NOT_KEPT
