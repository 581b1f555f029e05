"""What the user specified, as one value: equal if it says the same, saved and loaded without a word lost."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import pytest

import tacita as tc
from tacita.core.errors import FormatError, InputError
from tacita.specification.classification import Classification
from tacita.specification.differences import find_differences
from tacita.specification.sections import (
    Attackers,
    Cost,
    Earlier,
    Output,
    Protection,
    Published,
    Rules,
    SensitiveCell,
    Source,
)
from tacita.specification.specification import Specification

CELLS = "region,size,turnover,n\nN,a,10,1\nN,b,20,5\nS,a,30,6\nS,b,40,7\nW,a,9,4\nW,b,8,4\n"
ALL = Specification(
    Source(file="/data/cells.csv", by={"region": ("nuts",), "size": ""}, value="turnover", decimals=0),
    hierarchies={"nuts": Classification("/data/nuts.hrc", lead=".", total="all"), "other": "found"},
    rules=Rules(
        "p-percent(10)",
        ("Mill & Sons",),
        30,
        (SensitiveCell({"region": "N"}, 3, 5), SensitiveCell({"size": "a"}, protection=(10.0, 30.0))),
        ({"region": "S", "size": "b"},),
    ),
    attackers=Attackers(("respondents",), (("A", "B"),), (("G", "H"),), lower=-5, upper=1e6),
    published=Published((Earlier("/data/old.csv", base=5, rounded="down"),)),
    cost=Cost("log"),
    protect=Protection("rounding", {"base": 5}, 2.5, 7, ({"region": "N"},), ({"size": "b"},)),
    output=Output("results", ("csv", "html")),
)


def test_saved_and_loaded_it_is_equal(tmp_path: Path) -> None:
    path = ALL.save(tmp_path)
    again = tc.Specification.load(path)
    assert again == ALL == tc.Specification.load(tmp_path)
    assert again.folder == tmp_path.resolve()
    linked = ALL.replace(table=None, tables={"one": ALL.table, "two": Source(microdata="/m.csv", by=["a"])})
    linked.save(tmp_path)
    assert tc.Specification.load(tmp_path) == linked != ALL


def test_it_is_frozen_and_changed_by_copies(tmp_path: Path) -> None:
    with pytest.raises(FrozenInstanceError):
        ALL.cost = Cost("unit")  # type: ignore[misc]
    changed = ALL.replace(cost={"by": "unit"}, rules={"rule": "threshold(3)"})
    assert (changed.cost, changed.rules.rule, changed.rules.waived) == (
        Cost("unit"),
        "threshold(3)",
        ALL.rules.waived,
    )
    assert changed == replace(ALL, cost=Cost("unit"), rules=replace(ALL.rules, rule="threshold(3)"))
    assert ALL.cost == Cost("log")


def test_paths_stay_what_they_are_where_it_is_saved_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "cells.csv").write_text(CELLS)
    (tmp_path / "one" / "project.toml").write_text(
        '[table]\nfile = "cells.csv"\nvalue = "turnover"\ncount = "n"\n[rules]\nrule = "frequency(3)"\n'
    )
    said = tc.Specification.load(tmp_path / "one")
    assert said.table is not None
    assert said.table.file == "cells.csv"
    moved = tc.Specification.load(said.save(tmp_path / "two"))
    assert moved.files == said.files == [tmp_path.resolve() / "one" / "cells.csv"]
    assert find_differences(said.problem(), moved.problem()) == []


def test_a_table_file_is_specified_by_its_path(tmp_path: Path) -> None:
    path, tree = tmp_path / "cells.csv", tmp_path / "regions.csv"
    path.write_text(CELLS)
    tree.write_text("parent,child\nall,coast\nall,W\ncoast,N\ncoast,S\n")
    read = tc.ReadOptions(hierarchies={"region": [tree]}, value="turnover", count="n")
    said = tc.Specification.of(path, read, rule="frequency(3)")
    asked = tc.read_case(path, read, rule="frequency(3)")
    assert isinstance(asked, tc.Problem)
    assert find_differences(said.problem(), asked) == []
    said.save(tmp_path)
    assert find_differences(tc.Specification.load(tmp_path).problem(), asked) == []
    # The table may be given too, in place of the source.
    assert find_differences(tc.Specification(rules=Rules("frequency(3)")).problem(asked.table), asked) == []


def test_without_a_rule_it_is_a_table(tmp_path: Path) -> None:
    path = tmp_path / "cells.csv"
    path.write_text(CELLS)
    said = tc.Specification.of(path, tc.ReadOptions(value="turnover", count="n"))
    assert isinstance(said.case(), tc.Table)
    with pytest.raises(InputError, match="nothing says which cells are sensitive"):
        said.problem()
    with pytest.raises(InputError, match="there is no table"):
        tc.Specification().problem()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[attackers]\nkinds = ["respondent"]', r"line 4: attackers.kinds: 'respondent' \(did you mean"),
        ("[protect]\ntime_limit = 0", "line 4: protect.time_limit: 0.0"),
        ("[protect]\ngap = 1", "line 4: protect.gap: '1.0' is no share from 0 to below 1"),
        ('[protect]\ngap = "five"', "line 4: protect.gap: 'five' is no share from 0 to below 1"),
        ('[output]\nformats = ["doc"]', "line 4: output.formats: 'doc'"),
        ("[rules]\nprotection = -1", "line 4: rules.protection: -1.0 percent"),
        (
            '[hierarchies]\nnuts = { lead = "." }',
            "line 4: hierarchies.nuts.*: give either file, digits, codes or tree",
        ),
        ('[published]\nfiles = [{ file = "a", base = 0 }]', "line 4: published.files.0.base: 0"),
    ],
)
def test_what_is_out_of_range_is_refused_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "project.toml").write_text(f'[table]\nfile = "t.csv"\n{text}\n')
    with pytest.raises(FormatError, match=message):
        tc.Specification.load(tmp_path)


def test_options_that_a_kind_of_file_does_not_have_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no option 'value'"):
        tc.Specification.of(tmp_path / "t.jj", tc.ReadOptions(value="v"))
    with pytest.raises(InputError, match="several tables"):
        Specification(tables={"one": Source(file="a.csv")}).reading(tc.ReadOptions(value="v"))
