"""Tests of methods: random small problems, a brute-force attacker, a conformance suite, and a reader who
re-runs the program.

Imports: everything but cli and app.
"""

from __future__ import annotations

from tacita.testing.brute_force import brute_force_intervals, brute_force_safe
from tacita.testing.contract import check_method
from tacita.testing.problems import (
    SHAPES,
    TABLE_KINDS,
    hard_problem,
    hard_problems,
    hard_table,
    problems,
    releases,
    tables,
)
from tacita.testing.rerun import Rerun, rerun_attack

__all__ = [
    "SHAPES",
    "TABLE_KINDS",
    "Rerun",
    "brute_force_intervals",
    "brute_force_safe",
    "check_method",
    "hard_problem",
    "hard_problems",
    "hard_table",
    "problems",
    "releases",
    "rerun_attack",
    "tables",
]
