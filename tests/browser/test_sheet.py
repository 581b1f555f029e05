"""The sheet in a browser: it moves, selects, edits, folds and copies as a spreadsheet does."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

import sheet_server
from driving import listening
from running_server import RunningServer

# The sheet on "/" has rows R11 R12 R1 R21 R22 R2 R31 R32 R3 R and columns I11 I12 I1 I21 I22 I2 I.
LAST_ROW, LAST_COLUMN = 9, 6


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """In place of the app: pages that hold nothing but sheets."""
    running = sheet_server.start(tmp_path_factory.mktemp("sheets"))
    yield running
    running.stop()


@pytest.fixture
def sheet(page: Page) -> Page:
    expect(cell(page, 0, 0)).to_have_text("0")
    return page


def cell(page: Page, row: int, column: int) -> Locator:
    return page.locator(
        f"[role=row][aria-rowindex='{row + 2}'] [role=gridcell][aria-colindex='{column + 2}']"
    )


def header(page: Page, code: str) -> Locator:
    return page.locator(".sheet-header").filter(has=page.get_by_text(code, exact=True))


def expect_active(page: Page, row: int, column: int) -> None:
    """This cell is the one that a screen reader takes for the one in focus."""
    page.wait_for_function(
        """([row, column]) => {
            const grid = document.activeElement;
            const cell = document.getElementById(grid.getAttribute("aria-activedescendant"));
            return Number(cell?.closest("[role=row]").ariaRowIndex) === row + 2
                && Number(cell.ariaColIndex) === column + 2;
        }""",
        arg=[row, column],
    )


def heard(page: Page, kind: str, count: int = 1) -> list[list[Any]]:
    """What the server heard of a kind, once there are so many; each without the name of the kind."""
    label = page.get_by_test_id("heard")
    expect(label).to_have_text(re.compile(rf'(\["{kind}"[\s\S]*){{{count}}}'))
    said = [json.loads(line) for line in (label.text_content() or "").splitlines()]
    return [words[1:] for words in said if words[0] == kind]


def expect_selected(page: Page, selection: list[Any]) -> None:
    """The server comes to hear of this selection last; on the way there it need not hear of each."""
    expect(page.get_by_test_id("heard")).to_have_text(
        re.compile(re.escape(json.dumps(["select", *selection])) + r"\s*$")
    )


def put_on_clipboard(page: Page, text: str) -> None:
    """Paste as the browser does: an event with data, for which no permission is asked."""
    page.evaluate(
        """text => {
            const data = new DataTransfer();
            data.setData("text/plain", text);
            const how = { clipboardData: data, bubbles: true, cancelable: true };
            document.activeElement.dispatchEvent(new ClipboardEvent("paste", how));
        }""",
        text,
    )


def copied(page: Page, kind: str = "copy") -> str:
    return page.evaluate(
        """kind => {
            const data = new DataTransfer();
            const how = { clipboardData: data, bubbles: true, cancelable: true };
            document.activeElement.dispatchEvent(new ClipboardEvent(kind, how));
            return data.getData("text/plain");
        }""",
        kind,
    )


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


# ---------------------------------------------------------------------- typing


@pytest.mark.slow
def test_typing_replaces_and_totals_follow(sheet: Page) -> None:
    cell(sheet, 0, 0).click()
    sheet.keyboard.type("500")
    press(sheet, "Enter")
    assert heard(sheet, "edit") == [[[[0, 0, "500"]]]]
    expect(cell(sheet, 0, 0)).to_have_text("500")
    expect(cell(sheet, 0, 2)).to_have_text("501")  # I1 = I11 + I12 = 500 + 1
    expect_active(sheet, 1, 0)


def test_an_entry_that_is_refused_gives_way_to_what_was_there(sheet: Page) -> None:
    cell(sheet, 0, 1).click()
    sheet.keyboard.type("many")
    press(sheet, "Enter")
    assert heard(sheet, "edit") == [[[[0, 1, "many"]]]]
    expect(cell(sheet, 0, 1)).to_have_text("1")
    expect(cell(sheet, 0, 1)).not_to_have_class("sheet-changed")


def test_escape_gives_up_an_entry(sheet: Page) -> None:
    cell(sheet, 0, 1).click()
    sheet.keyboard.type("77")
    press(sheet, "Escape")
    expect(cell(sheet, 0, 1)).to_have_text("1")
    expect_active(sheet, 0, 1)
    press(sheet, "Control+z")
    heard(sheet, "undo")
    assert '"edit"' not in (sheet.get_by_test_id("heard").text_content() or "")


def test_f2_and_double_click_edit_the_present_text(sheet: Page) -> None:
    cell(sheet, 1, 1).click()
    press(sheet, "F2", "End")
    sheet.keyboard.type("3")
    press(sheet, "ArrowLeft")
    sheet.keyboard.type("4")
    press(sheet, "Tab")
    assert heard(sheet, "edit") == [[[[1, 1, "1143"]]]]
    expect_active(sheet, 1, 2)
    cell(sheet, 3, 1).dblclick()
    press(sheet, "End")
    sheet.keyboard.type("9")
    cell(sheet, 0, 0).click()
    assert heard(sheet, "edit", 2)[1] == [[[3, 1, "319"]]]


def test_typing_goes_on_over_scrolling_and_over_another_content(sheet: Page) -> None:
    cell(sheet, 3, 1).click()
    sheet.keyboard.type("12")
    with sheet.expect_response("**/sheet/*"):
        sheet.evaluate(
            "[...document.querySelectorAll('button')].find(b => b.textContent === 'Show again').click()"
        )
    sheet.set_viewport_size({"width": 700, "height": 420})
    sheet.evaluate("document.querySelector('.sheet-scroller').scrollTop = 20")
    editor = sheet.locator(".sheet-editor").element_handle()
    sheet.wait_for_function(
        """([cell, editor]) => {
            const [under, over] = [cell, editor].map((element) => element.getBoundingClientRect());
            return under.x === over.x && under.y === over.y;
        }""",
        arg=[cell(sheet, 3, 1).element_handle(), editor],
    )
    sheet.keyboard.type("3")
    press(sheet, "Enter")
    assert heard(sheet, "edit") == [[[[3, 1, "123"]]]]


def test_a_sum_is_not_typed_over(sheet: Page) -> None:
    cell(sheet, 2, 0).click()
    sheet.keyboard.type("5")
    expect(sheet.locator(".sheet-message")).to_have_text("R1, I11 is a sum: change its parts.")
    expect(sheet.locator(".sheet-editor")).to_be_hidden()
    expect(cell(sheet, 2, 0)).to_have_text("10")


def test_delete_sets_the_leaves_of_a_block_to_zero_in_one_step(sheet: Page) -> None:
    cell(sheet, 0, 0).click()
    cell(sheet, 2, 1).click(modifiers=["Shift"])
    press(sheet, "Delete")
    assert heard(sheet, "edit") == [[[[0, 0, "0"], [0, 1, "0"], [1, 0, "0"], [1, 1, "0"]]]]
    expect(cell(sheet, 2, 1)).to_have_text("0")


def test_undo_and_redo_are_heard(sheet: Page) -> None:
    cell(sheet, 0, 0).click()
    press(sheet, "Control+z")
    heard(sheet, "undo")
    press(sheet, "Control+y", "Control+Shift+z")
    heard(sheet, "redo", 2)


# ---------------------------------------------------------------------- clipboard


def test_paste_of_a_block(sheet: Page) -> None:
    cell(sheet, 0, 0).click()
    put_on_clipboard(sheet, "1\t2\t3\r\n4\t5\t6\r\n7\t8\t9\r\n")
    # Row R1 and column I1 are sums: what is pasted over them can only be compared.
    assert heard(sheet, "edit") == [[[[0, 0, "1"], [0, 1, "2"], [1, 0, "4"], [1, 1, "5"]]]]
    assert heard(sheet, "sums") == [[[[0, 2, "3"], [1, 2, "6"], [2, 0, "7"], [2, 1, "8"], [2, 2, "9"]]]]
    expect(cell(sheet, 2, 2)).to_have_text("12")
    expect_selected(sheet, [0, 0, [0, 1, 2], [0, 1, 2]])


def test_one_value_fills_a_block_and_what_lies_beyond_is_told(sheet: Page) -> None:
    cell(sheet, 0, 0).click()
    press(sheet, "Shift+ArrowDown", "Shift+ArrowRight")
    put_on_clipboard(sheet, "8")
    assert heard(sheet, "edit")[0] == [[[0, 0, "8"], [0, 1, "8"], [1, 0, "8"], [1, 1, "8"]]]
    cell(sheet, 7, 4).click()
    put_on_clipboard(sheet, "1\t2\t3\t4\n\n5")
    assert heard(sheet, "edit", 2)[1] == [[[7, 4, "1"]]]
    expect(sheet.locator(".sheet-message")).to_have_text(
        "3 of 12 pasted cells lie beyond the sheet and were left out."
    )


def test_copy_and_cut(sheet: Page) -> None:
    cell(sheet, 0, 0).click()
    cell(sheet, 1, 2).click(modifiers=["Shift"])
    assert copied(sheet) == "0\t1\t1\n10\t11\t21"
    assert copied(sheet, "cut") == "0\t1\t1\n10\t11\t21"
    assert heard(sheet, "edit") == [[[[0, 0, "0"], [0, 1, "0"], [1, 0, "0"], [1, 1, "0"]]]]


def test_fields_in_quotes(sheet: Page) -> None:
    cell(sheet, 0, 0).click()
    put_on_clipboard(sheet, '"a ""b""\nc"\t2')
    assert heard(sheet, "edit") == [[[[0, 0, 'a "b" c'], [0, 1, "2"]]]]


# ---------------------------------------------------------------------- moving and selecting


def test_keys_move(sheet: Page) -> None:
    for keys, place in (
        (["ArrowDown", "ArrowRight"], [1, 1]),
        (["ArrowUp", "ArrowLeft"], [0, 0]),
        (["End"], [0, LAST_COLUMN]),
        (["Control+End"], [LAST_ROW, LAST_COLUMN]),
        (["Control+End", "Home"], [LAST_ROW, 0]),
        (["Control+End", "Control+Home"], [0, 0]),
        (["Control+ArrowDown"], [LAST_ROW, 0]),
        (["PageDown", "PageDown", "PageUp"], [0, 0]),
        (["Tab", "Tab", "Shift+Tab"], [0, 1]),
        (["Enter", "Enter", "Shift+Enter"], [1, 0]),
        (["Shift+ArrowDown", "Shift+ArrowRight", "Tab", "Tab"], [1, 0]),
        (["Shift+ArrowDown", "Shift+ArrowRight", "Enter", "Enter", "Enter", "Enter"], [0, 0]),
    ):
        cell(sheet, 0, 0).click()
        press(sheet, *keys)
        expect_active(sheet, *place)


def test_keys_select_blocks(sheet: Page) -> None:
    for keys, rows, columns in (
        (["Shift+ArrowDown", "Shift+ArrowRight"], [3, 4], [1, 2]),
        (["Shift+ArrowUp", "Shift+Home"], [2, 3], [0, 1]),
        (["Control+a"], list(range(LAST_ROW + 1)), list(range(LAST_COLUMN + 1))),
        (["Shift+Space"], [3], list(range(LAST_COLUMN + 1))),
        (["Control+Space"], list(range(LAST_ROW + 1)), [1]),
        (["Control+Shift+End"], list(range(3, LAST_ROW + 1)), list(range(1, LAST_COLUMN + 1))),
    ):
        cell(sheet, 3, 1).click()
        press(sheet, *keys)
        expect(sheet.locator("[role=gridcell][aria-selected=true]")).to_have_count(len(rows) * len(columns))
        expect_selected(sheet, [3, 1, rows, columns])


def test_the_mouse_selects_by_dragging_and_by_headers(sheet: Page) -> None:
    cell(sheet, 0, 0).hover()
    sheet.mouse.down()
    cell(sheet, 3, 3).hover()
    sheet.mouse.up()
    expect_selected(sheet, [0, 0, [0, 1, 2, 3], [0, 1, 2, 3]])
    # The sum of what stands there: 0 1 1 3 / 10 11 21 13 / 10 12 22 16 / 30 31 61 33, and without the totals
    # in the third row and column.
    summary = sheet.locator(".sheet-summary")
    expect(summary).to_have_text("4 × 4 cells, sum 275 with 7 totals; without 132")
    press(sheet, "Control+Home", "Shift+ArrowRight")
    expect(summary).to_have_text("1 × 2 cells, sum 1")
    press(sheet, "Shift+ArrowRight")
    expect(summary).to_have_text("1 × 3 cells, sum 2 with 1 total; without 1")
    cell(sheet, 2, 0).click()
    press(sheet, "Shift+ArrowRight")
    expect(summary).to_have_text("1 × 2 cells, sum 22, all of them totals")
    header(sheet, "I12").click()
    expect_selected(sheet, [0, 1, list(range(LAST_ROW + 1)), [1]])
    header(sheet, "R22").click()
    expect_selected(sheet, [4, 0, [4], list(range(LAST_COLUMN + 1))])


def test_columns_are_resized_by_mouse_and_by_keys(sheet: Page) -> None:
    def expect_width(condition: str, than: float) -> None:
        sheet.wait_for_function(
            f"([cell, than]) => cell.getBoundingClientRect().width {condition} than",
            arg=[cell(sheet, 0, 0).element_handle(), than],
        )

    box = cell(sheet, 0, 0).bounding_box()
    assert box is not None
    before = box["width"]
    edge = header(sheet, "I11").locator(".sheet-edge").bounding_box()
    assert edge is not None
    sheet.mouse.move(edge["x"] + 3, edge["y"] + 5)
    sheet.mouse.down()
    sheet.mouse.move(edge["x"] + 43, edge["y"] + 5)
    sheet.mouse.up()
    expect_width("===", before + 40)
    cell(sheet, 0, 0).click()
    press(sheet, "Alt+Shift+ArrowLeft")
    expect_width("===", before + 30)
    header(sheet, "I11").locator(".sheet-edge").dblclick()
    expect_width("<", before + 30)


# ---------------------------------------------------------------------- folding


def test_folding_hides_descendants_and_lasts_over_changes(sheet: Page) -> None:
    header(sheet, "R1").get_by_role("button", name="Fold R1", include_hidden=True).click()
    expect(cell(sheet, 0, 0)).to_have_count(0)
    expect(cell(sheet, 2, 0)).to_be_visible()
    expect(header(sheet, "R1")).to_have_attribute("aria-expanded", "false")
    cell(sheet, 3, 0).click()
    sheet.keyboard.type("5")
    press(sheet, "Enter")
    expect(cell(sheet, 5, 0)).to_have_text("45")  # R2 = R21 + R22 = 5 + 40
    expect(cell(sheet, 0, 0)).to_have_count(0)
    sheet.get_by_role("button", name="Show again").click()
    sheet.get_by_role("button", name="Unfold rows").click()
    expect(cell(sheet, 0, 0)).to_be_visible()


def test_folded_lines_are_not_selected(sheet: Page) -> None:
    header(sheet, "R2").get_by_role("button", name="Fold R2", include_hidden=True).click()
    cell(sheet, 2, 0).click()
    cell(sheet, 6, 0).click(modifiers=["Shift"])
    expect_selected(sheet, [2, 0, [2, 5, 6], [0]])
    press(sheet, "Delete")
    assert heard(sheet, "edit") == [[[[6, 0, "0"]]]]


def test_keys_fold_and_the_focus_goes_to_the_parent(sheet: Page) -> None:
    cell(sheet, 1, 1).click()
    press(sheet, "Alt+ArrowLeft")
    expect_active(sheet, 2, 1)
    press(sheet, "Alt+ArrowUp")
    expect_active(sheet, 2, 2)
    press(sheet, "Alt+ArrowRight", "Alt+ArrowDown")
    expect(cell(sheet, 0, 0)).to_be_visible()


def test_folding_from_the_server(sheet: Page) -> None:
    sheet.get_by_role("button", name="Fold rows", exact=True).click()
    expect(sheet.locator("[role=rowheader]")).to_have_text(["R1", "R2", "R3", "R"])
    sheet.get_by_role("button", name="Go to the first").click()
    expect(cell(sheet, 0, 0)).to_be_visible()
    expect_active(sheet, 0, 0)


def test_another_content_takes_the_place(sheet: Page) -> None:
    cell(sheet, 8, 1).click()
    sheet.get_by_role("button", name="Show transposed").click()
    expect(cell(sheet, 6, 9)).to_be_visible()
    expect(cell(sheet, 1, 0)).to_have_text("1")
    expect(sheet.locator("[role=grid]")).to_have_attribute("aria-rowcount", "8")
    expect(sheet.locator("[aria-selected=true]")).to_have_count(1)


# ---------------------------------------------------------------------- for everybody


def test_roles_and_names(sheet: Page) -> None:
    grid = sheet.get_by_role("grid", name="Sheet")
    expect(grid).to_have_attribute("aria-rowcount", str(LAST_ROW + 2))
    expect(grid).to_have_attribute("aria-colcount", str(LAST_COLUMN + 2))
    expect(grid).to_have_attribute("aria-multiselectable", "true")
    expect(cell(sheet, 0, 1)).to_have_accessible_name("1, sensitive")
    expect(cell(sheet, 0, 1)).to_have_attribute("data-signs", "■")
    expect(cell(sheet, 1, 0)).to_have_accessible_name("10, secondary: hidden or changed, must be hidden")
    expect(cell(sheet, 1, 0)).to_have_attribute("data-signs", "▲✕")
    expect(cell(sheet, 0, 0)).to_have_attribute("aria-readonly", "false")
    expect(cell(sheet, 2, 0)).to_have_attribute("aria-readonly", "true")
    expect(header(sheet, "I11")).to_have_attribute("role", "columnheader")
    expect(sheet.locator("[role=row] > [role=rowheader]")).to_have_count(LAST_ROW + 1)


def test_nobody_is_caught(sheet: Page) -> None:
    cell(sheet, 0, 0).click()
    press(sheet, "Tab")
    expect_active(sheet, 0, 1)
    press(sheet, "Escape", "Tab")
    expect(sheet.locator("summary", has_text="Keys")).to_be_focused()
    press(sheet, "Shift+Tab", "Tab")
    expect_active(sheet, 0, 2)  # Back in the sheet, Tab moves again.
    press(sheet, "Escape", "Shift+Tab")
    expect(sheet.get_by_role("button", name="Before")).to_be_focused()


def test_the_keys_are_explained(sheet: Page) -> None:
    sheet.locator("summary", has_text="Keys").press("Enter")
    expect(sheet.get_by_text("leave the sheet", exact=True)).to_be_visible()


def contrast(page: Page, row: int, column: int) -> float:
    """Contrast of a cell's text against its ground, as WCAG 2 defines it."""
    return page.evaluate(
        """cell => {
            const light = colour => {
                const [r, g, b] = colour.match(/[\\d.]+/g).slice(0, 3).map(Number)
                    .map(v => v / 255).map(v => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
                return 0.2126 * r + 0.7152 * g + 0.0722 * b;
            };
            const style = getComputedStyle(cell);
            const clear = "rgba(0, 0, 0, 0)";
            const sheet = getComputedStyle(cell.closest(".sheet"));
            const ground = style.backgroundColor === clear ? sheet.backgroundColor : style.backgroundColor;
            const [low, high] = [light(style.color), light(ground)].sort((a, b) => a - b);
            return (high + 0.05) / (low + 0.05);
        }""",
        cell(page, row, column).element_handle(),
    )


