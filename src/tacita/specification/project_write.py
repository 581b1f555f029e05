"""Write ``project.toml`` for a problem, with everything that ``tacita protect`` needs to repeat it.

The folder gets the table with its marks, bounds and costs (``table.parquet``; ``table.jj`` where a table has
no dimensions of its own), classifications that are not flat, and insiders, if there are any. What makes cells
sensitive is written as it was specified: see :mod:`tacita.specification.project_rules`. A problem that a
project file states on microdata keeps referring to them. Whatever is written is read back and compared with
the problem before it takes its place: a project that would repeat something else is never left behind. All of
it is internal.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tacita.core.errors import InputError, TacitaError
from tacita.core.exact import Mask
from tacita.core.tables.table import Table
from tacita.formats.hierarchy import write_hierarchy
from tacita.formats.insiders import write_insiders
from tacita.formats.jj import write_jj
from tacita.formats.roles import guess_role
from tacita.formats.table_write import list_further_columns, name_role_columns, write_table
from tacita.methods import Method, make_method, options_of
from tacita.problem.costs import COSTS
from tacita.problem.problem import Problem
from tacita.publication.results import Written
from tacita.rules import Rule, parse_rule
from tacita.rules.grammar import write_rule
from tacita.specification.classification import Classification
from tacita.specification.differences import EXEMPT, find_differences
from tacita.specification.project import load_project, save_project
from tacita.specification.project_cells import list_codes
from tacita.specification.project_published import can_name_releases, write_published
from tacita.specification.project_rules import (
    SplitRequirement,
    find_written_rules,
    select_equivalent,
    select_writable,
    split_requirement,
)
from tacita.specification.project_source import copy_passing_files, strip_table
from tacita.specification.sections import (
    Attackers,
    Cost,
    Protection,
    Published,
    Source,
)
from tacita.specification.specification import Specification
from tacita.storage.file_set import open_file_set

RESERVED = ("project", "repeat", "release", "release-internal", "audit", "certificate", "earlier-release")
"""Names without endings that results have, which lie beside the files of a project."""
MOST_LISTED = 30
"""Flat classifications of so many codes are listed in the project file itself."""


def write_project(
    problem: Problem,
    folder: str | os.PathLike[str],
    *,
    method: str,
    options: Mapping[str, Any] | None = None,
    seed: int | None = None,
    time_limit: float | None = None,
    gap: float | str | None = None,
    formats: Sequence[str] = ("csv",),
    output: str | None = None,
    specification: Specification | None = None,
    passing: Path | None = None,
) -> Written:
    """Write a problem as ``project.toml`` and the files it names; return their paths, and notes on them.

    A problem that was specified by a :class:`Specification` alone is written by its method ``save``.

    Parameters
    ----------
    method, options, seed, time_limit, gap
        What protects the problem: options as :func:`~tacita.methods.make_method` takes them.
    formats
        Formats of the release; none: the project leaves them open.
    output
        The folder of the release, relative to the project; None: ``out``.
    specification
        How the problem is specified, which no problem holds: consents, what everyone knows, costs. Where it
        names microdata, it is written as it is, and names them again; where it does not give the problem (any
        more), the table itself is written, and a note says so.
    passing
        A folder that will be removed: what it holds of microdata and classifications is copied beside the
        project.

    Raises
    ------
    InputError
        The files would not give the same problem and method again.
    """
    folder = Path(folder)
    chosen = make_method(method, options)
    waived = None if specification is None else specification.rules.waived
    effort = {"method": method, "options": _select_changed_options(method, options or {}), "seed": seed}
    specification = (specification or Specification()).replace(
        protect={**effort, "time_limit": time_limit, "gap": gap},
        output={"folder": output, "formats": tuple(formats), **({} if output is None else {"file": None})},
    )
    notes: list[str] = []
    if microdata := [source.microdata for source in specification.sources if source.microdata is not None]:
        try:
            with open_file_set(folder) as drafted:
                _draft_on_microdata(problem, specification, drafted.make_folder(), passing)
                _read_back(problem, chosen, drafted.make_folder(), named=True)
                return Written(drafted.move_into_place(), drafted.notes)
        except TacitaError as error:
            notes.append(
                f"{Path(microdata[0]).name} does not give this problem: the table itself was written "
                f"({error})"
            )
    failed: TacitaError | None = None
    for sensitive, lost, last in _list_attempts(problem, specification, folder, waived):
        try:
            with open_file_set(folder) as drafted:
                files, more = _draft_table(problem, sensitive, specification, drafted.make_folder())
                again = _read_back(
                    problem,
                    chosen,
                    drafted.make_folder(),
                    named=_has_codes(problem.table),
                    but=EXEMPT if last else None,
                )
                remark = [lost if failed is None else f"{lost} ({failed})"] if lost else []
                if (unhit := problem.exempt & ~again.exempt).any():
                    cells = problem.table.structure.names(np.flatnonzero(unhit))
                    more.append(f"exempt, though nothing hits them in these files: {cells}")
                drafted.move_into_place()
                paths = tuple(folder / file.name for file in files)
                return Written(paths, (*drafted.notes, *notes, *remark, *more))
        except TacitaError as error:
            if last:
                raise
            failed = error
    raise AssertionError("the last attempt is written, or refused")


def _list_attempts(
    problem: Problem, specification: Specification, folder: Path, waived: Sequence[str] | None
) -> Iterator[tuple[SplitRequirement, str, bool]]:
    """Yield what a project is to say of sensitive cells as it was specified, and in plainer forms in case
    this does not give the same problem; each with a note on what is lost, and whether it is the last.

    Rules become levels one by one, as the files do not serve them. Decisions on cells stay what they are.
    """
    codes = _has_codes(problem.table)
    own = specification.rules
    specified = [(text, parse_rule(text).with_consent(own.waived)) for text in own.alternatives]

    def split(rules: Sequence[Rule], *, as_percentages: bool) -> SplitRequirement:
        parts = split_requirement(problem, waived, rules, codes=codes, as_percentages=as_percentages)
        # A request of someone who consented is specified, though nothing is left of it in the problem.
        words = [
            next((text for text, asked in specified if asked == rule), word)
            for rule, word in zip(rules, parts.rules, strict=True)
        ]
        return replace(parts, rules=tuple(words))

    worded = find_written_rules(problem)
    rules = select_writable(worded, codes=codes)
    yield split(rules, as_percentages=True), _note_left_out(worded, rules), False
    with open_file_set(folder) as drafted:
        _draft_table(problem, split((), as_percentages=False), specification, drafted.make_folder())
        kept = select_equivalent(
            rules, problem.table, load_project(drafted.make_folder() / "project.toml").data()
        )
    lost = _note_left_out(worded, kept)
    if kept != rules:
        yield split(kept, as_percentages=True), lost, False
    amounts = "levels in percent of the value are written as amounts"
    if problem.exempt.any():
        amounts += ", those of exempt cells as far as bounds leave room"
    yield split(kept, as_percentages=False), f"{lost}; {amounts}" if lost else amounts, False
    yield (
        split((), as_percentages=False),
        f"{_note_left_out(worded, ())}; {amounts}" if worded else amounts,
        True,
    )


def _note_left_out(worded: Sequence[Rule], kept: Sequence[Rule]) -> str:
    named = " | ".join(write_rule(rule) for rule in worded if rule not in kept)
    return f"rules are left out, and what they hit is marked in the table instead: {named}" if named else ""


def _select_changed_options(method: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the method's options that are not at their defaults, as a project file writes them."""
    usual = {option.name: option.default for option in options_of(method)}
    return {
        name: "none" if value is None else value
        for name, value in options.items()
        if value != usual.get(name)
    }


