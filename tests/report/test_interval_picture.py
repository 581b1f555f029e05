"""The strip of one cell: positions in order and to scale, arrows for what has no end, numbers in words."""

from __future__ import annotations

from math import inf, nan
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacita.report.interval_picture import WIDTH, covers_levels, draw_interval

sizes = st.floats(0, 1e9).map(lambda x: round(x, 3))


def parts(picture: str) -> dict[str, ElementTree.Element]:
    """The elements of a picture by class; parsing fails if it is not well formed."""
    root = ElementTree.fromstring(picture)
    return {name: element for element in root.iter() if (name := element.get("class"))}


def position(picture: str, name: str) -> float:
    element = parts(picture)[name]
    return float(element.get("cx") or element.get("data-at") or nan)


def bar(picture: str) -> tuple[float, float]:
    element = parts(picture)["deduced"]
    return float(element.get("data-low", nan)), float(element.get("data-high", nan))


def line(picture: str) -> tuple[float, float]:
    shape = parts(picture)["known"].get("d", "")
    left, right = shape.removeprefix("M").split("H")
    return float(left.split()[0]), float(right)


def test_positions_are_in_proportion() -> None:
    picture = draw_interval(5, 45, 20, 10, 12, (0, 50))
    low, high = bar(picture)
    scale = (high - low) / 40
    assert position(picture, "value") - low == pytest.approx(15 * scale, abs=0.2)
    assert position(picture, "level-lower") - low == pytest.approx(5 * scale, abs=0.2)
    assert position(picture, "level-upper") - low == pytest.approx(27 * scale, abs=0.2)
    before, after = line(picture)
    assert low - before == pytest.approx(5 * scale, abs=0.2)
    assert after - high == pytest.approx(5 * scale, abs=0.2)


@given(value=st.floats(-1e9, 1e9), left=sizes, right=sizes, lower=sizes, upper=sizes, more=sizes)
def test_positions_are_in_order(
    value: float, left: float, right: float, lower: float, upper: float, more: float
) -> None:
    low, high = value - left, value + right
    picture = draw_interval(low, high, value, lower, upper, (low - more, high + more))
    at_low, at_high = bar(picture)
    before, after = line(picture)
    least, truth, most = (position(picture, name) for name in ("level-lower", "value", "level-upper"))
    assert 0 <= before <= at_low <= truth <= at_high <= after <= WIDTH
    assert least <= truth <= most
    assert (at_low <= least) >= (low <= value - lower)
    assert (at_high >= most) >= (high >= value + upper)


def test_an_end_that_is_nowhere_is_at_the_edge_and_pointed() -> None:
    picture = draw_interval(0, inf, 10, 2, 2, (0, inf))
    low, high = bar(picture)
    assert high == WIDTH - 1
    assert low > 1
    assert "no end" in picture
    # A pointed end has a corner half way up, where a blunt one has only its two corners.
    assert parts(picture)["deduced"].get("d", "").count("L") == 2
    assert parts(draw_interval(0, 30, 10, 2, 2))["deduced"].get("d", "").count("L") == 0


@pytest.mark.parametrize(("high", "upper"), [(12, 1e9), (1e6, 1e9), (inf, inf)])
def test_ends_far_away_do_not_squeeze_what_is_required(high: float, upper: float) -> None:
    picture = draw_interval(8, high, 10, 2, 2, (0, upper))
    assert position(picture, "level-upper") - position(picture, "level-lower") > WIDTH / 12
    assert line(picture)[1] == WIDTH - 1
    assert (bar(picture)[1] == WIDTH - 1) is (high > 12)


def test_numbers_are_in_the_text_alternative() -> None:
    picture = draw_interval(5, 45, 20, 10, 12, (0, inf), 30)
    root = ElementTree.fromstring(picture)
    label = root.get("aria-label")
    assert label is not None
    assert label == root.findtext("title")
    for number in ("value 20", "5 to 45", "10 or less to 32 or more", "at least 30 wide", "0 to no end"):
        assert number in label


def test_what_was_not_worked_out_has_no_bar() -> None:
    picture = draw_interval(nan, nan, 20, 10, 12)
    assert "deduced" not in parts(picture)
    assert "not computed" in picture


def test_a_known_cell_says_so() -> None:
    picture = draw_interval(20, 20, 20, 0, 0)
    assert "known exactly: 20" in picture
    assert parts(picture)["deduced"].get("stroke-dasharray")


@pytest.mark.parametrize(
    ("low", "high", "sliding", "expected"),
    [
        (10, 32, 0, True),
        (10.5, 32, 0, False),
        (10, 31.5, 0, False),
        (10, 32, 22, True),
        (10, 32, 22.5, False),
        (-inf, inf, 100, True),
        (nan, 40, 0, False),
    ],
)
def test_covers_is_the_definition(low: float, high: float, sliding: float, expected: bool) -> None:
    assert covers_levels(low, high, 20, 10, 12, sliding) is expected
    assert ("stroke-dasharray" not in draw_interval(low, high, 20, 10, 12, sliding=sliding)) >= expected
