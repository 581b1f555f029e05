"""Records in a database against the same records in DuckDB: to the last digit, ties and refusals included."""

from __future__ import annotations

import math
import re
import shutil
import warnings
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from budget import examples
from hypothesis import given
from hypothesis import strategies as st
from postgres_server import Server
from system_packages import SPARK

from tacita.core.errors import InputError, TacitaError
from tacita.core.hierarchy import Hierarchy
from tacita.core.tables.contributions import Contributions
from tacita.core.tables.table import Table
from tacita.tabulation.database import DatabaseRecords
from tacita.tabulation.tabulate import tabulate

ibis = pytest.importorskip("ibis", reason="no Ibis. Remedy: pip install 'tacita[ibis]'")


def describe(table: Table) -> dict[str, Any]:
    """Everything that a table holds, in plain values."""
    arrays = (table.units, table.count, table.population, table.holding_count)
    return {
        "cells": [table.structure.names([cell]) for cell in range(len(table))],
        "arrays": [None if array is None else array.tolist() for array in arrays],
        "decimals": (table.decimals, table.integer),
        "respondents": describe_contributions(table.contributions),
        "holdings": describe_contributions(table.holdings),
        "notes": (table.notes, table.warnings, table.value_name),
    }


def describe_contributions(found: Contributions | None) -> Any:
    if found is None:
        return None
    shares = found.shares_of(found.everyone())
    return (
        found.values.tolist(),
        [[found.name(who) if who >= 0 else None for who in row] for row in found.who.tolist()],
        found.sums.tolist(),
        [str(name) for name in found.names],
        sorted(zip(shares.who.tolist(), shares.cells.tolist(), shares.units.tolist(), strict=True)),
        found.beyond,
    )


