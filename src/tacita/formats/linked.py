"""Join what the files of linked tables state of their cells.

A cell that several tables show is one cell. It is sensitive if one of their files says so, with the largest
of the levels; everyone knows the narrowest of its bounds; it is to be published if one of them says so. It
costs what a file states, or else its value. Where two files contradict each other the cell is refused by
name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from tacita.core import exact
from tacita.core.attacker import Outsider
from tacita.core.errors import InputError, and_others
from tacita.core.exact import UNBOUNDED, Cells, Floats, Mask, Units
from tacita.core.levels import Levels, Reason
from tacita.core.tables.linked import find_cells_of, link
from tacita.core.tables.table import Table
from tacita.problem.problem import Problem


def link_problems(
    parts: Mapping[str, Problem | Table], lower: float | None = None, upper: float | None = None
) -> Problem:
    """Return one problem on linked tables, joined from the problems or bare tables that their files state.

    Parameters
    ----------
    lower, upper
        What everyone knows of cells that no problem shows.

    Raises
    ------
    InputError
        A shared cell is sensitive here and to be published there, or has two costs; the message names it and
        both tables.
    """
    table = link({name: part.table if isinstance(part, Problem) else part for name, part in parts.items()})
    stated = {name: part for name, part in parts.items() if isinstance(part, Problem)}
    places = {name: find_cells_of(table, part.table) for name, part in stated.items()}
    levels = Levels.none(len(table))
    for part in stated.values():
        levels = levels | place_levels(table, part)
    publish = _find_first(table, stated, places, lambda part: part.must_publish)
    hide = _find_first(table, stated, places, lambda part: part.must_hide)
    _refuse_both(
        table, list(stated), publish, _find_first(table, stated, places, lambda p: p.levels.sensitive)
    )
    return Problem(
        table,
        levels,
        # Only what the files state counts here; the project specifies who contributes.
        attackers=["outsider", _join_bounds(table, stated, places, lower, upper)],
        cost=_join_costs(table, stated, places),
        must_publish=np.flatnonzero(publish >= 0).tolist(),
        must_hide=np.flatnonzero(hide >= 0).tolist(),
    )


def place_levels(table: Table, part: Problem) -> Levels:
    """Return the protection levels that the file of one linked table states, on the cells of all tables."""
    place = find_cells_of(table, part.table)

    def placed(level: Units) -> Units:
        units = np.zeros(len(table), dtype=np.int64)
        # Two cells of a table can be one where another table shows that they are the same.
        np.maximum.at(units, place, exact.rescale(level, part.table.decimals, table.decimals))
        return units

    own = part.levels
    sensitive = np.zeros(len(table), dtype=bool)
    sensitive[place[own.sensitive]] = True
    reasons = tuple(_place_reason(reason, place) for reason in own.reasons)
    return Levels(sensitive, placed(own.lower), placed(own.upper), placed(own.sliding), reasons)


def _place_reason(reason: Reason, place: Cells) -> Reason:
    def explain(cell: int) -> str:
        return reason.explain(int(np.flatnonzero(place == cell)[0]))

    return replace(reason, cells=np.unique(place[reason.cells]), explain=explain)


def _find_first(
    table: Table, stated: Mapping[str, Problem], places: Mapping[str, Cells], what: Callable[[Problem], Mask]
) -> Cells:
    """Return per cell of linked tables the number of the first file that marks it so; -1 for none."""
    first = np.full(len(table), -1, dtype=np.int64)
    for k, (name, part) in reversed(list(enumerate(stated.items()))):
        first[places[name][what(part)]] = k
    return first


def _refuse_both(table: Table, names: list[str], publish: Cells, sensitive: Cells) -> None:
    if (wrong := np.flatnonzero((publish >= 0) & (sensitive >= 0))).size:
        cell = int(wrong[0])
        raise InputError(
            f"({table.name(cell)}): sensitive in '{names[sensitive[cell]]}', to be published as it is in "
            f"'{names[publish[cell]]}'{and_others(wrong.size, 'cell')}",
            remedy="change its status in one of them",
        )


def _join_bounds(
    table: Table,
    stated: Mapping[str, Problem],
    places: Mapping[str, Cells],
    lower: float | None,
    upper: float | None,
) -> Outsider:
    low, high = np.full(len(table), -UNBOUNDED), np.full(len(table), UNBOUNDED)
    silent = np.ones(len(table), dtype=bool)
    for name, part in stated.items():
        own = (part.outsider.lower, part.outsider.upper)
        own_low, own_high = (exact.rescale(units, part.table.decimals, table.decimals) for units in own)
        np.maximum.at(low, places[name], own_low)
        np.minimum.at(high, places[name], own_high)
        silent[places[name]] = False
    if silent.any():
        usual = Outsider.of(table, lower, upper)
        low, high = np.where(silent, usual.lower, low), np.where(silent, usual.upper, high)
    return Outsider(low, high)


def _join_costs(table: Table, stated: Mapping[str, Problem], places: Mapping[str, Cells]) -> Floats:
    """Return the cost that files of linked tables state of each cell if not its value; else its value."""
    cost, names = np.abs(table.values), list(stated)
    source = np.full(len(table), -1, dtype=np.int64)
    for k, (name, part) in enumerate(stated.items()):
        own = part.cost != np.abs(part.table.values)
        place, wanted = places[name][own], part.cost[own]
        wrong = np.flatnonzero((source[place] >= 0) & (cost[place] != wanted))
        if wrong.size:
            cell = int(place[wrong[0]])
            raise InputError(
                f"({table.name(cell)}): the costs in '{names[source[cell]]}' and '{name}' "
                f"differ{and_others(wrong.size, 'cell')}",
                remedy="Correct one of them, or say cost.by in the project.",
            )
        cost[place], source[place] = wanted, k
    return cost
