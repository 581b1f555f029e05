"""Named beginnings: the functions of two published programs, as options of our methods.

Gonzalez and Cox's program (2005) has five functions, Petrenko's thesis four models of one adjustment.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tacita.core.tables.table import Table


@dataclass(frozen=True)
class Preset:
    """Options of a method under a name, and one line on what they ask for."""

    name: str
    method: str
    options: Mapping[str, Any]
    about: str


def list_presets(table: Table) -> tuple[Preset, ...]:
    """Return all shortcuts of the page Protect for a table; subtotals are named with its codes."""
    rounded = {"base": 5, "power": 2, "margins": False, "strict": False}
    return (
        Preset(
            "NCHS: suppression",
            "suppression",
            {},
            "Hides the sensitive cells and the least value beside them.",
        ),
        Preset(
            "NCHS: controlled rounding",
            "rounding",
            rounded,
            "Rounds to base 5 with the least sum of squares over inner cells. Set base and power.",
        ),
        Preset(
            "NCHS: unbiased controlled rounding",
            "unbiased-rounding",
            {"base": 5, "strict": False},
            "Rounds to base 5 at random, every cell right on average. Set base.",
        ),
        Preset(
            "NCHS: subtotal-constrained rounding",
            "rounding",
            {**rounded, "subtotals": _name_first_subtotal(table)},
            "Rounds to base 5 and keeps subtotals within one base too. Say which subtotals.",
        ),
        Preset(
            "NCHS: controlled tabular adjustment",
            "adjustment",
            {"totals": "fixed", "distance": "exact"},
            "Moves sensitive cells to safe values exactly, others as little as can be; totals stay.",
        ),
        _make_preset(
            "linear program (l1)", {"norm": "l1", "formulation": "linear"}, "sum of absolute changes"
        ),
        _make_preset(
            "quadratic program (l2)", {"norm": "l2", "formulation": "quadratic"}, "sum of squared changes"
        ),
        _make_preset(
            "cones (l1)", {"norm": "l1", "formulation": "cones"}, "sum of absolute changes, by cones"
        ),
        _make_preset(
            "cones (pseudo-Huber)",
            {"norm": "huber", "delta": 0.001, "formulation": "cones"},
            "pseudo-Huber sum of changes. Set delta",
        ),
    )


def _make_preset(name: str, options: Mapping[str, Any], least: str) -> Preset:
    return Preset(
        f"Thesis: {name}",
        "adjustment",
        {**options, "totals": "fixed", "directions": "up", "distance": "exact"},
        f"Sensitive cells go up, totals stay, least {least}.",
    )


def _name_first_subtotal(table: Table) -> str:
    """Return a subtotal as example for a field of the app, ``region=North+South``; empty if there is none."""
    for dimension in table.structure.dimensions:
        codes = [code if code.isalnum() else f'"{code}"' for code in dimension.trees[0].leaves[:2]]
        return f"{dimension.name}={'+'.join(codes)}"
    return ""
