"""Several tables that share cells, as one table.

Each table is embedded in the union of all dimensions: a dimension that it lacks is at its total. Cells with
equal coordinates are one cell, so its value must be the same in every table that shows it. The equations of
all tables hold together, and so do those that only arise between them (a region that one table shows and its
parts that another shows). Each table stays a :class:`Part`, so it can be written back on its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacita.core.errors import InputError, and_others
from tacita.core.exact import Cells, Mask, Units
from tacita.core.hierarchy import Hierarchy
from tacita.core.tables.build import refuse_sums_between
from tacita.core.tables.contributions import Beyond, Contributions, Shadow, Shares
from tacita.core.tables.dimension import Codes, Dimension
from tacita.core.tables.equations import Equations
from tacita.core.tables.frames import find_part
from tacita.core.tables.structure import Part, Structure, build_equations, find_distinct, make_keys
from tacita.core.tables.table import Table


def link(tables: Mapping[str, Table] | Sequence[Table]) -> Table:
    """Return one Table of all cells of several linked tables.

    Parameters
    ----------
    tables
        Tables of the same variable, by name or in order. Dimensions are matched by name, codes by text.

    Raises
    ------
    InputError
        A shared cell has different values, counts or contributions; the message names it and both tables.
    """
    named = _name_tables(tables)
    decimals = max(table.decimals for table in named.values())
    named = {name: table.with_decimals(decimals) for name, table in named.items()}
    dimensions = _unite_dimensions(named)
    placed, codes = _place_tables(named, dimensions)
    n = codes.shape[0]
    merged = _Merge(placed, Structure(dimensions, codes, Equations.stack([], n)))
    units = merged.required("values", lambda table: table.units)
    equations = _unite_equations(placed, dimensions, codes, units)
    parts = tuple(part for one in placed for part in _list_parts(one, dimensions, len(named) > 1))
    counted = merged.optional("counts", lambda table: table.count)
    holding_count = merged.optional("counts of holdings", lambda table: table.holding_count)
    population = merged.optional("populations", lambda table: table.population)
    structural = np.zeros(n, dtype=bool)
    for one in placed:
        if one.table.structural is not None:
            structural[one.cells] |= one.table.structural
    contributions = merged.contributions("contributions", lambda table: table.contributions)
    holdings = merged.contributions("contributions of holdings", lambda table: table.holdings)
    shadow = _merge_shadows(named, merged)
    return Table(
        structure=Structure(dimensions, codes, equations, parts=parts),
        units=units,
        decimals=decimals,
        integer=all(table.integer for table in named.values()),
        count=counted,
        population=population,
        contributions=contributions,
        holding_count=holding_count,
        holdings=holdings,
        shadow=shadow,
        structural=structural if structural.any() else None,
        columns=merged.columns(),
        value_name=next(iter(named.values())).value_name,
        notes=(*(f"{name}: {note}" for name, t in named.items() for note in t.notes), *merged.notes),
        warnings=tuple(f"{name}: {warning}" for name, t in named.items() for warning in t.warnings),
    )


def find_cells_of(linked: Table, table: Table) -> Cells:
    """Return the position of each cell of one of the linked tables among the cells of all."""
    codes, _ = _embed(table, linked.structure.dimensions)
    return linked.structure.locate(codes)


@dataclass(frozen=True, eq=False)
class _Placed:
    """A table in the union: ``cells[i]`` is where its cell ``i`` is, ``axes[d]`` its dimension ``d``."""

    name: str
    table: Table
    axes: tuple[int, ...]
    recoded: tuple[Codes, ...]
    cells: Cells


def _name_tables(tables: Mapping[str, Table] | Sequence[Table]) -> dict[str, Table]:
    if isinstance(tables, Mapping):
        named = {str(name): table for name, table in tables.items()}
    else:
        names = [find_part(table.structure, 0).name for table in tables]
        unique = len(set(names)) == len(names)
        named = {names[k] if unique else f"table {k + 1}": table for k, table in enumerate(tables)}
    if not named:
        raise InputError("there is no table to link", remedy="give at least one")
    for name, table in named.items():
        if not table.structure.dimensions:
            raise InputError(
                f"table '{name}' comes without dimensions (a JJ file), so its cells cannot be matched"
            )
    return named


def _unite_dimensions(named: Mapping[str, Table]) -> tuple[Dimension, ...]:
    trees: dict[str, list[Hierarchy]] = {}
    for table in named.values():
        for dimension in table.structure.dimensions:
            found = trees.setdefault(dimension.name, [])
            found.extend(tree for tree in dimension.trees if tree not in found)
    dimensions = tuple(Dimension(name, _unite_trees(found)) for name, found in trees.items())
    for dimension in dimensions:
        dimension.check()
        _refuse_two_totals(dimension)
    return dimensions


def _unite_trees(trees: Sequence[Hierarchy]) -> tuple[Hierarchy, ...]:
    """Return a dimension's trees in linked tables, with flat ones under one total united into one."""
    flat: dict[str, list[str]] = {}
    deep = []
    for tree in trees:
        if tree.depth.max(initial=0) <= 1:
            flat.setdefault(tree.total, []).extend(tree.codes[1:])
        else:
            deep.append(tree)
    # A flat list of a deeper tree's codes adds no equation to those of the deeper tree.
    kept = [
        Hierarchy.flat(list(dict.fromkeys(codes)), total=total)
        for total, codes in flat.items()
        if not any(total == tree.total and all(code in tree for code in codes) for tree in deep)
    ]
    return (*deep, *kept)


