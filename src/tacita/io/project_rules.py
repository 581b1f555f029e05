"""What makes cells sensitive, taken apart into what a project file can say of it.

| part | said by |
|---|---|
| rules that have a written form | ``rule`` and ``waived`` of ``[rules]`` |
| decisions on single cells | ``sensitive`` and ``exempt`` of ``[rules]`` |
| all else, as levels | status and levels of the cells, in their file |

Levels in percent of the value stay percentages: the file of cells leaves them empty, and ``protection`` says
how much; other percentages than that one stand in ``sensitive``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tacita.exact import Mask
from tacita.io.percentages import amounts_in
from tacita.io.project_cells import USUAL, cells_by_codes, mark_entries
from tacita.levels import Levels
from tacita.problem import Problem
from tacita.rules import RULES, AnyOf, Exempt, FromColumns, Given, Marked, Rule
from tacita.rules.arithmetic import Number
from tacita.rules.contributors import ContributorRule
from tacita.rules.rule import in_parts
from tacita.rules.selection import cell_mask
from tacita.rules.written import written
from tacita.tables.table import Table


@dataclass(frozen=True, eq=False)
class Sensitive:
    """What makes cells of a problem sensitive, in parts.

    Attributes
    ----------
    marks
        Cells that are sensitive by hand.
    shares
        Cells of which a file asked for another percentage than ``protection``, or for amounts besides.
    exempt
        Cells that are not sensitive by hand.
    stated
        Levels that the file of cells says.
    unsaid
        Cells of ``stated`` whose levels the file leaves empty: they are ``protection`` percent of the value.
    """

    rules: tuple[str, ...]
    waived: tuple[str, ...]
    marks: tuple[Marked, ...]
    shares: tuple[Marked, ...]
    exempt: Mask
    stated: Levels
    unsaid: Mask
    protection: float = USUAL

    @classmethod
    def plain(cls, problem: Problem) -> Sensitive:
        """All of it as levels, which are amounts."""
        nothing = np.zeros(len(problem.table), dtype=bool)
        return cls((), (), (), (), nothing, problem.levels, nothing)

    def section(self, table: Table, by_number: bool) -> dict[str, Any]:
        """``[rules]`` of the project file."""
        marks = mark_entries(table, self.marks, by_number)
        marks += mark_entries(table, self.shares, by_number, percent=True)
        return {
            "rule": " | ".join(self.rules) or None,
            "waived": list(self.waived) or None,
            "protection": None if self.protection == USUAL else self.protection,
            "sensitive": marks or None,
            "exempt": cells_by_codes(table, self.exempt, by_number) or None,
        }


def taken_apart(problem: Problem, waived: Sequence[str] | None, *, codes: bool, following: bool) -> Sensitive:
    """The parts of a problem's requirement.

    Parameters
    ----------
    waived
        Who has consented to all rules on contributors; None: told by the rules.
    codes
        Whether the file of cells lists them by codes, and can leave levels empty.
    following
        Whether levels in percent of the value stay percentages, and cells that are exempt stay marked in the
        file. Otherwise the file says amounts, and nothing of cells that are exempt.
    """
    table = problem.table
    parts, listed = in_parts(problem.rule or Given(problem.levels))
    exempt = cell_mask(table, listed, "exempt cells")
    named: list[Rule] = []
    marks: list[Marked] = []
    others: list[Rule] = []
    for part in parts:
        if isinstance(part, Marked) and part.by_position:
            marks.append(_without(part, exempt, table))
        elif isinstance(part, Marked):
            (named if codes and not isinstance(part.cells, str) else others).append(part)
        else:
            by_rule = type(part) in RULES.values() and not isinstance(part, FromColumns)
            (named if by_rule else others).append(part)
    rest = AnyOf(tuple(others)) if others else Given(Levels.none(len(table)))
    consents = _consents(named) if waived is None else tuple(waived)
    plain = [
        replace(rule, waivers=rule.waivers - {*consents}) if isinstance(rule, ContributorRule) else rule
        for rule in named
    ]
    rules = tuple(map(written, plain))
    if not following:
        stated = Exempt(rest, np.flatnonzero(exempt).tolist()).levels(table)
        return Sensitive(rules, consents, tuple(marks), (), exempt, stated, np.zeros_like(exempt))
    stated, unsaid, protection, shares = _percentages(rest.levels(table), problem, exempt, empty=codes)
    return Sensitive(rules, consents, tuple(marks), shares, exempt, stated, unsaid, protection)


def _percentages(
    levels: Levels, problem: Problem, exempt: Mask, *, empty: bool
) -> tuple[Levels, Mask, float, tuple[Marked, ...]]:
    """Levels that a file of cells says, cells where it leaves them ``empty`` if it can, the percentage that
    stands for these, and cells of which another percentage is asked for.

    Of a cell that is exempt the file alone speaks: no mark by hand may contradict.
    """
    table = problem.table
    amounts = amounts_in(levels, table, problem.outsider)
    silent = levels.sensitive & ((amounts.lower | amounts.upper | amounts.sliding) == 0)
    asked = {
        percent: int((silent & hit).sum())
        for percent, hit in _by_percent(levels)
        if empty and percent[0] == percent[1] > 0
    }
    chosen = max(asked, key=asked.__getitem__, default=None)
    unsaid = np.zeros_like(silent)
    if chosen is not None:
        unsaid = silent & np.logical_and.reduce(
            [hit == (percent == chosen) for percent, hit in _by_percent(levels)]
        )
    whole = unsaid | exempt
    others = [(percent, hit & ~whole) for percent, hit in _by_percent(levels)]
    shares = tuple(
        Marked(np.flatnonzero(hit).tolist(), protection=percent) for percent, hit in others if hit.any()
    )
    stated = Levels(
        levels.sensitive & (whole | ~silent),
        np.where(whole, levels.lower, amounts.lower),
        np.where(whole, levels.upper, amounts.upper),
        np.where(whole, levels.sliding, amounts.sliding),
        levels.reasons,
    )
    return stated, unsaid, USUAL if chosen is None else float(chosen[0]), shares


def _by_percent(levels: Levels) -> Iterator[tuple[tuple[Number, Number], Mask]]:
    """Each percentage that is asked for, with its cells."""
    for percent in dict.fromkeys(reason.percent for reason in levels.reasons):
        if percent is not None:
            hit = np.zeros_like(levels.sensitive)
            for reason in levels.reasons:
                hit[reason.cells] |= reason.percent == percent
            yield percent, hit & levels.sensitive


def _without(mark: Marked, exempt: Mask, table: Table) -> Marked:
    hit = cell_mask(table, mark.cells, mark.text) & ~exempt
    return replace(mark, cells=np.flatnonzero(hit).tolist())


def _consents(rules: Sequence[Rule]) -> tuple[str, ...]:
    """Those who consented to every rule on contributors; consents to single rules stand in these."""
    consents = {rule.waivers for rule in rules if isinstance(rule, ContributorRule)}
    return tuple(sorted(consents.pop())) if len(consents) == 1 else ()
