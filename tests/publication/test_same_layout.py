"""The workbook comes back as it was, and nothing of what is hidden stays anywhere in it."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xlsxwriter
from hypothesis import given
from hypothesis import strategies as st
from made_workbook import REGIONS, SHEET, TITLE, make_workbook
from openpyxl import Workbook, load_workbook

import tacita as tc
from tacita.cli import main
from tacita.core.errors import FormatError, ReleaseError
from tacita.core.tables.read_options import ReadOptions
from tacita.formats.presentation import Presentation
from tacita.publication.same_layout.input_sheet import InputSheet
from tacita.publication.same_layout.telling_texts import HiddenValues, Telling
from tacita.publication.same_layout.write_workbook import write_same_layout

HIDDEN = [
    ("North", "Men", "small"),
    ("North", "Men", "large"),
    ("East", "Men", "small"),
    ("East", "Men", "large"),
]


def release_of(
    path: Path, hidden: Iterable[tuple[str, ...]] = HIDDEN, **read: Any
) -> tuple[tc.Table, tc.Release]:
    table = tc.read_case(path, counts=True, **read)
    assert isinstance(table, tc.Table)
    return table, tc.Release.suppress(table, [table.structure.find(*codes) for codes in hidden])


def written(path: Path, release: tc.Release, mark: str = "*", **more: Any) -> tuple[Path, tuple[str, ...]]:
    target = path.with_name("safe.xlsx")
    return target, write_same_layout(release, target, InputSheet(path), {}, Presentation(mark), **more)


def list_numbers(path: Path) -> set[Decimal]:
    """All numbers in any part of a workbook: digits, also with signs between them."""
    found = set()
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            text = archive.read(name).decode("utf-8", "replace")
            for each in re.findall(r"\d[\d.,  ']*", text):
                found.add(Decimal(re.sub(r"\D", "", each)))
                found.update(Decimal(part) for part in re.findall(r"\d+(?:\.\d+)?", each))
    return found


def style_of(cell: Any) -> tuple[str, ...]:
    return tuple(repr(getattr(cell, name)) for name in ("font", "fill", "border"))


def test_the_sheet_is_the_same_but_for_marks_and_a_legend(tmp_path: Path) -> None:
    path = make_workbook(tmp_path / "report.xlsx")
    table, release = release_of(path)
    target, notes = written(path, release, truth=table)
    before, after = load_workbook(path)[SHEET], load_workbook(target)[SHEET]
    marks = {cell.coordinate for row in after.iter_rows() for cell in row if cell.value == "*"}
    assert marks == {"B6", "C6", "B7", "C7"}
    for row in before.iter_rows():
        for cell in row:
            own = after[cell.coordinate]
            # A number format could print a text of its own in place of a mark.
            assert own.number_format == ("General" if cell.coordinate in marks else cell.number_format)
            assert style_of(own) == style_of(cell), cell.coordinate
            if cell.coordinate not in marks:
                assert own.value == cell.value
                assert repr(own.alignment) == repr(cell.alignment)
    assert after["B6"].alignment.horizontal == "right"
    assert after["A13"].value == "*: hidden"
    assert {str(each) for each in after.merged_cells.ranges} == {
        str(each) for each in before.merged_cells.ranges
    }
    for key in ("A", "B", "F"):
        assert after.column_dimensions[key].width == before.column_dimensions[key].width
    assert after.row_dimensions[1].height == 24
    assert (after.freeze_panes, after.print_title_rows) == ("B6", "$4:$5")
    assert (after.page_setup.orientation, after.oddFooter.center.text) == ("landscape", "Page &P")
    # The chart of the table stays; the one of another sheet, and all else, is left out by name.
    assert len(after._charts) == 1
    assert len(before._charts) == 2
    for word in ("'working'", "comments", "conditional formats", "lists of valid entries", "defined names"):
        assert any(word in note for note in notes), word
    assert any("a chart was left out: it draws from elsewhere" in note for note in notes)


def test_no_hidden_value_is_in_any_part(tmp_path: Path) -> None:
    path = make_workbook(tmp_path / "report.xlsx")
    table, release = release_of(path)
    target, _ = written(path, release, truth=table)
    hidden = {Decimal(int(units)) for units in table.units[release.hidden]}
    assert hidden <= list_numbers(path)
    assert not hidden & list_numbers(target)


@given(st.data())
def test_no_hidden_value_is_in_any_part_of_any_layout(tmp_path_factory: Any, data: st.DataObject) -> None:
    folder = tmp_path_factory.mktemp("layouts")
    values = data.draw(
        st.lists(st.integers(1_000_003, 9_999_991), min_size=12, max_size=12, unique=True), label="values"
    )
    regions = {name: values[4 * k : 4 * k + 4] for k, name in enumerate(("North", "East", "South"))}
    path = make_workbook(folder / "report.xlsx", regions)
    table = tc.read_case(path, counts=True)
    assert isinstance(table, tc.Table)
    chosen = data.draw(st.sets(st.integers(0, len(table) - 1), min_size=1), label="hidden")
    intervals = data.draw(st.booleans(), label="intervals")
    mask = np.isin(np.arange(len(table)), list(chosen))
    release = tc.Release.suppress(table, mask)
    if intervals:
        release = tc.Release.intervals(table, mask, table.units - 1_000, table.units + 2_000)
    target, _ = written(path, release, truth=table)
    hidden = {Decimal(int(units)) for units in table.units[release.hidden]}
    shown = {Decimal(int(units)) for units in table.units[~release.hidden]}
    assert not (hidden - shown) & list_numbers(target)


@pytest.mark.parametrize("text", ["of 1042319", "of 1 042 319 EUR", "1.042.319 EUR", "1,042,319 EUR"])
@pytest.mark.parametrize("field", ["A2", "A11", "A30"])
def test_a_text_that_tells_a_hidden_value_is_refused_by_name(tmp_path: Path, field: str, text: str) -> None:
    path = make_workbook(tmp_path / "report.xlsx", **{field: text})
    _, release = release_of(path)
    with pytest.raises(ReleaseError, match=f"the text of {field} holds the value of a hidden cell"):
        written(path, release)
    assert not (tmp_path / "safe.xlsx").exists()


def test_formulas_and_numbers_outside_of_the_table_stay_behind(tmp_path: Path) -> None:
    path = make_workbook(
        tmp_path / "report.xlsx", A14='="Share of men: "&B6/F6', A15='=CONCATENATE("See ",A2)'
    )
    _, release = release_of(path)
    target, notes = written(path, release)
    sheet = load_workbook(target)[SHEET]
    assert sheet["A14"].value is None
    assert all(cell.data_type != "f" for row in sheet.iter_rows() for cell in row)
    assert not any("A15" in note for note in notes if "formulas" in note)


def test_a_list_of_cells_comes_back_without_its_other_columns(tmp_path: Path) -> None:
    book = Workbook()
    sheet = book.active
    rows: list[list[Any]] = [["region", "size", "freq", "value", "status"]]
    rows += [
        [r, s, 3, v, "u"] for r, s, v in (("N", "s", 731), ("N", "l", 822), ("S", "s", 913), ("S", "l", 604))
    ]
    for row in rows:
        sheet.append(row)
    path = tmp_path / "list.xlsx"
    book.save(path)
    found = tc.read_case(path)
    assert isinstance(found, tc.Problem)
    release = tc.Release.suppress(found.table, [found.table.structure.find("N", "s")])
    target, notes = written(path, release)
    sheet = load_workbook(target).active
    got = [[cell.value for cell in row] for row in sheet.iter_rows(min_row=2, max_row=3)]
    assert got == [["N", "s", None, "*", None], ["N", "l", None, 822, None]]
    assert any("beside the table's codes and values: C2, E2" in note for note in notes)


def test_sheets_of_texts_are_kept_on_request(tmp_path: Path) -> None:
    path = make_workbook(tmp_path / "report.xlsx")
    book = load_workbook(path)
    book.create_sheet("notes")["A1"] = "Turnover is what enterprises invoice."
    book.save(path)
    _, release = release_of(path)
    target, notes = written(path, release, keep_sheets=True)
    assert load_workbook(target).sheetnames == [SHEET, "notes"]
    assert any("sheets left out" in note and "'working'" in note for note in notes)
    assert load_workbook(written(path, release)[0]).sheetnames == [SHEET]


def test_an_endless_merge_is_refused(tmp_path: Path) -> None:
    path = make_workbook(tmp_path / "report.xlsx")
    _, release = release_of(path)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content.replace(b'ref="A1:F1"', b'ref="A60:XFD1048576"'))
    with pytest.raises(FormatError, match="of its fields are merged"):
        written(path, release)


def test_a_command_gives_the_workbook_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    make_workbook(Path("report.xlsx"))
    flags = ["protect", "report.xlsx", "--counts", "--rules", "frequency(400000)", "--mark", "c"]
    assert main([*flags, "--out", "safe.xlsx"]) == 0
    sheet = load_workbook("safe.xlsx")[SHEET]
    assert sheet["A1"].value == TITLE
    assert sheet["B7"].value == "c"
    smallest = Decimal(REGIONS["East"][0])
    assert smallest not in list_numbers(Path("safe.xlsx"))
    assert main([*flags, "--out", "new.xlsx", "--layout", "new"]) == 0
    assert load_workbook("new.xlsx").sheetnames[0] != SHEET
    # Whoever reads the workbook back finds the same cells hidden.
    table = tc.read_case("report.xlsx", counts=True)
    assert isinstance(table, tc.Table)
    with pytest.warns(tc.TacitaWarning):
        read = tc.read_release("safe.xlsx", table)
    record = tc.read_release(Path("safe.internal") / "release.csv", table)
    assert (read.hidden | ~record.hidden).all()


def test_options_of_reading_are_those_of_the_case(tmp_path: Path) -> None:
    path = make_workbook(tmp_path / "report.xlsx")
    _, release = release_of(path, sheet=SHEET)
    target = tmp_path / "safe.xlsx"
    source = InputSheet(path, ReadOptions(sheet=SHEET))
    write_same_layout(release, target, source, {"notice": "Numbers are perturbed."}, Presentation())
    assert load_workbook(target)[SHEET]["A14"].value == "notice: Numbers are perturbed."


@pytest.mark.parametrize(
    ("text", "telling"),
    [
        ("1042319", Telling.VALUE),
        ("1 042 319", Telling.VALUE),
        ("1.042.319,0", Telling.VALUE),
        ("about 12.5 %", Telling.VALUE),
        ("12,5", Telling.VALUE),
        ("Table 3", Telling.PERHAPS),
        ("in 2024", Telling.PERHAPS),
        ("10423190", Telling.NOTHING),
        ("Table 4", Telling.NOTHING),
    ],
)
def test_numbers_are_found_in_any_notation(text: str, telling: Telling) -> None:
    hidden = HiddenValues(dict(enumerate([Decimal(1042319), Decimal("12.5"), Decimal(3), Decimal(2024)])))
    assert hidden.judge(text) == telling


def test_stored_values_of_a_chart_and_hidden_columns_tell_nothing(tmp_path: Path) -> None:
    path = tmp_path / "report.xlsx"
    rows: list[list[Any]] = [["region", "small", "large", "Total"]]
    values = {"N": (7301117, 1822339), "S": (2913571, 6204461)}
    rows += [[region, *pair, sum(pair)] for region, pair in values.items()]
    rows.append(["Total", *(sum(row[c] for row in rows[1:]) for c in (1, 2, 3))])
    with xlsxwriter.Workbook(str(path)) as book:
        sheet = book.add_worksheet("data")
        for r, row in enumerate(rows):
            sheet.write_row(r, 0, row)
        # A total as a formula with its stored result, as spreadsheet programs write it.
        sheet.write_formula(1, 3, "=SUM(B2:C2)", None, rows[1][3])
        sheet.set_column("C:C", 9, None, {"hidden": True})
        sheet.add_sparkline("F2", {"range": "data!B2:C2"})
        chart = book.add_chart({"type": "column"})
        chart.add_series({"values": "=data!$B$2:$B$3", "categories": "=data!$A$2:$A$3", "name": "=data!$B$1"})
        chart.set_y_axis({"max": 7301117})
        sheet.insert_chart("A6", chart)
        literal = book.add_chart({"type": "pie"})
        literal.add_series({"values": "=other!$A$1:$A$2"})
        sheet.insert_chart("H8", literal)
        book.add_worksheet("other").write_column(0, 0, [7301117, 2913571])
    with zipfile.ZipFile(path) as archive:
        assert b"numCache" in archive.read("xl/charts/chart1.xml")
    table, release = release_of(path, [("N", "small"), ("N", "large"), ("S", "small"), ("S", "large")])
    target, notes = written(path, release, truth=table)
    assert not {Decimal(value) for pair in values.values() for value in pair} & list_numbers(target)
    sheet = load_workbook(target)["data"]
    assert (sheet["D2"].value, sheet["D2"].data_type) == (rows[1][3], "n")
    assert sheet.column_dimensions["C"].hidden
    assert sheet["C2"].value == "*"
    assert len(sheet._charts) == 1
    # Below the chart, which covers the first column.
    legend = [cell.row for cell in sheet["A"] if cell.value == "*: hidden"]
    assert legend[0] > 20
    assert any("sparklines" in note for note in notes)


def test_what_was_blank_stays_blank(tmp_path: Path) -> None:
    path = make_workbook(tmp_path / "report.xlsx", F7=None)
    table, release = release_of(path)
    target, _ = written(path, release, truth=table)
    sheet = load_workbook(target)[SHEET]
    assert sheet["F7"].value is None
    assert (sheet["B7"].value, sheet["F8"].value) == ("*", sum(REGIONS["South"]))


def test_a_list_of_counts_alone_comes_back(tmp_path: Path) -> None:
    book = Workbook()
    for row in (["region", "size", "n"], ["N", "s", 7], ["N", "l", 9], ["S", "s", 8], ["S", "l", 6]):
        book.active.append(row)
    path = tmp_path / "list.xlsx"
    book.save(path)
    table, release = release_of(path, [("N", "s")])
    target, _ = written(path, release, truth=table)
    assert [cell.value for cell in load_workbook(target).active["C"]][:3] == ["n", "*", 9]


@given(st.data())
def test_no_hidden_value_is_in_a_plain_crosstab(tmp_path_factory: Any, data: st.DataObject) -> None:
    rows, columns = data.draw(st.integers(2, 4), label="rows"), data.draw(st.integers(2, 4), label="columns")
    size = rows * columns
    drawn = st.lists(st.integers(100_003, 999_983), min_size=size, max_size=size, unique=True)
    inner = np.array(data.draw(drawn, label="values")).reshape(rows, columns)
    whole = np.vstack([inner, inner.sum(axis=0)])
    whole = np.column_stack([whole, whole.sum(axis=1)])
    titles, aside = data.draw(st.integers(0, 2), label="titles"), data.draw(st.integers(0, 2), label="aside")
    factor = data.draw(st.sampled_from([1, 1000]), label="decimals")
    book = Workbook()
    sheet = book.active
    lines: list[list[Any]] = [[f"Title {letter}"] for letter in "ab"[:titles]]
    lines.append(["region", *(f"c{c}" for c in range(columns)), "Total"])
    heads = [*(f"r{r}" for r in range(rows)), "Total"]
    lines += [[head, *(v / factor for v in row.tolist())] for head, row in zip(heads, whole, strict=True)]
    for line in (*lines, [], ["A footnote."]):
        sheet.append([*[None] * aside, *line])
    path = tmp_path_factory.mktemp("crosstabs") / "report.xlsx"
    book.save(path)
    table = tc.read_case(path)
    assert isinstance(table, tc.Table)
    chosen = data.draw(st.sets(st.integers(0, len(table) - 1), min_size=1), label="hidden")
    release = tc.Release.suppress(table, np.isin(np.arange(len(table)), list(chosen)))
    target, _ = written(path, release, truth=table)
    scale = Decimal(10) ** -table.decimals
    hidden = {Decimal(int(units)) * scale for units in table.units[release.hidden]}
    shown = {Decimal(int(units)) * scale for units in table.units[~release.hidden]}
    empty = tmp_path_factory.mktemp("empty") / "empty.xlsx"
    Workbook().save(empty)
    # The colours of a workbook's theme are numbers, too, such as 200000.
    assert not (hidden - shown - list_numbers(empty)) & list_numbers(target)


def test_numbers_as_texts_and_durations_count_as_numbers(tmp_path: Path) -> None:
    path = make_workbook(tmp_path / "report.xlsx")
    book = load_workbook(path)
    book[SHEET]["A20"], book[SHEET]["A21"] = "46.5 %", timedelta(hours=27)
    other = book.create_sheet("as text")
    other["A1"], other["B1"] = "North", "46"
    book.save(path)
    table, release = release_of(path)
    target, notes = written(path, release, truth=table, keep_sheets=True)
    after = load_workbook(target)
    assert "as text" not in after.sheetnames
    assert after[SHEET]["A20"].value is after[SHEET]["A21"].value is None
    assert any("as numbers outside of the table" in note and "A20" in note for note in notes)


@pytest.mark.parametrize("field", ["=SUM(B6:E6)", "=1/0", "#DIV/0!", "#N/A", " "])
@pytest.mark.parametrize("hidden", [False, True])
def test_fields_without_a_number_come_back_as_the_release_says(
    tmp_path: Path, field: str, hidden: bool
) -> None:
    # openpyxl stores no results of formulas.
    path = make_workbook(tmp_path / "report.xlsx", F6=field)
    table, release = release_of(path, [*HIDDEN, ("North", "Total", "Total")] if hidden else HIDDEN)
    target, _ = written(path, release, truth=table)
    after = load_workbook(target)[SHEET]["F6"]
    assert after.value == ("*" if hidden else sum(REGIONS["North"]))
    assert after.data_type == ("s" if hidden else "n")


@pytest.mark.parametrize("field", ["=C2+C3", "#N/A"])
def test_a_list_of_cells_has_no_field_without_a_number(tmp_path: Path, field: str) -> None:
    book = Workbook()
    for row in (
        ["region", "size", "value"],
        ["N", "s", 731],
        ["N", "l", 822],
        ["N", "Total", field],
        ["S", "s", 913],
        ["S", "l", 604],
        ["S", "Total", 1517],
        ["Total", "s", 1644],
        ["Total", "l", 1426],
        ["Total", "Total", 3070],
    ):
        book.active.append(row)
    path = tmp_path / "list.xlsx"
    book.save(path)
    table, release = release_of(path, [("N", "s"), ("N", "l"), ("S", "s"), ("S", "l")])
    target, notes = written(path, release, truth=table)
    assert [cell.value for cell in load_workbook(target).active["C"]][1:5] == ["*", "*", 1553, "*"]
    assert not any("C4" in note for note in notes)
