"""An overview of records, column by column, from which classifications, values and names are recognised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tacita.core.hierarchy.links import name_position, to_code_texts
from tacita.core.numerals import is_number, tidy
from tacita.tabulation.number_texts import is_number_sql
from tacita.tabulation.quoting import quote_name
from tacita.tabulation.records import open_records, read_column_names

FIRST_RECORDS = 200
"""Records from which samples are taken."""
SAMPLES = 4


@dataclass(frozen=True)
class ColumnSummary:
    """A column of records.

    Attributes
    ----------
    numbers
        Whether all that is given are numbers.
    distinct, missing
        How many different entries there are, and how many records have none.
    samples
        The first few different entries.
    """

    name: str
    numbers: bool
    distinct: int
    missing: int
    samples: tuple[str, ...]

    @property
    def could_be_numbers(self) -> bool:
        """Whether some entries are numbers, perhaps with the other decimal sign."""
        return self.numbers or any(is_number(tidy(text)) for text in self.samples)


@dataclass(frozen=True)
class Overview:
    """The number of records, and their columns in the order of the source."""

    records: int
    columns: tuple[ColumnSummary, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns of the microdata."""
        return tuple(column.name for column in self.columns)

    @property
    def identity(self) -> str | None:
        """The first column of text that differs in all records, as names of respondents do; else None."""
        names = (column for column in self.columns if not column.could_be_numbers)
        differing = (column.name for column in names if column.distinct == self.records > 1)
        return next(differing, None)


def survey_records(source: Any, decimal: str | None = None) -> Overview:
    """Return an overview of microdata, column by column, from anything that ``tabulate`` takes.

    Raises
    ------
    InputError
        The source cannot be read; the message names the line where that is known.

    Examples
    --------
    >>> seen = survey_records({"region": ["N", "N", "S"], "turnover": [5, 7, None]})
    >>> [(column.name, column.numbers, column.distinct, column.missing) for column in seen.columns]
    [('region', False, 2, 0), ('turnover', True, 2, 1)]
    """
    names = read_column_names(source)
    with open_records(source, names, [], [], None, decimal) as records:
        counts = ", ".join(_counts_sql(quote_name(name), records.types[name], decimal) for name in names)
        n, *counted = records.fetch_row(f"SELECT count(*), {counts} FROM records")
        texts = ", ".join(f"CAST({quote_name(name)} AS VARCHAR)" for name in names)
        first = records.fetch(f"SELECT {texts} FROM records LIMIT {FIRST_RECORDS}")
    columns = []
    for k, name in enumerate(names):
        distinct, given, numbers = counted[3 * k : 3 * k + 3]
        samples = dict.fromkeys(text for text in first.column(k).to_pylist() if text is not None)
        columns.append(
            ColumnSummary(name, 0 < given == numbers, distinct, n - given, tuple(samples)[:SAMPLES])
        )
    return Overview(n, tuple(columns))


def list_codes(source: Any, columns: Sequence[str], decimal: str | None = None) -> list[tuple[str, ...]]:
    """Return the different codes of a column of microdata in order, or combinations of several columns."""
    wanted = ", ".join(map(quote_name, columns))
    with open_records(source, columns, [], [], None, decimal) as records:
        found = records.fetch(f"SELECT DISTINCT {wanted} FROM records ORDER BY {wanted}")
    texts = [to_code_texts(found.column(k).to_pylist(), name_position) for k in range(len(columns))]
    return list(dict.fromkeys(zip(*texts, strict=True)))


def find_groupings(source: Any, column: str, decimal: str | None = None) -> list[str]:
    """Return the columns of microdata that could group the codes of one: records with the same code have the
    same entry, and some codes share theirs.
    """
    others = [name for name in read_column_names(source) if name != column]
    if not others:
        return []
    code = quote_name(column)
    counts = ", ".join(
        f"count(DISTINCT {other}), count(DISTINCT ({code}, {other}))" for other in map(quote_name, others)
    )
    with open_records(source, [column, *others], [], [], None, decimal) as records:
        codes, *counted = records.fetch_row(
            f"SELECT count(DISTINCT {code}), {counts} FROM records WHERE {code} IS NOT NULL"
        )
    groups = zip(others, counted[::2], counted[1::2], strict=True)
    return [name for name, distinct, pairs in groups if 0 < distinct < pairs == codes]


def _counts_sql(column: str, kind: str, decimal: str | None) -> str:
    """Return SQL for how many entries of a column of records differ, are given, and are numbers."""
    number = is_number_sql(column, decimal)
    if kind != "VARCHAR":
        number = f"TRY_CAST(CAST({column} AS VARCHAR) AS DOUBLE) IS NOT NULL"
    return f"count(DISTINCT {column}), count({column}), count(*) FILTER ({number})"
