"""A reader who re-runs the program (minimality attack), on small tables of counts.

Readers know the release, the rule, the costs, the method with its options, and the program. They list every
table ``y`` that agrees with the release,

    M y = b,    window low <= y <= window high,    lower <= y <= upper,

run the program on each, and retain those that give the same release. The interval that is left of a sensitive
cell may be narrower than the audit's, which counts every ``y`` as possible.

Levels follow from values, so a new problem is made for every table. A table that the program refuses is not
retained: it would not have led to a release. A method that draws random numbers gives a release by a seed
that readers do not know, so a table is possible if some seed leads from it to the release. Only a few seeds
can be tried: what is left is then a part of what a reader must think possible, and the attack looks stronger
than it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from tacita.core.errors import InputError, TacitaError
from tacita.core.exact import UNBOUNDED, Cells, Mask, Units
from tacita.core.release import Release
from tacita.core.run import Run
from tacita.core.tables.table import Table
from tacita.core.words import pluralize
from tacita.methods.method import Method
from tacita.problem.problem import Problem
from tacita.testing.brute_force import Rows, list_tables

Question = Callable[[Table], Problem]
"""Makes a problem of a table, with its rule, attackers and costs."""


@dataclass(frozen=True, eq=False)
class Rerun:
    """What is left of the sensitive cells to a reader who re-runs the program.

    Attributes
    ----------
    release
        What was published.
    fitting, left
        The number of tables that agree with the windows, and of those that lead to the same release.
    cells
        The sensitive cells.
    low, high
        The smallest and the largest value of each over the tables that are left, in units.
    lost
        Where this is less than the levels require, though the windows alone meet them.
    """

    release: Release
    fitting: int
    left: int
    cells: Cells
    low: Units
    high: Units
    lost: Mask

    @property
    def exact(self) -> Mask:
        """A mask of the sensitive cells of which a single value is left."""
        return np.asarray(self.low == self.high)


def rerun_attack(
    method: Method,
    problem: Problem,
    question: Question | None = None,
    *,
    run: Run | None = None,
    seeds: tuple[int, ...] = (),
    most: int = 5_000,
) -> Rerun:
    """Return what a reader learns of sensitive cells by re-running the program on every table that fits.

    Parameters
    ----------
    problem
        The true question, of a small table of counts.
    question
        How readers turn a table into a problem. By default by the rule of the problem, with what everyone
        knows and with the value as cost.
    run
        The effort, and the seed with which the release is made.
    seeds
        Seeds that are tried for every table besides that of the run, where the method draws random numbers.
    most
        Tables that are tried at most; more are refused.

    Raises
    ------
    InputError
        The problem has no rule and no question is given, its cells are no counts, or too many tables fit.
    """
    run = run or Run(seed=1)
    ask = question or _repeat_rule(problem)
    release = method.protect(problem, run)
    fitting = list(_list_fitting(problem, release, most))
    kept = [
        units
        for units in fitting
        if any(
            _leads_to(method, ask, _with_counts(problem.table, units), release, s) for s in (run.seed, *seeds)
        )
    ]
    cells, truth, levels = problem.sensitive, problem.table.units, problem.levels
    before = _find_extremes(fitting, cells)
    # The truth is always among them: it led to the release.
    after = _find_extremes(kept, cells)
    safe = [
        (high >= truth[cells] + levels.upper[cells])
        & (low <= truth[cells] - levels.lower[cells])
        & (high - low >= levels.sliding[cells])
        for low, high in (before, after)
    ]
    return Rerun(release, len(fitting), len(kept), cells, *after, np.asarray(safe[0] & ~safe[1]))


def _repeat_rule(problem: Problem) -> Question:
    """Return the function with which a re-running reader applies the problem's rule to other tables."""
    rule = problem.rule
    if rule is None:
        remedy = "give the function that makes it from a table"
        raise InputError("the problem has levels and no rule", remedy=remedy)
    return lambda table: Problem(table, rule, attackers=problem.outsider)


def _leads_to(method: Method, ask: Question, table: Table, release: Release, seed: int) -> bool:
    """Return whether re-running the program on a table publishes what was published."""
    try:
        other = method.protect(ask(table), Run(seed=seed))
    except TacitaError:
        return False
    return all(
        np.array_equal(getattr(other, name), getattr(release, name))
        for name in ("marks", "low", "high", "value", "shown")
    )


def _with_counts(table: Table, units: Units) -> Table:
    """Return the table to re-run with other counts, without contributors, who belong to the true ones."""
    bare = replace(table, units=units, count=None, population=None, contributions=None)
    return replace(bare, holding_count=None, holdings=None, shadow=None)


def _find_extremes(found: list[Units], cells: Cells) -> tuple[Units, Units]:
    """Return the smallest and largest value of each cell over the tables left to a re-running reader."""
    values = np.array(found)[:, cells]
    return values.min(axis=0), values.max(axis=0)


def _list_fitting(problem: Problem, release: Release, most: int) -> Iterator[Units]:
    """Yield the tables to re-run, in units, that agree with the release and the outsider's bounds."""
    table, step = problem.table, problem.table.unit
    if not table.integer:
        raise InputError("only tables of counts can be listed: this one has amounts")
    low = np.maximum(problem.outsider.lower, release.low) // step
    high = np.minimum(problem.outsider.upper, release.high) // step
    equations: Rows = [(c.tolist(), m.tolist(), rhs // step) for c, m, rhs in table.equations]
    low, high = _tighten_bounds(equations, low, high)
    if (wrong := np.flatnonzero(high - low >= UNBOUNDED // step // 2)).size:
        raise InputError(
            "nothing published bounds it, so the tables that fit cannot be listed",
            place=table.structure.names(wrong),
            remedy="give the outsider bounds",
        )
    known = {int(c): int(low[c]) for c in np.flatnonzero(low == high)}
    for number, found in enumerate(list_tables(equations, low.tolist(), high.tolist(), known)):
        if number == most:
            fault = f"more than {pluralize(most, 'table')} fit the release"
            raise InputError(fault, remedy="take a smaller one")
        yield np.array([found[c] for c in range(low.size)], dtype=np.int64) * step


def _tighten_bounds(equations: Rows, low: Units, high: Units) -> tuple[Units, Units]:
    """Return a re-running reader's bounds, tightened by the others in each equation until none changes."""
    low, high = low.copy(), high.copy()
    far = UNBOUNDED // 4
    while True:
        before = low.copy(), high.copy()
        for cells, coefficients, rhs in equations:
            at, sign = np.array(cells), np.array(coefficients)
            least = np.where(sign > 0, low[at], -high[at])
            greatest = np.where(sign > 0, high[at], -low[at])
            for k in range(at.size):
                others = np.arange(at.size) != k
                if (least[others] > -far).all():
                    top = rhs - int(least[others].sum())
                    if sign[k] > 0:
                        high[at[k]] = min(high[at[k]], top)
                    else:
                        low[at[k]] = max(low[at[k]], -top)
                if (greatest[others] < far).all():
                    bottom = rhs - int(greatest[others].sum())
                    if sign[k] > 0:
                        low[at[k]] = max(low[at[k]], bottom)
                    else:
                        high[at[k]] = min(high[at[k]], -bottom)
        if np.array_equal(before[0], low) and np.array_equal(before[1], high):
            return low, high
