"""What tau-ARGUS calls a cell after protection: its status, 1 to 14, and its flag for business statistics.

| status | is | flag |
|---|---|---|
| 1, 2, 10 | safe, declared safe by hand, to be published | V |
| 3 | sensitive by dominance of one unit, of several, or by p% and its relatives | B, C, F |
| 4, 6, 9 | sensitive by request, as a zero, by hand | B |
| 5 | sensitive as too few contribute | A |
| 11, 12 | secondary, secondary by hand | D |
| 13, 14 | empty, with contributors who are counted as none, or structurally | - |

Of several rules that a cell meets the one with the lowest status counts. Statuses 7 and 8, singletons, are
not given: their protection is a matter of attackers here, not of statuses.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from tacita.core.exact import Mask
from tacita.core.tables.table import Table
from tacita.problem.problem import Problem
from tacita.rules.concentration import Concentration, Dominance
from tacita.rules.frequency import MinimumFrequency, Threshold, Zeros
from tacita.rules.marks import Request
from tacita.rules.rule import Rule, split_rule


class CellStatus(IntEnum):
    """The number that tau-ARGUS writes for what a cell is."""

    SAFE = 1
    SAFE_BY_HAND = 2
    RULE = 3
    REQUEST = 4
    FREQUENCY = 5
    ZERO = 6
    UNSAFE_BY_HAND = 9
    PROTECTED = 10
    SECONDARY = 11
    SECONDARY_BY_HAND = 12
    EMPTY_NOT_STRUCTURAL = 13
    EMPTY = 14


LETTERS = {
    **dict.fromkeys((1, 2), "S"),
    **dict.fromkeys(range(3, 10), "U"),
    10: "P",
    **dict.fromkeys((11, 12), "M"),
    **dict.fromkeys((13, 14), "E"),
}
"""The letter of each status in intermediate files."""


def find_empty(table: Table) -> Mask:
    """Return a mask of the cells that tau-ARGUS calls empty: structural zeros, zeros that nobody made."""
    empty = np.zeros(len(table), dtype=bool) if table.structural is None else table.structural.copy()
    if table.count is not None:
        empty |= (table.units == 0) & (table.count == 0)
    return empty


def find_statuses(problem: Problem, hidden: Mask) -> NDArray[np.int64]:
    """Return the tau-ARGUS status of each cell of a problem, given which cells a release hides."""
    table, sensitive = problem.table, problem.levels.sensitive
    status = np.full(len(table), CellStatus.SAFE, dtype=np.int64)
    status[problem.exempt] = CellStatus.SAFE_BY_HAND
    status[problem.must_publish] = CellStatus.PROTECTED
    status[hidden] = np.where(problem.must_hide, CellStatus.SECONDARY_BY_HAND, CellStatus.SECONDARY)[hidden]
    first = np.full(len(table), CellStatus.UNSAFE_BY_HAND, dtype=np.int64)
    for kind, cells in _list_hits(problem):
        first[cells] = np.minimum(first[cells], _name_status(kind))
    status[sensitive] = first[sensitive]
    empty = find_empty(table) & (status == CellStatus.SAFE)
    status[empty] = CellStatus.EMPTY_NOT_STRUCTURAL
    if table.structural is not None:
        status[empty & table.structural] = CellStatus.EMPTY
    return status


def find_flags(problem: Problem, hidden: Mask) -> NDArray[np.str_]:
    """Return the flag of each cell for structural business statistics: V, A, B, C, F, D or -."""
    status = find_statuses(problem, hidden)
    flags = np.full(status.size, "V")
    flags[np.isin(status, (CellStatus.REQUEST, CellStatus.ZERO, CellStatus.UNSAFE_BY_HAND))] = "B"
    flags[status == CellStatus.FREQUENCY] = "A"
    flags[np.isin(status, (CellStatus.SECONDARY, CellStatus.SECONDARY_BY_HAND))] = "D"
    flags[status >= CellStatus.EMPTY_NOT_STRUCTURAL] = "-"
    by_rule = status == CellStatus.RULE
    flags[by_rule] = ""
    for kind, cells in _list_hits(problem):
        if _name_status(kind) == CellStatus.RULE:
            letter = ("B" if kind.n == 1 else "C") if isinstance(kind, Dominance) else "F"
            flags[cells[flags[cells] == ""]] = letter
    return flags


def _list_hits(problem: Problem) -> list[tuple[Rule | None, NDArray[np.int64]]]:
    """Return the cells that are sensitive, by the rule that hit them; None: by a file or by hand."""
    rules = () if problem.rule is None else split_rule(problem.rule)[0]
    by_text = {rule.text: rule for rule in rules}
    return [(by_text.get(reason.rule), reason.cells) for reason in problem.levels.reasons]


def _name_status(rule: Rule | None) -> CellStatus:
    if isinstance(rule, Concentration):
        return CellStatus.RULE
    if isinstance(rule, Request):
        return CellStatus.REQUEST
    if isinstance(rule, Threshold | MinimumFrequency):
        return CellStatus.FREQUENCY
    return CellStatus.ZERO if isinstance(rule, Zeros) else CellStatus.UNSAFE_BY_HAND
