"""What a user works on: a table with what its files state of it, and what the user specifies.

A :class:`Case` never changes. Whatever the user does makes a new one, with another specification, or another
table where that was edited. So undo is a list of cases, and a run that is under way keeps the one it was
started with. A case becomes a :class:`~tacita.problem.problem.Problem` when a screen needs it.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np

from tacita.attackers.insiders import AttackerLike, Coalition
from tacita.core.arithmetic import Number
from tacita.core.errors import BoundsError, InputError
from tacita.core.exact import Cells
from tacita.core.hierarchy import Hierarchy
from tacita.core.hierarchy.editing import refuse_parts
from tacita.core.levels import Levels
from tacita.core.release import Release
from tacita.core.tables.classifying import classify, track_classified
from tacita.core.tables.editing import (
    knows_contributors,
    require_one_tree,
    track_cells,
    without_contributors,
)
from tacita.core.tables.table import Table
from tacita.problem.problem import Problem
from tacita.publication.same_layout.input_sheet import InputSheet
from tacita.rules import AnyOf, Marked, has_written_form
from tacita.rules.grammar import write_rule
from tacita.specification.compile import compile_rule
from tacita.specification.project_cells import find_cells, list_marked_cells, name_cells, to_toml_number
from tacita.specification.sections import Attackers, Cell, Output, Protection, Published, Rules, SensitiveCell
from tacita.specification.specification import Specification
from tacita.specification.statement import Statement
from tacita.tabulation.address import is_address, locate


class DecisionKind(Enum):
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

    kind: DecisionKind
    lower: Number | None = None
    upper: Number | None = None
    sliding: Number | None = None
    exempt: bool = False

    @property
    def safe(self) -> bool:
        """Whether the user decided that the cell is not sensitive, whatever rules and files say."""
        return self.kind is DecisionKind.SAFE or self.exempt

    @property
    def text(self) -> str:
        """The user's decision on the cell in a few words, as the page shows it."""
        return f"{self.kind.value}, {DecisionKind.SAFE.value}" if self.exempt else self.kind.value


