"""Writing ``project.toml`` for a problem at hand, with everything that ``tacita protect`` needs to repeat it.

The folder gets the table with its marks, bounds and costs (``table.parquet``; ``table.jj`` where a table has
no dimensions of its own), classifications that are not flat, and insiders, if there are any. What makes cells
sensitive is said as it was: see :mod:`tacita.specification.project_rules`. A problem that a project file
states on microdata keeps referring to them. Whatever is written is read back and compared with the problem
before it takes its place: a project that would repeat something else is never left behind. All of it is for
the house.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tacita.core.errors import InputError, TacitaError
from tacita.core.exact import Mask
from tacita.core.levels import Levels
from tacita.core.tables.table import Table
from tacita.formats.hierarchy import write_hierarchy
from tacita.formats.insiders import write_insiders
from tacita.formats.jj import write_jj
from tacita.formats.roles import part_by_name
from tacita.formats.table_write import further_columns, role_columns, write_table
from tacita.formats.toml import toml_text
from tacita.methods import Method, make_method, options_of
from tacita.problem.problem import COSTS, Problem
from tacita.publication.results import Written
from tacita.rules import Rule
from tacita.rules.written import written
from tacita.specification.differences import EXEMPT, differences
from tacita.specification.project import (
    NO_RULE,
    AttackersSpec,
    Project,
    ProtectSpec,
    PublishedSpec,
    load_project,
)
from tacita.specification.project_cells import cells_by_codes
from tacita.specification.project_published import can_name_releases, write_published
from tacita.specification.project_rules import (
    Sensitive,
    decided_by_hand,
    sayable,
    served,
    taken_apart,
    worded_rules,
)
from tacita.storage.atomic import write_text
from tacita.storage.file_set import together

MOST_LISTED = 30
"""Flat classifications of so many codes are listed in the project file itself."""
Sections = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Origin:
    """In what words a problem is put, which no problem remembers.

    Attributes
    ----------
    path
        The project file that it was opened from. Where it names microdata they are referred to on.
    rule, waived, attackers, cost
        What has been said since in place of the words of the file; None: as it says. Insiders whom a table
        without microdata cannot tell are written one by one.
    """

    path: Path | None = None
    rule: str | None = None
    waived: Sequence[str] | None = None
    attackers: AttackersSpec | None = None
    cost: str | None = None


def write_project(
    problem: Problem,
    folder: Path,
    *,
    method: str,
    options: Mapping[str, Any] | None = None,
    seed: int | None = None,
    time_limit: float | None = None,
    formats: Sequence[str] = ("csv",),
    output: str | None = None,
    origin: Origin | None = None,
) -> Written:
    """Write ``project.toml`` and the files it names into a folder.

    Parameters
    ----------
    method, options, seed, time_limit
        What protects the problem: options as :func:`~tacita.methods.make_method` takes them.
    formats
        Formats of the release; none: the project leaves them open.
    output
        The folder of the release, relative to the project; None: ``out``.
    origin
        Where the problem comes from, and in what words. Where microdata do not give it (any more), the table
        itself is written, and a note says so.

    Raises
    ------
    InputError
        The files would not give the same problem and method again.
    """
    said = origin or Origin()
    how = _how(method, options or {}, seed, time_limit)
    how["output"] = {"folder": output, "formats": list(formats) or None}
    chosen = make_method(method, options)
    notes: list[str] = []
    if said.path is not None:
        try:
            with together(folder) as drafted:
                if _draft_origin(problem, said, how, drafted.new()):
                    _refuse_difference(problem, chosen, drafted.new(), named=True)
                    return Written(drafted.take_places(), drafted.notes)
        except TacitaError as error:
            notes.append(f"{said.path} does not give this problem: the table itself was written ({error})")
    failed: TacitaError | None = None
    for sensitive, lost, last in _attempts(problem, said, how, folder):
        try:
            with together(folder) as drafted:
                files, more = _draft_table(problem, sensitive, said, how, drafted.new())
                again = _refuse_difference(
                    problem,
                    chosen,
                    drafted.new(),
                    named=_has_codes(problem.table),
                    but=EXEMPT if last else None,
                )
                remark = [lost if failed is None else f"{lost} ({failed})"] if lost else []
                if (unhit := problem.exempt & ~again.exempt).any():
                    cells = problem.table.structure.names(np.flatnonzero(unhit))
                    more.append(f"exempt, though nothing hits them in these files: {cells}")
                drafted.take_places()
                paths = tuple(folder / file.name for file in files)
                return Written(paths, (*drafted.notes, *notes, *remark, *more))
        except TacitaError as error:
            if last:
                raise
            failed = error
    raise AssertionError("the last attempt is written, or refused")


def _attempts(
    problem: Problem, said: Origin, how: Sections, folder: Path
) -> Iterator[tuple[Sensitive, str, bool]]:
    """What makes cells sensitive in the words it was said in, and in plainer ones in case these do not give
    the same problem; each with what is to be told of it, and whether it is the last.

    Rules become levels one by one, as the files do not serve them. Decisions on cells stay what they are.
    """
    codes = _has_codes(problem.table)

    def in_words(rules: Sequence[Rule], *, following: bool) -> Sensitive:
        return taken_apart(problem, said.waived, rules, codes=codes, following=following)

    worded = worded_rules(problem)
    rules = sayable(worded, codes=codes)
    yield in_words(rules, following=True), _left_out(worded, rules), False
    with together(folder) as drafted:
        _draft_table(problem, in_words((), following=False), said, how, drafted.new())
        kept = served(rules, problem.table, load_project(drafted.new() / "project.toml").data())
    lost = _left_out(worded, kept)
    if kept != rules:
        yield in_words(kept, following=True), lost, False
    amounts = "levels in percent of the value are written as amounts"
    if problem.exempt.any():
        amounts += ", those of exempt cells as far as bounds leave room"
    yield in_words(kept, following=False), f"{lost}; {amounts}" if lost else amounts, False
    yield in_words((), following=False), f"{_left_out(worded, ())}; {amounts}" if worded else amounts, True


def _left_out(worded: Sequence[Rule], kept: Sequence[Rule]) -> str:
    named = " | ".join(written(rule) for rule in worded if rule not in kept)
    return f"rules are left out, and what they hit is marked in the table instead: {named}" if named else ""


def _how(method: str, options: Mapping[str, Any], seed: int | None, time_limit: float | None) -> Sections:
    """The section on protection."""
    defaults = {option.name: option.default for option in options_of(method)}
    said = {name: "none" if value is None else value for name, value in options.items()}
    said = {name: value for name, value in said.items() if options[name] != defaults.get(name)}
    protect = {"method": method, "options": said or None, "time_limit": time_limit, "seed": seed}
    return {"protect": protect}


def _protect(how: Sections, problem: Problem, stays: Mask, by_number: bool) -> dict[str, Any]:
    """The section on protection with cells that must stay and must go."""
    stay, go = (cells_by_codes(problem.table, cells, by_number) for cells in (stays, problem.must_hide))
    return {**how["protect"], "must_publish": stay or None, "must_hide": go or None}


def _draft_origin(problem: Problem, origin: Origin, how: Sections, folder: Path) -> list[Path]:
    """The files of a problem that is put on microdata; none if the project names none."""
    project = load_project(str(origin.path))
    said = project.model_dump(exclude_unset=True)
    tables = [said["table"]] if "table" in said else list(said["tables"].values())
    if not any("microdata" in table for table in tables):
        return []
    for table in tables:
        for key in {"file", "microdata"} & table.keys():
            table[key] = _absolute(project, table[key])
    hierarchies = said.get("hierarchies", {})
    for name, spec in hierarchies.items():
        if isinstance(spec, str):
            hierarchies[name] = _absolute(project, spec)
        elif "file" in spec:
            spec["file"] = _absolute(project, spec["file"])
    rules, attackers = said.get("rules", {}), said.get("attackers", {})
    files = any("file" in table for table in tables)
    rules |= decided_by_hand(problem, _stated_by(project) if files else Levels.none(len(problem.table)))
    if origin.rule is not None:
        rules["rule"] = origin.rule or None
    if origin.waived is not None:
        rules["waived"] = list(origin.waived) or None
    if origin.attackers is not None:
        attackers = origin.attackers.model_dump(exclude_defaults=True)
    elif "file" in attackers:
        attackers["file"] = _absolute(project, attackers["file"])
    sections: Sections = {"table": said["table"]} if "table" in said else {}
    sections |= {f"tables.{name}": table for name, table in said.get("tables", {}).items()}
    releases, published = write_published(problem, problem.table, folder, _names_free_of(set()))
    sections |= {"hierarchies": hierarchies, "rules": rules, "attackers": attackers, "published": published}
    sections["cost"] = {"by": origin.cost} if origin.cost is not None else said.get("cost", {})
    sections |= {**how, "protect": _protect(how, problem, problem.must_publish, by_number=False)}
    return [*releases, write_text(folder / "project.toml", toml_text(sections))]


def _stated_by(project: Project) -> Levels:
    """What the files of a project say of their cells, without what the project says of them itself."""
    silent = project.rules.model_copy(update={"rule": written(NO_RULE), "sensitive": [], "exempt": []})
    without = {"rules": silent, "protect": ProtectSpec(), "published": PublishedSpec()}
    return project.model_copy(update=without).problem().levels


def _absolute(project: Project, path: str) -> str:
    return str(project.folder / path)


def _draft_table(
    problem: Problem, sensitive: Sensitive, said: Origin, how: Sections, folder: Path
) -> tuple[list[Path], list[str]]:
    """The files of a problem that stands for itself, and what they cannot hold."""
    table, notes = _writable(problem.table)
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
    sections: Sections = {"table": {"file": "table.parquet"}, "hierarchies": {}}
    sections |= {"rules": sensitive.section(table, by_number), "attackers": _known_to_everyone(said)}
    sections["published"] = {}
    sections |= {"cost": {"by": said.cost if _cost_is_there(said.cost, table) else None}, **how}
    sections["protect"] = _protect(how, problem, problem.must_publish & ~stays, by_number)
    if not by_number:
        written = [write_table(table, folder / "table.parquet", plain, sensitive.unsaid)]
        by, hierarchies, more = _classifications(table, folder)
        written += more
        sections["hierarchies"] = hierarchies
        roles = role_columns(table)
        sections["table"] |= {
            "by": by,
            "value": roles["value"],
            "count": roles["count"] if table.count is not None else None,
            "status": roles["status"],
            "totals": "given",
            "columns": further_columns(table) or None,
        }
    else:
        beside = write_jj(plain, folder / "table.jj").with_suffix(".frq")
        written = [folder / "table.jj", *([beside] if beside.is_file() else [])]
        sections["table"]["file"] = "table.jj"
        if table.structure.parts:
            notes.append("linked tables are written as one list of cells, which go by number there")
    carried = [] if by_number else further_columns(table)
    if lost := [name for name in table.columns if name not in carried and part_by_name(name) is None]:
        notes.append(f"columns that the file of cells cannot hold are left out: {', '.join(lost)}")
    sections["table"] |= {"decimals": table.decimals, "counts": table.whole}
    again = _numbered(problem, folder / "table.jj") if by_number else problem
    if problem.insiders:
        written.append(write_insiders(again, folder / "attackers.parquet"))
        sections["attackers"] |= {"file": "attackers.parquet"}
    if problem.already_published and named:
        free = _names_free_of({*sections["hierarchies"], "table", "attackers"})
        files, sections["published"] = write_published(problem, again.table, folder, free)
        written += files
    elif problem.already_published:
        notes.append(
            "what earlier releases say is written as bounds that everyone knows, since a dimension is called "
            "like a column of a release"
        )
    marked = [r.rule for r in sensitive.stated.reasons if sensitive.stated.sensitive[r.cells].any()]
    rules = ", ".join(dict.fromkeys(marked))
    about = f"# Marked in the table, with levels: {' '.join(rules.split())}\n\n" if rules else ""
    written.append(write_text(folder / "project.toml", about + toml_text(sections)))
    return written, notes


def _known_to_everyone(said: Origin) -> dict[str, Any]:
    """What was said of all cells; single bounds stand in the file of cells."""
    if said.attackers is None:
        return {}
    return said.attackers.model_dump(include={"lower", "upper", "within"}, exclude_none=True)


def _cost_is_there(cost: str | None, table: Table) -> bool:
    """Whether the words for a cost can be said of the file of cells, too."""
    return cost in COSTS or (_has_codes(table) and cost in further_columns(table))


def _has_codes(table: Table) -> bool:
    """Whether the cells can be listed by their codes, one table in one file."""
    return bool(table.structure.dimensions) and len(table.structure.parts) <= 1


def _writable(table: Table) -> tuple[Table, list[str]]:
    """The table without what a file of cells cannot hold: who contributed, and shares of absolute values."""
    notes = []
    contributions = table.contributions
    if contributions is not None and not np.array_equal(contributions.sums, table.units):
        contributions = None
    if contributions is not table.contributions or table.population is not None or table.holdings is not None:
        notes.append(
            "the table is written without some of what is known of its contributors: "
            "other rules on them need the microdata again"
        )
    return replace(table, contributions=contributions, holdings=None, population=None), notes


def _numbered(problem: Problem, path: Path) -> Problem:
    """The problem on the cells as a JJ file calls them."""
    from tacita.formats.jj import read_jj

    table = read_jj(path, decimals=problem.table.decimals, counts=problem.table.whole).table
    return Problem(table, problem.levels, attackers=[problem.outsider, *problem.insiders], cost=problem.cost)


def _classifications(table: Table, folder: Path) -> tuple[dict[str, Any], dict[str, Any], list[Path]]:
    """``by``, the hierarchies of the project file, and the files of those that it does not list itself."""
    by: dict[str, Any] = {}
    hierarchies: dict[str, Any] = {}
    written: list[Path] = []
    for dimension in table.structure.dimensions:
        names = []
        for tree in dimension.trees:
            name = _free_name(dimension.name, {*hierarchies, "table", "attackers"})
            names.append(name)
            if tree.depth.max() == 1 and len(tree) <= MOST_LISTED and not tree.labels:
                hierarchies[name] = {"codes": list(tree.codes[1:]), "total": tree.total}
            else:
                written.append(write_hierarchy(tree, folder / f"{name}.csv"))
                hierarchies[name] = {"file": f"{name}.csv", "total": tree.total}
        by[dimension.name] = names[0] if len(names) == 1 else names
    return by, hierarchies, written


def _names_free_of(taken: set[str]) -> Callable[[str], str]:
    """What gives each wish a name of its own."""

    def free(wanted: str) -> str:
        taken.add(name := _free_name(wanted, taken))
        return name

    return free


def _free_name(wanted: str, taken: set[str]) -> str:
    """A name that can be that of a file, told apart from others also where files have no capitals."""
    plain = re.sub(r"[^\w-]+", "_", wanted).strip("_") or "codes"
    lowered = {name.lower() for name in taken}
    candidates = (plain, *(f"{plain}-{k}" for k in range(2, len(taken) + 3)))
    return next(name for name in candidates if name.lower() not in lowered)


def _refuse_difference(
    problem: Problem, method: Method, folder: Path, *, named: bool, but: str | None = None
) -> Problem:
    """The problem as it is read back, which differs in nothing, ``but`` perhaps in this."""
    project = load_project(folder / "project.toml")
    again = project.problem()
    differing = [what for what in differences(problem, again, named) if what != but]
    if make_method(project.protect.method or "", project.protect.options) != method:
        differing.append("options")
    if differing:
        raise InputError(f"read back, the project has other {', '.join(differing)}")
    return again
