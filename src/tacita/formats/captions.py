"""Find titles above a table and footnotes below it: lines in which only the first field is filled.

The first line with two fields or more holds the names of the columns. What stands above it is a title, unless
that line itself looks like a row of the table: then a name may be missing, and nothing is left out. A line
with anything beside its first field is never left out.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from tacita.core.numerals import is_number, tidy
from tacita.core.tables.dimension import recognise_total
from tacita.formats.published_cells import parse_published

MOST = 50
"""So many lines may be titles, and so many footnotes; more of them are something else."""
LONGEST = 60
"""Characters that a note repeats of a line."""


def count_titles(lines: Iterable[Sequence[str]]) -> int:
    """Return how many lines stand above a file's column names, blank ones included; 0 if none is a title."""
    above, titles = 0, False
    for line in lines:
        filled = [k for k, field in enumerate(line) if field]
        if len(filled) > 1:
            return above if titles and _may_be_names(line) else 0
        if filled and (filled != [0] or is_number(tidy(line[0]))):
            return 0
        above, titles = above + 1, titles or bool(filled)
        if above > MOST:
            return 0
    return 0


def count_footnotes(lines: Iterable[Sequence[str]], columns: int, codes: Container[str] = ()) -> int:
    """Return how many footnotes stand below the last row of a table's file, counting blank lines among them.

    ``lines`` come from the last one up. What has one column has none. A code alone may be that of a row
    without numbers: one of ``codes`` or a total never is a footnote, nor is any line of two columns unless a
    blank one stands between it and the table.
    """
    after_blank = 0
    for below, line in enumerate(lines if columns > 1 else ()):
        filled = [k for k, field in enumerate(line) if field]
        if filled and (filled != [0] or _begins_row(line[0], codes)):
            return below if columns > 2 else after_blank
        if not filled:
            after_blank = below + 1
        if below == MOST:
            return 0
    return 0


def _begins_row(text: str, codes: Container[str]) -> bool:
    return text in codes or is_number(tidy(text)) or recognise_total([text]) is not None


def tell_footnotes(notes: Iterable[str]) -> bool:
    """Return whether a note on a table's file says that footnotes were left out."""
    return any("taken for a footnote: " in note or "taken for footnotes: " in note for note in notes)


def note_lines(what: str, line: str, found: Sequence[tuple[int, str]]) -> tuple[str, ...]:
    """Return a note on the titles or footnotes that were left out of a table's file, by line; or none.

    >>> note_lines("title", "row", [(1, "Table 1. Patients")])
    ("row 1 was taken for a title: 'Table 1. Patients'",)
    """
    if not found:
        return ()
    texts = ", ".join(f"'{text if len(text) <= LONGEST else f'{text[:LONGEST]} …'}'" for _, text in found)
    if len(found) == 1:
        return (f"{line} {found[0][0]} was taken for a {what}: {texts}",)
    numbers = ", ".join(str(number) for number, _ in found)
    return (f"{line}s {numbers} were taken for {what}s: {texts}",)


def join_titles(found: Sequence[tuple[int, str]]) -> str:
    """Return the titles that stand above a table in its file, by line, as one."""
    return " ".join(text for _, text in found)


def find_repeated(names: Sequence[str]) -> str | None:
    """Return the first column name of a file that occurs a second time, or None if all differ."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def are_years_or_numbers(names: Sequence[str]) -> bool:
    """Return whether the column names of a file are years, or numbers that count up from 0 or 1."""
    if not all(map(str.isdecimal, names)):
        return False
    numbers = list(map(int, names))
    runs = len(numbers) > 1 and numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    return all(1900 <= number <= 2100 for number in numbers) or (runs and numbers[0] in (0, 1))


def _may_be_names(line: Sequence[str]) -> bool:
    """Return whether a line of a file holds column names, not a row of the table. Names are no numbers,
    unless these count up or the corner is blank; of two fields the second is nothing that is published.
    """
    beside = [tidy(field) for field in line[1:] if field]
    if len(beside) == 1:
        return bool(parse_published(beside).unreadable[0])
    numbers = [field for field in beside if is_number(field)]
    return not numbers or not line[0] or (len(numbers) > 1 and are_years_or_numbers(numbers))
