"""Verdicts in words and signs, with an explanation of each word."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tacita.auditing.audit import Audit, Finding
from tacita.auditing.block_tasks import (
    BELOW_LOWER,
    BELOW_SLIDING,
    BELOW_UPPER,
    BIT_NAMES,
    EXACT,
    FRACTIONAL,
    UNPROVEN,
)

MEANINGS = {
    EXACT: "only one value is possible",
    BELOW_UPPER: "the attacker can tell that it is not much larger",
    BELOW_LOWER: "the attacker can tell that it is not much smaller",
    BELOW_SLIDING: "the range of possible values is too narrow",
    FRACTIONAL: "safe only from those who do not know that cells are integers",
    UNPROVEN: "not decided, hence not called safe",
}


@dataclass(frozen=True)
class Tone:
    """How a verdict is shown: a sign, a word or two, and a kind that has a colour."""

    kind: str
    sign: str
    word: str


SAFE, NOT_SAFE, UNCHECKED = (
    Tone("safe", "✔", "safe"),
    Tone("unsafe", "✘", "not safe"),
    Tone("unchecked", "–", "nothing checked"),
)


def find_tone(audit: Audit) -> Tone:
    """Return sign and word by which reports show a verdict; on no sensitive cells it is not called safe."""
    if not len(audit.problem.levels):
        return UNCHECKED
    return SAFE if audit.safe else NOT_SAFE


def explain_verdicts(findings: Iterable[Finding]) -> str:
    """Return the report's key to these verdicts: one line on what their words mean, the worst first."""
    bits = 0
    for finding in findings:
        bits |= finding.bits
    return "; ".join(f"{BIT_NAMES[bit]}: {meaning}" for bit, meaning in MEANINGS.items() if bits & bit)
