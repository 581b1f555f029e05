"""Compare: the numbers of each run as the core measures them, sorted, marked, plotted, and told in words."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, StorageState, expect

import tacita as tc
from driving import Prepare, choose, go, leads_on, open_example, run_method, unfold
from tacita.examples import example


@pytest.fixture(scope="module")
def three_runs(prepare: Prepare) -> StorageState:
    """Three runs of the NCHS table, one of them not safe."""

    def steps(page: Page) -> None:
        open_example(page, "nchs")
        run_method(page, "suppression", 1)
        run_method(page, "rounding", 2, base="10")
        run_method(page, "rounding", 3, "✘ not safe", base="3", protected=False)

    return prepare(steps)


@pytest.fixture
def compared(three_runs: StorageState, new_page: Callable[..., Page]) -> Page:
    """The three runs on the screen Compare; to be looked at only, since they are made once."""
    return new_page(three_runs, "/compare")


def runs_in_order(page: Page) -> list[str]:
    lines = page.get_by_test_id("runs").locator("tbody tr").all()
    return [str(line.get_attribute("data-testid")) for line in lines]


def test_runs_are_side_by_side_with_what_they_lost(compared: Page) -> None:
    page = compared
    expect(page.get_by_test_id("loss-1")).to_have_text("1,270")
    expect(page.get_by_test_id("loss-2")).to_have_text("192")
    expect(page.get_by_test_id("l1-2")).to_have_count(0)
    expect(page.get_by_test_id("columns-explained")).not_to_contain_text("l1")
    expect(page.get_by_test_id("silent-1")).to_have_text("8")
    # The least among the safe ones is marked; what is not safe wins nothing.
    expect(page.get_by_test_id("changed-1")).to_have_text("★ 8")
    expect(page.get_by_test_id("silent-2")).to_have_text("★ 0")
    expect(page.get_by_test_id("silent-3")).to_have_text("0")
    expect(page.get_by_test_id("run-3")).to_contain_text("✘ not safe")
    page.get_by_test_id("all-measures").click()
    expect(page.get_by_test_id("l1-2")).to_have_text("192")
    expect(page.get_by_test_id("columns-explained")).to_contain_text("l1")


def test_a_run_is_exported_from_here(compared: Page) -> None:
    page = compared
    with leads_on(page):
        page.get_by_test_id("export-2").click()
    expect(page.get_by_test_id("choose-run")).to_have_value("2 · rounding (base 10) · ✔ safe")


def test_two_runs_are_compared_cell_by_cell(compared: Page) -> None:
    page = compared
    choose(page, "cells-first", "1 · suppression")
    choose(page, "cells-second", "2 · rounding (base 10)")
    question = example("nchs")
    first, second = (
        method.protect(question) for method in (tc.Suppression(), tc.Rounding(base=10, protected=True))
    )
    found = tc.compare_cells(question.table, first, second)
    counts = page.get_by_test_id("cells-counts")
    expect(counts).to_contain_text("show no number: 8 in the first only, 0 in the second only, 0 in both")
    expect(counts).to_contain_text(f"first only: {found.counts['only_first']}, by the second")
    alone = page.get_by_test_id("cells-sheet-first").get_by_role("gridcell", name="in this run only")
    expect(alone).to_have_count(found.counts["only_first"])
    choose(page, "cells-second", "1 · suppression")
    expect(counts).to_contain_text("first only: 0, by the second only: 0, by both: 8.")


def test_a_head_sorts_and_turns_the_order(compared: Page) -> None:
    page = compared
    page.get_by_test_id("sort-changed").click()
    expect(page.get_by_test_id("sort-changed")).to_have_text("Changed ↑")
    assert runs_in_order(page) == ["run-1", "run-3", "run-2"]
    page.get_by_test_id("sort-changed").click()
    expect(page.get_by_test_id("sort-changed")).to_have_text("Changed ↓")
    assert runs_in_order(page) == ["run-2", "run-3", "run-1"]
    head = page.get_by_test_id("runs").locator("th[aria-sort=descending]")
    expect(head).to_have_text("Changed ↓")


def test_the_plot_is_told_in_words_and_in_a_table(compared: Page) -> None:
    page = compared
    plot, table = page.get_by_test_id("plot"), page.get_by_test_id("plot-table")
    expect(table.locator("tbody tr")).to_have_count(3)
    told = "1 · suppression: percent of cells changed 12.1"
    expect(plot).to_have_attribute("aria-label", re.compile(rf"{re.escape(told)}.*not safe", re.DOTALL))
    choose(page, "across", "l1")
    expect(table.locator("tbody tr").nth(1)).to_contain_text("192")
    expect(plot.locator("svg")).to_be_visible()


def test_statistics_are_told_of_runs_that_show_every_number(compared: Page) -> None:
    unfold(compared, "statistics-fold")
    table = compared.get_by_test_id("statistics")
    expect(table.locator("tbody tr")).to_have_count(2)
    problem = example("nchs")
    inner = ~problem.table.structure.is_total
    values = problem.table.values[inner]
    shown = tc.Rounding(base=10).protect(problem).value[inner]
    change = 100 * (shown.var() / values.var() - 1)
    expect(table.get_by_test_id("variance-2")).to_have_text(f"{change:+.4f}")


def test_at_390_pixels_a_run_is_a_card_with_all_measures_and_its_button_in_sight(compared: Page) -> None:
    page = compared
    page.set_viewport_size({"width": 390, "height": 800})
    for part in ("changed-1", "silent-1", "export-1"):
        box = page.get_by_test_id(part).bounding_box()
        assert box is not None
        assert 0 <= box["x"] <= box["x"] + box["width"] <= 390
    row = page.get_by_test_id("run-1")
    expect(row.get_by_role("cell", name="★ 8")).to_be_visible()
    expect(page.get_by_role("table").get_by_role("row")).not_to_have_count(0)


def test_stars_are_explained_where_there_are_any(compared: Page, page: Page) -> None:
    expect(compared.get_by_test_id("starred")).to_be_visible()
    expect(compared.get_by_test_id("own-measures")).to_be_visible()
    open_example(page, "nchs")
    run_method(page, "suppression", 1)
    go(page, "compare")
    expect(page.get_by_test_id("runs")).to_be_visible()
    expect(page.get_by_test_id("starred")).to_be_hidden()
    expect(page.get_by_test_id("own-measures")).to_have_count(0)


def test_a_run_leads_to_its_result(compared: Page) -> None:
    with leads_on(compared):
        compared.get_by_test_id("open-1").click()
    expect(compared.get_by_test_id("figure-loss")).to_have_text("1,270")


@pytest.mark.slow
def test_runs_of_other_tables_stand_apart(page: Page) -> None:
    open_example(page, "nchs")
    run_method(page, "suppression", 1)
    open_example(page, "salazar")
    run_method(page, "suppression", 1)
    go(page, "compare")
    expect(page.get_by_test_id("compared-0")).to_contain_text("the present table")
    expect(page.get_by_test_id("compared-0").get_by_test_id("run-1")).to_be_visible()
    expect(page.get_by_test_id("compared-1").get_by_test_id("run-1")).to_be_visible()
