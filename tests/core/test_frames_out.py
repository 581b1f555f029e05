"""Everything with rows becomes a frame of pandas, polars and Arrow, and a table in a notebook."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tacita as tc
from tacita.core.notebook import MOST_COLUMNS, MOST_ROWS

# Values that occur nowhere else, so that a hidden one is found in any text.
TABLE = tc.Table.from_array([[2003, 5011, 1009], [811, 1913, 2203], [1709, 3203, 1213]])
PROBLEM = tc.Problem(TABLE, tc.Threshold(900))
RELEASE = tc.Suppression().protect(PROBLEM)
AUDIT = tc.audit(PROBLEM, RELEASE)
DEDUCTION = tc.deduce(PROBLEM, RELEASE)
COMPARISON = tc.compare(PROBLEM, [RELEASE, tc.Rounding(base=2000)])
COLUMNS = {
    "table": (TABLE, ["row", "column", "value"]),
    "release": (RELEASE, ["row", "column", "mark", "low", "high", "value"]),
    "audit": (AUDIT, ["row", "column", "attacker", "verdict", "below", "above"]),
    "deduction": (DEDUCTION, ["row", "column", "low", "high", "known"]),
    "comparison": (
        COMPARISON,
        [
            *("name", "l1", "l2", "largest", "changed", "percent", "others", "silent", "value_percent"),
            *("relative", "relative_median", "relative_largest", "rank", "hellinger", "chi_square", "none"),
        ],
    ),
}


@pytest.mark.parametrize("noun", COLUMNS)
def test_everything_with_rows_becomes_a_frame(noun: str) -> None:
    value, columns = COLUMNS[noun]
    arrow, pandas, polars = value.to_arrow(), value.to_pandas(), value.to_polars()
    assert (type(arrow), type(pandas), type(polars)) == (pa.Table, pd.DataFrame, pl.DataFrame)
    assert arrow.column_names == list(pandas.columns) == polars.columns == columns
    assert len(pandas) == len(polars) == arrow.num_rows > 0


@pytest.mark.parametrize(("package", "method"), [("pandas", "to_pandas"), ("polars", "to_polars")])
def test_a_package_that_is_not_installed_is_named(
    package: str, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    for noun, _ in COLUMNS.values():
        with pytest.raises(tc.TacitaError, match=rf"{package} is not installed: run 'pip install {package}'"):
            getattr(noun, method)()
        with pytest.raises(ImportError):
            getattr(noun, method)()
    assert TABLE.to_arrow().num_rows == len(TABLE)


def test_no_hidden_value_is_in_a_release() -> None:
    hidden = TABLE.units[RELEASE.hidden]
    assert hidden.size >= 4
    frames = (RELEASE.to_pandas(), RELEASE.to_polars())
    texts = [RELEASE._repr_html_(), str(RELEASE.to_arrow().to_pylist())]
    texts += [str(frame.to_dict(orient="list")) for frame in frames[:1]] + [frames[1].write_csv()]
    for text in texts:
        assert not [value for value in hidden.tolist() if str(value) in text]
        assert all(str(value) in text for value in TABLE.units[~RELEASE.hidden].tolist())


def test_windows_of_every_kind_are_shown() -> None:
    low, high = TABLE.units - 7, TABLE.units + 8
    intervals = tc.Release.intervals(TABLE, [0], low, high)
    assert f"[{low[0]}...{high[0]}]" in intervals._repr_html_()
    rounded = tc.Rounding(base=2000).protect(PROBLEM)
    assert "≈2000" in rounded._repr_html_()
    assert RELEASE._repr_html_().count("<td>x</td>") == int(RELEASE.hidden.sum())


@pytest.mark.parametrize("noun", [TABLE, PROBLEM, RELEASE, AUDIT], ids=lambda noun: type(noun).__name__)
def test_notebooks_show_tables(noun: Any) -> None:
    html = noun._repr_html_()
    assert html.startswith("<div>")
    assert html.endswith("</div>")
    assert "<table>" in html


def test_sensitive_cells_of_a_problem_have_a_star() -> None:
    assert "<td>811 *</td>" in PROBLEM._repr_html_()
    assert PROBLEM._repr_html_().count(" *<") == len(PROBLEM.sensitive)


def test_an_audit_shows_what_is_not_safe() -> None:
    bare = tc.Release.suppress(TABLE, [("2", "1")])
    html = tc.audit(PROBLEM, bare)._repr_html_()
    assert "exact disclosure" in html
    assert "row=2, column=1" in html
    frame = tc.audit(PROBLEM, bare).to_pandas()
    assert frame["verdict"].str.contains("exact disclosure").all()
    assert (AUDIT.to_pandas()["verdict"] == "safe").all()


def test_distances_in_the_frame_of_an_audit_are_plain_numbers() -> None:
    table = tc.Table.from_array([[20.25, 50, 10], [8, 19, 22], [17, 32, 12]])
    levels = tc.Levels.on_cells(table, [("2", "1")], lower=3.5, upper=3.5)
    problem = tc.Problem(table, levels)
    frame = tc.audit(problem, tc.Suppression().protect(problem)).to_pandas()
    assert (frame["above"] >= 3.5).all()
    assert (frame["above"] <= table.values.sum()).all()


def test_texts_are_escaped() -> None:
    code = "<script>alert(1)</script>"
    table = tc.Table.from_frame(
        pd.DataFrame({"<b>": [code, "b"], "&c": ["x", "y"], "v": [1, 20]}), ["<b>", "&c"], value="v"
    )
    problem = tc.Problem(table, "threshold(3)")
    release = tc.Release.suppress(table, [0])
    for noun in (table, problem, release, tc.audit(problem, release)):
        html = noun._repr_html_()
        assert "<script" not in html
        assert "<b>" not in html
        assert "&c" not in html.replace("&amp;", "")


def test_large_tables_are_cut() -> None:
    table = tc.Table.from_array(np.ones((60, 40), dtype=int))
    html = table._repr_html_()
    assert html.count("<tr>") == MOST_ROWS + 1
    assert html.count("<th>") == MOST_COLUMNS + 1
    assert "30 of 61 rows, 12 of 41 columns" in html
    cube = tc.Table.from_array(np.ones((2, 2, 2), dtype=int))
    assert "layer = Total" in cube._repr_html_()


def test_a_dimension_with_the_name_of_a_column_is_refused() -> None:
    table = tc.Table.from_array([1, 2], names=["mark"])
    with pytest.raises(tc.TacitaError, match=r"a dimension is called 'mark'.*rename the dimension"):
        tc.Release.suppress(table, [0]).to_arrow()
    assert table.to_arrow().column_names == ["mark", "value"]


def test_an_audit_of_nothing_has_a_frame_without_rows() -> None:
    problem = tc.Problem(TABLE, "threshold(1)")
    frame = tc.audit(problem, tc.Release.suppress(TABLE, [])).to_arrow()
    assert (frame.num_rows, frame.column_names) == (0, COLUMNS["audit"][1])
