"""Records in a database: they are grouped there, and only the groups travel.

Ibis knows the database and its dialect. What is asked of the records is written once, in DuckDB's SQL, and
put into the dialect by sqlglot; a condition of the user is parsed, never pasted. A group of records is

    with respondents      the records of one respondent in one leaf cell,
    without               each of the largest records of a leaf cell, and all others of the cell in one,

with sums of exact integers (:mod:`tacita.tabulation.numbers`), which no order of summation changes. From here
on groups are tabulated as records are. Ties among contributors are broken here too, so that the order in
which a database compares text is of no account.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tacita.core.errors import InputError, TacitaError, did_you_mean
from tacita.core.exact import LARGEST
from tacita.tabulation.address import REMEDY, Address, mask_passwords, parse_address
from tacita.tabulation.numbers import Numbers, copies_sql, single_sql
from tacita.tabulation.quoting import quote_name
from tacita.tabulation.records import Records, describe_columns, refuse_unknown_columns

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

GROUPS_AT_ONCE = 100_000
INSTALL = "Install it with: pip install 'tacita[ibis]'"
# What rounds doubles half to even; everywhere else FLOOR is used, which in Spark would give 64-bit integers.
HALF_EVEN = {"postgres": "ROUND", "pyspark": "RINT", "databricks": "RINT"}


def is_ibis_table(source: object) -> bool:
    """Return whether a source of microdata is an Ibis table; Ibis is never imported for this."""
    ibis = sys.modules.get("ibis.expr.types")
    return ibis is not None and isinstance(source, ibis.Table)


@contextmanager
def open_table(address: str) -> Iterator[tuple[Any, Address]]:
    """Yield the Ibis table of the microdata at an address, read only; the connection closes with the context.

    Raises
    ------
    InputError
        Ibis is not installed, the server does not answer, or there is no such table.
    """
    parsed = parse_address(address)
    try:
        import ibis
        import psycopg
    except ImportError:
        fault = "records in a database are read with Ibis, which is not installed"
        raise InputError(fault, place=parsed.place, remedy=INSTALL) from None
    try:
        psycopg.conninfo.conninfo_to_dict(parsed.url)
    except psycopg.Error:
        # Its message repeats the address, with the password.
        raise InputError("the address cannot be read", place=parsed.place, remedy=REMEDY) from None
    remedy = "Check address, user and password; passwords can be in PGPASSWORD or in the file ~/.pgpass."
    with _translate_errors(parsed.place, remedy, (), parsed):
        connection = psycopg.connect(parsed.url, autocommit=True)
    with connection:
        with _translate_errors(parsed.place, remedy, (), parsed):
            connection.execute("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY")
            backend = ibis.postgres.from_connection(connection)
            # As a pair, since Ibis splits a name at its dots.
            schema = (backend.current_catalog, parsed.schema) if parsed.schema else None
            tables = backend.list_tables(database=schema)
        try:
            table = backend.table(parsed.table, database=schema)
        except ibis.common.exceptions.TableNotFound:
            where = f" in schema '{parsed.schema}'" if parsed.schema else ""
            raise InputError(
                f"there is no table '{parsed.table}'{where}{did_you_mean(parsed.table, tables)}",
                place=parsed.place,
                remedy="Name a table or view that this user may read, with its schema.",
            ) from None
        yield table, parsed


@dataclass(frozen=True, eq=False)
class DatabaseRecords(Records):
    """Records of which each is a row in a database; ``connection`` is where groups of them go.

    Attributes
    ----------
    backend
        Ibis' way to the database.
    wanted
        The query for the needed columns of the wanted records, as a tree of sqlglot.
    schema
        Ibis' types of these columns.
    address
        Where the records are; None: an Ibis table was given.
    """

    backend: Any = None
    wanted: Any = None
    schema: Any = None
    address: Address | None = None

    def describe_first(self, condition: str) -> str:
        """Return nothing, since records in a database have no order."""
        return ""

    def fetch_row(self, query: str) -> tuple[Any, ...]:
        """Return the only row of the answer to an SQL query on the microdata; all of it are numbers."""
        from sqlglot import exp

        tree = self._translate(query)
        kinds = {}
        for k, column in enumerate(tree.expressions):
            counts = column.find(exp.Count) is not None
            kinds[f"column{k}"] = "int64" if counts else "float64"
            number = column.copy() if counts else exp.cast(column.copy(), "DOUBLE")
            column.replace(exp.alias_(number, f"column{k}", quoted=True, copy=False))
        ((*row,),) = (list(each.values()) for batch in self._run(tree, kinds) for each in batch.to_pylist())
        # Where answers come by way of pandas, nothing is written as NaN.
        return tuple(None if each is not None and math.isnan(each) else each for each in row)

    def group(
        self, numbers: Numbers, codes: Sequence[str], owners: Sequence[str], listed: int, once: bool
    ) -> tuple[Records, Numbers]:
        """Return the records in groups, as they are tabulated further, and the integers of each group.

        Parameters
        ----------
        codes, owners
            Columns of codes, and of respondents and holdings.
        listed
            How many of the largest records per leaf cell stay alone.
        once
            Whether of all records of a group the largest counts, not the sum.

        Raises
        ------
        InputError
            The records are not those that ``numbers`` were read from, since someone changed them meanwhile.
        """
        import ibis
        import pyarrow as pa
        import pyarrow.compute as pc

        columns = list(dict.fromkeys([*codes, *owners]))
        lead = "_" * (1 + max((len(c) - len(c.lstrip("_")) for c in columns), default=0))
        sums = _list_sums(numbers, bool(listed), once)
        quoted = {word: quote_name(lead + word) for word in (*sums, "count", "rank", "sound")}
        kinds = {column: self._choose_kind(column) for column in columns}
        kinds |= dict.fromkeys((lead + word for word in (*sums, "count")), "int64")
        tree = self._translate(self._group_sql(numbers, codes, columns, listed, sums, quoted))
        total = 0
        self.connection.register("arrived", ibis.schema(kinds).to_pyarrow().empty_table())
        self.connection.execute("CREATE OR REPLACE TEMP TABLE records AS SELECT * FROM arrived")
        for batch in self._run(tree, kinds):
            self.connection.register("arrived", pa.Table.from_batches([batch]))
            self.connection.execute("INSERT INTO records SELECT * FROM arrived")
            largest = batch.column(lead + ("weighted" if numbers.weight else "own"))
            total += pc.sum(pc.abs(largest)).as_py() or 0
            if total > LARGEST or pc.any(pc.less(batch.column(lead + "count"), 0)).as_py():
                raise InputError(
                    "the records changed while they were read",
                    place=self.place,
                    remedy="Tabulate them again, or a copy of them.",
                )
        types = describe_columns(self.connection, "records")
        groups = Records(self.connection, types, self.place, quoted["count"])
        return groups, replace(
            numbers,
            own=quoted["own"],
            weighted=quoted["weighted"] if numbers.weight else quoted["own"],
            weight=quoted.get("weight"),
            absolute=quoted.get("absolute", "0"),
            weights=quoted.get("weights"),
        )

    def _group_sql(
        self,
        numbers: Numbers,
        codes: Sequence[str],
        columns: Sequence[str],
        listed: int,
        sums: Mapping[str, tuple[str, str]],
        quoted: Mapping[str, str],
    ) -> str:
        """Return DuckDB's SQL for the groups; a group with a record that was not surveyed counts -1."""
        plain = [quote_name(column) for column in columns]
        # Compared byte by byte: elsewhere a and A may be one, and sorting takes longer.
        text = 'VARCHAR) COLLATE "C"' if self.backend.name == "postgres" else "VARCHAR)"
        written = [
            f"CAST({column} AS {text} AS {column}" if self._choose_kind(of) == "string" else column
            for of, column in zip(columns, plain, strict=True)
        ]
        written += [f"{each} AS {quoted[word]}" for word, (_, each) in sums.items()]
        written.append(f"CASE WHEN {numbers.sound} THEN 1 ELSE 0 END AS {quoted['sound']}")
        records = f"SELECT {', '.join(written)} FROM records"
        groups = ", ".join(plain)
        if listed:
            cells = ", ".join(quote_name(column) for column in codes)
            copies = copies_sql(quoted.get("weight"), listed)
            records = (
                f"SELECT *, row_number() OVER (PARTITION BY {cells} ORDER BY abs({quoted['own']}) DESC, "
                f"{copies} DESC, {quoted['own']}) AS {quoted['rank']} FROM ({records}) AS records"
            )
            groups += f", least({quoted['rank']}, {listed + 1})"
        totals = [
            f"CAST({add}({quoted[word]}) AS BIGINT) AS {quoted[word]}" for word, (add, _) in sums.items()
        ]
        count = f"CASE WHEN min({quoted['sound']}) = 1 THEN count(*) ELSE -1 END AS {quoted['count']}"
        return f"SELECT {', '.join([*plain, *totals, count])} FROM ({records}) AS records GROUP BY {groups}"

    def _choose_kind(self, column: str) -> Any:
        """Return Ibis' type in which a column of codes or owners travels: most are text."""
        kind = self.schema[column]
        if kind.is_nested() or kind.is_binary() or kind.is_json():
            fault = f"column '{column}' holds {kind}, no codes"
            raise InputError(fault, place=self.place, remedy="choose another column")
        plain = kind.is_numeric() or kind.is_boolean() or kind.is_date() or kind.is_timestamp()
        return kind if plain else "string"

    def _translate(self, query: str) -> Any:
        """Return a query in DuckDB's SQL on the microdata as a tree of sqlglot for the database."""
        return _parse(query, self.backend).with_("records", as_=self.wanted.copy(), copy=False)

    def _run(self, tree: Any, kinds: dict[str, Any]) -> Iterator[Any]:
        """Yield the answer to a query on the microdata as arrow batches with columns of these types."""
        remedy = "Check the columns and the condition."
        with _translate_errors(self.place, remedy, ("where",), self.address):
            query = self.backend.sql(tree.sql(dialect=self.backend.dialect), schema=kinds)
            # Ibis 12 cannot stream from DuckDB 2, which is in this process anyway.
            if self.backend.name == "duckdb":
                yield from query.to_pyarrow().to_batches()
            else:
                yield from query.to_pyarrow_batches(chunk_size=GROUPS_AT_ONCE)


