"""A table from first principles: codes, records, the cells they fall into, and the sums between cells.

Part of the referee: nothing of Tacita is imported here. Cells are tuples of codes, values are integers of
the last decimal place, and every sum is written down from the trees of codes alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

ROOT = "Total"

Codes = tuple[str, ...]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Axis:
    """A dimension: ``children`` of every code that has some, the total first."""

    name: str
    children: Mapping[str, tuple[str, ...]]

    @cached_property
    def codes(self) -> tuple[str, ...]:
        """All codes, each parent before its children."""

        def below(code: str) -> Iterator[str]:
            yield code
            for child in self.children.get(code, ()):
                yield from below(child)

        return tuple(below(ROOT))

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        return tuple(code for code in self.codes if code not in self.children)

    @cached_property
    def above(self) -> dict[str, tuple[str, ...]]:
        """For each leaf the codes that contain it, itself included."""
        parent = {child: code for code, below in self.children.items() for child in below}

        def path(code: str) -> tuple[str, ...]:
            return (code, *path(parent[code])) if code in parent else (code,)

        return {leaf: path(leaf) for leaf in self.leaves}

    @property
    def flat(self) -> bool:
        return len(self.children) == 1


@dataclass(frozen=True)
class Record:
    """One line of microdata: where it belongs, who made it, and what they put in."""

    codes: Codes
    units: int
    respondent: str = ""
    holding: str = ""


@dataclass(frozen=True, eq=False)
class World:
    """The whole truth about a table, or about several linked ones (``faces`` of one cube of records).

    Cells are those that some face shows. With ``known_people`` the records say who stands behind a cell;
    ``empty_listed`` says whether cells without any record are cells of value zero, or not listed at all, in
    which case everyone knows that they are zero.
    """

    axes: tuple[Axis, ...]
    faces: tuple[tuple[int, ...], ...]
    records: tuple[Record, ...]
    decimals: int
    counts: bool
    known_people: bool
    empty_listed: bool

    @cached_property
    def cells(self) -> tuple[Codes, ...]:
        """All listed cells by their codes, totals included."""
        listed = dict.fromkeys(codes for face in self.faces for codes in self._of_face(face))
        return tuple(codes for codes in listed if self.empty_listed or codes in self._filled)

    @cached_property
    def position(self) -> dict[Codes, int]:
        return {codes: i for i, codes in enumerate(self.cells)}

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def step(self) -> int:
        """The smallest step between two values that readers think possible, in units."""
        return 10**self.decimals if self.counts else 1

    @cached_property
    def values(self) -> Integers:
        return np.array([sum(r.units for r in self._filled.get(c, ())) for c in self.cells], dtype=np.int64)

    @cached_property
    def inner(self) -> NDArray[np.bool_]:
        """True for cells that are no sum of others."""
        totals = {parent for parent, _ in self._sums()}
        return np.array([codes not in totals for codes in self.cells])

    @cached_property
    def equations(self) -> Integers:
        """One row per sum, 1 at the total and -1 at its parts; every table fits that makes all rows zero."""
        rows = []
        for parent, parts in self._sums():
            row = np.zeros(len(self), dtype=np.int64)
            row[self.position[parent]] = 1
            for part in parts:
                if part in self.position:
                    row[self.position[part]] -= 1
            rows.append(row)
        return np.array(rows, dtype=np.int64).reshape(-1, len(self))

    @cached_property
    def network(self) -> bool:
        """True if integer bounds make the corners of every attacker's region integer, too."""
        deep = sum(not axis.flat for axis in self.axes)
        return len(self.faces) == 1 and len(self.axes) <= 2 and deep <= 1

    def shares(self, by: str) -> dict[str, Integers]:
        """What each respondent or holding put into every cell."""
        found: dict[str, Integers] = {}
        for codes, records in self._filled.items():
            cell = self.position.get(codes)
            for record in records if cell is not None else ():
                name = record.respondent if by == "respondent" else record.holding
                found.setdefault(name, np.zeros(len(self), dtype=np.int64))[cell] += record.units
        return found

    def presence(self, by: str) -> dict[str, NDArray[np.bool_]]:
        """The cells that each respondent or holding has a record in, whatever its value."""
        found: dict[str, NDArray[np.bool_]] = {}
        for codes, records in self._filled.items():
            cell = self.position.get(codes)
            for record in records if cell is not None else ():
                name = record.respondent if by == "respondent" else record.holding
                found.setdefault(name, np.zeros(len(self), dtype=bool))[cell] = True
        return found

    @cached_property
    def _filled(self) -> dict[Codes, list[Record]]:
        """The records of every cell of the whole cube that has some."""
        found: dict[Codes, list[Record]] = {}
        for record in self.records:
            paths = (axis.above[code] for axis, code in zip(self.axes, record.codes, strict=True))
            for codes in product(*paths):
                found.setdefault(codes, []).append(record)
        return found

    def _of_face(self, face: Sequence[int]) -> Iterator[Codes]:
        return product(*(axis.codes if d in face else (ROOT,) for d, axis in enumerate(self.axes)))

    def _sums(self) -> Iterator[tuple[Codes, list[Codes]]]:
        """Every total among the cells, with its parts along one axis where some face shows them all."""
        shown = {codes for face in self.faces for codes in self._of_face(face)}
        for codes in self.cells:
            for d, axis in enumerate(self.axes):
                parts = [(*codes[:d], child, *codes[d + 1 :]) for child in axis.children.get(codes[d], ())]
                if parts and all(part in shown for part in parts):
                    yield codes, parts
