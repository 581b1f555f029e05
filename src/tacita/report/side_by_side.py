"""Releases of one table side by side in the terminal: one row each, the measures across."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Group
from rich.table import Table as RichTable
from rich.text import Text

from tacita.report.compared import MEASURED, MEASURES, Measure, Measures, best
from tacita.report.terminal import TONES
from tacita.report.verdicts import SAFE, tone_of

if TYPE_CHECKING:
    from tacita.auditing.audit import Audit
    from tacita.core.outcome import Outcome, Status

WIDEST_NAME = 32
FRAME = 3
"""What a column takes besides its text: a space on either side and a line."""
READING = (
    "★ the least of its column among the safe ones. Loss and bound are in each method's own measure: "
    "compare them between releases of one method only."
)


@dataclass(frozen=True, eq=False)
class Row:
    """A release with its numbers and the verdict on it; ``error`` says why there is none."""

    name: str
    numbers: Measures
    audit: Audit | None = None
    status: Status | None = None
    error: str | None = None

    @property
    def outcome(self) -> Outcome | None:
        return self.audit.release.outcome if self.audit is not None else None


def side_by_side(rows: Sequence[Row], width: int) -> Group:
    """The table of all rows; where it is wider than ``width`` it goes on below, under the same names. Then
    how to read it, and why some have no release.
    """
    # Where nothing was sensitive, nothing was found wrong either: no reason to call one the best.
    safe = {k: row.numbers for k, row in enumerate(rows) if row.audit and tone_of(row.audit) is SAFE}
    columns = {"verdict": [_verdict(row) for row in rows]}
    asked = any(MEASURED.key in row.numbers for row in rows)
    for measure in (*MEASURES, *([MEASURED] if asked else ())):
        winners = best(measure, safe)
        columns[measure.head] = [Text(_entry(measure, row, k in winners)) for k, row in enumerate(rows)]
    reasons = (Text(f"{row.name}: {row.error}") for row in rows if row.error is not None)
    return Group(*_tables([row.name for row in rows], columns, width), Text(READING), *reasons)


def _verdict(row: Row) -> Text:
    if row.audit is None:
        return Text("! no release", "bold yellow")
    tone = tone_of(row.audit)
    return Text(f"{tone.sign} {tone.word}", TONES[tone.kind])


def _entry(measure: Measure, row: Row, wins: bool) -> str:
    if measure.key == "gap" and row.error is not None and row.status is not None:
        return row.status.value
    text = measure.text(row.numbers[measure.key], row.outcome)
    return f"★ {text}" if wins else text


def _tables(names: Sequence[str], columns: dict[str, list[Text]], width: int) -> Iterator[RichTable]:
    """As many columns beside the names as fit, and the others below them in the same way."""
    room = width - 1 - FRAME - min(WIDEST_NAME, max(map(len, ("release", *names))))
    table, left = _named(), room
    for head, texts in columns.items():
        needed = FRAME + max(len(head), *map(len, texts))
        if needed > left and len(table.columns) > 1:
            yield _filled(table, names, columns)
            table, left = _named(), room
        table.add_column(head, justify="left" if head == "verdict" else "right", no_wrap=True)
        left -= needed
    yield _filled(table, names, columns)


def _named() -> RichTable:
    table = RichTable(header_style="bold")
    table.add_column("release", overflow="fold", max_width=WIDEST_NAME)
    return table


def _filled(table: RichTable, names: Sequence[str], columns: dict[str, list[Text]]) -> RichTable:
    heads = [str(column.header) for column in table.columns[1:]]
    for k, name in enumerate(names):
        table.add_row(Text(name), *(columns[head][k] for head in heads))
    return table
