"""The app keeps to itself: the real server, asked as an attacker would ask it."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from driving import go, listening, open_example, reload, start
from running_server import RunningServer

KEY = "dGhlIHNhbXBsZSBub25jZQ=="
UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": KEY,
}
SOCKET = "/_nicegui_ws/socket.io/?EIO=4&transport=websocket"
SECONDS = 60
"""That an answer may take on a busy machine."""
SCREENS = ("/", "/table", "/rules", "/protect", "/result", "/compare", "/export")


def ask(
    server: RunningServer,
    path: str,
    headers: Mapping[str, str] | None = None,
    method: str = "GET",
    body: bytes = b"",
) -> tuple[int, http.client.HTTPMessage, str]:
    """One request with exactly these headers; a handshake that succeeds has status 101."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=SECONDS)
    try:
        connection.request(method, path, body or None, dict(headers or {}))
        answer = connection.getresponse()
        return answer.status, answer.headers, "" if answer.status == 101 else answer.read().decode()
    finally:
        connection.close()


def cookie_of(server: RunningServer, address: str) -> str:
    status, headers, _ = ask(server, address.removeprefix(server.origin))
    assert status == 303
    return str(headers["set-cookie"]).split(";")[0]


@pytest.fixture(scope="module")
def cookie(server: RunningServer) -> str:
    return cookie_of(server, server.new_address())


@pytest.fixture(scope="module")
def own(server: RunningServer, cookie: str) -> dict[str, str]:
    """What a page of ours sends."""
    return {"Cookie": cookie, "Origin": server.origin}


def test_with_its_session_everything_opens(server: RunningServer, own: dict[str, str]) -> None:
    assert ask(server, "/", own)[0] == 200
    assert ask(server, SOCKET, {**own, **UPGRADE})[0] == 101


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1", "0.0.0.0:{port}"])
def test_another_host_is_refused(server: RunningServer, own: dict[str, str], host: str) -> None:
    named = host.replace("{port}", str(server.port))
    status, _, words = ask(server, "/", {**own, "Host": named})
    assert status == 421
    assert "host" in words
    rebound = {**own, **UPGRADE, "Host": named, "Origin": f"http://{named}"}
    assert ask(server, SOCKET, rebound)[0] == 403


@pytest.mark.parametrize(
    "path", [*SCREENS, "/_nicegui_ws/socket.io/?EIO=4&transport=polling", "/favicon.ico"]
)
@pytest.mark.parametrize("forged", [None, "{name}=", "{name}=AAAA", "{name}={other}"])
def test_without_a_session_nothing_opens(
    server: RunningServer, cookie: str, path: str, forged: str | None
) -> None:
    name, _, session = cookie.partition("=")
    other = session[:-1] + ("A" if session[-1] != "A" else "B")
    sent = {} if forged is None else {"Cookie": forged.replace("{name}", name).replace("{other}", other)}
    status, headers, words = ask(server, path, sent)
    assert status == 403
    assert "set-cookie" not in headers
    assert "Press Enter in the terminal" in words
    assert ask(server, SOCKET, {**UPGRADE, **sent, "Origin": server.origin})[0] == 403


def test_a_token_opens_once(server: RunningServer) -> None:
    address = server.new_address()
    path = address.removeprefix(server.origin)
    assert ask(server, path)[0] == 303
    status, headers, words = ask(server, path)
    assert status == 403
    assert "set-cookie" not in headers
    assert "used before" in words
    assert ask(server, path[:-1])[0] == 403


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize(
    "sent",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_other_sites_are_refused_even_with_the_cookie(
    server: RunningServer, cookie: str, method: str, sent: dict[str, str]
) -> None:
    assert ask(server, "/", {"Cookie": cookie, **sent}, method)[0] == 403
    assert ask(server, SOCKET, {"Cookie": cookie, **UPGRADE, **sent})[0] == 403


def test_a_websocket_without_origin_is_refused(server: RunningServer, cookie: str) -> None:
    assert ask(server, SOCKET, {"Cookie": cookie, **UPGRADE})[0] == 403


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="only Linux tells who holds a connection")
@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can act as another user"
)
def test_another_user_of_the_machine_gains_nothing_by_a_leaked_secret(
    server: RunningServer, own: dict[str, str]
) -> None:
    path = server.new_address().removeprefix(server.origin)

    def ask_as_nobody(path: str, headers: Mapping[str, str]) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=SECONDS)
        os.seteuid(65534)
        try:
            connection.connect()
        finally:
            os.seteuid(0)
        with closing(connection):
            connection.request("GET", path, headers=dict(headers))
            return connection.getresponse().status

    assert ask_as_nobody("/", own) == 403
    assert ask_as_nobody(path, {}) == 403
    assert ask_as_nobody(SOCKET, {**own, **UPGRADE}) == 403
    assert ask(server, path)[0] == 303, "the token was spent by the wrong one"


