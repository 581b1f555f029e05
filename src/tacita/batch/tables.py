"""The tables of a batch: what its commands say of each, and the problem that they pose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any

import numpy as np

from tacita.batch.rules import TranslatedRule, translate_rule
from tacita.core.errors import FormatError, InputError
from tacita.core.exact import Floats
from tacita.core.levels import Levels
from tacita.core.tables.linked import find_cells_of, link
from tacita.core.tables.read_options import ReadOptions
from tacita.core.tables.table import Table
from tacita.formats.argus.apriori import apply_apriori, parse_apriori
from tacita.formats.argus.batch import Apriori, ReadTable, Recode, SafetyRule, SpecifyTable
from tacita.formats.argus.metadata import Metadata
from tacita.formats.argus.metadata_file import parse_metadata
from tacita.formats.argus.microdata import ArgusRecords, read_microdata
from tacita.formats.argus.recodings import parse_recoding
from tacita.formats.argus.table_data import read_table_data
from tacita.formats.argus.tokens import find_beside
from tacita.formats.linked import link_problems, place_levels
from tacita.problem.problem import Problem
from tacita.rules import Given, Marked, Rule, Within, parse_rule

COSTS = {-1: "count", -2: "unit", -3: "distance"}
NO_RULE: Rule = Marked(())
"""A rule that no cell meets."""


@dataclass(frozen=True)
class Subject:
    """What a table is about: its records, None of tables that are read as such, and its response.

    Tables of one subject may share cells.
    """

    records: Path | None
    response: str | None


@dataclass(frozen=True)
class BatchTable:
    """A table of a batch: its files, and what commands say of it so far.

    Attributes
    ----------
    number
        Its number in the batch, from 1.
    folders
        Where files are looked for.
    records
        Whether the data are microdata.
    read
        How totals of a table are read; None of microdata.
    """

    number: int
    folders: tuple[Path, ...]
    data: str
    metadata: str
    records: bool
    specified: SpecifyTable
    rule: SafetyRule
    read: ReadTable | None = None
    recodes: tuple[Recode, ...] = ()
    decisions: tuple[Apriori, ...] = ()

    def find(self, name: str) -> Path:
        """Return the path of a file that the batch names for this table."""
        return find_beside(name, *self.folders)

    def read_metadata(self) -> Metadata:
        """Return the metadata of the table's data."""
        return parse_metadata(self.find(self.metadata), "microdata" if self.records else "table")

    @property
    def subject(self) -> Subject:
        """What the table is about."""
        response = self.specified.response
        return Subject(
            self.find(self.data) if self.records else None, None if response is None else response.casefold()
        )

    @property
    def remarks(self) -> tuple[str, ...]:
        """What commands ask of the table that is not done as tau-ARGUS does it."""
        remarks = [*translate_rule(self.rule).remarks]
        if self.specified.cost == -3:
            remarks.append(
                "costs by distance count the sums that lead from the nearest sensitive cell: <DISTANCE> of "
                "the metadata is not used"
            )
        if self.specified.exponent is not None:
            how = "log(1 + cost)" if self.specified.exponent == 0 else f"cost^{self.specified.exponent:g}"
            remarks.append(f"lambda: each cell costs {how}")
        if self.read is not None and self.read.mode == 2:
            remarks.append("READTABLE 2: a table that does not add up is refused, as no audit could judge it")
        if self.read is not None and self.read.mode == 1 and self.read.keep_status is False:
            remarks.append("READTABLE 1F: statuses of the cells that are listed are kept all the same")
        return tuple(remarks)