def outcome(source: Any, options: dict[str, Any]) -> Any:
    """The table in plain values, or what is wrong with the records but for its place."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return describe(tabulate(source, **options))
    except TacitaError as error:
        return type(error), re.sub(r", first in record [\d,]*\d,?", "", error.fault)


CODES = {
    "text": st.sampled_from(
        ["a", "A", "ä", "Ä", "z", "Z", "a b", "O'Neill", '"', "z\u0301", "ź", "%s", "01"]
    ),
    "integer": st.sampled_from([1, 7, -3, 2**53 + 1, 2**62]),
    "boolean": st.booleans(),
    "date": st.dates(date(1999, 12, 30), date(2000, 1, 2)),
    "time": st.sampled_from([datetime(2024, 1, 1), datetime(2024, 1, 1, 5, 6, 7, 890)]),
    "gaps": st.sampled_from(["a", "b", "", " ", None]),
}
CODE_TYPES = {
    "text": pa.string(),
    "integer": pa.int64(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "time": pa.timestamp("us"),
    "gaps": pa.string(),
}
HALVES = [0.125, 2.5, 3.5, -0.5, 1.005, 1.015, 0.1, 0.3, 1e6 + 0.01, -7.25, 0.0, 12.0]
VALUES: dict[str, tuple[Any, st.SearchStrategy[Any]]] = {
    "double": (pa.float64(), st.sampled_from(HALVES)),
    "any double": (
        pa.float64(),
        st.floats(-1e9, 1e9) | st.sampled_from([1e17, 1e-9, math.nan, math.inf, None]),
    ),
    "single": (pa.float32(), st.sampled_from([0.1, 2.5, 16777216.0, 123456.79, 1e10, -0.3, 1.5e-9, 0.0])),
    "integer": (pa.int64(), st.integers(-5, 5) | st.sampled_from([2**40, -(2**40)])),
    "large integer": (pa.int64(), st.sampled_from([2**53, 2**62, -(2**63), 1])),
    "small integer": (pa.int16(), st.integers(-5, 9)),
    "boolean": (pa.bool_(), st.booleans()),
    "decimal": (
        pa.decimal128(12, 3),
        st.sampled_from([Decimal(text) for text in ("0.125", "12345678.901", "-2.5", "7")]),
    ),
    "text": (pa.string(), st.just("12")),
}


@st.composite
def microdata(draw: st.DrawFn) -> tuple[pa.Table, dict[str, Any]]:
    """Records with columns of many types, and how to tabulate them."""
    codes = draw(st.lists(st.sampled_from(sorted(CODES)), min_size=1, max_size=2, unique=True))
    kind = draw(st.sampled_from([*sorted(VALUES), "double", "double", "integer"]))
    rows = draw(st.integers(0, 12))

    def column(strategy: st.SearchStrategy[Any], type_: Any) -> pa.Array:
        return pa.array(draw(st.lists(strategy, min_size=rows, max_size=rows)), type_)

    firm = draw(st.sampled_from(["text", "integer", "gaps"]))
    value_type, values = VALUES[kind]
    # Names that the queries use themselves, in another case, and such that SQL must quote.
    records = {f"_Own {each}": column(CODES[each], CODE_TYPES[each]) for each in codes}
    records |= {
        "count": column(values, value_type),
        "RANK": column(CODES[firm], CODE_TYPES[firm]),
        'se"lect': column(st.sampled_from("gGhé"), pa.string()),
        "_weight": column(st.sampled_from([0.4, 1.0, 1.5, 2.5, 0.0, 3.25]), pa.float64()),
    }
    options = {
        "by": [f"_Own {each}" for each in codes],
        "value": draw(st.sampled_from(["count", "count", None])),
        "respondent": draw(st.sampled_from(["RANK", None])),
        "holding": draw(st.sampled_from(['se"lect', None])),
        "weight": draw(st.sampled_from(["_weight", None])),
        "largest": draw(st.integers(1, 3)),
        "decimals": draw(st.sampled_from([None, 0, 2, 8])),
    }
    return pa.table(records), options


Case = tuple[pa.Table, dict[str, Any]]


def check(source: Any, case: Case) -> None:
    """The source gives what DuckDB makes of the same records."""
    records, options = case
    if options["value"] == "count" and records.schema.field("count").type == pa.string():
        # DuckDB reads numbers written as text; databases differ in what they take for one.
        with pytest.raises(InputError, match="holds string, not numbers"):
            tabulate(source, **options)
    else:
        assert outcome(source, options) == outcome(records, options)


@examples(10)
@given(microdata())
def test_postgres_gives_what_duckdb_gives(server: Server, case: Case) -> None:
    check(server.store(case[0]), case)


@examples(6)
@given(microdata())
def test_other_databases_round_by_floor_to_the_same(case: Case) -> None:
    check(ibis.memtable(case[0]), case)


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Spark in local mode, through Ibis."""
    sql = pytest.importorskip("pyspark.sql", reason=f"no Spark. Remedy: {SPARK}")
    if shutil.which("java") is None:
        pytest.skip(f"no Java. Remedy: {SPARK}")
    settings = {
        "spark.master": "local[2]",
        "spark.ui.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.log.level": "ERROR",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
    }
    builder = sql.SparkSession.builder
    for key, setting in settings.items():
        builder = builder.config(key, setting)
    session = builder.getOrCreate()
    yield ibis.pyspark.connect(session)
    session.stop()


@pytest.mark.slow
@examples(20)
@given(microdata())
def test_spark_gives_what_duckdb_gives(
    spark: Any, tmp_path_factory: pytest.TempPathFactory, case: Case
) -> None:
    file = Path(tmp_path_factory.mktemp("spark")) / "records.parquet"
    pq.write_table(case[0], file)
    with warnings.catch_warnings():
        # Spark warns of versions of pandas.
        warnings.simplefilter("ignore")
        check(spark.read_parquet(str(file)), case)


RECORDS = pa.table(
    {
        "region": ["01", "01", "02", "03", "03"],
        "sector": ["a", "b", "a", "a", "a"],
        "turnover": [10.5, 2.25, 7.0, 1.0, 4.0],
        "firm": ["x", "x", "y", "z", "x"],
    }
)
BY = {"region": Hierarchy.from_dict({"North": ["01", "02"], "South": ["03"]}), "sector": None}


