"""Compile a specification to its problem: read the files, and join what they state with the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import reduce
from operator import or_
from typing import Any

import numpy as np

from tacita.attackers.insiders import AttackerLike, make_coalitions
from tacita.core.attacker import Insider, Outsider
from tacita.core.errors import InputError, did_you_mean
from tacita.core.hierarchy import Digits, Hierarchy
from tacita.core.levels import Levels
from tacita.core.release import Release
from tacita.core.tables.linked import link
from tacita.core.tables.read_options import ReadOptions
from tacita.core.tables.table import Table
from tacita.core.tables.undeclared_sums import Found
from tacita.formats.argus.apriori import Apriori, apply_apriori, apply_to_linked, parse_apriori
from tacita.formats.case_file import has_cells, read_case_file
from tacita.formats.hierarchy import read_hierarchy
from tacita.formats.insiders import read_insiders
from tacita.formats.linked import link_problems
from tacita.formats.recodings import read_recodings
from tacita.formats.table_file import read_table_file
from tacita.problem.problem import Problem
from tacita.publication.earlier import read_earlier
from tacita.rules import Exempt, Given, Marked, Rule, parse_rule
from tacita.specification.classification import Classification
from tacita.specification.decided_cells import CELLS, read_decided
from tacita.specification.project_cells import build_marks, find_cells
from tacita.specification.sections import Cost, Source
from tacita.specification.specification import FOUND, Specification
from tacita.specification.statement import Statement
from tacita.tabulation.address import locate

NO_RULE = Marked(())
"""A rule that no cell meets."""
Trees = Mapping[str, Hierarchy | Digits | Found]


def compile_problem(
    specification: Specification, given: Table | Problem | Statement | None = None
) -> Problem:
    """Return the problem that a specification and its files state; see :meth:`Specification.problem`."""
    found = compile_case(specification, given)
    if isinstance(found, Problem):
        return found
    what = (
        specification.table.path
        if specification.table is not None
        else "linked tables"
        if specification.tables
        else "the table"
    )
    raise InputError(
        "nothing says which cells are sensitive",
        place=what,
        remedy="give a rule, such as \"threshold(3)\", or a column 'status' with u for sensitive cells",
        options=["rules"],
    )


def compile_case(
    specification: Specification,
    given: Table | Problem | Statement | None = None,
    part: Table | None = None,
) -> Problem | Table:
    """Return the problem of a specification, or its table where nothing says what is sensitive.

    ``part`` is the specification's own table, if what is ``given`` has cells of others too.
    """
    apriori = given.apriori if isinstance(given, Statement) else _read_apriori(specification)
    found = _compile_rules(specification, given, by_hand=bool(apriori))
    if not apriori:
        return found
    protection = specification.rules.protection
    if specification.table is not None or not specification.tables:
        (only,) = apriori.values()
        return apply_apriori(found, only, protection=protection, part=part)
    trees = _read_hierarchies(specification)
    parts = {name: _read_source(specification, specification.tables[name], name, trees) for name in apriori}
    tables = {name: own.table if isinstance(own, Problem) else own for name, own in parts.items()}
    return apply_to_linked(found, {name: (each, tables[name]) for name, each in apriori.items()}, protection)


def _read_apriori(specification: Specification) -> dict[str, Apriori]:
    """Return the decisions on single cells that a-priori files of a specification hold, by table."""
    named = zip(specification.tables or ("",), specification.sources, strict=False)
    return {
        name: parse_apriori(specification.folder / source.apriori)
        for name, source in named
        if source.apriori is not None
    }


def _compile_rules(
    specification: Specification, given: Table | Problem | Statement | None, *, by_hand: bool
) -> Problem | Table:
    """Return the problem or table of a specification before decisions of an a-priori file are applied.

    With such decisions ``by_hand`` it is a problem in any case.
    """
    read = read_all(specification) if given is None else given
    table, stated = (read, None) if isinstance(read, Table) else (read.table, read)
    rule = compile_rule(specification, read, linked=given is None and bool(specification.tables))
    if rule is None and not by_hand:
        return table
    protect = specification.protect
    rule = Levels.none(len(table)) if rule is None else rule
    decided = {name: read_decided(specification, table, name) for name in CELLS}
    stays = [] if stated is None else _find_must_publish(stated, rule)
    cost = stated.costs if isinstance(stated, Statement) else "value" if stated is None else stated.cost
    problem = Problem(
        table,
        rule,
        attackers=_build_attackers(specification, table, stated),
        cost=specification.cost.by or cost,
        must_publish=[
            *stays,
            *find_cells(table, protect.must_publish, "[protect] must_publish"),
            *decided["must_publish"].cells,
        ],
        must_hide=[
            *([] if stated is None else np.flatnonzero(stated.must_hide).tolist()),
            *find_cells(table, protect.must_hide, "[protect] must_hide"),
            *decided["must_hide"].cells,
        ],
        already_published=(
            stated.published if isinstance(stated, Statement) else read_published(specification, table)
        ),
    )
    return problem.with_warnings(warning for each in decided.values() for warning in each.warnings)


def read_statement(specification: Specification) -> Statement:
    """Return everything that the files of a specification state; see :meth:`Specification.read`."""
    # Costs of the file are kept even where others are specified.
    found = Statement.of(read_all(replace(specification, cost=Cost()), stating=True))
    return replace(
        found,
        insiders=tuple(_read_insiders(specification, found.table)),
        apriori=_read_apriori(specification),
        published=tuple(read_published(specification, found.table)),
    )


def _read_insiders(specification: Specification, table: Table) -> list[Insider]:
    file = specification.attackers.file
    return [] if file is None else list(read_insiders(specification.folder / file, table))


def read_published(specification: Specification, table: Table) -> list[Release]:
    """Return the releases of a specification's table, or of what shares cells with it, that readers have."""
    return [
        read_earlier(
            specification.folder / old.file,
            table,
            **{key: how for key, how in vars(old).items() if key != "file"},
        )
        for old in specification.published.releases
    ]


