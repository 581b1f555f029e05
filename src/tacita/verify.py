#!/usr/bin/env python3
"""Checks a Tacita certificate with integer arithmetic and the Python standard library, nothing else.

    python verify.py certificate.json [release.csv]

A table ``a`` satisfies ``M a = b``. Readers are told that each cell lies in a window; attacker ``k`` also
knows bounds. For each of his target cells ``p`` with levels (lower, upper, sliding) the certificate gives
two *moves* ``u`` and ``d``. This file checks

    M a = b,                                     the table adds up
    window_low <= a <= window_high,              the release tells the truth
    lower_k <= a <= upper_k,                     what the attacker knows is true
    M u = 0 and M d = 0,                         a + u and a + d add up like the truth
    max(window_low, lower_k) <= a + u <= min(window_high, upper_k),
                                                 he cannot rule a + u out, and likewise a + d
    u_p >= upper,  -d_p >= lower,  u_p - d_p >= sliding,

and, where cells are counts, that values and moves are whole numbers. If all of it holds, no attacker of the
list can narrow any of these cells down below its levels. All numbers are integers of the table's last decimal
place; a move is a list of integers over one denominator. With a release it also checks that the file says of
each cell what the certificate assumes, and nothing more.

Where no cell is sensitive there is nothing to prove: the certificate says so, and so does this program.

Exit code 0: the proof holds. 2: it does not, with the reason.
"""

from __future__ import annotations

import csv
import hashlib
import json
import re
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

FORMAT = "tacita-certificate"
VERSION = 1
MOST_DECIMALS = 12
FIELDS = {"format", "version", "decimals", "whole", "cells", "values", "equations"} | {
    *("attackers", "low", "high", "moves", "claims", "digest")
}

NOTHING = "nothing was sensitive, so nothing was proven"
"""The statement of a certificate that has nothing to prove."""

RELEASE = ["mark", "low", "high", "value"]
LABELS = ["unaudited", "notice"]
ESCAPED = r"^'('*[=+\-@\t\r])"
"""An apostrophe before what a spreadsheet would run as a formula."""

Bound = int | None
"""None is no bound."""
Move = tuple[int, dict[int, int]]
"""A denominator and the changes by cell."""


class RefusedError(Exception):
    """Why a certificate does not prove what it says."""


def digest(content: dict[str, Any]) -> str:
    """SHA-256 of the content in one fixed way of writing it."""
    written = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(written.encode("ascii")).hexdigest()


def statement(attackers: list[dict[str, Any]]) -> str:
    """What a certificate with these attackers, their targets and levels proves, in a sentence."""
    cells = {cell for attacker in attackers for cell, levels in _targets(attacker).items() if any(levels)}
    if not cells:
        return NOTHING
    named = "1 sensitive cell keeps its" if len(cells) == 1 else f"{len(cells):,} sensitive cells keep their"
    return f"{named} protection levels against every attacker of the list"


def outcome(proven: int, cells: int) -> str:
    """What was checked, in a sentence: pairs of sensitive cell and attacker, and cells of the table."""
    pairs = (
        f"{proven:,} pair{'' if proven == 1 else 's'} of sensitive cell and attacker" if proven else NOTHING
    )
    return f"{pairs}, {cells:,} cell{'' if cells == 1 else 's'}"


def load(path: str) -> dict[str, Any]:
    """Read a certificate; refuse what is not one."""
    try:
        with open(path, encoding="utf-8") as file:
            certificate = json.load(file)
    except (ValueError, OSError, RecursionError) as error:
        raise RefusedError(
            f"{path} cannot be read as a certificate (truncated or not JSON): {error}"
        ) from None
    if not isinstance(certificate, dict) or certificate.get("format") != FORMAT:
        raise RefusedError(f"{path} is not a Tacita certificate")
    return certificate


def verify(certificate: dict[str, Any]) -> int:
    """Check everything; return how many pairs of attacker and cell are proven, or raise with the reason."""
    try:
        return _verify(certificate)
    except RefusedError:
        raise
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise RefusedError(f"the certificate is malformed: {type(error).__name__} {error}") from None


