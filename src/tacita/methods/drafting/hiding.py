"""Suppression as a part of a mixture: a binary switch per cell that opens its window altogether.

min  sum_i w_i x_i    s.t.  cell i is published if x_i = 0 and says nothing if x_i = 1
"""

from __future__ import annotations

import numpy as np

from tacita.core.errors import InputError
from tacita.core.exact import Mask
from tacita.engine.attack.demands import OUTSIDER, room
from tacita.methods.drafting.draft import Draft
from tacita.methods.suppression.suppression import Suppression


def hide(draft: Draft, cells: Mask, how: Suppression, alone: bool) -> None:
    """Switches for some cells, at the problem's cost. Where no other method is offered for these cells
    (``alone``) sensitive ones are suppressed in any case, and so are those that must be hidden.
    """
    if how.has_conditional_levels:
        raise InputError(
            "conditional levels of suppression are for entire tables, not for a part of a mixture: "
            "leave them out"
        )
    problem = draft.problem
    up, down = room(problem, OUTSIDER)
    forced = problem.levels.sensitive | problem.must_hide
    allowed = ~problem.must_publish & ((up + down > 0) | problem.must_hide)
    if not how.margins:
        allowed &= forced | ~problem.table.structure.is_total
    at = np.flatnonzero(cells & allowed)
    switches = draft.variables(at.size, problem.cost[at], lower=forced[at] & alone)
    draft.hide(at, switches)
    if how.at_most is not None:
        draft.bracket(switches, -np.inf, how.at_most)
