"""Rules and methods of a batch in our words."""

from __future__ import annotations

import pytest

from tacita.batch.methods import translate_method
from tacita.batch.rules import translate_rule
from tacita.core.errors import FormatError, RuleError
from tacita.formats.argus.batch import (
    CellKey,
    ControlledAdjustment,
    ControlledRounding,
    FrequencyRule,
    Hypercube,
    ManualRule,
    MissingRule,
    Modular,
    NetworkFlow,
    NKRule,
    Optimal,
    Protector,
    PRule,
    RequestRule,
    SafetyRule,
    Term,
    WeightRule,
    ZeroRule,
)
from tacita.methods import make_method
from tacita.rules import parse_rule


@pytest.mark.parametrize(
    ("rules", "written"),
    [
        ((PRule(10),), "p-percent(10)"),
        ((PRule(10, 2),), "p-percent(10, n=2)"),
        ((PRule(10, 50, 1),), "pq(10, 50)"),
        ((PRule(10, 100, 3),), "p-percent(10, n=3)"),
        ((PRule(10, 50, 2),), "linear([1.2, 1, 1])"),
        ((NKRule(3, 75), NKRule(1, 50)), "dominance(3, 75) | dominance(1, 50)"),
        (
            (PRule(10), PRule(20), PRule(30), PRule(40, 2)),
            "p-percent(10) | p-percent(20) | p-percent(30, by=holding) | p-percent(40, n=2, by=holding)",
        ),
        (
            (NKRule(0, 0), NKRule(0, 0), NKRule(1, 80), FrequencyRule(3, 30), FrequencyRule(2, 0)),
            "dominance(1, 80, by=holding) | frequency(protection=30) | frequency(2, by=holding)",
        ),
        (
            (RequestRule(10, 20, 0, 15), RequestRule(1, 2, 5)),
            "request(share=10, protection=15, code=1) | request(share=20, protection=15, code=2) | "
            "request(share=1, by=holding, protection=5, code=1) | "
            "request(share=2, by=holding, protection=5, code=2)",
        ),
        ((ZeroRule(10),), "zeros(10)"),
        ((ZeroRule(0),), "zeros"),
        ((ManualRule(15), WeightRule(1), MissingRule(0)), None),
        ((), None),
    ],
)
def test_rules_are_ours(rules: tuple[Term, ...], written: str | None) -> None:
    found = translate_rule(SafetyRule(rules))
    assert found.rule == (None if written is None else written)
    if found.rule is not None:
        parse_rule(found.rule)


def test_what_rules_say_besides() -> None:
    found = translate_rule(SafetyRule((ManualRule(15), WeightRule(1), MissingRule(1), PRule(5, 4))))
    assert (found.protection, found.weighted, found.largest) == (15, True, 5)
    assert found.remarks == ("MIS(1) is not applied: cells of a missing code are treated like all others",)
    assert "minimum frequency 3" in translate_rule(SafetyRule((RequestRule(1, 2, 3, 4),))).remarks[0]
    assert "no rule" in translate_rule(SafetyRule((NKRule(0, 0),))).remarks[0]


def test_rules_that_make_no_sense_are_refused() -> None:
    with pytest.raises(FormatError, match=r"line 7: FREQ is given 3 times"):
        translate_rule(SafetyRule((FrequencyRule(3, 1),) * 3, place="line 7"))
    with pytest.raises(FormatError, match="WGT is given 2 times"):
        translate_rule(SafetyRule((WeightRule(0),) * 2))
    with pytest.raises(RuleError):
        translate_rule(SafetyRule((NKRule(1.5, 75),)))
    with pytest.raises(RuleError):
        translate_rule(SafetyRule((PRule(-1),)))


@pytest.mark.parametrize(
    ("method", "name", "options", "seconds", "remarks"),
    [
        (Optimal(1), "suppression", {}, None, 1),
        (Optimal(1, 2), "suppression", {}, 120, 1),
        (Optimal(1, 0), "suppression", {}, None, 1),
        (NetworkFlow(1), "suppression", {}, None, 1),
        (Hypercube(0, 75, 1, 0), "suppression", {}, None, 4),
        (Modular(0, 0.5, 1, 1, 1, 20000, 1, 2), "suppression", {}, 30, 4),
        (ControlledAdjustment(1), "adjustment", {}, None, 1),
        (ControlledRounding(1, 5), "rounding", {"base": 5}, None, 1),
        (
            ControlledRounding(1, 5, 2, 10, 1, 2, 0),
            "rounding",
            {"base": 5, "steps": 2, "weight": "cost"},
            600,
            3,
        ),
        (
            ControlledRounding(1, 5, 0, 1, 0, 1, 1),
            "rounding",
            {"base": 5, "steps": 0, "weight": "unit"},
            60,
            2,
        ),
        (CellKey(1, ("p.csv",)), None, {}, None, 1),
    ],
)
def test_methods_are_ours(
    method: Protector, name: str | None, options: dict[str, object], seconds: float | None, remarks: int
) -> None:
    found = translate_method(method)
    assert (found.name, found.options, found.time_limit) == (name, options, seconds)
    assert len(found.remarks) == remarks
    assert all(method.word in text for text in found.remarks)
    if name is not None:
        make_method(name, options)
