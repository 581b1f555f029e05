"""Directions that leave equations nearly in balance, found by simulated annealing.

The loss that is annealed is the one of :mod:`tacita.methods.adjustment.directions.balance`,

    sum_p w_p |least_p|  +  max over classes of  sum_{q in class} c_q |e_q|  +  TIE sum_q c_q |e_q|,

whose change by a flip is a handful of additions. The last term breaks ties of flips outside the largest
class.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacita.core.compiled import compile_once
from tacita.core.exact import Cells, Floats, Mask
from tacita.core.run import Run
from tacita.methods.adjustment.directions.balance import Balance
from tacita.methods.adjustment.task import DirectionChoice

TIE = 0.1
STEPS = 4000
"""Per cell that has a choice. On 500 cells of a 100 by 100 table the loss is 1 % above that of ten times as
many steps."""
MOST_STEPS = 1 << 24
CHUNK = 1 << 18
"""Steps between two checks of the time."""
HEAT = 0.5
"""First temperature, as a multiple of the mean cost of a flip; the last is 0."""
PYTHON = 1 << 15
"""Steps up to which plain Python is faster than loading the compiler."""


def balance_greedily(balance: Balance, choice: DirectionChoice) -> Mask:
    """Return adjustment directions that balance equations greedily: the largest cell first, up in ties."""
    up = choice.can_rise.copy()
    free = np.flatnonzero(choice.can_rise & choice.can_fall)
    columns = balance.forced.tocsc()
    decided = np.where(choice.can_rise, balance.up, balance.down)
    decided[free] = 0.0
    out = np.asarray(balance.forced @ decided) + balance.offset
    for p in free[np.argsort(-(balance.up - balance.down)[free], kind="stable")]:
        span = slice(columns.indptr[p], columns.indptr[p + 1])
        rows, entry = columns.indices[span], columns.data[span]
        rises, falls = (
            float((balance.unit_cost[rows] * np.abs(out[rows] + entry * move)).sum()) + cost
            for move, cost in (
                (balance.up[p], balance.up_cost[p]),
                (balance.down[p], balance.down_cost[p]),
            )
        )
        up[p] = rises <= falls
        out[rows] += entry * (balance.up[p] if up[p] else balance.down[p])
    return up


def anneal(balance: Balance, choice: DirectionChoice, start: Mask, run: Run, seed: int) -> Mask:
    """Return the best adjustment directions that an annealing from ``start`` finds, the same for a seed."""
    free = np.flatnonzero(choice.can_rise & choice.can_fall)
    if not free.size or not balance.equations.size:
        return start
    draw = np.random.default_rng((run.search, seed))
    columns = balance.forced.tocsc()
    swing = balance.up - balance.down
    change = columns.data * np.repeat(swing, np.diff(columns.indptr))
    heat = HEAT * float((np.abs(change) * balance.unit_cost[columns.indices]).mean())
    out = balance.imbalance(start)
    total = np.bincount(balance.class_of, balance.unit_cost * np.abs(out)).astype(np.float64)
    up, best, record = start.copy(), start.copy(), np.zeros(2)
    steps = min(STEPS * free.size, MOST_STEPS)
    cool = compile_once(anneal_steps) if steps > PYTHON else anneal_steps
    for done in range(0, steps, CHUNK):
        if run.over:
            break
        count = min(CHUNK, steps - done)
        cool(
            up,
            out,
            total,
            best,
            record,
            columns.indptr.astype(np.int64),
            columns.indices.astype(np.int64),
            change,
            balance.unit_cost,
            balance.class_of,
            balance.up_cost - balance.down_cost,
            free[draw.integers(free.size, size=count)],
            draw.random(count),
            heat * (1 - np.arange(done, done + count) / steps),
        )
    return best


def anneal_steps(
    up: Mask,
    out: Floats,
    total: Floats,
    best_up: Mask,
    record: Floats,
    start: Cells,
    equation: Cells,
    change: Floats,
    unit_cost: Floats,
    class_of: Cells,
    extra_cost_up: Floats,
    picks: Cells,
    luck: Floats,
    heat: Floats,
) -> None:
    """Take annealing steps on the directions of an adjustment, in place: the first five arguments change.

    ``record`` holds the current loss and the best so far, both relative to the start.
    """
    trial: NDArray[np.float64] = total.copy()
    for step in range(picks.size):
        p = picks[step]
        sign = -1.0 if up[p] else 1.0
        trial[:] = total
        for k in range(start[p], start[p + 1]):
            q = equation[k]
            trial[class_of[q]] += unit_cost[q] * (abs(out[q] + sign * change[k]) - abs(out[q]))
        gain = trial.max() - total.max() + sign * extra_cost_up[p]
        steered = gain + TIE * (trial.sum() - total.sum())
        if steered > 0.0 and luck[step] >= np.exp(-steered / (heat[step] + 1e-300)):
            continue
        up[p] = not up[p]
        for k in range(start[p], start[p + 1]):
            out[equation[k]] += sign * change[k]
        total[:] = trial
        record[0] += gain
        if record[0] < record[1] - 1e-9 * abs(record[1]):
            record[1] = record[0]
            best_up[:] = up