def _verify(certificate: dict[str, Any]) -> int:
    missing = sorted(FIELDS - certificate.keys())
    if missing:
        raise RefusedError(f"the certificate is truncated: no {', '.join(missing)}")
    if certificate["version"] != VERSION:
        raise RefusedError(
            f"the certificate has version {certificate['version']!r}; this program checks version {VERSION}"
        )
    content = {name: value for name, value in certificate.items() if name != "digest"}
    if digest(content) != certificate["digest"]:
        raise RefusedError("the certificate is corrupted: its digest does not fit its content")
    name = _names(certificate["cells"])
    windows = list(zip(_bounds(certificate["low"]), _bounds(certificate["high"]), strict=True))
    values = certificate["values"]
    if not len(values) == len(windows) == len(name):
        raise RefusedError("cells, values and windows differ in number")
    _integers(values, "a value")
    unit = _unit(certificate)
    if any(value % unit for value in values):
        raise RefusedError("cells are counts, but a value is not a whole number")
    _check_table(certificate["equations"], values)
    _check_true(values, dict(enumerate(windows)), name, "the release")
    columns = _columns(certificate["equations"])
    moves = [_move(move, columns, len(name)) for move in certificate["moves"]]
    if certificate["whole"] and any(
        denominator != 1 or any(change % unit for change in changes.values())
        for denominator, changes in moves
    ):
        raise RefusedError("cells are counts, but a move is not in whole numbers")
    attackers, claims = certificate["attackers"], certificate["claims"]
    if not attackers or len(claims) != len(attackers):
        raise RefusedError("the attackers, the outsider first, and their claims do not correspond")
    # People read this sentence and nothing else. Certificates of earlier versions have none.
    if certificate.get("statement", true := statement(attackers)) != true:
        raise RefusedError(f"the certificate says what it does not prove: the truth is that {true}")
    outsider = _knowledge(attackers[0], list(range(len(name))))
    everyones = {cell: (up, down) for cell, up, down in claims[0]}
    users = _users(everyones, moves) if len(attackers) > 1 else {}
    proven = 0
    for attacker, own_claims in zip(attackers, claims, strict=True):
        inside = attacker is not attackers[0]
        special = _knowledge(attacker, attacker["cells"]) if inside else outsider
        _check_true(values, special, name, f"what {attacker['name']} is said to know")
        own = {**everyones, **{cell: (up, down) for cell, up, down in own_claims}}

        def room(cell: int, special: dict[int, tuple[Bound, Bound]] = special) -> tuple[Bound, Bound]:
            return _room(values[cell], (windows[cell], outsider[cell], special.get(cell, (None, None))))

        targets, admitted = _targets(attacker), set[int]()
        if inside and attacker["others"]:
            targets = {**_left_over(_targets(attackers[0]), special, users, own_claims), **targets}
        for cell, levels in targets.items():
            where = f"cell ({name[cell]}) against {attacker['name']}"
            if not any(levels):
                continue
            if cell not in own:
                raise RefusedError(f"{where}: no proof is given")
            up, down = (_reached(moves, move, cell, room, admitted, where) for move in own[cell])
            _check_levels(where, levels, up, down)
            proven += 1
    return proven


def _names(cells: list[list[list[str]]]) -> list[str]:
    """Each cell by the first of its names."""
    names = [", ".join(rows[0]) if rows else f"number {i}" for i, rows in enumerate(cells)]
    if sum(map(len, cells)) != len({tuple(row) for rows in cells for row in rows}):
        raise RefusedError("two cells of the certificate have the same name")
    return names


def _unit(certificate: dict[str, Any]) -> int:
    """The smallest step between two values that a reader thinks possible."""
    if not isinstance(certificate["whole"], bool) or _whole(certificate["decimals"]) > MOST_DECIMALS:
        raise RefusedError("the certificate does not say in which steps its cells count")
    return 10 ** certificate["decimals"] if certificate["whole"] else 1


def _targets(attacker: dict[str, Any]) -> dict[int, tuple[int, int, int]]:
    lower, upper, sliding = attacker["levels"]
    levels = [(_whole(low), _whole(up), _whole(s)) for low, up, s in zip(lower, upper, sliding, strict=True)]
    return dict(zip(_distinct(attacker["targets"]), levels, strict=True))


