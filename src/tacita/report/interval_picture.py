"""One cell's secret as a strip: what was known before, what can be deduced, what is required.

For a cell with value ``a``, an attacker who knew ``[lower, upper]`` beforehand and deduces ``[low, high]``, a
line from left to right shows in one scale

    lower ------[===== low .. high =====]------ upper        with marks at a - LPL, a and a + UPL.

The cell is protected if the bar reaches both outer marks and is at least as wide as SPL. Ends that lie far
beyond what is required, or nowhere, are arrows. The picture names the true value: it is for the house.
"""

from __future__ import annotations

from html import escape
from math import inf, isfinite, isnan

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


def covers(
    low: float, high: float, value: float, lower_level: float, upper_level: float, sliding: float = 0.0
) -> bool:
    """``low <= a - LPL``, ``high >= a + UPL``, ``high - low >= SPL``; False where an end is not known."""
    reach = low <= value - lower_level and high >= value + upper_level
    return reach and high - low >= sliding and low < high


def interval_svg(
    low: float,
    high: float,
    value: float,
    lower_level: float,
    upper_level: float,
    bounds: tuple[float, float] = (-inf, inf),
    sliding: float = 0.0,
) -> str:
    """The strip as SVG with its numbers as text alternative.

    Parameters
    ----------
    low, high
        The interval deduced; infinite where there is no end, NaN where it was not worked out.
    value
        The true value ``a``.
    lower_level, upper_level, sliding
        LPL, UPL and SPL, as amounts.
    bounds
        What the attacker knew beforehand.
    """
    scale = _Scale((low, high, *bounds), value - lower_level, value, value + upper_level, sliding)
    told = escape(interval_words(low, high, value, lower_level, upper_level, bounds, sliding), quote=True)
    parts = [_line(scale, *bounds)]
    if not (isnan(low) or isnan(high)):
        parts.append(_bar(scale, low, high, covers(low, high, value, lower_level, upper_level, sliding)))
    parts += [
        _bracket(scale.at(value - lower_level), "level-lower", 4),
        _bracket(scale.at(value + upper_level), "level-upper", -4),
        _truth(scale.at(value)),
    ]
    return (
        f'<svg class="interval" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img" '
        f'aria-label="{told}"><title>{told}</title>{"".join(parts)}</svg>'
    )


def interval_words(
    low: float,
    high: float,
    value: float,
    lower_level: float,
    upper_level: float,
    bounds: tuple[float, float] = (-inf, inf),
    sliding: float = 0.0,
) -> str:
    """What the strip shows, in a sentence."""
    required = f"required {_number(value - lower_level)} or less to {_number(value + upper_level)} or more"
    wide = f", at least {_number(sliding)} wide" if sliding else ""
    before = f"known before {_number(bounds[0])} to {_number(bounds[1])}"
    if isnan(low) or isnan(high):
        deduced = "interval not worked out"
    elif low == high:
        deduced = f"known exactly: {_number(low)}"
    else:
        deduced = f"deduced {_number(low)} to {_number(high)}"
    return f"value {_number(value)}; {deduced}; {required}{wide}; {before}"


class _Scale:
    """Numbers to pixels: what is required, and of all ends those that are not far off.

    A bar that is a hundred times as wide as required would leave nothing to see of what is required.
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

    def at(self, number: float) -> float:
        """Pixels from the left; what lies beyond the scale is at the very edge."""
        if number < self.left:
            return 1.0
        if number > self.right:
            return WIDTH - 1.0
        share = (number - self.left) / (self.right - self.left)
        return MARGIN + share * (WIDTH - 2 * MARGIN)

    def beyond(self, number: float) -> bool:
        return not self.left <= number <= self.right


def _line(scale: _Scale, lower: float, upper: float) -> str:
    """What was known beforehand: a thin line with stops, or arrows where it goes on."""
    x, y, middle = scale.at(lower), scale.at(upper), HEIGHT / 2
    ends = "".join(
        f'<path d="M{at + inward:.1f} {middle - 4}L{at:.1f} {middle}L{at + inward:.1f} {middle + 4}"/>'
        if scale.beyond(number)
        else f'<path d="M{at:.1f} {middle - 4}V{middle + 4}"/>'
        for number, at, inward in ((lower, x, 5), (upper, y, -5))
    )
    line = f'<path class="known" d="M{x:.1f} {middle}H{y:.1f}"/>'
    return f'<g fill="none" stroke="{KNOWN}" stroke-width="1.5">{line}{ends}</g>'


def _bar(scale: _Scale, low: float, high: float, covered: bool) -> str:
    """What is deduced: a bar, pointed where it has no end; at least a stroke where it is a single value."""
    x, y = scale.at(low), scale.at(high)
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


def _bracket(x: float, name: str, inward: int) -> str:
    """A required end, open towards the value."""
    shape = f"M{x + inward:.1f} 2H{x:.1f}V{HEIGHT - 2}H{x + inward:.1f}"
    return (
        f'<path class="{name}" data-at="{x:.1f}" d="{shape}" fill="none" stroke="{INK}" stroke-width="1.5"/>'
    )


def _truth(x: float) -> str:
    return f'<circle class="value" cx="{x:.1f}" cy="{HEIGHT / 2}" r="3.2" fill="{INK}"/>'


def _number(number: float) -> str:
    if not isfinite(number):
        return "no end" if not isnan(number) else "?"
    return f"{number:,.12g}"
