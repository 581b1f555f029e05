"""Write exact numbers as text, many at a time."""

from __future__ import annotations

import numpy as np

from tacita.core import exact
from tacita.core.exact import UNBOUNDED, Mask, Units


def format_numbers(units: Units, decimals: int, blank: Mask | None = None) -> list[str]:
    """Return exact numbers in units as decimal texts for files; empty where ``blank`` or infinite."""
    if decimals == 0:
        texts = list(map(str, units.tolist()))
    else:
        distinct, where = np.unique(units, return_inverse=True)
        listed = exact.to_texts(distinct, decimals)
        texts = [listed[k] for k in where.tolist()]
    silent = np.abs(units) >= UNBOUNDED
    if blank is not None:
        silent |= blank
    for k in np.flatnonzero(silent).tolist():
        texts[k] = ""
    return texts
