"""Whose page is it? What is asked of a page, or told to it, must come from the session that opened it.

NiceGUI knows a page by an id that is hard to guess, and takes whoever names it for its browser. Here the
session decides: an id that got around opens nothing.
"""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qs

from tacita.app.work.workspace import Workspace

MESSAGES = ("handshake", "event", "javascript_response", "ack", "log")
"""What a browser sends through its socket; each message names its page."""
SETTLE = "settle"
"""A message that is answered when those before it are dealt with: a page waits for it before it is left."""

Handler = Callable[[str, MutableMapping[str, Any]], Awaitable[object]]


def is_foreign(scope: MutableMapping[str, Any], workspace: Workspace) -> bool:
    """Return whether a request names a page of another session, by its path or when it opens a socket."""
    named = re.match(r"/_nicegui/client/([^/]+)/", scope["path"])
    queried = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("client_id", [])
    return any(
        _find_owner(page) not in (None, workspace) for page in [*(named.groups() if named else ()), *queried]
    )


def bind_messages() -> None:
    """Drop messages of browsers to pages of other sessions; called once, when NiceGUI is set up."""
    from nicegui import core

    handlers = core.sio.handlers["/"]
    for name in MESSAGES:
        handlers[name] = _bind_handler(handlers[name])
    core.sio.on(SETTLE, _settle)


async def _settle(sid: str) -> bool:
    """Answer a page that everything it has sent so far is done, as far as it is done at once.

    Messages of a page come in order, and each begins its work in a task of its own; some begin another one.
    """
    for _ in range(3):
        await asyncio.sleep(0)
    return True


def _bind_handler(handle: Callable[..., object]) -> Handler:
    from nicegui import core

    async def bound(sid: str, message: MutableMapping[str, Any]) -> object:
        workspace = core.sio.get_environ(sid)["asgi.scope"]["state"]["workspace"]
        if _find_owner(str(message.get("client_id"))) not in (None, workspace):
            return False
        result = handle(sid, message)
        return await result if inspect.isawaitable(result) else result

    return bound


def _find_owner(page: str) -> Workspace | None:
    """Return the workspace that a page of the app was opened from; None where there is no such page."""
    from nicegui import Client

    client = Client.instances.get(page)
    owner = None if client is None else client.request.state.workspace
    return owner if isinstance(owner, Workspace) else None
