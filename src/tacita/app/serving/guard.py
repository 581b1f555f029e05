"""What every request meets first: six questions, then the limits of what goes in and out.

1. Is it for us? ``Host`` must name a loopback address with our port. A page of another site whose name was
   turned towards this machine (DNS rebinding) still names its own host.
2. Is it from us? ``Origin`` and ``Sec-Fetch-Site``, which no page can forge, must not name another place.
   Another port of this machine is another place.
3. Is it of our user? Where the system tells, a connection of another user of the machine is refused.
4. Is it invited? The session's cookie is needed for everything. ``GET /?token=...`` exchanges a one-time
   token for it.
5. Is it about a page of its own? A page of another session is as good as none.
6. Is it small enough? A body is counted while it comes in, whatever its length was declared to be.

The same holds for websockets. Answers carry headers that keep the page from loading, sending or being framed
elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs

from tacita.app.serving.doors import Doors
from tacita.app.serving.pages import is_foreign
from tacita.app.serving.peer import is_ours

MEBIBYTE = 1024 * 1024
LARGEST_UPLOAD = 64 * MEBIBYTE
"""Bytes of one request, unless told otherwise."""

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]

NEW_ADDRESS = (
    "Press Enter in the terminal where <code>tacita app</code> runs: it prints a new address, "
    "which works once. Open that one in this browser. Where it runs in the background and nobody can press "
    "Enter, end it and start it again: recent work, unless it is switched off, is there again."
)


@dataclass(frozen=True)
class Refusal:
    """Why a request is turned away, and what its sender can do about it."""

    status: HTTPStatus
    reason: str
    remedy: str


OTHER_USER = Refusal(
    HTTPStatus.FORBIDDEN,
    "This server belongs to another user of this machine.",
    "Start <code>tacita app</code> as the user who runs the browser.",
)
ELSEWHERE = Refusal(
    HTTPStatus.MISDIRECTED_REQUEST,
    "This request names a host that Tacita does not go by.",
    "Open the address that <code>tacita app</code> printed, as it is.",
)
FOREIGN = Refusal(
    HTTPStatus.FORBIDDEN,
    "This request comes from another site.",
    "Type or paste the address of Tacita into the address bar instead of following a link.",
)
UNINVITED = Refusal(
    HTTPStatus.FORBIDDEN, "This browser has no session here: Tacita does not know it.", NEW_ADDRESS
)
USED = Refusal(HTTPStatus.FORBIDDEN, "This address was used before, or is not complete.", NEW_ADDRESS)
NOT_THEIRS = Refusal(
    HTTPStatus.FORBIDDEN,
    "This belongs to another session.",
    "Open the screen from the start page of this browser.",
)
TOO_LARGE = Refusal(
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    "The file is larger than this server accepts.",
    "Start it with <code>tacita app --largest-upload</code> and a larger number of MiB.",
)


class Guard:
    """The outermost ASGI application: lets through what is asked by a session of ours, and nothing else.

    What it lets through finds its workspace in ``scope["state"]["workspace"]``.

    Parameters
    ----------
    app
        What is guarded.
    doors
        Tokens and sessions.
    port
        The port that is served; hosts, origins and the name of the cookie carry it.
    largest_upload
        Bytes that the body of one request may have.
    """

    def __init__(
        self, app: Application, doors: Doors, port: int, largest_upload: int = LARGEST_UPLOAD
    ) -> None:
        # NiceGUI follows the attribute `app` from the server's application to its own.
        self.app = app
        self.cookie = f"tacita-{port}"
        self._doors = doors
        self._largest = largest_upload
        suffix = "" if port == 80 else f":{port}"
        self._hosts = frozenset(name + suffix for name in ("127.0.0.1", "localhost", "[::1]"))
        self._shield = _make_shield(suffix)

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        request_headers = _Headers(scope["headers"])
        refusal = self._find_misplacement(scope, request_headers)
        if refusal is not None:
            await self._refuse(scope, send, refusal)
            return
        found = (self._doors.find_workspace(session) for session in request_headers.find_cookies(self.cookie))
        workspace = next((known for known in found if known is not None), None)
        token = _find_token(scope)
        if token is not None:
            await self._exchange(scope, send, token, invited=workspace is not None)
        elif workspace is None:
            await self._refuse(scope, send, UNINVITED)
        elif is_foreign(scope, workspace):
            await self._refuse(scope, send, NOT_THEIRS)
        else:
            scope["state"] = {**scope.get("state", {}), "workspace": workspace}
            await self._let_through(scope, request_headers, receive, send)

    def _find_misplacement(
        self, scope: MutableMapping[str, Any], request_headers: _Headers
    ) -> Refusal | None:
        hosts = request_headers.all("host")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return ELSEWHERE
        origins = request_headers.all("origin")
        # Every browser names the origin of a websocket; what does not is no browser, and we serve no other.
        if scope["type"] == "websocket" and not origins:
            return FOREIGN
        if any(origin.lower() != f"http://{hosts[0].lower()}" for origin in origins):
            return FOREIGN
        if not set(request_headers.all("sec-fetch-site")) <= {"same-origin", "none"}:
            return FOREIGN
        # Looking it up takes some milliseconds, and the library's files are no secret.
        client, server = scope.get("client"), scope.get("server")
        if client and server and not _is_library(scope["path"]) and not is_ours(client, server):
            return OTHER_USER
        return None

    async def _exchange(
        self, scope: MutableMapping[str, Any], send: Send, token: str, *, invited: bool
    ) -> None:
        """Answer a browser's token with the cookie of a session, and lead to the page without the token.

        A browser that has a session keeps it, and the token stays good for another browser: a second
        workspace under the same cookie would make the first one unreachable.
        """
        headers = [(b"location", b"/")]
        if not invited:
            session = self._doors.enter(token)
            if session is None:
                await self._refuse(scope, send, USED)
                return
            cookie = f"{self.cookie}={session}; HttpOnly; SameSite=Strict; Path=/"
            headers.append((b"set-cookie", cookie.encode()))
        await _answer(self._shield_send(scope, send), HTTPStatus.SEE_OTHER, headers, b"")

    async def _refuse(self, scope: MutableMapping[str, Any], send: Send, refusal: Refusal) -> None:
        if scope["type"] == "websocket":
            # Closing before accepting is the refusal of the handshake, with status 403.
            await send({"type": "websocket.close", "code": 1008, "reason": refusal.reason})
            return
        await _answer(self._shield_send(scope, send), refusal.status, *_write_page(refusal))

    async def _let_through(
        self, scope: MutableMapping[str, Any], request_headers: _Headers, receive: Receive, send: Send
    ) -> None:
        if scope["type"] == "websocket":
            await self.app(scope, receive, send)
            return
        shielded = self._shield_send(scope, send)
        if any(
            length.isdecimal() and int(length) > self._largest
            for length in request_headers.all("content-length")
        ):
            await _answer(shielded, TOO_LARGE.status, *_write_page(TOO_LARGE))
            return
        scale = _Scale(receive, shielded, self._largest)
        try:
            await self.app(scope, scale.receive, scale.send)
        except Exception:
            # To the application a refused body is a sender that hung up, which it may well complain about.
            if not scale.refused:
                raise

    def _shield_send(self, scope: MutableMapping[str, Any], send: Send) -> Send:
        """Return a ``send`` to the browser that puts our headers in place of the application's."""
        lasting = _is_library(scope["path"])

        async def shielded(message: Message) -> None:
            if message["type"] == "http.response.start":
                ours = dict(self._shield)
                headers = list(message.get("headers", []))
                if lasting and any(name.lower() == b"cache-control" for name, _ in headers):
                    del ours[b"cache-control"]
                kept = [(name, value) for name, value in headers if name.lower() not in ours]
                message = {**message, "headers": [*kept, *ours.items()]}
            await send(message)

        return shielded


