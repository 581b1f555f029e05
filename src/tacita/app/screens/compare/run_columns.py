"""What runs are compared by: one number each per run, as the core measures it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import nan

import numpy as np

from tacita.app.controls.runs import number
from tacita.app.work.job import Job, State
from tacita.quality import risk

Measures = Mapping[str, float]


@dataclass(frozen=True)
class Column:
    """A measure: ``contest`` if less of it is better and runs of different methods may be set against each
    other in it; ``of_numbers`` if only runs that show a number in every cell can win.
    """

    key: str
    head: str
    meaning: str
    contest: bool = True
    of_numbers: bool = False
    write: Callable[[float], str] = number

    def text(self, value: float, job: Job) -> str:
        """As it stands in the table."""
        if self.key == "gap" and job.release is not None and job.release.outcome is not None:
            status = job.release.outcome.status
            return "optimal" if status else f"gap {value:.1%}"
        return self.write(value)


def _short(value: float) -> str:
    if not np.isfinite(value):
        return number(value)
    return f"{value:,.3g}" if abs(value) < 1000 else f"{value:,.0f}"


COLUMNS = (
    Column("loss", "loss", "what the method itself counts as lost", contest=False),
    Column("bound", "bound", "nothing of this method's kind loses less", contest=False),
    Column("gap", "status", "proven optimal, or how far from the bound", contest=False),
    Column(
        "risk",
        "risk",
        "the worst cell's required width over the width of what is deduced: above 1 is too narrow",
        write=_short,
    ),
    Column("median", "median", "half of the sensitive cells have no more risk", write=_short),
    Column("exact", "exact", "sensitive cells that are known exactly"),
    Column("changed", "changed", "cells whose number is not the true one, or that show none"),
    Column("percent", "%", "these, in percent of all cells", write=lambda value: f"{value:.1f}"),
    Column("others", "others", "of these the cells that are not sensitive"),
    Column("silent", "silent", "cells that show no number"),
    Column("l1", "l1", "sum of the distances to the truth, of cells that show a number", True, True, _short),
    Column("l2", "l2", "root of the sum of their squares", True, True, _short),
    Column("largest", "largest", "the largest distance", True, True, _short),
    Column("seconds", "time", "seconds with the audit", write=lambda value: f"{value:,.2f}"),
)


def measures(job: Job) -> Measures:
    """The numbers of one run by the keys of the columns; NaN where there is none."""
    outcome = job.release.outcome if job.release is not None else None
    lost, known = job.lost, job.intervals
    found: dict[str, float] = dict.fromkeys((column.key for column in COLUMNS), nan)
    if outcome is not None:
        found |= {"loss": outcome.loss, "bound": outcome.bound, "gap": outcome.gap}
    if lost is not None:
        names = ("changed", "percent", "others", "silent", "l1", "l2", "largest")
        found |= {name: float(getattr(lost, name)) for name in names}
    if known is not None:
        danger = risk(job.problem, known.cells, known.low, known.high)
        found |= {"risk": danger.worst, "median": danger.median, "exact": danger.exact}
    return found | {"seconds": job.seconds}


def best(column: Column, jobs: Sequence[Job], by_run: Mapping[int, Measures]) -> set[int]:
    """The safe runs with the least of a column; none where all are equal, or where it is no contest."""
    safe = {
        job.number: by_run[job.number][column.key]
        for job in jobs
        if job.state is State.SAFE and not (column.of_numbers and by_run[job.number]["silent"])
    }
    known = [value for value in safe.values() if value == value]
    if not column.contest or len(set(known)) < 2:
        return set()
    return {run for run, value in safe.items() if value == min(known)}
