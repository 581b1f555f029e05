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
from tacita.core.plugins import Plugin, find_plugins, working
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
"""The built-in rules."""

_WORDS = {"true": True, "false": False, "none": None}
# A rule: its name, and what stands between the outer brackets, in which texts and lists may hold anything.
_RULE = re.compile(
    r"\s*(?P<name>[A-Za-z][\w-]*)\s*(?:\((?P<arguments>(?:[^()\"']|\"[^\"]*\"|'[^']*'|\([^()]*\))*)\))?\s*"
)


def rule_kinds() -> dict[str, type[Rule]]:
    """Return the classes of all rules by their names, the built-in ones first."""
    return RULES | working(rule_plugins())


def rule_plugins() -> tuple[Plugin, ...]:
    """Return the rules that other packages bring, with what is wrong with them."""
    return find_plugins("tacita.rules", frozenset(RULES), _fault_of_rule)


def _fault_of_rule(name: str, kind: Any) -> str:
    if not (isinstance(kind, type) and issubclass(kind, Rule) and hasattr(kind, "__dataclass_fields__")):
        return "it is no dataclass that inherits from tacita.Rule"
    if _RULE.fullmatch(name) is None or name != name.lower():
        return "a name of a rule has small letters, digits and -"
    if missing := [part for part in ("does", "example") if not hasattr(kind, part)]:
        return f"its class has no '{missing[0]}'"
    arguments = _RULE.fullmatch(kind.example)
    if arguments is None or arguments["name"] != name or not isinstance(_read(kind, arguments), kind):
        return f"its example '{kind.example}' is no such rule"
    return ""


def rule_kind(name: str) -> type[Rule]:
    """Return the class of a rule; unknown names are refused with what there is."""
    if (kind := RULES.get(name.lower())) is not None:
        return kind
    known = rule_kinds()
    if name.lower() not in known:
        raise RuleError(
            f"there is no rule '{name}'{did_you_mean(name.lower(), known)}: choose one of {', '.join(known)}"
        )
    return known[name.lower()]


def has_written_form(rule: Rule) -> bool:
    """Return whether a rule is of a kind that can be written."""
    return type(rule) in RULES.values() or type(rule) in rule_kinds().values()


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
                f"argument=value), several joined with |; known rules: {', '.join(rule_kinds())}"
            )
        found.append(_read(rule_kind(match["name"]), match))
        at = match.end() + 1
        if match.end() == len(text):
            return found[0] if len(found) == 1 else AnyOf(tuple(found))


def _read(kind: type[Rule], match: re.Match[str]) -> Rule:
    name, arguments, names = match["name"], match["arguments"] or "", argument_names(kind)
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
