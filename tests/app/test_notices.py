"""Notices appear where they were asked for, also when the button that was pressed is gone by then."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from nicegui import Client, ElementFilter, ui

from tacita.app.controls import notices
from tacita.app.controls.remedies import Remedy, find_common_remedies
from tacita.app.work.opening import open_case_of_example
from tacita.app.work.workspace import Workspace
from tacita.core.errors import InputError, TacitaError


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
def test_an_error_has_a_button_for_each_remedy() -> None:
    def find(error: TacitaError) -> list[Remedy]:
        return [Remedy(option, lambda: None) for option in error.options]

    with notices.attempt(find):
        raise InputError("totals differ", remedy="repair them", options=["repair"])
    assert remedies_shown() == ["repair"]
    with notices.attempt(find):
        raise InputError("totals differ")
    assert remedies_shown() == []


def remedies_shown() -> list[str]:
    """The words of the remedies on the page."""
    return [each.text for each in ElementFilter(kind=ui.button) if "remedy" in each.classes]


@pytest.mark.usefixtures("page")
def test_remedies_of_all_pages_lead_to_the_cell_and_to_options_of_the_case() -> None:
    workspace = Workspace()
    try:
        error = InputError("too near", options=["published", "lower=-inf", "lower", "hue"], cell=3)
        assert [each.words for each in find_common_remedies(workspace, error)] == [
            "Go to earlier releases",
            "Go to what everyone knows",
        ]
        workspace.change(open_case_of_example("nchs"))
        assert find_common_remedies(workspace, error)[0].words == "Go to the cell"
        assert "Go to the cell" not in [
            each.words for each in find_common_remedies(workspace, error.without_cell())
        ]
    finally:
        workspace.close()
