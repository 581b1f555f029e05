"""``project.toml``: a whole case in one file that an office can read, keep and run again.

    [table]                                  # or [tables.NAME] several times, for linked tables
    file = "turnover.csv"                    # one row per cell; or: microdata = "firms.parquet"
    by = { region = "nuts", size = "Total" } # a hierarchy of this file, the code of a total, or "" to find it
    value = "turnover"

    [hierarchies]
    nuts = "nuts.csv"                        # or { file = "nace.hrc", lead = "@", total = "Total" }

    [rules]
    rule = "p-percent(10) | frequency(3)"

    [attackers]
    kinds = ["respondents"]

    [published]
    files = ["2023.csv"]                     # releases that readers have; or { file = "2023.csv", base = 5 }

Paths are relative to the folder of the project file.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from tacita.core.errors import FormatError, did_you_mean
from tacita.formats.textfile import read_text
from tacita.formats.toml import format_toml
from tacita.specification.project_cells import LEVELS
from tacita.specification.sections import Decision, Section, SensitiveCell
from tacita.specification.specification import ONE_SOURCE, PROJECT, Specification
from tacita.storage.atomic import write_text

_AMOUNT = Field(default=None, ge=0, strict=True, allow_inf_nan=False)
_CHECKED = TypeAdapter(Specification)
_KINDS = {kind.__name__ for kind in Section.__subclasses__()} | {"str"}
"""What pydantic names in the place of a fault, and the file does not."""


def load_project(path: str | os.PathLike[str]) -> Specification:
    """Return the specification of a project file; :class:`FormatError` names line and key of every fault."""
    text, _ = read_text(path, "utf-8")
    try:
        content = tomllib.loads(text)
    except RecursionError:
        raise FormatError("lists or tables are nested too deeply for a project file", place=path) from None
    except ValueError as error:
        raise FormatError(f"this is not TOML: {error}", place=path) from None
    try:
        found = _parse_content(content)
        if not found.sources:
            raise FormatError(_describe_fault(text, (), ONE_SOURCE, ""), place=path)
    except ValidationError as error:
        found_faults = _select_nearest(error.errors())
        faults = [_describe_fault(text, each["loc"], each["msg"], each["type"]) for each in found_faults]
        raise FormatError(f"{path}: " + f"\n{path}: ".join(dict.fromkeys(faults))) from None
    return replace(found, folder=Path(path).resolve().parent)


def save_project(specification: Specification, folder: Path, about: str = "", *, name: str = PROJECT) -> Path:
    """Write a specification as ``project.toml`` in a folder, or by another ``name``, below a line ``about``
    it; return its path.
    """
    folder.mkdir(parents=True, exist_ok=True)
    head = f"# {' '.join(about.split())}\n\n" if about else ""
    return write_text(folder / name, head + format_toml(_build_sections(specification.at(folder))))


def _build_sections(specification: Specification) -> dict[str, dict[str, Any]]:
    """Return the sections of the project file with the keys that are not at their defaults."""
    tables = {"table": specification.table} if specification.table is not None else {}
    tables |= {f"tables.{name}": source for name, source in specification.tables.items()}
    marks = [
        {**mark.cell, **{key: getattr(mark, name) for key, name in LEVELS.items()}}
        for mark in specification.rules.sensitive
    ]
    earlier = [_select_changed(old) for old in specification.published.releases]
    return {
        # Where the cells come from stands first.
        **{n: {"file": t.file, "microdata": t.microdata, **_select_changed(t)} for n, t in tables.items()},
        "hierarchies": {
            name: tree if isinstance(tree, str) else _select_changed(tree)
            for name, tree in specification.hierarchies.items()
        },
        "rules": {**_select_changed(specification.rules), "sensitive": marks or None},
        "attackers": _select_changed(specification.attackers),
        "decisions": {
            name: decision.file if decision == Decision(decision.file) else _select_changed(decision)
            for name, decision in specification.decisions.given.items()
        },
        "published": {"files": [old["file"] if len(old) == 1 else old for old in earlier] or None},
        "cost": _select_changed(specification.cost),
        "protect": _select_changed(specification.protect),
        "output": _select_changed(specification.output),
    }


def _select_changed(section: Any) -> dict[str, Any]:
    """Return the fields of a project file's section that are not at their defaults, by name."""
    usual = {each.name: each.default for each in fields(section)}
    values = {name: getattr(section, name) for name in usual}
    return {name: value for name, value in values.items() if value != usual[name] and value != {}}


