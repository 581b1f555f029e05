#!/usr/bin/env python3
"""Checks a Tacita certificate with integer arithmetic and the Python standard library, nothing else.

    python verify.py certificate.json [release.csv]

A table ``a`` satisfies ``M a = b``. Readers learn that each cell lies in a window; attacker ``k`` also knows
bounds. For each target cell ``p`` of theirs with levels (lower, upper, sliding) the certificate gives two
*moves* ``u`` and ``d``. This file checks

    M a = b,                                     the table adds up
    window_low <= a <= window_high,              the release is true
    lower_k <= a <= upper_k,                     what the attacker knows is true
    M u = 0 and M d = 0,                         a + u and a + d add up like the truth
    max(window_low, lower_k) <= a + u <= min(window_high, upper_k),
                                                 they cannot rule a + u out, and likewise a + d
    u_p >= upper,  -d_p >= lower,  u_p - d_p >= sliding,

and, where cells are counts, that values and moves are integers. If all of it holds, no attacker of the list
can narrow any of these cells down below its levels. All numbers are integers of the table's last decimal
place (windows: of the release's, rounded inwards); a move is a list of integers over one denominator. Where
no cell is sensitive there is nothing to prove: the certificate says so, and so does this program.

The certificate also holds names of columns, order of rows, marks, numbers and notice of the release. That
leaves exactly one text for release.csv, and the file must be that text, byte for byte: another spelling,
order or header could carry a message that no audit has seen.

Exit code 0: the proof holds. 2: it does not, with the reason in one line.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, BinaryIO

FORMAT, VERSION = "tacita-certificate", 2
FIELDS = [
    *("format", "version", "statement", "decimals", "whole", "columns", "cells", "rows", "values"),
    *("equations", "attackers", "release_decimals", "marks", "low", "high", "shown", "notice"),
    *("moves", "claims", "digest"),
]
OUTSIDER = {"name", "lower", "upper", "targets", "levels"}
INSIDER = OUTSIDER | {"cells", "others"}

# A file beyond one of these is refused before any work is done on it.
MOST_BYTES, MOST_LISTS, MOST_ITEMS = 2**30, 2 * 10**7, 10**8
MOST_CELLS = MOST_EQUATIONS = MOST_MOVES = 10**7
MOST_DIGITS, MOST_DECIMALS = 19, 12
LARGEST = 10**MOST_DIGITS - 1
MOST_STEPS = 10**9  # of the check itself: some minutes
TOO_LARGE = "the certificate is larger than this program checks"

NOTHING = "nothing was sensitive, so nothing was proven"
RELEASE = ["mark", "low", "high", "value"]
"""The columns of a release, after those that name the cell."""
LABELS = ["unaudited", "notice"]
"""Further columns, each the same in every row. A release that says it is unaudited is never verified."""
NOTICES = [
    "",
    "not additive: for comparison only",
    "not protected: some sensitive cells stay nearer to their values than their levels ask for",
]
"""All notices that a release may carry."""

# What a spreadsheet would run as a formula gets a leading apostrophe; a plain number is no formula.
RISKY = re.compile(r"^'*[=+\-@\t\r]")
PLAIN_NUMBER = re.compile(r"^[+-]?\d+([.,]\d+)?$")

Bound = int | None  # None is no bound
Bounds = tuple[Bound, Bound]
Rooms = dict[int, tuple[int, int]]  # how far below and above the truth cells can lie
Levels = tuple[int, int, int]
Move = tuple[int, dict[int, int]]  # a denominator and the changes by cell


class RefusedError(Exception):
    """Why a certificate does not prove what it says, in one printable line."""

    def __init__(self, reason: str) -> None:
        super().__init__("".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in reason[:1000]))


@dataclass
class Attacker:
    """What someone knows beyond the release, the cells they attack, and the moves that prove them safe."""

    name: str
    known: dict[int, Bounds]
    targets: dict[int, Levels]
    claims: dict[int, tuple[int, int]]
    others: bool = False


@dataclass
class Proof:
    """The moves, how far the outsider lets each cell go, and the moves that they were found to admit."""

    names: list[str]
    moves: list[Move]
    rooms: list[tuple[int, int]]
    admitted: set[int] = field(default_factory=set)


def digest(content: dict[str, Any]) -> str:
    """Return the SHA-256 of a certificate's content, its fields in one fixed way of writing them."""
    written = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(written.encode("ascii")).hexdigest()


