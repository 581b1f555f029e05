"""The guard and the doors, without a server: each question is asked with everything else in order."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from tacita.app.serving.doors import Doors
from tacita.app.serving.guard import Guard
from tacita.app.work.workspace import Workspace

PORT = 8123
OWN = f"127.0.0.1:{PORT}"


@dataclass
class Visit:
    """One request to a guarded application that reads the whole body and answers ``inside``."""

    doors: Doors
    largest: int = 100
    port: int = PORT
    reached: list[MutableMapping[str, Any]] = field(default_factory=list)

    def ask(
        self,
        method: str = "GET",
        path: str = "/",
        query: str = "",
        kind: str = "http",
        body: tuple[bytes, ...] = (b"",),
        answer_headers: tuple[tuple[bytes, bytes], ...] = (),
        **headers: str,
    ) -> Answer:
        """Headers are keyword arguments: ``host="..."``, ``sec_fetch_site="..."``."""
        given = {"host": OWN, **headers}
        scope = {
            "type": kind,
            "method": method,
            "path": path,
            "query_string": query.encode(),
            "headers": [(name.replace("_", "-").encode(), text.encode()) for name, text in given.items()],
            "state": {"other": 1},
        }
        waiting = [
            {"type": "http.request", "body": part, "more_body": number < len(body)}
            for number, part in enumerate(body, 1)
        ]
        sent: list[MutableMapping[str, Any]] = []

        async def receive() -> MutableMapping[str, Any]:
            return waiting.pop(0)

        async def send(message: MutableMapping[str, Any]) -> None:
            sent.append(message)

        async def application(scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
            self.reached.append(scope)
            if scope["type"] == "websocket":
                await send({"type": "websocket.accept"})
                return
            more = True
            while more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ConnectionError("the sender hung up")
                more = message["more_body"]
            await send({"type": "http.response.start", "status": 200, "headers": list(answer_headers)})
            await send({"type": "http.response.body", "body": b"inside"})

        asyncio.run(Guard(application, self.doors, self.port, self.largest)(scope, receive, send))
        return Answer(sent)


@dataclass(frozen=True)
class Answer:
    sent: list[MutableMapping[str, Any]]

    @property
    def status(self) -> int:
        starts = [message for message in self.sent if message["type"] == "http.response.start"]
        assert len(starts) == 1, self.sent
        return int(starts[0]["status"])

    @property
    def headers(self) -> dict[str, str]:
        pairs = [(name.decode(), text.decode()) for name, text in self.sent[0]["headers"]]
        assert len(pairs) == len(dict(pairs)), f"a header twice: {pairs}"
        return dict(pairs)

    @property
    def body(self) -> str:
        return b"".join(message.get("body", b"") for message in self.sent).decode()

    @property
    def accepted(self) -> bool:
        assert [message["type"] for message in self.sent] in (["websocket.accept"], ["websocket.close"])
        return bool(self.sent[0]["type"] == "websocket.accept")


@pytest.fixture
def doors() -> Iterator[Doors]:
    opened = Doors()
    yield opened
    opened.close()


@pytest.fixture
def cookie(doors: Doors) -> str:
    return f"tacita-{PORT}={doors.enter(doors.make_token())}"


def test_a_token_works_once(doors: Doors) -> None:
    token = doors.make_token()
    assert doors.enter(token) is not None
    assert doors.enter(token) is None


@pytest.mark.parametrize("text", ["", "x", "ключ"])
def test_other_texts_are_no_tokens_and_no_sessions(doors: Doors, text: str) -> None:
    doors.make_token()
    assert doors.enter(text) is None
    assert doors.find_workspace(text) is None


def test_a_token_is_no_session_and_a_session_is_no_token(doors: Doors) -> None:
    token = doors.make_token()
    assert doors.find_workspace(token) is None
    session = doors.enter(token)
    assert session is not None
    assert doors.enter(session) is None


def test_each_session_has_its_own_workspace_and_keeps_it(doors: Doors) -> None:
    one, other = (doors.enter(doors.make_token()) for _ in range(2))
    assert one is not None
    assert other is not None
    assert doors.find_workspace(one) is doors.find_workspace(one)
    assert doors.find_workspace(one) is not doors.find_workspace(other)


def test_only_the_first_to_enter_finds_what_was_opened() -> None:
    opened = Workspace()
    doors = Doors(opened)
    one, other = (doors.enter(doors.make_token()) or "" for _ in range(2))
    assert doors.find_workspace(one) is opened
    assert doors.find_workspace(other) is not opened
    doors.close()


def test_closing_ends_sessions_tokens_and_folders() -> None:
    doors = Doors()
    unused, session = doors.make_token(), doors.enter(doors.make_token()) or ""
    workspace = doors.find_workspace(session)
    assert workspace is not None
    assert workspace.folder.exists()
    doors.close()
    assert doors.find_workspace(session) is None
    assert doors.enter(unused) is None
    assert not workspace.folder.exists()


def test_a_token_becomes_a_cookie_and_leaves_the_address(doors: Doors) -> None:
    visit = Visit(doors)
    answer = visit.ask(query=f"token={doors.make_token()}")
    assert answer.status == 303
    assert answer.headers["location"] == "/"
    name, _, rest = answer.headers["set-cookie"].partition("=")
    session, *limits = rest.split("; ")
    assert name == f"tacita-{PORT}"
    assert set(limits) == {"HttpOnly", "SameSite=Strict", "Path=/"}
    assert visit.reached == []
    assert visit.ask(cookie=f"{name}={session}").body == "inside"
    assert visit.reached[0]["state"] == {"other": 1, "workspace": doors.find_workspace(session)}


def test_a_used_token_is_refused_with_the_remedy(doors: Doors) -> None:
    token = doors.make_token()
    doors.enter(token)
    answer = Visit(doors).ask(query=f"token={token}")
    assert answer.status == 403
    assert "Press Enter in the terminal" in answer.body
    assert "Where it runs in the background and nobody can press Enter" in answer.body
    assert token not in answer.body


def test_a_browser_with_a_session_keeps_it_and_the_token_stays_good(doors: Doors, cookie: str) -> None:
    token = doors.make_token()
    answer = Visit(doors).ask(query=f"token={token}", cookie=cookie)
    assert answer.status == 303
    assert "set-cookie" not in answer.headers
    assert doors.enter(token) is not None


@pytest.mark.parametrize("method", ["HEAD", "POST"])
def test_only_a_visit_spends_a_token(doors: Doors, method: str) -> None:
    token = doors.make_token()
    assert Visit(doors).ask(method, query=f"token={token}").status == 403
    assert doors.enter(token) is not None


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize("wrong", ["", "tacita-8123=", "tacita-8123=x", "tacita-9999={session}", "{session}"])
def test_nothing_is_reached_without_a_session(doors: Doors, kind: str, wrong: str) -> None:
    session = doors.enter(doors.make_token()) or ""
    visit = Visit(doors)
    visit.ask(kind=kind, origin=f"http://{OWN}", cookie=wrong.replace("{session}", session))
    assert visit.reached == []


def test_cookies_of_other_servers_do_not_matter(doors: Doors, cookie: str) -> None:
    crowd = f'odd="a;b; tacita-{PORT}=planted; {cookie}; tacita-1=x; =; broken'
    assert Visit(doors).ask(cookie=crowd).status == 200


@pytest.mark.parametrize("host", [OWN, f"localhost:{PORT}", f"[::1]:{PORT}", f"LocalHost:{PORT}"])
def test_names_of_the_loopback_are_ours(doors: Doors, cookie: str, host: str) -> None:
    assert Visit(doors).ask(cookie=cookie, host=host).status == 200


def test_the_usual_port_is_not_named(doors: Doors) -> None:
    cookie = f"tacita-80={doors.enter(doors.make_token())}"
    assert Visit(doors, port=80).ask(cookie=cookie, host="127.0.0.1").status == 200


@pytest.mark.parametrize(
    "host",
    [
        "",
        "127.0.0.1",
        "127.0.0.1:80",
        "evil.example",
        f"evil.example:{PORT}",
        f"{OWN}.evil.example",
        f"127.0.0.2:{PORT}",
    ],
)
def test_other_hosts_are_refused_and_spend_no_token(doors: Doors, cookie: str, host: str) -> None:
    visit, token = Visit(doors), doors.make_token()
    assert visit.ask(cookie=cookie, host=host).status == 421
    assert visit.ask(query=f"token={token}", host=host).status == 421
    assert not visit.ask(kind="websocket", cookie=cookie, host=host, origin=f"http://{host}").accepted
    assert visit.reached == []
    assert doors.enter(token) is not None


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "OPTIONS"])
@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "null", f"https://{OWN}", "http://127.0.0.1:9999", f"http://localhost:{PORT}"],
)
def test_other_origins_are_refused(doors: Doors, cookie: str, method: str, origin: str) -> None:
    visit = Visit(doors)
    assert visit.ask(method, cookie=cookie, origin=origin).status == 403
    assert not visit.ask(kind="websocket", cookie=cookie, origin=origin).accepted
    assert visit.reached == []


@pytest.mark.parametrize("site", ["cross-site", "same-site", "something-new"])
def test_requests_from_other_sites_and_ports_are_refused(doors: Doors, cookie: str, site: str) -> None:
    visit, token = Visit(doors), doors.make_token()
    assert visit.ask(cookie=cookie, sec_fetch_site=site).status == 403
    assert visit.ask(query=f"token={token}", sec_fetch_site=site).status == 403
    assert visit.reached == []
    assert doors.enter(token) is not None


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_requests_of_our_pages_and_of_the_address_bar_pass(doors: Doors, cookie: str, site: str) -> None:
    visit = Visit(doors)
    assert visit.ask("POST", cookie=cookie, origin=f"http://{OWN}", sec_fetch_site=site).status == 200


def test_a_websocket_names_its_origin(doors: Doors, cookie: str) -> None:
    assert Visit(doors).ask(kind="websocket", cookie=cookie, origin=f"http://{OWN}").accepted
    assert not Visit(doors).ask(kind="websocket", cookie=cookie).accepted


def test_a_body_of_the_largest_size_passes(doors: Doors, cookie: str) -> None:
    assert Visit(doors).ask("POST", cookie=cookie, body=(b"x" * 60, b"x" * 40)).body == "inside"


def test_a_body_is_refused_by_what_it_says_and_by_what_it_is(doors: Doors, cookie: str) -> None:
    announced = Visit(doors)
    assert announced.ask("POST", cookie=cookie, content_length="101").status == 413
    assert announced.reached == []
    streamed = Visit(doors).ask("POST", cookie=cookie, body=(b"x" * 60, b"x" * 41, b"x"))
    assert streamed.status == 413
    assert "--largest-upload" in streamed.body
    assert "inside" not in streamed.body
    lied = Visit(doors).ask("POST", cookie=cookie, content_length="10", body=(b"x" * 101,))
    assert lied.status == 413


def test_answers_keep_the_page_to_itself(doors: Doors, cookie: str) -> None:
    careless = ((b"Cache-Control", b"public"), (b"X-Frame-Options", b"ALLOWALL"), (b"x-own", b"1"))
    for answer in (Visit(doors).ask(cookie=cookie, answer_headers=careless), Visit(doors).ask()):
        told = answer.headers
        assert told["cache-control"] == "no-store"
        assert told["x-frame-options"] == "DENY"
        assert told["x-content-type-options"] == "nosniff"
        assert told["referrer-policy"] == "no-referrer"
        assert told["cross-origin-opener-policy"] == told["cross-origin-resource-policy"] == "same-origin"
        policy = dict(part.split(" ", 1) for part in told["content-security-policy"].split("; "))
        assert policy["default-src"] == policy["frame-ancestors"] == policy["form-action"] == "'none'"
        sources = {word for part in policy.values() for word in part.split() if "://" in word}
        assert sources == {f"ws://127.0.0.1:{PORT}", f"ws://localhost:{PORT}"}


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ("/_nicegui/3.18.0/static/vue.js", True),
        ("/_nicegui/3.18.0/dynamic_resources/x.css", False),
        ("/_nicegui/client/1/upload/2", False),
        ("/other/_nicegui/3.18.0/static/vue.js", False),
        ("/table", False),
    ],
)
def test_only_files_of_the_library_are_cached(doors: Doors, cookie: str, path: str, kept: bool) -> None:
    lasting = "public, max-age=31536000"
    told = Visit(doors).ask(path=path, cookie=cookie, answer_headers=((b"cache-control", lasting.encode()),))
    assert told.headers["cache-control"] == (lasting if kept else "no-store")
