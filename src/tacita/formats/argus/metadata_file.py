"""Files of metadata of τ-ARGUS (``.rda``).

    file      := [ "<SEPARATOR>" text | "<SPSS>" ] variable+       microdata: the header stands in line 1
    variable  := NAME [START] LENGTH [MISSING [MISSING]]           no START with a separator
    variable  := NAME [MISSING [MISSING]]                          in metadata of tables
    attribute := "<KEYWORD>" argument*                             below the variable, or several on a line

``parse_metadata(path)`` and ``write_metadata(metadata, path)`` are inverse.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_args

from tacita.core.errors import FormatError, did_you_mean
from tacita.core.words import pluralize
from tacita.formats.argus.metadata import Kind, Metadata, Role, Variable
from tacita.formats.argus.tokens import ArgusText, Line, format_token, format_tokens, read_lines
from tacita.storage.atomic import write_text

MOST_LEVELS = 10
DISTANCES = 5
ROLES: Mapping[str, Role] = MappingProxyType(
    {
        "<SHADOW>": "shadow",
        "<COST>": "cost",
        "<COSTVAR>": "cost",
        "<LOWERPL>": "lower_level",
        "<UPPERPL>": "upper_level",
        "<FREQUENCY>": "frequency",
        "<MAXSCORE>": "largest",
        "<STATUS>": "status",
    }
)
"""Keywords of the columns of a table that hold neither codes nor the response."""
CELL_KEYS = (
    "<RECORDKEY>",
    "<PFILE>",
    "<PFILE_FREQ>",
    "<PFILE_CONT>",
    "<PFILE_SEP>",
    "<CKM>",
    "<INCLUDEZEROS>",
    "<PARITY>",
    "<SEPARATION>",
    "<SCALING>",
)
"""Keywords of the cell key method, which is kept and not honoured."""
_BELOW_CKM = ("<INCLUDEZEROS>", "<PARITY>", "<SEPARATION>", "<SCALING>")
_FLAGS = MappingProxyType(
    {
        "<RECODEABLE>": "recodable",
        "<RECODABLE>": "recodable",
        "<NUMERIC>": "numeric",
        "<WEIGHT>": "weight",
        "<HOLDING>": "holding",
        "<TRUNCABLE>": "truncable",
        "<HIERARCHICAL>": "hierarchical",
    }
)
_TEXTS = MappingProxyType(
    {
        "<TOTCODE>": "total",
        "<CODELIST>": "codelist",
        "<HIERCODELIST>": "hierarchy",
        "<HIERLEADSTRING>": "lead",
    }
)
_HEAD = MappingProxyType({"<SAFE>": "safe", "<UNSAFE>": "unsafe", "<PROTECT>": "protect"})
_OF_RECORDS = ("<WEIGHT>", "<HOLDING>", "<REQUEST>", "<DISTANCE>", "<TRUNCABLE>", *CELL_KEYS)
_OF_TABLES = (*ROLES, *_HEAD)
KNOWN = ("<SEPARATOR>", "<SPSS>", *_HEAD, *_FLAGS, *_TEXTS, *ROLES, "<DECIMALS>", "<REQUEST>", "<DISTANCE>",
         "<HIERLEVELS>", *CELL_KEYS)  # fmt: skip


def parse_metadata(path: str | os.PathLike[str], kind: Kind | None = None) -> Metadata:
    """Return the metadata in a ``.rda`` file.

    Parameters
    ----------
    kind
        Whether the file describes microdata or a table. Without it keywords decide; where none does, metadata
        in which every variable has a length are of microdata.

    Raises
    ------
    FormatError
        A line does not follow the grammar; the message names it, and what helps.
    """
    read = read_lines(path)
    if not read.lines:
        raise FormatError("the file names no variable", place=path, remedy="Write one per line.")
    kind = kind or _guess_kind(read)
    parser = _Parser(kind, read)
    for number, line in enumerate(read.lines):
        parser.take(line, first=number == 0)
    return parser.finish()


def _guess_kind(read: ArgusText) -> Kind:
    keywords = [token.keyword for line in read.lines for token in line.tokens]
    named = [line for line in read.lines if line.keyword is None]
    of_table = any(word in _OF_TABLES for word in keywords)
    if any(word in _OF_RECORDS or word == "<SPSS>" for word in keywords) and not of_table:
        return "microdata"
    numbered = all(len(line.tokens) > 1 and _is_count(line.tokens[1].text) for line in named)
    return "table" if of_table or not numbered else "microdata"


@dataclass
class _Parser:
    """The metadata as far as they are read."""

    kind: Kind
    read: ArgusText

    def __post_init__(self) -> None:
        self.head: dict[str, Any] = {"separator": ";" if self.kind == "table" else None}
        self.found: list[tuple[Line, Variable]] = []
        self.notes: list[str] = list(self.read.notes)

    def take(self, line: Line, first: bool) -> None:
        """Take a line of the file: a variable, or attributes of the one above it."""
        if line.keyword is None:
            self.found.append((line, self._parse_variable(line)))
            return
        tokens = line.tokens
        starts = [k for k, token in enumerate(tokens) if token.keyword is not None]
        for here, end in zip(starts, [*starts[1:], len(tokens)], strict=True):
            word = str(tokens[here].keyword)
            self._take_attribute(line, word, [token.text for token in tokens[here + 1 : end]], first)

    def _parse_variable(self, line: Line) -> Variable:
        name, *rest = (token.text for token in line.tokens)
        if any(token.keyword for token in line.tokens[1:]):
            raise line.fault("a keyword stands beside the name of a variable", "Give it a line below.")
        if not name.strip():
            raise line.fault("a variable has no name", "Name it.")
        if any(variable.name == name for _, variable in self.found):
            raise line.fault(f"there are two variables '{name}'", "Rename one of them.")
        places: list[int] = []
        if self.kind == "microdata":
            wanted = ["START", "LENGTH"] if self.head["separator"] is None else ["LENGTH"]
            for what in wanted:
                if not rest or not _is_count(rest[0]) or int(rest[0]) < 1:
                    given = f"'{rest[0]}'" if rest else "nothing"
                    raise line.fault(
                        f"{what} of '{name}' is {given}, not a number from 1 on",
                        f"Write NAME {' '.join(wanted)} and up to two codes for missing values.",
                    )
                places.append(int(rest.pop(0)))
        if len(rest) > 2:
            raise line.fault(
                f"'{name}' has {pluralize(len(rest), 'code')} for missing values", "Give two at most."
            )
        start, length = (None, *places) if len(places) == 1 else places or (None, None)
        return Variable(name, start, length, tuple(rest))

    def _take_attribute(self, line: Line, word: str, given: list[str], first: bool) -> None:
        if word in ("<SEPARATOR>", "<SPSS>", *_HEAD):
            self._take_head(line, word, given, first)
            return
        if word not in KNOWN:
            raise line.fault(f"the keyword {word}{did_you_mean(word, KNOWN)} is unknown", "Correct it.")
        if not self.found:
            raise line.fault(f"{word} stands before the first variable", "Name the variable above it.")
        if word in ROLES and self.kind == "microdata":
            raise line.fault(
                f"{word} belongs to metadata of tables, and these are of microdata",
                "Take it off, or read the file as metadata of a table.",
            )
        above, variable = self.found[-1]
        self.found[-1] = (above, _add_attribute(line, variable, word, given))

    def _take_head(self, line: Line, word: str, given: list[str], first: bool) -> None:
        if self.kind == "microdata" and (word in _HEAD or not first):
            where = "belongs to metadata of tables" if word in _HEAD else "stands in line 1 only"
            raise line.fault(f"{word} {where}", "Move it, or take it off.")
        if word == "<SPSS>":
            if self.kind == "table":
                raise line.fault("<SPSS> belongs to metadata of microdata", "Take it off.")
            self.head["spss"] = True
            return
        text = _take_one(line, word, given)
        if word == "<SEPARATOR>":
            if len(text) != 1 and text.lower() not in ("tab", "\\t"):
                raise line.fault(f"the separator '{text}' is not one sign", "Write a sign such as ;")
            text = text if len(text) == 1 else "\t"
        self.head[_HEAD.get(word, "separator")] = text

    def finish(self) -> Metadata:
        """Return the metadata that were read, checked as a whole."""
        for line, variable in self.found:
            _check_variable(line, variable, self.kind)
        if not self.found:
            raise FormatError(
                "the file names no variable", place=self.read.path, remedy="Write one per line."
            )
        variables = tuple(variable for _, variable in self.found)
        found = Metadata(variables, self.kind, **self.head, path=self.read.path)
        (_check_table if self.kind == "table" else _check_microdata)(found, [line for line, _ in self.found])
        return replace(found, notes=(*self.notes, *_note_overlaps(found)))


def _add_attribute(line: Line, variable: Variable, word: str, given: list[str]) -> Variable:
    """Return a variable with one more attribute of the metadata."""
    change: dict[str, Any]
    if word in _FLAGS or word in ROLES:
        if given:
            raise line.fault(f"{word} takes nothing, and '{given[0]}' follows", "Take it off.")
        if word in ROLES and variable.role not in (None, ROLES[word]):
            raise line.fault(f"'{variable.name}' is {variable.role} and {ROLES[word]}", "Keep one of them.")
        change = {_FLAGS[word]: True} if word in _FLAGS else {"role": ROLES[word]}
    elif word in _TEXTS:
        change = {_TEXTS[word]: _take_one(line, word, given)}
    elif word == "<DECIMALS>":
        change = {"decimals": _take_counts(line, word, given, 1)[0]}
    elif word == "<HIERLEVELS>":
        change = {"levels": _take_counts(line, word, given, MOST_LEVELS)}
    elif word == "<DISTANCE>":
        listed = _take_counts(line, word, given, DISTANCES)
        change = {"distance": listed + (listed[-1],) * (DISTANCES - len(listed))}
    elif word == "<REQUEST>":
        if not 1 <= len(given) <= 2:
            raise line.fault(f"<REQUEST> has {pluralize(len(given), 'code')}", "Give one or two.")
        change = {"request": tuple(given)}
    else:
        if word in _BELOW_CKM and not any(key[0] == "<CKM>" for key in variable.cell_key):
            raise line.fault(f"{word} stands before <CKM>", "Write it below <CKM>.")
        change = {"cell_key": (*variable.cell_key, (word, *given))}
    return replace(variable, **change)


def _take_one(line: Line, word: str, given: list[str]) -> str:
    if len(given) != 1:
        raise line.fault(
            f"{word} takes one text, and {pluralize(len(given), 'text')} follow",
            "Put quotes around a text with blanks.",
        )
    return given[0]


def _take_counts(line: Line, word: str, given: list[str], most: int) -> tuple[int, ...]:
    wrong = next((text for text in given if not _is_count(text)), None)
    if wrong is not None:
        raise line.fault(f"'{wrong}' beside {word} is no number", "Write integers, 0 or more.")
    if not 1 <= len(given) <= most:
        raise line.fault(
            f"{pluralize(len(given), 'number')} beside {word}",
            f"Give {'one' if most == 1 else f'1 to {most}'}.",
        )
    return tuple(map(int, given))


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 10


def _check_variable(line: Line, variable: Variable, kind: Kind) -> None:
    """Refuse a variable of the metadata whose attributes contradict each other."""
    name, levels = variable.name, variable.levels
    if levels and variable.hierarchy is not None:
        raise line.fault(f"'{name}' has both <HIERLEVELS> and <HIERCODELIST>", "Keep one of them.")
    if levels:
        used = levels[: max((k for k, n in enumerate(levels, start=1) if n), default=0)]
        if 0 in used or not used:
            raise line.fault(
                f"<HIERLEVELS> {' '.join(map(str, levels))} of '{name}': a level adds no digit",
                "Give each level a digit; zeros stand at the end only.",
            )
        if kind == "microdata" and sum(levels) != variable.length:
            raise line.fault(
                f"<HIERLEVELS> of '{name}' add up to {sum(levels)}, its length is {variable.length}",
                "Make both the same.",
            )
    if variable.lead is not None and not variable.lead:
        raise line.fault(f"the lead string of '{name}' is empty", "Write a short text such as @.")
    if variable.total is not None and not variable.total.strip():
        raise line.fault(f"the code of the total of '{name}' is empty", "Write one such as Total.")
    if variable.role is not None and (variable.recodable or variable.hierarchical):
        raise line.fault(f"'{name}' holds codes and is {variable.role}", "Keep one of them.")


def _check_microdata(metadata: Metadata, lines: list[Line]) -> None:
    for attribute in ("weight", "holding", "request"):
        several = [k for k, variable in enumerate(metadata.variables) if getattr(variable, attribute)]
        if len(several) > 1:
            name = metadata.variables[several[1]].name
            raise lines[several[1]].fault(
                f"'{name}' is a second variable with <{attribute.upper()}>", "Keep one of them."
            )
    keys = [k for k, v in enumerate(metadata.variables) if any(key[0] == "<RECORDKEY>" for key in v.cell_key)]
    if len(keys) > 1:
        raise lines[keys[1]].fault("there is a second <RECORDKEY>", "Keep one of them.")


def _check_table(metadata: Metadata, lines: list[Line]) -> None:
    for line, variable in zip(lines, metadata.variables, strict=True):
        if not (variable.spans or variable.numeric or variable.role):
            raise line.fault(
                f"what '{variable.name}' holds is not said",
                "Write <RECODEABLE> and <TOTCODE> for codes, <NUMERIC> for amounts, or <FREQUENCY>, "
                "<MAXSCORE>, <STATUS>.",
            )
        if variable.spans and variable.total is None:
            raise line.fault(f"'{variable.name}' has no <TOTCODE>", "Name the code of its total.")
    for role in get_args(Role):
        if role != "largest" and len(several := metadata.with_role(role)) > 1:
            line = lines[metadata.variables.index(several[1])]
            raise line.fault(f"'{several[1].name}' is a second column of the kind {role}", "Keep one.")
    if not metadata.spanning:
        raise FormatError(
            "no variable holds codes", place=metadata.path, remedy="Write <RECODEABLE> for one."
        )
    if not metadata.responses and not metadata.with_role("frequency"):
        raise FormatError(
            "no variable is the response, and none the frequency",
            place=metadata.path,
            remedy="Write <NUMERIC> or <FREQUENCY> for one.",
        )
    signs = [metadata.safe, metadata.unsafe, metadata.protect]
    if len({sign.upper() for sign in signs}) < len(signs):
        raise FormatError(
            f"two of the status codes {', '.join(signs)} are the same",
            place=metadata.path,
            remedy="Choose different ones.",
        )


def _note_overlaps(metadata: Metadata) -> list[str]:
    """Return a note for each two fields of fixed-format records that overlap."""
    placed = sorted(
        (v.start, v.start + v.length, v.name)
        for v in metadata.variables
        if v.start is not None and v.length is not None
    )
    return [
        f"the fields of '{one}' and '{other}' overlap"
        for k, (_, end, one) in enumerate(placed)
        for start, _, other in placed[k + 1 :]
        if start < end
    ]


def write_metadata(metadata: Metadata, path: str | os.PathLike[str]) -> Path:
    """Write metadata as a ``.rda`` file, and return its path."""
    place, usual = Path(path), Metadata(())
    lines = []
    if metadata.spss:
        lines.append("<SPSS>")
    elif metadata.separator is not None and (metadata.kind == "microdata" or metadata.separator != ";"):
        sign = metadata.separator
        lines.append(f"<SEPARATOR> {'tab' if sign == chr(9) else format_token(sign, place)}")
    for word, name in _HEAD.items():
        if (sign := getattr(metadata, name)) != getattr(usual, name):
            lines.append(f"{word} {format_token(sign, place)}")
    for variable in metadata.variables:
        places = [str(n) for n in (variable.start, variable.length) if n is not None]
        lines.append(format_tokens([variable.name, *places, *variable.missing], place))
        lines += [f"  {text}" for text in _list_attributes(variable, place)]
    return write_text(place, "".join(f"{line}\n" for line in lines))


def _list_attributes(variable: Variable, place: Path) -> list[str]:
    """Return the attributes of a variable as lines of metadata."""
    flags = {name: word for word, name in reversed(list(_FLAGS.items()))}
    texts = {name: word for word, name in _TEXTS.items()}
    counts = {"decimals": "<DECIMALS>", "levels": "<HIERLEVELS>", "distance": "<DISTANCE>"}
    lines = []
    for each in fields(variable):
        value = getattr(variable, each.name)
        if value == each.default:
            continue
        if each.name in flags:
            lines.append(flags[each.name])
        elif each.name in texts:
            lines.append(f"{texts[each.name]} {format_token(value, place)}")
        elif each.name in counts:
            listed = value if isinstance(value, tuple) else (value,)
            lines.append(f"{counts[each.name]} {' '.join(map(str, listed))}")
        elif each.name == "request":
            lines.append(f"<REQUEST> {format_tokens(value, place)}")
        elif each.name == "role":
            lines.append(next(word for word, role in ROLES.items() if role == value))
        elif each.name == "cell_key":
            lines += [f"{key[0]} {format_tokens(key[1:], place)}".rstrip() for key in value]
    return lines
