"""Losses of releases of one table, side by side, and the risk that is left.

With ``v`` shown and ``a`` true, over all cells that show a number, totals included:

| column | is |
|---|---|
| ``l1`` | ``sum abs(v - a)`` |
| ``l2`` | ``sqrt(sum (v - a)^2)`` |
| ``largest`` | ``max abs(v - a)`` |
| ``changed`` | cells whose number is not the true one, or that show none |
| ``percent`` | these, of all cells |
| ``others`` | of these the cells that are not sensitive |
| ``silent`` | of these the cells that show no number: cells lost |
| ``value_percent`` | the absolute values of these, in percent of all: value lost |

How a suppression is measured: by the cells lost and the value lost. A cell that is published as an interval
shows no number either. Relative errors, ranks and distances of counts are those of
:mod:`tacita.problem.deviations`: of cells that show a number.

Distances say what was lost; whether a release protects is for the audit to say. Beside them stands the risk:
for a sensitive cell ``p`` of which an attacker deduces ``[low_p, high_p]``

    r_p = max(LPL_p + UPL_p, SPL_p) / (high_p - low_p),

the width that its levels require over the width of what is deduced. ``r_p <= 1`` is necessary for safety, not
sufficient, since the levels also say on which side of the value the room must be. All of this is for internal
use, as it reveals true values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial
from math import nan
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from tacita.core.errors import InfeasibleError, ReleaseError
from tacita.core.exact import Cells, Floats, Mask, rescale
from tacita.core.heartbeat import with_heartbeat
from tacita.core.release import Release
from tacita.core.run import Run
from tacita.core.tables.frames import Framed
from tacita.core.tables.table import Table
from tacita.core.words import describe_method
from tacita.problem.deviations import Deviations, compute_changes, measure_deviations
from tacita.problem.problem import Problem

if TYPE_CHECKING:
    import pyarrow as pa


class Protects(Protocol):
    """Anything that returns releases of problems: a method."""

    name: ClassVar[str]

    def protect(self, problem: Problem, run: Run | None = None) -> Release:
        """Return a release that protects the table of the problem."""


@dataclass(frozen=True, kw_only=True)
class Lost(Deviations):
    """What one release lost; ``none`` says why there is no release, and then the numbers are NaN or zero."""

    name: str
    l1: float = nan
    l2: float = nan
    largest: float = nan
    changed: int = 0
    percent: float = nan
    others: int = 0
    silent: int = 0
    value_percent: float = nan
    none: str = ""


_OWN = [name for name in Lost.__annotations__ if name != "none"]
COLUMNS = (*_OWN, *(field.name for field in fields(Deviations)), "none")
"""The columns of a comparison: cells and distances first, then deviations."""


LEGEND = (
    "l1, l2, largest: how far shown numbers are from the true ones; changed, percent: cells without their",
    "true number; others: those not sensitive; silent: without a number. Which are safe says tc.audit.",
)


class Comparison(Framed, tuple[Lost, ...]):
    """One row per release, in the order given; as text, a table, how to read it, and why some have no
    release.
    """

    def to_arrow(self) -> pa.Table:
        """Return an Arrow table with one row per compared release and the columns of :class:`Lost`."""
        import pyarrow as pa

        return pa.table({name: [getattr(row, name) for row in self] for name in COLUMNS})

    def __str__(self) -> str:
        heads = ["", "l1", "l2", "largest", "changed", "percent", "others", "silent"]
        lines = [heads]
        for row in self:
            numbers = [f"{row.l1:.2f}", f"{row.l2:.2f}", f"{row.largest:.2f}"]
            counts = [f"{row.changed:,}", f"{row.percent:.1f}", f"{row.others:,}", f"{row.silent:,}"]
            lines.append([row.name, *(["no release", *[""] * 6] if row.none else numbers + counts)])
        widths = [max(len(line[k]) for line in lines) for k in range(len(heads))]
        table = [
            "  ".join(
                [line[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(line[1:], widths[1:], strict=True))]
            )
            for line in lines
        ]
        return "\n".join([*table, *LEGEND, *(f"{row.name}: {row.none}" for row in self if row.none)])


@dataclass(frozen=True)
class Risk:
    """The largest and the median ``r_p`` over the sensitive cells (0 if there are none), and how many of
    these are known exactly.
    """

    worst: float
    median: float
    exact: int


def measure_risk(problem: Problem, cells: Cells, low: Floats, high: Floats) -> Risk:
    """Return the risk of the problem's sensitive cells, given the intervals that an attacker deduces.

    ``r_p`` is infinite for a cell that is known exactly, and zero for one of which nothing is known.

    Parameters
    ----------
    cells, low, high
        The hidden cells with their intervals, in plain numbers, as in a :class:`Deduction`. A sensitive cell
        that is not among them is published, hence known. Where an end is unknown (NaN) the risk is NaN,
        unless some cell is known exactly.
    """
    levels, at = problem.levels, problem.sensitive
    if at.size == 0:
        return Risk(0.0, 0.0, 0)
    lower, upper, sliding = (
        level[at].astype(np.float64) for level in (levels.lower, levels.upper, levels.sliding)
    )
    needed = np.maximum(lower + upper, sliding) / 10.0**problem.table.decimals
    width = np.zeros(len(problem.table))
    width[cells] = np.asarray(high) - np.asarray(low)
    left = width[at]
    each = np.full(at.size, np.inf)
    np.divide(needed, left, out=each, where=left != 0)
    worst = np.inf if (left == 0).any() else each.max()
    return Risk(float(worst), float(np.median(each)), int((left == 0).sum()))


@with_heartbeat("comparing")
def compare(problem: Problem, releases: Sequence[Release | Protects], run: Run | None = None) -> Comparison:
    """Return a comparison of what each release of a problem lost; a method makes its release first.

    A method that finds none has a row that says why. Methods are named with the options that are not the
    usual ones. They work side by side if the run has workers; its time limit is for each of them.
    """
    run = Run() if run is None else run
    each = partial(_compare_one, problem, run.time_limit)
    return Comparison(replace(run, time_limit=None).map(each, releases, phase="comparing"))


def _compare_one(problem: Problem, seconds: float | None, one: Release | Protects, run: Run) -> Lost:
    """Return what a release, or that of a method, lost of the problem's table; or why there is none."""
    if isinstance(one, Release):
        return _measure(problem, one, name_release(one))
    try:
        return _measure(problem, one.protect(problem, run.limited(seconds)), name_method(one))
    except InfeasibleError as error:
        return Lost(name=name_method(one), none=str(error))


