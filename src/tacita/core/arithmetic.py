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


def to_fraction(number: Number) -> Fraction:
    """Return a number as the exact fraction that people wrote: the float 0.1 is one tenth."""
    return number if isinstance(number, Fraction) else Fraction(str(number))


def to_integer_ratio(numbers: Sequence[Fraction]) -> list[int]:
    """Return integers in the same proportion as exact fractions, so that comparisons need no floats."""
    common = lcm(*(number.denominator for number in numbers))
    return [int(number * common) for number in numbers]


def add_scaled(columns: Sequence[Units], weights: Sequence[int]) -> NDArray[Any]:
    """Return ``sum_r weights[r] * columns[r]`` per cell exactly, in int64 or else in Python integers."""
    largest = sum(abs(w) * int(np.abs(c).max(initial=0)) for c, w in zip(columns, weights, strict=True))
    kind: type = np.int64 if largest < 2**62 else object
    total: NDArray[Any] = np.zeros(columns[0].shape, dtype=kind)
    for column, weight in zip(columns, weights, strict=True):
        total += column.astype(kind) * weight
    return total


def ceil_to_unit(amount: NDArray[Any], divisor: int | NDArray[Any], unit: int) -> Units:
    """Return ``amount / divisor`` in units, rounded up to a multiple of ``unit``, at most ``UNBOUNDED``."""
    return np.asarray(np.minimum(-(-amount // (divisor * unit)) * unit, UNBOUNDED)).astype(np.int64)


def is_number(value: object) -> TypeGuard[Number]:
    """Return whether a Python value is a number; truth values are none."""
    return isinstance(value, int | float | Fraction) and not isinstance(value, bool)


def format_parameter(number: object) -> str:
    """Return a number in its shortest decimal form, and any other value as error messages repeat it."""
    return f"{float(number):g}" if is_number(number) else format_given(number)


def format_given(given: object) -> str:
    """Return a value as error messages repeat it: yes and no, text in quotes, lists without brackets."""
    if given is None:
        return "empty"
    if isinstance(given, bool):
        return "yes" if given else "no"
    if isinstance(given, tuple | list):
        return ", ".join(map(format_given, given))
    return str(given) if is_number(given) else f"'{given}'"


def require_number(rule: str, name: str, number: object, above: float, most: float = LARGEST) -> None:
    """Raise a RuleError unless a parameter is a number with ``above < number <= most``."""
    if not (is_number(number) and isfinite(number) and above < number <= most):
        limited = most < LARGEST or (is_number(number) and number > most)
        upto = f" and at most {most:g}" if limited else ""
        fault = f"{name} must be a number above {above:g}{upto}, not {format_given(number)}"
        raise RuleError(fault, place=rule)


def refuse_share(rule: str, name: str, number: Number, instead: str = "") -> None:
    """Raise a RuleError for a percentage below 1, which looks like a share: 0.1 for 10 percent.

    ``instead`` is another rule that takes so small a percentage.
    """
    if number < 1:
        percent, own = f"{float(to_fraction(number) * 100):g}", format_parameter(number)
        raise RuleError(
            f"{name} is a percentage, but {own} looks like a share",
            place=rule,
            remedy=f"write {percent} for {percent} %{f'; for {own} % write {instead}' if instead else ''}",
        )


def require_integer(rule: str, name: str, number: object) -> None:
    """Raise a RuleError unless a parameter is an integer from 1 on."""
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise RuleError(f"{name} must be an integer, 1 or more, not {format_given(number)}", place=rule)
