"""A lost connection covers the page and says what is lost; a new server at its address leads to Start."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from driving import enter, go, listening, open_example
from running_server import RunningServer

Start = Callable[..., RunningServer]


@pytest.fixture
def own(start_server: Start, new_context: Callable[..., BrowserContext]) -> tuple[RunningServer, Page]:
    """A server of this test's own, and a page of it with a table."""
    server = start_server()
    page = enter(new_context(), server.first_address)
    open_example(page, "nchs")
    go(page, "rules")
    return server, page


def test_a_page_of_a_killed_server_says_what_is_gone_and_goes_on_with_the_next(
    own: tuple[RunningServer, Page], start_server: Start
) -> None:
    server, page = own
    cover = page.get_by_test_id("connection")
    expect(cover).to_be_hidden()
    server.stop(signal.SIGKILL)
    expect(cover).to_have_attribute("data-state", "gone")
    expect(cover).to_be_visible()
    expect(cover).to_contain_text("The server has ended")
    expect(cover).to_contain_text("kept as recent work")
    expect(cover).to_contain_text(f"--port {server.port}")
    # Escape does not uncover a page on which nothing arrives.
    page.keyboard.press("Escape")
    expect(cover).to_be_visible()
    again = start_server("--port", str(server.port))
    expect(cover).to_have_attribute("data-state", "unknown")
    expect(cover).to_contain_text("does not know this browser yet")
    # The guard lets nobody in without a token; whoever opens the address has a session in this browser.
    other = enter(page.context, again.first_address)
    page.wait_for_url(lambda address: urlsplit(address).path == "/")
    listening(page)
    expect(page.get_by_test_id("connection")).to_be_hidden()
    expect(page.get_by_test_id("open-now")).to_contain_text("Nothing is open yet")
    other.close()


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="a process is halted by SIGSTOP")
def test_a_server_that_does_not_answer_for_a_while_has_lost_nothing(own: tuple[RunningServer, Page]) -> None:
    server, page = own
    cover = page.get_by_test_id("connection")
    server.process.send_signal(signal.SIGSTOP)
    page.evaluate("() => { window.socket.io.engine.close(); }")
    expect(cover).to_have_attribute("data-state", "busy")
    expect(cover).to_contain_text("Nothing on it is lost")
    page.wait_for_timeout(6000)
    expect(cover).to_have_attribute("data-state", "busy")
    server.process.send_signal(signal.SIGCONT)
    expect(cover).to_be_hidden()
    assert urlsplit(page.url).path == "/rules"
    page.get_by_test_id("rule-1-n").fill("77")
    go(page, "protect")
    go(page, "rules")
    expect(page.get_by_test_id("rule-1-n")).to_have_value("77")
