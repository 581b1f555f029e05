"""One value says how a table is read: by a file, a frame and the flags of the command line."""

from __future__ import annotations

import inspect
from dataclasses import fields
from pathlib import Path

import pytest

import tacita as tc
from tacita.cli.case_options import CaseFlags
from tacita.core.errors import InputError

FIELDS = {field.name: field for field in fields(tc.ReadOptions)}
CELLS = "region;size;turnover;n\nN;s;1,5;1\nN;all;1,5;1\nall;s;1,5;1\nall;all;1,5;1\nN;x;0;0\nall;x;0;0\n"


def test_a_frame_and_the_flags_have_the_names_of_the_options() -> None:
    frame = {*inspect.signature(tc.Table.from_frame).parameters} - {"frame", "across"}
    flags = {"by", "total", "value", "count", "counts", "repair", "undeclared_sums", "decimal", "sheet"}
    assert flags <= {field.name for field in fields(CaseFlags)}
    assert frame <= FIELDS.keys()
    assert flags <= FIELDS.keys()
    assert all(field.metadata["help"] for field in FIELDS.values())


def test_flags_and_options_read_the_same(tmp_path: Path) -> None:
    path, tree = tmp_path / "t.csv", tmp_path / "sizes.csv"
    path.write_text(CELLS)
    tree.write_text("parent,child\nall,s\nall,x\n")
    flags = CaseFlags(
        hierarchy=[f"size={tree}"], total=["region=all"], value="turnover", count="n", decimal=","
    )
    told = tc.ReadOptions(
        hierarchies={"size": [tree]}, total={"region": "all"}, value="turnover", count="n", decimal=","
    )
    assert flags.read_options == told
    one, other = tc.read_case(path, told), tc.read_case(path, total="all", value="turnover", decimal=",")
    assert isinstance(one, tc.Table)
    assert isinstance(other, tc.Table)
    assert one.structure.same_cells(other.structure)
    assert one.values.tolist() == other.values.tolist()


def test_only_what_differs_is_given() -> None:
    assert tc.ReadOptions().given == {}
    assert tc.ReadOptions(["region"], found=[], repair=True).given == {"by": ("region",), "repair": True}


@pytest.mark.parametrize(("name", "value"), [("decimal", ";"), ("decimals", -1), ("decimals", 13)])
def test_options_out_of_range_are_refused(name: str, value: object) -> None:
    with pytest.raises(InputError, match="decimal"):
        tc.ReadOptions(**{name: value})