def open_database_records(
    connection: DuckDBPyConnection,
    table: Any,
    names: Sequence[str],
    numbers: Sequence[str],
    where: str | None,
    address: Address | None = None,
) -> DatabaseRecords:
    """Return the wanted microdata of an Ibis table, in whatever database it is.

    ``names`` are columns of codes and owners, ``numbers`` those of values and weights.
    """
    import sqlglot
    from sqlglot import exp

    place = address.place if address else "the Ibis table"
    schema, columns = table.schema(), list(dict.fromkeys([*names, *numbers]))
    refuse_unknown_columns(place, columns, schema.names)
    backend = table.get_backend()
    if not hasattr(backend, "dialect"):
        raise InputError(
            f"Ibis does not ask {backend.name} in SQL",
            place=place,
            remedy="Give the frame itself, without Ibis.",
        )
    with _translate_errors(place, "Check the table.", (), address):
        # Tables in memory and functions that the expression holds are known to the database from here on.
        table.limit(0).to_pyarrow()
        source: Any = sqlglot.parse_one(str(backend.compile(table)), read=backend.dialect)
    types = {column: _name_type(schema[column]) for column in columns}
    # A count of records needs no column of them.
    needed: list[Any] = [exp.Literal.number(1).as_("one")] if not columns else []
    for column in columns:
        if types[column] == "FLOAT" and column not in names:
            # Written once: it is long, and every query uses a number several times.
            types[column] = "DOUBLE"
            single = _parse(single_sql(quote_name(column)), backend)
            needed.append(exp.alias_(single, column, quoted=True))
        else:
            needed.append(exp.column(column, quoted=True))
    wanted = exp.select(*needed).from_(source.subquery("source"))
    if where:
        wanted = wanted.where(_parse_condition(place, where, backend.dialect))
    return DatabaseRecords(
        connection,
        types,
        place,
        backend=backend,
        wanted=wanted,
        schema=schema,
        address=address,
    )


