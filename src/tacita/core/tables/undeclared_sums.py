"""Sums in a table that no classification declares.

A table with rows N1, N2, North, S1, S2, South and no hierarchy is taken for six separate parts. Readers see
that North is the sum of N1 and N2, and what the table's equations call safe is not. So codes whose numbers
are sums of other codes' numbers are searched for, one dimension at a time, in every combination of the others
(see :mod:`tacita.core.tables.sum_search`), where a dimension has no classification or only one level of it.

A dimension whose given total is the sum of all its codes has none: its codes are parts. Sums that are likely
to be chance are left alone. Evidence of :data:`CERTAIN` bits or more, all sums of a dimension together, is
taken for sure (one table in a thousand by chance); from :data:`LIKELY` on it gets a warning.

A code that is the sum of all others, without being the total, is refused in the same way. So are codes that
follow from others by another formula, such as a mean (see :mod:`tacita.core.tables.undeclared_formulas`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from tacita.core.errors import InputError, UndeclaredSumsError
from tacita.core.exact import Mask, Units
from tacita.core.hierarchy import Hierarchy
from tacita.core.tables.code_matrix import CodeMatrix, lay_out
from tacita.core.tables.dimension import Codes, Dimension
from tacita.core.tables.read_options import UndeclaredSums
from tacita.core.tables.sum_search import Sum, search_other_sums, search_sums
from tacita.core.tables.table import Table
from tacita.core.tables.undeclared_formulas import REMEDY as FORMULAS_REMEDY
from tacita.core.tables.undeclared_formulas import FoundFormulas, describe_formulas, find_formulas
from tacita.core.words import pluralize

CERTAIN, LIKELY = 10.0, 4.0
"""Evidence in bits from which sums are refused, and from which they get a warning."""
REMEDY = "use the classification that was found, or give another, since readers see the sums too"
CHANCE = "if the numbers match by chance, say that undeclared sums are to be ignored"
MOST_SHOWN = 6


@dataclass(frozen=True)
class Found:
    """The classification that is to be found in the numbers, with the code of its total if it is given."""

    total: str | None = None


@dataclass(frozen=True)
class FoundSums:
    """Sums among the codes of one dimension.

    Attributes
    ----------
    sums
        Each code that is a sum, with its parts.
    others
        Sums over the same parts in another way, which make a second classification.
    evidence
        How unlikely it is that they hold by chance, in bits.
    columns
        In how many combinations of the other dimensions' codes they hold: in all that there are.
    """

    dimension: str
    codes: tuple[str, ...]
    total: str
    total_is_given: bool
    sums: Mapping[str, tuple[str, ...]]
    others: Mapping[str, tuple[str, ...]]
    evidence: float
    columns: int

    @cached_property
    def trees(self) -> tuple[Hierarchy, ...]:
        """The classification that the undeclared sums make; two if parts are added up in two ways."""
        first = self._tree(self.sums, [code for code in self.codes if code not in self.others])
        if not self.others:
            return (first,)
        within = {part for parts in self.sums.values() for part in parts}
        leaves = [code for code in self.codes if code in within and code not in self.sums]
        alone = [code for code in self.codes if code not in (*within, *self.sums, *self.others)]
        return first, self._tree(self.others, [*self.others, *leaves, *alone])

    def _tree(self, sums: Mapping[str, tuple[str, ...]], codes: Sequence[str]) -> Hierarchy:
        above = {part: code for code, parts in sums.items() for part in parts}
        tops = [code for code in codes if code not in above]
        total = self.total
        if len(tops) == 1 and not self.total_is_given and tops[0] in sums:
            total, tops = tops[0], list(sums[tops[0]])
        order, parents = [total], [-1]
        waiting = [(code, 0) for code in reversed(tops)]
        while waiting:
            code, parent = waiting.pop()
            order.append(code)
            parents.append(parent)
            waiting += [(part, len(order) - 1) for part in reversed(sums.get(code, ()))]
        return Hierarchy(tuple(order), np.array(parents, dtype=np.int32))

    @property
    def certain(self) -> bool:
        return self.evidence >= CERTAIN

    @property
    def equations(self) -> list[tuple[str, tuple[str, ...]]]:
        """Each code of the dimension that is a sum, in any classification, with its parts."""
        return [*self.sums.items(), *self.others.items()]

    def __str__(self) -> str:
        """Return the sums as text: ``North = N1 + N2, South = S1 + S2``."""
        every = self.equations
        shown = [f"{code} = {_join_parts(parts)}" for code, parts in every[:MOST_SHOWN]]
        more = [f"and {pluralize(len(every) - MOST_SHOWN, 'more sum')}"] if len(every) > MOST_SHOWN else []
        return ", ".join([*shown, *more])


def find_sums(table: Table) -> dict[str, FoundSums]:
    """Return the sums among codes of a table that its classifications do not declare, by dimension.

    ``found[name].trees`` is the classification that they make, ready for :meth:`Table.from_frame`.

    Examples
    --------
    >>> import numpy as np
    >>> leaves = np.array([[31, 7, 12], [5, 22, 9], [18, 40, 3], [26, 11, 35]])
    >>> rows = np.vstack([leaves[:2], leaves[:2].sum(axis=0), leaves[2:], leaves[2:].sum(axis=0)])
    >>> codes = [["N1", "N2", "North", "S1", "S2", "South"], ["a", "b", "c"]]
    >>> table = Table.from_array(rows, names=["region", "size"], codes=codes)
    >>> print(find_sums(table)["region"])
    North = N1 + N2, South = S1 + S2
    """
    structure = table.structure
    if structure.labels:
        return {}
    # The totals of a finished table were computed or checked: that they are sums is no evidence.
    inner = np.ones(len(table), dtype=bool)
    for k, dimension in enumerate(structure.dimensions):
        if dimension.is_flat:
            inner &= structure.codes[:, k] != dimension.index(dimension.total)
    codes, units = structure.codes[inner], table.units[inner]
    missing = np.zeros(units.size, dtype=bool)
    return {
        found.dimension: found
        for k in range(len(structure.dimensions))
        if (found := search_dimension(structure.dimensions, k, codes, units, missing)) is not None
    }


def search_dimension(
    dimensions: Sequence[Dimension], k: int, shown: Codes, units: Units, missing: Mask
) -> FoundSums | None:
    """Return the undeclared sums among the codes of one dimension, or None if none are likely.

    Parameters
    ----------
    shown, units, missing
        Codes, value and whether it is missing, of each cell that is listed.
    """
    matrix = lay_out(dimensions, k, shown, units, missing)
    return None if matrix is None else _search_matrix(matrix)


def _search_matrix(matrix: CodeMatrix) -> FoundSums | None:
    """Return the undeclared sums among the codes of one dimension of a table, or None if none are likely."""
    dimension, rows = matrix.dimension, matrix.rows
    if not dimension.is_flat or rows.size < 3:
        return None
    codes = [dimension.codes[row] for row in rows.tolist()]

    def related(above: int, part: int) -> bool:
        return bool(codes[part].startswith(codes[above]))

    own, independent = matrix.values[rows], matrix.independent
    sums = search_sums(own, independent, related)
    if not sums:
        return None
    sums, seconds = _nest_sums(sums, _search_second_classification(own, independent, related, sums))
    evidence = sum(each.evidence for each in (*sums, *seconds))
    if evidence < LIKELY:
        return None

    def named(found: Sequence[Sum]) -> dict[str, tuple[str, ...]]:
        return {codes[each.total]: tuple(codes[part] for part in each.parts) for each in found}

    return FoundSums(
        dimension.name,
        tuple(codes),
        dimension.total,
        matrix.total_is_given,
        named(sums),
        named(seconds),
        evidence,
        int(matrix.complete.sum()),
    )


def describe_sums(found: FoundSums) -> str:
    """Return what an error or warning says of undeclared sums among codes of a table."""
    sure = "has" if found.certain else "may have"
    where = f", in all {pluralize(found.columns, 'column')}" if found.columns > 1 else ""
    return f"'{found.dimension}' {sure} subtotals that no classification declares{where}: {found}"


def refuse_undeclared_sums(
    dimensions: Sequence[Dimension],
    shown: Codes,
    units: Units,
    missing: Mask,
    searched: Sequence[str],
    how: UndeclaredSums,
    *,
    decimals: int,
    parts: bool = False,
) -> tuple[str, ...]:
    """Refuse codes of a table that are undeclared sums or follow from others, or return warnings of them.

    Parameters
    ----------
    searched
        Names of the dimensions that are searched.
    how
        ``"refuse"`` refuses what is certain and warns of what is likely, ``"warn"`` warns of both,
        ``"ignore"`` does neither.
    parts
        Whether all codes are declared to be parts: then only other formulas than sums are searched for.
    """
    if how == "ignore":
        return ()
    sums: list[FoundSums] = []
    formulas: list[FoundFormulas] = []
    for k, dimension in enumerate(dimensions):
        matrix = lay_out(dimensions, k, shown, units, missing) if dimension.name in searched else None
        if matrix is None:
            continue
        found = None if parts else _search_matrix(matrix)
        known = {} if found is None else dict(found.equations)
        following = find_formulas(matrix, 10**decimals, known, LIKELY)
        sums += [found] if found is not None else []
        formulas += [following] if following is not None else []
    certain = [found for found in sums if found.certain]
    following_surely = [found for found in formulas if found.evidence >= CERTAIN]
    if how == "refuse" and (certain or following_surely):
        facts = [
            *map(describe_sums, certain),
            *(describe_formulas(found, True) for found in following_surely),
        ]
        remedies = [*([REMEDY] if certain else []), *([FORMULAS_REMEDY] if following_surely else [])]
        raise UndeclaredSumsError(
            ". ".join([facts[0], *map(_capitalise, facts[1:])]),
            tuple(found.dimension for found in certain),
            remedy=" ".join(f"{_capitalise(remedy)}." for remedy in (*remedies, CHANCE)),
            options=[
                *(f"hierarchy={found.dimension}=found" for found in certain),
                "undeclared_sums=ignore",
            ],
        )
    return (
        *(f"{describe_sums(found)}: {REMEDY}; {CHANCE}" for found in sums),
        *(
            f"{describe_formulas(each, each.evidence >= CERTAIN)}: {FORMULAS_REMEDY}; {CHANCE}"
            for each in formulas
        ),
    )


def refuse_disguised_totals(
    dimensions: Sequence[Dimension], shown: Codes, units: Units, missing: Mask, flat: Sequence[str]
) -> None:
    """Refuse an undeclared total: a code ``c`` with ``a(c, r) = sum of a(d, r) over d != c`` for all ``r``.

    ``r`` runs over the combinations of the other dimensions, without those that have missing values.

    Parameters
    ----------
    flat
        Names of the dimensions whose codes are taken for parts of one total, for want of a classification.
    """
    for k, dimension in enumerate(dimensions):
        used = np.unique(shown[:, k])
        if dimension.name not in flat or used.size < 3 or dimension.index(dimension.total) in used:
            continue
        others = np.delete(shown, k, axis=1)
        _, group = np.unique(others, axis=0, return_inverse=True)
        group = group.ravel()
        sums = np.zeros(int(group.max()) + 1, dtype=np.int64)
        np.add.at(sums, group, units)
        complete = np.ones(sums.size, dtype=bool)
        complete[group[missing]] = False
        balanced = units == sums[group] - units
        n = len(dimension.codes)
        wrong = np.bincount(shown[complete[group] & ~balanced, k], minlength=n)
        hits = np.bincount(shown[complete[group] & balanced & (sums[group] != 0), k], minlength=n)
        needed = int((complete & (sums != 0)).sum())
        if needed and (found := np.flatnonzero((wrong == 0) & (hits == needed))).size:
            code, name = dimension.codes[found[0]], dimension.name
            raise InputError(
                f"code '{code}' of '{name}' is the sum of all others",
                remedy=f"name it as the code of the total of '{name}', or have all totals computed if it is "
                "a part like them",
                options=[f"total={name}={code}", "totals=compute"],
            )


@dataclass(frozen=True)
class Classified:
    """Classifications that were found, by dimension, and notes on them."""

    specs: Mapping[str, tuple[Hierarchy, ...]]
    notes: tuple[str, ...]


def classify(
    dimensions: Sequence[Dimension], shown: Codes, units: Units, missing: Mask, wanted: Sequence[str]
) -> Classified:
    """Return the classifications that sums among a table's codes make, by dimension; refuse those without."""
    every = {}
    for k, dimension in enumerate(dimensions):
        if dimension.name not in wanted:
            continue
        found = search_dimension(dimensions, k, shown, units, missing)
        if found is None:
            raise InputError(
                f"no code of '{dimension.name}' is the sum of others in every column: there is no "
                "classification to be found",
                remedy="Give one, or none.",
            )
        every[dimension.name] = found
    return Classified(
        {name: found.trees for name, found in every.items()},
        tuple(f"classification of '{name}' found: {found}" for name, found in every.items()),
    )


