"""What a sheet shows of a case: numbers and flags, rows by columns; nothing here knows of pages.

A view is a pair of arrays, so that after an edit the cells that look different are found by comparing two
views, and only these are sent to the browser.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacita.app.sheet import Change, Content, Flag, Flags
from tacita.app.work.open_case import Case, DecisionKind
from tacita.core import exact
from tacita.core.errors import TacitaError
from tacita.core.exact import UNBOUNDED, Cells, Mask, Units, rescale
from tacita.core.levels import Levels
from tacita.core.release import Mark, Release
from tacita.core.tables.layout import Layout, lay_out
from tacita.core.tables.structure import Structure
from tacita.core.tables.table import Table
from tacita.problem.problem import Problem
from tacita.problem.quality import find_changed
from tacita.report.picture import KINDS, classify_cells

FLAGS = {
    "published": Flag(0),
    "sensitive": Flag.SENSITIVE,
    "other": Flag.OTHER,
    "exposed": Flag.EXPOSED,
    "rounded": Flag(0),
}
"""How each kind of cell of a release is flagged."""


@dataclass(frozen=True)
class Arrangement:
    """How the user wants a table of any number of dimensions to stand.

    Attributes
    ----------
    rows, columns
        Dimensions by name; None: as usual, the first and the second.
    fixed
        The code at which a further dimension is held; its total where none is named.
    part
        Which of several linked tables.
    total_last
        Each total comes after its parts, as tables are printed; otherwise before them.
    """

    rows: str | None = None
    columns: str | None = None
    fixed: Mapping[str, str] = field(default_factory=dict)
    part: str | None = None
    total_last: bool = True

    def lay_out(self, structure: Structure) -> Layout:
        """Return the rows and columns of the sheet, and the cells at their crossings.

        What the structure no longer has (a code that was dropped, a dimension that was renamed) falls back to
        what is usual.
        """
        parts = {part.name: part for part in structure.parts} if len(structure.parts) > 1 else {}
        part = parts.get(self.part or "", next(iter(parts.values()), None))
        axes = range(len(structure.dimensions)) if part is None else part.dimensions
        own = {structure.dimensions[d].name: structure.dimensions[d] for d in axes}
        columns = self.columns if self.columns in own and len(own) > 1 else None
        rows = self.rows if self.rows in own and self.rows != columns else None
        rows = rows or next((name for name in own if name != columns), None)
        columns = columns or next((name for name in own if name != rows), None)
        fixed = {
            name: code
            for name, code in self.fixed.items()
            if name in own and name not in (rows, columns) and code in own[name].position
        }
        name = part.name if part is not None else None
        return lay_out(structure, rows, columns, fixed, self.total_last, name)

    def shift_to(self, structure: Structure, cell: int) -> Arrangement:
        """Return this arrangement if its sheet shows a cell, else one of other slices or another table."""
        if find_place(self.lay_out(structure), cell) is not None:
            return self
        parts = {part.name: part for part in structure.parts}
        holds = [name for name, part in parts.items() if cell in part.cells]
        chosen = self if self.part in holds or not holds else replace(self, part=holds[0])
        held = {
            structure.dimensions[d].name: structure.dimensions[d].codes[structure.codes[cell, d]]
            for d in chosen.lay_out(structure).fixed
        }
        return replace(chosen, fixed={**chosen.fixed, **held})


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """What is sensitive in a case, as far as it is known.

    Attributes
    ----------
    hits
        What would be sensitive, had no cell been declared safe by hand; the levels themselves if none was.
    problem
        The case as a problem; None where it has not been asked for yet, or is refused.
    trouble
        The refusal.
    """

    levels: Levels
    hits: Levels
    problem: Problem | None = None
    trouble: TacitaError | None = None

    @property
    def is_guess(self) -> bool:
        """Whether the rules that the user stated have not been applied yet."""
        return self.problem is None and self.trouble is None

    @property
    def exempt(self) -> Mask:
        """The mask of cells that a rule, a mark or the file hits, but the user declared not sensitive."""
        return self.hits.sensitive & ~self.levels.sensitive

    @classmethod
    def guess(cls, case: Case) -> Sensitivity:
        """Return what the page first shows as sensitive: by the file and by hand, rules not applied."""
        sensitive = np.zeros(len(case.table), dtype=bool)
        sensitive |= case.data.levels.sensitive
        sensitive[case.marked_cells] = True
        nothing = np.zeros(sensitive.size, dtype=np.int64)
        hits = Levels.of(sensitive.copy(), upper=nothing)
        sensitive[case.exempt_cells] = False
        return cls(Levels.of(sensitive, upper=nothing), hits)

    @classmethod
    def find(cls, case: Case) -> Sensitivity:
        """Return what the page shows as sensitive, rules applied; slow where the table is large."""
        try:
            problem = case.problem
            return cls(problem.levels, _find_hits(case, problem.levels), problem)
        except TacitaError as error:
            trouble = error
        try:
            levels = case.find_levels()
            return cls(levels, _find_hits(case, levels), None, trouble)
        except TacitaError:
            return replace(cls.guess(case), trouble=trouble)


@dataclass(frozen=True, eq=False)
class View:
    """Rows by columns: ``units`` of ``decimals`` places, ``flags``, and ``words`` in place of a number."""

    layout: Layout
    units: Units
    decimals: int
    flags: Flags
    words: Mapping[tuple[int, int], str] = field(default_factory=dict)

    def text_at(self, row: int, column: int) -> str:
        """Return the text that the sheet shows in a cell."""
        if self.flags[row, column] & Flag.EMPTY:
            return ""
        if (row, column) in self.words:
            return self.words[row, column]
        return exact.to_text(int(self.units[row, column]), self.decimals)

    def to_content(self) -> Content:
        """Return the view as the content of a sheet: texts, flags, lines and titles."""
        flat = exact.to_texts(self.units.ravel().tolist(), self.decimals)
        width = self.units.shape[1]
        texts = [flat[start : start + width] for start in range(0, len(flat), width)]
        for row, column in np.argwhere(self.flags & Flag.EMPTY).tolist():
            texts[row][column] = ""
        for (row, column), word in self.words.items():
            texts[row][column] = word
        own = self.layout
        return Content(
            own.rows,
            own.columns,
            texts,
            self.flags,
            _find_title(own, own.row_dimension),
            _find_title(own, own.column_dimension),
        )

    def find_changes(self, before: View) -> list[Change] | None:
        """Return the cells of the sheet that look different than before; None where lines or titles do, so
        that the whole is to be sent.
        """
        if _list_frame(self.layout) != _list_frame(before.layout):
            return None
        finest = max(self.decimals, before.decimals)
        here, there = (exact.rescale(view.units, view.decimals, finest) for view in (self, before))
        differs = (here != there) | (self.flags != before.flags)
        worded = {
            place
            for place in {*self.words, *before.words}
            if self.words.get(place) != before.words.get(place)
        }
        for place in worded:
            differs[place] = True
        return [
            Change(row, column, self.text_at(row, column), int(self.flags[row, column]))
            for row, column in np.argwhere(differs).tolist()
        ]


def view_case(case: Case, levels: Levels, where: Layout, exempt: Mask | None = None) -> View:
    """Return the sheet's view of a case: values flagged as sensitive, must publish, must hide, exempt."""
    flags = np.zeros(len(case.table), dtype=np.uint16)
    flags[levels.sensitive] |= np.uint16(Flag.SENSITIVE)
    if exempt is not None:
        flags[exempt] |= np.uint16(Flag.EXEMPT)
    for kind, flag in ((DecisionKind.PUBLISH, Flag.PUBLISH), (DecisionKind.HIDE, Flag.HIDE)):
        flags[case.list_decided(kind)] |= np.uint16(flag)
    return view_table(case.table, flags, where)


