"""The start screen in a browser: each of the six ways, broken files, questions, clearing."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import FilePayload, Page, expect

from driving import choose, go, leads_on, listening, unfold

CELLS = "region,size,value\nN,s,12\nN,l,20\nS,s,30\nS,l,40\n"
DROP = """([files, text]) => {
    const data = new DataTransfer();
    for (const [name, content] of files) data.items.add(new File([content], name));
    if (text) data.setData('text/plain', text);
    return data;
}"""


def upload(page: Page, **files: str | bytes) -> None:
    """Choose files; ``a_csv`` is ``a.csv``."""
    payloads: list[FilePayload] = [
        {
            "name": name.replace("_", "."),
            "mimeType": "application/octet-stream",
            "buffer": text.encode() if isinstance(text, str) else text,
        }
        for name, text in files.items()
    ]
    with page.expect_file_chooser() as chooser:
        page.get_by_test_id("open-files").click()
    chooser.value.set_files(payloads)


def expect_open(page: Page, name: str, cells: int) -> None:
    page.wait_for_url("**/table")
    listening(page)
    expect(page.get_by_test_id("case-name")).to_have_text(f"{name} · {cells:,} cells")


def expect_refused(page: Page, message: str) -> None:
    expect(page.get_by_test_id("notice-error")).to_contain_text(message)
    expect(page.get_by_test_id("case-name")).to_have_count(0)


def test_a_file_is_opened_and_its_notes_are_told(page: Page) -> None:
    upload(page, turnover_csv=CELLS)
    expect_open(page, "turnover", 9)
    expect(page.get_by_test_id("notice-note")).to_contain_text("taken as counts")


def test_files_that_belong_together(page: Page) -> None:
    upload(page, region_hrc="W\n@N\n@S\n", turnover_csv=CELLS)
    expect_open(page, "turnover", 9)


def test_a_broken_file_is_named_with_its_line_and_changes_nothing(page: Page) -> None:
    upload(page, broken_csv=CELLS.replace("30", "thirty"))
    expect_refused(page, "broken.csv, line 4, column 'value': 'thirty' is not a number")
    # The same file again, corrected: the page is ready for it.
    upload(page, broken_csv=CELLS)
    expect_open(page, "broken", 9)


def test_noise_is_refused_by_name(page: Page) -> None:
    for name in ("noise.xlsx", "noise.parquet", "noise.jj", "noise.docx"):
        upload(page, **{name: bytes(range(256))})
        expect_refused(page, name)


def test_two_files_of_one_name_are_refused(page: Page) -> None:
    data = page.evaluate_handle(DROP, [[["a.csv", CELLS], ["a.csv", CELLS + "E,s,1\n"]], None])
    page.dispatch_event(".top", "drop", {"dataTransfer": data})
    expect_refused(page, "'a.csv': every file needs a name, and no two the same")


def test_files_dropped_anywhere(page: Page) -> None:
    data = page.evaluate_handle(DROP, [[["dropped.csv", CELLS]], None])
    page.dispatch_event(".top", "dragover", {"dataTransfer": data})
    expect(page.locator("body")).to_contain_class("dropping")
    page.dispatch_event(".top", "drop", {"dataTransfer": data})
    expect_open(page, "dropped", 9)


def test_notes_name_files_as_the_user_does(page: Page) -> None:
    upload(page, latin_csv=CELLS.replace("region", "région").encode("cp1252"))
    expect_open(page, "latin", 9)
    expect(page.get_by_test_id("notice-note")).to_contain_text("latin.csv is not in utf-8: read as cp1252")
    expect(page.get_by_test_id("notice-note")).not_to_contain_text("opened-")


def test_a_path_on_this_machine(page: Page, tmp_path: Path) -> None:
    unfold(page, "way-path")
    page.get_by_test_id("path").fill(str(tmp_path / "absent.csv"))
    page.get_by_test_id("path-open").click()
    expect_refused(page, "absent.csv: there is no such file")
    (tmp_path / "absent.csv").write_text(CELLS)
    page.get_by_test_id("path").press("Enter")
    expect_open(page, "absent", 9)


def test_pasted_cells(page: Page) -> None:
    page.get_by_test_id("paste-open").click()
    expect_refused(page, "nothing to read")
    page.get_by_test_id("paste-text").fill("\tA\tB\nx\t1,5\t2\ny\t3\t4")
    page.get_by_test_id("paste-open").click()
    expect_open(page, "pasted", 9)


def paste(page: Page, selector: str, text: str) -> bool:
    """What Ctrl+V does, with this text on the clipboard; whether the page took it from the field."""
    return page.evaluate(
        """([selector, data]) => !document.querySelector(selector).dispatchEvent(
            new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true}))""",
        [selector, page.evaluate_handle(DROP, [[], text])],
    )


SUBTOTALS = "region,a,b,c\nN1,31,7,12\nN2,5,2,9\nNorth,36,9,21\nS1,18,40,3\nS2,26,11,35\nSouth,44,51,38\n"


@pytest.mark.slow
def test_the_classification_found_is_one_press_away(page: Page) -> None:
    page.get_by_test_id("paste-text").fill(SUBTOTALS.replace(",", "\t"))
    page.get_by_test_id("paste-open").click()
    expect(page.get_by_test_id("notice-error")).to_contain_text("North = N1 + N2, South = S1 + S2")
    page.get_by_role("button", name="Use the classification found").click()
    expect(page.get_by_test_id("notice-note")).to_contain_text("classification of 'region' found")


def test_the_classification_found_in_files_that_were_handed_over(page: Page, tmp_path: Path) -> None:
    file = tmp_path / "regions.csv"
    file.write_text(SUBTOTALS)
    page.locator("input[type=file]").first.set_input_files(file)
    page.get_by_role("button", name="Use the classification found").click()
    expect(page.get_by_test_id("notice-note")).to_contain_text("classification of 'region' found")


def test_paste_outside_of_fields(page: Page) -> None:
    assert paste(page, "body", "1 2\n3 4")
    expect_open(page, "pasted", 9)


@pytest.mark.slow
def test_more_pasted_cells_than_an_event_can_carry(page: Page) -> None:
    text = "\n".join("\t".join(["123456789"] * 250) for _ in range(420))
    assert len(text) > 1_000_000
    assert paste(page, "#paste-text", text)
    expect_open(page, "pasted", 105_671)


def test_paste_into_another_field_is_its_own_matter(page: Page) -> None:
    assert not paste(page, "[data-testid=path]", "1 2\n3 4")


@pytest.mark.slow
def test_a_question_is_answered_under_how_to_read(page: Page) -> None:
    page.get_by_test_id("paste-text").fill("\tA\tB\nx\t1,234\t2\ny\t3\t4")
    page.get_by_test_id("paste-open").click()
    expect_refused(page, "'1,234' may be in thousands")
    # The question leads to where it is answered.
    expect(page.get_by_test_id("reading-decimal")).to_be_visible()
    expect(page.get_by_role("combobox", name="Decimal sign")).to_be_focused()
    choose(page, "reading-decimal", "comma: 1,5")
    page.get_by_test_id("paste-open").click()
    expect_open(page, "pasted", 9)
    expect(page.get_by_test_id("notice-note")).not_to_contain_text("counts")


def test_a_new_table_to_type(page: Page) -> None:
    unfold(page, "way-new")
    page.get_by_test_id("new-rows").fill("2")
    page.get_by_test_id("new-open").click()
    expect_open(page, "new table", 15)
    go(page, "start")
    unfold(page, "way-new")
    page.get_by_test_id("new-dimensions").fill("region: North, South\nmonth: 12\n")
    page.get_by_test_id("new-open").click()
    expect_open(page, "new table", 39)


def test_a_first_example_is_one_click_away(page: Page) -> None:
    expect(page.get_by_test_id("example-nchs")).to_be_hidden()
    page.get_by_test_id("first-nchs").click()
    expect_open(page, "NCHS, Table I", 66)
    go(page, "start")
    expect(page.get_by_test_id("next-step")).to_have_text("Go on with NCHS, Table I")


def test_generated(page: Page) -> None:
    unfold(page, "way-generate")
    page.get_by_test_id("generate-further").fill("3")
    page.get_by_test_id("generate-levels").fill("2, 1, 1, 1")
    page.get_by_test_id("generate-open").click()
    expect_refused(page, "Levels of codes: 4 for 3 dimensions")
    # Those that are not given are flat.
    page.get_by_test_id("generate-levels").fill("1")
    page.get_by_test_id("generate-open").click()
    expect_open(page, "uniform 10 × 15 × 3", 704)


@pytest.mark.slow
def test_example_then_clear_all(page: Page) -> None:
    expect(page.get_by_test_id("open-now")).to_contain_text("safe to publish")
    unfold(page, "way-examples")
    page.get_by_test_id("example-nchs").click()
    expect_open(page, "NCHS, Table I", 66)
    go(page, "start")
    expect(page.get_by_test_id("open-now")).to_contain_text("row by column · 66 cells")
    page.get_by_test_id("clear-all").click()
    with leads_on(page):
        page.get_by_test_id("clear-confirm").click()
    expect(page.get_by_test_id("open-now")).to_contain_text("safe to publish")
    # Nothing leads back to what was cleared.
    unfold(page, "way-examples")
    page.get_by_test_id("example-salazar").click()
    expect_open(page, "Salazar, Figure 1", 16)
    expect(page.get_by_test_id("undo")).to_be_disabled()
    expect(page.get_by_test_id("redo")).to_be_disabled()


def test_everything_can_be_reached_by_keyboard(page: Page) -> None:
    expect(page.get_by_test_id("first-nchs")).to_be_visible()
    for way in ("records", "path", "new", "generate", "examples"):
        unfold(page, f"way-{way}")
    # From the first of the page: after the last one Tab leads out of it.
    page.get_by_role("link").first.focus()
    wanted = {"open-files", "path", "path-open", "paste-text", "paste-open", "new-open", "generate-open"}
    wanted |= {"first-nchs", "example-nchs", "example-thesis-100x120"}
    reached = set()
    for _ in range(600):
        if wanted <= reached:
            break
        # A server that is busy covers the page for a while, and with it what Tab reaches.
        expect(page.get_by_test_id("connection")).to_be_hidden()
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.closest('[data-testid]')?.dataset.testid"))
    assert wanted <= reached
