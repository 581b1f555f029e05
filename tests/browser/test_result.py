"""Result: the verdict first, original beside protected, what is deduced of each sensitive cell, the proof."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from playwright.sync_api import Page, StorageState, expect

from driving import (
    Prepare,
    cell,
    choose,
    choose_run,
    go,
    open_example,
    open_path,
    reload,
    result,
    run_method,
)
from tacita.verify import verify


@pytest.fixture(scope="module")
def safe_run(prepare: Prepare) -> StorageState:
    """The NCHS table, cells suppressed."""

    def steps(page: Page) -> None:
        open_example(page, "nchs")
        run_method(page, "suppression", 1)

    return prepare(steps)


@pytest.fixture
def suppressed(safe_run: StorageState, new_page: Callable[..., Page]) -> Page:
    """The safe run on the screen Result; to be looked at only, since it is made once."""
    return new_page(safe_run, "/result")


def test_the_verdict_is_told_in_words_with_loss_and_bound(suppressed: Page) -> None:
    page = suppressed
    expect(page.get_by_test_id("verdict-word")).to_have_text("✔ Safe")
    expect(page.get_by_test_id("verdict-said")).to_have_text(
        "3 sensitive cells: 3 safe, all proven, against an outsider"
    )
    expect(page.get_by_test_id("figure-loss")).to_have_text("1,270")
    expect(page.get_by_test_id("figure-bound")).to_contain_text("1,270")
    expect(page.get_by_test_id("figure-solution")).to_contain_text("proven optimal")


def test_loss_says_what_it_is_the_sum_of_and_excel_what_it_contains(suppressed: Page) -> None:
    expect(suppressed.get_by_test_id("loss-meaning")).to_contain_text(
        "costs of all hidden cells, here their values"
    )
    expect(suppressed.get_by_test_id("download-excel-about")).to_contain_text("the table as printed")


def test_where_the_sheets_stack_the_protected_one_is_on_top(suppressed: Page) -> None:
    page = suppressed

    def place(sheet: str) -> tuple[float, float]:
        box = page.get_by_test_id(sheet).bounding_box()
        assert box is not None
        return box["x"], box["y"]

    page.set_viewport_size({"width": 1800, "height": 900})
    (left, top), (right, level) = place("sheet-original"), place("sheet-protected")
    assert left < right
    assert top == level
    page.set_viewport_size({"width": 600, "height": 900})
    (left, below), (right, top) = place("sheet-original"), place("sheet-protected")
    assert left == right
    assert top < below


def test_where_nothing_is_sensitive_nothing_had_to_be_hidden(page: Page) -> None:
    open_example(page, "nchs")
    go(page, "rules")
    page.get_by_test_id("rule-1-remove").click()
    expect(page.get_by_test_id("sensitive-count")).to_have_text("0")
    run_method(page, "suppression", 1, "– nothing was sensitive, so nothing was checked")
    go(page, "result")
    expect(page.get_by_test_id("figure-solution")).to_have_text("nothing had to be hidden or changed")


def test_the_sheets_show_what_is_hidden_and_what_it_was(suppressed: Page) -> None:
    page = suppressed
    original, protected = page.get_by_test_id("sheet-original"), page.get_by_test_id("sheet-protected")
    expect(original.get_by_role("gridcell").first).to_contain_text("1")
    expect(protected.get_by_role("gridcell", name="hidden or changed")).to_have_count(5)
    sensitive = protected.get_by_role("gridcell", name="sensitive")
    expect(sensitive).to_have_text([re.compile(r"^\D*$")] * 3)
    page.get_by_test_id("beside-way").get_by_text("Difference").click()
    expect(page.get_by_test_id("sheet-difference").get_by_text("hidden", exact=True)).to_have_count(8)


def test_each_sensitive_cell_has_its_interval_and_its_picture(suppressed: Page) -> None:
    rows = suppressed.get_by_test_id("sensitive-table").locator("tbody tr")
    expect(rows).to_have_count(3)
    for row in rows.all():
        expect(row).to_contain_text("✔ safe")
        expect(row.locator("svg")).to_have_attribute("aria-label", re.compile("deduced"))
    suppressed.get_by_test_id("find-cell").fill("column=3")
    expect(rows).to_have_count(1)
    suppressed.get_by_test_id("find-cell").fill("")
    suppressed.get_by_test_id("only-unsafe").click()
    expect(suppressed.get_by_test_id("sensitive-table")).to_contain_text("No such cell")


def test_the_certificate_is_checked_and_downloaded(suppressed: Page) -> None:
    page = suppressed
    page.get_by_test_id("check-certificate").click()
    expect(page.get_by_test_id("certificate-said")).to_contain_text("✔ Holds: 3 pairs")
    with page.expect_download() as download:
        page.get_by_test_id("download-certificate").click()
    path = Path(download.value.path())
    assert verify(json.loads(path.read_text(encoding="utf-8"))) == 3


@pytest.mark.slow
def test_what_is_not_safe_is_named_with_a_remedy(page: Page) -> None:
    open_example(page, "nchs")
    run_method(page, "rounding", 1, "✘ not safe", base="3", protected=False)
    go(page, "result")
    expect(page.get_by_test_id("verdict-word")).to_have_text("✘ Not safe")
    verdict = page.get_by_test_id("verdict")
    expect(verdict).to_contain_text("row=1, column=1")
    expect(verdict).to_contain_text("Do not publish this")
    expect(page.get_by_test_id("certificate")).to_contain_text("Only a release that is proven safe has one")
    page.get_by_test_id("only-unsafe").click()
    rows = page.get_by_test_id("sensitive-table").locator("tbody tr")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("below upper")


@pytest.mark.slow
def test_another_run_is_chosen_and_a_reload_keeps_it(page: Page) -> None:
    open_example(page, "nchs")
    run_method(page, "suppression", 1)
    run_method(page, "rounding", 2, base="10")
    go(page, "result")
    expect(page.get_by_test_id("figure-loss")).to_have_text("192")
    choose_run(page, "1 · suppression · ✔ safe")
    expect(page.get_by_test_id("figure-loss")).to_have_text("1,270")
    reload(page)
    expect(page.get_by_test_id("figure-loss")).to_have_text("1,270")


WIDE = """industry and activity,product group,value
Manufacture of basic metals and alloys,Food,100000
Manufacture of basic metals and alloys,Tools,100977
Manufacture of basic metals and alloys,Metals,101954
Manufacture of basic metals and alloys,Other,102931
Wholesale trade of household goods,Food,103571
Wholesale trade of household goods,Tools,104548
Wholesale trade of household goods,Metals,105525
Wholesale trade of household goods,Other,106502
"""


@pytest.mark.slow
def test_totals_are_in_view_beside_four_columns(page: Page, tmp_path: Path) -> None:
    """On a laptop and at 125 %: heads of rows give way, or the sheets stand one above the other."""
    path = tmp_path / "wide.csv"
    path.write_text(WIDE, encoding="utf-8")
    open_path(page, path)
    cell(page, 1, 1).click()
    page.get_by_test_id("mark-sensitive").click()
    expect(page.get_by_test_id("counts")).to_contain_text("1 sensitive")
    run_method(page, "suppression", 1)
    result(page, 1)
    for width, height in ((1366, 768), (1093, 614)):
        page.set_viewport_size({"width": width, "height": height})
        for sheet in ("sheet-original", "sheet-protected"):
            expect(cell(page, 2, 4, sheet)).to_have_text("826,008")
            grid = page.get_by_test_id(sheet).get_by_role("grid")
            page.wait_for_function("grid => grid.scrollWidth <= grid.clientWidth", arg=grid.element_handle())
    expect(page.get_by_test_id("certificate")).to_contain_text("For the only sensitive cell and")


@pytest.mark.slow
def test_the_name_of_a_cell_leads_to_it_in_the_sheets(page: Page, tmp_path: Path) -> None:
    """Also where it is in another slice, and folded away."""
    codes = product("NS", "fm", ("2024", "2025"))
    rows = [f"{','.join(key)},{number}" for number, key in enumerate(codes, start=10)]
    path = tmp_path / "cube.csv"
    path.write_text("\n".join(["region,sex,year,value", *rows]), encoding="utf-8")
    open_path(page, path)
    choose(page, "slicer-year", "2025")
    expect(cell(page, 1, 0)).to_have_text("15")
    cell(page, 1, 0).click()
    page.get_by_test_id("mark-sensitive").click()
    expect(page.get_by_test_id("counts")).to_contain_text("1 sensitive")
    choose(page, "slicer-year", "Total")
    run_method(page, "suppression", 1)
    result(page, 1)
    page.get_by_test_id("sheet-protected").get_by_role("button", name="Fold Total").last.click()
    expect(cell(page, 1, 0, "sheet-original")).to_have_count(0)

    name = "region=S, sex=f, year=2025"
    page.get_by_role("button", name=name).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("slicer-year")).to_have_value("2025")
    for sheet, says in (("sheet-original", "15, sensitive"), ("sheet-protected", "sensitive")):
        expect(cell(page, 1, 0, sheet)).to_have_class(re.compile("sheet-active"))
        expect(cell(page, 1, 0, sheet)).to_have_accessible_name(says)
        expect(cell(page, 1, 0, sheet)).to_be_in_viewport()
    expect(page.get_by_test_id("sheet-original").get_by_role("grid")).to_be_focused()
    expect(page.get_by_test_id("sheet-original").locator(".sheet-message")).to_have_text(f"{name}.")


def test_without_a_run_it_says_where_to_get_one(page: Page) -> None:
    go(page, "result")
    expect(page.get_by_test_id("no-run")).to_contain_text("no run yet")
