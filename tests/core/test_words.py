"""Numbers in words: one way to write them, in the app, in reports and in the terminal."""

from __future__ import annotations

from decimal import Decimal
from math import inf, nan

import pytest

from tacita.core import exact
from tacita.core.words import format_number


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1 + 0.2, "0.3"),
        (-1234.5, "-1,234.5"),
        (123_456_789_012.0, "123,456,789,012"),
        (9_007_199_254_740_991.0, "9,007,199,254,740,991"),
        (12_345_678_901_234.5, "12,345,678,901,234.5"),
        (999_999_999_999.75, "999,999,999,999.75"),
        (123_456_789_012.25, "123,456,789,012"),
        (-1e18, "-1,000,000,000,000,000,000"),
        (Decimal("90071992547409.91"), "90,071,992,547,409.91"),
        (inf, "∞"),
        (-inf, "−∞"),
        (nan, "–"),
        (Decimal("inf"), "∞"),
    ],
)
def test_a_number_is_written_in_full_with_commas(value: float | Decimal, text: str) -> None:
    assert format_number(value) == text


@pytest.mark.parametrize(
    ("units", "decimals", "text"),
    [
        (-123450, 2, "-1,234.5"),
        (7, 0, "7"),
        (5, 3, "0.005"),
        (1, 9, "0.000000001"),
        (-exact.UNBOUNDED, 2, "−∞"),
    ],
)
def test_units_are_written_exactly(units: int, decimals: int, text: str) -> None:
    assert format_number(exact.to_decimal(units, decimals)) == text