def statement(attackers: list[dict[str, Any]]) -> str:
    """Return the sentence that a certificate with these attackers, targets and levels proves."""
    cells = set()
    for attacker in attackers:
        levels = zip(*attacker["levels"], strict=True)
        cells |= {cell for cell, own in zip(attacker["targets"], levels, strict=True) if any(own)}
    if not cells:
        return NOTHING
    named = "1 sensitive cell keeps its" if len(cells) == 1 else f"{len(cells):,} sensitive cells keep their"
    return f"{named} protection levels against every attacker of the list"


def outcome(proven: int, cells: int) -> str:
    """Return what the check of a certificate proved, in words: pairs of cell and attacker, and cells."""
    pairs = f"{proven:,} pair{'' if proven == 1 else 's'} of sensitive cell and attacker"
    return f"{pairs if proven else NOTHING}, {cells:,} cell{'' if cells == 1 else 's'}"


def load(path: str) -> dict[str, Any]:
    """Return the content of a certificate file; refuse a file that is none, or is too large to check."""
    with _open_file(path) as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES or data.count(b"[") > MOST_LISTS or data.count(b",") > MOST_ITEMS:
        raise RefusedError(f"{path} is larger than a certificate can be")
    try:
        hooks: Any = dict.fromkeys(("parse_int", "parse_float", "parse_constant"), _read_integer)
        certificate = json.loads(data.decode("utf-8"), object_pairs_hook=_read_object, **hooks)
    except (ValueError, RecursionError, MemoryError) as error:
        reason = f"{path} cannot be read as a certificate (truncated or no JSON): {error}"
        raise RefusedError(reason) from None
    if not isinstance(certificate, dict) or certificate.get("format") != FORMAT:
        raise RefusedError(f"{path} is not a Tacita certificate")
    return certificate


def _open_file(path: str) -> BinaryIO:
    """Open a certificate or release that is a regular file: a pipe or device may never end."""
    try:
        if os.path.isfile(path):
            return open(path, "rb")
    except OSError:
        pass
    raise RefusedError(f"{path} is not a file that can be read")


