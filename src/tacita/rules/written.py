"""The written form of rules, the other way round than :mod:`tacita.rules.parse`.

``parse_rule(written(rule)) == rule`` for every rule that has a name. Lists are written with square brackets,
in which texts may hold anything.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields
from keyword import iskeyword
from typing import Any

from tacita.core.errors import RuleError
from tacita.rules.parse import RULES, argument_names, rule_kind, rule_kinds
from tacita.rules.rule import AnyOf, Rule

_WORDS = {True: "true", False: "false", None: "none"}


def written(rule: Rule) -> str:
    """The text that stands for a rule.

    >>> from tacita.rules import PPercent, Threshold
    >>> written(PPercent(10, n=2) | Threshold(3))
    'p-percent(10, n=2) | threshold(3)'
    """
    if isinstance(rule, AnyOf):
        return " | ".join(map(written, rule.rules))
    return compose(rule_name(rule), {name: value_text(value) for name, value in arguments(rule).items()})


def rule_name(rule: Rule) -> str:
    """The name that a rule is written with."""
    for kinds in (RULES, rule_kinds()):
        for name, kind in kinds.items():
            if type(rule) is kind:
                return name
    raise RuleError(f"{rule.text}: such a rule has no written form; choose one of {', '.join(rule_kinds())}")


def arguments(rule: Rule) -> dict[str, Any]:
    """What a rule was given besides defaults."""
    defaults = _defaults(type(rule))
    own = {name: getattr(rule, name) for name in argument_names(type(rule))}
    return {name: value for name, value in own.items() if value != defaults[name]}


def compose(name: str, texts: Mapping[str, str]) -> str:
    """A rule from its name and the texts of its arguments; those that must be there come first, unnamed."""
    defaults = _defaults(rule_kind(name))
    parts = [text if defaults[key] is MISSING else f"{key}={text}" for key, text in texts.items()]
    return f"{name}({', '.join(parts)})" if parts else name


def _defaults(kind: type[Any]) -> dict[str, Any]:
    return {field.name: field.default for field in fields(kind)}


def value_text(value: Any) -> str:
    """A value as the grammar writes it."""
    if isinstance(value, bool) or value is None:
        return _WORDS[value]
    if isinstance(value, str):
        plain = value.isascii() and value.isidentifier() and not iskeyword(value)
        return value if plain and value.lower() not in _WORDS.values() else _quoted(value)
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, frozenset):
        return value_text(sorted(value))
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(value_text, value))}]"
    return repr(float(value))


def _quoted(text: str) -> str:
    # The grammar ends a text at the next quote of the same kind, so none may be within, not even escaped.
    return '"' + json.dumps(text, ensure_ascii=False)[1:-1].replace(r"\"", r"\x22") + '"'