def read_data(specification: Specification) -> Table:
    """Return the table that the files of a specification hold, or all linked tables as one."""
    trees = _read_hierarchies(specification)
    if specification.table is not None:
        read = _read_source(specification, specification.table, None, trees)
        return read.table if isinstance(read, Problem) else read
    named = {
        name: _read_source(specification, source, name, trees)
        for name, source in specification.tables.items()
    }
    return link({name: t.table if isinstance(t, Problem) else t for name, t in named.items()})


def read_all(specification: Specification, *, stating: bool = False) -> Problem | Table:
    """Return a specification's table, or all linked ones as one, with what their files state of cells.

    Microdata state nothing; of a single table it is read only with a rule, a status, or ``stating``.
    """
    trees = _read_hierarchies(specification)
    if specification.table is not None:
        return _read_source(specification, specification.table, None, trees, stating)
    if not specification.tables:
        raise InputError("there is no table", remedy="name its file or microdata, or give the table itself")
    named = {
        name: _read_source(specification, source, name, trees, stating=True)
        for name, source in specification.tables.items()
    }
    tables = {name: part for name, part in named.items() if isinstance(part, Table)}
    if len(tables) == len(named):
        return link(tables)
    # Shares of the values go before all other bounds.
    known = specification.attackers
    return link_problems(named, -np.inf if known.within is not None else known.lower, known.upper)


