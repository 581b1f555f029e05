"""Lists of names in a line of text, and whether a table knows any."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from io import StringIO

from tacita.app.work.open_case import Case
from tacita.app.work.records import CONTRIBUTORS


def join_names(names: Iterable[str]) -> str:
    """Return names as a field of the page Rules shows them: with commas between, in quotes where needed."""
    line = StringIO()
    csv.writer(line, lineterminator="").writerow(names)
    return line.getvalue().replace(",", ", ") if '"' not in line.getvalue() else line.getvalue()


def split_names(text: str) -> tuple[str, ...]:
    """Return the names of contributors that are typed in a line of a field of the page Rules."""
    rows = csv.reader([text.replace("\n", " ")], skipinitialspace=True)
    return tuple(name.strip() for row in rows for name in row if name.strip())


def explain_unknown(case: Case, by: str) -> str:
    """Return words for the page Rules on why a table names no respondents or holdings; empty if it does."""
    contributions = case.table.contributions if by == "respondent" else case.table.holdings
    if contributions is not None and (contributions.who >= 0).any():
        return ""
    if case.from_records:
        return (
            f"the records were tabulated without a column of {by}s; if they have one, choose it under "
            f"{CONTRIBUTORS[by]} on the page Start and tabulate again"
        )
    return f"the table does not say which {by}s stand behind its cells; tabulate microdata to know them"
