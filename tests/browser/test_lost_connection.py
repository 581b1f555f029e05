"""A lost connection covers the page and says what is lost; a new server at its address leads to Start."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from driving import enter, go, leads_on, listening, open_example, run
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
    expect(page.get_by_test_id("open-now")).to_contain_text("safe to publish")
    other.close()


def test_the_cover_says_what_is_kept_now_and_not_when_the_page_was_opened(
    own: tuple[RunningServer, Page],
) -> None:
    server, page = own
    other = enter(page.context, f"{server.origin}/")
    with leads_on(other):
        other.get_by_test_id("keep-recent").click()
    expect(page.locator("#kept-now")).to_contain_text("Recent work is not kept")
    server.stop(signal.SIGKILL)
    for each in (page, other):
        expect(each.get_by_test_id("connection")).to_have_attribute("data-state", "gone")
        expect(each.get_by_test_id("connection")).to_contain_text("the table and all runs are gone too")


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


@pytest.mark.slow
def test_recent_work_is_offered_opened_and_removed(
    start_server: Start, new_context: Callable[..., BrowserContext], tmp_path: Path
) -> None:
    server = start_server(state=tmp_path)
    page = enter(new_context(), server.first_address)
    expect(page.get_by_test_id("recent-none")).to_be_visible()
    open_example(page, "nchs")
    go(page, "rules")
    page.get_by_test_id("rule-1-n").fill("9")
    go(page, "protect")
    run(page)
    server.stop()
    page.context.close()

    server = start_server(state=tmp_path)
    page = enter(new_context(), server.first_address)
    expect(page.get_by_test_id("recent")).to_contain_text("row by column · 66 cells · 1 run")
    with leads_on(page):
        page.get_by_test_id("recent-open").click()
    page.wait_for_url("**/table")
    expect(page.get_by_test_id("notice-note")).to_contain_text("audited anew")
    go(page, "rules")
    expect(page.get_by_test_id("rule-1-n")).to_have_value("9")
    go(page, "protect")
    expect(page.get_by_test_id("run-1-state")).to_have_text("✔ safe")
    # Another session of this server gets a copy, which can be removed without harm to the first.
    other = enter(new_context(), server.new_address())
    expect(other.get_by_test_id("recent")).to_contain_text("open in another session")
    other.get_by_test_id("recent-remove").click()
    expect(other.get_by_test_id("recent-none")).to_be_visible()
    with leads_on(other):
        other.get_by_test_id("keep-recent").click()
    expect(other.get_by_test_id("keep-recent")).to_have_attribute("aria-checked", "false")
    server.stop()
    assert [path.name for path in (tmp_path / "tacita" / "recent").iterdir()] == ["settings.json"]
