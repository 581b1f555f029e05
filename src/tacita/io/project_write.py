"""Writing ``project.toml`` for a problem at hand, with everything that ``tacita protect`` needs to repeat it.

The folder gets the table with its marks, bounds and costs (``table.parquet``; ``table.jj`` where a table has
no dimensions of its own), classifications that are not flat, and insiders, if there are any. Rules that have
a written form stand in the project file; the table marks, with its levels, what is sensitive besides. A
problem that a project file states on microdata keeps referring to them. Whatever is written is read back and
compared with the problem before it takes its place: a project that would repeat something else is never left
behind. All of it is for the house.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tacita.atomic import write_text
from tacita.errors import InputError, TacitaError
from tacita.exact import Mask
from tacita.io.differences import differences
from tacita.io.drafts import draft_in, moved
from tacita.io.hierarchy import write_hierarchy
from tacita.io.insiders import write_insiders
from tacita.io.jj import write_jj
from tacita.io.project import AttackersSpec, Project, load_project
from tacita.io.results import Written
from tacita.io.roles import part_by_name
from tacita.io.table_write import further_columns, role_columns, write_table
from tacita.io.toml import toml_text
from tacita.levels import Levels
from tacita.methods import Method, make_method, options_of
from tacita.problem import Problem
from tacita.rules import RULES, AnyOf, Exempt, FromColumns, Marked, Rule
from tacita.rules.contributors import ContributorRule
from tacita.rules.written import written as rule_text
from tacita.tables.table import Table

MOST_LISTED = 30
"""Flat classifications of so many codes are listed in the project file itself."""
Sections = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Origin:
    """A project file on microdata that states the problem, with these words in place of its own.

    ``None`` leaves what the file says. Cells to be published or hidden are those of the problem.
    """

    path: Path
    rule: str | None = None
    waived: Sequence[str] | None = None
    attackers: AttackersSpec | None = None
    cost: str | None = None


@dataclass(frozen=True)
class Sensitive:
    """What makes cells sensitive: rules as they are written, consents to them, and all else as levels."""

    rules: tuple[str, ...]
    waived: tuple[str, ...]
    marked: Levels

    @property
    def section(self) -> dict[str, Any]:
        """``[rules]`` of the project file."""
        return {"rule": " | ".join(self.rules) or None, "waived": list(self.waived) or None}


def write_project(
    problem: Problem,
    folder: Path,
    *,
    method: str,
    options: Mapping[str, Any] | None = None,
    seed: int = 0,
    time_limit: float | None = None,
    formats: Sequence[str] = ("csv",),
    origin: Origin | None = None,
) -> Written:
    """Write ``project.toml`` and the files it names into a folder.

    Parameters
    ----------
    method, options, seed, time_limit
        What protects the problem: options as :func:`~tacita.methods.make_method` takes them.
    formats
        Formats of the release.
    origin
        Where the problem comes from, if that is microdata. Where they do not give this problem (any more),
        the table itself is written, and a note says so.

    Raises
    ------
    InputError
        The files would not give the same problem and method again.
    """
    how = _how(problem, method, options or {}, seed, time_limit, formats)
    chosen = make_method(method, options)
    notes: list[str] = []
    if origin is not None:
        try:
            with draft_in(folder) as draft:
                written = _draft_origin(problem, origin, how, draft)
                _refuse_difference(problem, chosen, draft, named=True)
                return Written(moved(written, folder))
        except TacitaError as error:
            notes.append(f"{origin.path} does not give this problem: the table itself was written ({error})")
    sensitive = _in_parts(problem)
    if sensitive.rules:
        try:
            return _write_table(problem, sensitive, how, chosen, folder, notes)
        except TacitaError as error:
            notes.append(f"rules are left out, and what they hit is marked in the table instead ({error})")
    return _write_table(problem, Sensitive((), (), problem.levels), how, chosen, folder, notes)


def _write_table(
    problem: Problem,
    sensitive: Sensitive,
    how: Sections,
    method: Method,
    folder: Path,
    notes: Sequence[str],
) -> Written:
    with draft_in(folder) as draft:
        written, more = _draft_table(problem, sensitive, how, draft)
        _refuse_difference(problem, method, draft, named=_has_codes(problem.table))
        return Written(moved(written, folder), (*notes, *more))


def _in_parts(problem: Problem) -> Sensitive:
    """The rules of a problem that can be written, and the levels of marks and of rules that cannot.

    Cells that are exempt from rules are exempt from the marks here; where rules hit them all the same, the
    project is found to ask something else when it is read back.
    """
    table, rule = problem.table, problem.rule
    if rule is None:
        return Sensitive((), (), problem.levels)
    exempt = rule.cells if isinstance(rule, Exempt) else ()
    rule = rule.rule if isinstance(rule, Exempt) else rule
    named: list[Rule] = []
    others: list[Rule] = []
    for part in rule.rules if isinstance(rule, AnyOf) else (rule,):
        by_rule = type(part) in RULES.values() and not isinstance(part, Marked | FromColumns)
        (named if by_rule else others).append(part)
    marked = Exempt(AnyOf(tuple(others)), exempt).levels(table) if others else Levels.none(len(table))
    waived = _waived(named)
    plain = [
        replace(r, waivers=frozenset()) if waived and isinstance(r, ContributorRule) else r for r in named
    ]
    return Sensitive(tuple(map(rule_text, plain)), waived, marked)


def _waived(rules: Sequence[Rule]) -> tuple[str, ...]:
    """Those who consented to every rule on contributors; consents to single rules stand in these."""
    consents = {rule.waivers for rule in rules if isinstance(rule, ContributorRule)}
    return tuple(sorted(consents.pop())) if len(consents) == 1 else ()


def _how(
    problem: Problem,
    method: str,
    options: Mapping[str, Any],
    seed: int,
    time_limit: float | None,
    formats: Sequence[str],
) -> Sections:
    """The sections on protection and output."""
    defaults = {option.name: option.default for option in options_of(method)}
    said = {name: "none" if value is None else value for name, value in options.items()}
    said = {name: value for name, value in said.items() if options[name] != defaults.get(name)}
    protect = {
        "method": method,
        "options": said or None,
        "time_limit": time_limit,
        "seed": seed or None,
        "must_hide": _listed(problem.table, problem.must_hide),
    }
    return {"protect": protect, "output": {"folder": "out", "formats": list(formats)}}


def _draft_origin(problem: Problem, origin: Origin, how: Sections, folder: Path) -> list[Path]:
    project = load_project(origin.path)
    said = project.model_dump(exclude_unset=True)
    tables = [said["table"]] if "table" in said else list(said["tables"].values())
    if not any("microdata" in table for table in tables):
        raise InputError("it names no microdata")
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
    if origin.rule is not None:
        rules["rule"] = origin.rule
    if origin.waived is not None:
        rules["waived"] = list(origin.waived)
    if origin.attackers is not None:
        attackers = origin.attackers.model_dump(exclude_defaults=True)
    elif "file" in attackers:
        attackers["file"] = _absolute(project, attackers["file"])
    sections: Sections = {"table": said["table"]} if "table" in said else {}
    sections |= {f"tables.{name}": table for name, table in said.get("tables", {}).items()}
    sections |= {"hierarchies": hierarchies, "rules": rules, "attackers": attackers}
    sections["cost"] = {"by": origin.cost} if origin.cost is not None else said.get("cost", {})
    stays = {"must_publish": _listed(problem.table, problem.must_publish)}
    sections |= {**how, "protect": {**how["protect"], **stays}}
    return [write_text(folder / "project.toml", toml_text(sections))]


def _absolute(project: Project, path: str) -> str:
    return str(project.folder / path)


def _draft_table(
    problem: Problem, sensitive: Sensitive, how: Sections, folder: Path
) -> tuple[list[Path], list[str]]:
    """The files of a problem that stands for itself, and what they cannot hold."""
    table, notes = _writable(problem.table)
    # A mark of cells to be hidden is not binding in a file of cells: the project lists them.
    plain = Problem(
        table,
        sensitive.marked,
        attackers=problem.outsider,
        cost=problem.cost,
        must_publish=np.flatnonzero(problem.must_publish).tolist(),
    )
    sections: Sections = {"table": {"file": "table.parquet"}, "hierarchies": {}, "rules": sensitive.section}
    sections |= {"attackers": {}, **how}
    if _has_codes(table):
        written = [write_table(table, folder / "table.parquet", plain)]
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
        written = [write_jj(plain, folder / "table.jj")]
        sections["table"]["file"] = "table.jj"
        if table.structure.parts:
            notes.append("linked tables are written as one list of cells, which go by number there")
    carried = further_columns(table) if _has_codes(table) else []
    if lost := [name for name in table.columns if name not in carried and part_by_name(name) is None]:
        notes.append(f"columns that the file of cells cannot hold are left out: {', '.join(lost)}")
    sections["table"] |= {"decimals": table.decimals, "counts": table.whole}
    if problem.insiders:
        named = problem if _has_codes(table) else _numbered(problem, folder / "table.jj")
        written.append(write_insiders(named, folder / "attackers.parquet"))
        sections["attackers"] = {"file": "attackers.parquet"}
    rules = ", ".join(dict.fromkeys(reason.rule for reason in sensitive.marked.reasons))
    about = f"# Marked in the table, with levels: {' '.join(rules.split())}\n\n" if rules else ""
    written.append(write_text(folder / "project.toml", about + toml_text(sections)))
    return written, notes


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
    from tacita.io.jj import read_jj

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


def _free_name(wanted: str, taken: set[str]) -> str:
    """A name that can be that of a file, told apart from others also where files have no capitals."""
    plain = re.sub(r"[^\w-]+", "_", wanted).strip("_") or "codes"
    lowered = {name.lower() for name in taken}
    candidates = (plain, *(f"{plain}-{k}" for k in range(2, len(taken) + 3)))
    return next(name for name in candidates if name.lower() not in lowered)


def _listed(table: Table, marked: Mask) -> list[dict[str, str]] | None:
    """Cells by their codes; where they have none in a file, by number."""
    structure = table.structure
    names = [dimension.name for dimension in structure.dimensions]
    cells = np.flatnonzero(marked).tolist()
    if structure.labels or not _has_codes(table):
        labels = structure.labels or tuple(map(str, range(len(structure))))
        return [{"cell": labels[cell]} for cell in cells] or None
    return [dict(zip(names, structure.key(cell), strict=True)) for cell in cells] or None


def _refuse_difference(problem: Problem, method: Method, folder: Path, named: bool) -> None:
    project = load_project(folder / "project.toml")
    differing = differences(problem, project.problem(), named)
    if make_method(project.protect.method or "", project.protect.options) != method:
        differing.append("options")
    if differing:
        raise InputError(f"read back, the project has other {', '.join(differing)}")
