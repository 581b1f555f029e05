"""Results as tables in the terminal. Colours only repeat signs and words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Group
from rich.table import Table as RichTable
from rich.text import Text

from tacita.auditing.explained_cell import write_explanation
from tacita.core import exact
from tacita.core.words import format_number, pluralize
from tacita.report.measures import MEASURED, MEASURES, Measure, Measures, find_best
from tacita.report.picture import KINDS, MEANINGS, SIGNS, build_crosstab, classify_cells, format_shown
from tacita.report.verdicts import NOT_SAFE, SAFE, explain_verdicts, find_tone

if TYPE_CHECKING:
    from tacita.auditing.audit import Audit, Finding
    from tacita.auditing.deduce import Deduction
    from tacita.auditing.explanation import Explanation
    from tacita.core.exact import Mask
    from tacita.core.outcome import Outcome, Status
    from tacita.core.release import Release
    from tacita.methods import Option
    from tacita.problem.loss_by_level import LevelLoss
    from tacita.problem.problem import Problem

TONES = {"safe": "bold green", "unsafe": "bold red", "unchecked": "bold yellow"}
STYLES = {
    "published": "",
    "sensitive": "bold blue",
    "other": "red",
    "exposed": "bold white on red",
    "rounded": "",
}
WIDEST_NAME = 32
FRAME = 3
"""What a column takes besides its text: a space on either side and a line."""
READING = (
    "★ the least of its column among the safe ones. Loss and bound are in each method's own measure: "
    "compare them between releases of one method only."
)


def build_verdict_line(audit: Audit) -> Text:
    """Return the verdict of an audit as one sentence for the terminal, its sign first, in colour."""
    tone = find_tone(audit)
    word = tone.word.upper() if tone is NOT_SAFE else tone.word
    return Text.assemble((f"{tone.sign} {word}", TONES[tone.kind]), f"  {audit.verdict}")


def build_crosstab_table(
    release: Release, sensitive: Mask, width: int, most_rows: int = 40
) -> RichTable | None:
    """Return a release as a crosstab for the terminal, as many columns as fit; None without dimensions."""
    picture = build_crosstab(release.structure, most_rows)
    if picture is None:
        return None
    kind = classify_cells(release, sensitive)
    corner = " \\ ".join(filter(None, (picture.row_name, picture.column_name)))
    heads = ["  " * line.depth + line.code for line in picture.rows]
    left = width - max(map(len, [corner, *heads])) - 4
    table = RichTable(title=picture.about or None, title_justify="left", header_style="bold")
    table.add_column(corner, no_wrap=True)
    columns: list[list[Text]] = []
    for column, cells in zip(picture.columns, picture.cells.T.tolist(), strict=True):
        texts = [_cell_text(release, cell, KINDS[kind[cell]] if cell >= 0 else "published") for cell in cells]
        left -= max(len(column.code), *(len(text) for text in texts)) + 3
        if left < 0 and columns:
            more = pluralize(len(picture.columns) - len(columns), "more column")
            table.caption = (
                f"not shown, as they do not fit here: {more}; widen the window, or open the release"
            )
            break
        table.add_column(Text(column.code), justify="right", no_wrap=True)
        columns.append(texts)
    for head, *row in zip(heads, *columns, strict=True):
        table.add_row(Text(head), *row)
    return table


def _cell_text(release: Release, cell: int, name: str) -> Text:
    parts = (SIGNS[name], format_shown(release, cell)) if cell >= 0 else ()
    return Text(" ".join(filter(None, parts)), style=STYLES[name])


def build_legend(release: Release, sensitive: Mask) -> Text:
    """Return the legend of a terminal crosstab: what its signs mean, and how many cells have each."""
    counts = np.bincount(classify_cells(release, sensitive), minlength=len(KINDS))
    text = Text()
    for name, count in zip(KINDS, counts.tolist(), strict=True):
        if count:
            text.append(f"{SIGNS[name]} {MEANINGS[name]}: {count:,}".strip(), style=STYLES[name])
            text.append("   ")
    return text


def _make_table(title: str | None, words: Iterable[str], numbers: Iterable[str] = ()) -> RichTable:
    """Return an empty terminal table with columns of words, aligned left, and numbers, aligned right."""
    table = RichTable(title=title, title_justify="left", header_style="bold")
    for heading in words:
        table.add_column(heading, overflow="fold")
    for heading in numbers:
        table.add_column(heading, justify="right")
    return table


def build_findings_table(
    problem: Problem, findings: Iterable[Finding], show_values: bool, most: int = 40
) -> Group:
    """Return a terminal table of cells that are not safe: attacker, verdict, (``show_values``) interval.

    Below them is a key to the verdicts.
    """
    numbers = ("value", "from", "to") if show_values else ()
    table = _make_table("not safe", ("cell", "attacker", "verdict"), numbers)
    found = list(findings)
    for finding in found[:most]:
        row = [finding.name, finding.attacker, finding.verdict]
        if show_values:
            row += _deduced_texts(problem, finding)
        table.add_row(*(Text(word) for word in row))
    if len(found) > most:
        table.caption = f"and {len(found) - most:,} more; audit.json lists all (--out)"
    return Group(table, Text(explain_verdicts(found)))


def _deduced_texts(problem: Problem, finding: Finding) -> list[str]:
    units, decimals = int(problem.table.units[finding.cell]), problem.table.decimals
    ends = [_format_end(units, -finding.below, decimals), _format_end(units, finding.above, decimals)]
    return [exact.to_text(units, decimals), *ends]


def _format_end(units: int, change: float, decimals: int) -> str:
    return exact.to_text(units + round(change), decimals) if np.isfinite(change) else "unbounded"


def build_explanation(found: Explanation, show_values: bool) -> Group:
    """Return an explanation of a cell for the terminal: its name, then each part with its sentences."""
    name, *lines = write_explanation(found, show_values)
    return Group(Text(name, style="bold"), *map(Text, lines))


def build_rules_table(problem: Problem) -> RichTable:
    """Return a terminal table of how many cells each rule makes sensitive."""
    table = _make_table("sensitive cells", ["rule"], ["cells"])
    for reason in problem.levels.reasons:
        table.add_row(Text(reason.rule), f"{reason.cells.size:,}")
    table.add_section()
    if problem.exempt.any():
        table.add_row("exempt by hand", f"{int(problem.exempt.sum()):,}")
    table.add_row("all rules together", f"{len(problem.levels):,}", style="bold")
    return table


def build_detail_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> RichTable:
    """Return a terminal table of how many cells stay hidden at each level of detail."""
    table = _make_table("hidden at each level of detail", (), heads)
    for row in rows:
        table.add_row(*map(Text, row))
    table.caption = (
        "levels below the total; hidden by a suppression that was found in the time given; its loss is the "
        "least (yes), or at most that far above it"
    )
    return table


def build_levels_table(problem: Problem, show_values: bool, most: int = 20) -> RichTable:
    """Return a terminal table of sensitive cells and their rules; with ``show_values`` also the levels."""
    levels, table = problem.levels, problem.table
    headings = ("value", "lower level", "upper level", "sliding level") if show_values else ()
    shown = _make_table(None, ("cell", "rules"), headings)
    for cell in problem.sensitive[:most].tolist():
        row = [table.name(cell), "; ".join(levels.why(cell))]
        if show_values:
            numbers = (table.units, levels.lower, levels.upper, levels.sliding)
            row += [exact.to_text(int(column[cell]), table.decimals) for column in numbers]
        shown.add_row(*(Text(word) for word in row))
    if problem.sensitive.size > most:
        more = f"and {problem.sensitive.size - most:,} more"
        shown.caption = f"{more}; --out FILE.csv writes every cell, sensitive ones with status u"
    return shown


def build_intervals_table(deduction: Deduction, most: int = 60) -> RichTable:
    """Return a terminal table of the interval that an outsider deduces for each hidden cell."""
    table = _make_table("what an outsider can deduce", ["cell"], ("from", "to"))
    rows = zip(deduction.cells.tolist(), deduction.low.tolist(), deduction.high.tolist(), strict=True)
    for cell, low, high in islice(rows, most):
        table.add_row(Text(deduction.structure.name(cell)), _format_bound(low), _format_bound(high))
    if len(deduction) > most:
        table.caption = f"and {len(deduction) - most:,} more; --json lists all"
    return table


def _format_bound(number: float) -> str:
    if np.isnan(number):
        return "not computed"
    return format_number(number) if np.isfinite(number) else "unbounded"


def build_figures_table(figures: Mapping[str, Any]) -> RichTable:
    """Return a terminal table of the figures of a protected table (loss, bound, ...), one per line."""
    table = RichTable(show_header=False, box=None)
    table.add_column(style="dim")
    table.add_column()
    names = ("method", "search", "status", "loss", "bound", "gap", "cells", "sensitive", "changed", "seconds")
    for name in names if figures.get("search") else (name for name in names if name != "search"):
        number = figures[name]
        shown = f"{number:.2%}" if name == "gap" and number is not None else number
        table.add_row(name, format_number(shown) if isinstance(shown, int | float) else Text(str(shown)))
    return table


def build_options_table(method: str, options: Sequence[Option], about: Sequence[str] = ()) -> Group:
    """Return a terminal table of a method's options and their defaults, below sentences about it."""
    table = _make_table(f"options of {method}", ("option", "default", "meaning"))
    for option in options:
        table.add_row(*(Text(word) for word in (option.name, str(option.default), option.help)))
    return Group(*map(Text, about), table)


