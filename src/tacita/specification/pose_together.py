"""Pose what several projects require to readers who have the releases of all of them.

The tables are linked. Each project keeps its own requirement: its rule in its own cells, against its own
attackers, who know of every cell what they contribute to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from tacita.core.levels import Levels
from tacita.core.release import Release
from tacita.core.tables.linked import find_cells_of, link
from tacita.core.tables.table import Table
from tacita.formats.linked import link_problems, place_levels
from tacita.problem.problem import Problem
from tacita.rules import Given, Within
from tacita.specification.compile import compile_case, compile_problem, read_all, read_published
from tacita.specification.related_dimensions import refuse_related
from tacita.specification.sections import Cost, Protection, Published
from tacita.specification.specification import Specification


@dataclass(frozen=True, eq=False)
class JointCase:
    """A project among others: its own table, what it requires on the cells of all, what readers have."""

    table: Table
    problem: Problem
    published: tuple[Release, ...]


def pose_together(specifications: Mapping[str, Specification]) -> dict[str, JointCase]:
    """Return what each of several projects requires of all their releases together.

    Raises
    ------
    TacitaError
        A file cannot be read, or as :func:`pose_stated_together`.
    """
    stated = {name: read_all(each) for name, each in specifications.items()}
    published = {
        name: tuple(read_published(each, _get_table(stated[name]))) for name, each in specifications.items()
    }
    return pose_stated_together(specifications, stated, published)


def pose_stated_together(
    specifications: Mapping[str, Specification],
    stated: Mapping[str, Problem | Table],
    published: Mapping[str, tuple[Release, ...]],
) -> dict[str, JointCase]:
    """Return what each of several specifications requires of all their releases together.

    Parameters
    ----------
    stated
        The table of each, or what its files state of it.
    published
        The releases that are already published, of each.

    Raises
    ------
    TacitaError
        The tables are not parts of one: a cell has two values; or they may share cells by dimensions that are
        not matched.
    """
    tables = {name: _get_table(each) for name, each in stated.items()}
    linked = link(tables)
    refuse_related(specifications, tables)
    cases = {}
    for name, specification in specifications.items():
        own, known = stated[name], specification.attackers
        given: Table | Problem = linked
        if isinstance(own, Problem):
            # Of the other tables nothing but their cells matters here.
            bounds = -np.inf if known.within is not None else known.lower, known.upper
            given = link_problems({**tables, name: own}, *bounds)
        cases[name] = JointCase(tables[name], _pose(specification, own, given), published[name])
    return cases


def _get_table(stated: Problem | Table) -> Table:
    return stated.table if isinstance(stated, Problem) else stated


def _pose(specification: Specification, own: Problem | Table, given: Problem | Table) -> Problem:
    """Return what a project requires on the cells of linked tables, among them its own."""
    specification = replace(specification, published=Published())
    alone = compile_problem(specification, own)
    # What must be published was decided for the release, which is there; costs play no part in an audit.
    judged = replace(specification, protect=Protection(), cost=Cost())
    found = compile_case(judged, given, alone.table)
    assert isinstance(found, Problem)
    table = found.table
    required = place_levels(table, alone)
    attackers = [*found.given_attackers, found.outsider_beforehand]
    if found.rule is None:
        return Problem(table, required, attackers)
    rule = Within(found.rule, np.unique(find_cells_of(table, alone.table)))
    placed = Problem(table, rule, attackers)
    if _covers(placed.levels, required):
        return placed
    # Another table may lack what the rule looks at, such as counts.
    return Problem(table, rule | Given(required), attackers)


def _covers(levels: Levels, required: Levels) -> bool:
    """Return whether levels require at least as much as others in every cell."""
    return bool(
        (levels.sensitive >= required.sensitive).all()
        and (levels.lower >= required.lower).all()
        and (levels.upper >= required.upper).all()
        and (levels.sliding >= required.sliding).all()
    )
