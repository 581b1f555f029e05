"""Classifications made in a browser: by digits, from a column, from a file, by hand and by keys."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from access import complaints
from driving import (
    add_rule,
    cell,
    choose,
    downloaded,
    go,
    new_table,
    open_by,
    open_path,
    reload,
    result,
    run,
    type_numbers,
    undo,
)
from test_records import choose_columns, drop

RECORDS = "region,district,firm,turnover\n" + "".join(
    f"{region},{region}{k},f{region}{k}{j},{10 * k + j}\n"
    for region in "NS"
    for k in (1, 2)
    for j in range(4)
)
TREE = "[data-testid=code-tree] [role=treeitem]"


def tree(page: Page) -> list[str]:
    """The codes of the tree that are seen, with a point for each level."""
    return page.locator(TREE).evaluate_all(
        "items => items.map((item) => '.'.repeat(item.ariaLevel - 1) + item.dataset.code)"
    )


def code(page: Page, name: str) -> Locator:
    return page.locator(f'{TREE}[data-code="{name}"]')


def shows(page: Page, *codes: str) -> None:
    """Wait until the tree is this one."""
    expect(page.locator(TREE)).to_have_count(len(codes))
    page.wait_for_function(
        "([where, wanted]) => [...document.querySelectorAll(where)].map((item) =>"
        " '.'.repeat(item.ariaLevel - 1) + item.dataset.code).join() === wanted",
        arg=[TREE, ",".join(codes)],
    )


def answer(page: Page, **fields: str) -> None:
    """Fill in the small dialog, with the keyboard."""
    for name, value in fields.items():
        page.get_by_test_id(f"ask-{name}").fill(value)
    page.get_by_test_id("ask-ok").click()
    expect(page.get_by_test_id("ask-ok")).to_have_count(0)


def use(page: Page) -> None:
    page.get_by_test_id("tree-use").click()
    expect(page.get_by_test_id("tree-use")).to_have_count(0)


def open_records(page: Page, content: str = RECORDS, *columns: str) -> None:
    drop(page, "[data-testid=way-records]", content)
    choose_columns(page, *(columns or ("district",)))
    page.get_by_role("button", name="Classification of district").click()
    expect(page.get_by_test_id("code-tree")).to_be_visible()


def group_by(page: Page, column: str) -> None:
    page.get_by_test_id("tree-column").click()
    page.get_by_role("option", name=column, exact=True).click()


def choose_file(
    page: Page, content: str, name: str = "groups.of districts", button: str = "tree-file"
) -> None:
    with page.expect_file_chooser() as chooser:
        page.get_by_test_id(button).click()
    chooser.value.set_files({"name": name, "mimeType": "", "buffer": content.encode()})


def open_classification(page: Page, axis: str = "rows") -> None:
    page.get_by_test_id("edit-table").click()
    page.get_by_test_id(f"classify-{axis}").click()
    expect(page.get_by_test_id("code-tree")).to_be_visible()


@pytest.mark.slow
def test_a_classification_of_records_by_digits_outlives_a_reload(page: Page) -> None:
    open_records(page)
    shows(page, "Total", ".N1", ".N2", ".S1", ".S2")
    assert complaints(page) == []
    expect(page.get_by_test_id("tree-digits")).to_have_attribute("placeholder", "such as 1-1")
    page.get_by_test_id("tree-digits").fill("2-1")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("tree-message")).to_contain_text("No code reaches level 2.")
    shows(page, "Total", ".N1", ".N2", ".S1", ".S2")
    page.get_by_test_id("tree-digits").fill("one")
    page.get_by_test_id("tree-digits-use").click()
    expect(page.get_by_test_id("tree-message")).to_contain_text("2-1-1")
    page.get_by_test_id("tree-digits").fill("3-1")
    page.get_by_test_id("tree-digits-use").click()
    expect(page.get_by_test_id("tree-message")).to_contain_text(
        "code 'N1' has 2 characters, but levels end at 3, 4. Use 2, which suits all codes."
    )
    page.get_by_role("button", name="Use 2", exact=True).click()
    expect(page.get_by_test_id("tree-digits")).to_have_value("2")
    shows(page, "Total", ".N1", ".N2", ".S1", ".S2")
    page.get_by_test_id("tree-digits").fill("1-1")
    page.get_by_test_id("tree-digits-use").click()
    shows(page, "Total", ".N", "..N1", "..N2", ".S", "..S1", "..S2")
    use(page)
    expect(page.get_by_role("button", name="Classification of district: 2 levels")).to_be_visible()
    reload(page)
    open_by(page, "records-tabulate")
    expect(page.get_by_test_id("case-name")).to_have_text("firms · 7 cells")


def test_a_second_click_meets_the_same_button_though_the_tree_has_grown(page: Page) -> None:
    page.set_viewport_size({"width": 1366, "height": 1200})
    codes = [f"{first}{second}" for first in "ABCD" for second in range(4)]
    open_records(page, "district,turnover\n" + "".join(f"{name},1\n" for name in codes))
    button = page.get_by_test_id("tree-digits-use")
    page.get_by_test_id("tree-digits").fill("1-1")
    before = button.bounding_box()
    button.click()
    expect(page.locator(TREE)).to_have_count(21)
    assert button.bounding_box() == before


def test_codes_of_several_lengths_are_grouped_at_the_press_of_a_button(page: Page) -> None:
    drop(page, "[data-testid=way-records]", "code,value\n1,5\n11,7\n12,8\n2,9\n")
    choose_columns(page, "code")
    page.get_by_test_id("classify-0").click()
    page.get_by_test_id("tree-digits").fill("1-1")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("tree-message")).to_contain_text("so '11', '12' cannot stand under it")
    page.get_by_test_id("remedy").click()
    shows(page, "Total", ".1+", "..1", "..11", "..12", ".2")
    expect(page.get_by_test_id("tree-message")).to_contain_text("1 new group: '1+'.")
    use(page)
    open_by(page, "records-tabulate")
    expect(page.get_by_test_id("case-name")).to_have_text("firms · 6 cells")


@pytest.mark.slow
def test_groups_from_a_column_of_records_are_saved_and_edited_on_the_table(page: Page) -> None:
    open_records(page)
    # A firm is in one district: it cannot group them. Escape folds the list and leaves the dialog open.
    page.get_by_test_id("tree-column").click()
    expect(page.get_by_role("option")).to_have_text(["none", "region"])
    page.keyboard.press("Escape")
    expect(page.get_by_role("option")).to_have_count(0)
    shows(page, "Total", ".N1", ".N2", ".S1", ".S2")
    group_by(page, "region")
    shows(page, "Total", ".N", "..N1", "..N2", ".S", "..S1", "..S2")
    use(page)
    open_by(page, "records-tabulate")
    expect(page.get_by_test_id("case-name")).to_have_text("firms · 7 cells")
    open_classification(page)
    code(page, "N").click()
    page.get_by_test_id("tree-ungroup").click()
    shows(page, "Total", ".N1", ".N2", ".S", "..S1", "..S2")
    group_by(page, "region")
    shows(page, "Total", ".N", "..N1", "..N2", ".S", "..S1", "..S2")
    code(page, "S").click()
    page.get_by_test_id("tree-ungroup").click()
    shows(page, "Total", ".N", "..N1", "..N2", ".S1", ".S2")
    use(page)
    expect(page.get_by_test_id("case-name")).to_have_text("firms · 6 cells")
    go(page, "rules")
    add_rule(page, "threshold", "threshold(5)")
    go(page, "protect")
    run(page, state="safe")
    go(page, "export")
    written = downloaded(page, "download-internal")
    assert written["internal/firms.csv"].decode() == RECORDS
    tree = tomllib.loads(written["internal/project.toml"].decode())["hierarchies"]["district"]["tree"]
    assert tree == {"N": ["N1", "N2"], "S1": [], "S2": []}


def test_a_file_of_any_name_and_a_tree_that_is_edited(page: Page) -> None:
    open_records(page)
    choose_file(page, "N1;North\nN2;North\nS1;South\nX9;South\n")
    shows(page, "Total", ".North", "..N1", "..N2", ".South", "..S1", "..X9", ".S2")
    message = page.get_by_test_id("tree-message")
    expect(message).to_contain_text("directly under the total: 'S2'. Without data: 'X9'.")
    page.get_by_role("button", name="Leave out codes without data").click()
    shows(page, "Total", ".North", "..N1", "..N2", ".South", "..S1", ".S2")
    expect(page.get_by_test_id("remedy")).to_have_count(0)
    page.get_by_test_id("tree-undo").click()
    shows(page, "Total", ".North", "..N1", "..N2", ".South", "..S1", "..X9", ".S2")
    code(page, "S2").drag_to(code(page, "South"))
    shows(page, "Total", ".North", "..N1", "..N2", ".South", "..S1", "..X9", "..S2")
    code(page, "North").drag_to(code(page, "N1"))
    expect(message).to_contain_text("a cycle")
    code(page, "North").click()
    page.keyboard.press("F2")
    answer(page, code="NORTH", label="All of the north")
    shows(page, "Total", ".NORTH", "..N1", "..N2", ".South", "..S1", "..X9", "..S2")
    expect(code(page, "NORTH")).to_contain_text("All of the north")
    page.get_by_test_id("tree-undo").click()
    expect(code(page, "North")).to_be_visible()
    page.get_by_test_id("tree-redo").click()
    expect(code(page, "NORTH")).to_be_visible()
    use(page)
    open_by(page, "records-tabulate")
    expect(page.get_by_test_id("sheet")).to_contain_text("NORTH")
    expect(page.get_by_test_id("case-name")).to_have_text("firms · 7 cells")


@pytest.mark.slow
def test_labels_given_in_the_tree_stand_beside_their_codes_in_the_sheets_and_files(page: Page) -> None:
    open_records(page)
    group_by(page, "region")
    for name, label in (("N", "All of the north"), ("S2", "Southport")):
        code(page, name).click()
        page.keyboard.press("F2")
        answer(page, label=label)
    use(page)
    open_by(page, "records-tabulate")
    heads = page.get_by_test_id("sheet").get_by_role("rowheader")
    expect(heads).to_contain_text(["N1", "N2", "N All of the north", "S1", "S2 Southport", "S", "Total"])
    expect(heads.nth(4)).to_have_attribute("title", "S2 Southport")
    expect(heads.nth(3).locator(".sheet-label")).to_be_hidden()
    cell(page, 4, 0).click()
    expect(page.locator(".sheet-place")).to_contain_text("S2 Southport, value")
    # A label that is given on the table itself is shown at once, too.
    open_classification(page)
    code(page, "S").click()
    page.keyboard.press("F2")
    answer(page, label="All of the south")
    use(page)
    expect(heads.nth(5)).to_contain_text("S All of the south")
    go(page, "rules")
    add_rule(page, "threshold", "threshold(5)")
    go(page, "protect")
    result(page, run(page, state="safe"))
    for sheet in page.get_by_test_id("beside").get_by_role("grid").all():
        expect(sheet.get_by_role("rowheader").nth(4)).to_contain_text("S2 Southport")
    go(page, "export")
    project = tomllib.loads(downloaded(page, "download-internal")["internal/project.toml"].decode())
    labels = {"N": "All of the north", "S": "All of the south", "S2": "Southport"}
    assert project["hierarchies"]["district"]["labels"] == labels
    page.get_by_test_id("format-html").click()
    expect(page.get_by_test_id("format-html")).to_be_checked()
    published = downloaded(page, "download-publication")
    (written,) = (text.decode() for name, text in published.items() if name.endswith(".html"))
    assert "S2 <small>Southport</small>" in written


def test_a_file_without_any_code_of_the_data_is_refused_and_each_choice_is_read(page: Page) -> None:
    open_records(page)
    message = page.get_by_test_id("tree-message")
    choose_file(page, "A1;A\nA2;A\nB1;B\n", "foreign.csv")
    expect(message).to_contain_text("It has no code of the data. The data have 'N1', 'N2', 'S1' and 1 more")
    shows(page, "Total", ".N1", ".N2", ".S1", ".S2")
    choose_file(page, "N1;N\nN2;N\nS1;S\nS2;S\n", "right.csv", "tree-other-file")
    shows(page, "Total", ".N", "..N1", "..N2", ".S", "..S1", "..S2")
    choose_file(page, "A1;A\nA2;A\nB1;B\n", "foreign.csv")
    expect(message).to_contain_text("It has no code of the data")
    page.get_by_test_id("tree-flatten").click()
    shows(page, "Total", ".N1", ".N2", ".S1", ".S2")
    choose_file(page, "N1;N\nN2;N\nS1;S\nS2;S\n", "right.csv")
    shows(page, "Total", ".N", "..N1", "..N2", ".S", "..S1", "..S2")
    expect(page.get_by_test_id("tree-keys")).to_contain_text("Alt+Shift+arrow")
    code(page, "N1").focus()
    page.keyboard.press("Escape")
    page.get_by_test_id("discard-confirm").click()
    expect(page.get_by_test_id("code-tree")).to_have_count(0)


def test_escape_asks_before_it_discards_changes_and_only_then(page: Page) -> None:
    new_table(page, 3, 2, "counts")
    open_classification(page)
    dialog, question = (
        page.get_by_test_id("code-tree"),
        page.get_by_role("dialog", name="Discard the changes?"),
    )
    code(page, "1").focus()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    open_classification(page)
    code(page, "2").click()
    page.keyboard.press("Alt+Shift+ArrowRight")
    shows(page, "Total", ".1", "..2", ".3")
    page.keyboard.press("Escape")
    expect(question).to_be_visible()
    expect(page.get_by_test_id("discard-keep")).to_be_focused()
    # A second Escape answers the question: go on.
    page.keyboard.press("Escape")
    expect(question).to_have_count(0)
    shows(page, "Total", ".1", "..2", ".3")
    # That of a dialog above it is not for this one.
    page.get_by_test_id("tree-rename").click()
    page.get_by_test_id("ask-label").press("Escape")
    expect(page.get_by_test_id("ask-label")).to_have_count(0)
    expect(question).to_have_count(0)
    code(page, "2").press("Escape")
    page.get_by_test_id("discard-confirm").click()
    expect(dialog).to_have_count(0)
    open_classification(page)
    shows(page, "Total", ".1", ".2", ".3")
    # What was undone is no change.
    code(page, "2").click()
    page.keyboard.press("Alt+Shift+ArrowRight")
    shows(page, "Total", ".1", "..2", ".3")
    page.keyboard.press("Control+z")
    shows(page, "Total", ".1", ".2", ".3")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)


def test_a_table_whose_records_are_gone_is_classified_without_contributors(
    page: Page, tmp_path: Path
) -> None:
    records, project = tmp_path / "firms.csv", tmp_path / "project.toml"
    records.write_text(RECORDS)
    project.write_text('[table]\nmicrodata = "firms.csv"\nby = ["district"]\nrespondent = "firm"\n')
    open_path(page, project)
    records.unlink()
    page.get_by_test_id("edit-table").click()
    page.get_by_test_id("classify-rows").click()
    notice = page.get_by_test_id("notice-error")
    expect(notice).to_contain_text("no longer there (firms.csv)")
    expect(notice).to_contain_text(
        "Choose the records again on the page Start, or go on without contributors."
    )
    expect(page.get_by_role("button", name="Choose the records again")).to_be_visible()
    page.get_by_role("button", name="Go on without contributors").click()
    page.get_by_test_id("tree-digits").fill("1-1")
    page.get_by_test_id("tree-digits-use").click()
    use(page)
    expect(page.get_by_test_id("case-name")).to_contain_text("7 cells")
    expect(notice).to_have_count(0)


def test_rows_of_a_typed_table_are_grouped_and_undone(page: Page) -> None:
    new_table(page, 4, 2, "counts")
    type_numbers(page, [[1, 2], [3, 4], [5, 6], [7, 8]])
    cell(page, 0, 0).click()
    page.keyboard.press("Shift+ArrowDown")
    page.get_by_test_id("edit-table").click()
    page.get_by_test_id("group-rows").click()
    answer(page, code="First")
    expect(page.get_by_test_id("case-name")).to_have_text("new table · 18 cells")
    open_classification(page)
    shows(page, "Total", ".First", "..1", "..2", ".3", ".4")
    # The keyboard alone: the code 3 goes under the code before it, then out again, then the group goes.
    code(page, "Total").focus()
    for _ in range(4):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Alt+Shift+ArrowRight")
    shows(page, "Total", ".First", "..1", "..2", "..3", ".4")
    expect(code(page, "3")).to_be_focused()
    page.keyboard.press("Alt+Shift+ArrowLeft")
    shows(page, "Total", ".First", "..1", "..2", ".3", ".4")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowLeft")
    shows(page, "Total", ".First", ".3", ".4")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Delete")
    shows(page, "Total", ".1", ".2", ".3", ".4")
    page.keyboard.press("Control+z")
    shows(page, "Total", ".First", "..1", "..2", ".3", ".4")
    page.keyboard.press("End")
    page.keyboard.press("Shift+ArrowUp")
    page.get_by_test_id("tree-group").focus()
    page.keyboard.press("Enter")
    answer(page, code="Last")
    shows(page, "Total", ".First", "..1", "..2", ".Last", "..3", "..4")
    use(page)
    expect(page.get_by_test_id("case-name")).to_have_text("new table · 21 cells")
    undo(page)
    expect(page.get_by_test_id("case-name")).to_have_text("new table · 18 cells")


def test_columns_of_a_typed_table_are_grouped_by_a_label_alone(page: Page) -> None:
    new_table(page, 2, 4, "counts")
    type_numbers(page, [[1, 2, 3, 4], [5, 6, 7, 8]])
    cell(page, 0, 1).click()
    page.keyboard.press("Shift+ArrowRight")
    page.get_by_test_id("edit-table").click()
    page.get_by_test_id("group-columns").click()
    answer(page, label="Middle")
    expect(page.get_by_test_id("case-name")).to_have_text("new table · 18 cells")
    expect(page.get_by_test_id("sheet").get_by_role("columnheader", name="Middle")).to_be_visible()
    expect(cell(page, 0, 3)).to_have_text("5")
    open_classification(page, "columns")
    shows(page, "Total", ".1", ".Middle", "..2", "..3", ".4")
    expect(code(page, "Middle")).to_contain_text("2 parts")
    # A code that is dropped on its own group comes last there.
    code(page, "2").drag_to(code(page, "Middle"))
    shows(page, "Total", ".1", ".Middle", "..3", "..2", ".4")
    use(page)
    expect(page.get_by_test_id("sheet").get_by_role("columnheader")).to_contain_text(
        ["1", "3", "2", "Middle"]
    )


def test_totals_that_do_not_add_up_are_refused_in_the_dialog(page: Page) -> None:
    new_table(page, 3, 2, "counts")
    type_numbers(page, [[1, 2], [3, 4], [9, 6]])
    open_classification(page)
    code(page, "1").click()
    code(page, "2").click(modifiers=["Control"])
    page.get_by_test_id("tree-move").click()
    choose(page, "ask-under", "3")
    answer(page)
    shows(page, "Total", ".3", "..1", "..2")
    page.get_by_test_id("tree-use").click()
    expect(page.get_by_test_id("tree-message")).to_contain_text("is 9, but the codes under it add up to 4")
    page.get_by_test_id("tree-cancel").click()
    expect(page.get_by_test_id("case-name")).to_have_text("new table · 12 cells")
