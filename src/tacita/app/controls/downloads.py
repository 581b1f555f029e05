"""Files for the browser to fetch, of which nothing stays on this machine afterwards."""

from __future__ import annotations

import secrets
from pathlib import Path

from nicegui import app, ui
from starlette.background import BackgroundTask
from starlette.responses import FileResponse


def make_download_path(folder: Path) -> Path:
    """Return an unused path in the session's folder for a file that the browser is to download."""
    return folder / f"download-{secrets.token_hex(8)}"


def offer_download(file: Path, name: str) -> None:
    """Have the browser download a file under a name; it is removed once sent, or when the page closes.

    The address cannot be guessed and works once.
    """
    address = f"/download/{secrets.token_urlsafe(32)}"

    async def remove() -> None:
        app.remove_route(address)
        file.unlink(missing_ok=True)

    @app.get(address, include_in_schema=False)
    def fetch() -> FileResponse:
        headers = {"Cache-Control": "no-store"}
        return FileResponse(file, filename=name, headers=headers, background=BackgroundTask(remove))

    ui.context.client.on_delete(remove)
    ui.download.from_url(address, name)
