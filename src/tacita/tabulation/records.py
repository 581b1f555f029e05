"""Records from a frame, a CSV or Parquet file (or a pattern of them), a table of a DuckDB file or a database.

Whatever the source, the records become one DuckDB view that holds the needed columns of the wanted records.
DuckDB reads Parquet, DuckDB files and arrow tables in batches for each query; CSV files and DuckDB
relations are read once into a temporary table, which moves to a temporary folder when it outgrows memory.
Records in a database stay there, and groups of them become the view (:mod:`tacita.tabulation.database`).
"""

from __future__ import annotations

import csv
import gzip
import os
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from glob import glob
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from tacita.core.errors import InputError, MissingFileError, did_you_mean
from tacita.core.numerals import find_decimal_sign, tidy
from tacita.core.tables.columns import refuse_wide
from tacita.core.words import pluralize
from tacita.tabulation.address import is_address, mask_passwords
from tacita.tabulation.number_texts import find_separated
from tacita.tabulation.quoting import quote_name, quote_text

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

CSV = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".tab", ".txt")
PARQUET = (".parquet", ".pq")
DUCKDB = (".duckdb", ".db", ".ddb")
RECORD_NUMBER = "number of the record"
"""The column that numbers records which are respondents of their own."""
LONGEST_HEADER = 10_000_000
"""Characters of a line of column names."""
REMEDY = (
    "Give a pandas, polars, arrow or duckdb frame, an Ibis table, or the path of a .csv, .parquet or .duckdb "
    "file (a table of it as 'file.duckdb::table')."
)

DECIMAL_COMMA = "name the comma as the decimal sign"


@dataclass(frozen=True)
class NamedFrame:
    """A frame of records with the name that errors call it by, such as the path of its workbook."""

    name: str
    frame: Any


@dataclass(frozen=True, eq=False)
class Records:
    """Records as the view ``records`` of a DuckDB connection; errors name them by ``place``.

    A row of the view is a record, or a group of as many records of a database as its column ``grouped`` says.
    """

    connection: DuckDBPyConnection
    types: Mapping[str, str]
    place: str
    grouped: str | None = None

    def fetch(self, query: str) -> Any:
        """Return the answer to an SQL query on the microdata as an arrow table."""
        with translate_duckdb_errors(self.place):
            return self.connection.sql(query).to_arrow_table()

    def fetch_row(self, query: str) -> tuple[Any, ...]:
        """Return the only row of the answer to an SQL query on the microdata."""
        with translate_duckdb_errors(self.place):
            (found,) = self.connection.sql(query).fetchall()
        return tuple(found)

    def count_sql(self, condition: str | None = None) -> str:
        """Return SQL for the number of records, or of those that fulfil a condition in SQL."""
        only = f" FILTER ({condition})" if condition else ""
        if self.grouped is None:
            return f"count(*){only}"
        return f"CAST(coalesce(sum({self.grouped}){only}, 0) AS BIGINT)"

    def describe_first(self, condition: str) -> str:
        """Return ``, first in record 7`` for the first wanted record for which a condition in SQL holds.

        Records of a database have no order, so that none is named.
        """
        if self.grouped is not None:
            return ""
        (number,) = self.fetch_row(
            "SELECT min(number) FROM (SELECT row_number() OVER () AS number, * FROM records) "
            f"AS records WHERE {condition}"
        )
        return f", first in record {number:,}"

    def describe_first_of(self, column: str, values: Any) -> str:
        """Return ``, first in record 7`` for the first record with one of some values in a column or none."""
        import pyarrow as pa

        self.connection.register("sought", pa.table({"_value": values}))
        return self.describe_first(
            f"{quote_name(column)} IS NULL OR {quote_name(column)} IN (SELECT _value FROM sought)"
        )

    def execute(self, statement: str) -> None:
        """Run an SQL statement on the microdata that has no answer."""
        with translate_duckdb_errors(self.place):
            self.connection.execute(statement)


