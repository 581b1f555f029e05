"""Build a :class:`Problem` from what a file states of each cell: status, levels, bounds, cost.

Status letters, in any case: ``u`` sensitive, ``s`` (or empty) free, ``z`` and ``p`` to be published as it
is, ``m`` and ``x`` hidden by an earlier run, ``e`` empty, ``w`` never published, and
in need of no protection.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tacita.core import exact
from tacita.core.attacker import Outsider
from tacita.core.errors import FormatError, InputError
from tacita.core.exact import UNBOUNDED, Floats, Mask, Units
from tacita.core.levels import Levels, Reason
from tacita.core.tables.table import Table
from tacita.core.words import pluralize
from tacita.problem.problem import Problem
from tacita.rules.protection import USUAL_PERCENT, cap_levels, find_room, to_pair

LETTERS = frozenset("suzpmxew") | {""}
# Programs that cannot say "no bound" write a huge number; from here on it is taken for what it means.
NO_BOUND = 1e15


@dataclass(frozen=True, eq=False)
class Marks:
    """One entry per cell; ``None`` where the file has no such column, NaN where a cell says nothing."""

    status: NDArray[np.str_]
    cost: Floats | None = None
    lower_bound: Floats | None = None
    upper_bound: Floats | None = None
    lower_level: Floats | None = None
    upper_level: Floats | None = None
    sliding_level: Floats | None = None

    def count_decimals(self) -> int:
        """Return the fewest decimals with which the levels and bounds that a file states can be written."""
        columns = (self.lower_level, self.upper_level, self.sliding_level, self.lower_bound, self.upper_bound)
        return max(
            (exact.find_decimals(c[np.abs(c) < NO_BOUND]) for c in columns if c is not None), default=0
        )


def choose_decimals(decimals: int, largest: float, marks: Marks) -> tuple[int, tuple[str, ...]]:
    """Return how many decimals to keep of a file's values, and a note if its levels and bounds have more.

    Levels and bounds are written out in full where values up to ``largest`` leave room for that; otherwise
    they are rounded to the ``decimals`` of the values, in favour of safety.
    """
    try:
        needed = max(decimals, marks.count_decimals())
        if largest * 10.0**needed <= exact.LARGEST:
            return needed, ()
        many = pluralize(needed, "decimal")
    except InputError:
        many = f"more than {pluralize(exact.MOST_DECIMALS, 'decimal')}"
    return decimals, (
        f"levels or bounds have {many}, the values {decimals}: levels were rounded up and bounds inwards to "
        "the last place of the values",
    )


def build_problem(
    table: Table,
    marks: Marks,
    protection: float = USUAL_PERCENT,
    finer: bool = True,
    lower: float | None = None,
    upper: float | None = None,
) -> Problem:
    """Return the problem that a file states: its table with status, levels, bounds and costs of the cells.

    Parameters
    ----------
    marks
        Levels are rounded up to the table's last decimal place, bounds inwards: both in favour of safety.
    protection
        Percent of the value that stands for the levels of sensitive cells for which the file has none.
    finer
        Count in as many decimals as levels and bounds need, unless cells are counts.
    lower, upper
        What everyone knows of all cells; each goes before the bounds of the file.
    """
    status = np.char.lower(np.char.strip(marks.status.astype(np.str_)))
    _refuse_unknown(table, status)
    rounded: tuple[str, ...] = ()
    if finer and not table.integer:
        decimals, rounded = choose_decimals(
            table.decimals, float(np.abs(table.values).max(initial=0.0)), marks
        )
        table = table.with_decimals(decimals)
    outsider = build_outsider(table, marks, lower, upper)
    levels, notes = _build_levels(table, marks, status == "u", outsider, protection)
    if (n := int(np.isin(status, ("m", "x")).sum())) > 0:
        notes.append(f"marked as hidden by an earlier run: {pluralize(n, 'cell')}; the mark is not binding")
    return Problem(
        replace(table, notes=(*table.notes, *rounded, *notes)),
        levels,
        attackers=outsider,
        cost=build_costs(table, marks),
        must_publish=np.flatnonzero(np.isin(status, ("z", "p"))).tolist(),
        must_hide=np.flatnonzero(status == "w").tolist(),
    )


def list_status_letters(problem: Problem) -> NDArray[np.str_]:
    """Return each cell's status letter in files: u sensitive, z to be published, w never, s free."""
    letters = np.full(len(problem.table), "s")
    letters[problem.must_hide] = "w"
    letters[problem.must_publish] = "z"
    letters[problem.levels.sensitive] = "u"
    return letters