def _refuse_two_totals(dimension: Dimension) -> None:
    """Refuse two names for the sum of the same codes: linked tables would not share that total."""
    seen: dict[frozenset[str], str] = {}
    for tree in dimension.trees:
        other = seen.setdefault(frozenset(tree.leaves), tree.total)
        if other != tree.total:
            raise InputError(
                f"its total is called {other!r} in one table and {tree.total!r} in another",
                place=f"dimension '{dimension.name}'",
                remedy="Use one name.",
            )


def _place_tables(named: Mapping[str, Table], dimensions: Sequence[Dimension]) -> tuple[list[_Placed], Codes]:
    """Return where the cells of each linked table are among the distinct cells of all, and their codes."""
    axis = {dimension.name: d for d, dimension in enumerate(dimensions)}
    embedded, recodings = zip(*(_embed(table, dimensions) for table in named.values()), strict=True)
    everything = np.vstack(embedded)
    first, place = find_distinct(make_keys(dimensions, everything))
    starts = np.cumsum([0, *(codes.shape[0] for codes in embedded)])
    placed = [
        _Placed(
            name,
            table,
            tuple(axis[d.name] for d in table.structure.dimensions),
            recodings[k],
            place[starts[k] : starts[k + 1]],
        )
        for k, (name, table) in enumerate(named.items())
    ]
    return placed, everything[first]


def _embed(table: Table, dimensions: Sequence[Dimension]) -> tuple[Codes, tuple[Codes, ...]]:
    """Return the codes of a table's cells in the union of linked tables, and its codes there by dimension."""
    axis = {dimension.name: d for d, dimension in enumerate(dimensions)}
    own = table.structure
    recoded = tuple(
        np.array([dimensions[axis[d.name]].position[code] for code in d.codes], dtype=np.int32)
        for d in own.dimensions
    )
    totals = np.array([d.representative[d.index(d.total)] for d in dimensions], dtype=np.int32)
    codes = np.tile(totals, (len(table), 1))
    for d, dimension in enumerate(own.dimensions):
        at = axis[dimension.name]
        codes[:, at] = dimensions[at].representative[recoded[d][own.codes[:, d]]]
    return codes, recoded


def _unite_equations(
    placed: Sequence[_Placed], dimensions: Sequence[Dimension], codes: Codes, units: Units
) -> Equations:
    """Return the equations of each of the linked tables, then those between tables, each once.

    A family between tables that lacks some of its parts is refused: readers know at least that the parts
    which are listed do not exceed their total, and no equation states it.
    """
    n = codes.shape[0]
    blocks = [
        Equations(e.starts, one.cells[e.cells], e.coefficients, e.rhs, n)
        for one in placed
        for e in (one.table.equations,)
    ]
    own = Equations.stack(blocks, n)
    between, _ = build_equations(dimensions, codes)
    broken = np.flatnonzero(between.residuals(units))
    if broken.size:
        where = Structure(tuple(dimensions), codes, between).describe_equation(int(broken[0]))
        raise InputError(
            f"the tables do not add up together: {where} ({broken.size:,} such sums)",
            remedy="Some parts are in no table: list them too (they may stay hidden), or link the tables "
            "without this total.",
        )
    refuse_sums_between(dimensions, codes, between)
    stacked = Equations.stack([own, between], n)
    return stacked.where(~(stacked.duplicates | _find_empty_equations(stacked)))


