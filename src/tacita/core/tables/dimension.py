"""A spanning variable and the code trees over it.

One variable may carry several trees, nested in each other or not: regions by administration and regions by
travel area. A code that two trees share is one code. A node with a single child and that child are one code
too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacita.core.errors import HierarchyError, and_others, did_you_mean
from tacita.core.exact import Cells, freeze
from tacita.core.hierarchy import Hierarchy

Codes = NDArray[np.int32]

TOTAL_CODES = ("Total", "TOTAL", "total", "T", "_T", "Sum", "Ensemble", "ALL")
# Words in any case; letters such as T are codes of parts too often for that.
TOTAL_WORDS = frozenset([
    "total", "totals", "grand total", "sum", "all", "overall", "insgesamt", "gesamt", "summe", "totaal",
    "totale", "totaux", "ensemble", "i alt", "ialt", "totalt", "yhteensä", "ogółem", "razem", "celkem",
    "összesen", "ukupno", "skupaj",
])  # fmt: skip


@dataclass(frozen=True, eq=False)
class Dimension:
    """A spanning variable: a name and the trees over its codes (one or several, nested in each other or not).

    ``codes`` lists each code of any tree once. ``representative[c]`` is the code that stands for ``c``:
    nodes with one child and that child are the same.
    """

    name: str
    trees: tuple[Hierarchy, ...]

    @cached_property
    def codes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(code for tree in self.trees for code in tree.codes))

    @cached_property
    def position(self) -> Mapping[str, int]:
        return {code: i for i, code in enumerate(self.codes)}

    @property
    def total(self) -> str:
        """The code of the total: the root of the first tree."""
        return self.trees[0].total

    @property
    def is_flat(self) -> bool:
        """Whether all codes but the total are parts of it directly, in the only classification."""
        return len(self.trees) == 1 and not bool((self.trees[0].parents > 0).any())

    @cached_property
    def representative(self) -> Codes:
        stands_for = np.arange(len(self.codes), dtype=np.int32)
        for tree in self.trees:
            own = np.array([self.position[code] for code in tree.codes], dtype=np.int32)
            for node, same in enumerate(tree.same_cell):
                here, there = _root(stands_for, own[node]), _root(stands_for, own[same])
                stands_for[max(here, there)] = min(here, there)
        return freeze(np.array([_root(stands_for, c) for c in range(stands_for.size)], dtype=np.int32))

    @cached_property
    def parents(self) -> tuple[Codes, ...]:
        """Per tree: the parent of each representative code, -1 where it has none in that tree."""
        result = []
        for tree in self.trees:
            parent = np.full(len(self.codes), -1, dtype=np.int32)
            own = self.representative[[self.position[code] for code in tree.codes]]
            for node, above in enumerate(tree.parents):
                if above >= 0 and own[node] != own[above]:
                    parent[own[node]] = own[above]
            result.append(freeze(parent))
        return tuple(result)

    @cached_property
    def ancestors(self) -> tuple[Cells, Codes]:
        """Each code with all its ancestors in any tree, itself first, as ``(starts, codes)``."""
        lists: list[list[int]] = []
        for code in range(len(self.codes)):
            above = dict.fromkeys([int(self.representative[code])])
            queue = list(above)
            while queue:
                here = queue.pop()
                for parent in self.parents:
                    there = int(parent[here])
                    if there >= 0 and there not in above:
                        above[there] = None
                        queue.append(there)
            lists.append(list(above))
        starts = np.concatenate([[0], np.cumsum([len(above) for above in lists])]).astype(np.int64)
        return freeze(starts), freeze(np.array([c for above in lists for c in above], dtype=np.int32))

    @cached_property
    def is_leaf(self) -> NDArray[np.bool_]:
        """A mask of the representative codes with no child in any tree."""
        leaf = self.representative == np.arange(len(self.codes))
        for parent in self.parents:
            leaf[parent[parent >= 0]] = False
        return freeze(leaf)

    def index(self, code: str) -> int:
        """Return the position of a code of the dimension; refuse unknown codes with the nearest known one."""
        try:
            return self.position[code]
        except KeyError:
            raise HierarchyError(
                f"code {code!r}{did_you_mean(code, self.codes)} is not in the classification of "
                f"'{self.name}'",
                remedy="Add it to the hierarchy or correct the data.",
            ) from None

    def label(self, code: str) -> str:
        """Return the label of a code in the first tree that has one for it, or an empty text."""
        return next((tree.labels[code] for tree in self.trees if code in tree.labels), "")

    def check(self) -> None:
        """Refuse a dimension whose trees use one code for different sets of finest codes."""
        finest: dict[str, frozenset[str]] = {}

        def below(code: str) -> frozenset[str]:
            if code not in finest:
                sets = {
                    frozenset().union(*(below(child) for child in tree.children(code)))
                    for tree in self.trees
                    if code in tree and tree.children(code)
                }
                if len(sets) > 1:
                    raise HierarchyError(
                        f"code {code!r} stands for different leaves in two of its trees",
                        remedy="Rename it in one of them.",
                        place=f"'{self.name}'",
                    )
                finest[code] = sets.pop() if sets else frozenset([code])
            return finest[code]

        if len(self.trees) > 1:
            for code in reversed(self.codes):
                below(code)


def _root(stands_for: Codes, code: int) -> int:
    while stands_for[code] != code:
        code = int(stands_for[code])
    return int(code)


def recognise_total(codes: Sequence[str]) -> str | None:
    """Return the code with a usual name of a total, or None; in any case of letters if only one code has."""
    exactly = next((code for code in TOTAL_CODES if code in codes), None)
    if exactly is not None:
        return exactly
    alike = [code for code in codes if code.strip().casefold() in TOTAL_WORDS]
    return alike[0] if len(alike) == 1 else None


def recognise_total_for(codes: Sequence[str], dimension: Dimension) -> str | None:
    """Return the one code unknown to a dimension if it is a usual total and the own total is missing."""
    unknown = [code for code in codes if code not in dimension.position]
    if len(unknown) != 1 or dimension.total in codes:
        return None
    return recognise_total(unknown)


def find_blanks_in_codes(dimensions: Iterable[Dimension]) -> tuple[str, ...]:
    """Return a warning for each dimension of a table with codes that begin or end with blanks.

    Such a code looks like another one and is a cell of its own.
    """
    found = []
    for dimension in dimensions:
        blank = [code for code in dimension.codes if code != code.strip()]
        if blank:
            twin = blank[0].strip() in dimension.position
            other = f", and is another code than '{blank[0].strip()}'" if twin else ""
            found.append(
                f"code '{blank[0]}' of '{dimension.name}' has blanks at its ends{other}"
                f"{and_others(len(blank), 'code')}: take them off, unless they are meant"
            )
    return tuple(found)
