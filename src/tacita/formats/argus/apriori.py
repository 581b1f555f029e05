"""A-priori files of τ-ARGUS (``.hst``): decisions on single cells, applied after the rules.

    line    := code SEPARATOR .. code SEPARATOR command
    command := S | U | P | M | ML | (C|W) SEPARATOR cost | PL SEPARATOR lower SEPARATOR upper

| command | from | the cell is then |
|---|---|---|
| ``S`` | safe, unsafe, protected | declared safe by hand: exempt from all rules |
| ``U`` | safe, unsafe | sensitive, with levels of 20 % of its value unless it has others |
| ``P`` | safe | published as it is |
| ``M``, ``ML`` | safe | hidden |
| ``C``, ``W`` | any | one of this cost; 0 means 1 |
| ``PL`` | unsafe | one with these levels |

What a cell is already may be said again. ``AB``, bounds, is not possible. A code and its only part are one
cell here, so that a decision on one is a decision on both. ``parse_apriori(path)`` and
``write_apriori(apriori, path)`` are inverse.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from pathlib import Path

import numpy as np

from tacita.core.errors import FormatError, did_you_mean
from tacita.core.levels import Levels
from tacita.core.tables.linked import find_cells_of
from tacita.core.tables.table import Table
from tacita.core.words import pluralize
from tacita.formats.argus.tokens import note_encoding
from tacita.formats.textfile import read_text
from tacita.problem.problem import Problem
from tacita.rules import Exempt, Given, Marked, Rule
from tacita.rules.protection import USUAL_PERCENT
from tacita.storage.atomic import write_text

SEPARATORS = (";", ",", "|", "\t", " ")
"""Signs that are looked for in the first line where none is given."""
STATUSES = ("S", "U", "P", "M", "ML")
AMOUNTS = {"C": 1, "W": 1, "PL": 2, "AB": 2}
"""Commands that numbers follow, and how many."""
MOST_DIGITS = 15
"""Digits that costs and levels have before the decimal sign, at most."""


@dataclass(frozen=True)
class Decision:
    """A line of an a-priori file: a cell by its codes, a command in capitals, and its numbers."""

    codes: tuple[str, ...]
    command: str
    numbers: tuple[Decimal, ...] = ()
    place: str = field(default="", compare=False)


@dataclass(frozen=True)
class Apriori:
    """The decisions of an a-priori file in their order, and the sign between fields."""

    decisions: tuple[Decision, ...]
    separator: str = ";"
    path: Path = field(default=Path(), compare=False)
    notes: tuple[str, ...] = field(default=(), compare=False)


def parse_apriori(
    path: str | os.PathLike[str], separator: str | None = None, dimensions: int | None = None
) -> Apriori:
    """Return the decisions in a ``.hst`` file; :class:`FormatError` names line and remedy of a fault.

    Parameters
    ----------
    separator
        The sign between fields, which must occur in the first line; found there by default.
    dimensions
        How many codes a cell has; by default the command tells.
    """
    text, encoding = read_text(path)
    lines = [
        (number, line) for number, line in enumerate(text.split("\n"), start=1) if _holds_something(line)
    ]
    if not lines:
        raise FormatError("the file holds no decision", place=path, remedy="Write one per line.")
    number, opening = lines[0]
    sign = separator or next((each for each in SEPARATORS if each in opening.strip()), ";")
    if sign not in opening:
        raise FormatError(
            f"the separator '{sign}' does not occur",
            place=f"{path}, line {number}",
            remedy="Name the one between the fields.",
        )
    found = tuple(
        _parse_line(_split(line, sign, f"{path}, line {n}"), dimensions, f"{path}, line {n}", sign)
        for n, line in lines
    )
    return Apriori(found, sign, Path(path), note_encoding(path, encoding))


def _holds_something(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("//")


def _split(line: str, sign: str, place: str) -> list[str]:
    """Return the fields of a line, each perhaps in quotes, blanks around them taken off."""
    plain = line if sign == "\t" else line.replace("\t", " ")
    fields: list[str] = []
    rest: str | None = plain.strip(" ") if sign == "\t" else plain.strip()
    while rest is not None:
        text = rest if sign == " " else rest.lstrip(" ")
        if text.startswith('"'):
            end = text.find('"', 1)
            if end < 0:
                raise FormatError("a quote is opened and not closed", place=place, remedy="Close it.")
            after = text[end + 1 :].lstrip("" if sign == " " else " ")
            if after and not after.startswith(sign):
                raise FormatError(
                    f"'{after}' follows a quote", place=place, remedy=f"Put '{sign}' between fields."
                )
            fields.append(text[1:end])
            rest = after[len(sign) :] if after else None
        else:
            one, found, after = text.partition(sign)
            fields.append(one.strip())
            rest = after if found else None
    return fields


def _parse_line(fields: Sequence[str], dimensions: int | None, place: str, sign: str) -> Decision:
    at = dimensions or _find_command(fields)
    if at is None or not 1 <= at < len(fields):
        raise FormatError(
            f"no command follows the codes among {pluralize(len(fields), 'field')}",
            place=place,
            remedy=f"Write the codes, then one of {', '.join((*STATUSES, *AMOUNTS))}, with '{sign}' between.",
        )
    codes, command, given = tuple(fields[:at]), fields[at].upper(), fields[at + 1 :]
    if command not in STATUSES and command not in AMOUNTS:
        raise FormatError(
            f"the command '{fields[at]}' is unknown",
            place=place,
            remedy=f"Use one of {', '.join((*STATUSES, *AMOUNTS))}.",
        )
    wanted = AMOUNTS.get(command, 0)
    if len(given) != wanted:
        raise FormatError(
            f"{pluralize(len(given), 'number')} beside {command}",
            place=place,
            remedy=f"Give {('none', 'one', 'two')[wanted]}.",
        )
    numbers = tuple(_parse_number(text, place) for text in given)
    if command != "AB" and any(number < 0 for number in numbers):
        raise FormatError(f"a number beside {command} is negative", place=place, remedy="Give 0 or more.")
    return Decision(codes, command, numbers, place)


def _find_command(fields: Sequence[str]) -> int | None:
    """Return where the command of a line stands, by what it needs beside it; None if there is none."""
    if fields[-1].upper() in STATUSES:
        return len(fields) - 1
    for wanted in (1, 2):
        at = len(fields) - 1 - wanted
        if at >= 0 and AMOUNTS.get(fields[at].upper()) == wanted:
            return at
    return None


def _parse_number(text: str, place: str) -> Decimal:
    try:
        number = Decimal(text.replace(",", "."))
    except InvalidOperation:
        number = Decimal("nan")
    if not number.is_finite() or number.adjusted() > MOST_DIGITS:
        raise FormatError(f"'{text}' is not a number", place=place, remedy="Correct it.")
    return number


def write_apriori(apriori: Apriori, path: str | os.PathLike[str]) -> Path:
    """Write decisions as a ``.hst`` file, and return its path."""
    sign = apriori.separator
    lines = []
    for decision in apriori.decisions:
        codes = [_write_code(code, sign, path) for code in decision.codes]
        numbers = [format(number, "f") for number in decision.numbers]
        lines.append(sign.join([*codes, decision.command, *numbers]))
    return write_text(path, "".join(f"{line}\n" for line in lines))


def _write_code(code: str, sign: str, path: str | os.PathLike[str]) -> str:
    if any(each in code for each in '"\n\r\t'):
        raise FormatError(
            f"code {code!r} cannot be written to a .hst file",
            place=path,
            remedy="Rename it without quotes and tabs.",
        )
    plain = (
        code and code == code.strip() and sign not in code and " " not in code and not code.startswith("//")
    )
    return code if plain else f'"{code}"'


def apply_apriori(
    case: Problem | Table,
    apriori: Apriori,
    *,
    ignore_errors: bool = False,
    protection: float = USUAL_PERCENT,
    part: Table | None = None,
) -> Problem:
    """Return the problem with the decisions of an a-priori file; of a table, the problem that they make.

    Parameters
    ----------
    ignore_errors
        Whether a line that cannot be applied is left out with a note; else it is refused.
    protection
        Levels of cells that become sensitive, in percent of the value.
    part
        The one of several linked tables whose cells the decisions name.

    Raises
    ------
    FormatError
        A cell is not there, or what it is does not allow the command; the message names the line.
    """
    problem = case if isinstance(case, Problem) else Problem(case, Levels.none(len(case)))
    table = problem.table
    if part is None and len(table.structure.parts) > 1:
        raise FormatError(
            "an a-priori file is of one table, and these are linked",
            place=apriori.path,
            remedy="Say which of them.",
        )
    places = None if part is None else find_cells_of(table, part)
    hand = _Hand(problem)
    notes = list(apriori.notes)
    for decision in apriori.decisions:
        try:
            cell = _find_cell(table if part is None else part, decision)
            hand.decide(cell if places is None else int(places[cell]), decision)
        except FormatError as error:
            if not ignore_errors:
                raise
            notes.append(f"left out: {error}")
    return hand.compile(replace(table, notes=(*table.notes, *notes)), protection)


def apply_to_linked(
    case: Problem | Table, decided: Mapping[str, tuple[Apriori, Table]], protection: float = USUAL_PERCENT
) -> Problem:
    """Return the problem of linked tables with the decisions of several a-priori files, each with its table.

    Raises
    ------
    FormatError
        See :func:`apply_apriori`; or two files decide differently on a cell that both tables show.
    """
    problem = case if isinstance(case, Problem) else Problem(case, Levels.none(len(case)))
    before: dict[tuple[int, bool], tuple[str, Decision]] = {}
    for name, (apriori, part) in decided.items():
        places = find_cells_of(problem.table, part)
        last = {}
        for decision in apriori.decisions:
            is_cost = decision.command in ("C", "W")
            last[int(places[_find_cell(part, decision)]), is_cost] = (name, decision)
        for key in last.keys() & before.keys():
            (other, earlier), (_, later) = before[key], last[key]
            if (earlier.command, earlier.numbers) != (later.command, later.numbers):
                raise FormatError(
                    f"({problem.table.name(key[0])}): {later.command} in '{name}', {earlier.command} in "
                    f"'{other}', which shows the cell too",
                    place=later.place,
                    remedy="Decide the same in both files, or take the line off one of them.",
                )
        before |= last
        problem = apply_apriori(problem, apriori, protection=protection, part=part)
    return problem


class _Hand:
    """What the decisions have made of each cell so far."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.sensitive = problem.levels.sensitive.copy()
        self.publish, self.hide = problem.must_publish.copy(), problem.must_hide.copy()
        self.exempt = np.zeros(len(problem.table), dtype=bool)
        self.cost = problem.cost.copy()
        self.levels: dict[int, tuple[Decimal, ...]] = {}

    def decide(self, cell: int, decision: Decision) -> None:
        """Apply a command to a cell; refuse one that its status does not allow."""
        command = decision.command
        if command == "AB":
            raise FormatError(
                "AB: bounds of single cells are not possible in an a-priori file",
                place=decision.place,
                remedy="Give them as insiders in a project.",
            )
        if command in ("C", "W"):
            self.cost[cell] = float(decision.numbers[0]) or 1.0
            return
        status = self._name_status(cell)
        if (command, status) in (("P", "protected"), ("M", "secondary"), ("ML", "secondary")):
            return
        allowed = {
            "S": ("safe", "unsafe", "protected"),
            "U": ("safe", "unsafe"),
            "P": ("safe",),
            "M": ("safe",),
            "ML": ("safe",),
            "PL": ("unsafe",),
        }[command]
        if status not in allowed:
            raise FormatError(
                f"{command} on a cell that is {status}: only one that is {' or '.join(allowed)} can be",
                place=decision.place,
                remedy="Take the line off, or change the status before it.",
            )
        self._set(cell, decision)

    def _set(self, cell: int, decision: Decision) -> None:
        command = decision.command
        if command == "PL":
            self.levels[cell] = decision.numbers
            return
        if command == "S":
            self.exempt[cell] = True
            self.levels.pop(cell, None)
        if command == "U":
            self.exempt[cell] = False
        self.sensitive[cell] = command == "U"
        self.publish[cell] = command == "P"
        self.hide[cell] = command in ("M", "ML")

    def _name_status(self, cell: int) -> str:
        table = self.problem.table
        if table.structural is not None and table.structural[cell]:
            return "empty"
        if self.sensitive[cell]:
            return "unsafe"
        return "protected" if self.publish[cell] else "secondary" if self.hide[cell] else "safe"

    def compile(self, table: Table, protection: float) -> Problem:
        """Return the problem in which all decisions hold."""
        before = self.problem
        own = before.levels.sensitive
        rule: Rule = before.rule if before.rule is not None else Given(before.levels)
        new = np.flatnonzero(self.sensitive & ~own & [k not in self.levels for k in range(len(table))])
        if self.levels:
            rule = Exempt(rule, tuple(self.levels))
        if new.size:
            rule = rule | Marked(tuple(new.tolist()), protection=protection)
        for amounts in dict.fromkeys(self.levels.values()):
            cells = tuple(cell for cell, levels in self.levels.items() if levels == amounts)
            lower, upper = map(float, amounts)
            rule = rule | Marked(cells, lower=lower, upper=upper)
        gone = np.flatnonzero(self.exempt & own)
        if gone.size:
            rule = Exempt(rule, tuple(gone.tolist()))
        after = Problem(
            table,
            rule,
            attackers=[*before.given_attackers, before.outsider_beforehand],
            cost=self.cost,
            must_publish=np.flatnonzero(self.publish).tolist(),
            must_hide=np.flatnonzero(self.hide).tolist(),
            already_published=before.already_published,
        )
        return after.with_warnings(text for text in before.warnings if text not in after.warnings)


def _find_cell(table: Table, decision: Decision) -> int:
    """Return the position of the cell that a decision names by its codes."""
    dimensions = table.structure.dimensions
    if len(decision.codes) != len(dimensions) or table.structure.labels:
        raise FormatError(
            f"{pluralize(len(decision.codes), 'code')}, and cells of the table have {len(dimensions)}",
            place=decision.place,
            remedy="Name one code per dimension, in the order of the table.",
        )
    codes = []
    for dimension, code in zip(dimensions, decision.codes, strict=True):
        known = dimension.position
        at = next((known[each] for each in (code, code.rstrip(), code.strip()) if each in known), None)
        if at is None:
            raise FormatError(
                f"code '{code}'{did_you_mean(code, known)} is none of '{dimension.name}'",
                place=decision.place,
                remedy="Correct it.",
            )
        codes.append(int(dimension.representative[at]))
    cell = int(table.structure.locate(np.array([codes], dtype=np.int32))[0])
    if cell < 0:
        raise FormatError("the cell is empty", place=decision.place, remedy="Take the line off.")
    return cell