def _list_sums(numbers: Numbers, listed: bool, once: bool) -> dict[str, tuple[str, str]]:
    """Return what travels with a group, and no more: per word how records are put together, and their SQL."""
    add = "max" if once else "sum"
    sums = {"own": (add, numbers.own)}
    if numbers.weight:
        sums |= {"weighted": (add, numbers.weighted), "weight": ("max", numbers.weight)}
    if listed:
        sums["absolute"] = ("sum", numbers.absolute)
        if numbers.weights:
            sums["weights"] = ("sum", numbers.weights)
    return sums


def _name_type(kind: Any) -> str:
    """Return DuckDB's name of an Ibis type of numbers; of others Ibis' own, since they are read as none."""
    names = {
        "boolean": "BOOLEAN",
        "int8": "TINYINT",
        "int16": "SMALLINT",
        "int32": "INTEGER",
        "int64": "BIGINT",
        "uint8": "UTINYINT",
        "uint16": "USMALLINT",
        "uint32": "UINTEGER",
        "uint64": "UBIGINT",
        "float32": "FLOAT",
        "float64": "DOUBLE",
    }
    # Ibis marks columns that hold no nulls.
    plain = str(kind).removeprefix("!")
    return "DECIMAL" if kind.is_decimal() else names.get(plain, plain)


