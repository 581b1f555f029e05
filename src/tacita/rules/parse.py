"""The rules by name, and their written form: ``p-percent(10) | threshold(3)``.

    rules  := rule { "|" rule }
    rule   := name [ "(" arguments ")" ]
    argument := value | word "=" value
    value  := number | word | "quoted text" | (value, ..) | [value, ..]

Arguments are those of the class that a name stands for, in the same order.
"""

from __future__ import annotations

import ast
import re
from dataclasses import fields
from typing import Any

from tacita.core.errors import RuleError, did_you_mean
from tacita.rules.concentration import PQ, Dominance, LinearSensitivity, PPercent
from tacita.rules.frequency import MinimumFrequency, Threshold, Zeros
from tacita.rules.marks import FromColumns, Marked, Request
from tacita.rules.rule import AnyOf, Rule

RULES: dict[str, type[Rule]] = {
    "threshold": Threshold,
    "frequency": MinimumFrequency,
    "dominance": Dominance,
    "p-percent": PPercent,
    "pq": PQ,
    "linear": LinearSensitivity,
    "request": Request,
    "zeros": Zeros,
    "marked": Marked,
    "columns": FromColumns,
}

_WORDS = {"true": True, "false": False, "none": None}
# A rule: its name, and what stands between the outer brackets, in which texts and lists may hold anything.
_RULE = re.compile(
    r"\s*(?P<name>[A-Za-z][\w-]*)\s*(?:\((?P<arguments>(?:[^()\"']|\"[^\"]*\"|'[^']*'|\([^()]*\))*)\))?\s*"
)


def parse_rule(text: str) -> Rule:
    """A rule from its written form.

    >>> str(parse_rule("p-percent(10) | threshold(3)"))
    'p% (10) | threshold 3'
    """
    found: list[Rule] = []
    at = 0
    while True:
        match = _RULE.match(text, at)
        if match is None or (match.end() < len(text) and text[match.end()] != "|"):
            where = match.end() if match else at
            raise RuleError(
                f"cannot read the rule '{text}' from place {where + 1} on: write name(argument, "
                f"argument=value), several joined with |; known rules: {', '.join(RULES)}"
            )
        found.append(_one(match["name"], match["arguments"] or ""))
        at = match.end() + 1
        if match.end() == len(text):
            return found[0] if len(found) == 1 else AnyOf(tuple(found))


def _one(name: str, arguments: str) -> Rule:
    kind = RULES.get(name.lower())
    if kind is None:
        raise RuleError(
            f"there is no rule '{name}'{did_you_mean(name.lower(), RULES)}: choose one of {', '.join(RULES)}"
        )
    names = argument_names(kind)
    usage = f"{name} takes {', '.join(names)}"
    try:
        call = ast.parse(f"rule({arguments})", mode="eval").body
        assert isinstance(call, ast.Call)
        given = [_value(node) for node in call.args]
        named = {str(keyword.arg): _value(keyword.value) for keyword in call.keywords}
    except (SyntaxError, ValueError):
        raise RuleError(
            f"cannot read the arguments of {name}({arguments}): {usage}; quote texts with blanks or signs"
        ) from None
    if wrong := [key for key in named if key not in names]:
        raise RuleError(f"{name} has no argument '{wrong[0]}'{did_you_mean(wrong[0], names)}: {usage}")
    try:
        return kind(*given, **named)
    except TypeError:
        raise RuleError(
            f"{name}({arguments}) has too few, too many or unsuitable arguments: {usage}"
        ) from None


def argument_names(kind: type[Any]) -> list[str]:
    """Arguments of a rule in order; those that must be named come last."""
    own = fields(kind)
    return [f.name for f in own if not f.kw_only] + [f.name for f in own if f.kw_only]


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float | str | None):
        return node.value
    if isinstance(node, ast.Name):
        return _WORDS.get(node.id.lower(), node.id)
    if (
        isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.USub)
        and isinstance(node.operand, ast.Constant)
    ):
        return -_value(node.operand)
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return tuple(_value(element) for element in node.elts)
    raise ValueError
