"""Whether anything loses less than a loss that is claimed to be the least.

Part of the referee: nothing of Tacita is imported here. Patterns of suppression and rounded tables are tried
one by one; of intervals an integer program with a witness table per requirement is solved as it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import block_diag, coo_array, csr_array, vstack

from knowledge import LOWER, SLIDING, UPPER, Attacker
from truth import Integers, World

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

MOST_FREE = 12
"""Cells that may be hidden or not, for all patterns to be tried."""
NEARLY = 1e-6


def cheaper_pattern(
    forced: Mask,
    allowed: Mask,
    cost: Floats,
    loss: float,
    at_most: int | None,
    protects: Callable[[Mask], bool],
) -> Mask | None:
    """A protected pattern of suppression that costs less than ``loss``, or None if there is none.

    Hiding more never helps an attacker, so only patterns are tried to which no cell can be added.
    """
    for pattern in _largest_patterns(forced, allowed, cost, loss, at_most):
        if protects(pattern):
            return pattern
    return None


def _largest_patterns(
    forced: Mask, allowed: Mask, cost: Floats, loss: float, at_most: int | None
) -> Iterator[Mask]:
    free = np.flatnonzero(allowed & ~forced)
    choices = np.array(list(product([False, True], repeat=free.size)), dtype=bool).reshape(2**free.size, -1)
    spent = cost[forced].sum() + choices @ cost[free]
    limit = loss - max(NEARLY, NEARLY * loss)
    fits = spent < limit
    # No further cell is affordable, or none is allowed any more.
    cheapest = np.where(choices, np.inf, cost[free]).min(axis=1, initial=np.inf)
    largest = spent + cheapest >= limit
    if at_most is not None:
        size = choices.sum(axis=1) + forced.sum()
        fits, largest = fits & (size <= at_most), largest | (size == at_most)
    for chosen in choices[fits & largest]:
        pattern = forced.copy()
        pattern[free[chosen]] = True
        yield pattern


def roundings(world: World, base: int) -> Iterator[Floats]:
    """Every table that adds up whose cells are multiples of the base next to their values."""
    inner = np.flatnonzero(world.inner)
    floor = world.values // base * base
    sums = np.array(
        [[_below(world, total, part) for part in inner] for total in range(len(world))], dtype=np.int64
    )
    ends = [(floor[i], floor[i] + base) if floor[i] < world.values[i] else (floor[i],) for i in inner]
    tables = np.array(list(product(*ends)), dtype=np.int64).reshape(-1, inner.size) @ sums.T
    near = (tables == floor) | ((tables == floor + base) & (floor < world.values))
    yield from tables[near.all(axis=1)].astype(np.float64)


def _below(world: World, total: int, part: int) -> bool:
    """Whether an inner cell lies in another cell."""
    pairs = zip(world.axes, world.cells[total], world.cells[part], strict=True)
    return all(above in axis.above[code] for axis, above, code in pairs)


def least_intervals(
    world: World, attackers: Sequence[Attacker], weight_up: Floats, weight_down: Floats
) -> float:
    """The least loss of protecting intervals, infinite if there are none; in units of the weights times
    units.

    Variables are the ends of all intervals and one witness table (as a move ``f``) per attacker, cell and
    direction that has a level; sliding levels are shared by two witnesses.
    """
    n, rows = len(world), csr_array(world.equations)
    outsider = attackers[0]
    witnesses = [
        (attacker, int(cell), up)
        for attacker in attackers
        for cell in attacker.targets
        for up in (True, False)
    ]
    count = len(witnesses)
    low = np.maximum(outsider.low - world.values, -1e7)
    high = np.minimum(outsider.high - world.values, 1e7)
    bounds_low, bounds_high = [np.zeros(2 * n)], [np.concatenate([-low, high])]
    for attacker, _, _ in witnesses:
        bounds_low.append(np.maximum(attacker.low - world.values, -1e7))
        bounds_high.append(np.minimum(attacker.high - world.values, 1e7))
    size = (2 + count) * n
    one = csr_array(np.eye(n))
    constraints = []
    if count:
        balance = block_diag([rows] * count)
        empty = csr_array((balance.shape[0], 2 * n))
        together = csr_array(coo_array(_beside(empty, balance)))
        constraints.append(LinearConstraint(together, 0, 0))
    for k in range(count):
        at = (2 + k) * n
        # -down <= f <= up
        upper = csr_array(_placed(size, n, {n: -one, at: one}))
        lower = csr_array(_placed(size, n, {0: -one, at: -one}))
        constraints.append(LinearConstraint(vstack([upper, lower]), -np.inf, 0))
    for k in range(0, count, 2):
        attacker, cell, _ = witnesses[k]
        levels = attacker.levels[:, cell]
        reach = np.zeros((3, size))
        reach[0, (2 + k) * n + cell] = 1
        reach[1, (3 + k) * n + cell] = -1
        reach[2] = reach[0] + reach[1]
        constraints.append(LinearConstraint(reach, levels[[UPPER, LOWER, SLIDING]].astype(float), np.inf))
    cost = np.concatenate([weight_down, weight_up, np.zeros(count * n)])
    integrality = np.concatenate([np.ones(2 * n), np.full(count * n, float(world.counts))])
    found = milp(
        cost,
        constraints=constraints,
        bounds=Bounds(np.concatenate(bounds_low), np.concatenate(bounds_high)),
        integrality=integrality,
        options={"time_limit": 20},
    )
    return float(found.fun) if found.status == 0 else np.inf


def _beside(left: csr_array, right: coo_array) -> coo_array:
    right = coo_array(right)
    shape = (left.shape[0], left.shape[1] + right.shape[1])
    return coo_array((right.data, (right.coords[0], right.coords[1] + left.shape[1])), shape=shape)


def _placed(size: int, height: int, blocks: dict[int, csr_array]) -> coo_array:
    """A matrix of some blocks, each from a column on."""
    parts = [coo_array(block) for block in blocks.values()]
    data = np.concatenate([part.data for part in parts])
    row = np.concatenate([part.coords[0] for part in parts])
    column = np.concatenate([part.coords[1] + at for at, part in zip(blocks, parts, strict=True)])
    return coo_array((data, (row, column)), shape=(height, size))


def totals_of(world: World) -> Integers:
    """Cells that are sums of others."""
    return np.flatnonzero(~world.inner)