def view_table(table: Table, flags: Flags, where: Layout) -> View:
    """Return the sheet's view of a table with these flags per cell; sums are flagged here."""
    return View(where, _spread(table.units, where, 0), table.decimals, _spread_flags(flags, where))


def classify_internally(table: Table, release: Release, sensitive: Mask) -> NDArray[np.int64]:
    """Return the position in ``KINDS`` of each cell, for users of the app, who know the true values.

    A cell that is not sensitive and shows its true number counts as published, also where readers learn a
    radius around it: among cells that did change it must not stand out. A rounded number that is not the
    true one is a secondary cell.
    """
    found = classify_cells(release, sensitive)
    found[found == KINDS.index("rounded")] = KINDS.index("other")
    return np.where(sensitive | find_changed(table, release), found, KINDS.index("published"))


def view_release(table: Table, release: Release, sensitive: Mask, where: Layout) -> View:
    """Return the sheet's view of a release: numbers, intervals, nothing; flags by kind of cell."""
    by_kind = np.array([FLAGS[kind] for kind in KINDS], dtype=np.uint16)
    flags = _spread_flags(by_kind[classify_internally(table, release, sensitive)], where)
    shown = _spread(release.shown, where, True)
    words = {
        (row, column): _format_window(release, int(where.cells[row, column]))
        for row, column in np.argwhere(~shown).tolist()
    }
    return View(where, _spread(release.value, where, 0), release.decimals, flags, words)


def view_compared(table: Table, release: Release, sensitive: Mask, only_here: Mask, where: Layout) -> View:
    """Return the sheet's view of one of two releases; what it alone hides or changes is flagged."""
    view = view_release(table, release, sensitive, where)
    alone = np.where(_spread(only_here, where, False), np.uint16(Flag.ONLY_HERE), np.uint16(0))
    return replace(view, flags=view.flags | alone)


