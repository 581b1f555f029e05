"""The windows of releases on the cells of a table, in the table's units.

Several releases of one table, or of tables that share cells with it, are one release to a reader: what is
left of a cell is the intersection of its windows,

    max over releases of window low  <=  y  <=  min over releases of window high.

A release of another table counts where the two share cells. These are matched by the names of dimensions and
the texts of codes; a dimension that one of the two lacks is at its total there. What a release says of cells
that the table does not have is left out, and :func:`count_unshared_cells` counts it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tacita.core import exact
from tacita.core.errors import ReleaseError
from tacita.core.exact import UNBOUNDED, Cells, Units
from tacita.core.release import Release
from tacita.core.tables.dimension import TOTAL_WORDS, Codes, Dimension
from tacita.core.tables.structure import Structure
from tacita.core.tables.table import Table
from tacita.core.words import pluralize

Windows = tuple[Units, Units]
"""The lower and the upper end for each cell of a table, in its units."""


def find_windows(table: Table, release: Release) -> Windows:
    """Return the windows of a release of this very table: lower and upper ends per cell, in units.

    Ends that are finer than the table's last place are rounded inwards, which favours the attacker.
    """
    refuse_other_cells(table, release)
    return _to_units_of(table, release)


def refuse_other_cells(table: Table, release: Release) -> None:
    """Raise a ReleaseError unless a release is of the cells of this table, in their order."""
    if len(release) != len(table):
        raise ReleaseError(
            f"the release has {pluralize(len(release), 'cell')}, the table {len(table):,}: they do not "
            "belong together"
        )
    if not release.structure.same_cells(table.structure):
        raise ReleaseError(
            "the release lists other cells than the table, or in another order: they do not belong together",
            remedy="Make the release from this table, or read its file with this table.",
        )


def find_shared_windows(table: Table, release: Release) -> Windows:
    """Return a release's windows on the cells that a table shares with it, unbounded elsewhere, in units.

    Raises
    ------
    ReleaseError
        The two have no cell in common.
    """
    if release.structure.same_cells(table.structure):
        return _to_units_of(table, release)
    place = match_cells(table.structure, release.structure)
    shared = place >= 0
    if not shared.any():
        raise ReleaseError(
            f"{name_release(release)} has no cell in common with the table: dimensions and codes are matched "
            "by their names, so give both the same ones"
        )
    own_low, own_high = _to_units_of(table, release)
    low = np.full(len(table), -UNBOUNDED, dtype=np.int64)
    high = np.full(len(table), UNBOUNDED, dtype=np.int64)
    np.maximum.at(low, place[shared], own_low[shared])
    np.minimum.at(high, place[shared], own_high[shared])
    return low, high


def intersect_windows(table: Table, releases: Sequence[Release]) -> Windows:
    """Return the windows that several releases together leave for each cell of a table, in units.

    Raises
    ------
    ReleaseError
        Two releases contradict each other, or one says something that is not true of the table; the message
        names the release and the cell.
    """
    each = [find_shared_windows(table, release) for release in releases]
    low = np.max([own for own, _ in each], axis=0, initial=-UNBOUNDED)
    high = np.min([own for _, own in each], axis=0, initial=UNBOUNDED)
    for k, (own_low, own_high) in enumerate(each):
        untrue = np.flatnonzero((own_low > table.units) | (own_high < table.units))
        if untrue.size:
            against = ", and contradicts the others there" if (low > high)[untrue].any() else ""
            raise ReleaseError(
                f"{name_release(releases[k], k, len(releases))} says something untrue about "
                f"{table.structure.names(untrue)} of this table{against}",
                remedy="check that it belongs to this table, that the table was not revised since, and that "
                "announced radii are as large as the changes",
            )
    return low, high


def name_release(release: Release, position: int = 0, how_many: int = 1) -> str:
    """Return what messages call a release: by its file, or by its position among several."""
    if file := release.made_by.get("file"):
        return f"the release {file}"
    return "the release" if how_many == 1 else f"release {position + 1} of {how_many}"


def count_unshared_cells(table: Table, release: Release) -> int:
    """Return how many cells of a release, or rows of the file it was read from, are none of the table's."""
    if release.structure.same_cells(table.structure):
        return int(release.made_by.get("left_out", 0))
    return int((match_cells(table.structure, release.structure) < 0).sum())


def note_unshared(table: Table, releases: Sequence[Release]) -> Iterator[str]:
    """Yield a note on each earlier release that lists cells which the table does not have."""
    for k, release in enumerate(releases):
        if unshared := count_unshared_cells(table, release):
            yield (
                f"{name_release(release, k, len(releases))} published earlier: {unshared:,} of its "
                f"{pluralize(int(release.made_by.get('rows', len(release))), 'cell')} are none of this "
                "table, and what it says of them is left out; where the two tables are linked by sums, "
                "protect them together as linked tables: [tables.NAME] in one project, or tc.link"
            )


def have_same_windows(table: Table, one: Release, other: Release) -> bool:
    """Return whether two releases have the same windows on all cells of this table."""
    pairs = zip(find_shared_windows(table, one), find_shared_windows(table, other), strict=True)
    return all(np.array_equal(*pair) for pair in pairs)


def match_cells(structure: Structure, other: Structure) -> Cells:
    """Return for each cell of ``other`` the same cell's position in ``structure``; -1 where there is none."""
    if structure.labels or other.labels:
        position = {label: k for k, label in enumerate(structure.labels)}
        return np.array([position.get(label, -1) for label in _labels(other)], dtype=np.int64)
    theirs = {dimension.name: d for d, dimension in enumerate(other.dimensions)}
    codes = np.empty((len(other), len(structure.dimensions)), dtype=np.int32)
    for d, dimension in enumerate(structure.dimensions):
        if dimension.name in theirs:
            at = theirs.pop(dimension.name)
            codes[:, d] = _recode(dimension, other.dimensions[at])[other.codes[:, at]]
        else:
            codes[:, d] = dimension.representative[dimension.index(dimension.total)]
    listed = np.asarray((codes >= 0).all(axis=1), dtype=bool)
    for further in theirs.values():
        dimension = other.dimensions[further]
        listed &= other.codes[:, further] == dimension.representative[dimension.index(dimension.total)]
    found = np.full(len(other), -1, dtype=np.int64)
    found[listed] = structure.locate(codes[listed])
    return found


def _labels(structure: Structure) -> Sequence[str]:
    return structure.labels or [""] * len(structure)


def _recode(dimension: Dimension, other: Dimension) -> Codes:
    """Return the position in ``dimension`` of each code of ``other``, -1 where it has none.

    Codes are the same by their text, also of a code that stands for the same cells; totals also by two usual
    names.
    """
    found = np.full(len(other.codes), -1, dtype=np.int32)
    for code, text in reversed(list(enumerate(other.codes))):
        if text in dimension.position:
            found[other.representative[code]] = dimension.representative[dimension.position[text]]
    total = other.representative[other.index(other.total)]
    if found[total] < 0 and {other.total.lower(), dimension.total.lower()} <= TOTAL_WORDS:
        found[total] = dimension.representative[dimension.index(dimension.total)]
    return found


def _to_units_of(table: Table, release: Release) -> Windows:
    if release.decimals <= table.decimals:
        low, high = (
            exact.rescale(end, release.decimals, table.decimals) for end in (release.low, release.high)
        )
        return low, high
    factor = 10 ** (release.decimals - table.decimals)
    low = np.where(release.low <= -UNBOUNDED, -UNBOUNDED, -(-release.low // factor))
    return low, np.where(release.high >= UNBOUNDED, UNBOUNDED, release.high // factor)
