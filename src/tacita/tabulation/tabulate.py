"""From records to a table: one query per leaf cell in DuckDB or a database, the totals above in numpy."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tacita.core.errors import InputError, StoppedError, issue_warnings
from tacita.core.exact import Cells
from tacita.core.heartbeat import with_heartbeat
from tacita.core.hierarchy.recoding import Detail, RecodingLike
from tacita.core.run import Run
from tacita.core.tables.build import build_from_cells
from tacita.core.tables.contributions import Beyond, Contributions, Shadow
from tacita.core.tables.dimension import Dimension, find_blanks_in_codes
from tacita.core.tables.rollup import Rollup, find_stride, roll_up
from tacita.core.tables.table import Table
from tacita.core.words import list_names, pluralize
from tacita.tabulation.address import is_address
from tacita.tabulation.cell_contributors import CellContributors, LazyNames, roll_up_owners
from tacita.tabulation.database import DatabaseRecords, is_ibis_table, open_database_records, open_table
from tacita.tabulation.entries import LeafShares
from tacita.tabulation.flags import FlagLike, Flags, describe_decisions, read_flags
from tacita.tabulation.leaves import Cube, Leaves, ListedRecords, Trees, read_cube, read_leaves
from tacita.tabulation.nested import warn_of_nested
from tacita.tabulation.numbers import WEIGHT_DECIMALS, Numbers, read_numbers
from tacita.tabulation.owners import group_owners
from tacita.tabulation.records import RECORD_NUMBER, Records, open_duckdb, open_records

MOST_LARGEST = 100


@with_heartbeat("opening records")
def tabulate(
    source: Any,
    by: Mapping[str, Trees] | Iterable[str],
    value: str | None = None,
    respondent: str | None = None,
    holding: str | None = None,
    weight: str | None = None,
    largest: int = 2,
    decimals: int | None = None,
    where: str | None = None,
    counts: bool | None = None,
    name: str = "table",
    decimal: str | None = None,
    run: Run | None = None,
    *,
    request: FlagLike = None,
    consent: FlagLike = None,
    shadow: str | None = None,
    levels: Mapping[str, int] | None = None,
    recode: Mapping[str, RecodingLike] | None = None,
    metadata: str | os.PathLike[str] | None = None,
) -> Table:
    """Return the table of microdata with all its totals, and the contributors of each cell.

    A record with value ``x`` and weight ``w`` adds ``w x`` to its leaf cell and to each cell above it. The
    contribution of a respondent to a cell is the sum of ``x`` over all their records below it, however many
    leaf cells they lie in; each respondent is counted once.

    Parameters
    ----------
    source
        A pandas, polars, arrow or duckdb frame; the path of a CSV or Parquet file, or a pattern such as
        ``"2024/*.parquet"``; a table of a DuckDB file, ``"file.duckdb::table"`` or ``("file.duckdb",
        "table")``. It may be larger than memory. Or records in a database, which groups them itself: an Ibis
        table, or ``"postgres://user@host/database?table=schema.name"``.
    by
        Per dimension a :class:`Hierarchy`, a list of them over the same codes, or None: the codes found in
        the data, sorted. A list of names means None for each. Records carry codes of the finest level.
        Digits such as ``"2-1-1"`` and nested dictionaries of codes stand for hierarchies.
    value
        Column of values. Without it the table counts: respondents if ``respondent`` is given, records
        otherwise.
    respondent, holding
        Columns that name the respondent of a record and the group that the respondent belongs to. Without
        ``respondent`` each record is a respondent of its own. A respondent without a holding is one of its
        own.
    weight
        Column of sampling weights. Then ``Table.count`` is the number of respondents in the sample,
        ``Table.population`` the sum of their weights (in millionths exactly; of several weights of one
        respondent the largest counts), and a respondent with weight ``w`` stands for ``max(1, round(w))``
        contributors of size ``x`` each, the others without a name, so that the two largest may both be ``x``.
    request, consent
        Columns of flags: who asked for protection, for the rule :class:`Request`, and who has consented to be
        recognised, which all rules on contributors heed. Of a respondent (and of a holding) one record that
        asks is enough, and all must consent; who does both has asked, and a warning names them. ``1``,
        ``yes``, ``true`` and ``x`` mean yes; ``{"flag": ["A", "B"]}`` says which values of column ``flag`` do
        instead. Of requests the first of these is code 1, the second code 2, which rules can tell apart.
    shadow
        Column of another variable by which rules judge the cells, such as turnover for a table of employees:
        contributions and totals are those of this variable, and levels keep their proportion to the value.
        What is published, and what contributors know of it, is ``value``.
    largest
        How many of the largest contributions to keep per cell.
    decimals
        Decimals that count: each record's value (and weighted value) is rounded to them, half to even, before
        summing, so that everything adds up exactly. Default: the fewest that write every value exactly, plus
        those of the weights; more than six must be requested.
    where
        Condition in SQL on the records to use; in that of the database where they are in one.
    levels
        Per dimension how many levels of its hierarchy the table has below the total; finer codes of records
        count for the codes above them.
    recode
        Per dimension what codes become, as ``{"C10": "C1x", "C11": "C1x"}``; an empty text leaves the records
        of a code out. See :mod:`tacita.core.hierarchy.recoding`.
    counts
        Whether everyone knows that cells are integers. Default: if no ``value`` is given (and no
        decimals).
    name
        What to call the table.
    decimal
        Decimal sign in CSV files; None: a point, but ``1.204`` is refused with the question where no other
        number shows that this is not in thousands.
    run
        Progress and time limit.
    metadata
        Metadata of τ-ARGUS (``.rda``) for the path of records without a header, which bring their
        classifications with them; see :class:`~tacita.formats.argus.microdata.ArgusRecords`.

    Returns
    -------
    Table
        All non-empty cells. ``contributions.query`` gives everything a respondent put into any cell.

    Raises
    ------
    InputError
        Values, weights, respondents or codes are missing or wrong; the message says where, how many, and what
        to do.

    Examples
    --------
    >>> import pyarrow as pa
    >>> records = pa.table({"region": ["N", "N", "S"], "firm": ["a", "b", "a"], "turnover": [5, 7, 2]})
    >>> table = tabulate(records, ["region"], value="turnover", respondent="firm")
    >>> total = table.find("Total")
    >>> int(table.units[total]), int(table.count[total]), table.contributions.values[total].tolist()
    (14, 2, [7, 7])
    """
    if metadata is not None:
        from tacita.formats.records import tabulate_file

        return tabulate_file(
            source,
            by,
            metadata=metadata,
            value=value,
            respondent=respondent,
            holding=holding,
            weight=weight,
            request=request,
            consent=consent,
            shadow=shadow,
            levels=levels,
            recode=recode,
            largest=largest,
            decimals=decimals,
            where=where,
            counts=counts,
            name=name,
            run=run,
        )
    run = (run or Run()).begin()
    _refuse_several_values(value)
    dimensions = _list_dimensions(by)
    if not 1 <= largest <= MOST_LARGEST:
        raise InputError(
            f"the number of largest contributions to keep is {largest}",
            remedy=f"choose between 1 and {MOST_LARGEST}",
            options=["largest"],
        )
    detail = Detail(levels or {}, recode or {})
    detail.refuse_unknown(list(dimensions))
    flags = read_flags(request, consent)
    unnamed = respondent is None
    numbered = unnamed and bool(flags.columns)
    people = [column for column in (respondent, holding) if column is not None] + flags.columns
    figures = [column for column in (value, shadow, weight) if column is not None]
    with _open_source(source, list(dimensions), people, figures, where, decimal, numbered) as records:
        if numbered:
            respondent = RECORD_NUMBER
        plan = _Plan(dimensions, detail, respondent, unnamed, holding, weight, people, flags, largest)
        found = _tabulate_value(records, plan, value, decimals, run)
        beside = None if shadow is None else _tabulate_value(records, plan, shadow, None, run)
    if beside is not None and not np.array_equal(beside.rollup.keys, found.rollup.keys):
        raise InputError(
            "the records changed while they were read",
            place=records.place,
            remedy="Tabulate them again, or a copy of them.",
        )
    cube, rollup, numbers, of_respondents = found.cube, found.rollup, found.numbers, found.respondents
    units = rollup.add(found.leaves.value)
    integer = (value is None and numbers.decimals == 0) if counts is None else counts
    if integer and (numbers.decimals or (units < 0).any()):
        raise InputError(
            "these are no counts, as values have decimals or are negative",
            remedy="use 0 decimals, or call them amounts",
        )
    _report(run, "writing equations")
    warnings = (
        *find_blanks_in_codes(cube.dimensions),
        *warn_of_nested(cube, found.leaves.keys),
        *_warn_of_contradictions(of_respondents),
    )
    issue_warnings(warnings)
    return build_from_cells(
        cube.dimensions,
        rollup.codes,
        units,
        numbers.decimals,
        name=name,
        notes=(
            f"{pluralize(cube.records, 'record')} tabulated into {pluralize(rollup.keys.size, 'cell')}",
            *found.notes,
            *describe_decisions(flags, "respondent", of_respondents.contributions),
        ),
        warnings=warnings,
        integer=integer,
        count=of_respondents.count,
        population=of_respondents.weight / 10**WEIGHT_DECIMALS if weight else None,
        contributions=of_respondents.contributions,
        holding_count=found.holdings.count if found.holdings else None,
        holdings=found.holdings.contributions if found.holdings else None,
        shadow=None if shadow is None or beside is None else beside.to_shadow(shadow),
        value_name=value or "count",
    )


@dataclass(frozen=True, eq=False)
class _Plan:
    """What is tabulated of each value of the microdata: by which codes, whose contributions, and how many."""

    dimensions: Mapping[str, Trees]
    detail: Detail
    respondent: str | None
    unnamed: bool
    holding: str | None
    weight: str | None
    people: Sequence[str]
    flags: Flags
    largest: int


@dataclass(frozen=True, eq=False)
class _Tabulated:
    """One value of the microdata in all cells, and who contributed to them."""

    cube: Cube
    rollup: Rollup
    numbers: Numbers
    leaves: Leaves
    respondents: CellContributors
    holdings: CellContributors | None
    notes: tuple[str, ...]

    def to_shadow(self, name: str) -> Shadow:
        """Return the contributions to this value as those by which rules judge the cells of another."""
        holdings = self.holdings.contributions if self.holdings else None
        return Shadow(name, self.numbers.decimals, self.respondents.contributions, holdings)


def _tabulate_value(
    records: Records, plan: _Plan, value: str | None, decimals: int | None, run: Run
) -> _Tabulated:
    """Return the cells of one column of values in the microdata; None counts."""
    dimensions, respondent = plan.dimensions, plan.respondent
    _report(run, "reading values")
    numbers = read_numbers(records, value, plan.weight, decimals)
    _report(run, "tabulating leaf cells")
    counted = respondent if value is None else None
    if isinstance(records, DatabaseRecords):
        alone = 0 if respondent else plan.largest
        records, numbers = records.group(numbers, list(dimensions), plan.people, alone, once=bool(counted))
    if respondent:
        cube = read_cube(records, dimensions, plan.detail)
        owners = group_owners(records, cube, numbers, respondent, plan.largest, counted)
        leaves = owners.leaves
        rollup = roll_up(cube.dimensions, cube.codes(leaves.keys))
        _report(run, f"merging records by {respondent}")
        of_respondents = roll_up_owners(records, cube, rollup, owners, plan.flags)
    else:
        cube, leaves, listed = read_leaves(records, dimensions, plan.detail, numbers, plan.largest)
        rollup = roll_up(cube.dimensions, cube.codes(leaves.keys))
        of_respondents = _count_records(cube, rollup, leaves, listed)
    of_holdings = None
    notes: tuple[str, ...] = ()
    if plan.holding:
        _report(run, f"merging records by {plan.holding}")
        owners = group_owners(
            records, cube, numbers, plan.holding, plan.largest, counted, respondent=respondent
        )
        notes = owners.numbering.notes
        of_holdings = roll_up_owners(records, cube, rollup, owners, plan.flags)
    if plan.unnamed and value is not None:
        unnamed = replace(of_respondents.contributions, unnamed_records=cube.records)
        of_respondents = replace(of_respondents, contributions=unnamed)
    return _Tabulated(cube, rollup, numbers, leaves, of_respondents, of_holdings, notes)


@contextmanager
def _open_source(
    source: Any,
    codes: Sequence[str],
    people: Sequence[str],
    figures: Sequence[str],
    where: str | None,
    decimal: str | None,
    numbered: bool,
) -> Iterator[Records]:
    """Yield the microdata of a source, wherever they are, ``numbered`` if they have no respondents."""
    if numbered and (is_address(source) or is_ibis_table(source)):
        raise InputError(
            "flags of records in a database need respondents",
            remedy="Name the column that says who made a record.",
            options=["respondent"],
        )
    if is_address(source):
        with open_table(source) as (table, address), open_duckdb() as connection:
            yield open_database_records(connection, table, [*codes, *people], figures, where, address)
    elif is_ibis_table(source):
        with open_duckdb() as connection:
            yield open_database_records(connection, source, [*codes, *people], figures, where)
    else:
        with open_records(source, codes, people, figures, where, decimal, numbered) as records:
            yield records


def _refuse_several_values(value: object) -> None:
    """Refuse a list of columns of values, as frames take them: a table is of one variable."""
    if value is not None and not isinstance(value, str):
        listed = value if isinstance(value, list | tuple) else [value]
        raise InputError(
            f"a table holds the values of one column, not of {list_names([str(name) for name in listed])}",
            place="value",
            remedy="Make a table of each column; suppress_alike hides the same cells in all of them.",
            options=["value"],
        )


def _list_dimensions(by: Mapping[str, Trees] | Iterable[str]) -> dict[str, Trees]:
    if isinstance(by, str):
        raise InputError(
            f"columns of codes are given as a list, or as a dictionary with their hierarchies, not as '{by}'"
        )
    listed = dict(by) if isinstance(by, Mapping) else dict.fromkeys(by)
    if not listed:
        raise InputError("by which columns?", remedy="Name at least one column of codes", options=["by"])
    return listed


def _warn_of_contradictions(found: CellContributors) -> tuple[str, ...]:
    """Return a warning that names respondents in the microdata who asked for protection and consented."""
    if not (names := found.contradictory):
        return ()
    return (f"asked for protection, and consented to be recognised: {list_names(names)}; the request counts",)


def _report(run: Run, phase: str) -> None:
    if run.over:
        fault = f"stopped before {phase}: the time limit is over or the run was cancelled"
        raise StoppedError(fault, remedy="Give it more time.")
    run.report(phase)


def _count_records(cube: Cube, rollup: Rollup, leaves: Leaves, listed: ListedRecords) -> CellContributors:
    """Return the contributors of each cell where each record of the microdata is its own respondent."""
    lists = leaves.largest.rolled_up(rollup, repeated=False).with_copies()
    shares = LeafShares(cube.dimensions, rollup.keys, np.arange(listed.keys.size), listed.keys, listed.own)
    return CellContributors(
        count=rollup.add(leaves.count),
        weight=rollup.add(leaves.weight),
        contributions=Contributions(
            values=np.maximum(lists.sizes, 0),
            who=lists.who,
            sums=rollup.add(leaves.absolute),
            names=RecordNames(cube.dimensions, listed.keys),
            query=shares,
            beyond=Beyond.SMALLER,
        ),
    )


@dataclass(frozen=True, eq=False)
class RecordNames(LazyNames):
    """Names for records that have none: their leaf cell, and their rank in it."""

    dimensions: tuple[Dimension, ...]
    keys: Cells

    def __len__(self) -> int:
        return int(self.keys.size)

    def make(self, who: int) -> str:
        key = int(self.keys[who])
        rank = who - next(i for i in range(who, -1, -1) if i == 0 or self.keys[i - 1] != key)
        places = (key // find_stride(self.dimensions, d) for d in range(len(self.dimensions)))
        codes = ", ".join(
            f"{dimension.name}={dimension.codes[place % len(dimension.codes)]}"
            for dimension, place in zip(self.dimensions, places, strict=True)
        )
        return f"record {rank + 1} of ({codes})"
