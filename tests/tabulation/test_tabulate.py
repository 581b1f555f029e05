from __future__ import annotations

import gzip
import subprocess
import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tacita import Problem, Suppression, audit
from tacita.core.errors import HierarchyError, InputError, TacitaError
from tacita.core.hierarchy import Hierarchy
from tacita.core.run import Event, Run
from tacita.core.tables.table import Table
from tacita.tabulation.tabulate import tabulate

REGIONS = Hierarchy.from_dict({"North": ["01", "02"], "South": ["03"]})
COLUMNS: dict[str, list[Any]] = {
    "region": ["01", "01", "02", "03", "03"],
    "sector": ["a", "b", "a", "a", "a"],
    "turnover": [10.5, 2.25, 7.0, 1.0, 4.0],
    "firm": ["x", "x", "y", "z", "x"],
}


def value_of(table: Table, *codes: str) -> float:
    return float(table.values[table.find(*codes)])


def csv_of(columns: dict[str, list[Any]], separator: str = ",") -> str:
    rows = [
        separator.join(columns),
        *(separator.join(map(str, row)) for row in zip(*columns.values(), strict=True)),
    ]
    return "\n".join(rows) + "\n"


def as_csv(folder: Path) -> str:
    (folder / "records.csv").write_text(csv_of(COLUMNS))
    return str(folder / "records.csv")


def as_gzip(folder: Path) -> Path:
    with gzip.open(folder / "records.csv.gz", "wt") as file:
        file.write(csv_of(COLUMNS, ";"))
    return folder / "records.csv.gz"


def as_parquet_pattern(folder: Path) -> str:
    whole = pa.table(COLUMNS)
    pq.write_table(whole.slice(0, 2), folder / "part1.parquet")
    pq.write_table(whole.slice(2), folder / "part2.parquet")
    return str(folder / "part*.parquet")


def as_duckdb(folder: Path) -> str:
    with duckdb.connect(str(folder / "store.duckdb")) as connection:
        connection.register("frame", pa.table(COLUMNS))
        connection.execute("CREATE TABLE firms AS SELECT * FROM frame")
        connection.execute("CREATE TABLE other AS SELECT 1 AS a")
    return f"{folder / 'store.duckdb'}::firms"


# Before DuckDB 1.5 a relation does not keep its connection alive.
CONNECTION = duckdb.connect()


def as_relation(folder: Path) -> Any:
    CONNECTION.register("frame", pa.table(COLUMNS))
    return CONNECTION.sql("SELECT * FROM frame")


SOURCES: dict[str, Callable[[Path], Any]] = {
    "pandas": lambda _: pd.DataFrame(COLUMNS),
    "pandas categories": lambda _: pd.DataFrame(COLUMNS).astype({"region": "category"}),
    "polars": lambda _: pl.DataFrame(COLUMNS),
    "polars lazy": lambda _: pl.DataFrame(COLUMNS).lazy(),
    "arrow": lambda _: pa.table(COLUMNS),
    "dictionary": lambda _: COLUMNS,
    "duckdb relation": as_relation,
    "csv": as_csv,
    "csv.gz": as_gzip,
    "parquet pattern": as_parquet_pattern,
    "duckdb file": as_duckdb,
    "duckdb pair": lambda folder: tuple(as_duckdb(folder).split("::")),
}


@pytest.mark.parametrize("kind", SOURCES)
def test_every_source_gives_the_same_table(kind: str, tmp_path: Path) -> None:
    source = SOURCES[kind](tmp_path)
    table = tabulate(source, {"region": REGIONS, "sector": None}, "turnover", "firm")
    assert table.decimals == 2
    assert value_of(table, "Total", "Total") == 24.75
    assert value_of(table, "North", "a") == 17.5
    assert value_of(table, "South", "Total") == 5.0
    assert table.count is not None
    assert table.contributions is not None
    top = table.find("Total", "Total")
    assert table.count[top] == 3
    assert table.contributions.values[top].tolist() == [1675, 700]
    assert [table.contributions.name(w) for w in table.contributions.who[top]] == ["x", "y"]


