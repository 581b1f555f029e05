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

import numpy as np

from tacita.core.arithmetic import Number
from tacita.core.errors import TacitaError
from tacita.core.exact import UNBOUNDED, Mask
from tacita.core.levels import Levels
from tacita.core.tables.cell_selection import read_cells
from tacita.core.tables.table import Table
from tacita.problem.problem import Problem
from tacita.rules import AnyOf, FromColumns, Given, Marked, Rule, has_written_form, parse_rule
from tacita.rules.contributors import ContributorRule
from tacita.rules.grammar import write_rule
from tacita.rules.protection import USUAL_PERCENT, drop_percentages
from tacita.rules.rule import in_parts
from tacita.specification.project_cells import list_codes, list_marked_cells
from tacita.specification.specification import Rules


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
    protection: float = USUAL_PERCENT

    def specified(self, table: Table, by_number: bool) -> Rules:
        """Return what a specification says of them."""
        marks = list_marked_cells(table, self.marks, by_number)
        marks += list_marked_cells(table, self.shares, by_number, percent=True)
        return Rules(
            " | ".join(self.rules) or None,
            self.waived,
            self.protection,
            tuple(marks),
            tuple(list_codes(table, self.exempt, by_number)),
        )


def find_written_rules(problem: Problem) -> tuple[Rule, ...]:
    """Parts of a problem's rule that have a written form, and are no decisions on single cells."""
    parts = () if problem.rule is None else in_parts(problem.rule)[0]
    return tuple(
        part
        for part in parts
        if has_written_form(part) and not (isinstance(part, Marked) and part.by_position)
    )


def select_writable(rules: Sequence[Rule], *, codes: bool) -> tuple[Rule, ...]:
    """Those of the rules that make sense beside a file of cells, in which cells go by ``codes`` or not, and
    which need not have the columns that a rule names.
    """
    return tuple(
        rule
        for rule in rules
        if not isinstance(rule, FromColumns)
        and not (isinstance(rule, Marked) and (isinstance(rule.cells, str) or not codes))
    )


def select_equivalent(rules: Sequence[Rule], table: Table, again: Table) -> tuple[Rule, ...]:
    """Those of the rules that ask the same of a table as it is read ``again`` from files."""
    return tuple(rule for rule in rules if _asks_the_same(rule, table, again))


def _asks_the_same(rule: Rule, table: Table, again: Table) -> bool:
    try:
        one, other = rule.levels(table), parse_rule(write_rule(rule)).levels(again)
    except TacitaError:
        return False
    names = ("sensitive", "lower", "upper", "sliding")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


def split_requirement(
    problem: Problem, waived: Sequence[str] | None, rules: Sequence[Rule], *, codes: bool, following: bool
) -> Sensitive:
    """The parts of a problem's requirement.

    Parameters
    ----------
    waived
        Who has consented to all rules on contributors; None: told by the rules.
    rules
        Those of :func:`worded_rules` that are said in words. What others hit the file of cells says.
    codes
        Whether the file of cells lists them by codes, and can leave levels empty.
    following
        Whether levels in percent of the value stay percentages. Otherwise the file says amounts, and of
        cells that are exempt as much as everyone's bounds leave room for.
    """
    table = problem.table
    parts, listed = in_parts(problem.rule or Given(problem.levels))
    exempt = read_cells(table, listed, "exempt cells")
    marks: list[Marked] = []
    others: list[Rule] = []
    for part in parts:
        if isinstance(part, Marked) and part.by_position:
            # Of a cell that is exempt the file alone speaks: no mark by hand may contradict.
            marks.append(_where(~exempt, part, table))
            others.append(_where(exempt, part, table))
        elif part not in rules:
            others.append(part)
    levels = (
        AnyOf(tuple(others)).required(table, problem.outsider_beforehand)
        if others
        else Levels.none(len(table))
    )
    consents = _consents(find_written_rules(problem)) if waived is None else tuple(waived)
    plain = [
        replace(rule, waivers=rule.waivers - {*consents}) if isinstance(rule, ContributorRule) else rule
        for rule in rules
    ]
    words = tuple(map(write_rule, plain))
    if not following:
        stated = _within_reach(levels, problem, exempt)
        return Sensitive(words, consents, tuple(marks), (), exempt, stated, np.zeros_like(exempt))
    stated, unsaid, protection, shares = _percentages(levels, problem, exempt, empty=codes)
    return Sensitive(words, consents, tuple(marks), shares, exempt, stated, unsaid, protection)


def _where(chosen: Mask, mark: Marked, table: Table) -> Marked:
    hit = read_cells(table, mark.cells, mark.text) & chosen
    return replace(mark, cells=np.flatnonzero(hit).tolist())


def _within_reach(levels: Levels, problem: Problem, exempt: Mask) -> Levels:
    """The same, where levels of cells that are ``exempt`` are no larger than everyone's bounds allow."""
    values, known = problem.table.units, problem.outsider_beforehand
    below = np.minimum(values - known.lower, UNBOUNDED // 2)
    above = np.minimum(known.upper - values, UNBOUNDED // 2)
    rooms = (below, above, below + above)
    columns = (levels.lower, levels.upper, levels.sliding)
    lower, upper, sliding = (
        np.where(exempt, np.minimum(column, room), column)
        for column, room in zip(columns, rooms, strict=True)
    )
    possible = levels.sensitive & ~(exempt & (below + above == 0))
    return Levels.of(
        possible, lower=lower, upper=upper, sliding=sliding, reasons=levels.reasons, least=problem.table.unit
    )


def _percentages(
    levels: Levels, problem: Problem, exempt: Mask, *, empty: bool
) -> tuple[Levels, Mask, float, tuple[Marked, ...]]:
    """Levels that a file of cells says, cells where it leaves them ``empty`` if it can, the percentage that
    stands for these, and cells of which another percentage is asked for, none of which is exempt.
    """
    table = problem.table
    amounts = drop_percentages(levels, table)
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
    return stated, unsaid, USUAL_PERCENT if chosen is None else float(chosen[0]), shares


def _by_percent(levels: Levels) -> Iterator[tuple[tuple[Number, Number], Mask]]:
    """Each percentage that is asked for, with its cells."""
    for percent in dict.fromkeys(reason.percent for reason in levels.reasons):
        if percent is not None:
            hit = np.zeros_like(levels.sensitive)
            for reason in levels.reasons:
                hit[reason.cells] |= reason.percent == percent
            yield percent, hit & levels.sensitive


def _consents(rules: Sequence[Rule]) -> tuple[str, ...]:
    """Those who consented to every rule on contributors; consents to single rules stand in these."""
    consents = {rule.waivers for rule in rules if isinstance(rule, ContributorRule)}
    return tuple(sorted(consents.pop())) if len(consents) == 1 else ()