def pose_problem(tables: Sequence[BatchTable], *, with_costs: bool = True) -> Problem:
    """Return the problem of one table of a batch, or of several linked ones together.

    Rules and decisions of each table hold in its own cells. A cell that several tables show is sensitive if
    one of them makes it so.

    Parameters
    ----------
    with_costs
        Whether what hiding a cell costs matters; else every cell costs its value.

    Raises
    ------
    TacitaError
        A file cannot be read, or what commands say does not fit it.
    """
    rules = [translate_rule(table.rule) for table in tables]
    # Linked tables keep as many of the largest contributions as each of them has.
    largest = max(rule.largest for rule in rules)
    parts = [_read_table(each, rule, largest) for each, rule in zip(tables, rules, strict=True)]
    whole = _link(parts)
    table = _get_table(whole)
    own = [_place_rule(table, part, rule.rule) for part, rule in zip(parts, rules, strict=True)]
    joined = reduce(or_, [rule for rule in own if rule is not None], NO_RULE)
    if joined is NO_RULE:
        raise InputError(
            "nothing says which cells are sensitive",
            place=tables[0].rule.place,
            remedy="give a rule, or a status in the file of the table",
        )
    stated = whole if isinstance(whole, Problem) else Problem(table, Levels.none(len(table)), "outsider")
    publish = np.flatnonzero(stated.must_publish & ~joined.levels(table).sensitive)
    about: dict[str, Any] = {"attackers": [stated.outsider_beforehand], "must_publish": publish}
    cost = (choose_cost(tables) if with_costs else None) or stated.cost
    problem = Problem(table, joined, cost=cost, **about)
    if with_costs and (exponent := tables[0].specified.exponent) is not None:
        raised = _raise_costs(tables[0], problem.cost, float(exponent))
        problem = Problem(table, joined, cost=raised, **about)
    if not any(each.decisions for each in tables):
        return problem
    if len(tables) == 1:
        return _decide(tables[0], rules[0], problem)
    return _decide_each(tables, rules, parts, own, problem)


def _get_table(found: Problem | Table) -> Table:
    return found.table if isinstance(found, Problem) else found


def _link(parts: Sequence[Problem | Table]) -> Problem | Table:
    """Return tables of a batch as one, with what their files state."""
    if len(parts) == 1:
        return parts[0]
    named = {str(number): part for number, part in enumerate(parts, start=1)}
    tables = {name: part for name, part in named.items() if isinstance(part, Table)}
    return link(tables) if len(tables) == len(named) else link_problems(named)


def _place_rule(table: Table, part: Problem | Table, written: str | None) -> Rule | None:
    """Return what makes cells of one of the linked tables sensitive, its rule and the status in its file, as
    a rule on the cells of all; None if there is neither.
    """
    rule = None if written is None else parse_rule(written)
    own = _get_table(part)
    if rule is not None and own is not table:
        rule = Within(rule, np.unique(find_cells_of(table, own)))
    if isinstance(part, Problem) and (rule is None or len(part.levels)):
        levels = part.levels if own is table else place_levels(table, part)
        return Given(levels) if rule is None else rule | Given(levels)
    return rule


def _decide(table: BatchTable, rule: TranslatedRule, problem: Problem, part: Table | None = None) -> Problem:
    """Return the problem with the decisions on single cells of a table, which may be a part of it."""
    for decisions in table.decisions:
        problem = apply_apriori(
            problem,
            parse_apriori(table.find(decisions.file), decisions.separator, len(table.specified.spanning)),
            ignore_errors=decisions.ignore_errors == 1,
            protection=rule.protection,
            part=part,
        )
    return problem


def _decide_each(
    tables: Sequence[BatchTable],
    rules: Sequence[TranslatedRule],
    parts: Sequence[Problem | Table],
    own: Sequence[Rule | None],
    problem: Problem,
) -> Problem:
    """Return the problem of linked tables after the decisions on each: they are about its own rule, so that a
    cell which one of them declares safe stays sensitive by the rule of another.
    """
    table, cost = problem.table, problem.cost.copy()
    publish, hide = problem.must_publish.copy(), problem.must_hide.copy()
    decided: list[Rule] = []
    notes: list[str] = []
    for each, rule, part, hit in zip(tables, rules, parts, own, strict=True):
        start = hit if hit is not None else NO_RULE
        about: dict[str, Any] = {"cost": problem.cost, "must_publish": problem.must_publish}
        before = Problem(table, start, ["outsider", problem.outsider_beforehand], **about)
        after = _decide(each, rule, before, _get_table(part))
        decided.append(start if after.rule is None else after.rule)
        cost = np.where(after.cost != before.cost, after.cost, cost)
        publish = np.where(after.must_publish != before.must_publish, after.must_publish, publish)
        hide |= after.must_hide
        notes += after.table.notes
    return Problem(
        replace(table, notes=tuple(dict.fromkeys((*table.notes, *notes)))),
        reduce(or_, decided),
        attackers=[problem.outsider_beforehand],
        cost=cost,
        must_publish=publish,
        must_hide=hide,
    )


