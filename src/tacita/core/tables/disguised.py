"""Totals by name, and totals in disguise.

A row that is the sum of all others is known to every reader as such. If the table takes it for one more part,
it misses an equation, and what it calls safe is not.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tacita.core.errors import InputError
from tacita.core.exact import Mask, Units
from tacita.core.tables.dimension import Codes, Dimension

TOTAL_CODES = ("Total", "TOTAL", "total", "T", "_T", "Sum", "Ensemble", "ALL")
# Words in any case; letters such as T are codes of parts too often for that.
TOTAL_WORDS = frozenset(
    [
        "total",
        "totals",
        "grand total",
        "sum",
        "all",
        "overall",
        "insgesamt",
        "gesamt",
        "summe",
        "totaal",
        "totale",
        "totaux",
        "ensemble",
        "i alt",
        "ialt",
        "totalt",
        "yhteensä",
        "ogółem",
        "razem",
        "celkem",
        "összesen",
        "ukupno",
        "skupaj",
    ]
)


def usual_total(codes: Sequence[str]) -> str | None:
    """The code that has the usual name of a total; in any case of letters if only one code has."""
    exactly = next((code for code in TOTAL_CODES if code in codes), None)
    if exactly is not None:
        return exactly
    alike = [code for code in codes if code.strip().casefold() in TOTAL_WORDS]
    return alike[0] if len(alike) == 1 else None


def usual_total_for(codes: Sequence[str], dimension: Dimension) -> str | None:
    """Return the one code that a dimension does not know, if it has the usual name of a total and the code of
    the dimension's own total is not there.
    """
    unknown = [code for code in codes if code not in dimension.position]
    if len(unknown) != 1 or dimension.total in codes:
        return None
    return usual_total(unknown)


def refuse_disguised_totals(
    dimensions: Sequence[Dimension], shown: Codes, units: Units, missing: Mask, flat: Sequence[str]
) -> None:
    """Refuse a code ``c`` with ``a(c, r) = sum of a(d, r) over all d != c`` for every ``r``.

    ``r`` runs over the combinations of the other dimensions; those with missing values say nothing.

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
        told = np.ones(sums.size, dtype=bool)
        told[group[missing]] = False
        balanced = units == sums[group] - units
        n = len(dimension.codes)
        wrong = np.bincount(shown[told[group] & ~balanced, k], minlength=n)
        hits = np.bincount(shown[told[group] & balanced & (sums[group] != 0), k], minlength=n)
        needed = int((told & (sums != 0)).sum())
        if needed and (found := np.flatnonzero((wrong == 0) & (hits == needed))).size:
            code, name = dimension.codes[found[0]], dimension.name
            raise InputError(
                f"code '{code}' of '{name}' is the sum of all others",
                remedy=f"name it as the code of the total of '{name}', or have all totals computed if it is "
                "a part like them",
                options=["total"],
            )
