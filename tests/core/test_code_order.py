"""Codes and rows that stand in the order of values are listed by code, so that the order tells nothing."""

from __future__ import annotations

import csv
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita.cli import main
from tacita.core.errors import TacitaWarning
from tacita.core.tables.code_order import sort_codes
from tacita.specification.read_case import read_case

INDUSTRIES = ["Trade", "Building", "Arts", "Farming", "Mining", "Energy"]
CASE = """industry,men,women
Trade,900,500
Building,700,410
Arts,650,430
Farming,600,100
Mining,520,300
Energy,2,40
"""


def codes_of(table: object, dimension: int = 0) -> list[str]:
    assert isinstance(table, tc.Table)
    own = table.structure.dimensions[dimension]
    return [code for code in own.codes if code != own.total]


@pytest.fixture
def case(tmp_path: Path) -> Path:
    path = tmp_path / "case.csv"
    path.write_text(CASE)
    return path


def test_codes_sorted_by_a_column_are_listed_by_code(case: Path) -> None:
    table = read_case(case)
    assert isinstance(table, tc.Table)
    assert codes_of(table) == sorted(INDUSTRIES)
    assert any("codes of 'industry' are sorted by the values of column=men" in note for note in table.notes)
    assert table.warnings == ()


def test_the_order_of_the_input_is_kept_on_request_with_a_warning(case: Path) -> None:
    with pytest.warns(TacitaWarning, match=r"sorted by the values of column=men .* keep this order"):
        table = read_case(case, order="input")
    assert codes_of(table) == INDUSTRIES


def test_a_release_no_longer_shows_the_order(case: Path, tmp_path: Path) -> None:
    for order, wanted in (("safe", sorted(INDUSTRIES)), ("input", INDUSTRIES)):
        out = tmp_path / order
        rules = ["--rules", "threshold(3)", "--order", order, "--format", "crosstab"]
        assert main(["protect", str(case), *rules, "--out", str(out)]) == 0
        for file in sorted((out / "publication").iterdir()):
            with file.open(newline="") as lines:
                codes = dict.fromkeys(row[0] for row in csv.reader(lines) if row)
            assert [code for code in codes if code in INDUSTRIES] == wanted


def test_rows_sorted_by_value_are_listed_by_code(tmp_path: Path) -> None:
    path = tmp_path / "case.csv"
    path.write_text("region,value\nTotal,3100\nZ,900\nA,700\nY,650\nD,600\nE,248\nF,2\n")
    table = read_case(path)
    assert isinstance(table, tc.Table)
    assert table.to_pandas()["region"].tolist() == ["Total", "A", "D", "E", "F", "Y", "Z"]
    lines = ["C,s,900", "A,b,700", "B,s,650", "D,b,600", "A,s,520", "B,b,300", "C,b,210", "D,s,2"]
    path.write_text("region,size,value\n" + "\n".join(lines) + "\n")
    table = read_case(path)
    assert codes_of(table) == list("ABCD")
    assert isinstance(table, tc.Table)
    assert any("rows are sorted by their values" in note for note in table.notes)


def test_totals_after_their_parts_are_no_order_by_value(tmp_path: Path) -> None:
    path = tmp_path / "case.csv"
    rows = ["North,A,20", "North,B,50", "North,Total,70", "East,A,8", "East,B,19", "East,Total,27"]
    path.write_text("\n".join(["region,kind,value", *rows, "Total,A,28", "Total,B,69", "Total,Total,97"]))
    table = read_case(path)
    assert codes_of(table) == ["North", "East"]
    assert isinstance(table, tc.Table)
    assert table.notes == ()


def test_a_last_code_may_stand_apart(tmp_path: Path) -> None:
    path = tmp_path / "case.csv"
    path.write_text(CASE.replace("Energy,2,40", "Energy,20,40\nPaper,19,41\nOther,300,77"))
    assert codes_of(read_case(path)) == sorted([*INDUSTRIES, "Paper", "Other"])


@pytest.mark.parametrize(
    "codes",
    [
        ["0-9", "10-49", "50-99", "100-249", "250-999", "1000+"],
        ["under 10", "10 to 49", "50 to 99", "100 to 249", "250 to 999", "1000 or more"],
        ["Arts", "Building", "Energy", "Farming", "Mining", "Trade"],
        ["Y2024", "Y2023", "Y2022", "Y2021", "Y2020", "Y2019"],
        ["C1", "C2", "C9", "C10", "C11", "Other"],
    ],
)
def test_orders_that_the_codes_tell_are_kept(tmp_path: Path, codes: list[str]) -> None:
    path = tmp_path / "case.csv"
    lines = CASE.splitlines()
    path.write_text(
        "\n".join([lines[0], *(f"{c},{r.split(',', 1)[1]}" for c, r in zip(codes, lines[1:], strict=True))])
    )
    assert codes_of(read_case(path)) == codes


def test_few_codes_and_ties_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "case.csv"
    path.write_text("\n".join(CASE.splitlines()[:4]))
    assert codes_of(read_case(path)) == INDUSTRIES[:3]
    path.write_text(
        "industry,men,women\n" + "".join(f"{name},0,{k % 2}\n" for k, name in enumerate(INDUSTRIES))
    )
    assert codes_of(read_case(path)) == INDUSTRIES


def test_frames_keep_their_order_with_a_warning(case: Path) -> None:
    frame = pd.read_csv(case).melt("industry", var_name="sex", value_name="value")
    with pytest.warns(TacitaWarning, match="keep this order"):
        table = tc.Table.from_frame(frame, ["industry", "sex"], value="value")
    assert codes_of(table) == INDUSTRIES
    table = tc.Table.from_frame(frame, ["industry", "sex"], value="value", order="safe")
    assert codes_of(table) == sorted(INDUSTRIES)


def test_numbers_in_codes_are_compared_as_numbers() -> None:
    assert sort_codes(["C10", "b", "C9", "A", "c1"]) == ["A", "b", "c1", "C9", "C10"]


@given(st.integers(6, 12), st.integers(2, 5), st.integers(0, 2**32), st.booleans())
def test_the_numbers_of_a_table_do_not_depend_on_its_order(
    rows: int, columns: int, seed: int, rising: bool
) -> None:
    """Sorted by any column, codes are listed by code, and every cell keeps its value."""
    source = np.random.default_rng(seed)
    values = source.integers(10, 90_000, (rows, columns))
    by = int(source.integers(columns))
    order = np.argsort(values[:, by] if rising else -values[:, by])
    names = [f"{letter}x" for letter in "QWERTYUIOPAS"[:rows]]
    frame = pd.DataFrame(
        [(names[r], f"c{c}", values[r, c]) for r in order for c in range(columns)],
        columns=["row", "col", "value"],
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TacitaWarning)
        table = tc.Table.from_frame(frame, ["row", "col"], value="value", order="safe")
    listed = [names[r] for r in order]
    natural = sorted(names)
    # In natural order or its reverse, but for a last one, they tell nothing.
    kept = listed[:-1] in (sorted(listed[:-1]), sorted(listed[:-1], reverse=True))
    assert codes_of(table) == (listed if kept else natural)
    found = table.to_pandas().set_index(["row", "col"])["value"]
    assert all(found[names[r], f"c{c}"] == values[r, c] for r in range(rows) for c in range(columns))
