"""Suppression as a part of a mixture: a binary switch per cell that opens its window altogether.

min  sum_i w_i x_i    s.t.  cell i is published if x_i = 0 and says nothing if x_i = 1
"""

from __future__ import annotations

import numpy as np

from tacita.engine.demands import OUTSIDER, room
from tacita.exact import Mask
from tacita.methods.draft import Draft


def hide(draft: Draft, cells: Mask, alone: bool) -> None:
    """Switches for some cells, at the problem's cost. Where no other method is offered for these cells
    (``alone``) sensitive ones are suppressed in any case, and so are those that must be hidden.
    """
    problem = draft.problem
    up, down = room(problem, OUTSIDER)
    at = np.flatnonzero(cells & ~problem.must_publish & ((up + down > 0) | problem.must_hide))
    surely = (problem.levels.sensitive | problem.must_hide)[at] & alone
    draft.hide(at, draft.variables(at.size, problem.cost[at], lower=surely))
