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
    from tacita import verify as verify
    from tacita.attackers.insiders import Coalition as Coalition
    from tacita.auditing.audit import Audit as Audit
    from tacita.auditing.audit import audit as audit
    from tacita.auditing.certificate import certify as certify
    from tacita.auditing.deduce import Deduction as Deduction
    from tacita.auditing.deduce import deduce as deduce
    from tacita.auditing.deduce import expose as expose
    from tacita.auditing.explain import explain as explain
    from tacita.auditing.explanation import Explanation as Explanation
    from tacita.batch.run_batch import run_batch as run_batch
    from tacita.core.attacker import Insider as Insider
    from tacita.core.attacker import Outsider as Outsider
    from tacita.core.errors import BoundsError as BoundsError
    from tacita.core.errors import CertificateError as CertificateError
    from tacita.core.errors import DecimalSignError as DecimalSignError
    from tacita.core.errors import FormatError as FormatError
    from tacita.core.errors import HierarchyError as HierarchyError
    from tacita.core.errors import InfeasibleError as InfeasibleError
    from tacita.core.errors import InputError as InputError
    from tacita.core.errors import LevelsError as LevelsError
    from tacita.core.errors import MissingFileError as MissingFileError
    from tacita.core.errors import MissingPackageError as MissingPackageError
    from tacita.core.errors import NotAdditiveError as NotAdditiveError
    from tacita.core.errors import PluginWarning as PluginWarning
    from tacita.core.errors import RecordsError as RecordsError
    from tacita.core.errors import ReleaseError as ReleaseError
    from tacita.core.errors import RepeatedCellError as RepeatedCellError
    from tacita.core.errors import RuleError as RuleError
    from tacita.core.errors import SeveralValuesError as SeveralValuesError
    from tacita.core.errors import SolverError as SolverError
    from tacita.core.errors import SpecificationError as SpecificationError
    from tacita.core.errors import StoppedError as StoppedError
    from tacita.core.errors import TacitaError as TacitaError
    from tacita.core.errors import TacitaWarning as TacitaWarning
    from tacita.core.errors import UndeclaredSumsError as UndeclaredSumsError
    from tacita.core.errors import UnsafeError as UnsafeError
    from tacita.core.errors import WorkersError as WorkersError
    from tacita.core.hierarchy import Digits as Digits
    from tacita.core.hierarchy import Hierarchy as Hierarchy
    from tacita.core.levels import Levels as Levels
    from tacita.core.levels import Reason as Reason
    from tacita.core.outcome import Outcome as Outcome
    from tacita.core.outcome import Status as Status
    from tacita.core.release import Mark as Mark
    from tacita.core.release import Release as Release
    from tacita.core.run import Run as Run
    from tacita.core.tables.coarsening import coarsen as coarsen
    from tacita.core.tables.linked import link as link
    from tacita.core.tables.read_options import ReadOptions as ReadOptions
    from tacita.core.tables.table import Table as Table
    from tacita.core.tables.undeclared_sums import Found as Found
    from tacita.core.tables.undeclared_sums import find_sums as find_sums
    from tacita.formats.sdmx.release_write import SdmxOptions as SdmxOptions
    from tacita.formats.table_write import write_table as write_table
    from tacita.methods.adjustment.adjustment import Adjustment as Adjustment
    from tacita.methods.adjustment.joint import adjust_together as adjust_together
    from tacita.methods.adjustment.joint import changed_statistics as changed_statistics
    from tacita.methods.adjustment.joint import every_direction as every_direction
    from tacita.methods.adjustment.statistics.measures import Keep as Keep
    from tacita.methods.intervals.intervals import Intervals as Intervals
    from tacita.methods.mixture.mixture import Mixture as Mixture
    from tacita.methods.perturbation import Perturbation as Perturbation
    from tacita.methods.random_rounding.random_rounding import RandomRounding as RandomRounding
    from tacita.methods.rounding.rounding import Rounding as Rounding
    from tacita.methods.suppression.suppression import Suppression as Suppression
    from tacita.methods.unbiased_rounding.unbiased_rounding import UnbiasedRounding as UnbiasedRounding
    from tacita.pipelines.compare_detail import DetailComparison as DetailComparison
    from tacita.pipelines.compare_detail import compare_detail as compare_detail
    from tacita.pipelines.crosstab import Crosstab as Crosstab
    from tacita.pipelines.crosstab import crosstab as crosstab
    from tacita.pipelines.suppress_alike import suppress_alike as suppress_alike
    from tacita.problem.cell_comparison import CellComparison as CellComparison
    from tacita.problem.cell_comparison import compare_cells as compare_cells
    from tacita.problem.loss_by_level import LossesByLevel as LossesByLevel
    from tacita.problem.loss_by_level import compare_by_level as compare_by_level
    from tacita.problem.problem import Problem as Problem
    from tacita.problem.quality import Comparison as Comparison
    from tacita.problem.quality import compare as compare
    from tacita.publication.release_read import read_release as read_release
    from tacita.publication.release_write import write_release as write_release
    from tacita.publication.results import write_results as write_results
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
    from tacita.specification.project import load_project as load_project
    from tacita.specification.project_write import write_project as write_project
    from tacita.specification.read_case import read_case as read_case
    from tacita.specification.script import write_script as write_script
    from tacita.specification.specification import Specification as Specification
    from tacita.tabulation.tabulate import tabulate as tabulate