@dataclass(frozen=True, eq=False)
class ComparisonRow:
    """A release with its numbers and the verdict on it; ``error`` is why there is no release."""

    name: str
    numbers: Measures
    audit: Audit | None = None
    status: Status | None = None
    error: str | None = None

    @property
    def outcome(self) -> Outcome | None:
        return self.audit.release.outcome if self.audit is not None else None

    @cached_property
    def levels(self) -> tuple[LevelLoss, ...]:
        """What the release lost at each level of each hierarchy, for comparisons; nothing without one."""
        from tacita.problem.loss_by_level import compare_by_level

        return () if self.audit is None else compare_by_level(self.audit.problem, [self.audit.release])


def build_comparison_table(
    rows: Sequence[ComparisonRow], width: int, measures: Sequence[Measure] = MEASURES
) -> Group:
    """Return a terminal table that compares releases of one table: one row each, the measures across.

    Where the table is wider than ``width`` it goes on below, under the same names. Then follows how to read
    it, and why some have no release.
    """
    # Without sensitive cells nothing was checked, so that no release is called the best.
    safe = {k: row.numbers for k, row in enumerate(rows) if row.audit and find_tone(row.audit) is SAFE}
    columns = {"verdict": [_format_verdict(row) for row in rows]}
    extra = any(MEASURED.key in row.numbers for row in rows)
    for measure in (*measures, *([MEASURED] if extra else ())):
        winners = find_best(measure, safe)
        columns[measure.head] = [Text(format_entry(measure, row, k in winners)) for k, row in enumerate(rows)]
    reasons = (Text(f"{row.name}: {row.error}") for row in rows if row.error is not None)
    return Group(*_split_table([row.name for row in rows], columns, width), Text(READING), *reasons)


