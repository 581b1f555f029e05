"""Tell a page whether the server it came from is still the one that answers."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastapi import FastAPI

ADDRESS = "/alive"
SERVER = secrets.token_hex(8)
"""The name of this server, which is no secret: another one, also at the same port, has another name."""


def add_route(application: FastAPI) -> None:
    """Let browsers with a session ask for the name of the server; the guard refuses all others."""
    from fastapi import Response

    @application.get(ADDRESS)
    async def tell() -> Response:
        return Response(SERVER, media_type="text/plain")
