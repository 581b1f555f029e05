"""Certificates: the proof of a safe audit, in a form that can be checked without a solver.

For each sensitive cell and attacker two *moves*: changes of the table that satisfy every equation, stay
inside what the attacker can think possible, and take the cell down past its lower level and up past its upper
one (together as wide as the sliding level). The file holds the complete case: cells, equations, windows,
bounds, levels, all as integers of the last decimal place. It names true values: it is for internal use.

``verify.py`` checks it with the standard library alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise, zip_longest
from typing import Any

import numpy as np

from tacita.attackers.insider_list import InsiderList
from tacita.auditing.audit import Audit
from tacita.core.errors import CertificateError, UnsafeError
from tacita.core.exact import UNBOUNDED, Units
from tacita.core.release import Mark, Release
from tacita.core.tables.frames import find_part
from tacita.core.tables.structure import Structure
from tacita.core.windows import intersect_windows, refuse_other_cells
from tacita.problem.problem import Problem
from tacita.verify import FORMAT, VERSION, digest, statement

WORDS = [mark.word for mark in Mark]
DIFFERENCES = {
    "decimals": "its values have another number of decimals",
    "whole": "only one of the two says that cells are counts",
    "columns": "its dimensions have other names, or stand in another order",
    "cells": "its cells differ, or stand in another order",
    "rows": "its rows stand in another order",
    "values": "its values differ",
    "equations": "its equations differ, or stand in another order",
    "attackers": "its rules, levels or attackers differ",
}
FIRST_VERSION = {
    *("format", "decimals", "whole", "cells", "values", "equations", "attackers", "low", "high"),
    *("moves", "claims"),
}
"""What every certificate of version 1 has; a statement came later."""


def certify(audit: Audit) -> dict[str, Any]:
    """Return the certificate of an audit that found everything safe and proven, as a dict for JSON.

    Its ``statement`` says what it proves; where nothing was sensitive, that it proves nothing. Of releases
    that were judged together it is that of the newest, to attackers who know what the others say.

    Raises
    ------
    UnsafeError
        The audit did not find everything safe and proven.
    """
    if not audit.safe:
        raise UnsafeError(f"only a safe release can be certified; this audit says: {audit.verdict}")
    case = describe_case(audit.problem, audit.earlier)
    content = {
        "format": FORMAT,
        "version": VERSION,
        "statement": statement(case["attackers"]),
        **case,
        **describe_release(audit.problem, audit.release),
        **_describe_proof(audit),
    }
    return {**content, "digest": digest(content)}


def describe_case(problem: Problem, earlier: Sequence[Release] = ()) -> dict[str, Any]:
    """Return the fields of a certificate about the case: table, attackers who also have ``earlier`` releases,
    levels.
    """
    table, equations = problem.table, problem.table.equations
    starts = equations.starts.tolist()
    cells, coefficients = equations.cells.tolist(), equations.coefficients.tolist()
    return {
        "decimals": table.decimals,
        "whole": table.integer,
        **_describe_rows(table.structure),
        "values": table.units.tolist(),
        "equations": [
            [rhs, cells[a:b], coefficients[a:b]]
            for rhs, a, b in zip(equations.rhs.tolist(), starts[:-1], starts[1:], strict=True)
        ],
        "attackers": [_describe_outsider(problem, earlier), *_describe_insiders(problem.insiders)],
    }


def describe_release(problem: Problem, release: Release) -> dict[str, Any]:
    """Return the fields of a certificate about the release: marks, windows, numbers shown and notice.

    Numbers have as few decimals as they need, but not fewer than the table.
    """
    refuse_other_cells(problem.table, release)
    decimals = problem.table.decimals
    finer = release if release.decimals > decimals else release.with_decimals(decimals)
    numbers = np.stack([finer.low, finer.high, np.where(finer.shown, finer.value, UNBOUNDED)])
    finite = np.abs(numbers) < UNBOUNDED
    places = finer.decimals
    while places > decimals and not (numbers[finite] % 10).any():
        numbers[finite] //= 10
        places -= 1
    low, high, shown = map(_list_bounds, numbers)
    marks = [WORDS[mark] for mark in finer.marks.tolist()]
    about = {"marks": marks, "low": low, "high": high, "shown": shown, "notice": release.notice}
    return {"release_decimals": places, **about}


def complete_certificate(certificate: dict[str, Any], problem: Problem, release: Release) -> dict[str, Any]:
    """Return a certificate of the present version that proves what one of version 1 proves.

    Version 1 held the windows of a release and not its text: names of columns, order of rows, marks, numbers
    and notice. They are taken from the release, whose windows must be those of the certificate.
    """
    content = {name: value for name, value in certificate.items() if name != "digest"}
    if missing := sorted(FIRST_VERSION - content.keys()):
        raise CertificateError(f"the certificate is truncated: no {', '.join(missing)}")
    if digest(content) != certificate.get("digest"):
        raise CertificateError("the certificate is corrupted: its digest does not fit its content")
    published = describe_release(problem, release)
    factor = 10 ** (published["release_decimals"] - problem.table.decimals)
    inwards = {
        "low": [None if low is None else -(-low // factor) for low in published["low"]],
        "high": [None if high is None else high // factor for high in published["high"]],
    }
    if any(certificate.get(end) != windows for end, windows in inwards.items()):
        raise _mismatch_error("release", "its windows differ")
    # A statement of its own stays, for the check to judge: people read it.
    content = {"statement": statement(describe_case(problem)["attackers"]), **content, "version": VERSION}
    content |= {**_describe_rows(problem.table.structure), "cells": content["cells"], **published}
    return {**content, "digest": digest(content)}


def check_certificate(certificate: dict[str, Any], problem: Problem, release: Release) -> int:
    """Raise unless the certificate is about this case and this release; its proof is not checked.

    A release may say nothing of cells that the certificate publishes, as a sheet does that has no field for
    some totals: whatever its readers think possible includes what readers of the certified release do, so
    the proof holds for it, too. Returned is how many such cells there are.
    """
    for name, expected in describe_case(problem).items():
        if certificate.get(name) != expected:
            raise _mismatch_error("case", DIFFERENCES[name])
    published = describe_release(problem, release)
    finer = certificate.get("release_decimals", 0) - published["release_decimals"]
    if finer < 0:
        raise _mismatch_error("release", "its numbers have another number of decimals")
    # Some formats have no room for a notice that a method gave.
    if published["notice"] not in ("", certificate.get("notice")):
        raise _mismatch_error("release", "it has another notice")
    silent = [mark == Mark.SUPPRESSED.word for mark in published["marks"]]
    less: set[int] = set()
    for name in ("marks", "low", "high", "shown"):
        own = published[name]
        if name != "marks":
            own = [None if number is None else number * 10**finer for number in own]
        pairs = zip_longest(certificate.get(name, ()), own, fillvalue="")
        for cell, (one, other) in enumerate(pairs):
            if one == other:
                continue
            if one == "" or cell >= len(problem.table) or not silent[cell]:
                which = f"cell ({problem.table.name(cell)})" if cell < len(problem.table) else "more cells"
                raise _mismatch_error("release", f"it says something else about {which}")
            less.add(cell)
    return len(less)


def _mismatch_error(of: str, difference: str) -> CertificateError:
    fault = f"the certificate is not of this {of}: {difference}"
    return CertificateError(fault, remedy=f"Audit the current {of} again to have it certified.")


def dump(certificate: dict[str, Any]) -> str:
    """Return the certificate as JSON text, as it is written to a file."""
    return json.dumps(certificate, separators=(",", ":"))


def _describe_rows(structure: Structure) -> dict[str, Any]:
    """Return the fields of a certificate on how release files name cells: the columns that do, for each cell
    the fields of the rows that show it, and which cell each row of the file shows.
    """
    if structure.labels:
        names = [[[label]] for label in structure.labels]
        return {"columns": ["cell"], "cells": names, "rows": list(range(len(names)))}
    names = [[] for _ in range(len(structure))]
    order: list[int] = []
    several = len(structure.parts) > 1
    for k in range(max(1, len(structure.parts))):
        part = find_part(structure, k)
        n = part.cells.size
        fields = [[part.name] * n] if several else []
        for d, dimension in enumerate(structure.dimensions):
            shown = d in part.dimensions
            codes = part.codes[:, part.dimensions.index(d)].tolist() if shown else []
            fields.append([dimension.codes[code] for code in codes] if shown else [""] * n)
        for cell, *row in zip(part.cells.tolist(), *fields, strict=True):
            names[cell].append(row)
        order += part.cells.tolist()
    columns = [*(["table"] if several else []), *(d.name for d in structure.dimensions)]
    return {"columns": columns, "cells": names, "rows": order}


def _describe_outsider(problem: Problem, earlier: Sequence[Release]) -> dict[str, Any]:
    """Return the certificate's entry of the outsider: bounds per cell, targets and levels."""
    levels = problem.against_everyone()
    lower, upper = problem.outsider.lower, problem.outsider.upper
    if earlier:
        low, high = intersect_windows(problem.table, earlier)
        lower, upper = np.maximum(lower, low), np.minimum(upper, high)
    return {
        "name": levels.attacker,
        "lower": _list_bounds(lower),
        "upper": _list_bounds(upper),
        "targets": levels.cells.tolist(),
        "levels": [levels.lower.tolist(), levels.upper.tolist(), levels.sliding.tolist()],
    }


