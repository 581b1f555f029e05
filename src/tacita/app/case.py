"""What a user works on: a table, what is sensitive in it, who attacks it, what hiding costs.

A :class:`Case` never changes. Whatever the user does makes a new one, so that undo is a list of cases, and a
run that is under way keeps the one it was started with. It becomes a :class:`~tacita.problem.Problem` when a
screen asks for it; what cannot be one is told there, in the words of the core.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property, reduce
from operator import or_
from pathlib import Path

import numpy as np

from tacita.attackers import Insider, Outsider
from tacita.attackers.insiders import AttackerLike, Coalition
from tacita.errors import InputError
from tacita.exact import UNBOUNDED, Cells, Floats, Units
from tacita.levels import Levels
from tacita.problem import Problem
from tacita.rules import Exempt, Given, Marked, Rule, parse_rule
from tacita.rules.arithmetic import Number
from tacita.tables.editing import moved
from tacita.tables.table import Table


class Kind(Enum):
    """What the office decided on a cell by hand."""

    SENSITIVE = "sensitive"
    SAFE = "not sensitive"
    PUBLISH = "must publish"
    HIDE = "must hide"


@dataclass(frozen=True)
class Decision:
    """A decision on one cell; levels are amounts, and 20 % of the value where none is given."""

    kind: Kind
    lower: Number | None = None
    upper: Number | None = None
    sliding: Number | None = None

    @property
    def levels(self) -> tuple[Number | None, Number | None, Number | None]:
        return self.lower, self.upper, self.sliding


@dataclass(frozen=True)
class Attackers:
    """Who attacks: kinds of insiders besides the outsider, coalitions, and what everyone knows of each cell.

    ``within`` are shares of the value below and above it; without it and without bounds, everyone knows what
    the file said, or else that no cell is negative.
    """

    kinds: tuple[str, ...] = ()
    coalitions: tuple[tuple[str, ...], ...] = ()
    lower: float | None = None
    upper: float | None = None
    within: tuple[float, float] | None = None


@dataclass(frozen=True, eq=False)
class Stated:
    """What a file said about the cells of its table, besides their values."""

    levels: Levels
    outsider: Outsider
    insiders: tuple[Insider, ...]
    cost: Floats

    def at(self, table: Table, places: Cells) -> Stated:
        """The same for a table whose cells stand in other ``places`` (-1: gone); new ones are as usual."""
        if self.insiders:
            raise InputError(
                f"{self.insiders[0].name} attacks this table with knowledge of single cells, which would be "
                "lost with a new row or column: change the values only, or begin with another table"
            )

        def moved_to(column: Units | Floats, fresh: Units | Floats) -> Units | Floats:
            result = fresh.copy()
            result[places[places >= 0]] = column[places >= 0]
            return result

        nothing, n = np.zeros(len(table), dtype=np.int64), len(table)
        own = self.levels
        reasons = tuple(replace(reason, cells=_kept(places[reason.cells])) for reason in own.reasons)
        levels = Levels(
            np.asarray(moved_to(own.sensitive.astype(np.int64), nothing), dtype=bool),
            *(moved_to(level, nothing).astype(np.int64) for level in (own.lower, own.upper, own.sliding)),
            reasons,
        )
        everyone = Outsider(
            moved_to(self.outsider.lower, nothing).astype(np.int64),
            moved_to(self.outsider.upper, np.full(n, UNBOUNDED)).astype(np.int64),
        )
        return Stated(levels, everyone, (), moved_to(self.cost, np.abs(table.values)).astype(np.float64))


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
    origin
        The project file it was opened from.
    """

    name: str
    table: Table
    rules: tuple[str, ...] = ()
    decisions: Mapping[int, Decision] = field(default_factory=dict)
    attackers: Attackers = Attackers()
    waived: tuple[str, ...] = ()
    stated: Stated | None = None
    cost: str | None = None
    origin: Path | None = None

    @classmethod
    def of(cls, what: Table | Problem, name: str) -> Case:
        """A case from what a reader or a generator made."""
        if isinstance(what, Table):
            return cls(name, what)
        decisions = {int(c): Decision(Kind.PUBLISH) for c in np.flatnonzero(what.must_publish)}
        decisions |= {int(c): Decision(Kind.HIDE) for c in np.flatnonzero(what.must_hide)}
        stated = Stated(what.levels, what.outsider, what.insiders, what.cost)
        return cls(name, what.table, decisions=decisions, stated=stated)

    @property
    def rule(self) -> Rule:
        """Everything that makes a cell sensitive, as one rule."""
        rules: list[Rule] = [parse_rule(text) for text in self.rules]
        if self.waived:
            rules = [rule.waived_by(self.waived) for rule in rules]
        if self.stated is not None:
            rules.append(Given(self.stated.levels))
        by_levels: dict[tuple[Number | None, ...], list[int]] = {}
        for cell in self.decided(Kind.SENSITIVE):
            by_levels.setdefault(self.decisions[cell].levels, []).append(cell)
        rules.extend(Marked(cells, *levels) for levels, cells in by_levels.items())
        joined = reduce(or_, rules) if rules else Given(Levels.none(len(self.table)))
        safe = self.decided(Kind.SAFE)
        return Exempt(joined, safe) if safe else joined

    def decided(self, kind: Kind) -> list[int]:
        """Cells with a decision of this kind."""
        return [cell for cell, decision in self.decisions.items() if decision.kind is kind]

    @cached_property
    def problem(self) -> Problem:
        """The question that methods and the audit are asked.

        Raises
        ------
        InputError
            Rules, levels or attackers that do not fit the table.
        """
        cost: str | Floats = self.cost or (self.stated.cost if self.stated is not None else "value")
        return Problem(
            self.table,
            self.rule,
            attackers=self._attackers(),
            cost=cost,
            must_publish=self.decided(Kind.PUBLISH),
            must_hide=self.decided(Kind.HIDE),
        )

    def _attackers(self) -> list[AttackerLike]:
        chosen = self.attackers
        listed: list[AttackerLike] = [*chosen.kinds, *(Coalition(*members) for members in chosen.coalitions)]
        if chosen.within is not None:
            listed.append(Outsider.within(self.table, *chosen.within))
        elif chosen.lower is not None or chosen.upper is not None or self.stated is None:
            listed.append(Outsider.of(self.table, chosen.lower, chosen.upper))
        else:
            listed.append(self.stated.outsider)
        return [*listed, *(self.stated.insiders if self.stated is not None else ())]

    def decide(self, cells: Iterable[int], decision: Decision | None) -> Case:
        """The same with a decision on some cells, or without one."""
        decisions = {cell: said for cell, said in self.decisions.items() if cell not in set(cells)}
        if decision is not None:
            decisions |= dict.fromkeys(cells, decision)
        return replace(self, decisions=decisions)

    def with_table(self, table: Table) -> Case:
        """The same requirement for a changed table: what is said of a cell follows it to its new place."""
        if len(table) == len(self.table):
            return replace(self, table=table)
        places = moved(self.table.structure, table.structure, np.arange(len(self.table)))
        decisions = {int(places[cell]): said for cell, said in self.decisions.items() if places[cell] >= 0}
        stated = None if self.stated is None else self.stated.at(table, places)
        return replace(self, table=table, decisions=decisions, stated=stated)


def _kept(cells: Cells) -> Cells:
    return np.sort(cells[cells >= 0])
