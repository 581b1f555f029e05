"""Several releases in the browser: earlier ones on Rules, runs judged together on Compare."""

from __future__ import annotations

from pathlib import Path

import pytest
from firms import list_firms
from playwright.sync_api import Page, expect

from driving import choose, go, leads_on, open_path, run_method, undo, unfold

VALUES = {"N": (20, 50, 10), "S": (8, 19, 22), "W": (17, 32, 12)}
FIRST = (("S", "A"), ("S", "C"), ("W", "A"), ("W", "C"))
SECOND = (("S", "B"), ("S", "C"), ("N", "B"), ("N", "C"))
Cells = tuple[tuple[str, str], ...]


def open_case(page: Page, folder: Path) -> None:
    """One sensitive cell, uncertain by 3 both ways; some cells must be published, so that patterns differ."""
    lines = ["region,industry,value,status,lpl,upl"]
    for region, values in VALUES.items():
        for industry, value in zip("ABC", values, strict=True):
            marked = "u,3,3" if (region, industry) == ("S", "C") else "s,,"
            lines.append(f"{region},{industry},{value},{marked}")
    path = folder / "case.csv"
    path.write_text("\n".join(lines) + "\n")
    open_path(page, path)


def write_release(path: Path, hidden: Cells) -> Path:
    lines = ["region,industry,value"]
    for region, values in VALUES.items():
        for industry, value in zip("ABC", values, strict=True):
            lines.append(f"{region},{industry},{'x' if (region, industry) in hidden else value}")
        lines.append(f"{region},Total,{sum(values)}")
    for k, industry in enumerate("ABC"):
        lines.append(f"Total,{industry},{sum(values[k] for values in VALUES.values())}")
    path.write_text("\n".join(lines) + "\n")
    return path


def add_published(page: Page, path: Path) -> None:
    page.get_by_test_id("upload-published").locator("input[type=file]").set_input_files(path)


@pytest.mark.slow
def test_an_earlier_release_is_known_to_everyone(page: Page, tmp_path: Path) -> None:
    open_case(page, tmp_path)
    go(page, "rules")
    add_published(page, write_release(tmp_path / "first.csv", FIRST))
    expect(page.get_by_test_id("published-0")).to_contain_text("first.csv")
    expect(page.get_by_test_id("sensitive-count")).to_have_text("1")
    go(page, "protect")
    run_method(page, "suppression", 1)
    go(page, "compare")
    expect(page.get_by_test_id("changed-1")).to_contain_text("4")
    go(page, "rules")
    # Both patterns together leave one value only: no release protects it any more.
    add_published(page, write_release(tmp_path / "second.csv", SECOND))
    expect(page.get_by_test_id("published-1")).to_contain_text("second.csv")
    go(page, "protect")
    run_method(page, "rounding", 2, "! failed")
    expect(page.get_by_text("no release keeps its levels any more").first).to_be_visible()
    undo(page)
    go(page, "rules")
    expect(page.get_by_test_id("published-0")).to_be_visible()
    expect(page.get_by_test_id("published-1")).to_have_count(0)
    page.get_by_test_id("published-0-remove").click()
    expect(page.get_by_test_id("published-0")).to_have_count(0)


def test_a_release_that_contradicts_the_table_is_named_by_cell(page: Page, tmp_path: Path) -> None:
    open_case(page, tmp_path)
    go(page, "rules")
    release = write_release(tmp_path / "old.csv", FIRST)
    release.write_text(release.read_text().replace("N,A,20", "N,A,21"))
    add_published(page, release)
    expect(page.get_by_test_id("notice-error")).to_contain_text("(region=N, industry=A)")
    expect(page.get_by_test_id("notice-error")).to_contain_text("revised")
    choose(page, "published-numbers", "adjusted, the truth being within")
    page.get_by_test_id("published-reach").fill("9")
    add_published(page, release)
    expect(page.get_by_test_id("published-0")).to_contain_text("adjusted")
    shown = write_release(tmp_path / "shown.csv", ())
    choose(page, "published-numbers", "the values, marks or intervals")
    add_published(page, shown)
    expect(page.get_by_test_id("rules-error")).to_contain_text("cannot be met against outsider any more")


@pytest.mark.slow
def test_runs_are_judged_together(page: Page, tmp_path: Path) -> None:
    open_case(page, tmp_path)
    run_method(page, "suppression", 1)
    run_method(page, "rounding", 2, base="10")
    go(page, "compare")
    unfold(page, "together-fold")
    page.get_by_test_id("audit-together").click()
    expect(page.get_by_test_id("together-verdict")).to_contain_text("2 releases judged together")
    expect(page.get_by_test_id("together-verdict")).to_contain_text("safe")
    go(page, "rules")
    choose(page, "add-published-run", "1 · suppression")
    expect(page.get_by_test_id("published-0")).to_contain_text("run 1")