def compile_rule(
    specification: Specification, given: Table | Problem | Statement, *, linked: bool = False
) -> Rule | Levels | None:
    """Return the rule of a specification for what is sensitive; levels if only a file says so; or None.

    Parameters
    ----------
    linked
        Whether files of several tables were read, each of which may leave it to others what is sensitive.
    """
    table, stated = (given, None) if isinstance(given, Table) else (given.table, given)
    wanted, marked = specification.rules, 0 if stated is None else len(stated.levels)
    rules: list[Rule] = []
    if wanted.rule is not None:
        rules.append(parse_rule(wanted.rule).with_consent(wanted.waived))
    # A file of one table that marks no cell says so.
    if stated is not None and (marked or not (linked or specification.says_what_is_sensitive)):
        everyone = _build_outsider(specification, table, stated)
        rules.append(
            Given(stated.levels_against(everyone) if isinstance(stated, Statement) else stated.levels)
        )
    marks = build_marks(table, wanted.sensitive)
    marks += read_decided(specification, table, "sensitive").marks
    rules += marks
    if not rules:
        return None
    exempt = find_cells(table, wanted.exempt, "[rules] exempt")
    exempt += read_decided(specification, table, "exempt").cells
    if both := sorted({*exempt} & {cell for mark in marks for cell in mark.levels(table).cells.tolist()}):
        raise InputError(
            f"[rules]: {table.structure.names(np.array(both))}: sensitive and exempt",
            remedy="take it off one of the two lists",
        )
    if exempt:
        return Exempt(reduce(or_, rules), exempt)
    # What a file alone states is levels, and no rule.
    alone = rules[0] if len(rules) == 1 else None
    return alone.given if isinstance(alone, Given) else reduce(or_, rules)


def _build_attackers(
    specification: Specification, table: Table, stated: Problem | Statement | None
) -> list[AttackerLike]:
    known = specification.attackers
    attackers: list[AttackerLike] = list(known.kinds)
    attackers.extend(make_coalitions(known.coalitions, known.holding_coalitions))
    attackers.extend(
        stated.insiders if isinstance(stated, Statement) else _read_insiders(specification, table)
    )
    return [*attackers, _build_outsider(specification, table, stated)]


def _build_outsider(
    specification: Specification, table: Table, stated: Problem | Statement | None
) -> Outsider:
    """Return the outsider with bounds as specified, or else as the file states, or else the usual ones."""
    known = specification.attackers
    if isinstance(stated, Problem):
        beforehand: Outsider | None = stated.outsider_beforehand
    else:
        beforehand = None if stated is None else stated.outsider
    return Outsider.from_options(table, beforehand, known.lower, known.upper, known.within)


def _read_hierarchies(specification: Specification) -> dict[str, Hierarchy | Digits | Found]:
    return {name: _read_hierarchy(specification, tree) for name, tree in specification.hierarchies.items()}


def _read_hierarchy(specification: Specification, given: str | Classification) -> Hierarchy | Digits | Found:
    if given == FOUND and not (specification.folder / FOUND).exists():
        return Found()
    tree = Classification(given) if isinstance(given, str) else given
    if tree.file is None:
        return tree.build()
    return read_hierarchy(specification.folder / tree.file, tree.total, tree.lead)


