"""The arithmetic of rules: parameters as fractions, comparisons in integers.

A percentage such as 12.5 becomes the fraction 1/8, a comparison such as ``x > 12.5 % of X`` becomes
``8 x > X``, so no cell is called safe or sensitive by a rounding error.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isfinite, lcm
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from tacita.core.errors import RuleError
from tacita.core.exact import LARGEST, UNBOUNDED, Units

Number = int | float | Fraction


def as_fraction(number: Number) -> Fraction:
    """A parameter as people wrote it: 0.1 is one tenth."""
    return number if isinstance(number, Fraction) else Fraction(str(number))


def whole_ratio(numbers: Sequence[Fraction]) -> list[int]:
    """The smallest integers in the same proportion, up to a common factor."""
    common = lcm(*(number.denominator for number in numbers))
    return [int(number * common) for number in numbers]


def combine(columns: Sequence[Units], weights: Sequence[int]) -> NDArray[Any]:
    """``sum_r weights[r] * columns[r]``, exactly: int64 where that is wide enough, else Python integers."""
    largest = sum(abs(w) * int(np.abs(c).max(initial=0)) for c, w in zip(columns, weights, strict=True))
    kind: type = np.int64 if largest < 2**62 else object
    total: NDArray[Any] = np.zeros(columns[0].shape, dtype=kind)
    for column, weight in zip(columns, weights, strict=True):
        total += column.astype(kind) * weight
    return total


def ceil_to_unit(amount: NDArray[Any], divisor: int, unit: int) -> Units:
    """``amount / divisor`` rounded up to a multiple of ``unit``; what no number can exceed is unbounded."""
    return np.asarray(np.minimum(-(-amount // (divisor * unit)) * unit, UNBOUNDED)).astype(np.int64)


def is_number(value: object) -> TypeGuard[Number]:
    """True for numbers, not for truth values."""
    return isinstance(value, int | float | Fraction) and not isinstance(value, bool)


def short(number: object) -> str:
    """A parameter as it is shown in a rule's text."""
    return f"{float(number):g}" if is_number(number) else said(number)


def said(given: object) -> str:
    """What was given for a parameter, as errors repeat it: yes and no, text in quotes, lists without
    brackets.
    """
    if given is None:
        return "empty"
    if isinstance(given, bool):
        return "yes" if given else "no"
    if isinstance(given, tuple | list):
        return ", ".join(map(said, given))
    return str(given) if is_number(given) else f"'{given}'"


def require_number(rule: str, name: str, number: object, above: float, most: float = LARGEST) -> None:
    """Refuse a parameter outside ``above < number <= most``."""
    if not (is_number(number) and isfinite(number) and above < number <= most):
        told = most < LARGEST or (is_number(number) and number > most)
        upto = f" and at most {most:g}" if told else ""
        raise RuleError(f"{rule}: {name} must be a number above {above:g}{upto}, not {said(number)}")


def refuse_share(rule: str, name: str, number: Number, instead: str = "") -> None:
    """Refuse a percentage below 1, which looks like a share: 0.1 for 10 percent.

    ``instead`` is another rule that asks for so small a percentage.
    """
    if number < 1:
        percent = f"{float(as_fraction(number) * 100):g}"
        other = f"; {short(number)} % is asked for by {instead}" if instead else ""
        raise RuleError(
            f"{rule}: {name} is a percentage, but {short(number)} looks like a share: write {percent} for "
            f"{percent} %{other}"
        )


def require_whole(rule: str, name: str, number: object) -> None:
    """Refuse a parameter that is no whole number from 1 on."""
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise RuleError(f"{rule}: {name} must be a whole number, 1 or more, not {said(number)}")