def _read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object of the certificate as a dict; refuse one that has a key twice."""
    made: dict[str, Any] = {}
    for key, value in pairs:
        if key in made:
            raise RefusedError(f"the certificate has the key '{key}' twice in one object")
        made[key] = value
    return made


def _read_integer(text: str) -> int:
    if len(text) > MOST_DIGITS + 1 or not text.removeprefix("-").isdigit():
        raise RefusedError(f"the certificate holds {text[:30]}, which is not an integer of a table")
    return int(text)


def _check_list(value: Any, what: str, size: int | None = None, most: int = MOST_ITEMS) -> list[Any]:
    if not isinstance(value, list) or len(value) > most or size not in (None, len(value)):
        raise RefusedError(f"{what}: not a list of {f'at most {most:,}' if size is None else f'{size:,}'}")
    return value


def _check_integers(
    given: Any, what: str, size: int | None = None, low: int = -LARGEST, high: int = LARGEST
) -> Any:
    for item in _check_list(given, what, size):
        if type(item) is not int or not low <= item <= high:
            raise RefusedError(f"{what}: {item!r:.50} is not an integer, or out of range")
    return given


def _check_bounds(value: Any, what: str, size: int) -> Any:
    _check_integers([bound for bound in _check_list(value, what, size) if bound is not None], what)
    return value


def _check_cells(value: Any, n: int, what: str) -> Any:
    if len(set(_check_integers(value, what, low=0, high=n - 1))) != len(value):
        raise RefusedError(f"{what}: a cell is named twice")
    return value


def _check_texts(value: Any, what: str, size: int | None = None) -> Any:
    if not all(isinstance(text, str) for text in _check_list(value, what, size)):
        raise RefusedError(f"{what}: not all of them are texts")
    return value


def _read_attackers(certificate: dict[str, Any], n: int, moves: int) -> list[Attacker]:
    given = _check_list(certificate["attackers"], "the attackers, the outsider first", most=MOST_CELLS)
    claimed = _check_list(certificate["claims"], "the claims", len(given))
    found = []
    for k, (attacker, own) in enumerate(zip(given, claimed, strict=True)):
        who = f"attacker {k + 1}"
        if not isinstance(attacker, dict) or attacker.keys() != (INSIDER if k else OUTSIDER):
            raise RefusedError(f"{who} has other fields than an attacker has")
        _check_texts([attacker["name"]], f"the name of {who}")
        cells = _check_cells(attacker["cells"], n, f"the cells that {who} knows") if k else range(n)
        bounds = [
            _check_bounds(attacker[end], f"the bounds of {who}", len(cells)) for end in ("lower", "upper")
        ]
        targets = _check_cells(attacker["targets"], n, f"the targets of {who}")
        for kind in _check_list(attacker["levels"], f"the levels of {who}", 3):
            _check_integers(kind, f"the levels of {who}", len(targets), low=0)
        if type(attacker.get("others", False)) is not bool:
            raise RefusedError(f"{who}: 'others' is neither true nor false")
        what = f"the claims against {who}"
        for claim in _check_list(own, what):
            _check_integers(_check_list(claim, what, 3)[1:], what, low=-1, high=moves - 1)
        _check_cells([claim[0] for claim in own], n, what)
        known = dict(zip(cells, zip(*bounds, strict=True), strict=True))
        levels = dict(zip(targets, zip(*attacker["levels"], strict=True), strict=True))
        claims = {cell: (up, down) for cell, up, down in own}
        found.append(Attacker(attacker["name"], known, levels, claims, attacker.get("others", False)))
    return found


def verify(certificate: dict[str, Any]) -> int:
    """Check a certificate; return its number of proven pairs of attacker and cell, or raise the reason."""
    try:
        return _verify(certificate)
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError, MemoryError) as error:
        raise RefusedError(f"the certificate is malformed: {type(error).__name__} {error}") from None


def _verify(certificate: dict[str, Any]) -> int:
    if certificate.get("version") != VERSION:
        raise RefusedError(
            f"the certificate has version {certificate.get('version')!r:.50}; this program checks version "
            f"{VERSION}: audit the release again (tacita verify also reads version 1)"
        )
    if missing := [name for name in FIELDS if name not in certificate]:
        raise RefusedError(f"the certificate is truncated: no {', '.join(missing)}")
    if further := sorted(certificate.keys() - set(FIELDS)):
        raise RefusedError(f"the certificate has a field that no certificate has: '{further[0]}'")
    if digest({name: certificate[name] for name in FIELDS[:-1]}) != certificate["digest"]:
        raise RefusedError("the certificate is corrupted: its digest does not fit its content")
    names = _read_names(certificate)
    n = len(names)
    unit, windows = _read_windows(certificate, names)
    values = _check_integers(certificate["values"], "the values", n)
    if any(value % unit for value in values):
        raise RefusedError("cells are counts, but a value is not an integer")
    columns = _read_columns(certificate["equations"], values)
    _check_true(values, windows, names, "the release")
    moves = _read_moves(certificate["moves"], columns, n)
    if certificate["whole"] and any(d != 1 or any(c % unit for c in cells.values()) for d, cells in moves):
        raise RefusedError("cells are counts, but a move is not in integers")
    outsider, *insiders = _read_attackers(certificate, n, len(moves))
    for attacker in (outsider, *insiders):
        _check_true(values, attacker.known, names, f"what {attacker.name} is assumed to know")
    # People read this sentence and nothing else.
    if certificate["statement"] != (true := statement(certificate["attackers"])):
        raise RefusedError(f"the certificate says what it does not prove: the truth is that {true}")
    rooms = [_find_room(values[i], windows[i], outsider.known[i]) for i in range(n)]
    proof = Proof(names, moves, rooms)
    proven = sum(_prove(proof, outsider, {}, cell, levels) for cell, levels in outsider.targets.items())
    return proven + _prove_insiders(proof, outsider, insiders, values)


def _prove_insiders(proof: Proof, outsider: Attacker, insiders: list[Attacker], values: list[int]) -> int:
    """Return how many pairs of insider and cell the certificate proves, or raise: their own targets, and the
    outsider's where they attack those too and could rule out the outsider's proof. Where that proof moves no
    cell that they know better, it holds for them as well. A cell that they know exactly is no target.
    """
    movers: dict[int, list[int]] = {}
    users: dict[int, list[int]] = {}
    for which, (_, changes) in enumerate(proof.moves if insiders else ()):
        for cell in changes:
            movers.setdefault(cell, []).append(which)
    for target, pair in outsider.claims.items():
        for which in pair:
            users.setdefault(which, []).append(target)
    proven = steps = 0
    for insider in insiders:
        rooms = {cell: _find_room(values[cell], bounds) for cell, bounds in insider.known.items()}
        targets = insider.targets
        if insider.others:
            steps += sum(len(movers.get(cell, ())) for cell in rooms)
            visited = rooms if steps < MOST_STEPS else ()
            touched = {which for cell in visited for which in movers.get(cell, ())}
            steps += sum(len(users.get(which, ())) for which in touched)
            look = {target for which in touched for target in users.get(which, ())} | insider.claims.keys()
            look -= {cell for cell, (low, high) in insider.known.items() if low is not None and low == high}
            targets = {c: outsider.targets[c] for c in sorted(look & outsider.targets.keys())} | targets
        insider.claims = {c: outsider.claims[c] for c in targets if c in outsider.claims} | insider.claims
        steps += len(targets) * len(rooms)
        if steps > MOST_STEPS:
            raise RefusedError(TOO_LARGE)
        proven += sum(_prove(proof, insider, rooms, cell, levels) for cell, levels in targets.items())
    return proven


def _prove(proof: Proof, attacker: Attacker, rooms: Rooms, cell: int, levels: Levels) -> bool:
    """Return whether a cell has levels against an attacker; raise unless the certificate proves them."""
    if not any(levels):
        return False
    where = f"cell ({proof.names[cell]}) against {attacker.name}"
    if cell not in attacker.claims:
        raise RefusedError(f"{where}: no proof is given")
    up, down = (_check_move(proof, which, rooms, cell, where) for which in attacker.claims[cell])
    lower, upper, sliding = levels
    if up < upper:
        raise RefusedError(f"{where}: the upward move falls short of the upper protection level")
    if -down < lower:
        raise RefusedError(f"{where}: the downward move falls short of the lower protection level")
    if up - down < sliding:
        raise RefusedError(f"{where}: the two moves together are narrower than the sliding protection level")
    return True


def _check_move(proof: Proof, which: int, rooms: Rooms, cell: int, where: str) -> Fraction:
    """Return how far a move of the certificate carries the cell; refuse one that the attacker can rule out.
    -1 is no move. ``rooms`` is how far the cells can go that this attacker knows better than the outsider.
    """
    if which == -1:
        return Fraction(0)
    denominator, changes = proof.moves[which]
    limits = [] if which in proof.admitted else [(moved, proof.rooms[moved]) for moved in changes]
    limits += [(c, rooms[c]) for c in (rooms if len(rooms) < len(changes) else changes) if c in rooms]
    for moved, (below, above) in limits:
        if not -below * denominator <= changes.get(moved, 0) <= above * denominator:
            raise RefusedError(f"{where}: the move leaves what the attacker thinks possible")
    proof.admitted.add(which)
    return Fraction(changes.get(cell, 0), denominator)


def _find_room(value: int, *known: Bounds) -> tuple[int, int]:
    """Return how far below and above its true value a cell can be to someone who knows these bounds."""
    below = min((value - low for low, _ in known if low is not None), default=LARGEST)
    return below, min((high - value for _, high in known if high is not None), default=LARGEST)


def _read_names(certificate: dict[str, Any]) -> list[str]:
    """Return each cell's first name in the certificate; refuse rows of the release that share a name."""
    columns = _check_texts(certificate["columns"], "the names of columns")
    cells = _check_list(certificate["cells"], "the cells", most=MOST_CELLS)
    named = [row for own in cells for row in _check_list(own, "the names of a cell")]
    rows = {tuple(_check_texts(row, "the name of a cell", len(columns))) for row in named}
    if len(rows) != len(named) or len(set(columns)) != len(columns):
        raise RefusedError("two cells or columns of the certificate have the same name")
    order = _check_integers(certificate["rows"], "the rows", low=0)
    if sorted(order) != [i for i, own in enumerate(cells) for _ in own]:
        raise RefusedError("the rows: not one for each name of a cell")
    return [", ".join(own[0]) if own else f"number {i}" for i, own in enumerate(cells)]