def _read_source(
    specification: Specification, source: Source, name: str | None, trees: Trees, stating: bool = False
) -> Problem | Table:
    """Return the table of one specified source; with ``stating`` or a rule, what its file states too."""
    by = _build_dimensions(source.by, trees)
    if source.microdata is not None and isinstance(source.by, Mapping):
        _refuse_words(source.by, trees)
    recode = read_recodings({name: specification.folder / str(file) for name, file in source.recode.items()})
    if source.microdata is not None:
        from tacita.formats.records import tabulate_file

        return tabulate_file(
            locate(specification.folder, source.microdata),
            by or [],
            metadata=None if source.metadata is None else specification.folder / source.metadata,
            sheet=source.sheet,
            value=source.value,
            respondent=source.respondent,
            holding=source.holding,
            weight=source.weight,
            request=source.request,
            consent=source.consent,
            shadow=source.shadow,
            largest=source.largest if isinstance(source.largest, int) else 2,
            decimals=source.decimals,
            where=source.where,
            levels=source.levels,
            recode=recode,
            counts=source.counts,
            name=name or source.name or "table",
            decimal=source.decimal,
        )
    path = specification.folder / str(source.file)
    metadata = None if source.metadata is None else str(specification.folder / source.metadata)
    if not has_cells(path, metadata):
        # Options that such a file does not have say nothing of it.
        return read_case_file(path, ReadOptions(decimals=source.decimals, counts=source.counts))
    read = ReadOptions(**{each.name: getattr(source, each.name) for each in fields(ReadOptions)})
    found = [key for key, tree in trees.items() if by is None and isinstance(tree, Found)]
    return read_table_file(
        path,
        replace(
            read,
            by=by,
            hierarchies=_find_trees(specification, source, trees),
            found=(*source.found, *found),
            structure=None if source.structure is None else specification.folder / source.structure,
            recode=recode,
            name=name or source.name,
            metadata=metadata,
            apriori=None,
        ),
        # Bounds and costs of the file hold also where only the specified rule makes it a problem.
        rule=NO_RULE if stating or specification.says_what_is_sensitive else None,
        # What is specified of costs is worked out later, on all cells, instead of the file's.
        cost=None if specification.cost.by is None else "unit",
        protection=specification.rules.protection,
        lower=specification.attackers.lower,
        upper=specification.attackers.upper,
    )


def _find_trees(specification: Specification, source: Source, trees: Trees) -> dict[str, list[Any]]:
    """Return a specified source's classifications per dimension; files without a total as their paths."""
    found: dict[str, list[Any]] = {}
    for column, names in source.hierarchies.items():
        listed = (names,) if isinstance(names, str) else names
        _refuse_unknown(f"hierarchies.{column}", listed, trees)
        given = {name: specification.hierarchies[name] for name in listed}
        plain = {
            name: tree.file
            for name, tree in given.items()
            if isinstance(tree, Classification) and tree.total is None and tree.lead == Classification.lead
        }
        found[column] = [
            specification.folder / file if (file := plain.get(name)) is not None else trees[name]
            for name in listed
        ]
    return found


def _build_dimensions(by: Any, trees: Trees) -> dict[str, Any] | None:
    """Return specified dimensions with hierarchies for their names; other words are codes of totals."""
    if by is None:
        return None
    if not isinstance(by, Mapping):
        return {name: trees.get(name) for name in by}
    specs: dict[str, Any] = {}
    for column, given in by.items():
        if isinstance(given, str):
            specs[column] = trees.get(given, given or None)
        else:
            _refuse_unknown(f"by.{column}", given, trees)
            specs[column] = [trees[name] for name in given]
    return specs


def _refuse_words(by: Mapping[str, Any], trees: Trees) -> None:
    """Refuse a word that is no name of a hierarchy for a column of records, which have no code of a total."""
    for column, given in by.items():
        if isinstance(given, str) and given and given not in trees:
            near = did_you_mean(given, trees)
            raise InputError(
                f"there is no hierarchy '{given}'{near}",
                place=f"by.{column}",
                remedy="name one of [hierarchies], or leave it empty for codes without groups"
                if near
                else f'write {column} = "{given}" under [hierarchies] if that is a file, '
                f'and by = {{ {column} = "{column}" }} under [table]',
            )


def _refuse_unknown(where: str, names: Sequence[str], trees: Trees) -> None:
    if unknown := [name for name in names if name not in trees]:
        raise InputError(
            f"there is no hierarchy '{unknown[0]}'; [hierarchies] has {', '.join(trees)}", place=where
        )


def _find_must_publish(stated: Problem | Statement, rule: Rule | Levels) -> list[int]:
    """Return the cells that a specification's file wants published and no rule makes sensitive."""
    levels = rule if isinstance(rule, Levels) else rule.levels(stated.table)
    cells: list[int] = np.flatnonzero(stated.must_publish & ~levels.sensitive).tolist()
    return cells