def find_block(where: Layout, rows: Sequence[int], columns: Sequence[int]) -> Cells:
    """Return the cells of a block of the sheet, each once; empty ones are left out."""
    cells = where.cells[np.ix_(list(rows), list(columns))]
    return np.unique(cells[cells >= 0])


def find_place(where: Layout, cell: int) -> tuple[int, int] | None:
    """Return row and column of a cell in the sheet, the first where several lines show it; None where it is
    in another slice.
    """
    places = np.argwhere(where.cells == cell)
    return (int(places[0, 0]), int(places[0, 1])) if places.size else None


def _find_hits(case: Case, levels: Levels) -> Levels:
    """Return protection levels of the user's case without their exemptions; ``levels`` have them."""
    return case.find_levels(exempting=False) if case.specification.rules.exempt else levels


def _spread(column: NDArray[Any], where: Layout, empty: Any) -> NDArray[Any]:
    """Return an array of one entry per cell as rows by columns of the sheet, ``empty`` where no cell is."""
    return np.where(where.cells >= 0, column[where.cells], empty)


def _spread_flags(flags: Flags, where: Layout) -> Flags:
    """Return the flags of cells as rows by columns of the sheet, with sums and empty cells marked."""
    spread = _spread(flags, where, int(Flag.EMPTY))
    return np.where(_find_sums(where), spread | Flag.TOTAL, spread).astype(np.uint16)


def _find_sums(where: Layout) -> Mask:
    """Return the mask of places in the sheet where a sum stands, or would if the cell were listed."""
    structure = where.structure
    leaf_rows, leaf_columns = (
        np.array([line.leaf for line in lines]) for lines in (where.rows, where.columns)
    )
    if not structure.dimensions:
        return np.asarray(~leaf_rows[:, None])
    leaves = leaf_rows[:, None] & leaf_columns[None, :]
    for d, code in where.fixed.items():
        dimension = structure.dimensions[d]
        leaves = leaves & dimension.is_leaf[dimension.representative[dimension.index(code)]]
    return np.where(where.cells >= 0, structure.is_total[where.cells], ~leaves)


def _format_window(release: Release, cell: int) -> str:
    if release.marks[cell] != Mark.INTERVAL:
        return ""
    ends = (int(release.low[cell]), int(release.high[cell]))
    low, high = (
        exact.to_text(end, release.decimals) if abs(end) < UNBOUNDED else ("∞" if end > 0 else "−∞")
        for end in ends
    )
    return f"{low}…{high}"


def _list_frame(where: Layout) -> tuple[object, ...]:
    """Return the lines and titles that stand around the cells of a sheet."""
    return (
        where.rows,
        where.columns,
        _find_title(where, where.row_dimension),
        _find_title(where, where.column_dimension),
    )


def _find_title(where: Layout, dimension: int | None) -> str:
    return "" if dimension is None else where.structure.dimensions[dimension].name


HIDDEN = "hidden"


def view_difference(problem: Problem, release: Release, where: Layout) -> View:
    """Return the sheet's view of what a release changed in each cell, flagged as the release is."""
    published = view_release(problem.table, release, problem.levels.sensitive, where)
    words = dict(_describe_changes(problem, release, where))
    return View(where, np.zeros_like(published.units), 0, published.flags, words)


def _describe_changes(
    problem: Problem, release: Release, where: Layout
) -> Iterator[tuple[tuple[int, int], str]]:
    decimals = max(problem.table.decimals, release.decimals)
    true = rescale(problem.table.units, problem.table.decimals, decimals)
    finer = release.with_decimals(decimals)
    off = np.where(release.shown, finer.value - true, 0).tolist()
    silent = (~release.shown).tolist()
    for row, cells in enumerate(where.cells.tolist()):
        for column, cell in enumerate(cells):
            if cell < 0 or not (silent[cell] or off[cell]):
                yield (row, column), ""
            elif not silent[cell]:
                yield (row, column), _format_signed(off[cell], decimals)
            elif release.marks[cell] == Mark.INTERVAL:
                low, high = (
                    _format_signed(int(end) if abs(end) >= UNBOUNDED else int(end - true[cell]), decimals)
                    for end in (finer.low[cell], finer.high[cell])
                )
                yield (row, column), f"{low}…{high}"
            else:
                yield (row, column), HIDDEN


def _format_signed(units: int, decimals: int) -> str:
    if abs(units) >= UNBOUNDED:
        return "+∞" if units > 0 else "−∞"
    return f"{'+' if units >= 0 else '−'}{exact.to_text(abs(units), decimals)}"