def test_contrast(sheet: Page) -> None:
    for dark in (False, True):
        sheet.evaluate("dark => document.body.classList.toggle('body--dark', dark)", dark)
        for row, column in ((0, 0), (0, 1), (1, 0), (2, 0)):
            assert contrast(sheet, row, column) >= 4.5


# ---------------------------------------------------------------------- a hundred thousand cells

MOST_BLANK_FRAMES = 2
LONGEST_BLANK = """async () => {
    const area = document.querySelector(".sheet-scroller");
    const isDrawn = ([x, y]) => {
        const box = area.getBoundingClientRect();
        const point = [box.left + x * area.clientWidth, box.top + y * area.clientHeight];
        return document.elementFromPoint(...point)?.classList.contains("sheet-cell");
    };
    const allDrawn = () => [[.3, .3], [.95, .3], [.3, .95], [.95, .95]].every(isDrawn);
    const nextFrame = () => new Promise(requestAnimationFrame);
    while (!allDrawn()) await nextFrame();
    const start = performance.now();
    // In frames, not in time: on a busy machine frames are far apart, which is no fault of the sheet.
    let [blank, longest, now] = [0, 0, start];
    while (now < start + 1000) {
        const share = (now - start) / 1000;
        area.scrollTop = (area.scrollHeight - area.clientHeight) * Math.abs(Math.sin(9 * share));
        area.scrollLeft = (area.scrollWidth - area.clientWidth) * Math.abs(Math.sin(5 * share));
        now = await nextFrame();
        blank = allDrawn() ? 0 : blank + 1;
        longest = Math.max(longest, blank);
    }
    return longest;
}"""


