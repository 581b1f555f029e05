"""Classifications made in a browser: by digits, from a column, from a file, by hand and by keys."""

from __future__ import annotations

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
    reload,
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


def open_classification(page: Page, axis: str = "rows") -> None:
    page.get_by_test_id("edit-table").click()
    page.get_by_test_id(f"classify-{axis}").click()
    expect(page.get_by_test_id("code-tree")).to_be_visible()


def test_a_classification_of_records_by_digits_outlives_a_reload(page: Page) -> None:
    open_records(page)
    shows(page, "Total", ".N1", ".N2", ".S1", ".S2")
    assert complaints(page) == []
    page.get_by_test_id("tree-digits").fill("2-1")
    page.keyboard.press("Enter")
    shows(page, "Total", ".N1", ".N2", ".S1", ".S2")
    page.get_by_test_id("tree-digits").fill("one")
    page.get_by_test_id("tree-digits-use").click()
    expect(page.get_by_test_id("tree-message")).to_contain_text("2-1-1")
    page.get_by_test_id("tree-digits").fill("3-1")
    page.get_by_test_id("tree-digits-use").click()
    expect(page.get_by_test_id("tree-message")).to_contain_text(
        "'N1' has 2 characters, but levels end at 3, 4"
    )
    page.get_by_test_id("tree-digits").fill("1-1")
    page.get_by_test_id("tree-digits-use").click()
    shows(page, "Total", ".N", "..N1", "..N2", ".S", "..S1", "..S2")
    use(page)
    expect(page.get_by_role("button", name="Classification of district: 2 levels")).to_be_visible()
    reload(page)
    open_by(page, "records-tabulate")
    expect(page.get_by_test_id("case-name")).to_have_text("firms · 7 cells")


def test_groups_from_a_column_of_records_are_saved_and_edited_on_the_table(page: Page) -> None:
    open_records(page)
    page.get_by_test_id("tree-column").click()
    page.get_by_role("option", name="region", exact=True).click()
    shows(page, "Total", ".N", "..N1", "..N2", ".S", "..S1", "..S2")
    use(page)
    open_by(page, "records-tabulate")
    expect(page.get_by_test_id("case-name")).to_have_text("firms · 7 cells")
    open_classification(page)
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
    written = downloaded(page, "download-internal")["internal/district.csv"].decode()
    assert written.split() == [
        "parent,child,label",
        ",Total,",
        "Total,N,",
        "N,N1,",
        "N,N2,",
        "Total,S1,",
        "Total,S2,",
    ]


def test_a_file_of_any_name_and_a_tree_that_is_edited(page: Page) -> None:
    open_records(page)
    with page.expect_file_chooser() as chooser:
        page.get_by_test_id("tree-file").click()
    content = b"N1;North\nN2;North\nS1;South\nX9;South\n"
    chooser.value.set_files({"name": "groups.of districts", "mimeType": "", "buffer": content})
    shows(page, "Total", ".North", "..N1", "..N2", ".South", "..S1", "..X9", ".S2")
    message = page.get_by_test_id("tree-message")
    expect(message).to_contain_text("directly under the total: 'S2'. 1 code of it is not in the data.")
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
