"""Releases of tables with cells without records: what is read back of them, and what workbooks show."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import load_workbook

import tacita as tc
from tacita.core.errors import ReleaseError
from tacita.core.tables.empty_cells import find_empty
from tacita.publication.release_read import read_release

TREE = tc.Hierarchy.from_dict({"C": ["C1", "C2"], "D": ["D1", "D2"]})
RECORDS = {"code": ["C1", "C1", "C2", "D1", "D2"], "sex": ["f", "m", "f", "m", "f"], "v": [4, 5, 6, 7, 8]}
SHOWN = "code,f,m,Total\nC1,4,5,9\nC2,6,?,6\nC,10,5,15\nD1,,7,7\nD2,8,0,8\nD,8,7,15\nTotal,18,12,30\n"


def release_file(folder: Path, text: str) -> Path:
    path = folder / "release.csv"
    path.write_text(text)
    return path


@pytest.mark.parametrize("shown", ["", "0", "0.0", "-"])
def test_a_cell_without_records_may_be_blank_or_zero(tmp_path: Path, shown: str) -> None:
    table = tc.tabulate(RECORDS, {"code": TREE, "sex": None}, "v")
    release = read_release(release_file(tmp_path, SHOWN.replace("?", shown)), table)
    assert release.shown.all()
    assert len(release.marks) == len(table)


@pytest.mark.parametrize("shown", ["3", "x", "[0...4]", "<5", "PS 0"])
def test_whatever_else_is_said_of_a_cell_without_records_is_refused(tmp_path: Path, shown: str) -> None:
    table = tc.tabulate(RECORDS, {"code": TREE, "sex": None}, "v")
    with pytest.raises(ReleaseError, match="line 3, column 'm': the table has nothing in this cell"):
        read_release(release_file(tmp_path, SHOWN.replace("?", shown)), table)


def test_a_zero_under_a_code_that_the_table_does_not_have_is_refused(tmp_path: Path) -> None:
    table = tc.tabulate(RECORDS, {"code": TREE, "sex": None}, "v")
    with pytest.raises(ReleaseError, match="the table has no such cell"):
        read_release(release_file(tmp_path, SHOWN.replace("?", "0") + "E1,0,0,0\n"), table)


def test_a_zero_that_says_more_than_the_table_is_refused(tmp_path: Path) -> None:
    """The table has margins only. Two zeros would tell that A is f and B is m, which no equation says."""
    rows = [
        ("A", "Total", 5),
        ("B", "Total", 7),
        ("Total", "f", 5),
        ("Total", "m", 7),
        ("Total", "Total", 12),
    ]
    frame = pa.table(dict(zip(("region", "sex", "value"), zip(*rows, strict=True), strict=True)))
    table = tc.Table.from_frame(frame, {"region": "Total", "sex": "Total"}, value="value")
    text = "region,f,m,Total\nA,,0,x\nB,0,,x\nTotal,x,x,12\n"
    with pytest.raises(ReleaseError, match="the table has no such cell"):
        read_release(release_file(tmp_path, text), table)


def test_our_own_crosstab_is_read_back(tmp_path: Path) -> None:
    table = tc.tabulate(RECORDS, {"code": TREE, "sex": None}, "v")
    problem = tc.Problem(table, tc.Marked([("C1", "f")], lower=1, upper=1), attackers="outsider")
    release = tc.Suppression().protect(problem)
    path = tmp_path / "release-crosstab.csv"
    release.write(path, audit=tc.audit(problem, release), format="crosstab")
    assert tc.audit(problem, read_release(path, table)).safe


@given(st.sets(st.sampled_from(list(product(("C1", "C2", "D1", "D2"), "fm"))), min_size=1))
def test_cells_that_records_do_not_reach_are_empty_and_no_others(leaves: set[tuple[str, str]]) -> None:
    records = {
        "code": [code for code, _ in leaves],
        "sex": [sex for _, sex in leaves],
        "v": [1] * len(leaves),
    }
    sexes = tc.Hierarchy.flat(["f", "m"])
    structure = tc.tabulate(records, {"code": TREE, "sex": sexes}, "v").structure
    sizes = [len(dimension.codes) for dimension in structure.dimensions]
    codes = np.array(list(product(*map(range, sizes))), dtype=np.int32)
    assert np.array_equal(find_empty(structure, codes), structure.locate(codes) < 0)


def test_workbooks_say_what_blank_means_show_all_decimals_and_have_one_mark(tmp_path: Path) -> None:
    records = {**RECORDS, "v": [4, 5.5, 6, 7, 8]}
    table = tc.tabulate(records, {"code": TREE, "sex": None}, "v")
    problem = tc.Problem(table, tc.Marked([("C1", "f")], lower=1, upper=1), attackers="outsider")
    audit = tc.audit(problem, tc.Suppression().protect(problem))
    written = tc.write_results(audit, tmp_path / "out", ["csv", "xlsx"], mark="c")
    assert not any("can be seen" in note for note in written.notes)
    for name, marks in (
        ("publication/release", {"c"}),
        ("internal/release-internal", {"c (primary)", "c (secondary)"}),
    ):
        rows = list(load_workbook(tmp_path / f"out/{name}.xlsx")["crosstab"].iter_rows())
        texts = {cell.value for row in rows for cell in row if isinstance(cell.value, str)}
        assert "blank: no such cell, nothing was counted there" in texts
        assert {text for text in texts if text.startswith(("c ", "x")) or text == "c"} == marks
        numbers = [cell for row in rows for cell in row if isinstance(cell.value, int | float)]
        assert {cell.number_format for cell in numbers} == {"#,##0.0"}


def test_a_mark_that_no_format_shows_gets_a_note(tmp_path: Path) -> None:
    table = tc.tabulate(RECORDS, {"code": TREE, "sex": None}, "v")
    problem = tc.Problem(table, tc.Marked([("C1", "f")], lower=1, upper=1), attackers="outsider")
    audit = tc.audit(problem, tc.Suppression().protect(problem))
    (note,) = tc.write_results(audit, tmp_path / "out", ["csv"], mark="c", title="Turnover").notes
    assert note == "the mark and the title can be seen in the formats crosstab, html, xlsx only, not in csv"
