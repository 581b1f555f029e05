"""Every screen for every eye: contrast, names, headings, landmarks and room, as access.js finds them.

Each page is looked at on a laptop and at 125 %, in the light and in the dark.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from access import READY, SCREENS, complaints
from driving import cell, go, leads_on, open_example, open_path, result, run_method, unfold
from tacita.app.sheet.content import LOOKS
from tacita.examples import example
from tacita.formats.table_write import write_table


@pytest.mark.slow
def test_screens_without_a_table_and_their_help(page: Page) -> None:
    for screen in SCREENS:
        go(page, screen)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        assert complaints(page) == [], screen
        page.get_by_test_id("help").click()
        expect(page.get_by_test_id("help-close")).to_be_visible()
        assert complaints(page) == [], f"help on {screen}"
        page.keyboard.press("Escape")


@pytest.mark.slow
def test_screens_with_runs(page: Page) -> None:
    """A table with a run that is safe, one that is not, and one that failed."""
    open_example(page, "tiwari-3")
    run_method(page, "suppression", 1)
    run_method(page, "random-rounding", 2, "✘ not safe", base="19", protected=False)
    run_method(page, "random-rounding", 3, "! failed", base="19")
    for screen in SCREENS:
        go(page, screen)
        expect(page.get_by_test_id(READY[screen])).to_be_visible()
        assert complaints(page) == [], screen
        expect(page).to_have_title(f"{screen.capitalize()} · Tacita")
    for ending in ("✔ safe", "✘ not safe"):
        go(page, "result")
        with leads_on(page):
            page.get_by_test_id("choose-run").click()
            page.get_by_role("option").filter(has_text=ending).click()
        for screen, there in (("result", "sensitive-cells"), ("export", "download-publication")):
            go(page, screen)
            expect(page.get_by_test_id("choose-run")).to_have_value(re.compile(ending))
            expect(page.get_by_test_id(there)).to_be_visible()
            assert complaints(page) == [], (screen, ending)


@pytest.mark.slow
def test_eight_runs_with_long_names_of_a_table_with_a_long_name(page: Page, tmp_path: Path) -> None:
    """One run of each method, named without a blank where a page could break them, with the table open that
    they are of and with another one; and a run that failed.
    """
    problem = example("nchs")
    path = tmp_path / f"deaths_by_cause_and_county_{'x' * 150}.csv"
    open_path(page, write_table(problem.table, path, problem))
    runs: dict[str, dict[str, str | bool]] = {
        "suppression": {"at_most": "40"},
        "intervals": {"at_most": "40"},
        "rounding": {"base": "10", "subtotals": "row=1+2+3,column=1|2|3;row=4+5+6,column=1|2|3;row=7+8"},
        "unbiased-rounding": {"base": "10"},
        "random-rounding": {},
        "perturbation": {"radius": "40"},
        "adjustment": {"keep": "mean,variance=50,correlation=50,slope=50"},
        "mixture": {},
    }
    for number, (method, options) in enumerate(runs.items(), start=1):
        # Unbiased rounding refuses one draw in ten of this table.
        run_method(page, method, number, seed="1", **options)
    run_method(page, "rounding", 9, "! failed", base="1")
    for screen in SCREENS:
        go(page, screen)
        expect(page.get_by_test_id(READY[screen])).to_be_visible()
        assert complaints(page) == [], screen
    open_example(page, "salazar")
    run_method(page, "suppression", 1)
    go(page, "compare")
    expect(page.get_by_test_id("compared-1").get_by_test_id("run-8")).to_be_visible()
    assert complaints(page) == []


@pytest.mark.slow
def test_a_table_that_scrolls_does_so_by_keyboard(page: Page) -> None:
    """The names of the runs stay in sight."""
    open_example(page, "nchs")
    run_method(page, "suppression", 1)
    go(page, "compare")
    page.get_by_test_id("all-measures").click()
    expect(page.get_by_test_id("l1-1")).to_be_attached()
    page.set_viewport_size({"width": 600, "height": 614})
    scroller, name = page.get_by_role("region", name="Runs in numbers"), page.get_by_test_id("open-1")
    before = name.bounding_box()
    scroller.focus()
    for _ in range(40):
        page.keyboard.press("ArrowRight")
    page.wait_for_function("(place) => place.scrollLeft > 100", arg=scroller.element_handle())
    assert name.bounding_box() == before


@pytest.mark.slow
def test_errors_and_complaints(page: Page) -> None:
    unfold(page, "way-path")
    page.get_by_test_id("path").fill("/no/such/file/" + "with-a-long-name-" * 20 + ".csv")
    page.get_by_test_id("path-open").click()
    expect(page.get_by_test_id("notice-error")).to_be_visible()
    assert complaints(page) == []
    open_example(page, "nchs")
    go(page, "rules")
    unfold(page, "add-rule")
    page.get_by_test_id("rule-1-text").fill("p-percent(10)")
    expect(page.get_by_test_id("rules-error")).not_to_be_empty()
    page.get_by_test_id("rule-1-p").fill("many")
    expect(page.get_by_test_id("rule-1-error")).not_to_be_empty()
    assert complaints(page) == []
    go(page, "protect")
    page.get_by_test_id("time-limit").fill("soon")
    expect(page.get_by_test_id("run-refused")).not_to_be_empty()
    assert complaints(page) == []


@pytest.mark.slow
def test_what_opens_above_the_page(page: Page) -> None:
    page.get_by_test_id("reading").get_by_text("How to read it").click()
    unfold(page, "way-generate")
    page.get_by_test_id("generate-family").click()
    expect(page.get_by_role("option").first).to_be_visible()
    assert complaints(page) == []
    open_example(page, "nchs")
    cell(page, 2, 2).click()
    expect(page.get_by_test_id("cell-deduced")).to_be_visible()
    page.locator(".sheet-keys summary").click()
    assert complaints(page) == []
    page.get_by_test_id("edit-table").click()
    expect(page.get_by_test_id("add-row")).to_be_visible()
    assert complaints(page) == []
    page.keyboard.press("Escape")
    page.get_by_test_id("mark-levels").click()
    expect(page.get_by_test_id("ask-lower")).to_be_visible()
    assert complaints(page) == []


@pytest.mark.slow
def test_words_beside_the_pointer(page: Page) -> None:
    open_example(page, "nchs")
    button, words = page.get_by_test_id("mark-levels"), page.get_by_role("tooltip")
    button.hover()
    expect(words).to_be_visible()
    shown, below = words.bounding_box(), button.bounding_box()
    assert shown is not None
    assert below is not None
    assert shown["y"] + shown["height"] <= below["y"], "they hide the heads of the columns"
    assert complaints(page, pointer_away=False) == []


def test_the_bar_that_scrolls_the_page_is_dark_in_the_dark(page: Page) -> None:
    root = page.locator("html")
    expect(root).to_have_css("color-scheme", "normal")
    page.emulate_media(color_scheme="dark")
    expect(root).to_have_css("color-scheme", "dark")
    page.emulate_media(color_scheme="light")
    expect(root).to_have_css("color-scheme", "normal")


def test_cells_of_every_kind(page: Page) -> None:
    open_example(page, "nchs")
    expect(cell(page, 0, 0)).to_be_visible()
    names = [f"sheet-{look.name}" for look in LOOKS]
    kinds = [*names, *(f"sheet-total {name}" for name in names), "sheet-total sheet-sensitive sheet-changed"]
    for selected in ("false", "true"):
        page.evaluate(
            """([kinds, selected]) => kinds.forEach((kind, position) => {
                const cell = document.querySelectorAll("[role=gridcell]")[position];
                cell.className = `sheet-cell ${kind}`;
                cell.setAttribute("aria-selected", selected);
                cell.dataset.signs = "!";
            })""",
            [kinds, selected],
        )
        assert complaints(page) == []


@pytest.mark.slow
def test_sheets_stay_in_their_room(page: Page) -> None:
    open_example(page, "thesis-20x30")
    run_method(page, "adjustment", 1)
    result(page, 1)
    expect(cell(page, 0, 0, "sheet-protected")).to_be_visible()
    sheet = page.get_by_test_id("sheet-protected").locator(".sheet").bounding_box()
    legend = page.get_by_test_id("legend").bounding_box()
    assert sheet is not None
    assert legend is not None
    assert sheet["y"] + sheet["height"] <= legend["y"]
