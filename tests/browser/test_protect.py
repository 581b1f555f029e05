"""Protect: forms from options, runs that are watched, cancelled, repeated and removed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from driving import (
    choose,
    go,
    leads_on,
    open_by,
    open_example,
    open_path,
    reload,
    result,
    run_method,
    start,
    unfold,
)
from tacita.formats.jj import write_jj
from tacita.generate import problem as generated
from tacita.methods import method_names, options_of
from tacita.methods.method import method_class

SOON = 30_000
"""Milliseconds in which a page at work answers, even on a busy machine; its search goes on for minutes."""


def open_long(page: Page, folder: Path) -> None:
    """A cube with hierarchies, on which suppression is at work for minutes."""
    problem = generated((12, 12, 8), "fs", hierarchy=(2, 2, 1), sensitive=60, seed=1)
    write_jj(problem, folder / "long.jj")
    open_path(page, folder / "long.jj")
    go(page, "protect")


def type_at_once(field: str, text: str) -> str:
    """A script that types into a field in the moment in which it comes into being."""
    return f"""
        new MutationObserver((_, observer) => {{
            const field = document.querySelector("[data-testid={field}]");
            if (field === null) return;
            observer.disconnect();
            field.value = "{text}";
            field.dispatchEvent(new Event("input", {{ bubbles: true }}));
        }}).observe(document, {{ subtree: true, childList: true }});
    """


@pytest.mark.slow
def test_every_method_has_its_words_and_a_control_for_each_option(page: Page) -> None:
    open_example(page, "nchs")
    go(page, "protect")
    for name in method_names():
        page.get_by_test_id(f"method-{name}").click()
        expect(page.get_by_test_id("method-name")).to_have_text(name)
        expect(page.get_by_test_id(f"method-{name}")).to_contain_text(method_class(name).does)
        expect(page.get_by_text(method_class(name).choose)).to_be_visible()
        for option in options_of(name):
            expect(page.get_by_test_id(f"option-{option.name}")).to_have_count(1)
        expect(page.get_by_test_id("run")).to_be_enabled()


def test_wrong_input_is_told_at_the_field_and_nothing_runs(page: Page) -> None:
    open_example(page, "nchs")
    go(page, "protect")
    page.get_by_test_id("method-rounding").click()
    expect(page.get_by_test_id("option-base")).to_be_visible()
    expect(page.get_by_test_id("option-steps")).to_be_hidden()
    unfold(page, "option-more")
    page.get_by_test_id("option-steps").fill("a few")
    expect(page.get_by_text("must be an integer, not 'a few'").first).to_be_visible()
    expect(page.get_by_test_id("run")).to_be_disabled()
    page.get_by_test_id("option-steps").fill("0")
    page.get_by_test_id("option-power").fill("0.5")
    expect(page.get_by_test_id("run-refused")).to_contain_text("a power of 1 or more")
    page.get_by_test_id("option-power").fill("2")
    page.get_by_test_id("time-limit").fill("-1")
    expect(page.get_by_test_id("run-refused")).to_contain_text("no number of seconds above 0")
    page.get_by_test_id("time-limit").fill("")
    expect(page.get_by_test_id("run")).to_be_enabled()


@pytest.mark.slow
def test_what_is_typed_in_the_first_moment_of_a_form_stays(page: Page) -> None:
    open_example(page, "nchs")
    go(page, "protect")
    # A field that the form before does not have: in that it would be typed, and go with it.
    expect(page.get_by_test_id("option-steps")).to_have_count(0)
    page.evaluate(type_at_once("option-steps", "a few"))
    page.get_by_test_id("method-rounding").click()
    expect(page.get_by_test_id("run-refused")).to_contain_text("must be an integer, not 'a few'")
    expect(page.get_by_test_id("option-steps")).to_have_value("a few")


@pytest.mark.slow
def test_what_is_typed_in_the_first_moment_of_the_page_stays(page: Page) -> None:
    open_example(page, "nchs")
    go(page, "protect")
    page.get_by_test_id("method-rounding").click()
    page.get_by_test_id("option-base").fill("10")
    page.get_by_test_id("time-limit").fill("60")
    unfold(page, "effort-more")
    page.get_by_test_id("seed").fill("3")
    start(page)
    expect(page.get_by_test_id("run-1-state")).to_have_text("✔ safe")
    page.add_init_script(type_at_once("seed", "17"))
    reload(page)
    expect(page.get_by_test_id("run-question")).not_to_have_text("…")
    expect(page.get_by_test_id("time-limit")).to_have_value("60")
    expect(page.get_by_test_id("option-base")).to_have_value("10")
    expect(page.get_by_test_id("seed")).to_have_value("17")


@pytest.mark.slow
def test_a_shortcut_fills_the_form_and_the_numbers_are_those_of_the_paper(page: Page) -> None:
    open_example(page, "nchs")
    go(page, "protect")
    expect(page.get_by_test_id("run-question")).to_have_text("3 sensitive of 66 cells, against an outsider.")
    unfold(page, "presets")
    choose(page, "preset", "NCHS: controlled rounding")
    expect(page.get_by_test_id("method-name")).to_have_text("rounding")
    expect(page.get_by_test_id("option-base")).to_have_value("5")
    expect(page.get_by_test_id("option-power")).to_have_value("2")
    expect(page.get_by_text("whether changes of totals count too · changed, default: yes")).to_be_visible()
    start(page)
    expect(page.get_by_test_id("run-1-state")).to_have_text("✔ safe")
    expect(page.get_by_test_id("run-1-loss")).to_have_text("147")
    expect(page.get_by_test_id("run-1-gap")).to_have_text("0.00%")


@pytest.mark.slow
def test_a_base_that_is_too_small_fails_in_the_words_of_the_method(page: Page) -> None:
    open_example(page, "salazar")
    run_method(page, "rounding", 1, "! failed", base="10")
    expect(page.get_by_test_id("run-1-error")).to_contain_text("The smallest base that can work is 18")
    expect(page.get_by_test_id("run-1-result")).to_be_hidden()


@pytest.mark.slow
def test_a_run_is_used_again_and_removed(page: Page) -> None:
    open_example(page, "nchs")
    run_method(page, "rounding", 1, base="10")
    run_method(page, "suppression", 2)
    page.get_by_test_id("run-1-again").click()
    expect(page.get_by_test_id("method-name")).to_have_text("rounding")
    expect(page.get_by_test_id("option-base")).to_have_value("10")
    start(page)
    expect(page.get_by_test_id("run-3-state")).to_have_text("✔ safe")
    loss = page.get_by_test_id("run-1-loss").inner_text()
    expect(page.get_by_test_id("run-3-loss")).to_have_text(loss)
    page.get_by_test_id("run-2-remove").click()
    expect(page.get_by_test_id("run-2")).to_have_count(0)
    reload(page)
    expect(page.get_by_test_id("run-3")).to_be_visible()
    expect(page.get_by_test_id("run-2")).to_have_count(0)
    result(page, 1)
    expect(page.get_by_test_id("choose-run")).to_have_value("1 · rounding (base 10) · ✔ safe")


def test_a_long_run_is_watched_reloaded_and_cancelled_with_its_best(page: Page, tmp_path: Path) -> None:
    open_long(page, tmp_path)
    start(page)
    state = page.get_by_test_id("run-1-state")
    expect(state).to_have_text("searching")
    # Only a search that has a release already can end with its best.
    for figure in ("loss", "bound"):
        expect(page.get_by_test_id(f"run-1-{figure}")).not_to_have_text("–")
    chart = page.get_by_test_id("run-1-chart")
    expect(chart).to_have_attribute("aria-label", re.compile("Loss .* and bound .* after"))
    reload(page)
    expect(state).to_have_text("searching")
    # The page answers while it searches.
    page.get_by_test_id("method-rounding").click()
    expect(page.get_by_test_id("method-name")).to_have_text("rounding", timeout=SOON)
    # Another window waits for what comes out.
    waiting = page.context.new_page()
    waiting.goto(page.url.replace("/protect", "/result"))
    expect(waiting.get_by_test_id("not-over")).to_be_visible()
    expect(page.get_by_test_id("run-1-cancel")).to_have_text("Stop and keep the best so far")
    page.get_by_test_id("run-1-cancel").click()
    expect(state).not_to_have_text("searching", timeout=SOON)
    expect(state).to_have_text("✔ safe")
    loss, bound = (
        float(page.get_by_test_id(f"run-1-{name}").inner_text().replace(",", ""))
        for name in ("loss", "bound")
    )
    assert 0 < bound <= loss
    expect(page.get_by_test_id("run-1-cut-short")).to_have_text("Cancelled; the best so far is kept")
    expect(waiting.get_by_test_id("verdict-word")).to_have_text("✔ Safe")
    expect(waiting.get_by_test_id("cut-short")).to_have_text("Cancelled; the best so far is kept")
    page.get_by_test_id("run-1-log").get_by_role("button").first.click()
    expect(page.get_by_test_id("run-1-log")).to_contain_text("60 safe, all proven")


def test_where_nothing_is_sensitive_it_is_said_before(page: Page) -> None:
    page.get_by_test_id("paste-text").fill("1\t2\n3\t4")
    open_by(page, "paste-open")
    go(page, "protect")
    expect(page.get_by_test_id("run-question")).to_contain_text("Nothing is sensitive yet")


@pytest.mark.slow
def test_the_form_begins_with_what_a_project_wishes(page: Page, tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("row,column,value\nA,x,1\nA,y,7\nB,x,8\nB,y,12\n")
    (tmp_path / "project.toml").write_text(
        '[table]\nfile = "table.csv"\n[rules]\nrule = "threshold(3)"\n'
        '[protect]\nmethod = "rounding"\noptions = { base = 5, margins = false }\n'
    )
    open_path(page, tmp_path / "project.toml")
    go(page, "protect")
    expect(page.get_by_test_id("method-name")).to_have_text("rounding")
    expect(page.get_by_test_id("option-base")).to_have_value("5")
    start(page)
    expect(page.get_by_test_id("run-1")).to_contain_text("1 · rounding (base 5, margins off)")
    expect(page.get_by_test_id("run-1-state")).to_have_text("✔ safe")


@pytest.mark.slow
def test_what_waits_need_not_start(page: Page, tmp_path: Path) -> None:
    open_long(page, tmp_path)
    for number in (1, 2, 3):
        page.get_by_test_id("run").click()
        expect(page.get_by_test_id(f"run-{number}")).to_be_visible()
    state = page.get_by_test_id("run-3-state")
    expect(state).to_contain_text("waiting")
    cancel = page.get_by_test_id("run-3-cancel")
    expect(cancel).to_have_text("Do not start")
    cancel.click()
    expect(state).to_have_text("– cancelled before it began", timeout=SOON)
    expect(cancel).to_be_hidden()
    expect(page.get_by_test_id("run-1-cancel")).to_have_text(re.compile("^Stop( and keep the best so far)?$"))
    for number in (1, 2):
        page.get_by_test_id(f"run-{number}-remove").click()
        # Before the page is left: what is not removed works on for as long as the server lives.
        expect(page.get_by_test_id(f"run-{number}")).to_be_hidden(timeout=SOON)
    go(page, "result")
    expect(page.get_by_test_id("verdict-word")).to_have_text("– Cancelled")
    expect(page.get_by_test_id("verdict-said")).to_have_text("cancelled before it began")


@pytest.mark.slow
def test_a_case_that_does_not_fit_is_not_run_and_the_reason_leads_to_its_remedy(page: Page) -> None:
    page.get_by_test_id("paste-text").fill("1\t-2\n3\t4")
    open_by(page, "paste-open")
    go(page, "protect")
    expect(page.get_by_test_id("run-refused")).to_contain_text("is negative")
    expect(page.get_by_test_id("run")).to_be_disabled()
    # Other options do not mend it.
    page.get_by_test_id("method-rounding").click()
    expect(page.get_by_test_id("method-name")).to_have_text("rounding")
    expect(page.get_by_test_id("run-refused")).to_contain_text("is negative")
    expect(page.get_by_test_id("run")).to_be_disabled()
    with leads_on(page):
        page.get_by_test_id("run-mend").get_by_role("link", name="Rules and attackers").click()
    page.wait_for_url("**/rules")
    choose(page, "outsider", "a lower and an upper bound of all cells")
    page.get_by_test_id("outsider-lower").fill("none")
    page.get_by_test_id("outsider-lower").blur()
    expect(page.get_by_test_id("sensitive-count")).to_have_text("0")
    go(page, "protect")
    expect(page.get_by_test_id("run-question")).to_contain_text("Nothing is sensitive yet")
    expect(page.get_by_test_id("run")).to_be_enabled()
    expect(page.get_by_test_id("run-mend").get_by_role("link", name="Table and marks")).to_be_visible()
    go(page, "table")
    page.get_by_test_id("mark-sensitive").click()
    expect(page.get_by_test_id("counts")).to_contain_text("1 sensitive")
    go(page, "protect")
    expect(page.get_by_test_id("run-question")).to_contain_text("1 sensitive of 9 cells")
    expect(page.get_by_test_id("run-mend")).to_be_hidden()


@pytest.mark.slow
def test_charts_of_runs_that_are_over_are_drawn_when_they_are_opened(page: Page) -> None:
    open_example(page, "nchs")
    run_method(page, "suppression", 1)
    chart = page.get_by_test_id("run-1-chart")
    reload(page)
    expect(page.get_by_test_id("run-1-loss")).to_have_text("1,270")
    expect(chart).to_have_count(0)
    details = page.get_by_test_id("run-1-log")
    details.get_by_role("button").first.click()
    expect(chart).to_be_visible()
    expect(details).to_contain_text("3 sensitive cells: 3 safe")


@pytest.mark.slow
def test_runs_of_other_tables_are_folded(page: Page) -> None:
    open_example(page, "salazar")
    run_method(page, "suppression", 1)
    open_example(page, "nchs")
    run_method(page, "suppression", 1)
    fold = page.get_by_test_id("other-runs")
    expect(fold).to_contain_text("1 run of other tables")
    expect(page.get_by_test_id("run-1")).to_have_count(1)
    fold.get_by_role("button").first.click()
    expect(fold.get_by_test_id("run-1-state")).to_contain_text("✔ safe, for Salazar")
    fold.get_by_test_id("run-1-remove").click()
    expect(fold).to_be_hidden()
    expect(page.get_by_test_id("runs").get_by_test_id("run-1")).to_be_visible()
