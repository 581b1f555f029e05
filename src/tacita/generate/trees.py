"""Random classifications: trees whose codes contain their path, such as ``2``, ``2.1``, ``2.1.3``."""

from __future__ import annotations

import numpy as np

from tacita.core.errors import InputError
from tacita.core.hierarchy import Hierarchy
from tacita.core.words import pluralize


def hierarchy(
    depth: int = 2, branching: int | tuple[int, int] = 4, *, seed: int = 0, prefix: str = ""
) -> Hierarchy:
    """Return a random classification of ``depth`` levels below its total.

    Parameters
    ----------
    branching
        Children per node: a number, or the least and the most of them.
    prefix
        What codes begin with.
    """
    low, high = (branching, branching) if isinstance(branching, int) else branching
    if depth < 1 or low < 1 or high < low:
        raise InputError(
            f"{pluralize(depth, 'level')} with {low} to {high} children per node cannot be made",
            remedy="give at least 1 of each",
        )
    random = np.random.default_rng(seed)
    links: list[tuple[str, str]] = []
    level = [""]
    for _ in range(depth):
        below: list[str] = []
        for parent in level:
            for child in range(1, int(random.integers(low, high, endpoint=True)) + 1):
                code = f"{parent}.{child}" if parent else f"{prefix}{child}"
                links.append((parent, code))
                below.append(code)
        level = below
    return _to_hierarchy(links)


def draw_tree(leaves: int, depth: int, random: np.random.Generator, prefix: str = "") -> Hierarchy:
    """Return a random classification of ``depth`` levels with so many leaves, spread unevenly."""
    links: list[tuple[str, str]] = []
    level = [("", leaves)]
    for remaining in range(depth, 0, -1):
        below: list[tuple[str, int]] = []
        for parent, size in level:
            branches = size if remaining == 1 else max(1, round(size ** (1.0 / remaining)))
            for child, share in enumerate(_split_number(size, branches, random), start=1):
                code = f"{parent}.{child}" if parent else f"{prefix}{child}"
                links.append((parent, code))
                below.append((code, share))
        level = below
    return _to_hierarchy(links)


def _split_number(size: int, parts: int, random: np.random.Generator) -> list[int]:
    """Return so many random positive integers whose sum is ``size``."""
    if parts == 1:
        return [size]
    cuts = np.sort(random.choice(size - 1, parts - 1, replace=False)) + 1
    return [int(part) for part in np.diff(cuts, prepend=0, append=size)]


def _to_hierarchy(links: list[tuple[str, str]]) -> Hierarchy:
    below: dict[str, dict[str, object]] = {"": {}}
    for parent, code in links:
        below[code] = {}
        below[parent][code] = below[code]
    return Hierarchy.from_dict(below[""])
