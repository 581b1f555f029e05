"""The radius that is announced around numbers that were moved, and what readers can do with it.

A cell that moved by ``z`` and is shown as ``v`` with radius ``r`` tells readers that the truth lies in ``v -
r .. v + r``. So ``r >= |z|`` for every cell, and a sensitive cell that went up can keep its lower level only
if ``r >= z + LPL``, one that went down its upper level only if ``r >= |z| + UPL``.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tacita.core import exact
from tacita.core.errors import InfeasibleError, InputError
from tacita.core.exact import UNBOUNDED, Mask, Units
from tacita.core.run import Run
from tacita.methods.adjustment.stated_task import part_of, percentage
from tacita.methods.moving.missed import missed
from tacita.methods.options.per_cell import amounts, round_number
from tacita.problem.problem import Problem


def announced_radius(problem: Problem, said: float | str | None, z: Units, told: Mask) -> Units:
    """Radius of every cell that is ``told`` one: a number, a percentage of the value shown, a column; or the
    first of 1, 2, 5, 10, .. steps that covers what is needed.
    """
    table = problem.table
    if said is None:
        steps = -(-_needed(problem, z) // table.unit)
        radius = np.full(len(table), round_number(max(1, steps)) * table.unit)
    elif (share := percentage(said)) is not None:
        radius = part_of(np.abs(table.units + z), share)
    else:
        radius = amounts(problem, said, "radius")
    if (wrong := np.flatnonzero(told & (radius < np.abs(z)))).size:
        raise InputError(
            f"({table.name(int(wrong[0]))}) moved farther than the announced radius: announce more, or limit "
            "how far cells move"
        )
    return np.where(told, radius, 0)


BY_CAPACITY = (
    ", by how little other cells may move",
    "allow a larger capacity or take it that nobody knows it (option 'readers'), ",
)
Limits = tuple[Units, Units]
"""How far above and below its value each cell can lie at most for readers who know how far cells move."""


def known_limits(problem: Problem, capacity: float | str | None, z: Units) -> Limits | None:
    """Return what a published capacity tells of the cells that are not sensitive; None if there is none.

    A percentage ``s`` of the value tells that a cell shown as ``v > 0`` lies in ``v / (1 + s) .. v / (1 -
    s)``, an amount ``c`` that it lies in ``v - c .. v + c``.
    """
    if capacity is None:
        return None
    value, unlimited = problem.table.units, np.full(len(problem.table), UNBOUNDED)
    if (share := percentage(capacity)) is None:
        far = amounts(problem, capacity, "capacity")
        above, below = far + z, far - z
    else:
        ends = np.array([_ends(int(shown), share) for shown in value + z], dtype=np.int64).reshape(-1, 2)
        above, below = ends[:, 1] - value, value - ends[:, 0]
    sensitive = problem.levels.sensitive
    return np.where(sensitive, unlimited, above), np.where(sensitive, unlimited, below)


def _ends(shown: int, share: Fraction) -> tuple[int, int]:
    """The least and the largest value of which ``shown`` is no farther away than the share of it."""
    size, most = abs(shown), UNBOUNDED // 4
    near = -(-size * share.denominator // (share.denominator + share.numerator))
    far = most if share >= 1 else min(most, size * share.denominator // (share.denominator - share.numerator))
    if share >= 1:
        near = near if size else -most
    return (near, far) if shown >= 0 else (-far, -near)


def refuse_missed(problem: Problem, z: Units, radius: Units, run: Run, limits: Limits | None = None) -> None:
    """Raise where readers of these windows come nearer to a sensitive cell than its levels allow; with
    ``limits`` they know more of cells than windows tell.
    """
    missing = missed(problem, *_narrowed(z, radius, limits), run)
    if not len(missing):
        return
    names = problem.table.structure.names(np.unique(missing.cell))
    who = problem.attackers[int(missing.attacker[0]) + 1]
    enough = _enough(problem, z, radius, run, limits)
    if enough is None:
        near, wider = ("", "") if limits is None else BY_CAPACITY
        raise InfeasibleError(
            f"readers come nearer than the levels allow whatever the radius, {who} for one, by what they "
            f"know{near} and by cells that are published as they are",
            place=names,
            remedy=f"Let totals be free, {wider}take cells off those that must be published, lower the "
            "levels, or switch protected off.",
            options=["protected=no"],
        )
    # Once the time is over nobody knows whether that radius is enough.
    such_as = "" if run.late else f", such as {exact.text(enough, problem.table.decimals)}"
    raise InfeasibleError(
        f"with this radius readers come nearer than the levels allow, {who} for one",
        place=names,
        remedy=f"Announce a larger radius{such_as}, let totals be free, or switch protected off.",
        options=["protected=no"],
    )


def _narrowed(z: Units, radius: Units, limits: Limits | None) -> Limits:
    """How far above and below its value readers think each cell to be."""
    above, below = radius + z, radius - z
    return (above, below) if limits is None else (np.minimum(above, limits[0]), np.minimum(below, limits[1]))


def _enough(problem: Problem, z: Units, radius: Units, run: Run, limits: Limits | None) -> int | None:
    """A radius that keeps all levels, for cells that have one; None if there is none."""

    def keeps(wide: int) -> bool:
        wider = np.where(radius > 0, np.maximum(radius, wide), 0)
        return not len(missed(problem, *_narrowed(z, wider, limits), run))

    if not keeps(UNBOUNDED // 4):
        return None
    enough = 2 * _needed(problem, z)
    while not keeps(enough):
        enough *= 2
    return enough


def _needed(problem: Problem, z: Units) -> int:
    """The least radius that covers every change, and for sensitive cells their levels on the other side."""
    needed = int(np.abs(z).max(initial=0))
    for need in problem.requirements():
        moved = z[need.cells]
        opposite = np.where(moved > 0, moved + need.lower, need.upper - moved)
        sliding = -(-need.sliding // 2)
        needed = max(needed, int(np.maximum(opposite, sliding).max(initial=0)))
    return needed
