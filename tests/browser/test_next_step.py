"""Every page proposes the step that follows from what is known on it."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from driving import add_rule, go, leads_on, open_by, open_example, start


def take(page: Page, text: str) -> None:
    """The step that the page proposes, and nothing else."""
    step = page.get_by_test_id("next-step")
    expect(step).to_have_text(text)
    with leads_on(page):
        step.click()


def test_steps_lead_from_a_table_to_its_files(page: Page) -> None:
    open_example(page, "nchs")
    take(page, "3 sensitive cells: protect them")
    expect(page.get_by_test_id("next-step")).to_be_hidden()
    start(page)
    take(page, "Run 1 is safe: look at the result")
    take(page, "Safe: write the files")
    expect(page.get_by_test_id("write-folder")).to_be_visible()


def test_a_table_without_a_rule_leads_to_the_rules(page: Page) -> None:
    page.get_by_test_id("paste-text").fill("1\t20\n30\t40")
    open_by(page, "paste-open")
    take(page, "No sensitive cell yet: state what is sensitive")
    expect(page.get_by_test_id("sensitive-count")).to_have_text("0")
    expect(page.get_by_test_id("next-step")).to_be_hidden()
    (filled,) = page.evaluate(FILLED)
    assert filled.startswith("threshold(5)")
    add_rule(page, "threshold", "threshold(3)")
    take(page, "1 sensitive cell: protect it")
    expect(page.get_by_test_id("method-name")).to_be_visible()


FILLED = """() => [...document.querySelectorAll(".screen .q-btn, .screen .offer, .next-step")]
    .filter((button) => button.checkVisibility() && !button.closest(".q-btn-group"))
    .filter((button) => getComputedStyle(button).backgroundColor === "rgb(31, 95, 153)")
    .map((button) => button.innerText.trim())"""
"""The words on all buttons of a page that stand out by their ground."""


@pytest.mark.slow
def test_one_action_stands_out_on_every_page(page: Page) -> None:
    assert page.evaluate(FILLED) == ["Choose files"]
    open_example(page, "nchs")
    expect(page.get_by_test_id("next-step")).to_be_visible()
    assert page.evaluate(FILLED) == ["3 sensitive cells: protect them"]
    go(page, "rules")
    expect(page.get_by_test_id("next-step")).to_be_visible()
    assert page.evaluate(FILLED) == ["3 sensitive cells: protect them"]
    go(page, "protect")
    assert [words.splitlines()[-1] for words in page.evaluate(FILLED)] == ["Run"]
    start(page)
    expect(page.get_by_test_id("next-step")).to_be_visible()
    assert page.evaluate(FILLED) == ["Run 1 is safe: look at the result"]
    start(page)
    expect(page.get_by_test_id("next-step")).to_have_text("Run 2 is safe: look at the result")
    go(page, "result")
    assert page.evaluate(FILLED) == ["Safe: write the files"]
    go(page, "compare")
    assert page.evaluate(FILLED) == ["Run 2 is safe: write its files"]
    go(page, "export")
    assert page.evaluate(FILLED) == ["Write to this folder"]
    go(page, "start")
    assert page.evaluate(FILLED) == ["Go on with NCHS, Table I"]


def test_an_empty_desk_leads_to_a_table_and_a_table_to_a_run(page: Page) -> None:
    for name in ("table", "rules", "protect", "result", "compare", "export"):
        go(page, name)
        expect(page.get_by_test_id("next-step")).to_have_text("Open, paste, type or generate a table")
        assert page.evaluate(FILLED) == ["Open, paste, type or generate a table"]
    take(page, "Open, paste, type or generate a table")
    open_example(page, "nchs")
    for name in ("result", "compare", "export"):
        go(page, name)
        expect(page.get_by_test_id("next-step")).to_have_text("Choose a method and run it")


def test_a_step_follows_the_run_that_is_shown(page: Page) -> None:
    page.get_by_test_id("paste-text").fill("1\t20\n30\t40")
    open_by(page, "paste-open")
    go(page, "protect")
    start(page)
    step = page.get_by_test_id("next-step")
    expect(step).to_have_text("Run 1 is nothing was sensitive, so nothing was checked: see why")