def name_method(method: Protects) -> str:
    """Return what comparisons call a method: its name with the options that are not the usual ones."""
    given: Any = method
    options = fields(given) if is_dataclass(given) else ()
    chosen = {each.name: getattr(given, each.name) for each in options if each.init}
    usual = {each.name: each.default for each in options}
    return describe_method(method.name, {name: own for name, own in chosen.items() if own != usual[name]})


def name_release(release: Release) -> str:
    """Return what comparisons call a release: by the method that made it, if it is known."""
    return str(release.made_by.get("method", "release"))


def find_changed(table: Table, release: Release) -> Mask:
    """Return a mask of the cells whose number in a release is not the true one, or that show none.

    A number that is published with a radius, and is the true one, is not changed.
    """
    decimals = max(table.decimals, release.decimals)
    true = rescale(table.units, table.decimals, decimals)
    return np.asarray(~release.shown | (release.with_decimals(decimals).value != true))


def refuse_other_cells(problem: Problem, release: Release, name: str) -> None:
    """Refuse a release in a comparison that is not of the problem's table."""
    if not release.structure.same_cells(problem.table.structure):
        fault = f"the release '{name}' lists other cells than the table"
        raise ReleaseError(fault, remedy="compare releases of it")


def _measure(problem: Problem, release: Release, name: str) -> Lost:
    """Return the losses of a release of the problem: distances from the true values, cells changed."""
    table = problem.table
    refuse_other_cells(problem, release, name)
    distance = np.where(release.shown, np.abs(compute_changes(table, release)), 0.0)
    changed, lost, values = find_changed(table, release), ~release.shown, np.abs(table.values)
    return Lost(
        name=name,
        l1=float(distance.sum()),
        l2=float(np.sqrt((distance**2).sum())),
        largest=float(distance.max(initial=0.0)),
        changed=int(changed.sum()),
        percent=100.0 * float(changed.mean()),
        others=int((changed & ~problem.levels.sensitive).sum()),
        silent=int(lost.sum()),
        value_percent=100.0 * float(values[lost].sum()) / float(values.sum()) if values.any() else nan,
        **vars(measure_deviations(table, release)),
    )
