"""Where records come from: a frame, a CSV or Parquet file (or a pattern of them), or a table of a DuckDB
file.

Whatever the source, the records end up as one DuckDB view that holds the needed columns of the wanted
records. DuckDB reads Parquet, DuckDB files and arrow tables in pieces as often as it is asked; CSV files and
DuckDB relations are read once into a temporary table, which moves to a temporary folder when it outgrows
memory.
"""

from __future__ import annotations

import csv
import difflib
import gzip
import os
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from tacita.core.errors import InputError
from tacita.core.tables.columns import refuse_wide
from tacita.tabulation.complaints import told_as_input_error

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

CSV = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".tab", ".txt")
PARQUET = (".parquet", ".pq")
DUCKDB = (".duckdb", ".db", ".ddb")
LONGEST_HEADER = 10_000_000
"""Characters of a line of column names."""
REMEDY = (
    "Give a pandas, polars, arrow or duckdb frame, or the path of a .csv, .parquet or .duckdb file "
    "(a table of it as 'file.duckdb::table')."
)


@dataclass(frozen=True, eq=False)
class Records:
    """Records as the view ``records`` of a DuckDB connection; ``place`` is how messages call them."""

    connection: DuckDBPyConnection
    types: Mapping[str, str]
    place: str

    def ask(self, query: str) -> Any:
        """The answer to a query as an arrow table."""
        with told_as_input_error(self.place):
            return self.connection.sql(query).to_arrow_table()

    def row(self, query: str) -> tuple[Any, ...]:
        """The only row of an answer."""
        with told_as_input_error(self.place):
            (found,) = self.connection.sql(query).fetchall()
        return tuple(found)

    def first(self, condition: str) -> str:
        """Where a condition in SQL holds first, in words: the number of the record among those wanted."""
        (number,) = self.row(
            "SELECT min(number) FROM (SELECT row_number() OVER () AS number, * FROM records) "
            f"WHERE {condition}"
        )
        return f"record {number:,}"

    def first_of(self, column: str, values: Any) -> str:
        """Where a column holds one of some values (an arrow array) first, or nothing, in words."""
        import pyarrow as pa

        self.connection.register("sought", pa.table({"_value": values}))
        return self.first(f"{quoted(column)} IS NULL OR {quoted(column)} IN (SELECT _value FROM sought)")

    def do(self, statement: str) -> None:
        """Run a statement that has no answer."""
        with told_as_input_error(self.place):
            self.connection.execute(statement)


@contextmanager
def open_records(
    source: Any,
    codes: Sequence[str],
    owners: Sequence[str],
    numbers: Sequence[str],
    where: str | None = None,
    decimal: str = ".",
) -> Iterator[Records]:
    """The records of a source, for as long as the context lasts.

    Parameters
    ----------
    codes, owners, numbers
        Columns needed. In CSV files codes and owners are read as text (so ``01`` stays ``01``), numbers as
        numbers.
    where
        Condition in SQL that wanted records fulfil; it may use any column.
    decimal
        Decimal separator of CSV files.
    """
    import duckdb

    columns = list(dict.fromkeys([*codes, *owners, *numbers]))
    folder = TemporaryDirectory(prefix="tacita-")
    connection = duckdb.connect(config={"temp_directory": folder.name})
    try:
        place, scan, once = _scan(connection, source, columns, [*codes, *owners], numbers, where, decimal)
        condition = f" WHERE ({where})" if where else ""
        with told_as_input_error(place):
            present = connection.sql(f"SELECT * FROM {scan} LIMIT 0").columns
            _refuse_unknown(place, columns, present)
            # A count of records needs no column of them.
            wanted = ", ".join(quoted(column) for column in columns) or "1"
            kind = "TEMP TABLE" if once else "VIEW"
            connection.execute(f"CREATE {kind} records AS SELECT {wanted} FROM {scan}{condition}")
            described = connection.sql("SELECT * FROM records LIMIT 0")
            types = {name: str(kind) for name, kind in zip(described.columns, described.types, strict=True)}
        yield Records(connection, types, place)
    finally:
        connection.close()
        folder.cleanup()


def column_names(source: Any) -> list[str]:
    """The names of all columns of a source, in its order."""
    import duckdb

    with duckdb.connect() as connection:
        place, scan, _ = _scan(connection, source, [], [], [], None, ".")
        with told_as_input_error(place):
            return list(connection.sql(f"SELECT * FROM {scan} LIMIT 0").columns)


def quoted(name: str) -> str:
    """A column name as SQL takes it."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as SQL takes it."""
    return "'" + text.replace("'", "''") + "'"


def _scan(
    connection: DuckDBPyConnection,
    source: Any,
    columns: Sequence[str],
    texts: Sequence[str],
    numbers: Sequence[str],
    where: str | None,
    decimal: str,
) -> tuple[str, str, bool]:
    """How to call the source, what to write after FROM, and whether it should be read only once."""
    if isinstance(source, tuple) and len(source) == 2:
        return _duckdb_file(connection, Path(source[0]), str(source[1]))
    if isinstance(source, str | os.PathLike):
        path, _, table = os.fspath(source).partition("::")
        if table or path.lower().endswith(DUCKDB):
            return _duckdb_file(connection, Path(path), table)
        return _file(connection, path, texts, numbers, where, decimal)
    return _frame(connection, source, columns, where)


