"""Classifications that the codes of the data spell out: from records, from tables, in projects and flags."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import tacita as tc
from tacita.cli.case_options import CaseFlags, pose_problem
from tacita.core.hierarchy import Digits
from tacita.core.hierarchy.digits import count_separators, parse_digits, propose_digits
from tacita.specification.project import load_project, save_project

RECORDS = {"industry": ["111", "112", "121", "211", "211"], "firm": list("abcde"), "value": [1, 2, 3, 4, 5]}
TREE = {"1": {"11": {"111": {}, "112": {}}, "12": {"121": {}}}, "2": {"21": {"211": {}}}}


@pytest.mark.parametrize(
    ("codes", "proposed"),
    [
        (["10.11", "10.12", "13.10"], (2, 3)),
        (["A.1.12", "A.1", "B.2"], (1, 2, 3)),
        (["1011", "1012", "1101"], (2, 2)),
        (["Dreieich-Nord", "Elbtal"], ()),
    ],
)
def test_digits_are_proposed_at_separators(codes: list[str], proposed: tuple[int, ...]) -> None:
    assert propose_digits(codes) == proposed


@pytest.mark.parametrize(
    ("levels", "codes", "counted"),
    [
        ((2, 2), ["10.11", "13.10"], (2, 3)),
        ((2, 2), ["13", "10.11"], (2, 3)),
        ((1, 1, 2), ["A.1.12", "A.1", "B"], (1, 2, 3)),
        ((2, 3), ["10.11"], None),
        ((2, 2), ["1011"], None),
        ((2, 2), ["10.11", "1.012"], None),
    ],
)
def test_digits_may_leave_out_separators(
    levels: tuple[int, ...], codes: list[str], counted: tuple[int, ...] | None
) -> None:
    assert count_separators(levels, codes) == counted


def test_digits_of_levels() -> None:
    assert parse_digits("2-1-1") == parse_digits(" 2 1, 1 ") == (2, 1, 1)
    for wrong in ("", "x", "2-x", "0-1", "-"):
        with pytest.raises(tc.HierarchyError, match="2-1-1"):
            parse_digits(wrong)


def test_digits_take_the_codes_of_records_and_of_tables() -> None:
    table = tc.tabulate(RECORDS, {"industry": Digits("1-1-1")}, value="value", respondent="firm")
    dimension = table.structure.dimensions[0]
    assert dimension.trees[0].to_dict() == TREE
    given = {"industry": ["All", *TREE, "11", "12", "21", "111", "112", "121", "211"]}
    values = [15, 6, 9, 3, 3, 9, 1, 2, 3, 9]
    frame = pa.table({**given, "value": values})
    read = tc.Table.from_frame(frame, {"industry": Digits("1-1-1")}, value="value")
    (tree,) = read.structure.dimensions[0].trees
    assert (tree.total, tree.to_dict()) == ("All", TREE)
    points = Digits("2-2", "NACE", {"10.11": "Meat"}).build(["10.11", "13.10"])
    assert points.to_dict() == {"10": {"10.11": {}}, "13": {"13.10": {}}}
    assert (points.total, points.labels) == ("NACE", {"10.11": "Meat"})


def test_digits_that_do_not_suit_the_codes_are_refused_by_column() -> None:
    with pytest.raises(tc.HierarchyError, match=r"'industry'.*'111' has 3 .*Use 1-1-1, which") as wrong:
        tc.tabulate(RECORDS, {"industry": Digits("1-1")}, value="value")
    assert wrong.value.options == ("digits=1-1-1",)


def test_digits_that_are_proposed_leave_out_points() -> None:
    with pytest.raises(tc.HierarchyError, match=r"'10\.1' has 4 .*Use 2-1-1, which suits") as wrong:
        Digits("2-1").build(["10", "10.1", "10.11", "13"])
    assert wrong.value.options == ("digits=2-1-1",)
    assert Digits("2-1-1").build(["10", "10.1", "10.11"]).to_dict() == {"10": {"10.1": {"10.11": {}}}}


def test_digits_in_projects_and_flags(tmp_path: Path) -> None:
    lines = ["industry,firm,value", *map("{},{},{}".format, *RECORDS.values())]
    (tmp_path / "firms.csv").write_text("\n".join(lines))
    project = tmp_path / "project.toml"
    project.write_text(
        '[table]\nmicrodata = "firms.csv"\nby = { industry = "nace" }\nvalue = "value"\n'
        '[hierarchies]\nnace = { digits = "1-1-1" }\n[rules]\nrule = "threshold(3)"\n'
    )
    said = load_project(project)
    table = said.problem().table
    assert table.structure.dimensions[0].trees[0].to_dict() == TREE
    again = save_project(said, tmp_path / "again")
    assert load_project(again).problem().table.values.tolist() == table.values.tolist()
    tc.write_table(table, tmp_path / "cells.csv")
    flags = CaseFlags(hierarchy=["industry=1-1-1"], rules="threshold(3)")
    (tree,) = pose_problem(tmp_path / "cells.csv", flags).table.structure.dimensions[0].trees
    assert tree.to_dict() == TREE
    project.write_text(project.read_text().replace("1-1-1", "x"))
    with pytest.raises(tc.FormatError, match=r"line 6: hierarchies\.nace\.digits: 'x' does not say"):
        load_project(project)
    project.write_text(project.read_text().replace("digits", "levels"))
    with pytest.raises(tc.FormatError) as wrong:
        load_project(project)
    assert "valid string" not in str(wrong.value)