def _read_windows(certificate: dict[str, Any], names: list[str]) -> tuple[int, dict[int, Bounds]]:
    """Return the smallest step between two possible values of a cell, and the certificate's window of each
    cell in the table's units, after checking that marks and numbers of the release say no more.
    """
    decimals, finer = certificate["decimals"], certificate["release_decimals"]
    _check_integers([decimals, finer], "the decimals", low=0, high=MOST_DECIMALS)
    if type(certificate["whole"]) is not bool or finer < decimals:
        raise RefusedError("the certificate does not say in which steps its cells count")
    if certificate["notice"] not in NOTICES:
        raise RefusedError("the notice is none that a release has")
    factor, windows, n = 10 ** (finer - decimals), {}, len(names)
    marks = _check_texts(certificate["marks"], "the marks", n)
    numbers = (_check_bounds(certificate[name], f"'{name}' of cells", n) for name in ("low", "high", "shown"))
    for i, (mark, low, high, shown) in enumerate(zip(marks, *numbers, strict=True)):
        if mark == "published":
            honest = low is not None and low == high == shown
        elif mark in ("rounded", "adjusted"):
            honest = None not in (low, high, shown) and low < high and low + high == 2 * shown
        else:
            honest = shown is None and mark == ("suppressed" if low is high is None else "interval")
            honest = honest and (low is None or low != high)
        if not honest:
            raise RefusedError(f"cell ({names[i]}): the mark '{mark}' does not fit its window and number")
        windows[i] = None if low is None else -(-low // factor), None if high is None else high // factor
    return 10**decimals if certificate["whole"] else 1, windows


def _read_columns(equations: Any, values: list[int]) -> dict[int, list[tuple[int, int]]]:
    """Return each cell's equations with its coefficients; refuse a certificate where one does not hold."""
    columns: dict[int, list[tuple[int, int]]] = {}
    for j, equation in enumerate(_check_list(equations, "the equations", most=MOST_EQUATIONS)):
        what = f"equation {j + 1}"
        rhs, cells, coefficients = _check_list(equation, what, 3)
        _check_integers([rhs], what)
        _check_integers(coefficients, what, len(_check_integers(cells, what, low=0, high=len(values) - 1)))
        if sum(m * values[i] for i, m in zip(cells, coefficients, strict=True)) != rhs:
            raise RefusedError(f"{what} does not hold for the values")
        for i, m in zip(cells, coefficients, strict=True):
            columns.setdefault(i, []).append((j, m))
    return columns


def _read_moves(given: Any, columns: dict[int, list[tuple[int, int]]], n: int) -> list[Move]:
    moves, steps = [], 0
    for k, move in enumerate(_check_list(given, "the moves", most=MOST_MOVES)):
        what = f"move {k + 1}"
        denominator, cells, changes = _check_list(move, what, 3)
        _check_integers([denominator], what, low=1)
        _check_integers(changes, what, len(_check_cells(cells, n, what)))
        steps += sum(len(columns.get(i, ())) for i in cells)
        if steps > MOST_STEPS:
            raise RefusedError(TOO_LARGE)
        residual: dict[int, int] = {}
        for i, change in zip(cells, changes, strict=True):
            for j, m in columns.get(i, ()):
                residual[j] = residual.get(j, 0) + m * change
        if any(residual.values()):
            raise RefusedError(f"{what} breaks an equation of the table")
        moves.append((denominator, dict(zip(cells, changes, strict=True))))
    return moves


def _check_true(values: list[int], known: dict[int, Bounds], names: list[str], who: str) -> None:
    for cell, (low, high) in known.items():
        if (low is not None and values[cell] < low) or (high is not None and values[cell] > high):
            raise RefusedError(f"{who} is not true of cell ({names[cell]})")


def check_release(certificate: dict[str, Any], path: str) -> None:
    """Refuse a release.csv unless it is, byte for byte, what the certificate says that readers learn."""
    with _open_file(path) as file:
        for number, (line, what) in enumerate(release_lines(certificate), start=1):
            expected = line.encode("utf-8", "surrogatepass")
            if (found := file.read(len(expected))) != expected:
                found += file.readline(10**5)
                why = " (the release says that it is unaudited)" * (number == 1 and b"unaudited" in found)
                why += " (only .csv is read here: use `tacita verify`)" * (not path.endswith(".csv"))
                raise RefusedError(f"{path}, line {number}: the release says something else than {what}{why}")
        if file.read(1):
            raise RefusedError(f"{path}, line {number + 1}: the certificate speaks of no further row")


def release_lines(certificate: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each line of the one release.csv that a verified certificate fits, and what it is about."""
    places, notice = certificate["release_decimals"], certificate["notice"]
    names = [*map(escape, certificate["columns"]), *RELEASE, *(["notice"] if notice else [])]
    yield _csv_line(names), f"the header {','.join(names)}"
    left = [iter(rows) for rows in certificate["cells"]]
    for i in certificate["rows"]:
        row = next(left[i])
        numbers = (number(certificate[name][i], places) for name in ("low", "high", "shown"))
        fields = [*map(escape, row), certificate["marks"][i], *numbers, *([escape(notice)] if notice else [])]
        yield _csv_line(fields), f"what the certificate says of cell ({', '.join(row)})"


def number(units: Bound, decimals: int) -> str:
    """Return a number as release.csv writes it: no exponent, no plus, no needless zeros; '' for None."""
    if units is None:
        return ""
    digits = str(abs(units)).rjust(decimals + 1, "0")
    before, after = digits[: len(digits) - decimals], digits[len(digits) - decimals :].rstrip("0")
    return ("-" if units < 0 else "") + (f"{before}.{after}" if after else before)


def escape(text: str) -> str:
    """Return a text of release.csv that no spreadsheet runs as a formula: ``=1+1`` becomes ``'=1+1``."""
    return f"'{text}" if RISKY.match(text) and not PLAIN_NUMBER.match(text) else text


def _csv_line(fields: list[str]) -> str:
    quoted = ('"' + text.replace('"', '""') + '"' if re.search('[,"\r\n]', text) else text for text in fields)
    return ",".join(quoted) + "\n"


def main(arguments: list[str]) -> int:
    """Check a certificate, and a release.csv if one is named; return the exit code of the command."""
    if not 1 <= len(arguments) <= 2:
        print("usage: verify.py certificate.json [release.csv]", file=sys.stderr)
        return 1
    try:
        certificate = load(arguments[0])
        proven = verify(certificate)
        if len(arguments) == 2:
            check_release(certificate, arguments[1])
    except (RefusedError, MemoryError, OSError) as reason:
        print(f"refused: {str(reason) or 'out of memory'}", file=sys.stderr)
        return 2
    print(f"{'verified' if proven else 'no proof'}: {outcome(proven, len(certificate['cells']))}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