def test_a_node_with_one_child_is_listed_and_is_the_same_cell() -> None:
    table = tabulate(COLUMNS, {"region": REGIONS}, "turnover")
    assert table.find("South") == table.find("03")
    listed = table.structure.parts[0]
    names = [table.structure.dimensions[0].codes[c] for c in listed.codes[:, 0]]
    assert sorted(names) == ["01", "02", "03", "North", "South", "Total"]


def test_without_value_records_are_counted() -> None:
    table = tabulate(COLUMNS, ["region", "sector"])
    assert table.integer
    assert value_of(table, "03", "a") == 2
    assert value_of(table, "Total", "Total") == 5
    assert table.value_name == "count"


def test_without_value_respondents_are_counted_once_per_cell() -> None:
    columns = {"region": ["N", "N", "S"], "firm": [1, 1, 2], "group": ["g", "g", "g"]}
    table = tabulate(columns, ["region"], respondent="firm", holding="group")
    assert value_of(table, "N") == 1
    assert value_of(table, "Total") == 2
    assert table.holding_count is not None
    assert table.holdings is not None
    assert table.holding_count[table.find("Total")] == 1
    assert table.holdings.values[table.find("Total")].tolist() == [2, 0]


def test_respondents_without_a_holding_are_holdings_of_their_own() -> None:
    columns = {
        "region": ["N", "N", "N", "N", "S"],
        "firm": [7, 8, 1, 2, 1],
        "turnover": [50, 30, 9, 8, 4],
    }
    for groups in ([None, 7, None, 7, None], ["", "7", " ", "7", None]):
        table = tabulate({**columns, "group": groups}, ["region"], "turnover", "firm", "group", largest=3)
        assert table.holdings is not None
        assert table.holding_count is not None
        total = table.find("Total")
        # Firm 7 is not in holding 7, and firm 1 is one holding in both regions.
        assert [table.holdings.name(w) for w in table.holdings.who[total]] == ["7 (firm)", "7", "1 (firm)"]
        assert table.holdings.values[total].tolist() == [50, 38, 13]
        assert table.holding_count[table.find("N")] == 3
        assert "2 respondents without 'group' are holdings of their own" in table.notes


def test_holdings_of_one_respondent_are_judged_and_attack() -> None:
    columns = {
        "region": ["N", "N", "N", "S", "S", "S", "S"],
        "firm": ["a", "b", "c", "d", "e", "f", "g"],
        "group": [None, "x", "x", "y", "y", None, None],
        "turnover": [50, 5, 5, 5, 5, 5, 5],
    }
    table = tabulate(columns, ["region"], "turnover", "firm", "group")
    problem = Problem(table, "threshold(3, by=holding)")
    assert [table.name(int(cell)) for cell in np.flatnonzero(problem.levels.sensitive)] == ["region=N"]
    assert "7 respondents and 5 holdings" in repr(problem)
    release = Suppression().protect(problem)
    assert audit(problem, release).safe


def test_an_empty_holding_without_respondents_is_refused() -> None:
    columns = {"region": ["N", "N"], "group": ["g", None]}
    with pytest.raises(
        InputError, match=r"'group' is empty in 1 record, first in record 2\. Fill it"
    ) as caught:
        tabulate(columns, ["region"], holding="group")
    assert caught.value.options == ()


def test_respondents_in_several_cells_cannot_be_counted_additively() -> None:
    with pytest.raises(
        InputError, match=r"1 of the respondents in column 'firm' occur in more than one cell"
    ):
        tabulate(COLUMNS, ["region"], respondent="firm")


def test_weights_expand_contributors_and_population() -> None:
    columns = {"region": ["N", "N"], "value": [10, 8], "weight": [2.5, 1.0]}
    table = tabulate(columns, ["region"], "value", weight="weight", largest=3)
    cell = table.find("N")
    assert table.decimals == 1
    assert value_of(table, "N") == 33.0
    assert table.count is not None
    assert table.population is not None
    assert table.contributions is not None
    assert table.count[cell] == 2
    assert table.population[cell] == 3.5
    # round(2.5) is 2, half to even: two contributors of 10, of which one has a name.
    assert table.contributions.values[cell].tolist() == [100, 100, 80]
    assert (table.contributions.who[cell] >= 0).tolist() == [True, False, True]


