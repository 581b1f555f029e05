"""Numbers that stand as text in records, in SQL: see :mod:`tacita.core.numerals` for how they are written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tacita.core.errors import InputError
from tacita.core.numerals import GROUPS, MINUS, NUMBERS, OPEN_NUMBER, SIGNS, refuse_open_number
from tacita.tabulation.quoting import quote_name, quote_text

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

POINT = "."


def is_number_sql(column: str, decimal: str | None) -> str:
    """Return SQL for whether a column of text holds a number with this decimal sign."""
    return _match_sql(f"trim(lower({column}))", f"{NUMBERS[decimal or POINT]}|nan")


def find_separated(
    connection: DuckDBPyConnection, place: str, scan: str, columns: Sequence[str], decimal: str | None
) -> dict[str, str]:
    """Return SQL for the numbers of those columns of text in which thousands are separated, by column.

    Without a decimal sign it is the point, if some number shows it; else a number that may as well be in
    thousands is refused.
    """
    if not columns:
        return {}
    sign = decimal or POINT
    seen = connection.sql(
        f"SELECT {', '.join(_survey_sql(_trim_sql(column), sign) for column in columns)} FROM {scan}"
    ).fetchall()[0]
    separated, unclear, pointed = (dict(zip(columns, seen[k::3], strict=True)) for k in range(3))
    if decimal is None and not any(pointed.values()):
        for column in columns:
            if unclear[column]:
                _refuse_unclear(connection, place, scan, column)
    found = {}
    for column in columns:
        if separated[column]:
            _refuse_words(connection, place, scan, column, sign)
            plain = f"regexp_replace({_trim_sql(column)}, {quote_text(GROUPS[sign])}, '', 'g')"
            for typed, in_sql in ((sign, POINT), (MINUS, "-")):
                plain = f"replace({plain}, {quote_text(typed)}, {quote_text(in_sql)})"
            found[column] = f"CAST({plain} AS DOUBLE)"
    return found


def _survey_sql(number: str, sign: str) -> str:
    """Return SQL for how many texts have separated thousands or a typeset minus, may have thousands, and
    surely have a decimal point.
    """
    unclear = _match_sql(number, OPEN_NUMBER)
    pointed = f"contains({number}, '.') AND {_match_sql(number, NUMBERS[POINT])} AND NOT {unclear}"
    typeset = f"(regexp_matches({number}, {quote_text(GROUPS[sign])}) OR contains({number}, '{MINUS}'))"
    separated = f"{typeset} AND {_match_sql(number, NUMBERS[sign])}"
    return ", ".join(f"count(*) FILTER ({condition})" for condition in (separated, unclear, pointed))


def _refuse_unclear(connection: DuckDBPyConnection, place: str, scan: str, column: str) -> None:
    unclear = _match_sql(_trim_sql(column), OPEN_NUMBER)
    for record, number in _find_first(connection, scan, column, unclear):
        refuse_open_number(number, f"{place}, record {record:,}, column '{column}'")


def _refuse_words(connection: DuckDBPyConnection, place: str, scan: str, column: str, sign: str) -> None:
    """Refuse a column of records with a text that is no number."""
    word = f"{quote_name(column)} <> '' AND NOT {is_number_sql(quote_name(column), sign)}"
    for record, text in _find_first(connection, scan, column, word):
        raise InputError(
            f"'{text}' in column '{column}' is not a number with a decimal {SIGNS[sign]}",
            place=f"{place}, record {record:,}",
            remedy="Correct it, or write all numbers alike.",
        )


def _find_first(connection: DuckDBPyConnection, scan: str, column: str, condition: str) -> list[Any]:
    """Return the number of the first record that fulfils a condition, and its text in a column, if any."""
    return connection.sql(
        f"SELECT number, {_trim_sql(column)} FROM (SELECT row_number() OVER () AS number, * FROM {scan}) "
        f"WHERE {condition} ORDER BY number LIMIT 1"
    ).fetchall()


def _trim_sql(column: str) -> str:
    return f"trim({quote_name(column)})"


def _match_sql(text: str, pattern: str) -> str:
    return f"regexp_full_match({text}, {quote_text(pattern)})"
