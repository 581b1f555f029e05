"""The rules by name, and their written form: ``p-percent(10) | threshold(3)``.

    rules  := rule { "|" rule }
    rule   := name [ "(" arguments ")" ]
    argument := value | word "=" value
    value  := number | word | "quoted text" | (value, ..) | [value, ..]

Arguments are those of the class that a name stands for, in the same order. ``parse_rule(write_rule(rule))``
is ``rule`` for every rule that has a name. Lists are written with square brackets, in which texts may hold
anything.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from dataclasses import MISSING, fields
from keyword import iskeyword
from typing import Any

from tacita.core.errors import RuleError, did_you_mean
from tacita.core.plugins import Plugin, find_plugins, list_usable_plugins
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
_TEXTS = {value: word for word, value in _WORDS.items()}
# A rule: its name, and what stands between the outer brackets, in which texts and lists may hold anything.
_RULE = re.compile(
    r"\s*(?P<name>[A-Za-z][\w-]*)\s*(?:\((?P<arguments>(?:[^()\"']|\"[^\"]*\"|'[^']*'|\([^()]*\))*)\))?\s*"
)


def rule_kinds() -> dict[str, type[Rule]]:
    """Return the classes of all sensitivity rules by their names, the built-in ones first."""
    return RULES | list_usable_plugins(find_rule_plugins())


def find_rule_plugins() -> tuple[Plugin, ...]:
    """Return the sensitivity rules that other packages bring, with what is wrong with them."""
    return find_plugins("tacita.rules", frozenset(RULES), _find_fault)


def _find_fault(name: str, kind: Any) -> str:
    if not (isinstance(kind, type) and issubclass(kind, Rule) and hasattr(kind, "__dataclass_fields__")):
        return "it is no dataclass that inherits from tacita.Rule"
    if _RULE.fullmatch(name) is None or name != name.lower():
        return "a name of a rule has small letters, digits and -"
    if missing := [part for part in ("does", "example") if not hasattr(kind, part)]:
        return f"its class has no '{missing[0]}'"
    arguments = _RULE.fullmatch(kind.example)
    if arguments is None or arguments["name"] != name or not isinstance(_read_rule(kind, arguments), kind):
        return f"its example '{kind.example}' is no such rule"
    return ""


def find_rule_kind(name: str) -> type[Rule]:
    """Return the class of the sensitivity rule of that name; refuse unknown names with what there is."""
    if (kind := RULES.get(name.lower())) is not None:
        return kind
    known = rule_kinds()
    if name.lower() not in known:
        fault = f"there is no rule '{name}'{did_you_mean(name.lower(), known)}"
        raise RuleError(fault, remedy=f"choose one of {', '.join(known)}")
    return known[name.lower()]


def has_written_form(rule: Rule) -> bool:
    """Return whether a rule can be written as text, as in ``threshold(3)``."""
    return type(rule) in RULES.values() or type(rule) in rule_kinds().values()


def parse_rule(text: str) -> Rule:
    """Return the sensitivity rule of a written form.

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
                f"cannot read the rule '{text}' from place {where + 1} on",
                remedy="write name(argument, argument=value), such as threshold(5) for fewer than five, "
                f"several joined with |; known rules: {', '.join(rule_kinds())}",
            )
        found.append(_read_rule(find_rule_kind(match["name"]), match))
        at = match.end() + 1
        if match.end() == len(text):
            return found[0] if len(found) == 1 else AnyOf(tuple(found))


def _read_rule(kind: type[Rule], match: re.Match[str]) -> Rule:
    name, arguments, names = match["name"], match["arguments"] or "", argument_names(kind)
    usage = f"{name} takes {', '.join(names)}"
    try:
        call = ast.parse(f"rule({arguments})", mode="eval").body
        assert isinstance(call, ast.Call)
        given = [_read_value(node) for node in call.args]
        named = {str(keyword.arg): _read_value(keyword.value) for keyword in call.keywords}
    except (SyntaxError, ValueError):
        fault = f"cannot read the arguments of {name}({arguments})"
        raise RuleError(fault, remedy=f"{usage}; quote texts with blanks or signs") from None
    if wrong := [key for key in named if key not in names]:
        fault = f"{name} has no argument '{wrong[0]}'{did_you_mean(wrong[0], names)}"
        raise RuleError(fault, remedy=usage)
    try:
        return kind(*given, **named)
    except TypeError:
        fault = f"{name}({arguments}) has too few, too many or unsuitable arguments"
        raise RuleError(fault, remedy=usage) from None


def argument_names(kind: type[Any]) -> list[str]:
    """Return the names of a rule's arguments in order; those that must be named come last."""
    own = fields(kind)
    return [f.name for f in own if not f.kw_only] + [f.name for f in own if f.kw_only]


def _read_value(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float | str | None):
        return node.value
    if isinstance(node, ast.Name):
        return _WORDS.get(node.id.lower(), node.id)
    if (
        isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.USub)
        and isinstance(node.operand, ast.Constant)
    ):
        return -_read_value(node.operand)
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return tuple(_read_value(element) for element in node.elts)
    raise ValueError


def write_rule(rule: Rule) -> str:
    """Return the written form of a sensitivity rule, as text.

    >>> write_rule(PPercent(10, n=2) | Threshold(3))
    'p-percent(10, n=2) | threshold(3)'
    """
    if isinstance(rule, AnyOf):
        return " | ".join(map(write_rule, rule.rules))
    return compose_rule(
        find_rule_name(rule), {name: format_value(value) for name, value in list_arguments(rule).items()}
    )


def find_rule_name(rule: Rule) -> str:
    """Return the name that a rule is written with, such as ``p-percent``."""
    for kinds in (RULES, rule_kinds()):
        for name, kind in kinds.items():
            if type(rule) is kind:
                return name
    remedy = f"Choose one of {', '.join(rule_kinds())}."
    raise RuleError("such a rule has no written form", place=rule.text, remedy=remedy)


def list_arguments(rule: Rule) -> dict[str, Any]:
    """Return the arguments of a rule that are not at their defaults, by name."""
    defaults = _defaults(type(rule))
    own = {name: getattr(rule, name) for name in argument_names(type(rule))}
    return {name: value for name, value in own.items() if value != defaults[name]}


def compose_rule(name: str, texts: Mapping[str, str]) -> str:
    """Return the written form of a rule from its name and the texts of its arguments.

    Those that must be there come first, unnamed, and so does the first argument of a rule.
    """
    defaults = _defaults(find_rule_kind(name))
    first = argument_names(find_rule_kind(name))[:1]
    parts = [
        text if defaults[key] is MISSING or key in first else f"{key}={text}" for key, text in texts.items()
    ]
    return f"{name}({', '.join(parts)})" if parts else name


def _defaults(kind: type[Any]) -> dict[str, Any]:
    return {field.name: field.default for field in fields(kind)}


def format_value(value: Any) -> str:
    """Return the text of an argument's value in the written form of a rule."""
    if isinstance(value, bool) or value is None:
        return _TEXTS[value]
    if isinstance(value, str):
        plain = value.isascii() and value.isidentifier() and not iskeyword(value)
        return value if plain and value.lower() not in _WORDS else _quote(value)
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, frozenset):
        return format_value(sorted(value))
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(format_value, value))}]"
    return repr(float(value))


def _quote(text: str) -> str:
    # The grammar ends a text at the next quote of the same kind, so none may be within, not even escaped.
    return '"' + json.dumps(text, ensure_ascii=False)[1:-1].replace(r"\"", r"\x22") + '"'