@pytest.mark.slow
def test_fast_scrolling_leaves_no_blanks(server: RunningServer, page: Page) -> None:
    for path in ("/square", "/deep", "/tall"):
        page.goto(server.origin + path)
        listening(page)
        expect(cell(page, 0, 0)).to_have_text("0")
        assert page.evaluate(LONGEST_BLANK) <= MOST_BLANK_FRAMES, path
        assert page.locator("[role=gridcell]").count() < 2000, path


def test_the_far_corner(server: RunningServer, page: Page) -> None:
    page.goto(server.origin + "/square")
    listening(page)
    cell(page, 0, 0).click()
    press(page, "Control+End", "ArrowUp", "ArrowLeft")
    expect_active(page, 314, 314)
    expect(cell(page, 314, 314)).to_be_in_viewport()
    page.keyboard.type("12345")
    press(page, "Enter")
    expect(cell(page, 314, 314)).to_have_text("12,345")
    assert heard(page, "edit") == [[[[314, 314, "12345"]]]]


def test_a_whole_sheet_is_set_to_zero_in_one_step(server: RunningServer, page: Page) -> None:
    page.goto(server.origin + "/square")
    listening(page)
    cell(page, 1, 1).click()
    press(page, "Control+a", "Delete")
    expect(cell(page, 1, 1)).to_have_text("0")
    press(page, "Control+End")
    expect(cell(page, 315, 315)).to_have_text("0")
    expect(cell(page, 315, 315)).to_have_accessible_name("0, a sum")
    assert len(heard(page, "edit")) == 1


def test_sheets_of_a_group_move_together(server: RunningServer, new_page: Callable[[], Page]) -> None:
    page = new_page()
    page.goto(server.origin + "/pair")
    listening(page)
    left, right = page.get_by_role("grid", name="left"), page.get_by_role("grid", name="right")
    expect(right.locator("[role=gridcell]").first).to_be_visible()
    left.evaluate("area => area.scrollTo(300, 500)")
    expect(right.locator("[role=row][aria-rowindex='25']")).to_be_visible()
    expect(right).to_have_js_property("scrollLeft", 300)
    expect(right).to_have_js_property("scrollTop", 500)
    left.evaluate("area => area.scrollTo(0, 0)")
    left.get_by_role("button", name="Fold R1", exact=True, include_hidden=True).click()
    expect(right.locator("[role=row][aria-rowindex='2']")).to_have_count(0)
