"""The measures by which releases of one table are compared, with their names, order and formats.

The numbers are those of :mod:`tacita.problem.quality`; loss and bound are the method's own, and a release
that was read from a file has none. They are internal, as they depend on true values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import floor, isfinite, log10, nan
from typing import TYPE_CHECKING, TypeVar

from tacita.core.errors import InputError, did_you_mean
from tacita.core.outcome import Status, compute_gap
from tacita.core.run import Event
from tacita.core.words import format_number

if TYPE_CHECKING:
    from tacita.auditing.deduce import Deduction
    from tacita.core.outcome import Outcome
    from tacita.problem.problem import Problem
    from tacita.problem.quality import Lost

K = TypeVar("K")
Measures = Mapping[str, float]
"""A number by the key of each measure; NaN where there is none."""


def format_short(value: float) -> str:
    """Return a number for reports in six digits, integers in full: ``8.02795``, ``1,234,567``."""
    if not isfinite(value) or value == int(value) or abs(value) < 0.001:
        return format_number(value)
    decimals = max(0, 5 - floor(log10(abs(value))))
    text = f"{value:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if decimals else text


def _format_three_digits(value: float) -> str:
    if not isfinite(value):
        return format_number(value)
    return f"{value:,.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def _format_decimals(decimals: int) -> Callable[[float], str]:
    return lambda value: f"{value:,.{decimals}f}" if isfinite(value) else format_number(value)


def _format_percent(value: float) -> str:
    """Return percent for reports with two digits of significance or more: ``0.043%``, ``12.4%``."""
    if not isfinite(value):
        return format_number(value)
    return f"{value:,.1f}%" if abs(value) >= 1 or value == 0 else f"{value:.2g}%"


def _format_change(value: float) -> str:
    return f"{value:+,.3g}%" if isfinite(value) else format_number(value)


@dataclass(frozen=True)
class Measure:
    """A measure of releases.

    ``contest`` if less of it is better and releases of different methods may be compared by it;
    ``of_numbers`` if only releases that show a number in every cell can win.
    """

    key: str
    head: str
    meaning: str
    contest: bool = True
    of_numbers: bool = False
    write: Callable[[float], str] = format_number

    def format(self, value: float, outcome: Outcome | None) -> str:
        """Return a value of this measure as text, as the report that compares releases shows it."""
        if self.key == "gap" and outcome is not None:
            asked = ", as asked" if outcome.status is Status.WITHIN_GAP else ""
            return "optimal" if outcome.status else f"gap {value:.1%}{asked}"
        return self.write(value)


MEASURES = (
    Measure("loss", "loss", "what the method itself counts as lost", contest=False, write=format_short),
    Measure(
        "bound",
        "bound",
        "lower bound: nothing of this method's kind loses less",
        contest=False,
        write=format_short,
    ),
    Measure(
        "gap",
        "status",
        "proven optimal, or how far from the bound; as asked: within the gap asked for",
        contest=False,
    ),
    Measure(
        "risk",
        "risk",
        "the worst cell's required width over the width of what is deduced: above 1 is too narrow",
        write=_format_three_digits,
    ),
    Measure("median", "median", "half of the sensitive cells have no more risk", write=_format_three_digits),
    Measure("exact", "exact", "sensitive cells that are known exactly"),
    Measure("changed", "changed", "cells whose number is not the true one, or that show none"),
    Measure("percent", "%", "these, in percent of all cells", write=_format_decimals(1)),
    Measure("others", "others", "of these the cells that are not sensitive"),
    Measure("silent", "cells lost", "cells that show no number"),
    Measure(
        "value_percent",
        "value lost",
        "the absolute values of these, in percent of those of all cells",
        write=_format_percent,
    ),
    Measure(
        "relative",
        "error",
        "mean distance to the truth in percent of it, of cells that show a number",
        of_numbers=True,
        write=_format_percent,
    ),
    Measure(
        "l1",
        "l1",
        "sum of the distances to the truth, of cells that show a number",
        True,
        True,
        _format_three_digits,
    ),
    Measure("l2", "l2", "root of the sum of their squares", True, True, _format_three_digits),
    Measure("largest", "largest", "the largest distance", True, True, _format_three_digits),
    Measure("seconds", "time", "seconds with the audit", contest=False, write=_format_decimals(2)),
)

FURTHER = (
    Measure(
        "relative_median",
        "median error",
        "half of the cells that show a number have no larger error",
        of_numbers=True,
        write=_format_percent,
    ),
    Measure("relative_largest", "worst error", "the largest error", of_numbers=True, write=_format_percent),
    Measure(
        "rank",
        "rank",
        "rank correlation of shown and true numbers, 1 if their order is kept",
        contest=False,
        write=_format_decimals(4),
    ),
    Measure(
        "hellinger",
        "hellinger",
        "Hellinger distance of shown and true counts as distributions, from 0 to 1",
        of_numbers=True,
        write=_format_three_digits,
    ),
    Measure(
        "chi_square",
        "chi2",
        "sum of squared changes of counts, each over the true count",
        of_numbers=True,
        write=_format_three_digits,
    ),
    *(
        Measure(f"{name}_change", name, f"change of {what}, in percent", False, write=_format_change)
        for name, what in (
            ("mean", "the mean"),
            ("variance", "the variance"),
            ("correlation", "the correlation with the truth, which is 1 before"),
            ("slope", "the slope on the truth, which is 1 before"),
        )
    ),
)
"""Measures of shown numbers: of the cells that show one, and from ``rank`` on of those that are no totals."""

DECISIVE = ("loss", "gap", "silent", "value_percent", "relative")
"""What comparisons in the terminal show unless other columns are chosen."""

MEASURED = Measure("measured", "measured", "the loss in the measure that was requested", write=format_short)
"""The loss of every release in one method's own measure, which makes losses comparable."""


