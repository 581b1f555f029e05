"""Codes whose numbers follow from others' by a formula are refused with the formula that was found."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita.core.errors import TacitaWarning, UndeclaredSumsError
from tacita.core.tables.formula_search import search_formulas
from tacita.core.tables.formula_sources import Formula, Kind
from tacita.core.tables.undeclared_sums import CERTAIN
from tacita.specification.read_case import read_case

A = np.array([31, 107, 12, 55, 260, 18])
B = np.array([44, 7, 112, 83, 19, 140])
C = np.array([5, 66, 31, 240, 77, 9])
SUM = A + B + C


def write(path: Path, columns: dict[str, np.ndarray]) -> Path:
    frame = pd.DataFrame({"region": [f"R{k}" for k in range(len(A))], **columns})
    frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize(
    ("name", "numbers", "formula"),
    [
        ("Mean", np.round(SUM / 3, 1), "Mean = (a + b + c) / 3"),
        ("m", np.round(SUM / 3, 2), "m = (a + b + c) / 3"),
        ("Share of a %", np.round(100 * A / SUM, 1), "Share of a % = a / (a + b + c) * 100"),
        ("per 1000", np.round(1000 * A / C, 1), "per 1000 = a / c * 1000"),
        ("Change", C - A, "Change = c - a"),
        ("Change %", np.round(100 * (C - A) / A, 1), r"Change % = (c / a - 1) * 100"),
        ("Dollar", np.round(A * 1.1234, 2), "Dollar = a * 1.1234"),
        ("thousandths", np.round(B * 0.25, 2), "thousandths = b * 0.25"),
        ("Index", np.round(100 * A / A[0], 1), "Index = a * 3.22"),
        ("Median", np.median([A, B, C], axis=0).astype(int), "Median = the median of 'a', 'b', 'c'"),
        ("Maximum", np.max([A, B, C], axis=0), "Maximum = the greatest of 'a', 'b', 'c'"),
    ],
)
def test_a_column_that_follows_is_refused_with_its_formula(
    tmp_path: Path, name: str, numbers: np.ndarray, formula: str
) -> None:
    path = write(tmp_path / "case.csv", {"a": A, "b": B, "c": C, name: numbers})
    with pytest.raises(UndeclaredSumsError) as refused:
        read_case(path)
    assert formula in str(refused.value)
    assert "Take such codes out of the input" in refused.value.remedy
    assert refused.value.options == ("undeclared_sums=ignore",)
    assert refused.value.dimensions == ()
    assert isinstance(read_case(path, undeclared_sums="ignore"), tc.Table)
    assert isinstance(read_case(write(path, {"a": A, "b": B, "c": C})), tc.Table)


def test_rows_are_searched_too(tmp_path: Path) -> None:
    rows = pd.DataFrame([A, B, C, np.round(SUM / 3, 1)], index=["a", "b", "c", "Mean"])
    rows.columns = [f"R{k}" for k in range(len(A))]
    path = tmp_path / "case.csv"
    rows.to_csv(path, index_label="kind")
    with pytest.raises(UndeclaredSumsError, match=r"codes of 'kind' follow .*Mean = \(a \+ b \+ c\) / 3"):
        read_case(path)


def test_a_mean_beside_a_given_total_is_named_instead_of_a_wrong_total(tmp_path: Path) -> None:
    columns = {"a": A, "b": B, "c": C, "Mean": np.round(SUM / 3, 1), "Total": SUM}
    path = write(tmp_path / "case.csv", columns)
    for repair in (False, True):
        with pytest.raises(UndeclaredSumsError, match="Mean = ") as refused:
            read_case(path, repair=repair)
        assert "a = " not in refused.value.fault.replace("Mean = ", "")


def test_a_mean_beside_sums_is_found_with_their_classification(tmp_path: Path) -> None:
    columns = {"a": A, "b": B, "c": C, "abc": SUM, "Mean": np.round(SUM / 3, 1)}
    path = write(tmp_path / "case.csv", columns)
    with pytest.raises(UndeclaredSumsError, match=r"abc = a \+ b \+ c.*Mean = ") as refused:
        read_case(path)
    assert refused.value.dimensions == ("column",)
    with pytest.raises(UndeclaredSumsError, match="Mean = "):
        read_case(path, found=["column"])
    del columns["Mean"]
    read_case(write(path, columns), found=["column"])


def test_what_was_called_safe_follows_from_the_mean(tmp_path: Path) -> None:
    columns = {"a": A, "b": B, "c": C, "Mean": np.round(SUM / 3).astype(int)}
    path = write(tmp_path / "case.csv", columns)
    problem = read_case(path, rule="threshold(6)", undeclared_sums="ignore")
    assert isinstance(problem, tc.Problem)
    corners = [("R0", "c"), ("R0", "Total"), ("R3", "c"), ("R3", "Total")]
    assert tc.audit(problem, tc.Release.suppress(problem.table, corners)).safe
    computed = 3 * columns["Mean"][0] - A[0] - B[0]
    assert abs(computed - C[0]) <= 1
    with pytest.raises(UndeclaredSumsError):
        read_case(path, rule="threshold(6)")


def test_an_index_to_the_first_year_of_each_region_is_found() -> None:
    source = np.random.default_rng(2)
    values = source.integers(200, 9000, (4, 5))
    index = np.round(100 * values / values[:, :1], 1)
    rows = [
        {"region": f"r{r}", "year": str(2000 + y), "what": what, "value": numbers[r, y]}
        for r in range(4)
        for y in range(5)
        for what, numbers in (("jobs", values), ("Index", index))
    ]
    with pytest.warns(TacitaWarning, match="Index = jobs times a number that is the same within each group"):
        tc.Table.from_frame(pd.DataFrame(rows), ["region", "year", "what"], value="value")


@pytest.mark.parametrize(
    "rows",
    [
        [[1, 2], [2, 4], [3, 6]],
        [[3, 0], [2, 1], [5, 1], [0, 9]],
        [[100_000, 3], [50_000, 2], [75_000, 1]],
        [[0, 0, 0], [7, 8, 9], [0, 0, 0], [4, 4, 1]],
    ],
)
def test_small_tables_are_left_alone(rows: list[list[int]]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tc.Table.from_array(np.array(rows))


def search(values: np.ndarray, hinted: list[int], unit: int = 1) -> list[Formula]:
    return search_formulas(
        values, range(len(values)), hinted, [np.zeros(values.shape[1], dtype=np.int64)], unit
    )


def test_names_help_the_evidence_and_are_none() -> None:
    values = np.array([A, B, C, np.round(SUM / 3)]).astype(np.int64)
    named, unnamed = (max(f.evidence for f in search(values, hints)) for hints in ([3], []))
    assert named > unnamed
    other = np.array([A, B, C, [7, 300, 41, 90, 2, 55]])
    assert all(formula.evidence < CERTAIN for formula in search(other, [3]))


@given(
    st.sampled_from(["mean", "ratio", "difference", "multiple"]),
    st.integers(3, 8),
    st.integers(6, 12),
    st.integers(0, 2**32),
    st.data(),
)
def test_a_formula_among_random_numbers_is_found(
    kind: str, rows: int, columns: int, seed: int, data: st.DataObject
) -> None:
    """Whatever stands where: the code that was made of others is found, or what it was made of by it."""
    source = np.random.default_rng(seed)
    values = 10 * source.integers(1000, 90_000, (rows, columns))
    a, b = values[:2]
    made = {
        "mean": values.mean(axis=0),
        "ratio": 1000 * a / b,
        "difference": np.asarray(a - b, dtype=np.float64),
        "multiple": a * 0.7317,
    }[kind]
    order = data.draw(st.permutations(range(rows + 1)))
    table = np.vstack([values, np.rint(made).astype(np.int64)[None]])[order]
    found = search(table, [], 10)
    own = order.index(rows)
    certain = [formula for formula in found if formula.evidence >= CERTAIN]
    assert any(own in (formula.row, *formula.first, *formula.second) for formula in certain)


@given(
    st.integers(3, 12),
    st.integers(2, 12),
    st.sampled_from([3, 20, 300, 10**6]),
    st.sampled_from([1, 10]),
    st.booleans(),
    st.integers(0, 2**32),
)
def test_random_tables_are_not_refused(
    rows: int, columns: int, largest: int, unit: int, proportional: bool, seed: int
) -> None:
    source = np.random.default_rng(seed)
    if proportional:
        sizes = np.outer(source.gamma(3, 1, rows), source.gamma(1, largest, columns)) + 0.1
        values = source.poisson(sizes)
    else:
        values = source.integers(0, largest, (rows, columns))
    assert all(formula.evidence < CERTAIN for formula in search(values.astype(np.int64), [], unit))


def test_the_kinds_are_told_apart() -> None:
    values = np.array([A, B, C, C - A]).astype(np.int64)
    (found,) = (formula for formula in search(values, [3]) if formula.row == 3)
    assert found.kind is Kind.DIFFERENCE
    assert (found.first, found.second) == ((2,), (0,))


def test_what_follows_from_sums_that_were_found_is_not_listed_again(tmp_path: Path) -> None:
    """G is also a difference of the sums of 14 and of 11 codes, which says nothing more."""
    path = tmp_path / "case.csv"
    path.write_text(
        """Industry,a,b,c,d,e
C,37621,32798,19991,50838,8108
C10,11304,0,13329,41828,2392
C11,10410,0,1681,0,190
C13,5055,12505,3654,9010,4491
C14,6476,20293,99,0,0
C20,4048,0,720,0,1035
C21,328,0,508,0,0
F,31498,46194,23311,39396,9689
F41,9753,40796,9011,28446,171
F42,1521,0,3590,4530,7767
F43,20224,5398,10710,6420,1751
G,50332,38873,23712,33021,3860
G45,8612,0,5260,0,1066
G46,20973,9566,8857,13425,1654
G47,20747,29307,9595,19596,1140
Total,119451,117865,67014,123255,21657
"""
    )
    with pytest.raises(UndeclaredSumsError) as refused:
        read_case(path)
    assert "'Industry' has subtotals that no classification declares" in refused.value.fault
    assert "F = F41 + F42 + F43" in refused.value.fault
    assert "follow from others" not in refused.value.fault