def _add_decisions(
    specification: Specification, problem: Problem, stays: Mask, folder: Path, *, by_number: bool
) -> Protection:
    """Return section ``[protect]`` of a project with the cells that must be published or hidden."""
    stay, go = (list_codes(problem.table, cells, by_number) for cells in (stays, problem.must_hide))
    return replace(specification.at(folder).protect, must_publish=tuple(stay), must_hide=tuple(go))


def _draft_on_microdata(
    problem: Problem, specification: Specification, folder: Path, passing: Path | None
) -> None:
    """Write the project of a problem that stays on the microdata which its specification names; those in a
    ``passing`` folder are copied beside it.
    """
    free = _make_namer(set(RESERVED))
    _, published = write_published(problem, problem.table, folder, free)
    specification = replace(specification, published=Published()).at(folder)
    if passing is not None:
        specification = copy_passing_files(specification, passing, free)
    protect = _add_decisions(specification, problem, problem.must_publish, folder, by_number=False)
    save_project(replace(specification, published=published, protect=protect), folder)


def _draft_table(
    problem: Problem, sensitive: SplitRequirement, specification: Specification, folder: Path
) -> tuple[list[Path], list[str]]:
    """Write a project with its table in files beside it; return these, and notes on what they lack."""
    table, notes = strip_table(problem.table)
    by_number = not _has_codes(table)
    # A cell has one status: what is exempt though marked, and must be published, the project lists.
    stays = problem.must_publish & ~sensitive.stated.sensitive
    # A mark of cells to be hidden is not binding in a file of cells: the project lists them.
    named = can_name_releases(table)
    plain = Problem(
        table,
        sensitive.stated,
        attackers=["outsider", problem.outsider_beforehand if named else problem.outsider],
        cost=problem.cost,
        must_publish=np.flatnonzero(stays).tolist(),
    )
    hierarchies: dict[str, Classification] = {}
    if not by_number:
        written = [write_table(table, folder / "table.parquet", plain, sensitive.left_empty)]
        by, hierarchies, more = _write_classifications(table, folder)
        written += more
        roles = name_role_columns(table)
        source = Source(
            file="table.parquet",
            by=by,
            value=roles["value"],
            count=roles["count"] if table.count is not None else None,
            status=roles["status"],
            totals="given",
            columns=list_further_columns(table),
        )
    else:
        beside = write_jj(plain, folder / "table.jj").with_suffix(".frq")
        written = [folder / "table.jj", *([beside] if beside.is_file() else [])]
        source = Source(file="table.jj")
        if table.structure.parts:
            notes.append("linked tables are written as one list of cells, which go by number there")
    carried = [] if by_number else list_further_columns(table)
    if lost := [name for name in table.columns if name not in carried and guess_role(name) is None]:
        notes.append(f"columns that the file of cells cannot hold are left out: {', '.join(lost)}")
    again = _number_cells(problem, folder / "table.jj") if by_number else problem
    # Bounds of single cells stand in the file of cells. Who contributes is no attacker besides those listed:
    # all others whom the problem knew are implied.
    complete = problem.considered.number > 1 and not problem.considered.unknown
    attackers = Attackers(
        kinds=("outsider",) if complete else (),
        lower=specification.attackers.lower,
        upper=specification.attackers.upper,
        within=specification.attackers.within,
    )
    if problem.insiders:
        written.append(write_insiders(again, folder / "attackers.parquet"))
        attackers = replace(attackers, file="attackers.parquet")
    published = Published()
    if problem.already_published and named:
        free = _make_namer({*hierarchies, "table", "attackers"})
        files, published = write_published(problem, again.table, folder, free)
        written += files
    elif problem.already_published:
        notes.append(
            "what earlier releases say is written as bounds that everyone knows, since a dimension is called "
            "like a column of a release"
        )
    marked = [r.rule for r in sensitive.stated.reasons if sensitive.stated.sensitive[r.cells].any()]
    rules = ", ".join(dict.fromkeys(marked))
    specified = Specification(
        replace(source, decimals=table.decimals, counts=table.integer),
        hierarchies=hierarchies,
        rules=sensitive.to_rules(table, by_number),
        attackers=attackers,
        # Its cells are listed: only reasons are left of files.
        decisions=specification.decisions.map_files(lambda file: None),
        published=published,
        cost=specification.cost if _has_cost(specification.cost.by, table) else Cost(),
        protect=_add_decisions(
            specification, problem, problem.must_publish & ~stays, folder, by_number=by_number
        ),
        # Attributes are columns of the SDMX-CSV file, which this table is not read from.
        output=replace(specification.output, attributes=()),
        folder=folder,
    )
    if specification.output.attributes:
        notes.append(
            f"attributes of SDMX-CSV are not in these files: {', '.join(specification.output.attributes)}"
        )
    written.append(
        save_project(specified, folder, f"Marked in the table, with levels: {rules}" if rules else "")
    )
    return written, notes


