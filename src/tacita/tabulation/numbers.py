"""The value and the weight of a record as exact integers, in SQL.

With ``d`` decimals a record of value ``x`` and weight ``w`` carries

    own       = round(x * 10**d)         what its respondent contributes,
    weighted  = round(w * x * 10**d)     what it adds to its cells,

each rounded once, half to even, before anything is summed. So all sums are exact and do not depend on their
order.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tacita.core.errors import InputError
from tacita.core.exact import LARGEST, MOST_DECIMALS
from tacita.core.words import pluralize
from tacita.tabulation.quoting import quote_name
from tacita.tabulation.records import Records

GUESSED_DECIMALS = 6
SAMPLE = 10_000
INTEGER_TYPES = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "BOOLEAN")
# Weights are counted in millionths, so that sums of weights do not depend on their order either.
WEIGHT_DECIMALS = 6


@dataclass(frozen=True)
class Numbers:
    """SQL expressions of the integers of a record, or of a group of records.

    Attributes
    ----------
    negative
        Whether some value is.
    own, weighted, weight
        As above, and the weight in millionths, or None; of a group two sums, and the largest weight.
    absolute, weights
        Sums over a group, of ``weighted`` without signs and of weights; of a record the same as without sum.
    sound
        What holds for every record that was surveyed, so that these integers are exact.
    """

    decimals: int
    negative: bool
    own: str
    weighted: str
    weight: str | None
    absolute: str
    weights: str | None
    sound: str


def read_numbers(records: Records, value: str | None, weight: str | None, decimals: int | None) -> Numbers:
    """Return SQL for the exact integers of each record's value and weight, and the decimals chosen.

    Without ``decimals`` the fewest are taken that write every value exactly, and with weights as many again
    as the weights need, up to six in all.

    Raises
    ------
    InputError
        Values or weights are missing, not numbers, infinite, too large, or need more than six decimals.
    """
    if decimals is not None and not 0 <= decimals <= MOST_DECIMALS:
        fault, remedy = f"decimals cannot be {decimals}", f"choose between 0 and {MOST_DECIMALS}"
        raise InputError(fault, remedy=remedy, options=["decimals"])
    x = _number_sql(records, value) if value is not None else "1"
    w = _number_sql(records, weight) if weight is not None else None
    integer = value is None or records.types[value] in INTEGER_TYPES
    found, size, negative = 0, 0.0, False
    sound = ["true"]
    if value is not None:
        values = _survey(records, value, x, "value", integer, guess=decimals is None)
        found, size, negative = values.decimals, values.size, values.least < 0
        sound += values.sound
    if w is not None and weight is not None:
        weights = _survey(records, weight, w, "weight", integer=False, guess=decimals is None)
        found += weights.decimals
        sound += weights.sound
        grossed = records.fetch_row(f"SELECT sum(abs(CAST({x} AS DOUBLE) * {w})) FROM records")[0]
        size = max(size, float(grossed or 0.0))
    if decimals is None:
        if found > GUESSED_DECIMALS:
            raise InputError(
                f"the weighted values need {pluralize(found, 'decimal')} to be exact",
                place=records.place,
                remedy="Say how many decimals count, each record is then rounded to them.",
                options=["decimals"],
            )
        decimals = found
    if size * 10.0**decimals > LARGEST:
        fitting = next((d for d in range(decimals, -1, -1) if size * 10.0**d <= LARGEST), None)
        remedy = pluralize(fitting, "decimal") if fitting is not None else "a larger unit, such as thousands"
        raise InputError(
            f"the values add up to about {size:.3g}; with {pluralize(decimals, 'decimal')} that is too large "
            "to be counted exactly",
            place=records.place,
            remedy=f"Use {remedy}.",
        )
    factor = 10**decimals
    own = f"CAST({x} AS BIGINT) * {factor}" if integer else _rounded_sql(f"{x} * {factor}")
    weighted = own if w is None else _rounded_sql(f"CAST({x} AS DOUBLE) * {w} * {factor}")
    millionths = None if w is None else _rounded_sql(f"{w} * {10**WEIGHT_DECIMALS}")
    absolute = f"abs({weighted})"
    return Numbers(decimals, negative, own, weighted, millionths, absolute, millionths, " AND ".join(sound))


def copies_sql(weight: str | None, most: int) -> str:
    """Return SQL for how many contributors a record of this weight stands for, at most ``most``."""
    if weight is None:
        return "1"
    return f"CAST(least(greatest(round_even(CAST({weight} AS DOUBLE) / 1e6, 0), 1), {most}) AS BIGINT)"


def _rounded_sql(expression: str) -> str:
    return f"CAST(round_even({expression}, 0) AS BIGINT)"


def _number_sql(records: Records, column: str) -> str:
    """Return SQL for a column of records as a number; integers as they are, all others as doubles."""
    kind, name = records.types[column], quote_name(column)
    if kind == "BOOLEAN":
        return f"CASE WHEN {name} THEN 1 WHEN NOT {name} THEN 0 END"
    if kind in INTEGER_TYPES:
        return name
    if kind == "FLOAT":
        return single_sql(name)
    if kind == "DOUBLE" or kind.startswith(("DECIMAL", "UBIGINT", "HUGEINT", "UHUGEINT")):
        return f"CAST({name} AS DOUBLE)"
    if kind == "VARCHAR":
        bad = records.fetch(
            f"SELECT number, written FROM (SELECT row_number() OVER () AS number, {name} AS written "
            "FROM records) WHERE written IS NOT NULL AND TRY_CAST(written AS DOUBLE) IS NULL "
            "ORDER BY number LIMIT 1"
        ).to_pylist()
        if bad:
            written = bad[0]["written"]
            comma = "; it looks like a decimal comma" if re.fullmatch(r"-?[\d.]+,\d+", written) else ""
            raise InputError(
                f"'{written}' in column '{column}' is not a number{comma}",
                place=f"{records.place}, record {bad[0]['number']}",
                remedy="Correct it, or leave the record out with a condition on the records.",
                options=["where"],
            )
        return f"CAST({name} AS DOUBLE)"
    fault = f"column '{column}' holds {kind}, not numbers"
    raise InputError(fault, place=records.place, remedy="Choose another column, or make numbers of it first.")


def single_sql(name: str) -> str:
    """Return SQL for singles in microdata as doubles, of the fewest decimals that give the same single.

    So a single 0.1 is 0.1; the double next to it would be 0.10000000149.
    """
    x = f"CAST({name} AS DOUBLE)"
    tried = [f"round_even({x} * 1e{d}, 0) / 1e{d}" for d in range(GUESSED_DECIMALS + 1)]
    cases = " ".join(f"WHEN CAST({short} AS FLOAT) = {name} THEN {short}" for short in tried)
    return f"CASE WHEN NOT isfinite({x}) THEN {x} {cases} ELSE {x} END"


@dataclass(frozen=True)
class _Survey:
    """Decimals that a column needs (or 0), the sum of its absolute values, its least value.

    ``sound`` are conditions in SQL that all its records fulfil.
    """

    decimals: int
    size: float
    least: float
    sound: tuple[str, ...]


def _survey(records: Records, column: str, x: str, what: str, integer: bool, guess: bool) -> _Survey:
    """Return decimals, size and least value of a column of records; refuse missing and infinite numbers."""
    finite = "true" if integer else f"isfinite({x})"
    # The decimals of the first records are a guess; one comparison per record shows whether it holds for all.
    guess = guess and not integer
    decimals = _count_decimals(records, x, f"(SELECT * FROM records LIMIT {SAMPLE})") if guess else 0
    longer_sql = f"{finite} AND NOT {_is_exact_sql(x, decimals)}" if guess else "false"
    total, present, infinite, least, size, longer = records.fetch_row(
        f"SELECT count(*), count({x}), count(*) FILTER (NOT {finite}), min({x}) FILTER ({finite}), "
        f"sum(abs(CAST({x} AS DOUBLE))) FILTER ({finite}), "
        f"count(*) FILTER ({longer_sql}) FROM records"
    )
    if total == 0:
        return _Survey(0, 0.0, 0.0, ())
    if missing := total - present:
        raise InputError(
            f"no {what} in {missing:,} of {pluralize(total, 'record')} (column '{column}')"
            f"{records.describe_first(f'{x} IS NULL')}",
            place=records.place,
            remedy="Fill them, or leave them out with the condition "
            f"{quote_name(column)} IS NOT NULL as option 'where'.",
            options=["where"],
        )
    if infinite:
        raise InputError(
            f"the {what} is NaN or infinite in {infinite:,} of {pluralize(total, 'record')} (column "
            f"'{column}'){records.describe_first(f'NOT {finite}')}",
            place=records.place,
            remedy="Fill them, or leave them out with the condition "
            f"isfinite({quote_name(column)}) as option 'where'.",
            options=["where"],
        )
    if what == "weight" and least < 0:
        raise InputError(
            f"column '{column}' holds negative weights{records.describe_first(f'{x} < 0')}",
            place=records.place,
            remedy="Correct them.",
        )
    if longer:
        decimals = _count_decimals(records, x, "records")
    if decimals > GUESSED_DECIMALS:
        example = records.fetch_row(
            f"SELECT {x} FROM records WHERE NOT {_is_exact_sql(x, GUESSED_DECIMALS)} ORDER BY 1 LIMIT 1"
        )[0]
        raise InputError(
            f"values such as {example} in column '{column}' need more than {GUESSED_DECIMALS} decimals",
            place=records.place,
            remedy="Say how many decimals count, each record is then rounded to them.",
            options=["decimals"],
        )
    sound = (
        f"{x} IS NOT NULL",
        *((finite,) if not integer else ()),
        *((_is_exact_sql(x, decimals),) if guess else ()),
        *((f"{x} >= 0",) if least >= 0 else ()),
    )
    return _Survey(decimals, float(size), float(least), sound)


def _count_decimals(records: Records, x: str, source: str) -> int:
    """Return the fewest decimals that write all values of records exactly, or ``GUESSED_DECIMALS + 1``."""
    cases = " ".join(f"WHEN {_is_exact_sql(x, d)} THEN {d}" for d in range(GUESSED_DECIMALS + 1))
    found = records.fetch_row(
        f"SELECT max(CASE {cases} ELSE {GUESSED_DECIMALS + 1} END) FILTER (isfinite({x})) FROM {source} AS "
        "records"
    )[0]
    return int(found or 0)


def _is_exact_sql(x: str, decimals: int) -> str:
    """Return SQL for whether a double is nearest to a number of so many decimals, as ``core.exact`` does."""
    return f"(round_even({x} * 1e{decimals}, 0) / 1e{decimals} = {x})"
