"""Read and write ``.arb`` files: the commands of a batch, one per line.

    <OPENMICRODATA> "f"   <OPENTABLEDATA> "f"   <OPENMETADATA> "f"   <LOGBOOK> "f"   <VERSIONINFO> "f"
    <SPECIFYTABLE> "e1""e2".. | "response" or <freq> [ | "shadow" [ | cost [ , or | lambda ] ] ]
    <SAFETYRULE> rule{|rule}
    <READMICRODATA>   <READTABLE> [0|1|2][T|F]
    <RECODE> table, variable, "file" or level
    <APRIORI> "f", table, "separator" [, ignore errors [, expand trivial]]        also <APRIORY>
    <SUPPRESS> METHOD(table, ..)
    <WRITETABLE> (table, kind, options, "f")
    <SOLVER> name [, "licence"]   <CLEAR>   <SILENT>   <GOINTERACTIVE>   <ANCO>   <COVER>   <JJ>

``read_batch(write_batch(batch))`` is ``batch``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import fields
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar

from tacita.core.errors import FormatError, did_you_mean
from tacita.formats.argus.batch import (
    COMMANDS,
    COSTS,
    KINDS,
    METHODS,
    OPTIONS,
    RULES,
    SOLVERS,
    Apriori,
    Batch,
    CellKey,
    Command,
    FileCommand,
    Number,
    OtherCommand,
    Protector,
    ReadTable,
    Recode,
    SafetyRule,
    Solver,
    SpecifyTable,
    Suppress,
    Term,
    WriteTable,
)
from tacita.formats.argus.batch_order import refuse_wrong_order
from tacita.formats.argus.tokens import SIGNS, Line, Token, read_lines
from tacita.storage.atomic import write_text

ALIASES = {"<APRIORY>": "<APRIORI>"}
FREQUENCIES = "<freq>"
MOST_DIGITS = 300
AnyTerm = TypeVar("AnyTerm", bound=Term)


def read_batch(path: str | os.PathLike[str]) -> Batch:
    """Return the commands of a batch file, checked for their parameters and their order.

    Raises
    ------
    FormatError
        A line does not follow the grammar: the message names it, what was expected, and the remedy.
    """
    text = read_lines(path, ends=SIGNS + '"')
    commands = tuple(_parse_command(line) for line in text.lines)
    refuse_wrong_order(commands)
    return Batch(commands, Path(path), text.notes)


def write_batch(batch: Batch, path: str | os.PathLike[str]) -> Path:
    """Write a batch file, one line per command; return its path."""
    return write_text(path, "".join(_format_command(command) + "\n" for command in batch.commands))


class _Words:
    """The tokens of a line after its keyword, taken one after the other."""

    def __init__(self, line: Line, tokens: Sequence[Token]) -> None:
        self.line = line
        self.left = list(tokens)

    def fault(self, expected: str, remedy: str = "") -> FormatError:
        """Return the error of a line where something else was expected."""
        found = f"'{self.left[0].text}' stands" if self.left else "the line ends"
        return self.line.fault(f"{found} where {expected} is expected", remedy or f"Give {expected} there.")

    def has_sign(self, sign: str) -> bool:
        return bool(self.left) and self.left[0].is_sign(sign)

    def take_sign(self, sign: str) -> bool:
        """Return whether the next token is a sign, and go past it if it is."""
        if not self.has_sign(sign):
            return False
        self.left.pop(0)
        return True

    def require_sign(self, sign: str) -> None:
        if not self.take_sign(sign):
            raise self.fault(f"'{sign}'")

    def has_word(self) -> bool:
        return bool(self.left) and not any(self.left[0].is_sign(sign) for sign in SIGNS)

    def take_text(self, expected: str) -> str:
        if not self.has_word() or not self.left[0].text:
            raise self.fault(expected)
        return self.left.pop(0).text

    def take_number(self, expected: str) -> Number:
        number = _parse_number(self.left[0].text) if self.has_word() and not self.left[0].quoted else None
        if number is None:
            raise self.fault(f"a number ({expected})")
        self.left.pop(0)
        return number

    def take_integer(self, expected: str, known: Sequence[int] | None = None) -> int:
        """Return the next token, a non-negative integer; or one of those that are known."""
        text = self.left[0].text if self.has_word() and not self.left[0].quoted else ""
        number = int(text) if re.fullmatch(r"[+-]?\d{1,9}", text, re.ASCII) else None
        if number is None or (number < 0 if known is None else number not in known):
            one_of = "" if known is None else f": {', '.join(map(str, known))}"
            raise self.fault(f"{expected}{one_of}")
        self.left.pop(0)
        return number

    def require_end(self) -> None:
        if self.left:
            raise self.fault("the end of the line", "Take the rest off the line.")


def _parse_number(text: str) -> Number | None:
    """Return the number of a text in a batch file: an integer if it has no point; None if it is none."""
    if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text, re.ASCII) or len(text) > MOST_DIGITS:
        return None
    if re.fullmatch(r"[+-]?\d+", text):
        return int(text)
    return float(text) if isfinite(float(text)) else None


# ------------------------------------------------------------------ reading


def _parse_command(line: Line) -> Command:
    keyword = line.keyword
    if keyword is None:
        raise line.fault(
            f"'{line.text.split()[0]}' stands where a command such as <SUPPRESS> is expected",
            "Begin the line with a command in angle brackets, or with // if it is a comment.",
        )
    keyword = ALIASES.get(keyword, keyword)
    if keyword not in COMMANDS:
        raise line.fault(
            f"there is no command {keyword}{did_you_mean(keyword, COMMANDS)}",
            f"Use one of {', '.join(COMMANDS)}.",
        )
    kind, words = COMMANDS[keyword], _Words(line, line.tokens[1:])
    if issubclass(kind, OtherCommand):
        return kind(tuple(token.text for token in words.left), place=line.place)
    if issubclass(kind, FileCommand):
        given: dict[str, Any] = {"file": words.take_text("the name of a file")}
    else:
        given = _PARSERS[kind](words) if kind in _PARSERS else {}
    words.require_end()
    return kind(**given, place=line.place)


def _parse_specify_table(words: _Words) -> dict[str, Any]:
    spanning = []
    while words.has_word():
        spanning.append(words.take_text("a spanning variable"))
    if not spanning:
        raise words.fault("a spanning variable")
    words.require_sign("|")
    if words.left and words.left[0].keyword == FREQUENCIES.upper():
        words.left.pop(0)
        response = None
    else:
        response = words.take_text(f"the response variable or {FREQUENCIES}")
    shadow, cost, exponent = None, None, None
    if words.take_sign("|"):
        shadow = words.take_text("the shadow variable") if words.has_word() else None
        if words.take_sign("|"):
            cost = _parse_cost(words) if words.has_word() else None
            if words.take_sign(",") or words.take_sign("|"):
                exponent = words.take_number("lambda")
    return {
        "spanning": tuple(spanning),
        "response": response,
        "shadow": shadow,
        "cost": cost,
        "exponent": exponent,
    }


def _parse_cost(words: _Words) -> str | int:
    if not words.left[0].quoted and _parse_number(words.left[0].text) is not None:
        return words.take_integer("a cost variable, or one of", COSTS)
    return words.take_text("a cost variable")


def _parse_safety_rule(words: _Words) -> dict[str, Any]:
    rules: list[Term] = []
    while words.left:
        if rules:
            words.require_sign("|")
        rules.append(_parse_term(words, RULES, "a rule"))
    return {"rules": tuple(rules)}


def _parse_suppress(words: _Words) -> dict[str, Any]:
    method: Protector = _parse_term(words, METHODS, "a method")
    if isinstance(method, CellKey) and words.left:
        arguments = [words.take_text("an argument") if words.has_word() else ""]
        while len(arguments) < 3 and words.take_sign("|"):
            arguments.append(words.take_text("an argument") if words.has_word() else "")
        method = CellKey(method.table, tuple(arguments))
    return {"method": method}


def _parse_term(words: _Words, kinds: Sequence[type[AnyTerm]], expected: str) -> AnyTerm:
    """Return the next rule or method of a line with its parameters in brackets."""
    known = {kind.word: kind for kind in kinds}
    kind = known.get(words.left[0].text.upper()) if words.has_word() else None
    if kind is None:
        hint = did_you_mean(words.left[0].text.upper(), known) if words.has_word() else ""
        raise words.fault(f"{expected}{hint}", f"Use one of {', '.join(known)}.")
    words.left.pop(0)
    words.require_sign("(")
    given: dict[str, Number] = {}
    wanted = [each for each in fields(kind) if "kind" in each.metadata]
    least = sum(each.default is not None for each in wanted)
    for each in wanted:
        if len(given) >= least and words.has_sign(")"):
            break
        if given:
            words.require_sign(",")
        what = f"{each.metadata['name']} of {kind.word}"
        given[each.name] = _take_parameter(words, each.metadata["kind"], what)
    if not words.take_sign(")"):
        raise words.fault("')'", f"{kind.word} takes {_list_names(kind)}.")
    return kind(**given)


def _take_parameter(words: _Words, kind: str, name: str) -> Number:
    if kind == "table":
        return words.take_integer(f"the number of a table ({name})")
    if kind == "switch":
        return words.take_integer(name, (0, 1))
    return words.take_number(name)


def _list_names(kind: type[Term]) -> str:
    return ", ".join(each.metadata["name"] for each in fields(kind) if "kind" in each.metadata)


def _parse_read_table(words: _Words) -> dict[str, Any]:
    text = "".join(token.text for token in words.left)
    match = re.fullmatch(r"([012])?([TF])?", text, re.IGNORECASE)
    if match is None:
        raise words.fault("0, 1 or 2 and perhaps T or F")
    words.left.clear()
    mode, keep = match.groups()
    return {
        "mode": None if mode is None else int(mode),
        "keep_status": None if keep is None else keep.upper() == "T",
    }


def _parse_recode(words: _Words) -> dict[str, Any]:
    table = words.take_integer("the number of a table")
    words.require_sign(",")
    variable = words.take_text("the name of a variable")
    words.require_sign(",")
    bare = words.has_word() and not words.left[0].quoted and words.left[0].text.isdecimal()
    by = words.take_integer("a level") if bare else words.take_text("a file or a level")
    return {"table": table, "variable": variable, "by": by}


def _parse_apriori(words: _Words) -> dict[str, Any]:
    file = words.take_text("the name of a file")
    words.require_sign(",")
    table = words.take_integer("the number of a table")
    words.require_sign(",")
    # A separator that is not in quotes may be one of the signs.
    if not words.left or not words.left[0].text:
        raise words.fault("the separator, in quotes")
    separator = words.left.pop(0).text
    given: dict[str, Any] = {"file": file, "table": table, "separator": separator}
    for name in ("ignore_errors", "expand_trivial"):
        if words.take_sign(","):
            given[name] = words.take_integer(f"{name.replace('_', ' ')}, one of", (0, 1))
    return given


def _parse_write_table(words: _Words) -> dict[str, Any]:
    words.require_sign("(")
    table = words.take_integer("the number of a table")
    words.require_sign(",")
    kind = words.take_integer("a kind of output", tuple(KINDS))
    words.require_sign(",")
    options = []
    while words.has_word():
        match = re.fullmatch(r"(?:[A-Z]{2}[+-])+", words.left[0].text, re.IGNORECASE | re.ASCII)
        found = re.findall(r"([A-Z]{2})([+-])", words.left[0].text.upper()) if match else []
        if not found or (strange := [name for name, _ in found if name not in OPTIONS]):
            hint = f" ({strange[0]} is none)" if found else ""
            raise words.fault(f"an option such as AS+{hint}", f"Use {', '.join(OPTIONS)} with + or -.")
        words.left.pop(0)
        options += [(name, sign == "+") for name, sign in found]
    words.require_sign(",")
    file = words.take_text("the name of a file")
    words.require_sign(")")
    return {"table": table, "kind": kind, "options": tuple(options), "file": file}


def _parse_solver(words: _Words) -> dict[str, Any]:
    name = words.take_text("a solver").upper()
    if name not in SOLVERS:
        raise words.line.fault(f"there is no solver {name}", f"Use one of {', '.join(SOLVERS)}.")
    licence = words.take_text("a licence") if words.take_sign(",") else None
    return {"name": name, "licence": licence}


_PARSERS: dict[type[Command], Callable[[_Words], dict[str, Any]]] = {
    SpecifyTable: _parse_specify_table,
    SafetyRule: _parse_safety_rule,
    ReadTable: _parse_read_table,
    Recode: _parse_recode,
    Apriori: _parse_apriori,
    Suppress: _parse_suppress,
    WriteTable: _parse_write_table,
    Solver: _parse_solver,
}

# ------------------------------------------------------------------ writing


def _format_command(command: Command) -> str:
    rest = _format_rest(command)
    return f"{command.keyword} {rest}".rstrip()


def _format_rest(command: Command) -> str:
    match command:
        case FileCommand():
            return _quote(command.file)
        case SpecifyTable():
            return _format_specify_table(command)
        case SafetyRule():
            return "|".join(map(_format_term, command.rules))
        case ReadTable():
            keep = {None: "", True: "T", False: "F"}[command.keep_status]
            return f"{'' if command.mode is None else command.mode}{keep}"
        case Recode():
            by = str(command.by) if isinstance(command.by, int) else _quote(command.by)
            return f"{command.table}, {_quote(command.variable)}, {by}"
        case Apriori():
            switches = (command.ignore_errors, command.expand_trivial)
            more = "".join(f", {switch}" for switch in switches if switch is not None)
            return f"{_quote(command.file)}, {command.table}, {_quote(command.separator)}{more}"
        case Suppress():
            return _format_term(command.method)
        case WriteTable():
            options = "".join(f"{name}{'+' if on else '-'}" for name, on in command.options)
            return f"({command.table}, {command.kind}, {options}, {_quote(command.file)})"
        case Solver():
            return command.name + ("" if command.licence is None else f", {_quote(command.licence)}")
        case OtherCommand():
            return " ".join(map(_quote, command.words))
    return ""


def _format_specify_table(command: SpecifyTable) -> str:
    response = FREQUENCIES if command.response is None else _quote(command.response)
    text = f"{''.join(map(_quote, command.spanning))}|{response}"
    cost = _quote(command.cost) if isinstance(command.cost, str) else command.cost or ""
    shadow = "" if command.shadow is None else _quote(command.shadow)
    if command.exponent is not None:
        return f"{text}|{shadow}|{cost}|{command.exponent!r}"
    if command.cost is not None:
        return f"{text}|{shadow}|{cost}"
    return f"{text}|{shadow}" if shadow else text


def _format_term(term: Term) -> str:
    numbers = ",".join(repr(number) for number in term.parameters if number is not None)
    arguments = "|".join(map(_quote, term.arguments)) if isinstance(term, CellKey) else ""
    return f"{term.word}({numbers}){arguments}"


def _quote(text: str) -> str:
    """Return a text in the quotes of a batch file; refuse one that they cannot hold."""
    if any(sign in text for sign in '"\t\r\n'):
        raise FormatError(
            f"{text!r} cannot be written: quotes in a batch hold no quote, tab or line break",
            remedy="rename it",
        )
    return f'"{text}"'
