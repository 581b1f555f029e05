"""What is sensitive, and how uncertain it must stay.

Imports: core.
"""

from __future__ import annotations

from tacita.rules.concentration import PQ, Concentration, Dominance, LinearSensitivity, PPercent
from tacita.rules.frequency import MinimumFrequency, Threshold, Zeros
from tacita.rules.grammar import RULES, argument_names, has_written_form, parse_rule, rule_kinds
from tacita.rules.marks import FromColumns, Given, Marked, Request
from tacita.rules.rule import AnyOf, Exempt, Inside, Rule, Within

__all__ = [
    "PQ",
    "RULES",
    "AnyOf",
    "Concentration",
    "Dominance",
    "Exempt",
    "FromColumns",
    "Given",
    "Inside",
    "LinearSensitivity",
    "Marked",
    "MinimumFrequency",
    "PPercent",
    "Request",
    "Rule",
    "Threshold",
    "Within",
    "Zeros",
    "argument_names",
    "has_written_form",
    "parse_rule",
    "rule_kinds",
]