class _Mark(BaseModel):
    """A cell that is sensitive by hand, as the file has it: its codes and its levels side by side."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, str]

    lpl: float | None = _AMOUNT
    upl: float | None = _AMOUNT
    spl: float | None = _AMOUNT
    protection: float | tuple[float, float] | None = None


_MARKS = TypeAdapter(list[_Mark])


def _parse_content(content: Mapping[str, Any]) -> Specification:
    """Return the specification that the parsed TOML of a project file states."""
    rules = content.get("rules")
    if isinstance(rules, dict) and "sensitive" in rules:
        try:
            marks = _MARKS.validate_python(rules["sensitive"])
        except ValidationError as error:
            inside: list[Any] = [{**e, "loc": ("rules", "sensitive", *e["loc"])} for e in error.errors()]
            raise ValidationError.from_exception_data(error.title, inside) from None
        listed = [
            SensitiveCell(mark.__pydantic_extra__, mark.lpl, mark.upl, mark.spl, mark.protection)
            for mark in marks
        ]
        content = {**content, "rules": {**rules, "sensitive": listed}}
    return _CHECKED.validate_python(content)


def _select_nearest(faults: Sequence[ErrorDetails]) -> list[ErrorDetails]:
    """Return the faults without those of a section's short form, one text, where it has the long one."""
    sections = {fault["loc"][:2] for fault in faults if "Classification" in fault["loc"]}
    return [fault for fault in faults if fault["loc"][:2] not in sections or "Classification" in fault["loc"]]


def _describe_fault(text: str, loc: tuple[int | str, ...], message: str, kind: str) -> str:
    keys = [str(key) for key in loc if str(key) not in _KINDS and "[" not in str(key)]
    own = re.match(r"Value error, (\w+): (.*)", message)
    if own is not None:
        # A value out of range is a fault of its key.
        keys, message = [*keys, own[1]], own[2]
    line = _find_line(text, keys)
    place = f"line {line}: " if line else ""
    what = message.removeprefix("Value error, ")
    if kind == "unexpected_keyword_argument":
        known = _list_known_keys(keys[:-1])
        what = f"this key is unknown{did_you_mean(keys[-1], known) or '; known are ' + ', '.join(known)}"
    return f"{place}{'.'.join(keys) or 'the file'}: {what}"


def _list_known_keys(section: Sequence[str]) -> list[str]:
    """Return the keys that a section of a project file may have; of the whole file, its sections."""
    names = {"tables": "Source", "table": "Source", "hierarchies": "Classification", "protect": "Protection"}
    kinds: dict[str, Any] = {kind.__name__: kind for kind in Section.__subclasses__()}
    kind = kinds.get(names.get(section[0], section[0].capitalize())) if section else None
    return [each.name for each in fields(kind or Specification) if kind or each.name != "folder"]


def _find_line(text: str, keys: Sequence[str]) -> int | None:
    """Return the line number of a key in a project file, or else of the nearest section above it."""
    section: list[str] = []
    best: tuple[int, int | None] = (0, None)
    for number, line in enumerate(text.splitlines(), start=1):
        header = re.match(r"\s*\[+([^\]]+)\]", line)
        if header is not None:
            section = [part.strip().strip("\"'") for part in header[1].split(".")]
        key = re.match(r"\s*([\w\-\"']+)\s*=", line)
        here = section if key is None else [*section, key[1].strip("\"'")]
        depth = len(here) if header is not None or key is not None else 0
        if depth > best[0] and list(keys[:depth]) == here:
            best = (depth, number)
    return best[1]
