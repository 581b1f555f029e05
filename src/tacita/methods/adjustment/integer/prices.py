"""What a change of one cell costs, for whole arrays and, compiled, for one cell at a time.

The loss of every norm but ``linf`` is a sum over cells. For ``linf`` each cell is asked to stay where it is,
``w |x - t|``, and not to exceed the largest weighted change that the task has anyway.
"""

from __future__ import annotations

from typing import Any

import numpy as np

L1, L2, HUBER, LINF = range(4)
CODES = {"l1": L1, "l2": L2, "huber": HUBER, "linf": LINF}
EXCESS = 1e3
"""Price of a weighted change beyond the largest, in parts of the weighted change itself."""


def price(norm: int, x: Any, target: Any, weight: Any, delta: float, largest: float) -> Any:
    """What it costs that cells change by ``x``, in values, where ``target`` would be the best.

    Branches depend on the norm alone, so that the same lines serve arrays and compiled loops.
    """
    change = np.abs(x)
    if norm == L1:
        return weight * change
    if norm == L2:
        return weight * change * change
    if norm == HUBER:
        return weight * change * change / (np.sqrt(delta * delta + change * change) + delta)
    return weight * np.abs(x - target) + EXCESS * np.maximum(weight * change - largest, 0.0)
