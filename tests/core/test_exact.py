"""Exact numbers: what a text or a float becomes, what is refused, and what is never rounded the wrong way."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from tacita.core import exact
from tacita.core.errors import InputError
from tacita.core.exact import LARGEST, UNBOUNDED


@pytest.mark.parametrize(
    ("values", "decimals"),
    [([1, 2], 0), ([0.1, 2.0], 1), ([1e-12], 12), (["1.50", "2"], 1), ([Decimal("0.125")], 3), ([], 0)],
)
def test_decimals_are_the_fewest_that_write_every_value(values: list[object], decimals: int) -> None:
    assert exact.find_decimals(np.array(values)) == decimals


@pytest.mark.parametrize("values", [[1 / 3], [1e5 + 1 / 3, 0.1 + 0.2], ["1e-30"], [Decimal("1e-13")]])
def test_more_decimals_than_can_be_kept_are_refused_with_the_remedy(values: list[object]) -> None:
    with pytest.raises(InputError, match=r"more than 12 decimals.*how many decimals count"):
        exact.find_decimals(np.array(values))


@pytest.mark.parametrize(
    ("values", "decimals"),
    [
        ([0.1 + 0.2, 5.0], 1),
        ([216000.30000000002, 7.25], 2),
        ([2000.000000000001], 0),
        ([-(1.1 + 2.2), 1e9 + 0.1], 1),
    ],
)
def test_the_noise_of_sums_of_floats_needs_no_decimals(values: list[float], decimals: int) -> None:
    assert exact.find_decimals(np.array(values)) == decimals


def test_digits_that_are_no_noise_are_kept() -> None:
    for values, decimals in (([2e13 + 0.25], 2), ([1e12, 0.0001], 4), ([9007.199254740991], 12)):
        assert exact.find_decimals(np.array(values)) == decimals


def test_units_round_half_to_even_and_keep_infinities() -> None:
    assert exact.to_units([0.125, 0.375, np.inf, -np.inf], 2).tolist() == [12, 38, UNBOUNDED, -UNBOUNDED]
    assert exact.to_units(np.array(["0.125", "-inf"], dtype=object), 2).tolist() == [12, -UNBOUNDED]


def test_two_hundred_billion_with_cents_is_exact() -> None:
    assert exact.to_units([2e11 + 0.01, -2e11 - 0.99], 2).tolist() == [20000000000001, -20000000000099]


@pytest.mark.parametrize("missing", [[np.nan], [None], [""], ["nan"], ["-NaN"], ["sNaN"]])
def test_a_missing_value_is_never_a_number(missing: list[object]) -> None:
    with pytest.raises(InputError, match="missing"):
        exact.to_units(np.array(missing, dtype=object if missing != [np.nan] else float), 0)


@pytest.mark.parametrize("large", [[2**54], [1e300], ["1e999999"], [Decimal(2**54)], [np.uint64(2**63)]])
def test_what_does_not_fit_is_refused_rather_than_wrapped(large: list[object]) -> None:
    with pytest.raises(InputError, match="does not fit into 53 bits"):
        exact.to_units(np.array(large), 0)


def test_rescaling_refuses_to_overflow_and_to_lose_decimals() -> None:
    assert exact.rescale(np.array([15, UNBOUNDED]), 1, 3).tolist() == [1500, UNBOUNDED]
    with pytest.raises(InputError, match="53 bits"):
        exact.rescale(np.array([LARGEST]), 0, 1)
    with pytest.raises(InputError, match="cannot drop decimals"):
        exact.rescale(np.array([15]), 1, 0)


def test_requirements_are_rounded_up_but_not_by_float_noise() -> None:
    assert exact.ceil_units([0.1 + 0.2, 0.31, 0.0, -0.15], 1).tolist() == [3, 4, 0, -1]


def test_a_requirement_beyond_all_numbers_stays_one() -> None:
    """It must not wrap around to a negative number, which would ask for nothing."""
    assert exact.ceil_units([1e19, np.inf, -1e300], 0).tolist() == [UNBOUNDED, UNBOUNDED, -UNBOUNDED]


@pytest.mark.parametrize(
    ("units", "decimals", "written"),
    [(12345, 2, "123.45"), (-5, 2, "-0.05"), (500, 2, "5"), (7, 0, "7"), (UNBOUNDED, 3, "inf")],
)
def test_texts_read_back_as_the_same_units(units: int, decimals: int, written: str) -> None:
    assert exact.to_text(units, decimals) == written
    assert exact.to_units(np.array([written], dtype=object), decimals).tolist() == [units]


def test_a_decimal_comma_is_named_not_guessed() -> None:
    with pytest.raises(InputError, match="decimal comma"):
        exact.parse_number("1,5")


def test_infinite_units_are_infinite_floats() -> None:
    assert exact.to_floats(np.array([25, -UNBOUNDED, UNBOUNDED]), 1).tolist() == [2.5, -np.inf, np.inf]
