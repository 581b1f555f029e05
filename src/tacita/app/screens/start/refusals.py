"""What helps where the user's input is refused: another reading, its records, or the way to a field."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial

from tacita.app.controls.inlets import MOST_SHOWN
from tacita.app.controls.remedies import Remedy, find_field_remedies, lead_to, lead_to_line
from tacita.app.work.inputs import UserInput
from tacita.app.work.other_readings import list_other_readings
from tacita.core.errors import RecordsError, RepeatedCellError, SeveralValuesError, TacitaError
from tacita.core.tables.read_options import ReadOptions
from tacita.formats.pasted import NAME, blank_corner, number_columns

PASTE = "paste-text"
QUOTED = re.compile(r"'([^']+)'")
"""What an error repeats of the text that was read."""
PASTED_LINE = re.compile(rf"{NAME}, line (\d+)")
READING_FIELDS = {
    "value": "Column of values",
    "count": "Column of respondents",
    "by": "Columns of codes",
    "total": "Code of totals",
}
RECORDS_FIELDS = {
    "by": "Columns that make the table",
    "value": "Values",
    "respondent": "Respondent",
    "where": "Condition on records",
    "largest": "Contributions kept",
    "decimals": "Decimals that count",
    "decimal": "Decimal sign",
}
"""Options of reading that have a field of their own, in *How to read it* and in the form for records."""

OTHER_TEXTS = {
    "names=missing": ("They are numbers: number the columns", number_columns),
    "names=first": ("They are names", blank_corner),
}
"""By the option that an error names: what a button says, and what it makes of pasted text."""

OpenInput = Callable[[UserInput], Awaitable[object]]
OpenText = Callable[[str, ReadOptions], Awaitable[object]]


def find_line_remedies(user_input: UserInput, error: TacitaError) -> list[Remedy]:
    """Return the way to the wrong line of pasted text on the page Start; none for other input."""
    if not user_input.text or len(user_input.text) > MOST_SHOWN:
        return []
    named = PASTED_LINE.match(error.place)
    words = f"Go to line {named[1]}" if named else "Go to the pasted text"
    line = int(named[1]) if named else 1
    return [Remedy(words, partial(lead_to_line, PASTE, user_input.text, line, QUOTED.findall(error.fault)))]


def find_text_remedies(user_input: UserInput, error: TacitaError, open_text: OpenText) -> list[Remedy]:
    """Return remedies that change pasted text and open it again, as the user says what its first line is."""
    reading = user_input.reading
    texts = [OTHER_TEXTS[option] for option in error.options if option in OTHER_TEXTS]
    return [
        Remedy(words, partial(open_text, change(user_input.text, reading.decimal), reading))
        for words, change in texts
    ]


def find_reading_remedies(
    user_input: UserInput, error: TacitaError, open_input: OpenInput, look_at: OpenInput
) -> list[Remedy]:
    """Return the other readings of refused input as remedies on the page Start: as tables that ``open_input``
    opens, or as records for ``look_at``.
    """
    if not user_input.takes_options:
        return []
    found = [
        Remedy(words, partial(open_input, replace(user_input, reading=reading)))
        for words, reading in list_other_readings(error, user_input.reading).items()
    ]
    if isinstance(error, SeveralValuesError):
        found.append(Remedy("Tabulate its records", partial(look_at, user_input)))
    return found


def find_table_remedies(user_input: UserInput, error: TacitaError, open_input: OpenInput) -> list[Remedy]:
    """Return remedies that open the user's input as a table, although it looks like records."""
    if not user_input.takes_options:
        return []
    return [
        Remedy(
            f"It is a table: {words.replace('The ', 'the ', 1)}",
            partial(open_input, replace(user_input, reading=reading)),
        )
        for words, reading in list_other_readings(error, user_input.reading).items()
    ]


def find_reading_fields(user_input: UserInput, error: TacitaError) -> list[Remedy]:
    """Return the ways to fields of the page Start that say how refused input is to be read."""
    found = find_field_remedies(error, READING_FIELDS, "reading") if user_input.takes_options else []
    if "hierarchy" in error.options:
        found.append(Remedy("Choose it with its classifications", partial(lead_to, "open-files")))
    return found


def describe_records(error: RecordsError | SeveralValuesError) -> str:
    """Return a note for the page on rows that look like records, whose form it shows."""
    why = f"every row has a '{error.identity}' of its own" if error.identity else error.fault
    table = " If it is a table, keep one row per cell." if isinstance(error, RepeatedCellError) else ""
    return f"These look like records: {why}. Choose the columns that make the table below.{table}"