def build_level_tables(rows: Sequence[ComparisonRow]) -> Iterator[RichTable]:
    """Yield a terminal table for each compared release: what it lost at each level of each hierarchy."""
    write = {measure.key: measure.write for measure in MEASURES}
    for row in rows:
        if row.audit is None:
            continue
        table = _make_table(row.name, ["level"], ("cells", "cells lost", "changed", "value lost", "error"))
        for own in row.levels:
            shares = (write["value_percent"](own.value_percent), write["relative"](own.relative))
            counts = (f"{count:,}" for count in (own.cells, own.lost, own.changed))
            table.add_row(Text(f"{own.dimension}, level {own.level}"), *counts, *shares)
        yield table


def _format_verdict(row: ComparisonRow) -> Text:
    if row.audit is None:
        return Text("! no release", "bold yellow")
    tone = find_tone(row.audit)
    return Text(f"{tone.sign} {tone.word}", TONES[tone.kind])


def format_entry(measure: Measure, row: ComparisonRow, wins: bool) -> str:
    """Return the text of a measure in a comparison of releases, with a star if it is the best."""
    if measure.key == "gap" and row.error is not None and row.status is not None:
        return row.status.value
    text = measure.format(row.numbers[measure.key], row.outcome)
    return f"★ {text}" if wins else text


def _split_table(names: Sequence[str], columns: dict[str, list[Text]], width: int) -> Iterator[RichTable]:
    """Yield the terminal tables of a comparison, each with as many columns beside the names as fit."""
    room = width - 1 - FRAME - min(WIDEST_NAME, max(map(len, ("release", *names))))
    table, left = _start_table(), room
    for head, texts in columns.items():
        needed = FRAME + max(len(head), *map(len, texts))
        if needed > left and len(table.columns) > 1:
            yield _fill_table(table, names, columns)
            table, left = _start_table(), room
        table.add_column(head, justify="left" if head == "verdict" else "right", no_wrap=True)
        left -= needed
    yield _fill_table(table, names, columns)


def _start_table() -> RichTable:
    table = RichTable(header_style="bold")
    table.add_column("release", overflow="fold", max_width=WIDEST_NAME)
    return table


def _fill_table(table: RichTable, names: Sequence[str], columns: dict[str, list[Text]]) -> RichTable:
    heads = [str(column.header) for column in table.columns[1:]]
    for k, name in enumerate(names):
        table.add_row(Text(name), *(columns[head][k] for head in heads))
    return table
