"""Tacita protects statistical tables before publication: every method on one table model, every result
audited.

    import tacita as tc

Names are imported when they are first used, so that the command line starts at once.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tacita import examples as examples
    from tacita import generate as generate
    from tacita.attackers import Insider as Insider
    from tacita.attackers import Outsider as Outsider
    from tacita.attackers.insiders import Coalition as Coalition
    from tacita.auditing.audit import Audit as Audit
    from tacita.auditing.audit import audit as audit
    from tacita.auditing.certificate import certify as certify
    from tacita.auditing.deduce import Deduction as Deduction
    from tacita.auditing.deduce import deduce as deduce
    from tacita.auditing.deduce import expose as expose
    from tacita.errors import TacitaError as TacitaError
    from tacita.errors import TacitaWarning as TacitaWarning
    from tacita.hierarchy import Hierarchy as Hierarchy
    from tacita.io import read_case as read_case
    from tacita.io import read_release as read_release
    from tacita.io import write_release as write_release
    from tacita.levels import Levels as Levels
    from tacita.methods.adjustment import Adjustment as Adjustment
    from tacita.methods.intervals import Intervals as Intervals
    from tacita.methods.joint_adjustment import adjust_together as adjust_together
    from tacita.methods.joint_adjustment import changed_statistics as changed_statistics
    from tacita.methods.joint_adjustment import every_direction as every_direction
    from tacita.methods.mixture import Mixture as Mixture
    from tacita.methods.perturbation import Perturbation as Perturbation
    from tacita.methods.random_rounding import RandomRounding as RandomRounding
    from tacita.methods.rounding import Rounding as Rounding
    from tacita.methods.suppression import Suppression as Suppression
    from tacita.methods.unbiased_rounding import UnbiasedRounding as UnbiasedRounding
    from tacita.outcome import Outcome as Outcome
    from tacita.outcome import Status as Status
    from tacita.problem import Problem as Problem
    from tacita.quality import Comparison as Comparison
    from tacita.quality import compare as compare
    from tacita.release import Mark as Mark
    from tacita.release import Release as Release
    from tacita.rules import PQ as PQ
    from tacita.rules import Dominance as Dominance
    from tacita.rules import Exempt as Exempt
    from tacita.rules import FromColumns as FromColumns
    from tacita.rules import LinearSensitivity as LinearSensitivity
    from tacita.rules import Marked as Marked
    from tacita.rules import MinimumFrequency as MinimumFrequency
    from tacita.rules import PPercent as PPercent
    from tacita.rules import Request as Request
    from tacita.rules import Rule as Rule
    from tacita.rules import Threshold as Threshold
    from tacita.rules import Zeros as Zeros
    from tacita.rules import parse_rule as parse_rule
    from tacita.run import Run as Run
    from tacita.tables.linked import link as link
    from tacita.tables.table import Table as Table
    from tacita.tables.undeclared import Found as Found
    from tacita.tables.undeclared import find_sums as find_sums
    from tacita.tabulation.tabulate import tabulate as tabulate

__version__ = "0.1.0"

_HOMES = {
    "tacita.attackers": ("Insider", "Outsider"),
    "tacita.attackers.insiders": ("Coalition",),
    "tacita.auditing.audit": ("Audit", "audit"),
    "tacita.auditing.certificate": ("certify",),
    "tacita.auditing.deduce": ("Deduction", "deduce", "expose"),
    "tacita.errors": ("TacitaError", "TacitaWarning"),
    "tacita.hierarchy": ("Hierarchy",),
    "tacita.io": ("read_case", "read_release", "write_release"),
    "tacita.levels": ("Levels",),
    "tacita.methods.adjustment": ("Adjustment",),
    "tacita.methods.intervals": ("Intervals",),
    "tacita.methods.joint_adjustment": ("adjust_together", "changed_statistics", "every_direction"),
    "tacita.methods.mixture": ("Mixture",),
    "tacita.methods.perturbation": ("Perturbation",),
    "tacita.methods.random_rounding": ("RandomRounding",),
    "tacita.methods.rounding": ("Rounding",),
    "tacita.methods.suppression": ("Suppression",),
    "tacita.methods.unbiased_rounding": ("UnbiasedRounding",),
    "tacita.outcome": ("Outcome", "Status"),
    "tacita.problem": ("Problem",),
    "tacita.quality": ("Comparison", "compare"),
    "tacita.release": ("Mark", "Release"),
    "tacita.rules": (
        *("Dominance", "Exempt", "FromColumns", "LinearSensitivity", "Marked", "MinimumFrequency"),
        *("PPercent", "PQ", "Request", "Rule", "Threshold", "Zeros", "parse_rule"),
    ),
    "tacita.run": ("Run",),
    "tacita.tables.linked": ("link",),
    "tacita.tables.table": ("Table",),
    "tacita.tables.undeclared": ("Found", "find_sums"),
    "tacita.tabulation.tabulate": ("tabulate",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

_MODULES = ("examples", "generate")

__all__ = ["__version__", *_MODULES, *sorted(_HOME)]


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    if name in _MODULES:
        return importlib.import_module(f"tacita.{name}")
    raise AttributeError(f"module 'tacita' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
