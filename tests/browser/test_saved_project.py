"""A project that is opened, changed by hand, saved and opened again: everything that was said is there."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from driving import cell, go, open_path, result, start
from tacita.specification.project import load_project
from tacita.specification.sections import SensitiveCell

CELLS = "region,size,value\nN,a,2\nN,b,20\nN,c,9\nS,a,30\nS,b,3\nS,c,8\nW,a,12\nW,b,7\nW,c,40\n"
PROJECT = """[table]
file = "cells.csv"
[rules]
rule = "threshold(5)"
[protect]
method = "suppression"
seed = 12
time_limit = 45
[output]
formats = ["html"]
"""
TOLD = "1 cell that a rule or a mark hits is exempt by hand"


def mark(page: Page, row: int, column: int, how: str, state: str) -> None:
    """Mark a cell; the panel beside the sheet tells it."""
    cell(page, row, column).click()
    page.get_by_test_id(f"mark-{how}").click()
    expect(page.get_by_test_id("cell-panel")).to_contain_text(state)


def save_project(page: Page, folder: Path) -> None:
    go(page, "export")
    page.get_by_test_id("save-as").click()
    page.get_by_role("option", name="Project folder").click()
    page.get_by_test_id("save-place").fill(str(folder))
    page.get_by_test_id("save-button").click()
    expect(page.get_by_test_id("notice-done")).to_contain_text("project.toml")
    expect(page.get_by_test_id("notice-done")).not_to_contain_text("left out")


@pytest.mark.slow
def test_decisions_and_wishes_come_back(page: Page, tmp_path: Path) -> None:
    (tmp_path / "cells.csv").write_text(CELLS)
    (tmp_path / "project.toml").write_text(PROJECT)
    open_path(page, tmp_path / "project.toml")
    mark(page, 0, 0, "safe", "exempt by hand")
    mark(page, 2, 1, "sensitive", "sensitive")
    save_project(page, tmp_path / "saved")
    said = load_project(tmp_path / "saved" / "project.toml").rules
    assert said.rule == "threshold(5)"
    assert said.exempt == ({"region": "N", "size": "a"},)
    assert said.sensitive == (SensitiveCell({"region": "W", "size": "b"}),)

    go(page, "start")
    open_path(page, tmp_path / "saved" / "project.toml")
    cell(page, 0, 0).click()
    expect(page.get_by_test_id("cell-panel")).to_contain_text("exempt by hand")
    cell(page, 2, 1).click()
    expect(page.get_by_test_id("cell-why")).to_have_text("marked by hand: the office marked it")
    page.get_by_test_id("mark-clear").click()
    expect(page.get_by_test_id("cell-panel")).not_to_contain_text("sensitive")
    go(page, "rules")
    expect(page.get_by_test_id("rule-hits")).to_contain_text("exempt by hand")
    go(page, "protect")
    expect(page.get_by_test_id("seed")).to_have_value("12")
    expect(page.get_by_test_id("time-limit")).to_have_value("45")
    start(page)
    expect(page.get_by_test_id("run-1-state")).to_have_text("✔ safe")
    result(page, 1)
    expect(page.get_by_test_id("verdict-said")).to_contain_text(TOLD)
    go(page, "protect")
    page.get_by_test_id("seed").fill("13")
    start(page)
    expect(page.get_by_test_id("run-2-state")).to_have_text("✔ safe")
    go(page, "export")
    expect(page.get_by_test_id("format-html")).to_be_checked()
    expect(page.get_by_test_id("format-csv")).not_to_be_checked()
    save_project(page, tmp_path / "saved again")
    again = load_project(tmp_path / "saved again" / "project.toml")
    assert (again.protect.seed, again.protect.time_limit, again.output.formats) == (13, 45, ("html",))