class Neighbour(BaseHTTPRequestHandler):
    """A page without any guard: somebody else's server on this machine."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>neighbour</title>")

    def log_message(self, *words: object) -> None:
        pass


@pytest.fixture
def neighbour() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Neighbour) as serving:
        Thread(target=serving.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{serving.server_port}/"
        serving.shutdown()


def test_a_page_of_another_port_cannot_reach_in(server: RunningServer, page: Page, neighbour: str) -> None:
    """The browser itself, with the cookie at hand: to it, another port of the machine is the same site."""
    page.goto(neighbour)
    tried = page.evaluate(
        """async ([origin, path]) => {
            const fetched = await fetch(origin, {mode: "no-cors", credentials: "include"}).then(
                answer => answer.type, () => "blocked");
            const opened = await new Promise(settle => {
                const socket = new WebSocket(origin.replace("http", "ws") + path);
                socket.onopen = () => settle("open");
                socket.onerror = () => settle("blocked");
            });
            return [fetched, opened];
        }""",
        [server.origin, SOCKET],
    )
    assert tried == ["blocked", "blocked"]
    page.evaluate("origin => { location = origin }", server.origin)
    page.get_by_text("comes from another site").wait_for()


@pytest.fixture(scope="module")
def narrow(start_server: Callable[..., RunningServer]) -> RunningServer:
    """A server that takes no more than a mebibyte."""
    return start_server("--largest-upload", "1")


def test_a_large_body_is_refused_by_its_announced_length(narrow: RunningServer) -> None:
    own = {"Cookie": cookie_of(narrow, narrow.new_address()), "Origin": narrow.origin}
    status, _, words = ask(narrow, "/", {**own, "Content-Length": str(2**40)}, "POST")
    assert status == 413
    assert "--largest-upload" in words
    # The page itself takes no body: what passes the guard is told so by the framework.
    assert ask(narrow, "/", own, "POST", b"x" * 2**20)[0] == 405


def test_a_large_body_is_refused_while_it_streams(narrow: RunningServer) -> None:
    """In chunks, so that no length is announced, to a place that reads what it is sent."""
    cookie = cookie_of(narrow, narrow.new_address())
    polling = "/_nicegui_ws/socket.io/?EIO=4&transport=polling"
    _, _, opened = ask(narrow, polling, {"Cookie": cookie})
    sid = json.loads(opened.removeprefix("0"))["sid"]
    head = (
        f"POST {polling}&sid={sid} HTTP/1.1\r\n"
        f"Host: 127.0.0.1:{narrow.port}\r\nOrigin: {narrow.origin}\r\nCookie: {cookie}\r\n"
        "Transfer-Encoding: chunked\r\n\r\n"
    )
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    with socket.create_connection(("127.0.0.1", narrow.port), timeout=SECONDS) as connection:
        connection.sendall(head.encode())
        for _ in range(2**20 // 0x10000):
            connection.sendall(chunk)
        connection.sendall(b"1\r\nx\r\n")
        assert connection.recv(64).startswith(b"HTTP/1.1 413 ")


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="the kernel's list of sockets is Linux's")
def test_only_the_loopback_is_bound(server: RunningServer) -> None:
    bound = []
    for table in ("tcp", "tcp6"):
        lines = Path(f"/proc/{server.process.pid}/net/{table}").read_text().splitlines()[1:]
        listening = (line.split()[1] for line in lines if line.split()[3] == "0A")
        bound += [place for place in listening if place.endswith(f":{server.port:04X}")]
    assert bound == [f"0100007F:{server.port:04X}"]


def test_a_port_in_use_is_an_error_with_a_remedy(server: RunningServer) -> None:
    words = [sys.executable, "-m", "tacita", "app", "--no-browser", "--port", str(server.port)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 1
    assert f"port {server.port}" in done.stderr
    assert "--port" in done.stderr


def test_the_token_does_not_stay_in_the_address_bar(server: RunningServer, page: Page) -> None:
    assert page.url == f"{server.origin}/"


@pytest.mark.slow
def test_screens_ask_nobody_else(server: RunningServer, page: Page, outside: list[str]) -> None:
    for path in SCREENS:
        answer = page.goto(server.origin + path)
        assert answer is not None
        assert answer.status == 200
        listening(page)
        assert page.evaluate("performance.getEntriesByType('resource').length") > 5
        assert outside == [], path


def test_what_leaves_the_machine_is_held_back_and_noticed(
    page: Page, outside: list[str], faults: list[str]
) -> None:
    """The watch that the other tests rely on."""
    tried = "fetch('https://evil.example/').then(() => 'sent', () => 'held back')"
    with page.expect_console_message(lambda said: "evil.example" in said.text):
        assert page.evaluate(tried) == "held back"
    assert outside or faults
    outside.clear()
    faults.clear()


def test_visitors_do_not_see_each_other(new_page: Callable[[], Page]) -> None:
    one, other = new_page(), new_page()
    one.get_by_test_id("light").click()
    expect(one.get_by_test_id("light")).to_contain_text("dark")
    for page in (one, other):
        reload(page)
    expect(one.get_by_test_id("light")).to_contain_text("dark")
    expect(other.get_by_test_id("light")).to_contain_text("auto")


def test_a_page_answers_its_own_session_only(server: RunningServer, page: Page, own: dict[str, str]) -> None:
    """Another visitor with a session of his own, who has come to know the id of a page."""
    with page.expect_request("**/_nicegui/client/*/sheet/*") as asked:
        open_example(page, "salazar")
    path = asked.value.url.removeprefix(server.origin)
    mine = {"Cookie": "; ".join(f"{c['name']}={c['value']}" for c in page.context.cookies())}
    assert ask(server, path, mine)[0] == 200
    status, _, words = ask(server, path, own)
    assert status == 403
    assert "codes" not in words
    assert ask(server, path.replace("/sheet/", "/upload/"), own, "POST", b"x")[0] == 403
    client = page.evaluate("window.clientId")
    assert ask(server, f"{SOCKET}&client_id={client}", {**own, **UPGRADE})[0] == 403
    heard = _emit(server, own, "handshake", {"client_id": client, "tab_id": page.evaluate("window.TAB_ID")})
    assert "false" in heard


def test_what_is_sent_to_a_page_of_another_session_is_dropped(
    server: RunningServer, page: Page, own: dict[str, str]
) -> None:
    """The click of another visitor on the button of a page that he knows the id of."""
    light = page.get_by_test_id("light")
    expect(light).to_contain_text("Colours:")
    expect(light).to_contain_text("auto")
    sent: list[str] = []
    page.on("websocket", lambda opened: opened.on("framesent", lambda frame: sent.append(str(frame))))
    reload(page)
    light.click()
    expect(light).to_contain_text("dark")
    click = next(frame for frame in reversed(sent) if '"event"' in frame)
    _emit(server, own, "event", json.loads(click[click.index("[") :])[1])
    reload(page)
    expect(light).to_contain_text("dark")


def _emit(server: RunningServer, headers: Mapping[str, str], name: str, message: dict[str, object]) -> str:
    """What the server answers to a message that comes through a socket of its own."""
    polling = "/_nicegui_ws/socket.io/?EIO=4&transport=polling"
    sid = json.loads(ask(server, polling, headers)[2].removeprefix("0"))["sid"]
    polling += f"&sid={sid}"
    for packet in ("40", "420" + json.dumps([name, message])):
        assert ask(server, polling, headers, "POST", packet.encode())[0] == 200
    # Packets come several at once or one by one; the one that answers begins with 43.
    while True:
        for packet in ask(server, polling, headers)[2].split("\x1e"):
            if packet.startswith("43"):
                return packet


def test_a_stranger_sees_words_not_a_page(
    server: RunningServer, new_context: Callable[[], BrowserContext]
) -> None:
    page = new_context().new_page()
    answer = page.goto(server.origin)
    assert answer is not None
    assert answer.status == 403
    page.get_by_role("heading", name="Not opened").wait_for()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_nothing_is_left_behind(start_server: Callable[..., RunningServer], how: signal.Signals) -> None:
    server = start_server()
    cookie = cookie_of(server, server.first_address)
    assert ask(server, "/", {"Cookie": cookie})[0] == 200
    assert ask(server, SOCKET, {"Cookie": cookie, "Origin": server.origin, **UPGRADE})[0] == 101
    assert list(server.temporary.iterdir()), "the temporary folder is in use while the server runs"
    server.stop(how)
    assert list(server.temporary.iterdir()) == []
    assert list(server.folder.iterdir()) == []
    assert "Traceback" not in server.words.read_text()


@pytest.mark.slow
def test_ctrl_c_ends_the_server_in_the_middle_of_a_search(
    start_server: Callable[..., RunningServer], new_context: Callable[[], BrowserContext]
) -> None:
    server = start_server()
    page = new_context().new_page()
    page.goto(server.first_address)
    listening(page)
    open_example(page, "thesis-100x120")
    go(page, "protect")
    start(page)
    expect(page.get_by_test_id("run-1-phase")).to_have_text(re.compile("branching"))
    assert server.stop() == 0
    assert list(server.temporary.iterdir()) == []