def _describe_insiders(insiders: InsiderList) -> Iterator[dict[str, Any]]:
    """Yield the certificate's entry of each insider: bounds, targets and levels."""
    cells, targets, others = insiders.cells.tolist(), insiders.targets.tolist(), insiders.others.tolist()
    lower, upper = _list_bounds(insiders.lower), _list_bounds(insiders.upper)
    levels = insiders.levels.tolist()
    bounds, own = pairwise(insiders.starts.tolist()), pairwise(insiders.target_starts.tolist())
    for name, (a, b), (c, d), also in zip(insiders.names, bounds, own, others, strict=True):
        yield {
            "name": name,
            "cells": cells[a:b],
            "lower": lower[a:b],
            "upper": upper[a:b],
            "targets": targets[c:d],
            "levels": [level[c:d] for level in levels],
            "others": also,
        }


def _describe_proof(audit: Audit) -> dict[str, Any]:
    """Return the certificate's moves, and its claims ``[cell, up move, down move]`` per attacker, an
    insider's only where the outsider's do not prove their levels.
    """
    claims: list[list[list[int]]] = [[] for _ in audit.problem.attackers]
    for own in audit.answers:
        claims[own.number + 1] = np.column_stack([own.cells, own.up_moves, own.down_moves]).tolist()
    used = sorted({move for own in claims for claim in own for move in claim[1:] if move >= 0})
    renumbered = {move: i for i, move in enumerate(used)} | {-1: -1}
    unit = audit.problem.table.unit
    return {
        "moves": [
            [move.denominator, move.cells.tolist(), (move.changes * unit).tolist()]
            for move in (audit.moves[m] for m in used)
        ],
        "claims": [[[cell, renumbered[up], renumbered[down]] for cell, up, down in own] for own in claims],
    }


def _list_bounds(units: Units) -> list[int | None]:
    """Return bounds of cells as a certificate writes them: integers, None where there is none."""
    return [None if abs(u) >= UNBOUNDED else u for u in units.tolist()]
