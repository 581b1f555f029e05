"""Split what makes cells sensitive into what a project file can hold of it.

| part | stands in |
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
from tacita.rules import AnyOf, FromColumns, Given, Marked, Request, Rule, has_written_form, parse_rule
from tacita.rules.grammar import write_rule
from tacita.rules.protection import USUAL_PERCENT, drop_percentages
from tacita.rules.rule import ContributorRule, split_rule
from tacita.specification.project_cells import list_codes, list_marked_cells
from tacita.specification.sections import Rules


@dataclass(frozen=True, eq=False)
class SplitRequirement:
    """What makes cells of a problem sensitive, split into what a project and its file of cells hold.

    Attributes
    ----------
    marks
        Cells that are sensitive by hand.
    shares
        Cells with another percentage than ``protection``, or with amounts besides.
    exempt
        Cells that are not sensitive by hand.
    stated
        Levels that stand in the file of cells.
    left_empty
        Cells of ``stated`` whose levels the file leaves empty: they are ``protection`` percent of the value.
    """

    rules: tuple[str, ...]
    waived: tuple[str, ...]
    marks: tuple[Marked, ...]
    shares: tuple[Marked, ...]
    exempt: Mask
    stated: Levels
    left_empty: Mask
    protection: float = USUAL_PERCENT

    def to_rules(self, table: Table, by_number: bool) -> Rules:
        """Return the section ``[rules]`` of a project for what makes its cells sensitive."""
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
    """Return the rules of a problem that a project can write as text; marks on single cells are none."""
    return tuple(
        part
        for part in _split_rule(problem)[0]
        if has_written_form(part) and not (isinstance(part, Marked) and part.by_position)
    )


def _split_rule(problem: Problem) -> tuple[tuple[Rule, ...], Mask]:
    """Return the rules of a problem that ``|`` joins in its project, and a mask of the exempt cells.

    A problem that was made in Python has no specification: its rule is what the user specified.
    """
    parts, exempt = split_rule(problem.rule or Given(problem.levels))
    return parts, read_cells(problem.table, exempt, "exempt cells")


def select_writable(rules: Sequence[Rule], *, codes: bool) -> tuple[Rule, ...]:
    """Return the rules that a project can hold beside its file of cells, in which cells go by ``codes`` or
    not, and which need not have the columns that a rule names.
    """
    return tuple(
        rule
        for rule in rules
        if not isinstance(rule, FromColumns)
        and not (isinstance(rule, Marked) and (isinstance(rule.cells, str) or not codes))
    )


def select_equivalent(rules: Sequence[Rule], table: Table, again: Table) -> tuple[Rule, ...]:
    """Return the rules that give equal levels on a table as it is read ``again`` from a saved project."""
    return tuple(rule for rule in rules if _is_equivalent(rule, table, again))


def _is_equivalent(rule: Rule, table: Table, again: Table) -> bool:
    try:
        one, other = rule.levels(table), parse_rule(write_rule(rule)).levels(again)
    except TacitaError:
        return False
    names = ("sensitive", "lower", "upper", "sliding")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


def split_requirement(
    problem: Problem,
    waived: Sequence[str] | None,
    rules: Sequence[Rule],
    *,
    codes: bool,
    as_percentages: bool,
) -> SplitRequirement:
    """Return what makes cells of a problem sensitive, split into what a project and its files hold.

    Parameters
    ----------
    waived
        Who has consented to all rules on contributors; None: as the rules have it.
    rules
        Those of :func:`find_written_rules` that the project holds. What others hit stands in the file of
        cells.
    codes
        Whether the file of cells lists them by codes, and can leave levels empty.
    as_percentages
        Whether levels in percent of the value stay percentages. Otherwise the file holds amounts, of cells
        that are exempt as much as everyone's bounds leave room for.
    """
    table = problem.table
    parts, exempt = _split_rule(problem)
    marks: list[Marked] = []
    others: list[Rule] = []
    for part in parts:
        if isinstance(part, Marked) and part.by_position:
            # An exempt cell is marked in the file alone: a mark by hand would contradict the exemption.
            marks.append(_restrict_mark(~exempt, part, table))
            others.append(_restrict_mark(exempt, part, table))
        elif part not in rules:
            others.append(part)
    levels = (
        AnyOf(tuple(others)).required_levels(table, problem.outsider_beforehand)
        if others
        else Levels.none(len(table))
    )
    consents = _find_consents(find_written_rules(problem)) if waived is None else tuple(waived)
    plain = [
        replace(rule, waivers=rule.waivers - {*consents})
        if isinstance(rule, ContributorRule | Request)
        else rule
        for rule in rules
    ]
    words = tuple(map(write_rule, plain))
    if not as_percentages:
        stated = _limit_levels(levels, problem, exempt)
        return SplitRequirement(words, consents, tuple(marks), (), exempt, stated, np.zeros_like(exempt))
    stated, left_empty, protection, shares = _split_percentages(levels, problem, exempt, empty=codes)
    return SplitRequirement(words, consents, tuple(marks), shares, exempt, stated, left_empty, protection)


def _restrict_mark(chosen: Mask, mark: Marked, table: Table) -> Marked:
    hit = read_cells(table, mark.cells, mark.text) & chosen
    return replace(mark, cells=np.flatnonzero(hit).tolist())


def _limit_levels(levels: Levels, problem: Problem, exempt: Mask) -> Levels:
    """Return levels for a project's file of cells, those of ``exempt`` cells within everyone's bounds."""
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


def _split_percentages(
    levels: Levels, problem: Problem, exempt: Mask, *, empty: bool
) -> tuple[Levels, Mask, float, tuple[Marked, ...]]:
    """Return levels that a project's file of cells holds, cells where it leaves them ``empty`` if it can, the
    percentage that stands for these, and cells of which another percentage is asked for, none of which is
    exempt.
    """
    table = problem.table
    amounts = drop_percentages(levels, table)
    silent = levels.sensitive & ((amounts.lower | amounts.upper | amounts.sliding) == 0)
    asked = {
        percent: int((silent & hit).sum())
        for percent, hit in _group_by_percent(levels)
        if empty and percent[0] == percent[1] > 0
    }
    chosen = max(asked, key=asked.__getitem__, default=None)
    left_empty = np.zeros_like(silent)
    if chosen is not None:
        left_empty = silent & np.logical_and.reduce(
            [hit == (percent == chosen) for percent, hit in _group_by_percent(levels)]
        )
    whole = left_empty | exempt
    others = [(percent, hit & ~whole) for percent, hit in _group_by_percent(levels)]
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
    return stated, left_empty, USUAL_PERCENT if chosen is None else float(chosen[0]), shares


def _group_by_percent(levels: Levels) -> Iterator[tuple[tuple[Number, Number], Mask]]:
    """Yield each percentage of the value that levels have in a project, with a mask of its cells."""
    for percent in dict.fromkeys(reason.percent for reason in levels.reasons):
        if percent is not None:
            hit = np.zeros_like(levels.sensitive)
            for reason in levels.reasons:
                hit[reason.cells] |= reason.percent == percent
            yield percent, hit & levels.sensitive


def _find_consents(rules: Sequence[Rule]) -> tuple[str, ...]:
    """Return the contributors who consented to every rule of a project; ``waived`` lists them."""
    consents = {rule.waivers for rule in rules if isinstance(rule, ContributorRule)}
    return tuple(sorted(consents.pop())) if len(consents) == 1 else ()
