"""Contributors with a few leaf cells, by inclusion and exclusion.

The cells above all of some leaf cells ``S`` are the cells above one cell, their *join*: in each dimension the
lowest code above all their codes. (With several trees over one dimension there may be no lowest one.) So for
a contributor with leaf cells ``E`` and any cell ``A``

    [A is above some of E]          =  sum over S of  (-1)**(|S| + 1)                 [A is above join(S)]
    largest weight among E below A  =  sum over S of  (-1)**(|S| + 1) min weight in S [A is above join(S)]

where ``S`` runs over the subsets of ``E`` except the empty one. Where all his entries have one sign, what he
contributes to ``A`` is the largest in size of the sums over the ``S`` with ``A`` above ``join(S)``. Counts,
weights and candidates for the largest are therefore noted at the joins alone and rolled up once for all
contributors, however many cells lie above.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tacita.core.exact import Cells, Units
from tacita.core.tables.dimension import Codes, Dimension
from tacita.core.tables.rollup import key_stride
from tacita.tabulation.shares import Entries, codes_in


@dataclass(frozen=True, eq=False)
class Joined:
    """One subset for each of many contributors: the key of its join, and what is to be noted there.

    ``sign`` is ``(-1)**(|S| + 1)``; ``lightest`` and ``heaviest`` are the least and the largest weight in it.
    """

    sign: int
    keys: Cells
    own: Units
    lightest: Units
    heaviest: Units


def joins_exist(dimensions: Sequence[Dimension]) -> bool:
    """Whether any two cells have a join."""
    return all(len(dimension.trees) == 1 for dimension in dimensions)


def joins(dimensions: Sequence[Dimension], entries: Entries, rows: Cells) -> Iterator[Joined]:
    """The subsets of two or more of the entries ``rows[i]`` of contributor ``i``, who has ``rows.shape[1]``
    of them.
    """
    paths = [_paths(dimension) for dimension in dimensions]
    strides = [key_stride(dimensions, d) for d in range(len(dimensions))]
    codes: dict[int, list[Codes]] = {}
    noted: dict[int, tuple[Units, Units, Units]] = {}
    for subset in range(1, 2 ** rows.shape[1]):
        # A subset is a binary number: its last member, and the subset of the others.
        member = subset.bit_length() - 1
        others = subset - (1 << member)
        if not others:
            at = rows[:, member]
            codes[subset] = [codes_in(dimensions, d, entries.keys[at]) for d in range(len(dimensions))]
            noted[subset] = entries.own[at], entries.weight[at], entries.weight[at]
            continue
        last = 1 << member
        codes[subset] = [
            _join(path, one, other)
            for path, one, other in zip(paths, codes[others], codes[last], strict=True)
        ]
        own, light, heavy = noted[others]
        his, weight, _ = noted[last]
        noted[subset] = own + his, np.minimum(light, weight), np.maximum(heavy, weight)
        keys = np.zeros(len(rows), dtype=np.int64)
        for code, stride in zip(codes[subset], strides, strict=True):
            keys += code.astype(np.int64) * stride
        yield Joined(1 if subset.bit_count() % 2 else -1, keys, *noted[subset])


def _paths(dimension: Dimension) -> Codes:
    """Row ``l`` holds the ancestor of each code ``l`` steps below the root, or the code itself where it
    does not lie so deep.
    """
    starts, ancestors = dimension.ancestors
    depths = np.diff(starts)
    steps = np.arange(depths.max())[:, None]
    return np.asarray(ancestors[np.maximum(starts[1:] - 1 - steps, starts[:-1])])


def _join(paths: Codes, one: Codes, other: Codes) -> Codes:
    """The lowest code above two codes, for many pairs."""
    result = one.copy()
    differing = np.flatnonzero(one != other)
    one, other = one[differing], other[differing]
    common = paths[0][one]
    for path in paths[1:]:
        step = path[one]
        common = np.where(step == path[other], step, common)
    result[differing] = common
    return result
