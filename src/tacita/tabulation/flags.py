"""Columns of the records that say who asked for protection, and who has consented to be recognised.

Of a contributor with several records one that asks is enough, and all of them must consent: so nobody is
protected less than one of their records says. Who does both has asked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tacita.core.errors import InputError
from tacita.core.exact import Cells, Mask
from tacita.core.tables.contributions import Contributions
from tacita.core.words import list_names, pluralize
from tacita.tabulation.leaves import to_integers
from tacita.tabulation.quoting import quote_name
from tacita.tabulation.records import Records

if TYPE_CHECKING:
    from tacita.tabulation.owners import Numbering

FlagLike = str | Mapping[str, Sequence[object]] | None
"""A column of flags, or a column with the values that mean yes; None: there is none."""
YES = ("1", "yes", "y", "true", "t", "x")
NO = ("", "0", "no", "n", "false", "f", "-", "nan")
MOST_CODES = 62


@dataclass(frozen=True)
class Flag:
    """A column of flags; without ``yes`` the usual words mean yes, and others than their opposites no."""

    option: str
    column: str
    yes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Flags:
    """The columns of the records with requests and consents."""

    request: Flag | None = None
    consent: Flag | None = None

    @property
    def columns(self) -> list[str]:
        """The names of the columns of flags in the microdata."""
        return [flag.column for flag in (self.request, self.consent) if flag is not None]


@dataclass(frozen=True, eq=False)
class Decisions:
    """Contributors ``ids`` (ascending) who asked, with bit ``k - 1`` for the ``k``-th code, or consented.

    ``both`` are those who did both, and have asked.
    """

    ids: Cells
    asked: Cells
    consented: Mask
    both: Cells

    def at(self, ids: Cells) -> tuple[Cells, Mask]:
        """Return the requests and the consents of some contributors in the microdata, none for others."""
        found = np.searchsorted(self.ids, ids)
        known = np.zeros(ids.size, dtype=bool)
        inside = found < self.ids.size
        known[inside] = self.ids[found[inside]] == ids[inside]
        asked = np.zeros(ids.size, dtype=np.int64)
        asked[known] = self.asked[found[known]]
        consented = np.zeros(ids.size, dtype=bool)
        consented[known] = self.consented[found[known]]
        return asked, consented


def read_flags(request: FlagLike, consent: FlagLike) -> Flags:
    """Return the columns of flags in the microdata as they are given to :func:`tacita.tabulate`."""
    return Flags(_parse_flag("request", request), _parse_flag("consent", consent))


def _parse_flag(option: str, given: FlagLike) -> Flag | None:
    if given is None:
        return None
    if isinstance(given, str):
        return Flag(option, given)
    remedy = f'Write {option}="column", or {option}={{"column": ["1", "2"]}} with the values that mean yes.'
    if len(given) != 1:
        raise InputError("a flag is one column of the records", remedy=remedy, options=[option])
    ((column, values),) = given.items()
    if isinstance(values, str) or not 1 <= len(values) <= MOST_CODES:
        raise InputError(f"which values of column '{column}' mean yes?", remedy=remedy, options=[option])
    return Flag(option, str(column), tuple(_plain(str(value)) for value in values))


def find_decisions(records: Records, numbering: Numbering, flags: Flags) -> Decisions | None:
    """Return what contributors decided by the flags of their records; None if there are no such columns."""
    if not flags.columns:
        return None
    import pyarrow as pa

    joins, asked, consented = numbering.join, "0", "0"
    for flag in (flags.request, flags.consent):
        if flag is None:
            continue
        values, codes = _decode(records, flag)
        view = f"flag_{flag.option}"
        records.connection.register(view, pa.table({"_value": values, "_code": codes}))
        joins += (
            f" JOIN {view} ON {view}._value IS NOT DISTINCT FROM CAST(records.{quote_name(flag.column)} "
            "AS VARCHAR)"
        )
        if flag.option == "request":
            asked = f"bit_or({view}._code)"
        else:
            consented = f"min({view}._code)"
    answer = records.fetch(
        f"SELECT id, asked, consented FROM (SELECT {numbering.id} AS id, CAST({asked} AS BIGINT) AS asked, "
        f"CAST({consented} AS BIGINT) AS consented FROM records{joins} GROUP BY ALL) "
        "WHERE asked > 0 OR consented > 0 ORDER BY id"
    )
    ids, asking, consents = (to_integers(answer, name) for name in ("id", "asked", "consented"))
    return Decisions(ids, asking, (consents > 0) & (asking == 0), ids[(consents > 0) & (asking > 0)])


def _decode(records: Records, flag: Flag) -> tuple[list[str | None], list[int]]:
    """Return the values of a column of flags in the microdata, and the code of each: bits, 0 for no."""
    name = quote_name(flag.column)
    values = records.fetch(f"SELECT DISTINCT CAST({name} AS VARCHAR) AS value FROM records")
    written: list[str | None] = values.column("value").to_pylist()
    plain = [_plain(value or "") for value in written]
    if not flag.yes:
        if strange := sorted({text for text in plain if text not in YES and text not in NO}):
            raise InputError(
                f"column '{flag.column}' holds {list_names(strange, 3)}, which may mean yes or no",
                place=records.place,
                remedy="Say which values of the column mean yes.",
                options=[f"{flag.option}={flag.column}={strange[0]}"],
            )
        return written, [int(text in YES) for text in plain]
    return written, [1 << flag.yes.index(text) if text in flag.yes else 0 for text in plain]


def _plain(value: str) -> str:
    """Return the text of a flag in microdata without blanks around it, in small letters; of 1.0 it is 1."""
    return re.sub(r"^(-?\d+)\.0+$", r"\1", value.strip().casefold())


def describe_decisions(flags: Flags, by: str, contributions: Contributions) -> tuple[str, ...]:
    """Return how many contributors in the microdata asked for protection or consented, as notes."""
    notes = []
    if flags.request is not None and contributions.asked is not None:
        codes = [
            f"{pluralize(int((contributions.asked >> k & 1).sum()), by)} by '{value}'"
            for k, value in enumerate(flags.request.yes)
        ]
        found = ", ".join(codes) or pluralize(int((contributions.asked > 0).sum()), by)
        notes.append(f"asked for protection (column '{flags.request.column}'): {found}")
    if flags.consent is not None and contributions.consented is not None:
        found = pluralize(int(contributions.consented.sum()), by)
        notes.append(f"consented to be recognised (column '{flags.consent.column}'): {found}")
    return tuple(notes)