def write_project(folder: Path, name: str, groups: dict[str, tuple[str, ...]]) -> Path:
    """A project of the firms by industry and by regions, which are grouped in one of several ways."""
    (folder / "firms.csv").write_text(list_firms())
    project = folder / name
    project.mkdir()
    tree = [f"Total,{group}" for group in groups]
    tree += [f"{group},{code}" for group, codes in groups.items() for code in codes]
    (project / "region.csv").write_text("\n".join(["parent,child", *tree]) + "\n")
    (project / "project.toml").write_text(
        '[table]\nmicrodata = "../firms.csv"\nby = { region = "regions", industry = "" }\n'
        'value = "turnover"\nrespondent = "firm"\n[hierarchies]\n'
        'regions = "region.csv"\n[rules]\nrule = "frequency(2)"\n'
    )
    return project


def test_two_safe_tables_of_the_same_records_are_audited_together(page: Page, tmp_path: Path) -> None:
    open_path(page, write_project(tmp_path, "north-south", {"N": ("11", "12"), "S": ("21", "22")}))
    run_method(page, "suppression", 1)
    go(page, "start")
    open_path(page, write_project(tmp_path, "east-west", {"E": ("11", "21"), "W": ("12", "22")}))
    go(page, "protect")
    shares = "Run 1 of north-south (turnover, region by industry) shares 15 cells with this table"
    expect(page.get_by_test_id("sharing-run")).to_contain_text(shares)
    run_method(page, "suppression", 1)
    go(page, "export")
    expect(page.get_by_test_id("sharing-runs")).to_contain_text(shares)
    page.get_by_test_id("audit-side-by-side").click()
    verdict = page.get_by_test_id("side-by-side-verdict")
    expect(verdict).to_contain_text("✘ Audited together: not safe. (region=11, industry=A)")
    with leads_on(page):
        page.get_by_test_id("take-into-account").click()
    expect(page.get_by_test_id("sharing-run")).to_have_count(0)
    run_method(page, "suppression", 2)
    go(page, "rules")
    expect(page.get_by_test_id("published-0")).to_contain_text("15 of its 21 cells in this table")
    choose(page, "add-published-run", "1 · suppression · of north-south")
    expect(page.get_by_test_id("published-1")).to_contain_text("run 1 of north-south")
    undo(page)
    go(page, "export")
    expect(page.get_by_test_id("sharing-runs")).to_contain_text("is taken into account")
    page.get_by_test_id("audit-side-by-side").click()
    expect(verdict).to_contain_text("✔ Audited together: safe")
    go(page, "result")
    expect(page.get_by_test_id("side-by-side-verdict")).to_contain_text("✔ Audited together: safe")


@pytest.mark.slow
def test_a_table_of_the_session_is_one_click_away_and_its_stale_run_is_told(
    page: Page, tmp_path: Path
) -> None:
    open_path(page, write_project(tmp_path, "north-south", {"N": ("11", "12"), "S": ("21", "22")}))
    run_method(page, "suppression", 1)
    go(page, "rules")
    page.get_by_test_id("rule-1-n").fill("4")
    expect(page.get_by_test_id("next-step")).to_contain_text("sensitive cells: protect them")
    go(page, "start")
    open_path(page, write_project(tmp_path, "east-west", {"E": ("11", "21"), "W": ("12", "22")}))
    go(page, "compare")
    with leads_on(page):
        page.get_by_test_id("open-1").click()
    stale = "for an earlier table or rules of north-south"
    expect(page.get_by_test_id("verdict-word")).to_have_text(f"✔ Safe, {stale}")
    expect(page.get_by_test_id("earlier-case")).to_contain_text("have changed since this run")
    expect(page.get_by_test_id("next-step")).to_have_text(
        "Its table or rules changed: open it and protect again"
    )
    go(page, "export")
    expect(page.get_by_test_id("publish")).to_contain_text(f"✔ safe, {stale}")
    expect(page.get_by_test_id("agree-outdated")).to_be_visible()
    go(page, "start")
    with leads_on(page):
        page.get_by_test_id("switch-table").click()
    page.wait_for_url("**/table")
    expect(page.get_by_test_id("case-name")).to_contain_text("north-south")
    go(page, "export")
    expect(page.get_by_test_id("next-step")).to_have_text("Table or rules changed: protect again")
    undo(page)
    expect(page.get_by_test_id("case-name")).to_contain_text("east-west")