def _file(
    connection: DuckDBPyConnection,
    path: str,
    texts: Sequence[str],
    numbers: Sequence[str],
    where: str | None,
    decimal: str,
) -> tuple[str, str, bool]:
    if not glob(path) and not Path(path).exists():
        raise InputError(f"{path}: there is no such file. Check the path.")
    if path.lower().endswith(PARQUET):
        return path, f"read_parquet({literal(path)})", False
    if not path.lower().endswith(CSV):
        raise InputError(f"{path}: the kind of file is not known. {REMEDY}")
    header, delimiter = _header(Path(next(iter(sorted(glob(path))), path)))
    _refuse_unknown(path, [*texts, *numbers], header)
    layout = f"""header=true, delim={literal(delimiter)}, quote='"', escape='"'"""
    types = dict.fromkeys(header, "VARCHAR")
    if where:
        types |= _guessed_types(connection, f"read_csv({literal(path)}, {layout})", header)
    types |= {**dict.fromkeys(numbers, "DOUBLE"), **dict.fromkeys(texts, "VARCHAR")}
    listed = ", ".join(f"{literal(column)}: {literal(kind)}" for column, kind in types.items())
    # With everything said, DuckDB does not guess, and a ragged line is an error on that line.
    options = f"auto_detect=false, {layout}, decimal_separator={literal(decimal)}, columns={{{listed}}}"
    return path, f"read_csv({literal(path)}, {options})", True


def _guessed_types(connection: DuckDBPyConnection, scan: str, header: Sequence[str]) -> dict[str, str]:
    """Types of columns that only a condition uses, as DuckDB takes them from the first records."""
    import duckdb

    try:
        found = connection.sql(f"SELECT * FROM {scan} LIMIT 0")
    except duckdb.Error:
        # What is wrong shows, by line, when the records are read.
        return {}
    return {name: str(kind) for name, kind in zip(found.columns, found.types, strict=True) if name in header}


def _header(path: Path) -> tuple[list[str], str]:
    """Column names and delimiter of a CSV file: the commonest of comma, semicolon, tab and bar in its
    first line.
    """
    try:
        with (gzip.open if path.suffix == ".gz" else open)(
            path, "rt", encoding="utf-8-sig", errors="replace"
        ) as file:
            line = file.readline(LONGEST_HEADER).strip("\r\n")
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path}: cannot be read ({error}). Check the file.") from None
    if not line.strip():
        raise InputError(
            f"{path}, line 1: the file is empty. It needs a header line and one line per record."
        )
    delimiter = max(",;\t|", key=line.count)
    refuse_wide(path, line.count(delimiter) + 1)
    try:
        header = next(csv.reader([line], delimiter=delimiter))
    except csv.Error as error:
        raise InputError(f"{path}, line 1: {error}. Check the names of the columns.") from None
    for column, times in Counter(header).items():
        if times > 1:
            raise InputError(f"{path}, line 1: column '{column}' occurs twice. Rename one of them.")
    return header, delimiter


def _duckdb_file(connection: DuckDBPyConnection, path: Path, table: str) -> tuple[str, str, bool]:
    if not path.exists():
        raise InputError(f"{path}: there is no such file. Check the path.")
    with told_as_input_error(str(path)):
        connection.execute(f"ATTACH {literal(str(path))} AS stored (READ_ONLY)")
        rows = connection.execute(
            "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = 'stored' UNION ALL "
            "SELECT schema_name, view_name FROM duckdb_views() WHERE database_name = 'stored' AND NOT "
            "internal"
        ).fetchall()
    tables = {name: f"stored.{quoted(schema)}.{quoted(name)}" for schema, name in rows}
    if not table and len(tables) == 1:
        table = next(iter(tables))
    if table not in tables:
        wrong = f"no table {table!r}" if table else "no table is named"
        raise InputError(
            f"{path}: {wrong}; it holds {', '.join(sorted(tables)) or 'none'}. "
            "Write the table after the file, as in 'file.duckdb::table'."
        )
    return f"{path}::{table}", tables[table], False


def stream_rows(relation: DuckDBPyRelation, at_once: int = 1_000_000) -> Any:
    """Return an Arrow reader of a query's rows, in batches; before DuckDB 1.5 its name differs."""
    name = "to_arrow_reader" if hasattr(relation, "to_arrow_reader") else "fetch_arrow_reader"
    return getattr(relation, name)(at_once)


def _frame(
    connection: DuckDBPyConnection, source: Any, columns: Sequence[str], where: str | None
) -> tuple[str, str, bool]:
    import duckdb
    import narwhals as nw
    import pyarrow as pa

    place = f"the {type(source).__name__}"
    if isinstance(source, duckdb.DuckDBPyRelation):
        # A relation belongs to its own connection, which a stream of its rows leaves untouched.
        _refuse_unknown(place, columns, source.columns)
        connection.register("frame", stream_rows(source))
        return place, "frame", True
    if isinstance(source, Mapping):
        source = pa.table(dict(source))
    if not isinstance(source, pa.Table):
        try:
            wrapped = nw.from_native(source)
        except TypeError:
            raise InputError(f"records cannot be read from {place}. {REMEDY}") from None
        lazy = wrapped if isinstance(wrapped, nw.LazyFrame) else wrapped.lazy()
        _refuse_unknown(place, columns, lazy.collect_schema().names())
        try:
            source = (lazy if where or not columns else lazy.select(columns)).collect("pyarrow").to_native()
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise InputError(f"{place}: {error}. Give each column one type; numbers without text.") from None
    connection.register("frame", source)
    return place, "frame", False


def _refuse_unknown(place: str, columns: Sequence[str], present: Sequence[str]) -> None:
    for column in columns:
        if column not in present:
            near = difflib.get_close_matches(column, present, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise InputError(f"{place} has no column {column!r}, only {', '.join(map(repr, present))}.{hint}")