@contextmanager
def open_records(
    source: Any,
    codes: Sequence[str],
    owners: Sequence[str],
    numbers: Sequence[str],
    where: str | None = None,
    decimal: str | None = None,
    numbered: bool = False,
) -> Iterator[Records]:
    """Yield the microdata of a source as a DuckDB view, which closes with the context.

    Parameters
    ----------
    codes, owners, numbers
        Columns needed. In CSV files codes and owners are read as text (so ``01`` stays ``01``), numbers as
        numbers.
    where
        Condition in SQL that wanted records fulfil; it may use any column.
    decimal
        Decimal sign of CSV files; None: a point, if some number shows that it separates no thousands.
    numbered
        Whether records get a further column :data:`RECORD_NUMBER`, from 1 on.
    """
    columns = list(dict.fromkeys([*codes, *owners, *numbers]))
    with open_duckdb() as connection:
        place, scan, once = _scan(connection, source, columns, [*codes, *owners], numbers, where, decimal)
        condition = f" WHERE ({where})" if where else ""
        with translate_duckdb_errors(place):
            present = connection.sql(f"SELECT * FROM {scan} LIMIT 0").columns
            refuse_unknown_columns(place, columns, present)
            # A count of records needs no column of them.
            wanted = ", ".join(quote_name(column) for column in columns) or "1"
            if numbered:
                wanted += f", row_number() OVER () AS {quote_name(RECORD_NUMBER)}"
            kind = "TEMP TABLE" if once or numbered else "VIEW"
            connection.execute(f"CREATE {kind} records AS SELECT {wanted} FROM {scan}{condition}")
            types = describe_columns(connection, "records")
        yield Records(connection, types, place)


@contextmanager
def open_duckdb() -> Iterator[DuckDBPyConnection]:
    """Yield a DuckDB in memory for microdata, which moves to a temporary folder what outgrows memory."""
    import duckdb

    with TemporaryDirectory(prefix="tacita-") as folder:
        connection = duckdb.connect(config={"temp_directory": folder})
        try:
            yield connection
        finally:
            connection.close()


def describe_columns(connection: DuckDBPyConnection, scan: str) -> dict[str, str]:
    """Return the columns of the microdata that SQL after FROM reads, with their types in DuckDB."""
    found = connection.sql(f"SELECT * FROM {scan} LIMIT 0")
    return {name: str(kind) for name, kind in zip(found.columns, found.types, strict=True)}


def read_column_names(source: Any) -> list[str]:
    """Return the names of all columns of a source of microdata, in its order."""
    import duckdb

    with duckdb.connect() as connection:
        place, scan, _ = _scan(connection, source, [], [], [], None, None)
        with translate_duckdb_errors(place):
            return list(connection.sql(f"SELECT * FROM {scan} LIMIT 0").columns)


def _scan(
    connection: DuckDBPyConnection,
    source: Any,
    columns: Sequence[str],
    texts: Sequence[str],
    numbers: Sequence[str],
    where: str | None,
    decimal: str | None,
) -> tuple[str, str, bool]:
    """Return the name of a microdata source, the SQL after FROM, and whether to read it only once."""
    if isinstance(source, tuple) and len(source) == 2:
        return _scan_duckdb(connection, Path(source[0]), str(source[1]))
    if is_address(source):
        raise InputError(
            "records in a database are not read here",
            place=mask_passwords(str(source)),
            remedy="Name them as microdata in a project, and open that.",
        )
    if isinstance(source, str | os.PathLike):
        path, _, table = os.fspath(source).partition("::")
        if table or path.lower().endswith(DUCKDB):
            return _scan_duckdb(connection, Path(path), table)
        return _scan_file(connection, path, texts, numbers, where, decimal)
    return _scan_frame(connection, source, columns, where)


def _scan_file(
    connection: DuckDBPyConnection,
    path: str,
    texts: Sequence[str],
    numbers: Sequence[str],
    where: str | None,
    decimal: str | None,
) -> tuple[str, str, bool]:
    if not glob(path) and not Path(path).exists():
        raise MissingFileError("there is no such file", place=path, remedy="Check the path.")
    if path.lower().endswith(PARQUET):
        return path, f"read_parquet({quote_text(path)})", False
    if not path.lower().endswith(CSV):
        raise InputError("the kind of file is not known", place=path, remedy=REMEDY)
    header, delimiter = _read_header(Path(next(iter(sorted(glob(path))), path)))
    refuse_unknown_columns(path, [*texts, *numbers], header)
    layout = f"""header=true, delim={quote_text(delimiter)}, quote='"', escape='"'"""
    scan = partial(_scan_csv, path, layout, decimal or ".")
    types = dict.fromkeys(header, "VARCHAR")
    with translate_duckdb_errors(path):
        separated = find_separated(connection, path, scan(types), numbers, decimal)
    if where:
        types |= _guess_types(connection, f"read_csv({quote_text(path)}, {layout})", header)
    types |= {name: "DOUBLE" for name in numbers if name not in separated}
    types |= dict.fromkeys([*texts, *separated], "VARCHAR")
    if not separated:
        return path, scan(types), True
    plain = ", ".join(f"{number} AS {quote_name(name)}" for name, number in separated.items())
    return path, f"(SELECT * REPLACE ({plain}) FROM {scan(types)})", True


