"""Notices appear where they were asked for, also when the button that was pressed is gone by then."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from nicegui import Client, ElementFilter, ui

from tacita.app.controls import notices
from tacita.core.errors import InputError


@pytest.fixture
def page() -> Iterator[Client]:
    """A page of its own, with a place for notices."""
    client = Client(ui.page("/notices"))
    with client:
        notices.show_area()
        yield client
    if not client.is_deleted:
        client.delete()


def said(tone: notices.Tone = "error") -> list[str]:
    """The notices of a tone on the page."""
    rows = list(ElementFilter(marker=f"notice-{tone}"))
    return [part.text for row in rows for part in row.descendants() if "notice-text" in part.classes]


@pytest.mark.usefixtures("page")
@pytest.mark.parametrize("fails", [True, False])
def test_an_attempt_may_take_away_what_it_was_asked_from(fails: bool) -> None:
    notices.tell("from before", "error")
    part = ui.element()
    inside = part.default_slot
    with inside, notices.attempt():
        part.delete()
        del part
        gc.collect()
        with pytest.raises(RuntimeError, match="deleted"):
            _ = inside.parent
        if fails:
            raise InputError("the cell is locked")
    assert said() == (["the cell is locked"] if fails else [])


@pytest.mark.parametrize("fails", [True, False])
def test_an_attempt_may_outlast_its_page(page: Client, fails: bool) -> None:
    with notices.attempt():
        page.delete()
        if fails:
            raise InputError("too late")
    assert said() == []


def test_a_page_that_is_gone_is_told_nothing(page: Client) -> None:
    page.delete()
    notices.tell("nobody is there", "error")
    assert said() == []


@pytest.mark.usefixtures("page")
def test_a_notice_replaces_the_one_of_its_tone_only() -> None:
    told: list[tuple[str, notices.Tone]] = [("first", "error"), ("noted", "note"), ("second", "error")]
    for text, tone in told:
        notices.tell(text, tone)
    assert said() == ["second"]
    assert said("note") == ["noted"]


@pytest.mark.usefixtures("page")
def test_an_offer_is_withdrawn_and_nothing_else() -> None:
    notices.tell("wrong", "error")
    notices.offer("records?", "Tabulate", lambda: None, lambda: None)
    assert said("offer") == ["records?"]
    notices.withdraw_offer()
    assert (said("offer"), said()) == ([], ["wrong"])