@dataclass(frozen=True, eq=False)
class Case:
    """A table and its specification.

    Attributes
    ----------
    data
        The table with what its files state.
    specification
        What the user specified. It names the source where the case was opened from a project.
    work
        A name for what was opened: all cases that are made of it have the same, and no other has it.
    sheet
        The sheet of a workbook that the table was read from, while it is the same table.
    tabulated
        What was added up over the records that the table comes from, "" for counts of them; None where it
        does not come from records. It stays when the records are gone.
    """

    name: str
    data: Statement
    specification: Specification = field(default_factory=Specification)
    work: str = field(default_factory=lambda: secrets.token_hex(8))
    sheet: InputSheet | None = None
    tabulated: str | None = None

    @property
    def table(self) -> Table:
        return self.data.table

    @property
    def description(self) -> str:
        """The table's name with its values and dimensions: ``firms (turnover, region by size)``; by these
        the user tells tables of one file of records apart.
        """
        parts = ", ".join(part for part in (self.tabulated, self.dimensions) if part)
        return f"{self.name} ({parts})" if parts else self.name

    @property
    def dimensions(self) -> str:
        """The names of the table's dimensions, such as ``region by size``; empty where it has none."""
        return " by ".join(dimension.name for dimension in self.table.structure.dimensions)

    @property
    def rules(self) -> tuple[str, ...]:
        """The written rules of the session's case, any of which makes a cell sensitive."""
        return self.specification.rules.alternatives

    @property
    def attackers(self) -> Attackers:
        return self.specification.attackers

    @property
    def published(self) -> tuple[Release, ...]:
        """The releases that readers may have, as the page Rules lists them."""
        return self.data.published

    @property
    def from_project(self) -> bool:
        """Whether a project, or the user's choice of records, says where the table comes from."""
        return bool(self.specification.sources)

    @property
    def from_records(self) -> bool:
        """Whether the specification names the records that the user's table is tabulated from."""
        source = self.specification.table
        return source is not None and source.microdata is not None

    @property
    def keeps_records(self) -> bool:
        """Whether the records that the user's table is tabulated from are still there."""
        if not self.from_records:
            return False
        records = locate(self.specification.folder, self.specification.sources[0].path)
        # Addresses in databases and patterns of several files are no paths.
        return is_address(records) or "*" in records or "::" in records or Path(records).exists()

    def specify(self, **sections: Any) -> Case:
        """Return the user's case with other sections; a dictionary changes single fields of a section."""
        return replace(self, specification=self.specification.replace(**sections))

    def with_rules(self, rules: Iterable[str]) -> Case:
        """Return the user's case with other written rules."""
        return self.specify(rules={"rule": " | ".join(rules) or None})

    def with_published(self, releases: tuple[Release, ...]) -> Case:
        """Return the user's case with other releases that readers may have."""
        data = replace(self.data, published=releases)
        return replace(self, data=data).specify(published=Published())

    @property
    def problem(self) -> Problem:
        """The problem that the user's case poses to methods and the audit; compiled once.

        Raises
        ------
        InputError
            Rules, levels or attackers that do not fit the table.
        """
        # Not a cached property: before Python 3.12 all cases of all sessions would share its lock.
        kept: Problem | None = self.__dict__.get("_problem")
        if kept is None:
            kept = self.__dict__["_problem"] = self._compile()
        return kept

    def forget_problem(self) -> None:
        """Free the memory of the case's problem, larger than the case; it is compiled anew on demand."""
        self.__dict__.pop("_problem", None)

    def _compile(self) -> Problem:
        try:
            return self.specification.problem(self.data)
        except BoundsError as error:
            # Whoever types a number on another page may never have seen where bounds are specified.
            raise error.with_remedy("Bounds are on the page Rules under 'Everyone knows'") from None

    def find_levels(self, *, exempting: bool = True) -> Levels:
        """Return the protection levels of the user's case, also where they are refused as a problem.

        Without ``exempting`` cells that are not sensitive by hand are included.
        """
        case = self if exempting else self.specify(rules={"exempt": ()})
        rule = compile_rule(case.specification, case.data)
        assert rule is not None, "a statement says what is sensitive where nothing else does"
        return rule if isinstance(rule, Levels) else rule.levels(self.table)

    @property
    def decisions(self) -> Mapping[int, Decision]:
        """The user's decisions on cells by hand, by cell; found once.

        A cell has one decision: one that must be published or hidden may be sensitive as well. Entries that
        name a percentage state levels, as files do, and are no decisions.
        """
        kept: dict[int, Decision] | None = self.__dict__.get("_decisions")
        if kept is None:
            kept = self.__dict__["_decisions"] = self._find_decisions()
        return kept

    def _find_decisions(self) -> dict[int, Decision]:
        rules, protect = self.specification.rules, self.specification.protect
        exempt = dict.fromkeys(self._places(rules.exempt))
        found = dict.fromkeys(exempt, Decision(DecisionKind.SAFE))
        marks = [mark for mark in rules.sensitive if not states_percentage(mark)]
        for cell, mark in zip(self._places([mark.cell for mark in marks]), marks, strict=True):
            found.setdefault(cell, Decision(DecisionKind.SENSITIVE, mark.lower, mark.upper, mark.sliding))
        for kind, cells in (
            (DecisionKind.PUBLISH, protect.must_publish),
            (DecisionKind.HIDE, protect.must_hide),
        ):
            found |= {cell: Decision(kind, exempt=cell in exempt) for cell in self._places(cells)}
        return found

    @property
    def marked_cells(self) -> list[int]:
        """The cells that the user's case marks as sensitive by hand, in the order of its marks."""
        return self._places([mark.cell for mark in self.specification.rules.sensitive])

    @property
    def exempt_cells(self) -> list[int]:
        """The cells that the user declared not sensitive, whatever rules and the file say."""
        return self._places(self.specification.rules.exempt)

    def list_decided(self, kind: DecisionKind) -> list[int]:
        """Return the cells on which the user made a decision of this kind."""
        return [cell for cell, decision in self.decisions.items() if decision.kind is kind]

    def decide(self, cells: Iterable[int], decision: Decision | None) -> Case:
        """Return the case with this decision of the user on cells, instead of others; None: without."""
        chosen = sorted({*cells})
        codes = name_cells(self.table, chosen)
        gone = {*chosen}
        rules, protect = self.specification.rules, self.specification.protect
        safe = decision is not None and decision.safe

        def others(listed: tuple[Cell, ...]) -> tuple[Cell, ...]:
            places = self._places(listed)
            return tuple(cell for cell, at in zip(listed, places, strict=True) if at not in gone)

        def new(listed: Sequence[Any], kind: DecisionKind) -> tuple[Any, ...]:
            return tuple(listed) if decision is not None and decision.kind is kind else ()

        marks: list[SensitiveCell] = []
        if decision is not None:
            amounts = (decision.lower, decision.upper, decision.sliding)
            levels = [None if amount is None else to_toml_number(amount) for amount in amounts]
            marks = [SensitiveCell(cell, *levels) for cell in codes]
        # Levels that are stated in percent of the value stay, unless the cell is not sensitive at all.
        kept = tuple(
            mark
            for mark, at in zip(rules.sensitive, self.marked_cells, strict=True)
            if at not in gone or (states_percentage(mark) and not safe)
        )
        return self.specify(
            rules={
                "sensitive": (*kept, *new(marks, DecisionKind.SENSITIVE)),
                "exempt": (*others(rules.exempt), *(codes if safe else ())),
            },
            protect={
                "must_publish": (*others(protect.must_publish), *new(codes, DecisionKind.PUBLISH)),
                "must_hide": (*others(protect.must_hide), *new(codes, DecisionKind.HIDE)),
            },
        )

    def with_table(self, table: Table, places: Cells | None = None) -> Case:
        """Return the case of a table edited by the user: what is specified of a cell follows it.

        ``places`` are those of the present cells in that table, -1 where they are gone; without them they are
        found by codes, or are the same where there are as many cells.

        Raises
        ------
        InputError
            Cells become one, a total with a single part left, of which different things were decided.
        """
        if table.structure is self.table.structure:
            return replace(self, data=replace(self.data, table=table), sheet=None)
        if places is None:
            cells = np.arange(len(self.table))
            same = len(table) == len(self.table)
            places = cells if same else track_cells(self.table.structure, table.structure, cells)
        self._refuse_contradictions(table, places)
        rules, protect = self.specification.rules, self.specification.protect

        def follow(listed: Iterable[int]) -> tuple[Cell, ...]:
            there = dict.fromkeys(places[[*listed]].tolist())
            return tuple(name_cells(table, [at for at in there if at >= 0]))

        # That a total is safe does not say so of the part which it has become one with.
        cells_there = np.bincount(places[places >= 0], minlength=len(table))
        safe_there = Counter(int(places[cell]) for cell in self.exempt_cells)
        exempt = [at for at, count in safe_there.items() if at >= 0 and count == cells_there[at]]
        there = places[self.marked_cells].tolist()
        marks = {
            (at, mark.lower, mark.upper, mark.sliding, mark.protection): replace(mark, cell=cell)
            for mark, at, cell in zip(rules.sensitive, there, name_cells(table, there), strict=True)
            if at >= 0
        }
        return replace(self, data=self.data.with_table(table, places), sheet=None).specify(
            rules={
                "sensitive": tuple(marks.values()),
                "exempt": tuple(name_cells(table, exempt)),
            },
            protect={
                "must_publish": follow(self._places(protect.must_publish)),
                "must_hide": follow(self._places(protect.must_hide)),
            },
        )

    def with_tree(self, dimension: str, tree: Hierarchy) -> Case:
        """Return the case with another classification of one dimension: what is specified of a cell follows.

        A table of records is tabulated anew from them, since who contributes to a total only they tell.

        Raises
        ------
        InputError
            The tree does not fit the codes or the numbers, the records are gone, or a cell would be lost of
            which something is specified, or that an earlier release may show.
        """
        self.refuse_lost_records()
        if not self.from_records:
            changed = classify(self.table, dimension, tree)
            self._refuse_losses(changed.places)
            return self.with_table(changed.table, changed.places)
        _, before = require_one_tree(self.table, dimension)
        refuse_parts(tree, before.leaves)
        specification = self.specification.classified(dimension, tree)
        table = specification.data()
        places = track_classified(self.table, table, dimension, before, tree)
        self._refuse_losses(places)
        case = self.with_table(table, places)
        return case.specify(table=specification.table, hierarchies=specification.hierarchies)

    def refuse_lost_records(self) -> None:
        """Refuse to classify a table of the user's whose records are gone: they were uploaded and removed,
        or recent work, which does not hold them, was opened.
        """
        if self.keeps_records:
            return
        if self.from_records:
            name = Path(self.specification.sources[0].path).name
            lost = f"The records that this table was made from are no longer there ({name})"
        elif knows_contributors(self.table):
            lost = "The records that this table was made from were not kept with it"
        else:
            return
        raise InputError(
            f"{lost}, and who contributes to a new subtotal only they tell",
            remedy="Choose the records again on the page Start, or go on without contributors.",
            options=["records", "contributors=forget"],
        )

    def forget_contributors(self) -> Case:
        """Return the user's case without who contributed, and so without the records that say so."""
        case = self.with_table(without_contributors(self.table))
        return case.specify(table=None, hierarchies={}) if self.from_records else case

    def _refuse_losses(self, places: Cells) -> None:
        """Refuse a classification without cells of which something is specified, or that readers may have."""
        data, gone = self.data, places < 0
        specified = data.levels.sensitive | data.must_publish | data.must_hide
        specified[[*self.decisions, *self.marked_cells]] = True
        if (lost := np.flatnonzero(gone & specified)).size:
            raise InputError(
                "the new classification has no such cell, and something is specified of it",
                place=f"({self.table.name(int(lost[0]))})",
                remedy="Keep its group, or clear its mark first.",
                options=["table"],
                cell=int(lost[0]),
            )
        if gone.any() and (data.published or self.specification.published.files):
            raise InputError(
                "the new classification has no such cell, and readers of an earlier release may know it",
                place=f"({self.table.name(int(np.flatnonzero(gone)[0]))})",
                remedy="Keep its group, or take the earlier release away on the page Rules.",
                options=["published"],
                cell=int(np.flatnonzero(gone)[0]),
            )

    def _refuse_contradictions(self, table: Table, places: Cells) -> None:
        """Refuse an edit by which cells with different decisions become one, as one would be lost."""
        found: dict[int, Decision] = {}
        for cell, decision in self.decisions.items():
            at = int(places[cell])
            if at >= 0 and found.setdefault(at, decision) != decision:
                raise InputError(
                    "two cells would become this one, and different things were decided on them",
                    place=f"({table.name(at)})",
                    remedy="clear the mark of one of them first",
                    options=["table"],
                )

    def _places(self, cells: Sequence[Cell]) -> list[int]:
        return find_cells(self.table, cells, "marks")