def _scan_csv(path: str, layout: str, decimal: str, types: Mapping[str, str]) -> str:
    """Return SQL after FROM for a CSV file of microdata with columns of these types."""
    listed = ", ".join(f"{quote_text(column)}: {quote_text(kind)}" for column, kind in types.items())
    # With everything specified, DuckDB does not guess, and a ragged line is an error on that line.
    options = f"auto_detect=false, {layout}, decimal_separator={quote_text(decimal)}, columns={{{listed}}}"
    return f"read_csv({quote_text(path)}, {options})"


def _guess_types(connection: DuckDBPyConnection, scan: str, header: Sequence[str]) -> dict[str, str]:
    """Return the types of columns that only a condition on the records uses, as DuckDB guesses them."""
    import duckdb

    try:
        found = describe_columns(connection, scan)
    except duckdb.Error:
        # Reading the records raises the same error, with its line.
        return {}
    return {name: kind for name, kind in found.items() if name in header}


def _read_header(path: Path) -> tuple[list[str], str]:
    """Return the column names of a CSV file of microdata, and its delimiter, the commonest of , ; tab |."""
    try:
        with (gzip.open if path.suffix == ".gz" else open)(
            path, "rt", encoding="utf-8-sig", errors="replace"
        ) as file:
            line = file.readline(LONGEST_HEADER).strip("\r\n")
    except (OSError, EOFError, zlib.error) as error:
        raise MissingFileError(f"cannot be read ({error})", place=path, remedy="Check the file.") from None
    if not line.strip():
        remedy = "It needs a header line and one line per record."
        raise InputError("the file is empty", place=f"{path}, line 1", remedy=remedy)
    delimiter = max(",;\t|", key=line.count)
    refuse_wide(path, line.count(delimiter) + 1)
    try:
        header = next(csv.reader([line], delimiter=delimiter))
    except csv.Error as error:
        remedy = "Check the names of the columns."
        raise InputError(str(error), place=f"{path}, line 1", remedy=remedy) from None
    for column, times in Counter(header).items():
        if times > 1:
            fault, remedy = f"column '{column}' occurs twice", "Rename one of them."
            raise InputError(fault, place=f"{path}, line 1", remedy=remedy)
    return header, delimiter


def _scan_duckdb(connection: DuckDBPyConnection, path: Path, table: str) -> tuple[str, str, bool]:
    if not path.exists():
        raise MissingFileError("there is no such file", place=path, remedy="Check the path.")
    with translate_duckdb_errors(str(path)):
        connection.execute(f"ATTACH {quote_text(str(path))} AS stored (READ_ONLY)")
        rows = connection.execute(
            "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = 'stored' UNION ALL "
            "SELECT schema_name, view_name FROM duckdb_views() WHERE database_name = 'stored' AND NOT "
            "internal"
        ).fetchall()
    tables = {name: f"stored.{quote_name(schema)}.{quote_name(name)}" for schema, name in rows}
    if not table and len(tables) == 1:
        table = next(iter(tables))
    if table not in tables:
        wrong = f"no table {table!r}" if table else "no table is named"
        raise InputError(
            f"{wrong}; it holds {', '.join(sorted(tables)) or 'none'}",
            place=path,
            remedy="Write the table after the file, as in 'file.duckdb::table'.",
        )
    return f"{path}::{table}", tables[table], False


def stream_rows(relation: DuckDBPyRelation, at_once: int = 1_000_000) -> Any:
    """Return an Arrow reader of a query's records, in batches; before DuckDB 1.5 its name differs."""
    name = "to_arrow_reader" if hasattr(relation, "to_arrow_reader") else "fetch_arrow_reader"
    return getattr(relation, name)(at_once)