def test_ibis_expressions_are_tabulated_where_they_are(server: Server) -> None:
    server.store(RECORDS, "expressed")
    backend = ibis.postgres.from_connection(server.connect())
    table = backend.table("expressed")
    chosen = table.filter(table.turnover > 1).mutate(twice=table.turnover * 2, firm=table.firm.upper())
    found = tabulate(chosen, BY, "twice", "firm", where="sector = 'a' AND twice::int < 99")
    assert found.units[found.find("Total", "Total")] == 43
    assert found.contributions is not None
    assert list(found.contributions.names) == ["X", "Y"]
    backend.disconnect()


@pytest.mark.parametrize("respondent", [None, "firm"])
def test_only_groups_travel(server: Server, respondent: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    many = pa.table({name: RECORDS.column(name).to_pylist() * 200 for name in RECORDS.column_names})
    travelled = []
    run = DatabaseRecords._run

    def count(self: DatabaseRecords, tree: Any, kinds: dict[str, Any]) -> Iterator[Any]:
        for batch in run(self, tree, kinds):
            travelled.append(batch.num_rows)
            yield batch

    monkeypatch.setattr(DatabaseRecords, "_run", count)
    found = tabulate(server.store(many), BY, "turnover", respondent)
    assert found.units[found.find("Total", "Total")] == 200 * 2475
    # Two surveys of one row; then five pairs of firm and cell, or four cells with two records and the rest.
    assert travelled == [1, 1, 5 if respondent else 12]


def test_types_of_postgres_are_codes_and_numbers(server: Server) -> None:
    with server.connect() as connection:
        connection.execute("DROP TYPE IF EXISTS mood CASCADE")
        connection.execute("CREATE TYPE mood AS ENUM ('low', 'high')")
        connection.execute(
            "CREATE TABLE typed (fixed char(5), kind mood, id uuid, plain numeric, single real, rank oid)"
        )
        connection.execute(
            "INSERT INTO typed VALUES "
            "('a', 'low', '00000000-0000-0000-0000-00000000000A', 0.10, 0.1, 7), "
            "('b', 'high', '00000000-0000-0000-0000-00000000000A', 2.5, 16777217, 7)"
        )
    source = server.address("typed")
    for column, codes in {"fixed": {"a", "b"}, "kind": {"low", "high"}, "rank": {"7"}}.items():
        table = tabulate(source, [column], "plain", "id")
        assert set(table.structure.dimensions[0].codes) == {"Total", *codes}
        assert table.decimals == 1
        assert table.units[table.find("Total")] == 26
        assert table.contributions is not None
        assert list(table.contributions.names) == ["00000000-0000-0000-0000-00000000000a"]
    singles = tabulate(source, ["fixed"], "single")
    assert (singles.decimals, int(singles.units[singles.find("Total")])) == (1, 167772161)


def test_text_is_compared_byte_by_byte_whatever_the_collation(server: Server) -> None:
    server.store(RECORDS.set_column(3, "firm", pa.array(["x", "X", "é", "É", "x"])), "collated")
    with server.connect() as connection:
        (icu,) = connection.execute("SELECT count(*) FROM pg_collation WHERE collprovider = 'i'").fetchone()
        if not icu:
            pytest.skip("this PostgreSQL has no ICU, and thus no such collation")
        connection.execute(
            "CREATE COLLATION lax (provider = icu, locale = 'und-u-ks-level1', deterministic = false)"
        )
        connection.execute("ALTER TABLE collated ALTER firm TYPE text COLLATE lax")
    table = tabulate(server.address("collated"), BY, "turnover", "firm")
    assert table.contributions is not None
    assert list(table.contributions.names) == ["X", "x", "É", "é"]


def test_records_that_change_while_they_are_read_are_refused(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = DatabaseRecords.group

    def disturb(self: DatabaseRecords, *given: Any, **named: Any) -> Any:
        with server.connect() as connection:
            connection.execute("UPDATE disturbed SET turnover = 0.001 WHERE firm = 'z'")
        return group(self, *given, **named)

    monkeypatch.setattr(DatabaseRecords, "group", disturb)
    with pytest.raises(InputError, match="changed while they were read"):
        tabulate(server.store(RECORDS, "disturbed"), BY, "turnover")