def _refuse_unknown(table: Table, status: NDArray[np.str_]) -> None:
    strange = [letter for letter in np.unique(status).tolist() if letter not in LETTERS]
    if strange:
        cell = int(np.flatnonzero(status == strange[0])[0])
        raise FormatError(
            f"({table.name(cell)}): status '{strange[0]}' is unknown",
            remedy="use s (free), u (sensitive), z or p (published as it is), w (never published), "
            "m (hidden before)",
        )


def build_costs(table: Table, marks: Marks) -> Floats:
    """Return the cost of hiding each cell that a file states; where it states none, the absolute value."""
    values = np.abs(table.values)
    return values if marks.cost is None else np.where(np.isnan(marks.cost), values, marks.cost)


def build_outsider(
    table: Table, marks: Marks, lower: float | None = None, upper: float | None = None
) -> Outsider:
    """Return the outsider with the bounds given, or those of the file, or else with no cell negative."""
    negative = bool((table.units < 0).any())
    own_lower = marks.lower_bound if lower is None else None
    own_upper = marks.upper_bound if upper is None else None
    base = Outsider.of(table, -np.inf if negative and own_lower is not None else lower, upper)
    low, high = base.lower.copy(), base.upper.copy()
    free = ~table.structural if table.structural is not None else np.ones(len(table), dtype=bool)
    # Inwards rounding is the attacker's gain; the value itself always stays possible if it was.
    if own_lower is not None:
        given = free & (own_lower > -NO_BOUND)
        low[given] = exact.ceil_units(own_lower[given], table.decimals, table.unit)
        low[free & (own_lower <= -NO_BOUND)] = -UNBOUNDED
    if own_upper is not None:
        given = free & (own_upper < NO_BOUND)
        high[given] = -exact.ceil_units(-own_upper[given], table.decimals, table.unit)
    return Outsider(low, high)


def _build_levels(
    table: Table, marks: Marks, sensitive: Mask, outsider: Outsider, protection: float
) -> tuple[Levels, list[str]]:
    below, above = find_room(table, outsider)
    columns = [c for c in (marks.lower_level, marks.upper_level, marks.sliding_level) if c is not None]
    silent = np.ones(len(table), dtype=bool)
    for column in columns:
        silent &= np.isnan(column)
    lower = _round_level(table, marks.lower_level, below)
    upper = _round_level(table, marks.upper_level, above)
    sliding = _round_level(table, marks.sliding_level, np.full_like(above, UNBOUNDED))
    notes = []
    nothing = sensitive & (lower == 0) & (upper == 0) & (sliding == 0)
    known = nothing & (outsider.lower == outsider.upper)
    if known.any():
        notes.append(
            f"known to everyone, and not protected: {pluralize(int(known.sum()), 'sensitive cell')} without "
            "levels"
        )
    sensitive = sensitive & ~known
    amounts = Reason("marked in the file", np.flatnonzero(sensitive & ~silent), lambda cell: "status u")
    follow = Reason(
        amounts.rule,
        np.flatnonzero(sensitive & silent),
        lambda cell: f"status u, {protection:g} % of the value",
        to_pair(protection),
    )
    reasons = [reason for reason in (amounts, follow) if reason.cells.size]
    stated = Levels.of(
        sensitive, lower=lower, upper=upper, sliding=sliding, reasons=reasons, least=table.unit
    )
    return cap_levels(stated, table, outsider), notes


def _round_level(table: Table, column: Floats | None, room: Units) -> Units:
    """Return the levels that a file states in units; rounding alone never exceeds the bounds' room."""
    if column is None:
        return np.zeros(len(table), dtype=np.int64)
    given = np.nan_to_num(column, nan=0.0)
    if (wrong := np.flatnonzero(given < 0)).size:
        raise FormatError(
            "a protection level is negative: it is a distance, so 0 or more",
            place=table.structure.names(wrong),
        )
    level = exact.ceil_units(given, table.decimals, table.unit)
    rounding_only = (level > room) & (level - room < table.unit)
    return np.where(rounding_only, room, level)