__version__ = "0.1.0"

_HOMES = {
    "tacita.attackers": ("Insider", "Outsider"),
    "tacita.attackers.insiders": ("Coalition",),
    "tacita.auditing.audit": ("Audit", "audit"),
    "tacita.auditing.certificate": ("certify",),
    "tacita.batch.run_batch": ("run_batch",),
    "tacita.auditing.deduce": ("Deduction", "deduce", "expose"),
    "tacita.auditing.explain": ("explain",),
    "tacita.auditing.explanation": ("Explanation",),
    "tacita.core.errors": (
        "BoundsError",
        "CertificateError",
        "DecimalSignError",
        "FormatError",
        "HierarchyError",
        "InfeasibleError",
        "InputError",
        "LevelsError",
        "MissingFileError",
        "MissingPackageError",
        "NotAdditiveError",
        "PluginWarning",
        "RecordsError",
        "ReleaseError",
        "RepeatedCellError",
        "RuleError",
        "SeveralValuesError",
        "SolverError",
        "SpecificationError",
        "StoppedError",
        "TacitaError",
        "TacitaWarning",
        "UndeclaredSumsError",
        "UnsafeError",
        "WorkersError",
    ),
    "tacita.core.hierarchy": ("Digits", "Hierarchy"),
    "tacita.formats.sdmx.release_write": ("SdmxOptions",),
    "tacita.formats.table_write": ("write_table",),
    "tacita.publication.release_read": ("read_release",),
    "tacita.publication.release_write": ("write_release",),
    "tacita.publication.results": ("write_results",),
    "tacita.specification.project": ("load_project",),
    "tacita.specification.project_write": ("write_project",),
    "tacita.specification.read_case": ("read_case",),
    "tacita.specification.script": ("write_script",),
    "tacita.specification.specification": ("Specification",),
    "tacita.core.levels": ("Levels", "Reason"),
    "tacita.methods.adjustment.adjustment": ("Adjustment",),
    "tacita.methods.adjustment.statistics.measures": ("Keep",),
    "tacita.methods.intervals.intervals": ("Intervals",),
    "tacita.methods.adjustment.joint": ("adjust_together", "changed_statistics", "every_direction"),
    "tacita.methods.mixture.mixture": ("Mixture",),
    "tacita.methods.perturbation": ("Perturbation",),
    "tacita.methods.random_rounding.random_rounding": ("RandomRounding",),
    "tacita.methods.rounding.rounding": ("Rounding",),
    "tacita.methods.suppression.suppression": ("Suppression",),
    "tacita.methods.unbiased_rounding.unbiased_rounding": ("UnbiasedRounding",),
    "tacita.core.outcome": ("Outcome", "Status"),
    "tacita.pipelines.compare_detail": ("DetailComparison", "compare_detail"),
    "tacita.pipelines.crosstab": ("Crosstab", "crosstab"),
    "tacita.pipelines.suppress_alike": ("suppress_alike",),
    "tacita.problem.cell_comparison": ("CellComparison", "compare_cells"),
    "tacita.problem.loss_by_level": ("LossesByLevel", "compare_by_level"),
    "tacita.problem.problem": ("Problem",),
    "tacita.problem.quality": ("Comparison", "compare"),
    "tacita.core.release": ("Mark", "Release"),
    "tacita.rules": (
        *("Dominance", "Exempt", "FromColumns", "LinearSensitivity", "Marked", "MinimumFrequency"),
        *("PPercent", "PQ", "Request", "Rule", "Threshold", "Zeros", "parse_rule"),
    ),
    "tacita.core.run": ("Run",),
    "tacita.core.tables.coarsening": ("coarsen",),
    "tacita.core.tables.linked": ("link",),
    "tacita.core.tables.read_options": ("ReadOptions",),
    "tacita.core.tables.table": ("Table",),
    "tacita.core.tables.undeclared_sums": ("Found", "find_sums"),
    "tacita.tabulation.tabulate": ("tabulate",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

_MODULES = ("examples", "generate", "verify")

__all__ = ["__version__", *_MODULES, *sorted(_HOME)]


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    if name in _MODULES:
        return importlib.import_module(f"tacita.{name}")
    raise AttributeError(f"module 'tacita' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