def _users(everyones: dict[int, tuple[int, int]], moves: list[Move]) -> dict[int, set[int]]:
    """For each cell the outsider's targets whose proof moves it."""
    users: dict[int, set[int]] = {}
    for target, pair in everyones.items():
        for which in pair:
            for moved in moves[_whole(which)][1] if which != -1 else ():
                users.setdefault(moved, set()).add(target)
    return users


def _left_over(
    targets: dict[int, tuple[int, int, int]],
    special: dict[int, tuple[Bound, Bound]],
    users: dict[int, set[int]],
    own_claims: list[list[int]],
) -> dict[int, tuple[int, int, int]]:
    """The outsider's targets that an insider attacks too and that need a look: those whose proof he could
    see through.

    Where a proof moves none of the cells he knows better, it holds for him as it does for everyone. What he
    knows exactly he does not need to attack.
    """
    look = {target for cell in special for target in users.get(cell, ())} | {
        cell for cell, _, _ in own_claims
    }
    known = {cell for cell, (low, high) in special.items() if low is not None and low == high}
    return {cell: targets[cell] for cell in sorted(look) if cell in targets and cell not in known}


def _check_table(equations: list[Any], values: list[int]) -> None:
    for j, (rhs, cells, coefficients) in enumerate(equations):
        if sum(m * values[_whole(i)] for i, m in zip(cells, coefficients, strict=True)) != rhs:
            raise RefusedError(f"equation {j + 1} does not hold for the values")


def _columns(equations: list[Any]) -> dict[int, list[tuple[int, int]]]:
    columns: dict[int, list[tuple[int, int]]] = {}
    for j, (rhs, cells, coefficients) in enumerate(equations):
        _integers([rhs, *cells, *coefficients], "an equation")
        for i, m in zip(cells, coefficients, strict=True):
            columns.setdefault(i, []).append((j, m))
    return columns


def _move(move: Any, columns: dict[int, list[tuple[int, int]]], n: int) -> Move:
    denominator, cells, changes = move
    _integers([denominator, *cells, *changes], "a move")
    if denominator < 1 or len(set(cells)) != len(cells) or not all(0 <= i < n for i in cells):
        raise RefusedError("a move is malformed")
    residual: dict[int, int] = {}
    for i, change in zip(cells, changes, strict=True):
        for j, m in columns.get(i, ()):
            residual[j] = residual.get(j, 0) + m * change
    if any(residual.values()):
        raise RefusedError("a move breaks an equation of the table")
    return denominator, dict(zip(cells, changes, strict=True))


def _check_true(values: list[int], known: dict[int, tuple[Bound, Bound]], name: list[str], who: str) -> None:
    for cell, (low, high) in known.items():
        if (low is not None and values[cell] < low) or (high is not None and values[cell] > high):
            raise RefusedError(f"{who} is not true of cell ({name[cell]})")


def _knowledge(attacker: dict[str, Any], cells: list[int]) -> dict[int, tuple[Bound, Bound]]:
    bounds = zip(_bounds(attacker["lower"]), _bounds(attacker["upper"]), strict=True)
    return dict(zip(_distinct(cells), bounds, strict=True))


def _room(value: int, known: tuple[tuple[Bound, Bound], ...]) -> tuple[Bound, Bound]:
    """How far below and above the truth a cell can be thought to lie by someone who knows all these
    bounds.
    """
    below = [value - low for low, _ in known if low is not None]
    above = [high - value for _, high in known if high is not None]
    return min(below, default=None), min(above, default=None)


def _reached(
    moves: list[Move],
    which: int,
    cell: int,
    room: Callable[[int], tuple[Bound, Bound]],
    admitted: set[int],
    where: str,
) -> Fraction:
    """How far a move carries the cell, after checking that the attacker cannot rule the move out; -1 is no
    move. ``admitted`` are the moves that this attacker was found unable to rule out before.
    """
    if which == -1:
        return Fraction(0)
    denominator, changes = moves[_whole(which)]
    if which not in admitted:
        for moved, change in changes.items():
            below, above = room(moved)
            if (below is not None and -change > below * denominator) or (
                above is not None and change > above * denominator
            ):
                raise RefusedError(f"{where}: the move leaves what the attacker thinks possible")
        admitted.add(which)
    return Fraction(changes.get(cell, 0), denominator)


