"""Whether two problems are one and the same, cell by cell."""

from __future__ import annotations

import numpy as np

from tacita.core.attacker import Insider
from tacita.problem.problem import Problem

EXEMPT = "exempt cells"
"""What :func:`find_differences` calls a difference in cells that are hit and declared safe by hand."""


def find_differences(one: Problem, other: Problem, named: bool = True) -> list[str]:
    """Return in words what differs between a problem and that of its saved project; nothing if equal.

    Parameters
    ----------
    named
        Cells must have the same codes too. Otherwise only their order counts.
    """
    table, again = one.table, other.table
    same = {
        "cells": not named or table.structure.same_cells(again.structure),
        "values": _are_equal(table, again, "units decimals integer"),
        "equations": _are_equal(table.equations, again.equations, "starts cells coefficients rhs"),
        "levels": _are_equal(one.levels, other.levels, "sensitive lower upper sliding"),
        "bounds": _are_equal(one.outsider, other.outsider, "lower upper"),
        "insiders": len(one.insiders) == len(other.insiders)
        and all(map(_are_same_insiders, one.insiders, other.insiders)),
        # The last bits of a cost may be lost in text.
        "costs": one.cost.shape == other.cost.shape and np.allclose(one.cost, other.cost, rtol=1e-12, atol=0),
        "cells to be published": _are_equal(one, other, "must_publish"),
        "cells to be hidden": _are_equal(one, other, "must_hide"),
        EXEMPT: _are_equal(one, other, "exempt"),
    }
    return [what for what, equal in same.items() if not equal]


def _are_same_insiders(one: Insider, other: Insider) -> bool:
    """Return whether insiders of two projects know the same and attack the same cells at equal levels."""
    (targets, levels), (other_targets, other_levels) = one.own_targets(), other.own_targets()
    return (
        one.name == other.name
        and (one.targets is None or one.also_others) == (other.targets is None or other.also_others)
        and _are_equal(one, other, "cells lower upper")
        and np.array_equal(targets, other_targets)
        and np.array_equal(levels, other_levels)
    )


def _are_equal(one: object, other: object, names: str) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names.split())
