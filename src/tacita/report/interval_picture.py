"""A strip for one cell: what was known before, what can be deduced, what is required.

For a cell with value ``a``, an attacker who knew ``[lower, upper]`` beforehand and deduces ``[low, high]``, a
line from left to right shows in one scale

    lower ------[===== low .. high =====]------ upper        with marks at a - LPL, a and a + UPL.

The cell is protected if the bar reaches both outer marks and is at least as wide as SPL. Ends that lie far
beyond what is required, and missing ones, are arrows. The picture shows the true value: it is internal.
"""

from __future__ import annotations

from html import escape
from math import inf, isfinite, isnan

from tacita.core.words import format_number

WIDTH, HEIGHT = 220, 26
MARGIN = 14
"""Room for arrows left and right of the scale."""
FARTHEST = 6.0
"""Ends are drawn to scale up to this many times the required width beyond what is required."""

KNOWN = "var(--soft, #52606d)"
DEDUCED = "var(--sensitive-ground, #dcebfb)"
OUTLINE = "var(--sensitive, #0b4a8f)"
SHORT, SHORT_OUTLINE = "var(--other-ground, #fbe3e4)", "var(--other, #9b1c26)"
INK = "var(--ink, #1b2733)"


def covers_levels(
    low: float, high: float, value: float, lower_level: float, upper_level: float, sliding: float = 0.0
) -> bool:
    """Return whether the interval in a picture meets LPL, UPL and SPL; False where an end is unknown."""
    reach = low <= value - lower_level and high >= value + upper_level
    return reach and high - low >= sliding and low < high


def draw_interval(
    low: float,
    high: float,
    value: float,
    lower_level: float,
    upper_level: float,
    bounds: tuple[float, float] = (-inf, inf),
    sliding: float = 0.0,
    text: str | None = None,
) -> str:
    """Return an SVG picture of a cell's deduced interval and its levels, with the numbers as text.

    Parameters
    ----------
    low, high
        The interval deduced; infinite where there is no end, NaN where it was not computed.
    value
        The true value ``a``.
    lower_level, upper_level, sliding
        LPL, UPL and SPL, as amounts.
    bounds
        What the attacker knew beforehand.
    text
        What the picture shows, in words, where the numbers themselves are not to be in it.
    """
    least, most = value - lower_level, value + upper_level
    scale = _Scale((low, high, *bounds), least, value, most, sliding)
    label = escape(text or _describe_interval(low, high, value, least, most, bounds, sliding))
    parts = [_draw_line(scale, *bounds)]
    if not (isnan(low) or isnan(high)):
        parts.append(
            _draw_bar(scale, low, high, covers_levels(low, high, value, lower_level, upper_level, sliding))
        )
    parts += [
        _draw_bracket(scale.to_pixels(least), "level-lower", 4),
        _draw_bracket(scale.to_pixels(most), "level-upper", -4),
        _draw_value(scale.to_pixels(value)),
    ]
    return (
        f'<svg class="interval" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img" '
        f'aria-label="{label}"><title>{label}</title>{"".join(parts)}</svg>'
    )


def _describe_interval(
    low: float,
    high: float,
    value: float,
    least: float,
    most: float,
    bounds: tuple[float, float],
    sliding: float,
) -> str:
    """Return in words what an interval's picture shows; ``least`` and ``most`` are the required ends."""
    required = f"required {_format_amount(least)} or less to {_format_amount(most)} or more"
    wide = f", at least {_format_amount(sliding)} wide" if sliding else ""
    before = f"known before {_format_amount(bounds[0])} to {_format_amount(bounds[1])}"
    if isnan(low) or isnan(high):
        deduced = "interval not computed"
    elif low == high:
        deduced = f"known exactly: {_format_amount(low)}"
    else:
        deduced = f"deduced {_format_amount(low)} to {_format_amount(high)}"
    return f"value {_format_amount(value)}; {deduced}; {required}{wide}; {before}"


