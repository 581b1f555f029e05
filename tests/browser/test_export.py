"""Export: nothing hidden is published, internal files are apart, what is not safe carries a reason."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, StorageState, expect

import tacita as tc
from driving import (
    Prepare,
    downloaded,
    go,
    listening,
    open_example,
    open_path,
    pick_rule,
    reload,
    run_method,
    undo,
)
from running_server import RunningServer
from tacita.examples import example
from tacita.formats.table_write import write_table

PUBLISHED = {f"release.{ending}" for ending in ("xlsx", "csv", "parquet", "html", "txt")}
LARGE = np.array([[48271, 91733, 60919], [73609, 35803, 82457], [27427, 64153, 53197]])
"""Numbers that no style sheet and no workbook has of its own."""
REASON = "for the internal auditors only"


@pytest.fixture(scope="module")
def safe_run(prepare: Prepare) -> StorageState:
    """Salazar's table, suppressed."""

    def steps(page: Page) -> None:
        open_example(page, "salazar")
        run_method(page, "suppression", 1)

    return prepare(steps)


@pytest.fixture(scope="module")
def unsafe_run(prepare: Prepare) -> StorageState:
    """The NCHS table, rounded without regard to what can be deduced."""

    def steps(page: Page) -> None:
        open_example(page, "nchs")
        run_method(page, "rounding", 1, "✘ not safe", base="3", protected=False)

    return prepare(steps)


@pytest.fixture
def exporting(safe_run: StorageState, new_page: Callable[..., Page]) -> Page:
    """What is safe, on the screen Export, all formats chosen."""
    page = new_page(safe_run, "/export")
    choose_all_formats(page)
    return page


@pytest.fixture
def unsafe(unsafe_run: StorageState, new_page: Callable[..., Page]) -> Page:
    """What is not safe, on the screen Export."""
    return new_page(unsafe_run, "/export")


def choose_all_formats(page: Page) -> None:
    # In a session that others prepared or used before, some may be ticked already.
    for ending in ("parquet", "html", "txt"):
        box = page.get_by_test_id(f"format-{ending}")
        if not box.is_checked():
            box.click()
        expect(box).to_be_checked()
    expect(page.get_by_test_id("primary-told")).to_be_visible()


def fill_folder(page: Page, folder: Path) -> None:
    page.get_by_test_id("export-folder").fill(str(folder))


def texts_of(name: str, content: bytes) -> str:
    """All that a reader can find in a file, unpacked."""
    if name.endswith(".xlsx"):
        with zipfile.ZipFile(io.BytesIO(content)) as book:
            return "\n".join(book.read(part).decode("utf-8") for part in book.namelist())
    if name.endswith(".parquet"):
        import pyarrow.parquet as pq

        file = pq.ParquetFile(io.BytesIO(content))
        return f"{file.read().to_pylist()} {file.schema_arrow.metadata}"
    return content.decode("utf-8")


def holds(text: str, number: int) -> bool:
    """Whether a number stands in a text, in whatever way its thousands are set apart."""
    thousands, rest = divmod(number, 1000)
    return re.search(rf"(?<!\d){thousands}\D?{rest:03}(?!\d)", text) is not None


def test_each_file_is_one_line_that_says_for_whom(
    safe_run: StorageState, new_page: Callable[..., Page]
) -> None:
    page = new_page(safe_run, "/export")
    tsv = page.get_by_test_id("publication-files").get_by_role("row", name="release.tsv")
    expect(tsv).to_contain_text("! tells which cells are primary")
    expect(tsv).not_to_contain_text("for publication;")
    first = page.get_by_test_id("publication-files").get_by_role("row").nth(1)
    expect(first).to_contain_text("release.xlsx")
    expect(first).to_contain_text("the protected table")
    expect(first).to_contain_text("for publication")
    internal = page.get_by_test_id("internal-files")
    expect(internal.get_by_role("row", name="certificate.json")).to_contain_text("internal: true values")
    expect(internal.get_by_text("release-internal-sdmx.csv")).to_be_hidden()
    page.get_by_test_id("format-sdmx").click()
    expect(internal.get_by_role("row", name="release-internal-sdmx.csv")).to_contain_text("true values")
    page.get_by_test_id("format-sdmx").click()
    expect(internal.get_by_text("release-internal-sdmx.csv")).to_be_hidden()
    lines = page.get_by_test_id("files").locator("tr:visible").all()
    assert max((line.bounding_box() or {})["height"] for line in lines) < 45


