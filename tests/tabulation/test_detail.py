"""Less detail: levels that are cut off, codes that are joined, closed or left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from budget import examples
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita.cli import main
from tacita.core.errors import FormatError, HierarchyError, InputError
from tacita.core.hierarchy.recoding import Recoded, cut_tree, recode_tree
from tacita.core.tables.coarsening import coarsen
from tacita.formats.recodings import read_recoding

TREE = tc.Hierarchy.from_dict({"A": {"A1": ["A11", "A12"], "A2": ["A21"]}, "B": ["B1", "B2", "B3"], "C": {}})
REGIONS = tc.Hierarchy.flat(["N", "S"])
LEAVES = ("A11", "A12", "A21", "B1", "B2", "B3", "C")
Rows = list[tuple[str, str, str, int]]
"""Industry, region, firm, turnover."""


@st.composite
def records(draw: st.DrawFn) -> Rows:
    row = st.tuples(
        st.sampled_from(LEAVES), st.sampled_from("NS"), st.sampled_from("abcd"), st.integers(0, 30)
    )
    return draw(st.lists(row, min_size=1, max_size=14))


def frame(rows: Rows) -> pa.Table:
    return pa.table(
        {name: [row[k] for row in rows] for k, name in enumerate(("industry", "region", "firm", "turnover"))}
    )


def tabulate(rows: Rows, tree: Any = TREE, **options: Any) -> tc.Table:
    by = {"industry": tree, "region": REGIONS}
    return tc.tabulate(frame(rows), by, "turnover", **{"respondent": "firm", **options})


def describe(table: tc.Table) -> dict[tuple[str, ...], tuple[Any, ...]]:
    """Return everything that is known of each cell, by its codes and whatever the order of cells."""
    known = table.contributions
    shares: dict[int, dict[str, int]] = {}
    if known is not None:
        found = known.shares_of(known.everyone())
        for who, cell, units in zip(found.who, found.cells, found.units, strict=True):
            shares.setdefault(int(cell), {})[known.name(int(who))] = int(units)
    return {
        table.structure.key(cell): (
            int(table.units[cell]),
            None if table.count is None else int(table.count[cell]),
            None if known is None else known.values[cell].tolist(),
            shares.get(cell),
        )
        for cell in range(len(table))
    }


@examples(6)
@given(records(), st.integers(1, 3), st.booleans())
def test_levels_of_records_and_of_their_table_are_the_same(rows: Rows, levels: int, named: bool) -> None:
    respondent = "firm" if named else None
    fine = tabulate(rows, respondent=respondent)
    coarse = tabulate(rows, respondent=respondent, levels={"industry": levels})
    again = coarsen(fine, {"industry": levels})
    deep = {code: int(depth) for code, depth in zip(TREE.codes, TREE.depth, strict=True)}
    assert all(deep[code] <= levels for code, _ in describe(coarse))
    one, other = describe(coarse), describe(again)
    # Records without names are known by their leaf cells, which are others.
    assert {key: each[: 4 if named else 3] for key, each in one.items()} == {
        key: each[: 4 if named else 3] for key, each in other.items()
    }
    by_hand = {TREE.codes[k]: TREE.codes[k] for k in range(len(TREE))}
    for code in LEAVES:
        while deep[by_hand[code]] > levels:
            by_hand[code] = str(TREE.parent(by_hand[code]))
    for industry in set(by_hand.values()) & {key[0] for key in one}:
        below = [row[3] for row in rows if by_hand[row[0]] == industry]
        if below and not any(key != industry and industry in TREE.ancestors(key) for key, _ in one):
            assert one[industry, "Total"][0] == sum(below)


@examples(6)
@given(records())
def test_joined_codes_are_those_of_records_that_have_the_new_code(rows: Rows) -> None:
    recode = {"B1": "B12", "B2": "B12", "A21": "A2x"}
    written = [(recode.get(row[0], row[0]), *row[1:]) for row in rows]
    tree = tc.Hierarchy.from_dict({"A": {"A1": ["A11", "A12"], "A2": ["A2x"]}, "B": ["B12", "B3"], "C": {}})
    one, other = tabulate(rows, recode={"industry": recode}), tabulate(written, tree)
    assert describe(one) == describe(other)
    bare = tabulate(rows, respondent=None)
    bare = tc.Table.from_frame(
        bare.to_arrow(), {"industry": TREE, "region": REGIONS}, value="turnover", counts=False
    )
    summed = coarsen(bare, recode={"industry": recode})
    assert {k: v[0] for k, v in describe(summed).items()} == {k: v[0] for k, v in describe(other).items()}


@examples(5)
@given(records(), st.booleans())
def test_codes_that_are_left_out_count_nowhere(rows: Rows, named: bool) -> None:
    left = [row for row in rows if row[0] not in ("A11", "A12", "C")]
    options = {"respondent": "firm" if named else None}
    recode = {"industry": {"A1": "", "C": ""}}
    if not left:
        with pytest.raises(InputError, match=r"leaves out all records|no records"):
            tabulate(rows, recode=recode, **options)
        return
    tree = tc.Hierarchy.from_dict({"A": {"A2": ["A21"]}, "B": ["B1", "B2", "B3"]})
    found, same = tabulate(rows, recode=recode, **options), tabulate(left, tree, **options)
    assert {k: v[:3] for k, v in describe(found).items()} == {k: v[:3] for k, v in describe(same).items()}
    assert found.notes == same.notes


def test_closing_all_codes_of_a_parent_keeps_who_contributed() -> None:
    rows = [(leaf, "NS"[k % 2], "abcd"[k % 4], 5 + k) for k, leaf in enumerate(LEAVES * 2)]
    closed = coarsen(tabulate(rows), recode={"industry": {"B1": "B", "B2": "B", "B3": "B"}})
    assert describe(closed) == {
        key: each for key, each in describe(tabulate(rows)).items() if key[0] not in ("B1", "B2", "B3")
    }
    problem = tc.Problem(coarsen(tabulate(rows), {"industry": 1}), tc.PPercent(40))
    assert tc.audit(problem, tc.Suppression().protect(problem)).safe


@pytest.mark.parametrize(
    ("recode", "message"),
    [
        ({"A11": "B1"}, "not a code beside them"),
        ({"A11": "X", "B1": "X"}, "are parts of 'A1', 'B'"),
        ({"B1": "B"}, "has other parts: 'B2', 'B3'"),
        ({"Bx": "B1"}, r"no such code \(did you mean"),
        ({"A1": "X", "A11": "Y"}, "'A11' is below 'A1'"),
        ({"Total": "X"}, "is the total"),
        ({"A": "", "B": "", "C": ""}, "leaves all codes out"),
    ],
)
def test_recodings_that_break_totals_are_refused(recode: dict[str, str], message: str) -> None:
    with pytest.raises(HierarchyError, match=message):
        recode_tree(TREE, recode)


@pytest.mark.parametrize("tree", [None, TREE])
def test_a_misspelt_code_of_a_recoding_is_refused(tree: tc.Hierarchy | None) -> None:
    rows = [(leaf, "N", "a", 5) for leaf in LEAVES]
    with pytest.raises(
        HierarchyError, match=r"'industry': 'A1l' in the recoding: no such code \(did you mean"
    ):
        tabulate(rows, tree, recode={"industry": {"A1l": "A12"}})


def test_recoding_a_tree() -> None:
    joined = recode_tree(TREE, {"A": "AC", "C": "AC", "B1": "B2"})
    assert joined.tree.codes == ("Total", "AC", "B", "B2", "B3")
    assert joined.codes["A12"] == "AC"
    assert joined.then(cut_tree(joined.tree, 1)) == Recoded(
        cut_tree(joined.tree, 1).tree, {**joined.codes, "B1": "B", "B2": "B", "B3": "B"}
    )
    with pytest.raises(HierarchyError, match="3 levels below its total, not 4"):
        cut_tree(TREE, 4)


def test_tables_with_contributions_are_not_joined() -> None:
    rows = [(leaf, "N", "a", 5) for leaf in LEAVES]
    with pytest.raises(InputError, match="contributors of joined codes may be the same"):
        coarsen(tabulate(rows), recode={"industry": {"B1": "B2"}})
    with pytest.raises(InputError, match="'sector' is none of the dimensions industry, region"):
        tabulate(rows, levels={"sector": 1})
    with pytest.raises(InputError, match="has 2 classifications"):
        tabulate(rows, [TREE, tc.Hierarchy.flat(LEAVES, total="All")], levels={"industry": 1})


def test_files_of_recodings(tmp_path: Path) -> None:
    (tmp_path / "new.csv").write_text("code;new;label\nB1;B12;one or two\nB2;B12;\nC;;\n")
    read = read_recoding(tmp_path / "new.csv")
    found = recode_tree(TREE, read)
    assert found.tree.labels == {"B12": "one or two"}
    assert "C" not in found.tree
    (tmp_path / "twice.csv").write_text("code,new\nB1,X\nB1,Y\n")
    with pytest.raises(FormatError, match=r"line 3: code 'B1' becomes 'X' and 'Y'"):
        read_recoding(tmp_path / "twice.csv")
    (tmp_path / "tree.grc").write_text("<TREERECODE>\nA\n")
    closed = recode_tree(TREE, read_recoding(tmp_path / "tree.grc")).tree
    assert closed.codes == ("Total", "A", "B", "B1", "B2", "B3", "C")
    (tmp_path / "flat.grc").write_text("low: 1-3\nhigh: 4,5\n")
    flat = tc.Hierarchy.flat(["1", "2", "3", "4", "5", "6"])
    assert recode_tree(flat, read_recoding(tmp_path / "flat.grc")).tree.codes == ("Total", "low", "high", "6")


def test_command_line_and_projects_choose_the_detail(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [(leaf, "NS"[k % 2], f"f{k}", 5 + k) for k, leaf in enumerate(LEAVES * 3)]
    pyarrow.csv.write_csv(frame(rows), tmp_path / "firms.csv")
    TREE.write_hrc(tmp_path / "industry.hrc")
    (tmp_path / "new.csv").write_text("code,new\nB1,B12\nB2,B12\n")
    (tmp_path / "project.toml").write_text(
        '[table]\nmicrodata = "firms.csv"\nby = { industry = "nace", region = "" }\nvalue = "turnover"\n'
        'respondent = "firm"\nlevels = { industry = 2 }\nrecode = { industry = "new.csv" }\n'
        '[hierarchies]\nnace = "industry.hrc"\n[rules]\nrule = "frequency(3)"\n'
    )
    specification = tc.Specification.load(tmp_path)
    table = specification.data()
    assert table.structure.dimensions[0].codes == ("Total", "A", "A1", "A2", "B", "B12", "B3", "C")
    assert tmp_path / "new.csv" in specification.files
    kept = tc.Specification.load(specification.save(tmp_path / "kept"))
    assert kept.data().units.tolist() == table.units.tolist()
    assert main(["assess", str(tmp_path), "--levels", "industry=1"]) == 0
    assert "of 12 cells" in capsys.readouterr().out
    assert main(["assess", str(tmp_path), "--levels", "industry=x"]) == 1
    # The same of a file that lists the totals, and of the records.
    assert main(["tabulate", str(tmp_path / "project.toml"), "--out", str(tmp_path / "cells.csv")]) == 0
    by = ["--hierarchy", f"industry={tmp_path / 'tree.csv'}", "--by", "industry", "--by", "region"]
    (tmp_path / "tree.csv").write_text("parent,child\nTotal,A\nA,A1\nA,A2\nTotal,B\nB,B12\nB,B3\nTotal,C\n")
    capsys.readouterr()
    options = ["--rules", "frequency(20)", "--levels", "industry=1"]
    assert main(["assess", str(tmp_path / "cells.csv"), *by, *options]) == 0
    assert "of 12 cells" in capsys.readouterr().out
    source = [str(tmp_path / "firms.csv"), "--by", f"industry={tmp_path / 'industry.hrc'}", "--by", "region"]
    assert main(["tabulate", *source, "--levels", "industry=1"]) == 0
    assert capsys.readouterr().out.startswith("12 cells")


def test_a_cell_with_one_name_left_keeps_it() -> None:
    """A file may list only the finer of two codes that are the same cell."""
    tree = tc.Hierarchy.from_dict({"A": ["A1"], "B": ["B1", "B2"]})
    data = pa.table({"industry": ["A1", "B", "B1", "B2", "Total"], "value": [4, 5, 2, 3, 9]})
    table = tc.Table.from_frame(data, {"industry": tree}, value="value", columns=[])
    coarse = coarsen(table, {"industry": 1})
    assert {coarse.structure.key(c): int(coarse.units[c]) for c in range(len(coarse))} == {
        ("A",): 4, ("B",): 5, ("Total",): 9,
    }  # fmt: skip
    assert np.array_equal(coarse.equations.matrix.toarray() @ coarse.units, np.zeros(1))
