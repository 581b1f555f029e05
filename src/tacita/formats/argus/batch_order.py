"""Refuse batches whose commands stand in an order that makes no sense.

    nothing  -> OPENMICRODATA | OPENTABLEDATA -> data -> OPENMETADATA -> described
    described -> SPECIFYTABLE -> specified -> SAFETYRULE -> ruled
    ruled -> SPECIFYTABLE again | OPENTABLEDATA again | READMICRODATA | READTABLE -> read
    read -> RECODE, APRIORI, SUPPRESS, WRITETABLE; OPENTABLEDATA again

A rule belongs to the table before it. CLEAR begins anew; all other commands may stand anywhere. Tables are
numbered from 1; 0 means all of them together.
"""

from __future__ import annotations

from collections.abc import Sequence

from tacita.core.errors import FormatError
from tacita.core.words import pluralize
from tacita.formats.argus.batch import (
    Apriori,
    Clear,
    Command,
    OpenMetadata,
    OpenMicrodata,
    OpenTableData,
    Protector,
    ReadMicrodata,
    ReadTable,
    Recode,
    SafetyRule,
    SpecifyTable,
    Suppress,
    WriteTable,
)

OPEN = (OpenMicrodata, OpenTableData)
WORK = (Recode, Apriori, Suppress, WriteTable)
ORDERED = (*OPEN, OpenMetadata, SpecifyTable, SafetyRule, ReadMicrodata, ReadTable, *WORK)
NEXT: dict[str, tuple[tuple[type[Command], ...], str]] = {
    "nothing": (OPEN, "data"),
    "data": ((OpenMetadata,), "described"),
    "described": ((SpecifyTable,), "specified"),
    "specified": ((SafetyRule,), "ruled"),
}
"""By state the commands that may follow, and the state after them, where there is one way to go on."""


def refuse_wrong_order(commands: Sequence[Command]) -> None:
    """Refuse the commands of a batch that stand where another is expected, or name a table that is none."""
    state, tables, records = "nothing", 0, False
    for command in commands:
        if isinstance(command, Clear):
            state, tables, records = "nothing", 0, False
            continue
        if not isinstance(command, ORDERED):
            continue
        expected, after = _list_expected(state, records)
        if not isinstance(command, expected):
            names = " or ".join(dict.fromkeys(kind.keyword for kind in expected))
            raise FormatError(
                f"{command.keyword} stands where {names} is expected",
                place=command.place,
                remedy="Put the commands in that order, or begin anew with <CLEAR>.",
            )
        if isinstance(command, OPEN):
            records = isinstance(command, OpenMicrodata)
            state = "data"
        elif isinstance(command, WORK):
            _refuse_unknown_table(command, tables)
        elif isinstance(command, ReadMicrodata | ReadTable):
            state = "read"
        elif isinstance(command, SpecifyTable):
            tables += 1
            state = "specified"
        else:
            state = after


def _list_expected(state: str, records: bool) -> tuple[tuple[type[Command], ...], str]:
    """Return the commands of a batch that may follow in a state, and the state after them."""
    if state in NEXT:
        return NEXT[state]
    more = () if records else (OpenTableData,)
    if state == "ruled":
        return (SpecifyTable, ReadMicrodata if records else ReadTable, *more), state
    return (*WORK, *more), state


def _refuse_unknown_table(command: Command, tables: int) -> None:
    if isinstance(command, Suppress):
        number, together = command.method.table, command.method.linked
        what = f"{command.method.word}({number})"
    else:
        number, together = command.table, False  # type: ignore[attr-defined]
        what = f"table {number}"
    if number == 0 and not together and isinstance(command, Suppress):
        raise FormatError(
            f"{what}: only {_list_linked()} protect all tables together",
            place=command.place,
            remedy="Use one of them, or give the number of one table.",
        )
    if number > tables or (number == 0 and not together):
        raise FormatError(
            f"{what}: there {'is' if tables == 1 else 'are'} {pluralize(tables, 'table')} so far",
            place=command.place,
            remedy=f"Give a number from 1 to {tables}.",
        )


def _list_linked() -> str:
    return " and ".join(kind.word for kind in Protector.__subclasses__() if kind.linked)
