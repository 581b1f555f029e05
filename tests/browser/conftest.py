"""The real server in a process of its own, and headless Chromium to visit it.

``server``     one per worker; ``server.new_address()`` is a fresh one-time address, hence a fresh session
``page``       a browser page with a session of its own, on the start screen
``new_page``   more of them: ``new_page()`` for each further visitor
``prepare``    ``prepare(steps)`` takes steps in a session once, ``new_page(prepared, "/result")`` goes on in
               it: for tests that look at the same runs and change nothing
``start_server``  another server, for tests that stop it or need other options

Whatever page a test uses, the test fails if it asked another host for anything or if a script failed in it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, StorageState, expect, sync_playwright

from driving import PATIENCE, Prepare, enter
from get_chromium import REMEDY, find_chromium
from running_server import TACITA, RunningServer

LAPTOP = {"width": 1366, "height": 768}

expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="session")
def start_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., RunningServer]]:
    """``start_server("CASE", "--largest-upload", "1")`` runs ``tacita app`` with these words."""
    with ExitStack() as running:

        def start(
            *arguments: str, program: Sequence[str] = TACITA, state: Path | None = None
        ) -> RunningServer:
            server = RunningServer.start(
                arguments,
                program=program,
                state=state,
                folder=tmp_path_factory.mktemp("working"),
                temporary=tmp_path_factory.mktemp("temporary"),
                words=tmp_path_factory.mktemp("words") / "stderr",
            )
            running.callback(server.stop)
            return server

        yield start


@pytest.fixture(scope="session")
def server(start_server: Callable[..., RunningServer]) -> RunningServer:
    return start_server()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    chromium = find_chromium()
    if chromium is None:
        pytest.skip(f"no Chromium on this machine. Remedy: {REMEDY}")
    # Names are not even looked up: a request to another host fails at once, and is recorded.
    arguments = ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        arguments.append("--no-sandbox")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=arguments)
        yield started
        started.close()


@pytest.fixture
def outside() -> Iterator[list[str]]:
    """Requests of this test's pages to other hosts."""
    asked: list[str] = []
    yield asked
    assert asked == [], f"asked other hosts: {asked}"


@pytest.fixture
def faults() -> Iterator[list[str]]:
    """Scripts that failed in this test's pages, and what the content security policy held back."""
    seen: list[str] = []
    yield seen
    assert seen == [], f"scripts failed: {seen}"


@pytest.fixture
def new_context(
    browser: Browser, outside: list[str], faults: list[str]
) -> Iterator[Callable[..., BrowserContext]]:
    """A visitor without a session: cookies, storage and cache of its own."""
    with visitors(browser, outside, faults) as visit:
        yield visit


@pytest.fixture
def new_page(server: RunningServer, new_context: Callable[..., BrowserContext]) -> Callable[..., Page]:
    """A visitor with a fresh session, on the start screen; or with a prepared one, on any."""

    def visit(prepared: StorageState | None = None, path: str = "/") -> Page:
        address = server.new_address() if prepared is None else server.origin + path
        return enter(new_context(prepared), address)

    return visit


@pytest.fixture
def page(new_page: Callable[..., Page]) -> Page:
    return new_page()


@pytest.fixture(scope="session")
def prepare(server: RunningServer, browser: Browser) -> Prepare:
    """A session in which some steps have been taken: what is open in it belongs to its cookie."""

    def take(steps: Callable[[Page], None]) -> StorageState:
        outside: list[str] = []
        faults: list[str] = []
        with visitors(browser, outside, faults) as visit:
            page = enter(visit(), server.new_address())
            steps(page)
            prepared = page.context.storage_state()
        assert outside == faults == []
        return prepared

    return take


@contextmanager
def visitors(
    browser: Browser, outside: list[str], faults: list[str]
) -> Iterator[Callable[..., BrowserContext]]:
    """Visitors, and what their pages do that they should not; gone in the end."""

    def watch(page: Page) -> None:
        page.on("websocket", lambda socket: record(socket.url))
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda said: faults.append(said.text) if _held_back(said.text) else None)

    def record(address: str) -> None:
        parts = urlsplit(address)
        if parts.scheme not in ("data", "blob", "about") and parts.hostname not in ("127.0.0.1", "localhost"):
            outside.append(address)

    with ExitStack() as opened:

        def visit(prepared: StorageState | None = None) -> BrowserContext:
            context = browser.new_context(viewport=LAPTOP, reduced_motion="reduce", storage_state=prepared)
            opened.callback(context.close)
            context.set_default_timeout(PATIENCE)
            context.on("request", lambda request: record(request.url))
            context.on("page", watch)
            return context

        yield visit


def _held_back(said: str) -> bool:
    return "Content Security Policy" in said
