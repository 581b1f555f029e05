"""An explanation of one cell in sentences, for Python, the terminal and the app.

What anyone can deduce from the release is shown always. True values, levels, and what attackers would deduce
if more were published, only with ``show_values``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from tacita.auditing.block_tasks import BELOW_LOWER, BELOW_SLIDING, BELOW_UPPER
from tacita.core import exact
from tacita.core.release import Mark
from tacita.core.words import format_number, pluralize

if TYPE_CHECKING:
    from tacita.auditing.explanation import AttackerInterval, Explanation, ProtectedCell
    from tacita.problem.problem import Problem

MOST_NAMED = 40
"""Cells that a sentence names; of more it says how many there are."""
BALANCES = (
    "Tables that an outsider cannot rule out take it past its levels, down and up, and change these cells"
)


@dataclass(frozen=True)
class ExplanationPart:
    """A part of an explanation: its title, its sentences, and the cells that they speak of.

    ``listed`` says that the sentences do not name these cells: they end in a list of them.
    """

    key: str
    title: str
    lines: tuple[str, ...]
    cells: tuple[int, ...] = ()
    listed: bool = False


def describe_explanation(found: Explanation, show_values: bool) -> list[ExplanationPart]:
    """Return the parts of an explanation of a cell in words: how it is published, what is deduced of it, why
    it is sensitive, what protects it, what it protects.
    """
    parts = [ExplanationPart("shown", "How it is published", (_describe_mark(found),))]
    if found.role in ("primary", "secondary"):
        parts.append(
            ExplanationPart("deduced", "What is deduced of it", tuple(_describe_deduced(found, show_values)))
        )
    if found.role in ("primary", "exposed"):
        parts.append(
            ExplanationPart("sensitive", "Why it is sensitive", tuple(_describe_reasons(found, show_values)))
        )
    if found.role == "primary":
        cells = tuple(found.protected_by.tolist())
        sentence = _describe_protecting(found)
        parts.append(ExplanationPart("protected", "What protects it", (sentence,), cells, listed=True))
    if found.role == "secondary" or found.protects:
        lines = tuple(_describe_protected(found, show_values))
        parts.append(
            ExplanationPart("protects", "What it protects", lines, tuple(own.cell for own in found.protects))
        )
    return parts


def write_explanation(found: Explanation, show_values: bool) -> list[str]:
    """Return the lines of an explanation as plain text: the cell's name, then each part with its sentences,
    indented.
    """
    lines = [found.name]
    for part in describe_explanation(found, show_values):
        names = [name_cells(found.problem, part.cells)] if part.listed and part.cells else []
        lines += [f"  {part.title}", *(f"    {line}" for line in (*part.lines, *names))]
    return lines


def _describe_mark(found: Explanation) -> str:
    low, high = found.window
    between = _describe_range(found)
    if found.role == "exposed":
        return f"Published exactly, although it is sensitive: {format_number(low)}."
    return {
        Mark.PUBLISHED: f"Published as it is: {format_number(low)}.",
        Mark.SUPPRESSED: "Suppressed: the release does not print it.",
        Mark.INTERVAL: f"An interval: {format_number(low)} to {format_number(high)}.",
        Mark.ROUNDED: f"Rounded to {format_number((low + high) / 2)}: readers learn that it is {between}.",
        Mark.ADJUSTED: f"Changed to {format_number((low + high) / 2)}: readers learn that it is {between}.",
    }[found.mark]


def _describe_range(found: Explanation) -> str:
    """Return in words what the release and the bounds that everyone knows tell of a cell."""
    problem, cell = found.problem, found.cell
    known = np.array([problem.outsider.lower[cell], problem.outsider.upper[cell]])
    lower, upper = exact.to_floats(known, problem.table.decimals).tolist()
    low, high = found.window
    return f"between {format_number(max(low, lower))} and {format_number(min(high, upper))}"


def _describe_deduced(found: Explanation, show_values: bool) -> Iterator[str]:
    yield f"An outsider deduces: {_format_interval(found.deduced)}."
    yield from found.derivation[-MOST_NAMED:]
    own = found.insider
    if own is None or not show_values:
        return
    asked = ""
    if found.asked < found.insiders:
        most = f"the {found.asked:,} who know most were asked"
        asked = f" (of {found.insiders:,} who know something near it {most})"
    if (own.low, own.high) == (found.deduced.low, found.deduced.high):
        yield f"No insider deduces more{asked}."
    else:
        yield f"The insider who deduces most is {own.attacker}{asked}: {_format_interval(own)}."


def _format_interval(own: AttackerInterval) -> str:
    if isnan(own.low) or isnan(own.high):
        return "not worked out in the time given"
    if own.known:
        return f"exactly {format_number(own.low)}"
    return f"{format_number(own.low)} to {format_number(own.high)}"


def _describe_reasons(found: Explanation, show_values: bool) -> Iterator[str]:
    if not show_values:
        yield from found.problem.levels.why(found.cell)
        return
    yield from found.reasons
    lower, upper, sliding = map(format_number, found.levels)
    yield (
        f"Protection levels: {lower} below (lower, LPL), {upper} above (upper, UPL), "
        f"{sliding} wide (sliding, SPL)."
    )


def _describe_protecting(found: Explanation) -> str:
    if found.protected_by.size:
        return f"{BALANCES}:"
    if isnan(found.deduced.low):
        return "Not worked out in the time given."
    if found.deduced.known:
        return "Nothing: an outsider deduces it exactly."
    return "No other cell: its levels require nothing against an outsider."


def _describe_protected(found: Explanation, show_values: bool) -> Iterator[str]:
    for own in found.protects[:MOST_NAMED]:
        yield _describe_failing(found.problem, own, show_values)
    if (more := len(found.protects) - MOST_NAMED) > 0:
        yield f"And {pluralize(more, 'more cell')}."
    if found.undecided:
        cells = pluralize(len(found.undecided), "sensitive cell")
        yield f"The time did not suffice to tell whether {cells} would be safe without it."
    if found.redundant:
        yield from _describe_redundant(found)
    if found.unsafe:
        named = name_cells(found.problem, found.unsafe)
        yield f"Not safe as it is, whether this cell is published or not: {named}."


def _describe_failing(problem: Problem, own: ProtectedCell, show_values: bool) -> str:
    who = "an outsider" if own.attacker == problem.outsider.name else own.attacker
    start = f"Without it {own.name} would not be safe from {who}"
    if not show_values or isnan(own.low) or isnan(own.high):
        return f"{start}: {own.verdict}."
    if own.low == own.high:
        return f"Without it {own.name} would be known exactly to {who}."
    return _describe_missed(own, float(problem.table.values[own.cell]), who) or f"{start}: {own.verdict}."


def _describe_missed(own: ProtectedCell, value: float, who: str) -> str:
    """Return in a sentence what an attacker could tell of a sensitive cell, on the sides on which its levels
    are missed; empty where none is.
    """
    low, high = format_number(own.low), format_number(own.high)
    least, most = format_number(value - own.lower), format_number(value + own.upper)
    too_narrow = bool(own.bits & BELOW_SLIDING)
    width = f"a range at least {format_number(own.sliding)} wide"
    required = f"must stay possible{f', and {width}' if too_narrow else ''}"
    tells = f"Without it {who} could tell that {own.name} is"
    missed = own.bits & (BELOW_LOWER | BELOW_UPPER)
    if missed == BELOW_LOWER:
        return f"{tells} at least {low}; {least} {required}."
    if missed == BELOW_UPPER:
        return f"{tells} at most {high}; {most} {required}."
    if missed:
        within = format_number(max(own.high - value, value - own.low))
        return (
            f"Without it {own.name} would be known to within {within} to {who}: {low} to {high}; "
            f"{least} and {most} {required}."
        )
    return f"{tells} {low} to {high}; {width} must stay possible." if too_narrow else ""


def _describe_redundant(found: Explanation) -> Iterator[str]:
    """Yield sentences on a cell that is hidden or changed, and of which no sensitive cell has need."""
    if found.must_hide:
        yield "It was marked as must hide. Publishing it alone would harm no sensitive cell."
        return
    if found.mark in (Mark.ROUNDED, Mark.ADJUSTED):
        yield (
            "Publishing its true value alone would harm no sensitive cell: the method changes all cells that "
            "it may, not only those that protect others."
        )
        return
    if found.deduced.known:
        yield "Nothing: everyone can deduce it, so that hiding it does not help any cell."
    elif found.replaceable:
        cells = pluralize(len(found.replaceable), "sensitive cell")
        yield (
            f"Publishing it alone would harm no sensitive cell: it helps to protect {cells}, but other cells "
            "that are hidden suffice."
        )
    else:
        yield "Publishing it alone would harm no sensitive cell."
    if found.problem.cost[found.cell] == 0:
        yield "Hiding it costs nothing, so that the method had no reason to publish it."
    elif found.outcome is None or not found.outcome.status:
        yield "It could be published: a run with more time may find a release that hides less."


def name_cells(problem: Problem, cells: Sequence[int]) -> str:
    """Return the names of cells that an explanation speaks of; of many the first, and how many more."""
    named = "; ".join(problem.table.name(cell) for cell in cells[:MOST_NAMED])
    more = len(cells) - MOST_NAMED
    return f"{named}; and {more:,} more" if more > 0 else named