def _nest_sums(sums: Sequence[Sum], others: Sequence[Sum]) -> tuple[list[Sum], list[Sum]]:
    """Return sums with those of the others among them that add up some parts of a single one, and the rest.

    ``Q = a + b + c`` and ``P = a + b`` are one classification, ``Q = P + c`` and ``P = a + b``. So are these
    with ``R = b + d`` in the place of ``b`` and ``d`` in one of them only.
    """
    nested, apart = list(sums), list[Sum]()
    for other in sorted(others, key=lambda each: -len(each.parts)):
        part = _add_up_parts(other, nested)
        above = next((k for k, each in enumerate(nested) if set(part.parts) < set(each.parts)), None)
        if above is None:
            apart.append(other)
            continue
        whole = nested[above]
        left = tuple(code for code in whole.parts if code not in part.parts)
        nested[above] = replace(whole, parts=(part.total, *left))
        nested.insert(above, part)
    return nested, apart


def _add_up_parts(one: Sum, sums: Sequence[Sum]) -> Sum:
    """Return a sum with the totals of other sums in the place of all their parts, if it has these."""
    parts = one.parts
    for each in sorted(sums, key=lambda each: len(each.parts)):
        if set(each.parts) < set(parts):
            parts = (each.total, *(code for code in parts if code not in each.parts))
    return replace(one, parts=parts)


def _search_second_classification(
    own: sp.csr_matrix, independent: Mask, related: Callable[[int, int], bool], sums: Sequence[Sum]
) -> list[Sum]:
    """Return sums for a second classification: their parts are in a sum already, their totals in none."""
    within = {part for each in sums for part in each.parts}
    totals = {each.total for each in sums}
    leaves = [row for row in range(own.shape[0]) if row in within and row not in totals]
    alone = [row for row in range(own.shape[0]) if row not in within and row not in totals]
    if not alone or len(leaves) < 2:
        return []
    return search_other_sums(own, independent, related, alone, leaves)


def _capitalise(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _join_parts(parts: Sequence[str]) -> str:
    shown = " + ".join(parts[:MOST_SHOWN])
    return f"{shown} + .. ({pluralize(len(parts), 'code')})" if len(parts) > MOST_SHOWN else shown