def compute_measures(
    problem: Problem,
    outcome: Outcome | None,
    lost: Lost | None,
    intervals: Deduction | None,
    seconds: float,
    statistics: Mapping[str, float] | None = None,
) -> Measures:
    """Return the measures of one release for a report that compares several, by key; NaN if unknown.

    Parameters
    ----------
    intervals
        What the outsider deduces of the sensitive cells that are hidden.
    seconds
        How long protecting and auditing took.
    statistics
        By how many percent mean, variance, correlation and slope of shown numbers changed.
    """
    from tacita.problem.quality import measure_risk

    found: dict[str, float] = dict.fromkeys((measure.key for measure in (*MEASURES, *FURTHER)), nan)
    if outcome is not None:
        found |= {"loss": outcome.loss, "bound": outcome.bound, "gap": outcome.gap}
    if lost is not None:
        found |= {name: number for name, number in vars(lost).items() if name in found}
    if intervals is not None:
        danger = measure_risk(problem, intervals.cells, intervals.low, intervals.high)
        found |= {"risk": danger.worst, "median": danger.median, "exact": danger.exact}
    found |= {f"{name}_change": change for name, change in (statistics or {}).items()}
    return found | {"seconds": seconds}


def choose_measures(names: Sequence[str]) -> tuple[Measure, ...]:
    """Return the measures with these keys or headings, in this order, for a comparison that shows only them.

    Raises
    ------
    InputError
        There is no such measure; the message lists all.
    """
    known = {**{m.head: m for m in (*MEASURES, *FURTHER)}, **{m.key: m for m in (*MEASURES, *FURTHER)}}
    for name in names:
        if name not in known:
            raise InputError(
                f"releases are not compared by '{name}'{did_you_mean(name, known)}",
                remedy=f"choose from {', '.join(m.key for m in (*MEASURES, *FURTHER))}",
            )
    return tuple({known[name].key: known[name] for name in names}.values())


def find_best(measure: Measure, safe: Mapping[K, Measures]) -> set[K]:
    """Return the safe releases that a report stars as best by a measure; none where all are equal."""
    known = {
        name: own[measure.key]
        for name, own in safe.items()
        if own[measure.key] == own[measure.key] and not (measure.of_numbers and own["silent"])
    }
    if not measure.contest or len(set(known.values())) < 2:
        return set()
    least = min(known.values())
    return {name for name, value in known.items() if value == least}


def describe_progress(event: Event) -> str:
    """Return the progress of a run as reports word it, if known: ``loss 120, bound 100, gap 16.67%``."""
    parts = []
    if event.incumbent is not None:
        parts.append(f"loss {format_short(event.incumbent)}")
    if event.bound is not None:
        parts.append(f"bound {format_short(event.bound)}")
    if event.incumbent is not None and event.bound is not None:
        parts.append(f"gap {compute_gap(event.incumbent, event.bound):.2%}")
    return ", ".join(parts)