class _Scale:
    """Numbers to pixels, from the required ends to those of all ends that are not far beyond them.

    A bar a hundred times as wide as required would make the required part invisible.
    """

    def __init__(
        self, ends: tuple[float, ...], least: float, value: float, most: float, sliding: float
    ) -> None:
        required = max(most - least, sliding) or max(abs(value), 1.0)
        reach = FARTHEST * required
        near = [x for x in ends if least - reach <= x <= most + reach]
        self.left, self.right = min([least, *near]), max([most, *near])
        if self.left == self.right:
            self.left, self.right = self.left - reach / 2, self.right + reach / 2

    def to_pixels(self, number: float) -> float:
        """Return where the picture shows a number, in pixels from the left; at the edge if beyond."""
        if number < self.left:
            return 1.0
        if number > self.right:
            return WIDTH - 1.0
        share = (number - self.left) / (self.right - self.left)
        return MARGIN + share * (WIDTH - 2 * MARGIN)

    def beyond(self, number: float) -> bool:
        return not self.left <= number <= self.right


def _draw_line(scale: _Scale, lower: float, upper: float) -> str:
    """Return the SVG line of what an attacker knew beforehand: with stops, or arrows where it goes on."""
    x, y, middle = scale.to_pixels(lower), scale.to_pixels(upper), HEIGHT / 2
    ends = "".join(
        f'<path d="M{at + inward:.1f} {middle - 4}L{at:.1f} {middle}L{at + inward:.1f} {middle + 4}"/>'
        if scale.beyond(number)
        else f'<path d="M{at:.1f} {middle - 4}V{middle + 4}"/>'
        for number, at, inward in ((lower, x, 5), (upper, y, -5))
    )
    line = f'<path class="known" d="M{x:.1f} {middle}H{y:.1f}"/>'
    return f'<g fill="none" stroke="{KNOWN}" stroke-width="1.5">{line}{ends}</g>'


def _draw_bar(scale: _Scale, low: float, high: float, covered: bool) -> str:
    """Return the SVG bar of the deduced interval: pointed without an end, a stroke for a single value."""
    x, y = scale.to_pixels(low), scale.to_pixels(high)
    top, bottom, middle = 7, HEIGHT - 7, HEIGHT / 2
    left = f"M{x:.1f} {middle}L{x + 9:.1f} {top}" if scale.beyond(low) else f"M{x:.1f} {bottom}V{top}"
    right = (
        f"H{y - 9:.1f}L{y:.1f} {middle}L{y - 9:.1f} {bottom}" if scale.beyond(high) else f"H{y:.1f}V{bottom}"
    )
    back = f"H{x + 9:.1f}Z" if scale.beyond(low) else "Z"
    fill, outline = (DEDUCED, OUTLINE) if covered else (SHORT, SHORT_OUTLINE)
    dashes = "" if covered else ' stroke-dasharray="3 2"'
    return (
        f'<path class="deduced" data-low="{x:.1f}" data-high="{y:.1f}" d="{left}{right}{back}" '
        f'fill="{fill}" stroke="{outline}" stroke-width="1.5"{dashes}/>'
    )


def _draw_bracket(x: float, name: str, inward: int) -> str:
    """Return the SVG bracket at an end that the protection level requires, open towards the value."""
    shape = f"M{x + inward:.1f} 2H{x:.1f}V{HEIGHT - 2}H{x + inward:.1f}"
    return (
        f'<path class="{name}" data-at="{x:.1f}" d="{shape}" fill="none" stroke="{INK}" stroke-width="1.5"/>'
    )


def _draw_value(x: float) -> str:
    return f'<circle class="value" cx="{x:.1f}" cy="{HEIGHT / 2}" r="3.2" fill="{INK}"/>'


def _format_amount(number: float) -> str:
    if not isfinite(number):
        return "no end" if not isnan(number) else "?"
    return format_number(number)