class _Headers:
    """The headers of a request, by lower-case name."""

    def __init__(self, raw: Headers) -> None:
        self._raw = raw

    def all(self, name: str) -> list[str]:
        wanted = name.encode()
        return [value.decode("latin-1").strip() for key, value in self._raw if key.lower() == wanted]

    def find_cookies(self, name: str) -> list[str]:
        """Return all values of a cookie in the request: other servers of this machine may set it too."""
        pairs = (pair.strip().partition("=") for header in self.all("cookie") for pair in header.split(";"))
        return [value for key, _, value in pairs if key == name]


class _Scale:
    """Counts the bytes of a body; past the limit it answers in the application's place."""

    def __init__(self, receive: Receive, send: Send, largest: int) -> None:
        self._receive = receive
        self._send = send
        self._left = largest
        self._answered = False
        self.refused = False

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request" and not self.refused:
            self._left -= len(message.get("body", b""))
            if self._left < 0:
                self.refused = True
                if not self._answered:
                    await _answer(self._send, TOO_LARGE.status, *_write_page(TOO_LARGE))
        return {"type": "http.disconnect"} if self.refused else message

    async def send(self, message: Message) -> None:
        if not self.refused:
            self._answered = True
            await self._send(message)


def _is_library(path: str) -> bool:
    """Return whether a requested path is a file of a numbered NiceGUI, constant and without data."""
    return bool(re.match(r"/_nicegui/\d[\d.]*/(?!dynamic_resources/)", path))


def _find_token(scope: MutableMapping[str, Any]) -> str | None:
    """Return the one-time token in the address of a visit to the page Start; None without one."""
    if scope["type"] != "http" or scope["method"] != "GET" or scope["path"] != "/":
        return None
    given = parse_qs(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True).get("token")
    return given[0] if given else None


def _make_shield(suffix: str) -> dict[bytes, bytes]:
    """Return the security headers of every answer to the browser, by name.

    The page is built by Vue from templates that it compiles, and NiceGUI writes its state into an inline
    script: hence 'unsafe-eval' and 'unsafe-inline'. Nothing may be loaded from or sent to another place.
    """
    policy = {
        "default-src": "'none'",
        "script-src": "'self' 'unsafe-inline' 'unsafe-eval'",
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self'",
        # Not every browser counts the websocket of the same host as 'self'.
        "connect-src": f"'self' ws://127.0.0.1{suffix} ws://localhost{suffix}",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }
    headers = {
        "content-security-policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        "x-frame-options": "DENY",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "cache-control": "no-store",
    }
    return {name.encode(): value.encode() for name, value in headers.items()}


def _write_page(refusal: Refusal) -> tuple[Headers, bytes]:
    page = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light dark">'
        '<meta name="viewport" content="width=device-width"><title>Tacita: not opened</title>'
        '<body style="font: 1.1rem/1.5 system-ui, sans-serif; max-width: 36rem; margin: 4rem auto">'
        f"<h1>Not opened</h1><p>{refusal.reason}</p><p>{refusal.remedy}</p></html>"
    )
    # What is left of a refused body is not read: the connection cannot serve another request.
    return [(b"content-type", b"text/html; charset=utf-8"), (b"connection", b"close")], page.encode()


async def _answer(send: Send, status: HTTPStatus, headers: Headers, body: bytes) -> None:
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": status.value, "headers": [*headers, length]})
    await send({"type": "http.response.body", "body": body})
