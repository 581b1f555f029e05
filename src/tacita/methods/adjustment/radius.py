"""The announced radius around changed numbers, and what readers can deduce from it.

A cell that changed by ``z`` and is published as ``v`` with radius ``r`` tells readers that the truth lies in
``v - r .. v + r``. So ``r >= |z|`` for every cell. A sensitive cell that went up meets its lower level only
if ``r >= z + LPL``, one that went down its upper level only if ``r >= |z| + UPL``.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tacita.core import exact
from tacita.core.errors import InfeasibleError, InputError
from tacita.core.exact import UNBOUNDED, Mask, Units
from tacita.core.run import Run
from tacita.methods.adjustment.task_options import multiply_exactly, parse_percentage
from tacita.methods.options.per_cell import find_round_number, read_amounts
from tacita.methods.protection.missed_levels import find_missed
from tacita.problem.problem import Problem


def choose_radius(problem: Problem, given: float | str | None, z: Units, movable: Mask) -> Units:
    """Return the radius announced around each ``movable`` cell's adjusted number, in units; 0 for others.

    It is given as a number, a percentage of the published value, or a column. Without one it is the first of
    1, 2, 5, 10, ... steps that is enough for every change and every level.
    """
    table = problem.table
    if given is None:
        steps = -(-_find_least_radius(problem, z) // table.unit)
        radius = np.full(len(table), find_round_number(max(1, steps)) * table.unit)
    elif (share := parse_percentage(given)) is not None:
        radius = multiply_exactly(np.abs(table.units + z), share)
    else:
        radius = read_amounts(problem, given, "radius")
    if (wrong := np.flatnonzero(movable & (radius < np.abs(z)))).size:
        raise InputError(
            f"({table.name(int(wrong[0]))}) moved farther than the announced radius",
            remedy="announce more, or limit how far cells move",
        )
    return np.where(movable, radius, 0)


Limits = tuple[Units, Units]
"""How far above and below its value each cell can lie for readers who know more than windows."""


def find_capacity_limits(problem: Problem, capacity: float | str | None, z: Units) -> Limits | None:
    """Return how far from its value each cell can lie for readers who know an adjustment's capacity.

    With a percentage ``s`` a cell published as ``v > 0`` lies in ``v / (1 + s) .. v / (1 - s)``, with an
    amount ``c`` in ``v - c .. v + c``.
    """
    if capacity is None:
        return None
    value, unlimited = problem.table.units, np.full(len(problem.table), UNBOUNDED)
    if (share := parse_percentage(capacity)) is None:
        far = read_amounts(problem, capacity, "capacity")
        above, below = far + z, far - z
    else:
        ends = np.array(
            [_find_range_before(int(shown), share) for shown in value + z], dtype=np.int64
        ).reshape(-1, 2)
        above, below = ends[:, 1] - value, value - ends[:, 0]
    sensitive = problem.levels.sensitive
    return np.where(sensitive, unlimited, above), np.where(sensitive, unlimited, below)


def _find_range_before(shown: int, share: Fraction) -> tuple[int, int]:
    """Return the least and largest value that an adjustment within this share can publish as ``shown``."""
    size, most = abs(shown), UNBOUNDED // 4
    near = -(-size * share.denominator // (share.denominator + share.numerator))
    far = most if share >= 1 else min(most, size * share.denominator // (share.denominator - share.numerator))
    if share >= 1:
        near = near if size else -most
    return (near, far) if shown >= 0 else (-far, -near)


def check_levels(problem: Problem, z: Units, radius: Units, run: Run, limits: Limits | None = None) -> None:
    """Raise an error if readers of an adjusted release deduce more of a sensitive cell than levels allow.

    Readers know the windows ``a + z - radius .. a + z + radius`` and the ``limits``.
    """
    missing = find_missed(problem, *_combine_limits(z, radius, limits), run)
    if not len(missing):
        return
    names = problem.table.structure.names(np.unique(missing.cell))
    who = problem.attackers[int(missing.attacker[0]) + 1]
    enough = _find_sufficient_radius(problem, z, radius, run, limits)
    if enough is None:
        near, wider, options = "", "", ["protected=no"]
        if limits is not None:
            near = ", by how little other cells may move"
            wider = "allow a larger capacity or take it that nobody knows it, "
            options = ["readers=radius", *options]
        raise InfeasibleError(
            f"readers come nearer than the levels allow whatever the radius, {who} for one, by what they "
            f"know{near} and by cells that are published as they are",
            place=names,
            remedy=f"Let totals be free, {wider}take cells off those that must be published, lower the "
            "levels, or switch protected off.",
            options=options,
        )
    # A radius that was not checked in time is not named.
    such_as = "" if run.late else f", such as {exact.to_text(enough, problem.table.decimals)}"
    raise InfeasibleError(
        f"with this radius readers come nearer than the levels allow, {who} for one",
        place=names,
        remedy=f"Announce a larger radius{such_as}, let totals be free, or switch protected off.",
        options=["radius", "protected=no"],
    )


def _combine_limits(z: Units, radius: Units, limits: Limits | None) -> Limits:
    """Return how far above and below its value readers of an adjusted release can place each cell."""
    above, below = radius + z, radius - z
    return (above, below) if limits is None else (np.minimum(above, limits[0]), np.minimum(below, limits[1]))


def _find_sufficient_radius(
    problem: Problem, z: Units, radius: Units, run: Run, limits: Limits | None
) -> int | None:
    """Return a radius for adjusted cells that meets all levels, in units; None if no radius does."""

    def meets_levels(wide: int) -> bool:
        wider = np.where(radius > 0, np.maximum(radius, wide), 0)
        return not len(find_missed(problem, *_combine_limits(z, wider, limits), run))

    if not meets_levels(UNBOUNDED // 4):
        return None
    enough = 2 * _find_least_radius(problem, z)
    while not meets_levels(enough):
        enough *= 2
    return enough


def _find_least_radius(problem: Problem, z: Units) -> int:
    """Return the least radius that covers every adjustment and the opposite levels of sensitive cells."""
    needed = int(np.abs(z).max(initial=0))
    for need in problem.requirements():
        moved = z[need.cells]
        opposite = np.where(moved > 0, moved + need.lower, need.upper - moved)
        sliding = -(-need.sliding // 2)
        needed = max(needed, int(np.maximum(opposite, sliding).max(initial=0)))
    return needed
