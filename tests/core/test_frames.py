"""Frames in and out; codes, totals and numbers as they are meant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tacita.core.errors import HierarchyError, InputError, NotAdditiveError
from tacita.core.hierarchy import Hierarchy
from tacita.core.levels import Levels
from tacita.core.release import Release
from tacita.core.tables.table import Table

LEAVES = {
    "region": ["N", "N", "S", "S"],
    "size": ["small", "large", "small", "large"],
    "turnover": [10.5, 20.0, 30.0, 40.25],
}
KINDS: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "lazy polars": pl.LazyFrame,
    "arrow": pa.table,
    "duckdb": lambda data: duckdb.from_arrow(pa.table(data)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_frame_gives_the_same_table(kind: str) -> None:
    frame = KINDS[kind](LEAVES)
    table = Table.from_frame(frame, ["region", "size"], value="turnover")
    assert len(table) == 9
    assert table.values[table.find("Total", "Total")] == 100.75
    assert table.values[table.find("N", "Total")] == 30.5
    assert (table.decimals, table.integer) == (2, False)
    hidden = table.find("N", "small")
    rows = Release.suppress(table, np.array([hidden])).to_arrow().to_pylist()
    assert list(rows[0]) == ["region", "size", "mark", "low", "high", "value"]
    by_cell = {(row["region"], row["size"]): row for row in rows}
    assert by_cell["N", "small"] == {
        "region": "N",
        "size": "small",
        "mark": "suppressed",
        "low": None,
        "high": None,
        "value": None,
    }
    assert by_cell["S", "large"]["low"] == by_cell["S", "large"]["value"] == 40.25


def test_rows_come_back_in_the_order_given() -> None:
    given = {"r": ["b", "T", "a"], "n": [4, 7, 3]}
    table = Table.from_frame(pd.DataFrame(given), ["r"], value="n")
    assert len(table.equations) == 1
    assert table.to_pandas()["r"].tolist() == ["b", "T", "a"]
    assert table.to_pandas()["n"].tolist() == [4, 7, 3]


@pytest.mark.parametrize("total", ["Total", "TOTAL", "T", "_T", "Sum", "Ensemble", "ALL"])
def test_usual_names_of_totals_are_recognised(total: str) -> None:
    table = Table.from_frame(pd.DataFrame({"r": ["a", "b", total], "n": [1, 2, 3]}), ["r"], value="n")
    assert (len(table), len(table.equations)) == (3, 1)


def test_a_total_can_be_named_and_wrong_totals_are_told_by_cell() -> None:
    frame = pd.DataFrame({"r": ["a", "b", "whole"], "n": [1, 2, 4]})
    with pytest.raises(NotAdditiveError, match=r"r=whole.*fall short of the total by 1"):
        Table.from_frame(frame, {"r": "whole"}, value="n")
    repaired = Table.from_frame(frame, {"r": "whole"}, value="n", repair=True)
    assert repaired.values[repaired.find("whole")] == 3
    assert any("r=whole" in note for note in repaired.notes)


def test_hierarchies_totals_computed_and_given() -> None:
    tree = Hierarchy.from_dict({"N": ["n1", "n2"], "S": ["s1", "s2"]})
    leaves = pd.DataFrame({"r": ["n1", "n2", "s1"], "n": [1, 2, 3]})
    table = Table.from_frame(leaves, {"r": tree}, value="n")
    assert {table.name(c): table.values[c] for c in range(len(table))} == {
        "r=Total": 6,
        "r=N": 3,
        "r=S": 3,
        "r=n1": 1,
        "r=n2": 2,
        "r=s1": 3,
    }
    with pytest.raises(HierarchyError, match=r"row 2: code 'totl'.*did you mean 'Total'"):
        Table.from_frame(pd.DataFrame({"r": ["n1", "totl"], "n": [1, 2]}), {"r": tree}, value="n")
    only_given = Table.from_frame(leaves, {"r": tree}, value="n", totals="given")
    assert len(only_given) == 3


def test_a_total_of_one_code_is_that_cell() -> None:
    given = pd.DataFrame({"r": ["a", "Total"], "v": [5, 5]})
    table = Table.from_frame(given, ["r"], value="v")
    assert len(table) == 1
    assert table.to_pandas()["r"].tolist() == ["a", "Total"]
    with pytest.raises(InputError, match=r"rows 1 .*and 2 .*same cell.*differ"):
        Table.from_frame(given.assign(v=[5, 6]), ["r"], value="v")


def test_number_codes_are_text_even_after_gaps_made_them_floats() -> None:
    table = Table.from_frame(pd.DataFrame({"nace": [43.0, 44.0], "n": [1, 2]}), ["nace"], value="n")
    assert table.find("43") >= 0


def test_counts_alone_are_a_table_of_counts() -> None:
    table = Table.from_frame(pd.DataFrame({"r": ["a", "b"], "freq": [1, 2]}), ["r"], count="freq")
    assert table.integer
    assert table.count is not None
    assert table.count[table.find("Total")] == 3
    money = Table.from_frame(pd.DataFrame({"r": ["a"], "v": [5], "n": [2]}), ["r"], value="v", count="n")
    assert not money.integer


def test_missing_values_are_worked_out_from_totals_or_refused() -> None:
    given = pd.DataFrame({"r": ["a", "b", "Total"], "n": [1.0, None, 3.0]})
    table = Table.from_frame(given, ["r"], value="n")
    assert table.values[table.find("b")] == 2
    with pytest.raises(InputError, match=r"r=b.*give the value"):
        Table.from_frame(given[given.r != "Total"], ["r"], value="n")


def test_largest_contributions_and_other_columns_follow_their_cells() -> None:
    frame = pd.DataFrame(
        {
            "r": ["Total", "a", "b"],
            "v": [30, 10, 20],
            "max1": [15, 6, 15],
            "max2": [6, 4, 5],
            "cost": [9.0, 1.0, 2.0],
            "zero": [False, False, False],
        }
    )
    table = Table.from_frame(
        frame, ["r"], value="v", largest=["max1", "max2"], columns=["cost"], structural="zero"
    )
    assert table.contributions is not None
    assert table.contributions.values[table.find("b")].tolist() == [15, 5]
    assert table.columns["cost"][table.find("a")] == 1.0
    with pytest.raises(InputError, match=r"row 1.*do not descend"):
        Table.from_frame(frame, ["r"], value="v", largest=["max2", "max1"])
    with pytest.raises(InputError, match="tabulate the microdata"):
        Table.from_frame(frame[frame.r != "Total"], ["r"], value="v", largest=["max1"])


def test_computed_totals_leave_other_columns_blank() -> None:
    frame = pd.DataFrame({"r": ["a", "b"], "v": [1, 2], "w": [5.0, 6.0], "s": ["u", "s"]})
    table = Table.from_frame(frame, ["r"], value="v", columns=["w", "s"])
    total = table.find("Total")
    assert np.isnan(table.columns["w"][total])
    assert table.columns["s"][total] == ""
    assert table.columns["s"][table.find("a")] == "u"


def test_levels_and_status_stand_beside_the_values() -> None:
    table = Table.from_frame(pd.DataFrame({"r": ["a", "b"], "v": [4, 9]}), ["r"], value="v")
    sensitive = np.arange(len(table)) == table.find("a")
    frame = table.to_polars(levels=Levels.of(sensitive, upper=np.where(sensitive, 3, 0)))
    row = frame.filter(pl.col("r") == "a").to_dicts()[0]
    assert row == {"r": "a", "v": 4, "status": "u", "lpl": 3, "upl": 3, "spl": 0}


def test_codes_may_stand_in_the_index() -> None:
    frame = pd.DataFrame(LEAVES)
    plain = Table.from_frame(frame, ["region", "size"], value="turnover")
    index = frame.set_index(["region", "size"])
    series = frame.groupby(["region", "size"], sort=False)["turnover"].sum()
    for given in (index, frame.set_index("size"), series, series.rename(None)):
        table = Table.from_frame(given, ["region", "size"], value="turnover" if given is not series else None)
        assert table.to_arrow().equals(plain.to_arrow())


def test_a_series_without_a_name_is_called_value() -> None:
    series = pd.Series([3, 4], index=pd.Index(["a", "b"], name="r"))
    assert Table.from_frame(series, ["r"]).value_name == "value"
    assert Table.from_frame(series.rename("v"), ["r"], count="v").count is not None


def test_wide_frames_of_every_kind() -> None:
    long = {"r": ["a", "a", "b", "b"], "year": ["2020", "2021"] * 2, "n": [1, 2, 3, 4]}
    expected = Table.from_frame(pd.DataFrame(long), ["r", "year"], value="n")
    wide = {"r": ["a", "b"], "2020": [1, 3], "2021": [2, 4]}
    for kind, make in KINDS.items():
        table = Table.from_frame(make(wide), ["r", "year"], value="n", across="year")
        assert (
            table.to_arrow()
            .sort_by([("r", "ascending"), ("year", "ascending")])
            .equals(expected.to_arrow().sort_by([("r", "ascending"), ("year", "ascending")]))
        ), kind


def test_levels_of_the_columns_are_dimensions() -> None:
    long = pd.DataFrame({"r": list("aabb"), "s": list("xyxy"), "t": [1, 2, 1, 2], "n": [1, 2, 3, 4]})
    wide = long.pivot_table(index="r", columns="s", values="n", aggfunc="sum", margins=True)
    table = Table.from_frame(wide, ["r", "s"], counts=True)
    assert table.values[table.find("All", "All")] == 10
    assert table.values[table.find(r="b", s="y")] == 4
    nested = long.assign(t=1).pivot(index="r", columns=["s", "t"], values="n")
    table = Table.from_frame(nested, ["r", "s", "t"], value="n")
    assert (table.values[table.find("b", "y", "1")], table.value_name) == (4, "n")
    with pytest.raises(InputError, match=r"levels \['s', 't'\], of which \['s'\] are dimensions.*droplevel"):
        Table.from_frame(nested, ["r", "s"])
    with pytest.raises(InputError, match="holds values alone, not 'cost' too: give one row per cell"):
        Table.from_frame(wide, ["r", "s"], columns=["cost"])


def test_a_gap_in_a_wide_frame_is_a_missing_value() -> None:
    wide = pd.DataFrame({"r": ["a", "b"], "x": [1.0, None], "y": [2.0, 3.0]})
    with pytest.raises(InputError, match=r"no value for \(r=b, s=x\).*write 0"):
        Table.from_frame(wide, ["r", "s"], across="s")


@pytest.mark.parametrize("kind", ["pandas", "ordered pandas", "polars", "arrow"])
def test_categories_keep_their_order(kind: str) -> None:
    sizes = ["small", "medium", "large"]
    data = {"size": ["large", "small"], "n": [1, 2]}
    frame: Any = pl.DataFrame(data, schema={"size": pl.Enum(sizes), "n": pl.Int64})
    if kind == "arrow":
        frame = frame.to_arrow()
    elif kind != "polars":
        ordered = kind.startswith("ordered")
        frame = pd.DataFrame({**data, "size": pd.Categorical(data["size"], sizes, ordered=ordered)})
    table = Table.from_frame(frame, ["size"], value="n")
    assert table.structure.dimensions[0].codes == ("Total", "small", "large")
    assert table.values[table.find("large")] == 1


def test_categories_without_an_order_come_as_their_rows() -> None:
    pl.Series(["b", "a"], dtype=pl.Categorical)
    frame = pl.DataFrame({"r": ["a", "b"], "n": [1, 2]}, schema={"r": pl.Categorical, "n": pl.Int64})
    assert Table.from_frame(frame, ["r"], value="n").structure.dimensions[0].codes == ("Total", "a", "b")


def test_numbers_as_categories_keep_their_order() -> None:
    frame = pd.DataFrame({"nace": pd.Categorical([44, 43], [43, 44]), "n": [1, 2]})
    assert Table.from_frame(frame, ["nace"], value="n").structure.dimensions[0].codes == ("Total", "43", "44")


def test_mistakes_are_told_with_the_remedy() -> None:
    frame = pd.DataFrame({"r": ["a"], "v": [1]})
    with pytest.raises(InputError, match=r"no column 'w'.*'r', 'v'"):
        Table.from_frame(frame, ["r"], value="w")
    with pytest.raises(InputError, match=r"no column 'r'.*rename_axis.*across"):
        Table.from_frame(frame.set_index("r").rename_axis(None), ["r"], value="v")
    with pytest.raises(InputError, match="is no data frame"):
        Table.from_frame([1, 2], ["r"], value="v")
    with pytest.raises(InputError, match="at least one dimension"):
        Table.from_frame(frame, [], value="v")
    with pytest.raises(InputError, match=r"Name the column of values, or that of respondents per cell"):
        Table.from_frame(frame, ["r"])
    with pytest.raises(InputError, match="row 1: the count in column 'v' is negative"):
        Table.from_frame(pd.DataFrame({"r": ["a"], "v": [-1]}), ["r"], count="v")


@pytest.mark.parametrize(("respondents", "integer"), [([1, 2, 3], True), ([1, 1, 2], False)])
def test_values_that_equal_their_respondents_are_counts(respondents: list[int], integer: bool) -> None:
    frame = pa.table({"region": ["N", "S", "Total"], "firms": [1, 2, 3], "n": respondents})
    table = Table.from_frame(frame, ["region"], value="firms", count="n")
    assert table.integer is integer


def test_sums_of_floats_with_one_decimal_add_up() -> None:
    records = pd.DataFrame({"region": ["N", "S"] * 300, "size": ["s", "m", "l"] * 200, "v": 7.1})
    records["v"] += records.index * 0.7
    records = records[:-1]
    pivot = records.pivot_table("v", "region", "size", aggfunc="sum", margins=True, margins_name="Total")
    table = Table.from_frame(pivot, ["region", "size"])
    assert table.decimals == 1
    assert table.values[table.find()] == round(sum(records["v"]), 1)
