"""How many cells stay hidden at each level of detail."""

from __future__ import annotations

import json
from math import nan
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pytest

import tacita as tc
from tacita.cli import main
from tacita.core.errors import InputError
from tacita.core.tables.coarsening import coarsen
from tacita.pipelines.compare_detail import DetailRow, describe_row

TREE = tc.Hierarchy.from_dict(
    {"A": {"A1": ["A11", "A12"], "A2": ["A21", "A22"]}, "B": {"B1": ["B11", "B12"]}}
)
RECORDS = {
    "industry": [leaf for leaf in TREE.leaves for _ in range(4)],
    "region": list("NSNE") * len(TREE.leaves),
    "firm": [f"f{k}" for k in range(4 * len(TREE.leaves))],
    "turnover": [5 + k * k % 37 for k in range(4 * len(TREE.leaves))],
}


def test_every_row_is_what_a_suppression_of_that_table_hides() -> None:
    table = tc.tabulate(RECORDS, {"industry": TREE, "region": None}, "turnover", "firm")
    found = tc.compare_detail(table, "p-percent(30)", time_limit=20.0)
    assert [row.levels for row in found] == [{"industry": k, "region": 1} for k in (1, 2, 3)]
    for row in found:
        problem = tc.Problem(coarsen(table, row.levels), "p-percent(30)")
        release = tc.Suppression().protect(problem)
        assert (row.cells, row.sensitive) == (len(problem.table), len(problem.levels))
        assert release.outcome is not None
        if release.outcome.status and row.gap == 0:
            lost = float(problem.cost[release.hidden].sum())
            assert lost == pytest.approx(release.outcome.loss)
        inner = ~problem.table.structure.is_total
        assert row.hidden is not None
        assert row.hidden >= row.sensitive
        assert 0 <= row.percent <= 100
        assert row.percent == 0 or inner.any()
    assert found[-1].sensitive > found[0].sensitive
    assert found.to_arrow().column_names[:3] == ["industry", "region", "cells"]
    assert str(found).splitlines()[0].split() == [
        "industry", "region", "cells", "sensitive", "hidden", "%", "of", "value", "least"
    ]  # fmt: skip


def test_a_row_without_a_release_says_why() -> None:
    data = {"industry": ["A11", "B11"], "turnover": [3, 4]}
    table = tc.tabulate(data, {"industry": TREE}, "turnover")
    rows = tc.compare_detail(table, tc.Marked([("Total",)], upper=5, lower=1) | tc.MinimumFrequency(3))
    assert all(row.hidden is not None or row.note for row in rows)
    assert describe_row(DetailRow({"a": 1}, 5, 2, None, nan, nan, "why"))[-1] == "why"


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(InputError, match="no dimension has a hierarchy"):
        tc.compare_detail(tc.tabulate(RECORDS, ["region"], "turnover"), "threshold(3)")
    table = tc.tabulate(RECORDS, {"industry": TREE}, "turnover")
    with pytest.raises(InputError, match="costs are given per cell"):
        tc.compare_detail(table, "threshold(3)", cost=[1.0] * len(table))
    with pytest.raises(InputError, match="one table with dimensions"):
        tc.compare_detail(tc.link([table, tc.tabulate(RECORDS, ["region"], "turnover")]), "threshold(3)")


def test_the_command_line_compares_records_and_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pyarrow.csv.write_csv(pa.table(RECORDS), tmp_path / "firms.csv")
    TREE.write_hrc(tmp_path / "industry.hrc")
    (tmp_path / "project.toml").write_text(
        '[table]\nmicrodata = "firms.csv"\nby = { industry = "nace", region = "" }\nvalue = "turnover"\n'
        'respondent = "firm"\n[hierarchies]\nnace = "industry.hrc"\n[rules]\nrule = "p-percent(30)"\n'
    )
    assert main(["assess", str(tmp_path), "--detail", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["detail"]
    table = tc.Specification.load(tmp_path).data()
    same = tc.compare_detail(table, "p-percent(30)").to_arrow().to_pylist()
    assert [(row["cells"], row["sensitive"]) for row in rows] == [
        (row["cells"], row["sensitive"]) for row in same
    ]
    assert main(["tabulate", str(tmp_path), "--out", str(tmp_path / "cells.csv")]) == 0
    options = ["--hierarchy", f"industry={tmp_path / 'industry.hrc'}", "--rules", "frequency(3)"]
    capsys.readouterr()
    assert main(["assess", str(tmp_path / "cells.csv"), *options, "--detail"]) == 0
    shown = capsys.readouterr().out
    assert "hidden at each level of detail" in shown
    assert main(["assess", str(tmp_path), "--detail", "--levels", "industry=2"]) == 1
    assert "no detail to choose" in capsys.readouterr().err
