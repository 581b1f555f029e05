"""The release that readers get: for each cell a window that the true value lies in, and a number if one is
shown.

| published as | mark | window |
|---|---|---|
| the value itself | ``published`` | ``[a, a]`` |
| nothing | ``suppressed`` | ``(-inf, +inf)`` |
| an interval | ``interval`` | ``[low, high]`` |
| rounded to ``v``, radius ``r`` announced | ``rounded`` | ``[v - r, v + r]`` |
| adjusted or perturbed to ``v``, radius ``r`` announced | ``adjusted`` | ``[v - r, v + r]`` |

A number that is rounded or adjusted is the middle of its window, so the window determines the number. A
release carries the public structure and nothing else of the table: the true value of a hidden cell is not
in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacita.core import exact
from tacita.core.errors import ReleaseError, issue_warnings
from tacita.core.exact import UNBOUNDED, Mask, Units, freeze_fields
from tacita.core.outcome import Outcome
from tacita.core.run import AVERAGES
from tacita.core.tables.cell_selection import CellList, read_cells
from tacita.core.tables.frames import Framed, list_rows, make_arrow_table, numbers_to_arrow
from tacita.core.tables.structure import Structure
from tacita.core.tables.table import Table
from tacita.core.words import pluralize

if TYPE_CHECKING:
    import pyarrow as pa

    from tacita.auditing.audit import Audit
    from tacita.publication.release_write import Format


class Mark(IntEnum):
    """How a cell is published."""

    PUBLISHED = 0
    SUPPRESSED = 1
    INTERVAL = 2
    ROUNDED = 3
    ADJUSTED = 4

    @property
    def word(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, eq=False)
class Release(Framed):
    """Windows and shown values per cell, in units of ``decimals`` places.

    ``shown`` says which cells display a number; ``value`` is zero elsewhere. Every file of the release
    carries its ``notice`` to readers. ``notes`` say what was left out of the file that it was read from.
    ``assumption`` is what its protection rests on besides the windows; it is internal, and every verdict
    names it. ``alone`` is what readers must not know for windows to be all that they have; the method saw to
    those who know it in this release alone, so that verdicts on several releases name it.
    """

    structure: Structure
    decimals: int
    marks: NDArray[np.uint8]
    low: Units
    high: Units
    value: Units
    shown: Mask
    primary: Mask
    made_by: Mapping[str, Any] = field(default_factory=dict)
    outcome: Outcome | None = None
    notice: str = ""
    notes: tuple[str, ...] = ()
    assumption: str = ""
    alone: str = ""

    def __post_init__(self) -> None:
        n, columns = len(self.structure), ("marks", "low", "high", "value", "shown", "primary")
        freeze_fields(self, *columns)
        for name in columns:
            if (size := getattr(self, name).size) != n:
                raise ReleaseError(
                    f"a release of {pluralize(n, 'cell')} needs as many entries in '{name}', not {size:,}"
                )
        published, hidden = self.marks == Mark.PUBLISHED, self.marks == Mark.SUPPRESSED
        ranged = self.marks == Mark.INTERVAL
        near = (self.marks == Mark.ROUNDED) | (self.marks == Mark.ADJUSTED)
        window = (self.low > -UNBOUNDED) | (self.high < UNBOUNDED)
        exactly = (self.low == self.high) & (self.value == self.low) & self.shown
        # A number off the middle would reveal more than its window, and a changed one could pass for it.
        centred = (self.value - self.low == self.high - self.value) & (self.high < UNBOUNDED)
        # A release that reveals more than its windows would pass an audit, which uses windows only.
        for wrong, what in (
            (self.marks > max(Mark), "the mark is unknown"),
            (self.low > self.high, "the window has low above high"),
            (~self.shown & (self.value != 0), "nothing is shown, yet there is a value"),
            (published & ~exactly, "published, so the window must be the value alone, and shown"),
            (hidden & window, "suppressed, so it may have no window: mark it as an interval"),
            (self.shown & ~published & ~near, "suppressed or an interval, so no value may be shown"),
            (near & ~self.shown, "rounded or adjusted, so a value must be shown"),
            (near & ~centred, "rounded or adjusted, so its window must reach as far below as above"),
            (~published & (self.low == self.high), "the window is a single value: mark it as published"),
            (ranged & ~window, "an interval without ends says nothing: mark it as suppressed"),
        ):
            if wrong.any():
                raise ReleaseError(what, place=self.structure.names(np.flatnonzero(wrong)))

    def __len__(self) -> int:
        return len(self.structure)

    def __repr__(self) -> str:
        counts = {m.word: int((self.marks == m).sum()) for m in Mark}
        return f"Release({', '.join(f'{n:,} {word}' for word, n in counts.items() if n)})"

    def _repr_html_(self) -> str:
        """Return what readers see of each cell as HTML for notebooks; what is hidden is not in it."""
        from tacita.core.notebook import show_cells

        return show_cells(self.structure, self._shown_text, repr(self))

    def _shown_text(self, cell: int) -> str:
        """Return the text that readers see of a cell: a number, an interval, or x where it is suppressed."""
        low, high, value = (
            exact.to_text(int(units[cell]), self.decimals) for units in (self.low, self.high, self.value)
        )
        words = {Mark.SUPPRESSED: "x", Mark.INTERVAL: f"[{low}...{high}]", Mark.PUBLISHED: value}
        return words.get(Mark(self.marks[cell]), f"≈{value}")

    def to_arrow(self, part: int | str = 0) -> pa.Table:
        """Return an Arrow table of what readers get per cell: codes, ``mark``, ``low``, ``high``, ``value``.

        Ends of windows and values that the release does not give are null. ``part`` is the number or
        name of one of several linked tables; rows stand in the order of the table that was given.
        """
        import pyarrow as pa

        names, codes, cells = list_rows(self.structure, part)
        words = np.array([mark.word for mark in Mark], dtype=object)
        columns = {
            "mark": pa.array(words[self.marks[cells]]),
            "low": numbers_to_arrow(self.low[cells], self.decimals),
            "high": numbers_to_arrow(self.high[cells], self.decimals),
            "value": numbers_to_arrow(self.value[cells], self.decimals, ~self.shown[cells]),
        }
        return make_arrow_table(dict(zip(names, codes, strict=True)), columns)

    @property
    def hidden(self) -> Mask:
        """A mask of the cells whose value is not given exactly."""
        return np.asarray(self.low < self.high)

    @property
    def changed(self) -> Mask:
        """A mask of the cells that are not published as they are."""
        return np.asarray(self.marks != Mark.PUBLISHED)

    def with_decimals(self, decimals: int) -> Release:
        """Return the same release with its numbers counted in a finer last decimal place."""
        if decimals == self.decimals:
            return self
        finer = [exact.rescale(units, self.decimals, decimals) for units in (self.low, self.high, self.value)]
        factor = 10 ** (decimals - self.decimals)
        structure = replace(self.structure, equations=self.structure.equations.scaled(factor))
        return replace(
            self, structure=structure, decimals=decimals, low=finer[0], high=finer[1], value=finer[2]
        )

    def write(
        self,
        path: str | Path,
        audit: Audit | None = None,
        unaudited: str | None = None,
        *,
        format: Format | None = None,
        mark: str = "x",
        title: str = "",
    ) -> Path:
        """Write the release to a file for publication and return its path; the ending chooses the format.

        ``format="crosstab"`` lays a CSV file out as the table is printed. There, in workbooks and on pages
        ``mark`` stands in place of suppressed numbers, and ``title`` above the table.

        Refuses without an audit that found this release safe, unless ``unaudited`` gives a reason, which the
        file then carries. Warns where a draw takes the place of a file with other numbers.
        """
        from tacita.publication.release_write import write_release

        target = Path(path)
        before = target.read_bytes() if "seed" in self.made_by and target.is_file() else None
        written = write_release(self, path, audit, unaudited, format=format, mark=mark, title=title)
        # Workbooks carry the time they were made at, so that equal ones differ.
        if before is not None and target.suffix.lower() != ".xlsx" and before != written.read_bytes():
            issue_warnings([f"{target}: {AVERAGES}"])
        return written

    # ------------------------------------------------------------------ from a table

    @classmethod
    def suppress(
        cls, table: Table, cells: CellList, primary: CellList | None = None, **about: Any
    ) -> Release:
        """Return a release that suppresses ``cells`` (see :mod:`.cell_selection`) and publishes the rest."""
        hidden = read_cells(table, cells, "cells to suppress")
        return cls.mixed(table, hidden, Mark.SUPPRESSED, -UNBOUNDED, UNBOUNDED, primary=primary, **about)

    @classmethod
    def intervals(
        cls,
        table: Table,
        cells: CellList,
        low: Units,
        high: Units,
        primary: CellList | None = None,
        **about: Any,
    ) -> Release:
        """Return a release with intervals ``[low, high]`` (an entry per table cell) for some cells."""
        chosen = read_cells(table, cells, "cells with intervals")
        return cls.mixed(table, chosen, Mark.INTERVAL, low, high, primary=primary, **about)

    @classmethod
    def rounded(
        cls,
        table: Table,
        value: Units,
        radius: ArrayLike,
        primary: CellList | None = None,
        mark: Mark = Mark.ROUNDED,
        **about: Any,
    ) -> Release:
        """Return a release of ``value`` in every cell that announces the truth within ``radius`` units of it.

        Cells with radius zero are published as they are.
        """
        r = np.broadcast_to(np.asarray(radius, dtype=np.int64), len(table))
        return cls.mixed(table, r > 0, mark, value - r, value + r, value=value, primary=primary, **about)

    @classmethod
    def mixed(
        cls,
        table: Table,
        changed: Mask,
        mark: Mark | NDArray[np.uint8],
        low: ArrayLike,
        high: ArrayLike,
        value: Units | None = None,
        primary: CellList | None = None,
        made_by: Mapping[str, Any] | None = None,
        outcome: Outcome | None = None,
        notice: str = "",
        assumption: str = "",
        alone: str = "",
    ) -> Release:
        """Return any mixed release: ``changed`` cells get ``mark``, window and (if given) shown value.

        The others are published, and so are changed cells whose window is their value alone.
        """
        changed = changed & (np.not_equal(low, table.units) | np.not_equal(high, table.units))
        silent = np.isin(mark, (Mark.SUPPRESSED, Mark.INTERVAL))
        shown = ~changed if value is None else ~(changed & silent)
        display = np.where(changed, 0 if value is None else value, table.units)
        return cls(
            table.structure,
            table.decimals,
            np.where(changed, mark, Mark.PUBLISHED).astype(np.uint8),
            np.where(changed, low, table.units).astype(np.int64),
            np.where(changed, high, table.units).astype(np.int64),
            np.where(shown, display, 0).astype(np.int64),
            shown,
            read_cells(table, () if primary is None else primary, "primary cells"),
            dict(made_by or {}),
            outcome,
            notice,
            assumption=assumption,
            alone=alone,
        )
