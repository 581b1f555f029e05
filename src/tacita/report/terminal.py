"""Results as tables in the terminal. Colours only repeat what signs and words say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Group
from rich.table import Table as RichTable
from rich.text import Text

from tacita.core import exact
from tacita.core.words import pluralize
from tacita.report.picture import KINDS, MEANINGS, SIGNS, crosstab, kinds, shown_text
from tacita.report.verdicts import NOT_SAFE, tone_of, verdict_key

if TYPE_CHECKING:
    from tacita.auditing.audit import Audit, Finding
    from tacita.auditing.deduce import Deduction
    from tacita.core.exact import Mask
    from tacita.core.release import Release
    from tacita.methods import Option
    from tacita.problem.problem import Problem

TONES = {"safe": "bold green", "unsafe": "bold red", "unchecked": "bold yellow"}
STYLES = {"published": "", "sensitive": "bold blue", "other": "red", "exposed": "bold white on red"}


def verdict_line(audit: Audit) -> Text:
    """The verdict as one sentence, its sign first."""
    tone = tone_of(audit)
    word = tone.word.upper() if tone is NOT_SAFE else tone.word
    return Text.assemble((f"{tone.sign} {word}", TONES[tone.kind]), f"  {audit.verdict}")


def crosstab_table(release: Release, sensitive: Mask, width: int, most_rows: int = 40) -> RichTable | None:
    """The release as a crosstab, as many columns as fit; None for tables without dimensions."""
    picture = crosstab(release.structure, most_rows)
    if picture is None:
        return None
    kind = kinds(release, sensitive)
    corner = " \\ ".join(filter(None, (picture.row_name, picture.column_name)))
    heads = ["  " * line.depth + line.code for line in picture.rows]
    left = width - max(map(len, [corner, *heads])) - 4
    table = RichTable(title=picture.about or None, title_justify="left", header_style="bold")
    table.add_column(corner, no_wrap=True)
    columns: list[list[Text]] = []
    for column, cells in zip(picture.columns, picture.cells.T.tolist(), strict=True):
        texts = [_shown(release, cell, KINDS[kind[cell]] if cell >= 0 else "published") for cell in cells]
        left -= max(len(column.code), *(len(text) for text in texts)) + 3
        if left < 0 and columns:
            more = pluralize(len(picture.columns) - len(columns), "more column")
            table.caption = f"not shown, as they do not fit here: {more}"
            break
        table.add_column(Text(column.code), justify="right", no_wrap=True)
        columns.append(texts)
    for head, *row in zip(heads, *columns, strict=True):
        table.add_row(Text(head), *row)
    return table


def _shown(release: Release, cell: int, name: str) -> Text:
    parts = (SIGNS[name], shown_text(release, cell)) if cell >= 0 else ()
    return Text(" ".join(filter(None, parts)), style=STYLES[name])


def legend(release: Release, sensitive: Mask) -> Text:
    """What the signs mean, and how many cells carry each."""
    counts = np.bincount(kinds(release, sensitive), minlength=len(KINDS))
    told = Text()
    for name, count in zip(KINDS, counts.tolist(), strict=True):
        if count:
            told.append(f"{SIGNS[name]} {MEANINGS[name]}: {count:,}".strip(), style=STYLES[name]).append(
                "   "
            )
    return told


def findings_table(problem: Problem, findings: Iterable[Finding], show_values: bool, most: int = 40) -> Group:
    """Cells that are not safe: cell, attacker, verdict; with ``show_values`` also what he can deduce. Below
    them a key to the verdicts.
    """
    table = RichTable(title="not safe", title_justify="left", header_style="bold")
    for heading in ("cell", "attacker", "verdict"):
        table.add_column(heading, overflow="fold")
    if show_values:
        for heading in ("value", "from", "to"):
            table.add_column(heading, justify="right")
    found = list(findings)
    for finding in found[:most]:
        row = [finding.name, finding.attacker, finding.verdict]
        if show_values:
            row += _deduced(problem, finding)
        table.add_row(*(Text(word) for word in row))
    if len(found) > most:
        table.caption = f"and {len(found) - most:,} more; audit.json lists all (--out)"
    return Group(table, Text(verdict_key(found)))


def _deduced(problem: Problem, finding: Finding) -> list[str]:
    units, decimals = int(problem.table.units[finding.cell]), problem.table.decimals
    ends = [_end(units, -finding.below, decimals), _end(units, finding.above, decimals)]
    return [exact.to_text(units, decimals), *ends]


def _end(units: int, change: float, decimals: int) -> str:
    return exact.to_text(units + round(change), decimals) if np.isfinite(change) else "unbounded"


def rules_table(problem: Problem) -> RichTable:
    """How many cells each rule makes sensitive."""
    table = RichTable(title="sensitive cells", title_justify="left", header_style="bold")
    table.add_column("rule")
    table.add_column("cells", justify="right")
    for reason in problem.levels.reasons:
        table.add_row(Text(reason.rule), f"{reason.cells.size:,}")
    table.add_section()
    if problem.exempt.any():
        table.add_row("exempt by hand", f"{int(problem.exempt.sum()):,}")
    table.add_row("all rules together", f"{len(problem.levels):,}", style="bold")
    return table


def levels_table(problem: Problem, show_values: bool, most: int = 20) -> RichTable:
    """The sensitive cells and the rules that hit them; values and levels only with ``show_values``."""
    levels, table = problem.levels, problem.table
    shown = RichTable(header_style="bold")
    shown.add_column("cell", overflow="fold")
    shown.add_column("rules", overflow="fold")
    headings = ("value", "lower level", "upper level", "sliding level") if show_values else ()
    for heading in headings:
        shown.add_column(heading, justify="right")
    for cell in problem.sensitive[:most].tolist():
        row = [table.name(cell), "; ".join(levels.why(cell))]
        if show_values:
            numbers = (table.units, levels.lower, levels.upper, levels.sliding)
            row += [exact.to_text(int(column[cell]), table.decimals) for column in numbers]
        shown.add_row(*(Text(word) for word in row))
    if problem.sensitive.size > most:
        shown.caption = f"and {problem.sensitive.size - most:,} more; --out FILE.csv lists all"
    return shown


def intervals_table(deduction: Deduction, most: int = 60) -> RichTable:
    """What an outsider computes for each hidden cell."""
    table = RichTable(title="what an outsider can deduce", title_justify="left", header_style="bold")
    table.add_column("cell", overflow="fold")
    for heading in ("from", "to"):
        table.add_column(heading, justify="right")
    rows = zip(deduction.cells.tolist(), deduction.low.tolist(), deduction.high.tolist(), strict=True)
    for cell, low, high in islice(rows, most):
        table.add_row(Text(deduction.structure.name(cell)), _plain(low), _plain(high))
    if len(deduction) > most:
        table.caption = f"and {len(deduction) - most:,} more; --json lists all"
    return table


def _plain(number: float) -> str:
    if np.isnan(number):
        return "not settled"
    return f"{number:,.12g}" if np.isfinite(number) else "unbounded"


def figures_table(figures: Mapping[str, Any]) -> RichTable:
    """What a method achieved, one figure per line."""
    table = RichTable(show_header=False, box=None)
    table.add_column(style="dim")
    table.add_column()
    for name in ("method", "status", "loss", "bound", "gap", "cells", "sensitive", "changed", "seconds"):
        number = figures[name]
        shown = f"{number:.2%}" if name == "gap" and number is not None else number
        table.add_row(name, f"{shown:,.10g}" if isinstance(shown, int | float) else Text(str(shown)))
    return table


def options_table(method: str, options: Sequence[Option], about: Sequence[str] = ()) -> Group:
    """What is to be said about a method, and its options with their defaults."""
    table = RichTable(title=f"options of {method}", title_justify="left", header_style="bold")
    for heading in ("option", "default", "meaning"):
        table.add_column(heading, overflow="fold")
    for option in options:
        table.add_row(*(Text(word) for word in (option.name, str(option.default), option.help)))
    return Group(*map(Text, about), table)