def test_weighted_counts_keep_the_decimals_of_weights() -> None:
    table = tabulate({"region": ["N", "S"], "weight": [1.25, 2.0]}, ["region"], weight="weight")
    assert not table.integer
    assert value_of(table, "Total") == 3.25


def test_values_are_rounded_before_they_are_summed() -> None:
    table = tabulate({"region": ["N"] * 3, "value": [0.4, 0.4, 0.4]}, ["region"], "value", decimals=0)
    assert value_of(table, "N") == 0


def test_decimals_beyond_the_sample_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tacita.tabulation.numbers.SAMPLE", 2)
    table = tabulate({"region": ["N"] * 4, "value": [1.0, 2.0, 0.125, 3.5]}, ["region"], "value")
    assert table.decimals == 3


@pytest.mark.parametrize("dtype", [pa.float32(), pa.decimal128(9, 2), pa.string(), pa.int16()])
def test_numbers_of_any_type(dtype: pa.DataType) -> None:
    values = pa.array([1, 2] if dtype == pa.int16() else ["1.10", "2.05"]).cast(dtype)
    table = tabulate(pa.table({"region": ["N", "S"], "value": values}), ["region"], "value")
    assert value_of(table, "Total") == pytest.approx(3 if dtype == pa.int16() else 3.15)


def test_codes_of_numbers_are_their_text() -> None:
    table = tabulate(pd.DataFrame({"region": [1.0, 2.0, 1.0]}), {"region": Hierarchy.flat(["1", "2"])})
    assert value_of(table, "1") == 2


def test_where_selects_records_by_any_column() -> None:
    assert value_of(tabulate(COLUMNS, ["region"], "turnover", where="sector = 'b'"), "Total") == 2.25


def test_where_compares_numbers_of_a_csv_file(tmp_path: Path) -> None:
    file = tmp_path / "records.csv"
    file.write_text("region,year\n01,2023\n01,2024\n02,2024\n")
    assert value_of(tabulate(file, ["region"], where="year > 2023"), "01") == 1


def test_codes_in_csv_stay_text_and_commas_can_be_decimal(tmp_path: Path) -> None:
    file = tmp_path / "records.csv"
    file.write_text("region;value\n01;1,5\n02;2,25\n")
    assert value_of(tabulate(file, ["region"], "value", decimal=","), "01") == 1.5


def test_shares_of_a_respondent_come_from_all_his_records() -> None:
    table = tabulate(COLUMNS, {"region": REGIONS}, "turnover", "firm", largest=1)
    assert table.contributions is not None
    shares = table.contributions.shares_of(np.array([list(table.contributions.names).index("x")]))
    assert {table.name(c): u for c, u in zip(shares.cells, shares.units, strict=True)} == {
        "region=Total": 1675,
        "region=North": 1275,
        "region=01": 1275,
        "region=South": 400,
    }


@pytest.mark.parametrize("nothing", [None, "", "\t", " \n"])
def test_a_respondent_is_in_a_holding_by_all_records_or_by_none(nothing: str | None) -> None:
    records = {"r": ["a"] * 4, "firm": ["A", "A", "B", "C"], "v": [50, 40, 10, 6]}
    owned = {"respondent": "firm", "holding": "h"}
    with pytest.raises(InputError, match=r"1 respondent has an entry in 'h' in some .* first in record 2"):
        tabulate({**records, "h": ["H", nothing, nothing, nothing]}, {"r": None}, "v", **owned)
    table = tabulate({**records, "h": ["H", "H", nothing, nothing]}, {"r": None}, "v", **owned)
    assert table.holding_count is not None
    assert table.holding_count.tolist() == [3]
    assert Problem(table, "p-percent(10, by=holding)").levels.sensitive.any()


def test_owner_numbers_of_any_range() -> None:
    firms = pa.array([-(2**62), 2**62, 7], pa.int64())
    table = tabulate(
        pa.table({"region": ["N", "S", "S"], "value": [1, 2, 3], "firm": firms}), ["region"], "value", "firm"
    )
    assert table.contributions is not None
    assert table.contributions.name(int(table.contributions.who[table.find("N"), 0])) == str(-(2**62))