@pytest.mark.slow
def test_no_publication_file_holds_a_suppressed_value(page: Page, tmp_path: Path) -> None:
    problem = tc.Problem(tc.Table.from_array(LARGE, decimals=0), tc.Marked([0, 7], 20_000, 20_000))
    write_table(problem.table, tmp_path / "large.csv", problem)
    open_path(page, tmp_path / "large.csv")
    run_method(page, "suppression", 1)
    go(page, "export")
    choose_all_formats(page)
    files = downloaded(page, "download-publication")
    assert set(files) == {f"publication/{name}" for name in PUBLISHED}
    hidden = tc.Suppression().protect(problem).hidden
    secrets, known = (problem.table.units[mask].tolist() for mask in (hidden, ~hidden))
    assert len(secrets) >= 4
    for name, content in files.items():
        text = texts_of(name, content)
        assert [secret for secret in secrets if holds(text, secret)] == [], name
        assert [number for number in known if not holds(text, number)] == [], f"{name}: the search is blind"


@pytest.mark.slow
def test_internal_files_have_an_archive_of_their_own(exporting: Page) -> None:
    files = downloaded(exporting, "download-internal")
    wanted = {
        "internal/audit.json",
        "internal/certificate.json",
        "internal/release-internal.xlsx",
        "internal/project.toml",
        "internal/repeat.py",
        "internal/table.parquet",
    }
    assert wanted <= set(files)
    assert not PUBLISHED & {name.rpartition("/")[2] for name in files}
    assert b'method = "suppression"' in files["internal/project.toml"]


@pytest.mark.slow
def test_a_folder_gets_both_apart_and_is_not_overwritten_unasked(exporting: Page, tmp_path: Path) -> None:
    page, folder = exporting, tmp_path / "out"
    fill_folder(page, folder)
    page.get_by_test_id("write-folder").click()
    expect(page.get_by_test_id("notice-done")).to_contain_text("Written: 5 files for publication")
    expect(page.get_by_test_id("notice-done")).to_contain_text(f"For publication: {folder / 'publication'} (")
    expect(page.get_by_test_id("notice-done")).to_contain_text(f"Internal: {folder / 'internal'} (")
    assert {path.name for path in folder.iterdir()} == {"publication", "internal"}
    assert {path.name for path in (folder / "publication").iterdir()} == PUBLISHED
    assert (folder / "internal" / "repeat.py").exists()
    expect(page.get_by_test_id("write-folder")).to_be_disabled()
    page.get_by_test_id("export-folder-confirm").click()
    expect(page.get_by_test_id("write-folder")).to_be_enabled()


def test_a_folder_for_publication_alone_is_refused(exporting: Page, tmp_path: Path) -> None:
    expect(exporting.get_by_test_id("two-folders")).to_contain_text("Hand on publication/ alone")
    fill_folder(exporting, tmp_path / "publication")
    expect(exporting.get_by_test_id("export-folder-refused")).to_contain_text("choose a place outside it")
    expect(exporting.get_by_test_id("write-folder")).to_be_disabled()
    exporting.get_by_test_id("save-place").fill(str(tmp_path / "publication" / "case"))
    expect(exporting.get_by_test_id("save-place-refused")).to_contain_text("choose a place outside it")
    expect(exporting.get_by_test_id("save-button")).to_be_disabled()
    assert list(tmp_path.iterdir()) == []


def test_the_folder_that_is_proposed_is_beside_the_server(exporting: Page, server: RunningServer) -> None:
    expect(exporting.get_by_test_id("export-folder")).to_have_value(
        str(server.folder / "Salazar-Figure-1-export")
    )


def test_preview_shows_what_files_hold(exporting: Page) -> None:
    exporting.get_by_test_id("preview-files").click()
    preview = exporting.get_by_test_id("preview")
    expect(preview).to_contain_text("publication/release.csv · for publication")
    expect(preview).to_contain_text("internal/certificate.json · internal")
    preview.get_by_text("release.csv · for publication").click()
    expect(preview.get_by_text("mark,low,high,value")).to_be_visible()
    preview.get_by_text("release.xlsx · for publication").click()
    corner = preview.get_by_role("region", name="Sheet ").first.locator("td")
    expect(corner.first).to_be_visible()
    expect(preview.get_by_role("region", name="Sheet ").first).to_contain_text("Total")


@pytest.mark.slow
def test_what_was_changed_in_another_window_is_not_published(page: Page, tmp_path: Path) -> None:
    open_example(page, "nchs")
    run_method(page, "suppression", 1)
    go(page, "export")
    page.get_by_test_id("format-html").click()
    fill_folder(page, tmp_path / "out")
    other = page.context.new_page()
    other.goto(page.url.replace("export", "rules"))
    listening(other)
    pick_rule(other, "zeros")
    expect(other.get_by_test_id("rule-2-text")).to_be_visible()
    page.set_viewport_size({"width": 900, "height": 400})
    page.get_by_test_id("write-folder").click()
    # In sight, though the button is far below the place where notices begin.
    expect(page.get_by_test_id("notice-error")).to_be_in_viewport()
    expect(page.get_by_test_id("notice-error")).to_contain_text("changed in another window")
    assert not (tmp_path / "out").exists()
    reload(page)
    expect(page.get_by_test_id("publish")).to_contain_text("for an earlier table or rules")
    expect(page.get_by_test_id("format-html")).to_be_checked()