def _find_empty_equations(equations: Equations) -> Mask:
    """Return a mask of the equations ``-a + a = 0``, whose total and only part are one linked cell."""
    nothing = np.zeros(len(equations), dtype=bool)
    pairs = np.flatnonzero(np.diff(equations.starts) == 2)
    first = equations.starts[pairs]
    nothing[pairs] = equations.cells[first] == equations.cells[first + 1]
    return nothing


def _list_parts(one: _Placed, dimensions: Sequence[Dimension], rename: bool) -> list[Part]:
    own = one.table.structure
    parts = []
    for k in range(max(1, len(own.parts))):
        part = find_part(own, k)
        codes = np.column_stack([one.recoded[d][part.codes[:, c]] for c, d in enumerate(part.dimensions)])
        name = one.name if len(own.parts) < 2 or not rename else f"{one.name}: {part.name}"
        parts.append(
            Part(
                name,
                tuple(one.axes[d] for d in part.dimensions),
                codes.astype(np.int32),
                one.cells[part.cells],
            )
        )
    return parts


class _Merge:
    """Columns of several tables, brought together cell by cell."""

    def __init__(self, placed: Sequence[_Placed], structure: Structure) -> None:
        self.placed, self.structure, self.n = placed, structure, len(structure)
        self.notes: list[str] = []

    def required(self, what: str, field: Any) -> Units:
        merged, _ = self._merge_column(what, [(one, field(one.table)) for one in self.placed])
        return merged

    def optional(self, what: str, field: Any) -> Any:
        """Return a column that covers all cells of the linked tables; else None, and note it if some do."""
        given = [(one, column) for one in self.placed if (column := field(one.table)) is not None]
        if not given:
            return None
        merged, covered = self._merge_column(what, given)
        if covered.all():
            return merged
        self.notes.append(f"{what} left out: {self.structure.names(np.flatnonzero(~covered), 1)} have none")
        return None

    def _merge_column(
        self, what: str, given: Sequence[tuple[_Placed, NDArray[Any]]]
    ) -> tuple[NDArray[Any], Mask]:
        """Return a column of all linked tables, which must agree, and a mask of the cells that have it."""
        shape = (self.n, *given[0][1].shape[1:])
        merged = np.zeros(shape, dtype=given[0][1].dtype)
        source = np.full(self.n, -1, dtype=np.int64)
        for k, (one, column) in enumerate(given):
            fresh = source[one.cells] < 0
            merged[one.cells[fresh]] = column[fresh]
            source[one.cells[fresh]] = k
            differs = merged[one.cells] != column
            wrong = np.flatnonzero(differs.reshape(differs.shape[0], -1).any(axis=1))
            if wrong.size:
                cell = int(one.cells[wrong[0]])
                other = given[int(source[cell])][0]
                fault = (
                    f"the {what} in '{other.name}' and '{one.name}' differ{and_others(wrong.size, 'cell')}"
                )
                remedy = _find_remedy(other.table.value_name, one.table.value_name)
                raise InputError(fault, place=f"({self.structure.name(cell)})", remedy=remedy)
        return merged, source >= 0

    def contributions(self, what: str, field: Any) -> Contributions | None:
        """Return the largest contributions in linked tables, as many as every table has, matched by name."""
        given = [(one, c) for one in self.placed if (c := field(one.table)) is not None]
        if not given:
            return None
        depth = min(c.depth for _, c in given)
        names = list(dict.fromkeys(str(name) for _, c in given for name in c.names))
        position = {name: k for k, name in enumerate(names)}
        owners = [np.array([position[str(name)] for name in c.names], dtype=np.int64) for _, c in given]
        values, covered = self._merge_column(what, [(one, c.values[:, :depth]) for one, c in given])
        if not covered.all():
            self.notes.append(
                f"{what} left out: {self.structure.names(np.flatnonzero(~covered), 1)} have none"
            )
            return None
        sums, _ = self._merge_column(what, [(one, c.sums) for one, c in given])
        who = np.full((self.n, depth), -1, dtype=np.int64)
        for (one, c), own in zip(given, owners, strict=True):
            who[one.cells] = _rename(c.who[:, :depth], own)
        queried = [(one, c, own) for (one, c), own in zip(given, owners, strict=True) if c.query is not None]

        def query(wanted: Cells) -> Shares:
            rows = [_find_shares(one, c, own, wanted) for one, c, own in queried]
            triples = np.unique(np.concatenate(rows), axis=0)
            return Shares(triples[:, 0], triples[:, 1], triples[:, 2])

        asked, consented = _merge_decisions([c for _, c in given], owners, len(names))
        unnamed = max(c.unnamed_records for _, c in given)
        if len(queried) < len(given):
            return Contributions(
                values, who, sums, names, asked=asked, consented=consented, unnamed_records=unnamed
            )
        everyone = all(c.beyond is Beyond.NOBODY for _, c in given)
        beyond = Beyond.NOBODY if everyone else Beyond.ANYONE
        return Contributions(values, who, sums, names, query, beyond, asked, consented, unnamed)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return further columns of the linked tables, each of the first that has it; else NaN or no text."""
        merged: dict[str, NDArray[Any]] = {}
        for one in reversed(self.placed):
            for name, column in one.table.columns.items():
                text = column.dtype.kind in "OUS"
                blank = np.full(self.n, "", dtype=object) if text else np.full(self.n, np.nan)
                merged.setdefault(name, blank)[one.cells] = column
        return merged


def _find_remedy(first: str, second: str) -> str:
    """Return what helps where two tables, of these variables, differ in a cell that they share."""
    if first == second:
        return "Correct one of them, or give dimensions of different meaning different names."
    return (
        f"If '{first}' and '{second}' are two variables, leave their tables apart: suppress_alike hides the "
        "same cells in both."
    )


def _merge_shadows(named: Mapping[str, Table], merged: _Merge) -> Shadow | None:
    """Return the contributions by which rules judge linked tables, which must be of the same variable."""
    shadows = [table.shadow for table in named.values() if table.shadow is not None]
    if not shadows:
        return None
    if len(shadows) < len(named) or len({shadow.name for shadow in shadows}) > 1:
        raise InputError(
            "rules judge some of the linked tables by another variable, and not all by the same one",
            remedy="Give all of them the same shadow variable.",
            options=["shadow"],
        )
    decimals = max(shadow.decimals for shadow in shadows)

    def respondents(table: Table) -> Contributions | None:
        return table.shadow.with_decimals(decimals).contributions if table.shadow else None

    def holdings(table: Table) -> Contributions | None:
        return table.shadow.with_decimals(decimals).holdings if table.shadow else None

    what = f"contributions of '{shadows[0].name}'"
    contributions = merged.contributions(what, respondents)
    if contributions is None:
        raise InputError(f"some linked tables lack {what}", remedy="Tabulate all from the same records.")
    return Shadow(
        shadows[0].name, decimals, contributions, merged.contributions(f"{what} of holdings", holdings)
    )


def _merge_decisions(
    given: Sequence[Contributions], owners: Sequence[Cells], many: int
) -> tuple[Cells | None, Mask | None]:
    """Return who asked for protection in one of the linked tables, and who consented in all that know them;
    None where no table says so.
    """
    asked, refused = np.zeros(many, dtype=np.int64), np.zeros(many, dtype=bool)
    for c, own in zip(given, owners, strict=True):
        if c.asked is not None:
            np.bitwise_or.at(asked, own, c.asked)
        refused[own] |= True if c.consented is None else ~c.consented
    return (
        asked if any(c.asked is not None for c in given) else None,
        ~refused & (asked == 0) if any(c.consented is not None for c in given) else None,
    )


def _rename(who: Cells, names: Cells) -> Cells:
    return np.where(who >= 0, names[np.maximum(who, 0)], -1) if names.size else who


def _find_shares(
    one: _Placed, contributions: Contributions, names: Cells, wanted: Cells
) -> NDArray[np.int64]:
    """Return what some contributors put into one of the linked tables, as rows (who, cell, units)."""
    own = np.flatnonzero(np.isin(names, wanted)) if names.size else wanted
    shares = contributions.shares_of(own)
    return np.column_stack([_rename(shares.who, names), one.cells[shares.cells], shares.units])
