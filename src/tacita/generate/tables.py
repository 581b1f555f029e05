"""Random tables and problems: seeded, calibrated, for tests and for trying things out.

The same seed gives the same data on any machine: everything is drawn from numpy's ``Generator(PCG64(seed))``
and rounded to integer units. :data:`FAMILIES` describes the tables; none of it is real.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tacita.core.errors import InputError
from tacita.core.exact import Cells, Mask, ceil_units
from tacita.core.levels import Levels, Reason
from tacita.core.tables.build import build_table
from tacita.core.tables.dimension import Codes, Dimension
from tacita.core.tables.table import Table
from tacita.core.words import pluralize
from tacita.generate.families import Family, find_family
from tacita.generate.trees import draw_tree

if TYPE_CHECKING:
    from tacita.problem.problem import Problem

NAMES = ("region", "industry", "size", "legal form", "year")
PATTERNS = ("uniform", "clustered", "smallest")


def table(
    shape: Sequence[int] = (20, 20),
    family: str = "uniform",
    *,
    kind: str | None = None,
    between: tuple[int, int] | None = None,
    zeros: float | None = None,
    hierarchy: Sequence[int] | None = None,
    seed: int = 0,
) -> Table:
    """Return a random table with all its totals.

    Parameters
    ----------
    shape
        Leaf codes per dimension, one to five dimensions.
    family
        One of :data:`FAMILIES`.
    kind
        ``"counts"`` or ``"magnitudes"``, whether everyone knows that cells are integers. Default: as
        the family is.
    between
        Least and largest value of leaf cells, for the family ``uniform``. Default: 1 and 999.
    zeros
        Share of empty leaf cells, which are not listed. Default: as in the family. (Values that are drawn as
        0 are listed.)
    hierarchy
        Levels of codes below the total per dimension; 1, the default, is flat.
    seed
        Same seed, same table.
    """
    chosen = find_family(family, between)
    random = np.random.default_rng(seed)
    dimensions = _draw_dimensions(shape, hierarchy, random)
    empty = chosen.empty if zeros is None else zeros
    cells = _draw_filled_cells(random, shape, empty)
    leaves = [np.array([d.position[leaf] for leaf in d.trees[0].leaves], dtype=np.int32) for d in dimensions]
    codes = np.column_stack(
        [leaf[i] for leaf, i in zip(leaves, np.unravel_index(cells, tuple(shape)), strict=True)]
    )
    return build_table(
        dimensions,
        codes,
        chosen.draw(random, cells.size),
        chosen.decimals,
        compute_totals=True,
        integer=_are_counts(chosen, kind),
        value_name="count" if chosen.counts else "value",
    )


def problem(
    shape: Sequence[int] = (20, 20),
    family: str = "fs",
    *,
    sensitive: float | int | None = None,
    pattern: str | None = None,
    protection: float | None = None,
    cost: str = "value",
    kind: str | None = None,
    between: tuple[int, int] | None = None,
    zeros: float | None = None,
    hierarchy: Sequence[int] | None = None,
    seed: int = 0,
) -> Problem:
    """Return a random problem: a table with sensitive leaf cells, against an outsider.

    Parameters
    ----------
    sensitive
        How many leaf cells (an integer) or which share of the positive ones (a fraction). Default: as in
        the family.
    pattern
        ``uniform``; ``clustered``, around a few centres, as small industries of one region are; ``smallest``,
        the smallest values. Default: as in the family.
    protection
        Level in percent of the value, the same up and (as far as the value reaches) down, at least one unit
        up. Default: as in the family.
    kind, between, zeros, hierarchy, seed
        As for :func:`table`.
    """
    from tacita.problem.problem import Problem

    chosen = find_family(family)
    made = table(shape, family, kind=kind, between=between, zeros=zeros, hierarchy=hierarchy, seed=seed)
    # A second stream, so that the table of a problem is the table of the same seed.
    random = np.random.default_rng([seed, 1])
    marked = _draw_sensitive_cells(made, chosen, sensitive, pattern or chosen.pattern, random)
    percent = chosen.protection if protection is None else protection
    level = np.maximum(ceil_units(made.units * (percent / 100.0), 0, made.unit), made.unit)
    reason = Reason(
        "generated",
        np.flatnonzero(marked),
        lambda _: f"drawn at random, {percent:g} % of its value",
        # Without a percentage the level is one unit, whatever the value.
        percent=(percent, percent) if percent > 0 else None,
    )
    levels = Levels.of(
        marked, upper=level, lower=np.minimum(level, made.units), reasons=(reason,), least=made.unit
    )
    return Problem(made, levels, cost=cost)


def _draw_dimensions(
    shape: Sequence[int], depths: Sequence[int] | None, random: np.random.Generator
) -> tuple[Dimension, ...]:
    if not 1 <= len(shape) <= len(NAMES) or min(shape) < 1:
        raise InputError(
            f"a shape of {_join_numbers(shape)} codes cannot be made",
            remedy=f"give one to {len(NAMES)} dimensions of at least one code each",
        )
    depths = [1] * len(shape) if depths is None else list(depths)
    if len(depths) != len(shape) or min(depths) < 1:
        raise InputError(
            f"hierarchies of {_join_numbers(depths)} levels cannot be made",
            remedy=f"give at least 1 level per dimension, {pluralize(len(shape), 'number')} in all",
        )
    return tuple(
        Dimension(name, (draw_tree(leaves, depth, random),))
        for name, leaves, depth in zip(NAMES, shape, depths, strict=False)
    )


def _join_numbers(numbers: Sequence[int]) -> str:
    return " by ".join(map(str, numbers)) or "no"


def _draw_filled_cells(random: np.random.Generator, shape: Sequence[int], empty: float) -> Cells:
    """Return the positions of random leaf cells that are not empty, in order; at least one."""
    if not 0.0 <= empty < 1.0:
        remedy = "give one from 0 up to but not including 1"
        raise InputError(f"the share of zeros is {empty:g}", remedy=remedy)
    size = int(np.prod(shape, dtype=np.int64))
    if empty == 0.0:
        return np.arange(size)
    wanted = max(1, round(size * (1.0 - empty)))
    return np.sort(random.choice(size, wanted, replace=False, shuffle=False))


def _are_counts(family: Family, kind: str | None) -> bool:
    if kind not in (None, "counts", "magnitudes"):
        raise InputError(f"there is no kind '{kind}'", remedy="choose 'counts' or 'magnitudes'")
    if kind == "counts" and family.decimals:
        raise InputError(
            f"this family has {pluralize(family.decimals, 'decimal')}", remedy="choose another one for counts"
        )
    return family.counts if kind is None else kind == "counts"


def _draw_sensitive_cells(
    made: Table, family: Family, wanted: float | int | None, pattern: str, random: np.random.Generator
) -> Mask:
    """Return a mask of the leaf cells of a random table that are drawn as sensitive."""
    if pattern not in PATTERNS:
        raise InputError(f"there is no pattern '{pattern}'", remedy=f"choose one of {', '.join(PATTERNS)}")
    marked = np.zeros(len(made), dtype=bool)
    candidates = np.flatnonzero(~made.structure.is_total & (made.units > 0))
    share = family.sensitive if wanted is None else wanted
    if isinstance(share, tuple):
        low, high = share
        values = made.units[candidates] // 10**made.decimals
        marked[candidates[(values >= low) & (values <= high)]] = True
        return marked
    number = share if isinstance(share, int) else round(share * candidates.size)
    if not 0 <= number <= candidates.size:
        raise InputError(
            f"{pluralize(number, 'sensitive cell')} cannot be drawn: the table has "
            f"{pluralize(candidates.size, 'positive leaf cell')} to choose from"
        )
    if pattern == "uniform":
        order = random.permutation(candidates.size)
    elif pattern == "smallest":
        order = np.lexsort((random.permutation(candidates.size), made.units[candidates]))
    else:
        order = _order_by_centres(made.structure.codes[candidates], number, random)
    marked[candidates[order[:number]]] = True
    return marked


def _order_by_centres(codes: Codes, number: int, random: np.random.Generator) -> Cells:
    """Return cells in the order of their distance (steps in code order) to a few random centres."""
    centres = random.choice(codes.shape[0], min(max(1, number // 12), codes.shape[0]), replace=False)
    distance = np.full(codes.shape[0], np.iinfo(np.int64).max)
    for centre in centres:
        distance = np.minimum(distance, np.abs(codes.astype(np.int64) - codes[centre]).sum(axis=1))
    return np.lexsort((random.permutation(distance.size), distance))