def _raise_costs(table: BatchTable, cost: Floats, exponent: float) -> Floats:
    """Return the costs of a table's cells raised to a power; for the power 0, their logarithms."""
    if exponent == 0:
        return np.asarray(np.log1p(cost))
    with np.errstate(all="ignore"):
        raised = np.where(cost > 0, np.where(cost > 0, cost, 1.0) ** exponent, 0.0)
    if not np.isfinite(raised).all():
        raise FormatError(
            f"lambda {exponent:g} makes costs too large",
            place=table.specified.place,
            remedy="Choose one between 0 and 1.",
        )
    return raised


def choose_cost(tables: Sequence[BatchTable]) -> str | None:
    """Return what hiding a cell costs in our words, or the name of a column; refuse different ones."""
    asked = {(table.specified.cost, table.specified.exponent) for table in tables}
    if len(asked) > 1:
        raise FormatError(
            "linked tables have different costs",
            place=tables[-1].specified.place,
            remedy="Give all of them the same.",
        )
    cost = tables[0].specified.cost
    if isinstance(cost, int):
        counted = tables[0].specified.response is None
        return "value" if cost == -1 and counted else COSTS[cost]
    if cost is None:
        return None
    return tables[0].read_metadata().find(cost).name


def _read_table(table: BatchTable, rule: TranslatedRule, largest: int) -> Problem | Table:
    """Return a table of a batch without its rule: of records the table, with so many of the ``largest``
    contributions; of cells what their file states.
    """
    metadata = table.read_metadata()
    shadow = find_shadow(table, metadata)
    recodings = [
        (recode.variable, recode.by if isinstance(recode.by, int) else parse_recoding(table.find(recode.by)))
        for recode in table.recodes
    ]
    by, response = list(table.specified.spanning), table.specified.response
    if table.records:
        records = read_microdata(table.find(table.data), metadata)
        for name, recoding in recodings:
            records = records.recode(name, recoding)
        return _tabulate(table, records, shadow, weight=bool(rule.weighted), largest=largest)
    cost, computed = table.specified.cost, table.read is not None and table.read.mode == 1
    return read_table_data(
        table.find(table.data),
        metadata,
        ReadOptions(
            by=by,
            value=response,
            columns=(metadata.find(cost).name,) if isinstance(cost, str) else (),
            # Totals that are listed keep their largest contributions, which do not follow from the parts.
            totals="auto" if computed else "given",
            repair=computed,
            name=str(table.number),
        ),
        recodings=recodings,
        # Levels, bounds and costs of the file hold also where only the rule makes it a problem.
        rule=NO_RULE if rule.rule is not None else None,
        protection=rule.protection,
    )


def _tabulate(table: BatchTable, records: ArgusRecords, shadow: str | None, **options: Any) -> Table:
    """Return a table of a batch's records, with a column of costs if a variable gives them."""
    by, cost = list(table.specified.spanning), table.specified.cost
    options["name"] = str(table.number)
    found = records.tabulate(by, table.specified.response, shadow=shadow, **options)
    if not isinstance(cost, str):
        return found
    costs = records.tabulate(by, cost, **options)
    if not costs.structure.same_cells(found.structure):
        raise InputError(f"the cells of '{cost}' are not those of the response", place=table.specified.place)
    name = records.metadata.find(cost).name
    return replace(found, columns={**found.columns, name: np.abs(costs.values)})


def find_shadow(table: BatchTable, metadata: Metadata) -> str | None:
    """Return the variable that rules look at in place of the response; None if that is the response.

    Raises
    ------
    FormatError
        A table of cells has largest contributions to another variable only.
    """
    shadow, response = table.specified.shadow, table.specified.response
    if shadow is None or (
        response is not None and metadata.find(shadow).name == metadata.find(response).name
    ):
        return None
    found = metadata.find(shadow)
    if response is None or not (table.records or found.role == "shadow"):
        raise FormatError(
            f"'{shadow}' cannot be the shadow variable: a table of frequencies has none, and one that is read"
            " has the one that its metadata call <SHADOW>",
            place=table.specified.place,
            remedy="Take it off the line, or name the response there.",
        )
    return found.name