def _has_cost(cost: str | None, table: Table) -> bool:
    """Return whether a project's file of cells has what the cost names: a usual word, or a column."""
    return cost in COSTS or (_has_codes(table) and cost in list_further_columns(table))


def _has_codes(table: Table) -> bool:
    """Return whether a project can list the table's cells by their codes: one table with dimensions."""
    return bool(table.structure.dimensions) and len(table.structure.parts) <= 1


def _number_cells(problem: Problem, path: Path) -> Problem:
    """Return the problem on the cells as the JJ file of its project calls them."""
    from tacita.formats.jj import read_jj

    table = read_jj(path, decimals=problem.table.decimals, counts=problem.table.integer).table
    return Problem(table, problem.levels, attackers=[problem.outsider, *problem.insiders], cost=problem.cost)


def _write_classifications(
    table: Table, folder: Path
) -> tuple[dict[str, Any], dict[str, Classification], list[Path]]:
    """Write a project's longer classifications as files; return ``by``, all classifications, the files."""
    by: dict[str, Any] = {}
    hierarchies: dict[str, Classification] = {}
    written: list[Path] = []
    for dimension in table.structure.dimensions:
        names = []
        for tree in dimension.trees:
            name = _choose_name(dimension.name, {*hierarchies, "table", "attackers"})
            names.append(name)
            if tree.depth.max() == 1 and len(tree) <= MOST_LISTED and not tree.labels:
                hierarchies[name] = Classification(codes=tuple(tree.codes[1:]), total=tree.total)
            else:
                written.append(write_hierarchy(tree, folder / f"{name}.csv"))
                hierarchies[name] = Classification(f"{name}.csv", total=tree.total)
        by[dimension.name] = names[0] if len(names) == 1 else names
    return by, hierarchies, written


def _make_namer(taken: set[str]) -> Callable[[str], str]:
    """Return a function that makes of a wanted name one that no file of a project's folder has yet."""

    def free(wanted: str) -> str:
        taken.add(name := _choose_name(wanted, taken))
        return name

    return free


def _choose_name(wanted: str, taken: set[str]) -> str:
    """Return an unused name for a file saved beside a project, unique even where case is ignored."""
    plain = re.sub(r"[^\w-]+", "_", wanted).strip("_") or "codes"
    lowered = {name.lower() for name in taken}
    candidates = (plain, *(f"{plain}-{k}" for k in range(2, len(taken) + 3)))
    return next(name for name in candidates if name.lower() not in lowered)


def _read_back(
    problem: Problem, method: Method, folder: Path, *, named: bool, but: str | None = None
) -> Problem:
    """Return the problem of a drafted project as it is read back; refuse differences ``but`` this one."""
    project = load_project(folder / "project.toml")
    again = project.problem()
    differing = [what for what in find_differences(problem, again, named) if what != but]
    if make_method(project.protect.method or "", project.protect.options) != method:
        differing.append("options")
    if differing:
        raise InputError(f"read back, the project has other {', '.join(differing)}")
    return again