@pytest.mark.parametrize("respondent", ["id", "owner"])
def test_columns_may_have_any_name(respondent: str) -> None:
    columns = {
        "key": ["N", "N"],
        "raw": ["a", "b"],
        "own": [1, 2],
        "id": [5, 6],
        "owner": ["p", "q"],
        'say "x"': [3, 4],
    }
    for value in ("own", "id", 'say "x"'):
        table = tabulate(columns, ["key", "raw"], value, respondent, "owner", "own")
        assert value_of(table, "N", "b") == 2 * columns[value][1]
        assert table.contributions is not None
        assert table.contributions.values[table.find("N", "b"), 0] == columns[value][1]


def test_the_empty_cells_of_a_sparse_cube_are_never_made() -> None:
    """Five dimensions of 1,000 codes in three levels span 10**15 cells; twenty records fill thousands."""
    tree = Hierarchy.from_levels([f"{k:03}" for k in range(1000)], [1, 1, 1])
    random = np.random.default_rng(5)
    records = [tuple(f"{k:03}" for k in random.integers(0, 1000, 5)) for _ in range(20)]
    dimensions = [f"d{i}" for i in range(5)]
    columns: dict[str, list[Any]] = {d: [r[i] for r in records] for i, d in enumerate(dimensions)}
    columns |= {"value": [1] * 20, "firm": list(range(10)) * 2}
    table = tabulate(columns, dict.fromkeys(dimensions, tree), "value", "firm")

    def chain(code: str) -> list[str]:
        return [code, code[:2], code[:1], "Total"]

    filled = {cell for record in records for cell in product(*map(chain, record))}
    assert len(table) == len(filled) < 20 * 4**5
    top = table.find(*["Total"] * 5)
    assert table.units[top] == 20
    assert table.count is not None
    assert table.count[top] == 10


def test_input_is_not_changed() -> None:
    frame = pd.DataFrame(COLUMNS)
    before = frame.copy()
    tabulate(frame, ["region"], "turnover", "firm")
    pd.testing.assert_frame_equal(frame, before)


def test_progress_is_told_and_a_cancelled_run_ends() -> None:
    events: list[Event] = []
    tabulate(COLUMNS, ["region"], "turnover", "firm", run=Run(listener=events.append))
    phases = [event.phase for event in events]
    assert phases[:3] == ["opening records", "reading values", "tabulating leaf cells"]
    cancelled = Run()
    cancelled.cancel()
    with pytest.raises(TacitaError, match="stopped before reading values"):
        tabulate(COLUMNS, ["region"], run=cancelled)