def _scan_frame(
    connection: DuckDBPyConnection, source: Any, columns: Sequence[str], where: str | None
) -> tuple[str, str, bool]:
    import duckdb
    import narwhals as nw
    import pyarrow as pa

    place = f"the {type(source).__name__}"
    if isinstance(source, NamedFrame):
        place, source = source.name, source.frame
    if isinstance(source, duckdb.DuckDBPyRelation):
        # A relation belongs to its own connection, which a stream of its rows leaves untouched.
        refuse_unknown_columns(place, columns, source.columns)
        connection.register("frame", stream_rows(source))
        return place, "frame", True
    if isinstance(source, Mapping):
        source = pa.table(dict(source))
    if not isinstance(source, pa.Table):
        try:
            wrapped = nw.from_native(source)
        except TypeError:
            raise InputError(f"records cannot be read from {place}", remedy=REMEDY) from None
        lazy = wrapped if isinstance(wrapped, nw.LazyFrame) else wrapped.lazy()
        refuse_unknown_columns(place, columns, lazy.collect_schema().names())
        try:
            source = (lazy if where or not columns else lazy.select(columns)).collect("pyarrow").to_native()
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            remedy = "Give each column one type; numbers without text."
            raise InputError(str(error), place=place, remedy=remedy) from None
    connection.register("frame", source)
    return place, "frame", False


def refuse_unknown_columns(place: str, columns: Sequence[str], present: Sequence[str]) -> None:
    """Refuse columns that the microdata do not have."""
    for column in columns:
        if column not in present:
            others = ", ".join(map(repr, present))
            raise InputError(
                f"there is no column {column!r}{did_you_mean(column, present)}, only {others}", place=place
            )


@contextmanager
def translate_duckdb_errors(place: str) -> Iterator[None]:
    """Raise DuckDB's errors on microdata as InputError, with the line of a file where DuckDB knows it."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        raise _to_input_error(place, str(error)) from None
    except (RuntimeError, UnicodeError) as error:
        # Names of columns that are no text.
        fault = f"the file is damaged ({error})"
        raise InputError(fault, place=place, remedy="Save it anew.") from None


def _to_input_error(place: str, message: str) -> InputError:
    """Return the InputError on the microdata that a message of DuckDB reports."""
    line = re.search(r"on Line: (\d+)", message)
    at = f"{place}, line {line[1]}" if line else place
    value = re.search(r'converting column "(.*?)"\. Could not convert string "(.*?)" to', message)
    if value:
        has_comma = find_decimal_sign(tidy(value[2])) == ","
        comma = f"; it looks like a decimal comma: {DECIMAL_COMMA}" if has_comma else ""
        return InputError(
            f"'{value[2]}' in column '{value[1]}' is not a number{comma}",
            place=at,
            remedy="Correct it, or empty the field and leave the record out with the condition "
            f"\"{value[1]}\" IS NOT NULL as option 'where'.",
            options=[*(["decimal"] if comma else []), "where"],
        )
    columns = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", message)
    if columns:
        more = int(columns[2]) > int(columns[1])
        remedy = (
            "Put quotes around fields that hold the delimiter; if numbers have decimal commas, separate the "
            f"columns with ';' and {DECIMAL_COMMA}."
            if more
            else "Complete the line."
        )
        fields = pluralize(int(columns[2]), "field")
        return InputError(
            f"{fields} where the header has {columns[1]}",
            place=at,
            remedy=remedy,
            options=["decimal"] if more else [],
        )
    if "unterminated quote" in message:
        remedy = "Close it, or write a quote within a field twice."
        return InputError("a quote is opened and not closed", place=at, remedy=remedy)
    if "not utf-8" in message:
        return InputError("the text is not UTF-8", place=at, remedy="Save the file in UTF-8.")
    unknown = re.search(r'Referenced column "(.*?)" not found', message)
    if unknown:
        fault = f"the condition asks for column '{unknown[1]}', which is not there"
        return InputError(fault, place=at, remedy="Correct the name.", options=["where"])
    first = re.sub(r"^[A-Z]\w*( \w+)? Error: ", "", message.strip().split("\n")[0]).rstrip(".!")
    if message.startswith(("Parser Error", "Catalog Error")):
        fault = f"the condition is not one in SQL ({first})"
        return InputError(fault, place=at, remedy="Correct it.", options=["where"])
    remedy = "Check the file, the column names and the condition."
    return InputError(first, place=at, remedy=remedy, options=["where"])