def _parse_condition(place: str, where: str, dialect: Any) -> Any:
    """Return a condition on the microdata in the SQL of the database as a tree; statements are refused."""
    import sqlglot
    from sqlglot import exp

    remedy = "Correct it; it is one condition in the SQL of the database."
    try:
        found = sqlglot.condition(where, dialect=dialect)
    except sqlglot.errors.SqlglotError:
        fault = "the condition is not one in SQL"
        raise InputError(fault, place=place, remedy=remedy, options=["where"]) from None
    if not isinstance(found, exp.Condition) or found.find(exp.DML, exp.DDL, exp.Command, exp.Into):
        raise InputError(
            "the condition is more than a condition", place=place, remedy=remedy, options=["where"]
        )
    return found


def _parse(sql: str, backend: Any) -> Any:
    """Return SQL of DuckDB as a tree, with the functions that a database lacks written otherwise."""
    import sqlglot
    from sqlglot import exp

    tree: Any = sqlglot.parse_one(sql, read="duckdb")
    # The innermost first, since one may be within another.
    for node in reversed(list(tree.find_all(exp.Anonymous))):
        (x, *_), function = node.expressions, node.name.lower()
        if function == "isfinite":
            largest = exp.Literal.number(repr(sys.float_info.max))
            node.replace(exp.LTE(this=exp.Abs(this=x.copy()), expression=largest))
        elif function == "round_even" and backend.name in HALF_EVEN:
            node.replace(exp.Anonymous(this=HALF_EVEN[backend.name], expressions=[x.copy()]))
        elif function == "round_even":
            node.replace(_round_by_floor(exp.paren(x.copy())))
    return tree


def _round_by_floor(x: Any) -> Any:
    """Return the tree of a double rounded to an integer, half to even, by FLOOR alone, which is exact.

    With f the floor of x, x - f is exact near one half, the only place where a rounding error would matter.
    """
    from sqlglot import exp

    floor, half = exp.Floor(this=x), exp.Literal.number("0.5")
    rest = exp.paren(exp.Sub(this=x.copy(), expression=floor.copy()))
    up = exp.paren(exp.Add(this=floor.copy(), expression=exp.Literal.number(1)))
    halved = exp.Mul(this=floor.copy(), expression=half.copy())
    even = exp.EQ(this=exp.Floor(this=halved.copy()), expression=halved)
    return (
        exp.case()
        .when(exp.LT(this=rest, expression=half), floor)
        .when(exp.GT(this=rest.copy(), expression=half.copy()), up)
        .when(even, floor.copy())
        .else_(up.copy())
    )


@contextmanager
def _translate_errors(
    place: str, remedy: str, options: Sequence[str], address: Address | None
) -> Iterator[None]:
    """Raise whatever a database says of the microdata as InputError, without passwords."""
    try:
        yield
    except TacitaError:
        raise
    except Exception as error:
        # Every driver has errors of its own.
        line = next((each for each in str(error).splitlines() if each.strip()), type(error).__name__)
        fault = f"the database reports: {(address.mask(line) if address else mask_passwords(line)).strip()}"
        raise InputError(fault, place=place, remedy=remedy, options=list(options)) from None