def _check_levels(where: str, levels: tuple[int, int, int], up: Fraction, down: Fraction) -> None:
    lower, upper, sliding = levels
    if up < upper:
        raise RefusedError(f"{where}: the upward move falls short of the upper protection level")
    if -down < lower:
        raise RefusedError(f"{where}: the downward move falls short of the lower protection level")
    if up - down < sliding:
        raise RefusedError(f"{where}: the two moves together are narrower than the sliding protection level")


def check_release(certificate: dict[str, Any], path: str) -> None:
    """Refuse unless a release.csv says of each cell exactly what the certificate assumes, and nothing
    more.
    """
    cell_of = {tuple(row): i for i, rows in enumerate(certificate["cells"]) for row in rows}
    missing = {i for i, rows in enumerate(certificate["cells"]) if rows}
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            header, *lines = list(csv.reader(file, strict=True)) or [[]]
    except UnicodeDecodeError:
        raise RefusedError(f"{path} is not a text file: give release.csv") from None
    except (OSError, ValueError, csv.Error) as error:
        raise RefusedError(f"{path} cannot be read as a release: {error}") from None
    first = header.index("mark") if "mark" in header else -1
    last = first + len(RELEASE)
    labels = header[last:]
    if header[first:last] != RELEASE or labels != [name for name in LABELS if name in labels]:
        raise RefusedError(f"{path} is not a release: its columns must end with {', '.join(RELEASE)}")
    width = 10 ** certificate["decimals"]
    for number, line in enumerate(lines, start=2):
        name = tuple(re.sub(ESCAPED, r"\1", field) for field in line[:first])
        if len(line) != len(header) or name not in cell_of:
            raise RefusedError(f"line {number} of the release is of no cell of the certificate")
        cell = cell_of[name]
        if _window(line[first:last], width) != (certificate["low"][cell], certificate["high"][cell]):
            raise RefusedError(f"the release says something else about cell ({', '.join(name)})")
        if line[last:] != lines[0][last:]:
            raise RefusedError(f"line {number} of the release has another {' or '.join(labels)} than line 2")
        missing.discard(cell)
    if missing:
        name = certificate["cells"][min(missing)][0]
        raise RefusedError(f"the release has no cell ({', '.join(name)})")


def _window(told: list[str], width: int) -> tuple[Bound, Bound] | None:
    """What a row says of its cell, in units; None if it says more than its window or cannot be read."""
    mark, low, high, value = told
    try:
        least, most, shown = (None if text == "" else Fraction(text) * width for text in (low, high, value))
    except (ValueError, ZeroDivisionError):
        return None
    if mark == "published":
        honest = shown is not None and least == most == shown
    elif mark in ("rounded", "adjusted"):
        honest = least is not None and most is not None and shown is not None and least + most == 2 * shown
    else:
        honest = shown is None and (mark == "interval" or (mark == "suppressed" and least is most is None))
    if not honest:
        return None
    return None if least is None else -(-least // 1), None if most is None else most // 1


def _whole(number: Any) -> int:
    if not isinstance(number, int) or isinstance(number, bool) or number < 0:
        raise RefusedError(f"the certificate holds {number!r} where a count or position belongs")
    return number


def _distinct(cells: list[Any]) -> list[int]:
    if len(set(map(_whole, cells))) != len(cells):
        raise RefusedError("an attacker's list names a cell twice")
    return cells


def _bounds(bounds: list[Any]) -> list[Bound]:
    _integers([bound for bound in bounds if bound is not None], "a bound")
    return bounds


def _integers(numbers: list[Any], what: str) -> None:
    for number in numbers:
        if not isinstance(number, int) or isinstance(number, bool):
            raise RefusedError(f"{what} holds {number!r}, which is not an integer")


def main(arguments: list[str]) -> int:
    """The command."""
    if not 1 <= len(arguments) <= 2:
        print("usage: verify.py certificate.json [release.csv]", file=sys.stderr)
        return 1
    try:
        certificate = load(arguments[0])
        proven = verify(certificate)
        if len(arguments) == 2:
            check_release(certificate, arguments[1])
    except RefusedError as reason:
        print(f"refused: {reason}", file=sys.stderr)
        return 2
    print(f"{'verified' if proven else 'no proof'}: {outcome(proven, len(certificate['cells']))}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
