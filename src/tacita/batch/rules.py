"""What a safety rule of a batch means here.

| in a batch | here |
|---|---|
| ``P(p,n)``, ``P(p,q,n)`` | ``p-percent(p, n)``; with q below 100 ``pq(p, q)``, for several as ``linear`` |
| ``NK(n,k)`` | ``dominance(n, k)`` |
| ``FREQ(min,range)`` | ``frequency(min, protection=range)`` |
| ``REQ(pct1,pct2,minfreq,range)`` | ``request(share=pct1, code=1)`` and ``request(share=pct2, code=2)`` |
| ``ZERO(range)`` | ``zeros(upper=range)`` |
| ``MAN(pct)`` | levels of cells that are marked by hand or in the file |
| ``WGT(1)`` | records count with their weights |
| ``MIS(1)`` | not applied: cells of a missing code are sensitive like all others |

The third and fourth P or NK, the second FREQ and the second REQ speak of holdings. A rule whose first number
is 0 is one that is not used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tacita.core.errors import FormatError
from tacita.formats.argus.batch import (
    FrequencyRule,
    ManualRule,
    MissingRule,
    NKRule,
    Number,
    PRule,
    RequestRule,
    SafetyRule,
    Term,
    WeightRule,
    ZeroRule,
)
from tacita.rules.concentration import PQ, Dominance, LinearSensitivity, PPercent
from tacita.rules.frequency import MinimumFrequency, Zeros
from tacita.rules.grammar import write_rule
from tacita.rules.marks import Request
from tacita.rules.protection import USUAL_PERCENT
from tacita.rules.rule import HOLDING, RESPONDENT, Rule

INDIVIDUAL: dict[type[Term], int] = {PRule: 2, NKRule: 2, FrequencyRule: 1, RequestRule: 1}
"""How many rules of a kind speak of respondents; as many after them speak of holdings."""


@dataclass(frozen=True)
class TranslatedRule:
    """A safety rule in our words: the rule in its written form, and what it says besides.

    Attributes
    ----------
    rule
        None: nothing but the status that a file gives.
    protection
        Levels of cells that are marked by hand or in the file, in percent of their value.
    weighted
        Whether records count with their weights; None: not said.
    holdings
        Whether it looks at holdings.
    largest
        How many of the largest contributions it looks at.
    """

    rule: str | None = None
    protection: float = USUAL_PERCENT
    weighted: bool | None = None
    holdings: bool = False
    largest: int = 2
    remarks: tuple[str, ...] = ()


def translate_rule(command: SafetyRule) -> TranslatedRule:
    """Return the safety rule of a batch in our words.

    Raises
    ------
    FormatError
        There are more rules of a kind than tau-ARGUS knows; or RuleError: a number makes no sense.
    """
    rules: list[Rule] = []
    remarks: list[str] = []
    seen: Counter[type[Term]] = Counter()
    about: dict[str, Any] = {}
    for term in command.rules:
        seen[type(term)] += 1
        by = _find_contributors(command, term, seen[type(term)])
        match term:
            case WeightRule():
                about["weighted"] = term.on == 1
            case ManualRule():
                about["protection"] = float(term.percent)
            case MissingRule():
                if term.on:
                    remarks.append(
                        "MIS(1) is not applied: cells of a missing code are treated like all others"
                    )
            case ZeroRule():
                rules.append(Zeros(term.amount or None))
            case _ if not term.parameters[0]:
                remarks.append(f"{term.word}(0,..) is taken as no rule")
            case _:
                rules += _translate_contributor_rule(term, by)
                about["holdings"] = about.get("holdings", False) or by == HOLDING
                if isinstance(term, RequestRule) and term.minimum:
                    remarks.append(
                        f"REQ: the minimum frequency {term.minimum:g} is not applied: requests count in "
                        "cells of any number of contributors"
                    )
    largest = max((len(rule.measure()[0]) for rule in rules if isinstance(rule, CONCENTRATION)), default=2)
    return TranslatedRule(
        rule=" | ".join(map(write_rule, rules)) or None,
        largest=max(2, largest),
        remarks=tuple(dict.fromkeys(remarks)),
        **about,
    )


CONCENTRATION = (PPercent, PQ, Dominance, LinearSensitivity)


def _find_contributors(command: SafetyRule, term: Term, occurrence: int) -> Any:
    """Return whom a rule of a batch speaks of: respondents, or holdings from a certain occurrence on."""
    most = INDIVIDUAL.get(type(term))
    if occurrence > (1 if most is None else 2 * most):
        raise FormatError(
            f"{term.word} is given {occurrence} times",
            place=command.place,
            remedy=f"Give it at most {1 if most is None else 2 * most} times.",
        )
    return HOLDING if most is not None and occurrence > most else RESPONDENT


def _translate_contributor_rule(term: Term, by: Any) -> Iterable[Rule]:
    match term:
        case PRule():
            n = _to_count(term.n)
            if term.q >= 100:
                yield PPercent(term.p, n, by=by)
            elif n == 1:
                yield PQ(term.p, term.q, by=by)
            else:
                first = float(1 + Fraction(term.p) / Fraction(term.q))
                yield LinearSensitivity((first, *[1] * n), by=by)
        case NKRule():
            yield Dominance(_to_count(term.n), term.k, by=by)
        case FrequencyRule():
            yield MinimumFrequency(term.minimum, by=by, protection=term.percent or None)
        case RequestRule():
            for code, share in enumerate((term.first, term.second), start=1):
                yield Request(share=share, by=by, protection=term.percent or None, code=code)


def _to_count(number: Number) -> int:
    """Return a number of contributors in a rule as an integer where it is one, for the rule to judge."""
    return int(number) if float(number).is_integer() else number  # type: ignore[return-value]
