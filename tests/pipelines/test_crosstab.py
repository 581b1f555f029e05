"""Protected crosstabs in one call: what is hidden is in no frame, and what is shown is true."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any, ClassVar

import narwhals as nw
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from budget import examples
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita.core.errors import InfeasibleError, InputError, ReleaseError

KINDS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}
FIRMS = {
    "region": list("NNNNSSSSEEEE"),
    "size": list("slllsllssslls")[:12],
    "year": ["23", "24"] * 6,
    "firm": list("abcdefghijkl"),
    "turnover": [17, 29, 311, 43, 59, 61, 73, 83, 97, 101, 113, 127],
}


def read(frame: Any, rows: list[str]) -> dict[tuple[str, ...], Any]:
    """Return every cell of a crosstab by its codes, from a frame of any kind."""
    if isinstance(frame, pd.DataFrame):
        wide = frame.copy()
        wide.columns = [code if isinstance(code, tuple) else (code,) for code in wide.columns]
        return {
            (*(row if isinstance(row, tuple) else (row,)), *column): None if pd.isna(value) else value
            for column in wide.columns
            for row, value in wide[column].items()
        }
    plain = nw.from_native(frame, eager_only=True)
    return {
        (*(str(line[name]) for name in rows), *head.split(" | ")): line[head]
        for line in plain.iter_rows(named=True)
        for head in plain.columns
        if head not in rows
    }


@examples(6)
@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz")), min_size=1, max_size=30),
    st.sampled_from(sorted(KINDS)),
    st.booleans(),
)
def test_cells_are_true_or_hidden_and_none_can_be_deduced(
    rows: list[tuple[str, str]], kind: str, margins: bool
) -> None:
    data = KINDS[kind]({"row": [row for row, _ in rows], "column": [column for _, column in rows]})
    try:
        found = tc.crosstab(data, "row", "column", rule="threshold(3)", attackers="outsider", margins=margins)
    except InfeasibleError:
        # So few records that even the total is a secret, and nothing else can be hidden with it.
        assert len(rows) < 3 or len(set(rows)) < 4
        return
    assert found.audit.safe
    true: Counter[tuple[str, ...]] = Counter()
    for row, column in rows:
        true.update({(row, column): 1, (row, "Total"): 1, ("Total", column): 1, ("Total", "Total"): 1})
    shown = read(found.frame, ["row"])
    for key, value in shown.items():
        assert value is None or value == true[key]
        if 0 < true[key] < 3:
            assert value is None
    if not margins:
        assert not any("Total" in key for key in shown)
        return
    # Nobody who knows that counts are not negative can compute a small count from what is shown.
    for row in {row for row, _ in rows}:
        hidden = [key for key in shown if key[0] == row and shown[key] is None]
        assert len(hidden) != 1


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_several_variables_and_hidden_sums(kind: str) -> None:
    data = KINDS[kind](FIRMS)
    found = tc.crosstab(
        data, ["region", "size"], "year", "turnover", rule="frequency(2)", attackers="outsider"
    )
    assert type(found.frame).__module__.split(".")[0] == {"arrow": "pyarrow"}.get(kind, kind)
    true: dict[tuple[str, ...], int] = defaultdict(int)
    columns = zip(FIRMS["region"], FIRMS["size"], FIRMS["year"], FIRMS["turnover"], strict=True)
    for region, size, year, turnover in columns:
        for key in ((r, s, y) for r in (region, "Total") for s in (size, "Total") for y in (year, "Total")):
            true[key] += int(turnover)
    shown = read(found.frame, ["region", "size"])
    assert any(value is None for value in shown.values())
    for key, value in shown.items():
        assert value is None or value == true[key]
    visible = {value for value in shown.values() if value is not None}
    hidden = {true[key] for key, value in shown.items() if value is None} - visible
    text = f"{found} {found!r} {found._repr_html_()} {found.frame}"
    words = set("".join(letter if letter.isdigit() else " " for letter in text).split())
    assert not {str(number) for number in hidden} & words
    if kind == "pandas":
        assert found.frame.index.names == ["region", "size"]
        assert found.frame.columns.name == "year"


def test_marks_hierarchies_and_other_methods() -> None:
    tree = tc.Hierarchy.from_dict({"North": ["N"], "Rest": ["S", "E"]})
    frame = pd.DataFrame(FIRMS)
    marked = tc.crosstab(
        frame, "region", "size", "turnover", rule="p-percent(70)", respondent="firm", mark="c",
        hierarchies={"region": tree},
    )  # fmt: skip
    assert "Rest" in marked.frame.index
    # North and N are one cell, in two rows.
    assert (marked.frame.drop("North") == "c").to_numpy().sum() == marked.release.hidden.sum()
    assert set(marked.frame.map(type).to_numpy().ravel()) == {str}
    rounded = tc.crosstab(frame, "region", "size", rule="threshold(3)", method=tc.Rounding(base=5))
    assert all(value % 5 == 0 for value in rounded.frame.to_numpy().ravel())
    alone = tc.crosstab(frame, "region", rule="threshold(2)", aggfunc="count", values="turnover")
    assert alone.frame["value"].to_dict() == {"E": 4, "N": 4, "S": 4, "Total": 12}
    halves = frame.assign(turnover=frame.turnover + 0.25)
    cents = tc.crosstab(halves, "region", "size", "turnover", rule="zeros")
    assert cents.frame.loc["N", "s"] == 17.25
    empty = tc.crosstab(frame[frame.region != "N"], ["region"], ["size", "year"], rule="zeros")
    assert empty.frame.loc["E", ("s", "24")] == 1


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"aggfunc": "mean"}, "divide what both of them show"),
        ({"aggfunc": "median"}, "'median' cells cannot be protected"),
        ({"aggfunc": "sum"}, "which column is summed"),
        ({"index": []}, "which columns make the rows"),
        ({"columns": "region"}, "only once"),
        ({"columns": "seize"}, "there is no column 'seize'"),
        ({"hierarchies": {"sized": None}}, "'sized' .* is none of the columns"),
    ],
)
def test_wrong_calls_are_refused(wrong: dict[str, Any], message: str) -> None:
    usual = {"index": "region", "columns": "size", "rule": "threshold(3)"}
    with pytest.raises(InputError, match=message):
        tc.crosstab(pd.DataFrame(FIRMS), **{**usual, **wrong})


@dataclass(frozen=True)
class Careless:
    """Hides the sensitive cells, and nothing else, so that totals tell them."""

    name: ClassVar[str] = "careless"
    does: ClassVar[str] = ""
    choose: ClassVar[str] = ""

    def protect(self, problem: tc.Problem, run: tc.Run | None = None) -> tc.Release:
        return tc.Release.suppress(problem.table, problem.sensitive.tolist())

    def loss(self, problem: tc.Problem, release: tc.Release) -> float:
        return 0.0


def test_what_is_not_safe_raises() -> None:
    with pytest.raises(ReleaseError, match="the release of careless is not proven safe"):
        tc.crosstab(pa.table(FIRMS), "region", "size", rule="threshold(2)", mark="x", method=Careless())


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_categories_keep_their_order(kind: str) -> None:
    sizes = ["small"] * 9 + ["large"] * 8 + ["medium"] * 7
    order = ["small", "medium", "large", "huge"]
    frame: Any = (
        pd.DataFrame({"region": ["N", "S"] * 12, "size": pd.Categorical(sizes, order)})
        if kind == "pandas"
        else pl.DataFrame({"region": ["N", "S"] * 12, "size": pl.Series(sizes, dtype=pl.Enum(order))})
    )
    found = tc.crosstab(frame, "region", "size", rule="threshold(3)").frame
    heads = [str(name) for name in found.columns if name != "region"]
    assert heads == ["small", "medium", "large", "Total"]


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_series_are_refused_with_how_to_write_it(kind: Any) -> None:
    frame = kind(FIRMS)
    for series in ((frame["region"], frame["size"]), (frame, frame["region"], frame["size"])):
        with pytest.raises(InputError, match=r"a series is given.*Give the frame first"):
            tc.crosstab(*series, rule="threshold(3)")


def test_an_unknown_option_names_the_nearest() -> None:
    with pytest.raises(InputError, match=r"no option 'hierarchy' \(did you mean 'hierarchies'\?\)"):
        tc.crosstab(pd.DataFrame(FIRMS), "region", "size", rule="threshold(3)", hierarchy={})


def test_a_method_without_a_release_raises_what_the_help_says() -> None:
    with pytest.raises(InfeasibleError):
        tc.crosstab(pd.DataFrame(FIRMS), "region", "size", rule="threshold(3)", method=tc.Rounding(base=1))
    assert "InfeasibleError" in str(tc.crosstab.__doc__)


def test_remarks_on_the_release_are_warnings_and_printed() -> None:
    with pytest.warns(tc.TacitaWarning, match="the base was chosen by the program"):
        found = tc.crosstab(
            pd.DataFrame(FIRMS), "region", "size", rule="threshold(2)", respondent="firm", method="rounding"
        )
    assert str(found).endswith(found.remarks[0])
    assert f"<p>{found.remarks[0]}" in found._repr_html_()