def open_case(found: Table | Problem, name: str, formats: tuple[str, ...] = ()) -> Case:
    """Return the case that the app works on, of what a reader, a generator or an example made.

    What a file states of its cells stays what it states. A problem that was made in Python is specified by
    its rule, in words or as marks on cells; levels without words are stated. The title above the table in
    its file is that of the release.

    Parameters
    ----------
    formats
        Those of the release that are proposed; none: the usual ones.
    """
    data = Statement.of(found)
    table = data.table
    output = Output(title=table.title, formats=formats)
    if isinstance(found, Table):
        return Case(name, data, Specification(output=output))
    rules = _specify_rules(found)
    if rules is not None:
        data = replace(data, levels=Levels.none(len(table)))
    specification = Specification(
        rules=rules or Rules(),
        attackers=_specify_attackers(found.given_attackers),
        protect=Protection(must_hide=tuple(name_cells(table, np.flatnonzero(found.must_hide).tolist()))),
        output=output,
    )
    return decide_as_stated(Case(name, data, specification))


def decide_as_stated(case: Case) -> Case:
    """Return the case with the cells that its file wants published turned into decisions of the user."""
    if not case.data.must_publish.any():
        return case
    stays = np.flatnonzero(case.problem.must_publish).tolist()
    data = replace(case.data, must_publish=np.zeros(len(case.table), dtype=bool))
    return replace(case, data=data).specify(protect={"must_publish": tuple(name_cells(case.table, stays))})


def states_percentage(mark: SensitiveCell) -> bool:
    """Return whether a mark states levels in percent of the value, as files do: no decision of the user."""
    return mark.protection is not None and mark.lower is None and mark.upper is None


def _specify_rules(problem: Problem) -> Rules | None:
    """Return an opened problem's rule for the user's case, in words or as marks; None where neither."""
    parts = problem.rule.rules if isinstance(problem.rule, AnyOf) else (problem.rule,)
    marks = [part for part in parts if isinstance(part, Marked) and not isinstance(part.cells, str)]
    if len(marks) == len(parts):
        return Rules(sensitive=tuple(list_marked_cells(problem.table, marks, by_number=False)))
    words = [write_rule(part) for part in parts if part is not None and has_written_form(part)]
    return Rules(" | ".join(words)) if len(words) == len(parts) and not marks else None


def _specify_attackers(given: Sequence[AttackerLike]) -> Attackers:
    pooled = [each for each in given if isinstance(each, Coalition)]
    return Attackers(
        tuple(each for each in given if isinstance(each, str)),
        tuple(each.members for each in pooled if each.of == "respondents"),
        tuple(each.members for each in pooled if each.of == "holdings"),
    )
