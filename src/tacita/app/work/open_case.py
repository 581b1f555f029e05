"""What a user works on: a table, what is sensitive in it, who attacks it, what hiding costs.

A :class:`Case` never changes. Whatever the user does makes a new one, so that undo is a list of cases, and a
run that is under way keeps the one it was started with. It becomes a :class:`~tacita.problem.problem.Problem`
when a screen asks for it; what cannot be one is told there, in the words of the core.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any

import numpy as np

from tacita.app.work.stated import Stated
from tacita.attackers.insiders import AttackerLike, Coalition, pooling
from tacita.core.arithmetic import Number
from tacita.core.attacker import Insider, Outsider
from tacita.core.errors import BoundsError, InputError
from tacita.core.exact import Cells, Mask
from tacita.core.levels import Levels
from tacita.core.release import Release
from tacita.core.tables.chosen import read_cells
from tacita.core.tables.editing import moved
from tacita.core.tables.table import Table
from tacita.problem.problem import Problem
from tacita.rules import Exempt, Given, Marked, Rule, has_written_form, parse_rule
from tacita.rules.percentages import USUAL_PERCENT, amounts_in, pair_of
from tacita.rules.rule import in_parts
from tacita.rules.written import written
from tacita.specification.specification import Attackers


class Kind(Enum):
    """What the office decided on a cell by hand."""

    SENSITIVE = "sensitive"
    SAFE = "not sensitive"
    PUBLISH = "must publish"
    HIDE = "must hide"


@dataclass(frozen=True)
class Decision:
    """A decision on one cell.

    Attributes
    ----------
    lower, upper, sliding
        Levels of a sensitive cell, which are amounts; 20 % of the value where none is given.
    exempt
        Of a cell that must be published or hidden: besides, nothing makes it sensitive.
    """

    kind: Kind
    lower: Number | None = None
    upper: Number | None = None
    sliding: Number | None = None
    exempt: bool = False

    @property
    def safe(self) -> bool:
        """Whether the cell is not sensitive, whatever rules and files say."""
        return self.kind is Kind.SAFE or self.exempt

    @property
    def text(self) -> str:
        """The decision in a few words."""
        return f"{self.kind.value}, {Kind.SAFE.value}" if self.exempt else self.kind.value


NOTHING_SAID = Attackers()


@dataclass(frozen=True)
class Wish:
    """How a project wants its case to be protected: what forms begin with.

    Attributes
    ----------
    seed
        Of what is drawn at random; None: a secret one is drawn.
    formats
        Formats of the release, by their endings; none: the project says none.
    folder
        Where ``tacita protect`` writes the release, relative to the project; None: it does not say.
    """

    method: str = "suppression"
    options: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None
    time_limit: float | None = None
    formats: tuple[str, ...] = ()
    folder: str | None = None


@dataclass(frozen=True, eq=False)
class Case:
    """A table with its requirement.

    Attributes
    ----------
    rules
        Written rules, any of which makes a cell sensitive.
    decisions
        What was decided by hand, cell by cell.
    stated
        What the file said, which rules and decisions add to.
    cost
        What hiding a cell costs, or None: as the file said, or else the value.
    published
        Releases that readers may have: everyone knows what they say.
    wish
        How it is to be protected, if the file says so.
    origin
        The project file it was opened from.
    """

    name: str
    table: Table
    rules: tuple[str, ...] = ()
    decisions: Mapping[int, Decision] = field(default_factory=dict)
    attackers: Attackers = NOTHING_SAID
    waived: tuple[str, ...] = ()
    stated: Stated | None = None
    cost: str | None = None
    published: tuple[Release, ...] = ()
    wish: Wish | None = None
    origin: Path | None = None

    @classmethod
    def of(cls, what: Table | Problem, name: str, rules: tuple[str, ...] | None = None) -> Case:
        """A case from what a reader or a generator made; ``rules`` are the words, if there are any, in which
        its rules were said.
        """
        if isinstance(what, Table):
            return cls(name, what)
        found, marks, levels = _in_parts(what, worded=rules is not None)
        decisions, more = decided_in(what, marks)
        levels = amounts_in(levels | more, what.table)
        # Costs that are the values follow them when they are changed.
        cost = None if np.array_equal(what.cost, np.abs(what.table.values)) else what.cost
        given = what.given_attackers
        by_hand = tuple(a for a in given if isinstance(a, Insider))
        stated = Stated.unless_usual(what.table, levels, what.outsider_beforehand, by_hand, cost)
        pooled = [a for a in given if isinstance(a, Coalition)]
        attackers = Attackers(
            tuple(a for a in given if isinstance(a, str)),
            tuple(a.members for a in pooled if a.of == "respondents"),
            tuple(a.members for a in pooled if a.of == "holdings"),
        )
        rules = found if rules is None else rules
        published = what.already_published
        return cls(name, what.table, rules, decisions, attackers, stated=stated, published=published)

    @property
    def rule(self) -> Rule:
        """Everything that makes a cell sensitive, as one rule."""
        rules: list[Rule] = [parse_rule(text) for text in self.rules]
        if self.waived:
            rules = [rule.waived_by(self.waived) for rule in rules]
        if self.stated is not None:
            rules.append(Given(self.stated.levels_of(self.table, self._outsider())))
        alike: dict[Decision, list[int]] = {}
        for cell in self.decided(Kind.SENSITIVE):
            alike.setdefault(self.decisions[cell], []).append(cell)
        rules.extend(Marked(cells, d.lower, d.upper, d.sliding) for d, cells in alike.items())
        joined = reduce(or_, rules) if rules else Given(Levels.none(len(self.table)))
        return Exempt(joined, self.safe) if self.safe else joined

    @property
    def safe(self) -> list[int]:
        """Cells that are not sensitive, whatever rules and the file say."""
        return [cell for cell, decision in self.decisions.items() if decision.safe]

    def decided(self, kind: Kind) -> list[int]:
        """Cells with a decision of this kind."""
        return [cell for cell, decision in self.decisions.items() if decision.kind is kind]

    @property
    def problem(self) -> Problem:
        """The question that methods and the audit are asked; put once.

        Raises
        ------
        InputError
            Rules, levels or attackers that do not fit the table.
        """
        # Not a cached property: before Python 3.12 all cases of all sessions would share its lock.
        kept: Problem | None = self.__dict__.get("_problem")
        if kept is None:
            kept = self.__dict__["_problem"] = self._put()
        return kept

    def forget_problem(self) -> None:
        """Keep the question no longer, which takes more room than the case; it is put anew when asked for."""
        self.__dict__.pop("_problem", None)

    def _put(self) -> Problem:
        said = self.stated.costs(self.table) if self.stated is not None and self.cost is None else None
        try:
            return Problem(
                self.table,
                self.rule,
                attackers=self._attackers(),
                cost=(self.cost or "value") if said is None else said,
                must_publish=self.decided(Kind.PUBLISH),
                must_hide=self.decided(Kind.HIDE),
                already_published=self.published,
            )
        except BoundsError as error:
            # Whoever types a number on another page may never have seen where bounds are said.
            raise error.with_remedy("Bounds are on the page Rules under 'Everyone knows'") from None

    def _attackers(self) -> list[AttackerLike]:
        chosen = self.attackers
        listed = pooling(chosen.coalitions, chosen.holding_coalitions)
        return [
            *chosen.kinds,
            *listed,
            self._outsider(),
            *(self.stated.insiders if self.stated is not None else ()),
        ]

    def _outsider(self) -> Outsider:
        chosen = self.attackers
        known = None if self.stated is None else self.stated.outsider
        return Outsider.as_said(self.table, known, chosen.lower, chosen.upper, chosen.within)

    def decide(self, cells: Iterable[int], decision: Decision | None) -> Case:
        """The same with a decision on some cells, or without one."""
        chosen = set(cells)
        decisions = {cell: said for cell, said in self.decisions.items() if cell not in chosen}
        if decision is not None:
            decisions |= dict.fromkeys(chosen, decision)
        return replace(self, decisions=decisions)

    def with_table(self, table: Table) -> Case:
        """The same requirement for a changed table: what is said of a cell follows it to its new place.

        Raises
        ------
        InputError
            Cells become one, a total with a single part left, of which different things were said.
        """
        same = len(table) == len(self.table)
        cells = np.arange(len(self.table))
        places = cells if same else moved(self.table.structure, table.structure, cells)
        decisions = dict(self.decisions) if same else _followed(self.decisions, table, places)
        stated = self.stated
        if stated is not None and not (same and table.decimals == self.table.decimals):
            stated = stated.at(table, places, self.table.decimals)
        return replace(self, table=table, decisions=decisions, stated=stated)


def _followed(decisions: Mapping[int, Decision], table: Table, places: Cells) -> dict[int, Decision]:
    """Decisions at the new places of their cells; where several cells became one, none is lost in silence."""
    found: dict[int, Decision] = {}
    for cell, said in decisions.items():
        at = int(places[cell])
        if at >= 0 and found.setdefault(at, said) != said:
            raise InputError(
                f"({table.name(at)}): two cells would become this one, and different things were decided on "
                "them: clear the mark of one of them first"
            )
    cells_at = np.bincount(places[places >= 0], minlength=len(table))
    safe_at = Counter(int(places[cell]) for cell, said in decisions.items() if said.safe)
    # That a total is safe does not say so of the part which it has become one with.
    unsure = [at for at, said in found.items() if said.safe and safe_at[at] < cells_at[at]]
    found |= {at: replace(found[at], exempt=False) for at in unsure}
    return {at: said for at, said in found.items() if said.kind is not Kind.SAFE or at not in unsure}


def decided_in(problem: Problem, marks: Iterable[Marked]) -> tuple[dict[int, Decision], Levels]:
    """What is decided on single cells of a problem, some of them by ``marks``; and levels of marked cells
    that no decision can say.

    A cell has one decision: what must be hidden as well is sensitive by its levels, as is a cell that is
    marked twice, or with another percentage than the usual one.
    """
    table = problem.table
    exempt = _exempt(problem)
    decisions: dict[int, Decision] = {cell: Decision(Kind.SAFE) for cell in np.flatnonzero(exempt).tolist()}
    for kind, chosen in ((Kind.PUBLISH, problem.must_publish), (Kind.HIDE, problem.must_hide)):
        cells = np.flatnonzero(chosen).tolist()
        decisions |= {cell: Decision(kind, exempt=bool(exempt[cell])) for cell in cells}
    levels = Levels.none(len(table))
    for mark in marks:
        cells = np.flatnonzero(read_cells(table, mark.cells, mark.text)).tolist()
        said = Decision(Kind.SENSITIVE, mark.lower, mark.upper, mark.sliding)
        amounts = mark.lower is not None or mark.upper is not None
        usual = amounts or pair_of(mark.protection) == (USUAL_PERCENT, USUAL_PERCENT)
        free = [cell for cell in cells if usual and cell not in decisions]
        decisions |= dict.fromkeys(free, said)
        if others := sorted({*cells} - {*free}):
            levels |= replace(mark, cells=others).required(table, problem.outsider_beforehand)
    return decisions, levels


def _exempt(problem: Problem) -> Mask:
    """Cells that are exempt from everything that makes cells sensitive, also those that nothing hits."""
    listed = () if problem.rule is None else in_parts(problem.rule)[1]
    return read_cells(problem.table, listed, "exempt cells")


def _in_parts(problem: Problem, *, worded: bool) -> tuple[tuple[str, ...], list[Marked], Levels]:
    """What makes cells sensitive as rules, marks and what a file states, which a user changes one by one.

    Marks that list cells by their codes are rules where they were ``worded`` as such, and else decisions.

    A rule that has no written form stays what it is for this table: levels, which follow the value where they
    are a percentage of it.
    """
    table = problem.table
    rules: list[str] = []
    marks: list[Marked] = []
    levels = Levels.none(len(table))
    for rule in in_parts(problem.rule or Given(problem.levels))[0]:
        if isinstance(rule, Marked) and (rule.by_position or not (worded or isinstance(rule.cells, str))):
            marks.append(rule)
        elif has_written_form(rule):
            rules.append(written(rule))
        else:
            levels |= rule.required(table, problem.outsider_beforehand)
    return tuple(rules), marks, levels
