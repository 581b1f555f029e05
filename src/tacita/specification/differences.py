"""Whether two problems are one and the same, cell by cell."""

from __future__ import annotations

import numpy as np

from tacita.core.attacker import Insider
from tacita.problem.problem import Problem

EXEMPT = "exempt cells"
"""What :func:`differences` calls a difference in cells that something hits, and that are declared safe."""


def differences(one: Problem, other: Problem, named: bool = True) -> list[str]:
    """Return in what two problems on equally ordered cells differ, in words; nothing if they ask the same.

    Parameters
    ----------
    named
        Cells must have the same codes too. Otherwise only their order counts.
    """
    table, again = one.table, other.table
    same = {
        "cells": not named or table.structure.same_cells(again.structure),
        "values": _same(table, again, "units decimals whole"),
        "equations": _same(table.equations, again.equations, "starts cells coefficients rhs"),
        "levels": _same(one.levels, other.levels, "sensitive lower upper sliding"),
        "bounds": _same(one.outsider, other.outsider, "lower upper"),
        "insiders": len(one.insiders) == len(other.insiders)
        and all(map(_same_insider, one.insiders, other.insiders)),
        # The last bits of a cost may be lost in text.
        "costs": one.cost.shape == other.cost.shape and np.allclose(one.cost, other.cost, rtol=1e-12, atol=0),
        "cells to be published": _same(one, other, "must_publish"),
        "cells to be hidden": _same(one, other, "must_hide"),
        EXEMPT: _same(one, other, "exempt"),
    }
    return [what for what, equal in same.items() if not equal]


def _same_insider(one: Insider, other: Insider) -> bool:
    """Return whether two know the same, and attack the same cells at the same levels."""
    (targets, levels), (other_targets, other_levels) = one.own_targets(), other.own_targets()
    return (
        one.name == other.name
        and (one.targets is None or one.also_others) == (other.targets is None or other.also_others)
        and _same(one, other, "cells lower upper")
        and np.array_equal(targets, other_targets)
        and np.array_equal(levels, other_levels)
    )


def _same(one: object, other: object, names: str) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names.split())
