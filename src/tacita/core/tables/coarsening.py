"""Tables with less detail: finer levels are cut off, codes are joined or left out.

Where only what lies below some codes goes, the cells that stay keep all that is known of them: values,
counts, contributors, further columns. Where codes are joined or left out, cells are summed anew from those
that are no totals; the largest contributions of such sums do not follow from the parts, and tables with them
are refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tacita.core.errors import InputError
from tacita.core.exact import Cells
from tacita.core.hierarchy.recoding import Detail, Recoded, RecodingLike
from tacita.core.tables.build import build_from_cells, build_table
from tacita.core.tables.contributions import Contributions, Shadow, Shares
from tacita.core.tables.dimension import Codes, Dimension
from tacita.core.tables.editing import refuse_open_totals
from tacita.core.tables.rollup import roll_up
from tacita.core.tables.structure import make_keys
from tacita.core.tables.table import Table

ONE_TABLE = "make each of them coarser, then link them"


def coarsen(
    table: Table,
    levels: Mapping[str, int] | None = None,
    recode: Mapping[str, RecodingLike] | None = None,
) -> Table:
    """Return the table with less detail, its totals unchanged unless codes are left out.

    Parameters
    ----------
    levels
        Per dimension how many levels of its classification are shown below the total.
    recode
        Per dimension what codes become: the same new code joins them, an empty one leaves them out; see
        :mod:`tacita.core.hierarchy.recoding`.

    Raises
    ------
    InputError
        Dimensions, levels or codes are wrong; or codes of a table with contributions would be joined.
    """
    detail = Detail(levels or {}, recode or {})
    structure = table.structure
    if not (detail.levels or detail.recode):
        return table
    if not structure.dimensions:
        raise InputError("the table comes without dimensions (a JJ file): its cells are all there are")
    if len(structure.parts) > 1:
        names = ", ".join(repr(part.name) for part in structure.parts)
        raise InputError(f"the tables {names} are linked", remedy=ONE_TABLE)
    detail.refuse_unknown([dimension.name for dimension in structure.dimensions])
    recoded = [detail.find(dimension.name, dimension.trees) for dimension in structure.dimensions]
    if all(each is None or _only_closes(dimension, each) for dimension, each in _pair(table, recoded)):
        return _keep_cells(table, recoded)
    return _sum_cells(table, recoded)


def _pair(table: Table, recoded: list[Recoded | None]) -> list[tuple[Dimension, Recoded | None]]:
    return list(zip(table.structure.dimensions, recoded, strict=True))


def _only_closes(dimension: Dimension, recoded: Recoded) -> bool:
    """Return whether codes that a coarser table lacks all count for codes above them, which stay."""
    tree = dimension.trees[0]
    return all(new is not None and new in tree.ancestors(code) for code, new in recoded.codes.items())


def _make_dimensions(table: Table, recoded: list[Recoded | None]) -> tuple[Dimension, ...]:
    return tuple(
        dimension if each is None else Dimension(dimension.name, (each.tree,))
        for dimension, each in _pair(table, recoded)
    )


def _keep_cells(table: Table, recoded: list[Recoded | None]) -> Table:
    """Return the table with those cells that a coarser one lists, and all that is known of them."""
    structure, dimensions = table.structure, _make_dimensions(table, recoded)
    part = structure.parts[0]
    shown = np.column_stack(
        [_find_shown(old, new)[part.codes[:, d]] for d, (old, new) in _list_pairs(table, dimensions)]
    )
    rows = np.flatnonzero((shown >= 0).all(axis=1))
    _, first = np.unique(make_keys(dimensions, shown[rows].astype(np.int32)), return_index=True)
    rows = rows[np.sort(first)]
    cells = part.cells[rows]
    plain = build_table(
        dimensions,
        shown[rows].astype(np.int32),
        table.units[cells],
        table.decimals,
        compute_totals=False,
        name=part.name,
        integer=table.integer,
        value_name=table.value_name,
    )
    source = np.zeros(len(plain), dtype=np.int64)
    source[plain.structure.parts[0].cells] = cells
    return replace(
        plain,
        count=None if table.count is None else table.count[source],
        population=None if table.population is None else table.population[source],
        holding_count=None if table.holding_count is None else table.holding_count[source],
        structural=None if table.structural is None else table.structural[source],
        contributions=table.contributions and _select(table.contributions, source, len(table)),
        holdings=table.holdings and _select(table.holdings, source, len(table)),
        shadow=None if table.shadow is None else _select_shadow(table.shadow, source, len(table)),
        columns={name: column[source] for name, column in table.columns.items()},
        notes=(*table.notes, *plain.notes),
        warnings=table.warnings,
    )


def _list_pairs(
    table: Table, dimensions: tuple[Dimension, ...]
) -> list[tuple[int, tuple[Dimension, Dimension]]]:
    return list(enumerate(zip(table.structure.dimensions, dimensions, strict=True)))


def _find_shown(old: Dimension, new: Dimension) -> NDArray[np.int64]:
    """Return where the codes of a dimension are in a coarser one; -1: they are gone, and no other name of
    the same cell stays.
    """
    found = np.full(len(old.codes), -1, dtype=np.int64)
    # Of a chain of single children the finest that stays names the cell.
    of_cell = np.full(len(old.codes), -1, dtype=np.int64)
    for position, code in enumerate(old.codes):
        if code in new.position:
            found[position] = new.position[code]
            of_cell[old.representative[position]] = new.position[code]
    return np.where(found >= 0, found, of_cell[old.representative])


def _select(contributions: Contributions, cells: Cells, many: int) -> Contributions:
    """Return the contributions to some cells of a table, in this order, which it had ``many`` of."""
    place = np.full(many, -1, dtype=np.int64)
    place[cells] = np.arange(cells.size)

    def query(who: Cells) -> Shares:
        shares = contributions.shares_of(who)
        kept = place[shares.cells] >= 0
        return Shares(shares.who[kept], place[shares.cells[kept]], shares.units[kept])

    return replace(
        contributions,
        values=contributions.values[cells],
        who=contributions.who[cells],
        sums=contributions.sums[cells],
        query=None if contributions.query is None else query,
    )


def _select_shadow(shadow: Shadow, cells: Cells, many: int) -> Shadow:
    holdings = None if shadow.holdings is None else _select(shadow.holdings, cells, many)
    return replace(shadow, contributions=_select(shadow.contributions, cells, many), holdings=holdings)


def _sum_cells(table: Table, recoded: list[Recoded | None]) -> Table:
    """Return the table in which cells of joined codes are summed, and those of codes left out are gone."""
    behind = (table.population, table.contributions, table.holding_count, table.holdings, table.shadow)
    if any(each is not None for each in behind):
        raise InputError(
            "contributors of joined codes may be the same, which the table does not say",
            remedy="Recode the records, as option of their tabulation.",
            options=["recode"],
        )
    if table.columns or table.structural is not None:
        names = ", ".join(table.columns) or "structural zeros"
        raise InputError(
            f"what the columns say of single cells does not hold for joined ones ({names})",
            remedy="Leave the columns out, or recode the records.",
            options=["recode"],
        )
    refuse_open_totals(table)
    dimensions = _make_dimensions(table, recoded)
    free = np.flatnonzero(~table.structure.is_total)
    moved = np.column_stack(
        [
            _find_new(old, new, each)[table.structure.codes[free, d]]
            for d, ((old, new), each) in enumerate(
                zip(zip(table.structure.dimensions, dimensions, strict=True), recoded, strict=True)
            )
        ]
    )
    stays = (moved >= 0).all(axis=1)
    if not stays.any():
        fault = "the recoding leaves all cells out"
        raise InputError(fault, remedy="Keep a code.", options=["recode"])
    codes: Codes = moved[stays].astype(np.int32)
    keys, inverse = np.unique(make_keys(dimensions, codes), return_inverse=True)
    first = np.zeros(keys.size, dtype=np.int64)
    first[inverse[::-1]] = np.arange(inverse.size)[::-1]
    rolled = roll_up(dimensions, codes[first])

    def add(column: NDArray[np.int64]) -> NDArray[np.int64]:
        joined = np.zeros(keys.size, dtype=np.int64)
        np.add.at(joined, inverse, column[free][stays])
        return rolled.add(joined)

    return build_from_cells(
        dimensions,
        rolled.codes,
        add(table.units),
        table.decimals,
        name=table.structure.parts[0].name if table.structure.parts else "table",
        integer=table.integer,
        count=None if table.count is None else add(table.count),
        value_name=table.value_name,
        notes=table.notes,
        warnings=table.warnings,
    )


def _find_new(old: Dimension, new: Dimension, recoded: Recoded | None) -> NDArray[np.int64]:
    """Return the representative code of a recoded dimension for each of the old one; -1: left out."""
    found = np.full(len(old.codes), -1, dtype=np.int64)
    for position, code in enumerate(old.codes):
        becomes = code if recoded is None else recoded.codes.get(code, code)
        # The finest code of a chain has the last word.
        place = -1 if becomes is None else int(new.representative[new.position[becomes]])
        found[old.representative[position]] = place
    return found[old.representative]
