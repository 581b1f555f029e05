"""A mixed-integer program as plain arrays, for whichever solver is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacita.core.exact import Floats, Mask

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, eq=False)
class Program:
    """``min cost x : row_lower <= rows x <= row_upper, lower <= x <= upper``, some variables whole."""

    cost: Floats
    lower: Floats
    upper: Floats
    whole: Mask
    rows: csr_array
    row_lower: Floats
    row_upper: Floats
