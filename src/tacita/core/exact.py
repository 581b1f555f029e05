"""Exact decimal numbers as integers.

A value ``v`` with ``d`` decimals is stored as the integer ``v * 10**d``: its *units*. Sums, equations and
proofs are then exact, and a float is only ever a picture of a number. Units stay within ``2**53`` so that
this picture is faithful too.

``UNBOUNDED`` and ``-UNBOUNDED`` stand for plus and minus infinity in arrays of units.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacita.core.errors import InputError
from tacita.core.words import pluralize

Units = NDArray[np.int64]
Cells = NDArray[np.int64]
Mask = NDArray[np.bool_]
Floats = NDArray[np.float64]

UNBOUNDED = 2**62
LARGEST = 2**53
MOST_DECIMALS = 12
FAITHFUL = 1e15
"""Numbers of so many units are the same after their way through a float, and a few more are."""
NOISE = 1e-14
"""How far the float of a sum may lie from the sum, as a share of it: some fifty times the rounding of one."""


def freeze(array: NDArray[Any]) -> NDArray[Any]:
    """Return the same numpy array, made read-only: for arrays that nobody else holds."""
    array.flags.writeable = False
    return array


def freeze_fields(owner: object, *names: str) -> None:
    """Replace arrays in a frozen dataclass by read-only copies, as callers may go on changing the originals.

    Arrays that are closed already are shared, and None stays.
    """
    for name in names:
        array = getattr(owner, name)
        if array is not None and array.flags.writeable:
            object.__setattr__(owner, name, freeze(array.copy()))


def find_decimals(values: ArrayLike, most: int = MOST_DECIMALS) -> int:
    """Return the fewest decimals ``d`` with ``round(v, d) == v`` for every finite value ``v``.

    Floats count as the shortest text that reads back as the same float, so ``0.1`` needs one decimal. Floats
    of more than 15 digits that all lie within the noise of sums of numbers with fewer decimals, such as
    ``0.1 + 0.2``, count as these.
    """
    array = np.asarray(values)
    if array.dtype.kind in "iub":
        return 0
    if array.dtype.kind in "OUS":
        numbers = [n for v in array.ravel() if (n := parse_number(v)) is not None]
        finest = max(numbers, key=count_decimals, default=Decimal(0))
        if count_decimals(finest) > most:
            raise _too_fine(finest, most)
        return count_decimals(finest)
    finite = np.unique(array[np.isfinite(array)])
    decimals = _find_grid(finite, 0.0, most)
    largest = float(np.abs(finite).max(initial=0.0))
    if decimals is None or largest * 10.0**decimals > FAITHFUL:
        near = _find_grid(finite, NOISE, most)
        # Where the noise is wide beside the last decimal, floats lie near such numbers by chance.
        if near is not None and 100 * NOISE * largest <= 10.0**-near:
            return near
    if decimals is None:
        raise _too_fine(next(v for v in finite if round(v, most) != v), most)
    return decimals


def _find_grid(values: Floats, noise: float, most: int) -> int | None:
    """Return the fewest decimals such that each float is such a number, but for a share ``noise`` of itself;
    None if ``most`` are too few.
    """
    for decimals in range(most + 1):
        values = values[np.abs(np.round(values, decimals) - values) > noise * np.abs(values)]
        if values.size == 0:
            return decimals
    return None


def to_units(values: ArrayLike, decimals: int, what: str = "value") -> Units:
    """Return values as integer units of the last of ``decimals`` places, each rounded half to even.

    Infinite values become ``UNBOUNDED``; missing ones (NaN, None) are refused.
    """
    array = np.asarray(values)
    if array.dtype.kind in "iub":
        _refuse_large(array, decimals, what)
        return np.asarray(array.astype(np.int64) * 10**decimals)
    if array.dtype.kind in "OUS":
        return np.array([_units_of(v, decimals, what) for v in array.ravel()], dtype=np.int64).reshape(
            array.shape
        )
    if np.isnan(array).any():
        raise InputError(f"{what} number {int(np.flatnonzero(np.isnan(array.ravel()))[0]) + 1} is missing")
    finite = np.isfinite(array)
    scaled = np.zeros(array.shape)
    np.multiply(array, 10.0**decimals, out=scaled, where=finite)
    if array.size and np.abs(scaled).max(initial=0.0) > LARGEST:
        _refuse_large(array[finite], decimals, what)
    infinite = np.where(array > 0, UNBOUNDED, -UNBOUNDED)
    return np.where(finite, np.rint(scaled).astype(np.int64), infinite)


def ceil_units(values: ArrayLike, decimals: int, unit: int = 1) -> Units:
    """Return values as integer units, rounded up to a multiple of ``unit``: no requirement gets weaker.

    A value within 1e-9 of an integer of units, or 1e-12 of its own size, is that integer: float noise is no
    requirement.
    What is too large for 53 bits becomes ``UNBOUNDED``.
    """
    scaled = np.asarray(values, dtype=np.float64) * 10.0**decimals
    large = np.abs(scaled) > LARGEST
    small = np.where(large, 0.0, scaled)
    nearest = np.rint(small)
    noise = np.abs(small - nearest) <= np.maximum(1e-9, 1e-12 * np.abs(small))
    units = np.where(noise, nearest, np.ceil(small)).astype(np.int64)
    units = -(-units // unit) * unit
    return np.where(large, np.where(scaled > 0, UNBOUNDED, -UNBOUNDED), units)


def to_floats(units: Units, decimals: int) -> Floats:
    """Return integer units as floats, unbounded ones as infinities."""
    infinite = np.where(units > 0, np.inf, -np.inf)
    return np.where(np.abs(units) < UNBOUNDED, units / 10.0**decimals, infinite)


def rescale(units: Units, decimals: int, wanted: int) -> Units:
    """Return integer units recounted in a finer (or equal) last decimal place; the values stay the same."""
    if wanted < decimals:
        raise InputError(f"cannot drop decimals from {decimals} to {wanted} without losing exactness")
    if wanted == decimals:
        return units
    factor = 10 ** (wanted - decimals)
    finite = np.abs(units) < UNBOUNDED
    _refuse_large(units[finite], wanted - decimals, "value")
    return np.where(finite, np.where(finite, units, 0) * factor, units)


def to_text(units: int, decimals: int) -> str:
    """Return units as plain text: ``to_text(12345, 2) == '123.45'``; trailing zeros are not shown."""
    if abs(units) >= UNBOUNDED:
        return "inf" if units > 0 else "-inf"
    if not decimals:
        return str(int(units))
    sign, digits = ("-" if units < 0 else ""), str(abs(int(units))).rjust(decimals + 1, "0")
    whole, fraction = digits[:-decimals], digits[-decimals:].rstrip("0")
    return f"{sign}{whole}.{fraction}" if fraction else f"{sign}{whole}"


def to_decimal(units: int, decimals: int) -> Decimal:
    """Return units as an exact decimal number without trailing zeros, unbounded ones as infinity."""
    return Decimal(to_text(units, decimals))


def to_texts(units: Iterable[int], decimals: int) -> list[str]:
    """Return each of many numbers in units as plain text; see :func:`to_text`."""
    return [to_text(int(u), decimals) for u in units]


def parse_number(value: object) -> Decimal | None:
    """Return a number or its text as an exact decimal, None where nothing is given (None, NaN, empty text).

    Raises
    ------
    InputError
        The text is no number. A decimal comma is recognised in the message, not guessed at.
    """
    if value is None:
        return None
    if isinstance(value, Decimal):
        return None if value.is_nan() else value
    if isinstance(value, float):
        return None if value != value else Decimal(repr(value))
    if isinstance(value, int | np.integer):
        return Decimal(int(value))
    if isinstance(value, np.floating):
        return parse_number(float(value))
    written = str(value).strip()
    if written == "":
        return None
    try:
        number = Decimal(written)
        return None if number.is_nan() else number
    except InvalidOperation:
        if written.count(",") == 1 and "." not in written:
            raise InputError(
                f"'{written}' is not a number; it looks like a decimal comma",
                remedy="name the comma as the decimal sign, or write a point",
                options=["decimal"],
            ) from None
        raise InputError(f"'{written}' is not a number") from None


def count_decimals(number: Decimal) -> int:
    if not number.is_finite():
        return 0
    exponent = number.normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def _units_of(value: object, decimals: int, what: str) -> int:
    number = parse_number(value)
    if number is None:
        raise InputError(f"a {what} is missing")
    if number.is_infinite():
        return UNBOUNDED if number > 0 else -UNBOUNDED
    if abs(number) > Decimal(LARGEST) / 10**decimals:
        _refuse_large(np.array([float(number)]), decimals, what)
    return int((number * 10**decimals).to_integral_value())


def _too_fine(number: object, most: int) -> InputError:
    return InputError(
        f"values such as {number!s} have more than {most} decimals",
        remedy="say how many decimals count, each value is then rounded to them",
        options=["decimals"],
    )


def _refuse_large(values: NDArray[Any], decimals: int, what: str) -> None:
    largest = max(abs(float(values.max(initial=0))), abs(float(values.min(initial=0))))
    if largest * 10.0**decimals > LARGEST:
        raise InputError(
            f"a {what} of about {largest:.3g} with {pluralize(decimals, 'more decimal')} does not "
            "fit into 53 bits",
            remedy="use fewer decimals (option 'decimals') or a larger unit, such as thousands",
            options=["decimals"],
        )
