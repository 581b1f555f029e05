"""What readers learn about the numbers of a release that need not be the true ones, in sentences.

Of a cell that shows ``v`` with the window ``[v - r, v + r]`` they know the radius ``r`` and, where it is
rounded, that ``v`` is a multiple of its base, which is a step more than ``r``. Where the office left base or
radius open the method chose them, and this is the place that says which.
"""

from __future__ import annotations

import numpy as np

from tacita.core import exact
from tacita.core.exact import Units
from tacita.core.release import Mark, Release
from tacita.core.words import pluralize
from tacita.problem.problem import Problem
from tacita.problem.quality import find_changed


def describe_radii(problem: Problem, release: Release) -> list[str]:
    """Return sentences for the page Result on base and radius, and on what it means if a sensitive cell
    shows its true value; none where no number has a radius.
    """
    near = release.shown & release.hidden
    if not near.any():
        return []
    radius = release.high - release.value
    far = _format_range(radius[near], release.decimals)
    each = "" if np.ptp(radius[near]) == 0 else ", by cell"
    radius_note = f"readers learn that the truth is at most {far} away{each}"
    if near.all():
        sentence = "; ".join(filter(None, (_describe_multiples(problem, release), radius_note)))
    else:
        sentence = f"for {near.sum():,} of {pluralize(len(release), 'cell')} {radius_note}"
    sentences = [f"{sentence[0].upper()}{sentence[1:]}."]
    true = near & problem.levels.sensitive & ~find_changed(problem.table, release)
    if count := int(true.sum()):
        happens = "happens to show its true value" if count == 1 else "happen to show their true values"
        sentences.append(
            f"{pluralize(count, 'sensitive cell')} {happens}. That tells readers nothing: all they know is "
            "the window, the number with its radius either way, and the audit reckons with no more than that."
        )
    return sentences


def _describe_multiples(problem: Problem, release: Release) -> str:
    """Return words for the page on what every number is a multiple of; empty where not all are rounded."""
    if (release.marks != Mark.ROUNDED).any():
        return ""
    options = dict(release.made_by.get("options", {}))
    strict = options.get("strict") is True and options.get("multiples") != "move"
    base = release.high - release.value + problem.table.unit * strict
    least = int(base.min())
    # Where cells were let go farther than a base, radii are several bases.
    if not (release.value % least).any():
        return f"every number is a multiple of {exact.to_text(least, release.decimals)}"
    if not (release.value % base).any():
        return f"every number is a multiple of its base, {_format_range(base, release.decimals)}"
    return ""


def _format_range(units: Units, decimals: int) -> str:
    ends = [exact.to_text(int(end), decimals) for end in (units.min(), units.max())]
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)