def test_an_unsafe_release_needs_a_reason_that_its_files_carry(unsafe: Page) -> None:
    page = unsafe
    button = page.get_by_test_id("download-publication")
    expect(button).to_be_disabled()
    expect(button).to_contain_text("Needs a reason first")
    page.get_by_test_id("reason").fill("because")
    expect(button).to_be_disabled()
    page.get_by_test_id("format-html").click()
    page.get_by_test_id("reason").fill(REASON)
    expect(button).to_contain_text("NOT SAFE")
    files = downloaded(page, "download-publication")
    assert set(files) == {f"publication/release.{ending}" for ending in ("xlsx", "csv", "html")}
    for name, content in files.items():
        assert REASON in texts_of(name, content), name


def test_internal_files_get_the_audit_of_an_unsafe_release_without_a_reason(unsafe: Page) -> None:
    files = downloaded(unsafe, "download-internal")
    assert "internal/audit.json" in files
    assert not {"certificate.json", "release.csv"} & {name.rpartition("/")[2] for name in files}


def test_the_table_is_saved_without_a_run_and_opens_again(page: Page, tmp_path: Path) -> None:
    open_example(page, "salazar")
    go(page, "export")
    expect(page.get_by_test_id("no-run")).to_be_visible()
    problem = example("salazar")
    for way, ending in (("CSV", "csv"), ("Excel", "xlsx"), ("JJ file", "jj")):
        target = tmp_path / f"saved.{ending}"
        page.get_by_test_id("save-as").click()
        page.get_by_role("option", name=way).click()
        expect(page.get_by_test_id("save-place")).to_have_value(re.compile(rf"\.{ending}$"))
        page.get_by_test_id("save-place").fill(str(target))
        page.get_by_test_id("save-button").click()
        expect(page.get_by_test_id("notice-done")).to_contain_text(target.name)
        again = tc.read_case(target)
        assert isinstance(again, tc.Problem)
        assert sorted(again.table.values.tolist()) == sorted(problem.table.values.tolist())
        assert len(again.levels) == len(problem.levels)


def test_the_project_is_downloaded(page: Page) -> None:
    open_example(page, "salazar")
    go(page, "export")
    files = downloaded(page, "save-download")
    assert {"project.toml", "table.parquet"} <= set(files)


def test_a_run_for_earlier_rules_is_published_only_if_the_user_agrees(page: Page) -> None:
    open_example(page, "nchs")
    run_method(page, "suppression", 1)
    go(page, "rules")
    pick_rule(page, "zeros")
    expect(page.get_by_test_id("rule-2-text")).to_be_visible()
    go(page, "export")
    for button in ("download-publication", "write-folder"):
        expect(page.get_by_test_id(button)).to_be_disabled()
        expect(page.get_by_test_id(button)).to_contain_text("Needs your agreement first")
    expect(page.get_by_test_id("preview-files")).to_contain_text("Preview: needs your agreement first")
    page.get_by_test_id("agree-outdated").click()
    assert set(downloaded(page, "download-publication")) == {
        "publication/release.xlsx",
        "publication/release.csv",
    }
    undo(page)
    expect(page.get_by_test_id("agree-outdated")).to_have_count(0)
    expect(page.get_by_test_id("download-publication")).to_be_enabled()


@pytest.mark.slow
def test_a_run_of_what_was_asked_before_is_told_apart(page: Page) -> None:
    """Safe by a rule that has been tightened since: on every screen that speaks of the run."""
    open_example(page, "nchs")
    run_method(page, "suppression", 1)
    go(page, "rules")
    expect(page.get_by_test_id("sensitive-count")).to_have_text("3")
    page.get_by_test_id("rule-1-n").fill("30")
    expect(page.get_by_test_id("sensitive-count")).not_to_have_text("3")
    go(page, "export")
    expect(page.get_by_test_id("earlier-case")).to_contain_text("have changed since this run")
    expect(page.get_by_test_id("publish")).to_contain_text("✔ safe, for an earlier table or rules")
    expect(page.get_by_test_id("next-step")).to_have_text("Table or rules changed: protect again")
    go(page, "protect")
    expect(page.get_by_test_id("run-1-state")).to_have_text("✔ safe, for an earlier table or rules")
    go(page, "compare")
    expect(page.get_by_test_id("run-1")).to_contain_text("✔ safe, for an earlier table or rules")
    go(page, "result")
    expect(page.get_by_test_id("earlier-case")).to_be_visible()
    expect(page.get_by_test_id("verdict-word")).to_have_text("✔ Safe, for an earlier table or rules")
    expect(page.get_by_test_id("next-step")).to_have_text("Table or rules changed: protect again")
    undo(page)
    expect(page.get_by_test_id("earlier-case")).to_have_count(0)