N = {"region": ["N", "S"], "value": [1.0, 2.0]}
BAD: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "unknown column": (N, {"value": "vlue"}, r"no column 'vlue'.*did you mean 'value'"),
    "missing value": (
        {**N, "value": [None, 1.0]},
        {"value": "value"},
        r"no value in 1 of 2 .*column 'value'\), first in record 1.*n .value. IS NOT NULL as option 'where'",
    ),
    "nan": (
        {**N, "value": [float("nan"), 1.0]},
        {"value": "value"},
        r"NaN or infinite in 1 of 2 records .*first in record 1",
    ),
    "text": (
        {**N, "value": ["1", "many"]},
        {"value": "value"},
        r"record 2: 'many' in column 'value' is not a number",
    ),
    "comma": ({**N, "value": ["1", "2,5"]}, {"value": "value"}, r"record 2: '2,5'.*decimal comma"),
    "dates": ({**N, "value": pa.array([1, 2], pa.date32())}, {"value": "value"}, r"holds DATE, not numbers"),
    "thirds": (
        {**N, "value": [1 / 3, 1.0]},
        {"value": "value"},
        r"0\.333.*more than 6 decimals.*decimals count",
    ),
    "too large": (
        {**N, "value": [1e15, 0.5]},
        {"value": "value", "decimals": 6},
        r"too large.*Use 0 decimals",
    ),
    "huge": ({**N, "value": [1e17, 0.0]}, {"value": "value"}, r"larger unit"),
    "decimals": (N, {"value": "value", "decimals": -1}, r"decimals cannot be -1"),
    "largest": (N, {"largest": 0}, r"to keep is 0"),
    "negative weight": (
        {**N, "w": [1.0, -1.0]},
        {"weight": "w"},
        r"'w' holds negative weights, first in record 2",
    ),
    "missing weight": ({**N, "w": [1.0, None]}, {"weight": "w"}, r"no weight in 1 of 2 records"),
    "missing respondent": (
        {**N, "f": ["a", None]},
        {"value": "value", "respondent": "f"},
        r"'f' is empty in 1 record, first in record 2",
    ),
    "no records": (N, {"where": "region = 'X'"}, r"there are no records"),
    "bad condition": (N, {"where": "regoin = 'X'"}, r"the condition asks for column 'regoin'"),
    "no condition": (N, {"where": "region ="}, r"the condition is not one in SQL"),
    "counts": ({**N, "value": [0.5, 1.0]}, {"value": "value", "counts": True}, r"these are no counts"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_with_place_and_remedy(case: str) -> None:
    columns, options, message = BAD[case]
    with pytest.raises(InputError, match=message):
        tabulate(pa.table(columns), ["region"], **options)


def test_unknown_missing_and_inner_codes_are_counted() -> None:
    def refused(codes: list[str | None], message: str) -> None:
        with pytest.raises(HierarchyError, match=message):
            tabulate(pa.table({"region": codes}), {"region": REGIONS})

    refused(
        ["01", "001", "001"],
        r"'001' \(2 records\) in column 'region', first in record 2, are not in its .*did you mean",
    )
    refused(
        ["01", None, None], r"missing code in 2 records \(column 'region'\), first in record 2\..*IS NOT NULL"
    )
    refused(["01", " "], r"missing code in 1 record .*first in record 2")
    refused(["01", "North"], r"'North' \(1 record\) in column 'region', first in record 2, are totals")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("region,value\nN,1\nS,many\n", r"records\.csv, line 3: 'many' in column 'value' is not a number"),
        ("region;value\nN;1,5\n", r"line 2: '1,5'.*the decimal sign"),
        (
            "region,value\nN,1\nS,2,3\n",
            r"records\.csv, line 3: 3 fields where the header has 2.*the decimal sign",
        ),
        ("region,value\nN,1\nS\n", r"records\.csv, line 3: 1 field where the header has 2\. Complete"),
        ('region,value\nN,1\n"S,2\n', r"records\.csv, line 3: a quote is opened and not closed"),
        ("region,region,value\nN,S,2\n", r"records\.csv, line 1: column 'region' occurs twice\. Rename"),
        ("", r"records\.csv, line 1: the file is empty"),
        ("region,value\n", r"there are no records"),
        ("region,amount\nN,1\n", r"no column 'value'"),
    ],
)
def test_bad_csv_is_refused_by_line(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "records.csv"
    file.write_text(text)
    with pytest.raises(InputError, match=message):
        tabulate(file, ["region"], "value")


def test_text_that_is_not_utf8_is_refused_by_line(tmp_path: Path) -> None:
    file = tmp_path / "records.csv"
    file.write_bytes("region,value\nN,1\nÉ,2\n".encode("latin-1"))
    with pytest.raises(InputError, match=r"records\.csv, line 3: the text is not UTF-8\. Save"):
        tabulate(file, ["region"], "value")


def test_sources_that_are_none(tmp_path: Path) -> None:
    for source, message in [
        (tmp_path / "none.csv", "there is no such file"),
        ("none*.parquet", "there is no such file"),
        (tmp_path / "none.duckdb", "there is no such file"),
        (7, "cannot be read from the int"),
    ]:
        with pytest.raises(InputError, match=message):
            tabulate(source, ["region"])
    file = tmp_path / "records.doc"
    file.write_text("x")
    with pytest.raises(InputError, match="the kind of file is not known"):
        tabulate(file, ["region"])
    store = as_duckdb(tmp_path)
    with pytest.raises(InputError, match=r"no table 'frims'; it holds firms, other"):
        tabulate(store.replace("firms", "frims"), ["region"])
    with pytest.raises(InputError, match="are given as a list"):
        tabulate(COLUMNS, "region")
    with pytest.raises(InputError, match="Name at least one column of codes"):
        tabulate(COLUMNS, [])


@pytest.mark.slow
@pytest.mark.parametrize(("records", "says"), [("0", "give at least one record"), ("500", "target")])
def test_the_benchmark_reports_why_it_has_no_records(records: str, says: str) -> None:
    script = Path(__file__).parents[2] / "benchmarks" / "tabulate.py"
    command = [sys.executable, str(script), "--records", records, "--rounds", "1"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert says in ended.stdout + ended.stderr
    assert "No files found" not in ended.stderr
    assert (ended.returncode == 0) == (records != "0")


def test_size_classes_stand_in_the_order_of_their_numbers() -> None:
    classes = ["250+", "50-249", "0-9", "10-49"]
    table = tabulate(pa.table({"size": classes, "value": [1, 2, 3, 4]}), by=["size"], value="value")
    assert table.structure.dimensions[0].codes == ("Total", "0-9", "10-49", "50-249", "250+")


def test_codes_of_any_number_of_digits_are_sorted() -> None:
    longest = "9" * 5000
    table = tabulate(
        pa.table({"size": [longest, "10", "009"], "value": [1, 2, 3]}), by=["size"], value="value"
    )
    assert table.structure.dimensions[0].codes == ("Total", "009", "10", longest)


def _stays(regions: int = 6) -> dict[str, list[str]]:
    """Return records of regions in districts in states, each region with every sex."""
    rows = [(f"S{r // 4}", f"D{r // 2}", f"R{r}", "fm"[k % 2]) for r in range(regions) for k in range(6)]
    names = ("state", "district", "region", "sex")
    return {name: [row[k] for row in rows] for k, name in enumerate(names)}


@pytest.mark.parametrize(
    ("by", "warned"),
    [
        (
            ["state", "region", "sex", "district"],
            "every region has one district and one state, so these are nested, not crossed: give region a "
            "classification with the levels state, district, region (Hierarchy.from_columns)",
        ),
        (["sex", "district", "state"], "every district has one state"),
        (["sex", "region"], None),
        (["region"], None),
    ],
)
def test_columns_that_are_levels_of_one_another_are_named(by: list[str], warned: str | None) -> None:
    found = tabulate(_stays(), by).warnings
    assert len(found) == (warned is not None)
    assert warned is None or found[0].startswith(warned)


def test_codes_with_few_records_are_not_taken_for_nested() -> None:
    few = {name: column[::2] for name, column in _stays().items()}
    assert tabulate(few, ["state", "region"]).warnings == ()


@pytest.mark.parametrize("given", [["turnover", "employees"], ("turnover",)])
def test_several_columns_of_values_make_several_tables(given: Any) -> None:
    with pytest.raises(InputError, match=r"^value: .* one column, not of 'turnover'.*suppress_alike"):
        tabulate(pd.DataFrame(COLUMNS), ["region"], given)


@pytest.mark.parametrize("given", [{"0": ["01", "02", "03"]}, "1-1"])
def test_dictionaries_and_digits_stand_for_hierarchies(given: Any) -> None:
    table = tabulate(pd.DataFrame(COLUMNS), {"region": given}, "turnover")
    assert value_of(table, "0") == value_of(table, "Total") == 24.75


def test_what_is_no_hierarchy_is_not_quoted() -> None:
    with pytest.raises(InputError, match=r"column 'region' needs a hierarchy.*not a DataFrame\. Give Hier"):
        tabulate(pd.DataFrame(COLUMNS), {"region": pd.DataFrame(COLUMNS)}, "turnover")
    with pytest.raises(HierarchyError, match=r"column 'region': .*Under '03' stands 'South'.*from_columns"):
        tabulate(pd.DataFrame(COLUMNS), {"region": {"01": "North", "02": "North", "03": "South"}}, "turnover")
