"""Classifications that codes spell out by themselves, as in NACE and NUTS: each level adds characters.

How many is written with hyphens: ``2-1-1`` stands for codes such as 01, 011 and 0111.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

from tacita.core.errors import HierarchyError
from tacita.core.hierarchy.links import DEFAULT_TOTAL
from tacita.core.hierarchy.tree import Hierarchy
from tacita.core.words import pluralize


@dataclass(frozen=True)
class Digits:
    """The classification that the codes of the data make by their characters, before they are known.

    Attributes
    ----------
    written
        How many characters each level adds: ``"2-1-1"`` for 01, 011 and 0111, or for 10, 10.1 and 10.11, as
        points need not be counted. They are where all codes end at levels with them.
    total
        The code of the total; by default the one in the data, or ``Total``.
    labels
        What codes mean.

    Examples
    --------
    >>> Digits("1-1").build(["11", "12", "21", "Total"]).to_dict()
    {'1': {'11': {}, '12': {}}, '2': {'21': {}}}
    """

    written: str
    total: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        parse_digits(self.written)

    @classmethod
    def read(cls, written: str) -> Digits | None:
        """Return the digits that a text such as ``2-1-1`` stands for; None for anything else, such as the
        name of a file.
        """
        return cls(written) if re.fullmatch(r"[1-9][0-9]?(-[1-9][0-9]?)+", written) else None

    def build(
        self,
        codes: Sequence[str],
        total: str = DEFAULT_TOTAL,
        labels: Mapping[str, str] | None = None,
        place: str | None = None,
    ) -> Hierarchy:
        """Return the tree of codes of the data, of which one may be the total; errors name the ``place``.

        Raises
        ------
        HierarchyError
            A code ends between the levels.
        """
        top = self.total or total
        own = [code for code in codes if code != top]
        levels = settle_digits(parse_digits(self.written), own, place)
        return Hierarchy.from_levels(own, levels, top, self.labels or labels)


def parse_digits(written: str) -> tuple[int, ...]:
    """Return the characters that each level of codes adds, from text such as ``2-1-1``.

    Raises
    ------
    HierarchyError
        It is something else.
    """
    lengths = tuple(int(part) for part in re.findall(r"[0-9]{1,4}", written))
    if not lengths or 0 in lengths or re.sub(r"[0-9]{1,4}[\s,;+-]*", "", written.strip()):
        raise HierarchyError(
            f"'{written}' does not say how many characters each level adds",
            remedy="Write numbers with hyphens: 2-1-1 for codes such as 01, 011 and 0111.",
        )
    return lengths


def fit_digits(levels: Sequence[int], codes: Sequence[str]) -> tuple[int, ...]:
    """Return characters per level that suit all codes: those given, cut where codes end before or between."""
    lengths = {len(code) for code in codes}
    cuts = sorted(lengths.union(cut for cut in accumulate(levels) if cut < max(lengths)))
    return tuple(high - low for low, high in pairwise([0, *cuts]))


def count_separators(levels: Sequence[int], codes: Sequence[str]) -> tuple[int, ...] | None:
    """Return characters per level of codes such as ``10.11`` from numbers that leave out the points: (2, 3)
    for (2, 2).

    None where no code has a separator, some code ends between the levels all the same, or separators stand
    at different places.
    """
    cuts = [*accumulate(levels)]
    found: dict[int, int] = {}
    for code in codes:
        places = [at for at, character in enumerate(code, 1) if character.isalnum()]
        if len(places) not in cuts:
            return None
        for cut in cuts[: cuts.index(len(places)) + 1]:
            if found.setdefault(cut, places[cut - 1]) != places[cut - 1]:
                return None
    if all(cut == place for cut, place in found.items()):
        return None
    return tuple(high - low for low, high in pairwise([0, *sorted(found.values())]))


def _fit_without_separators(levels: Sequence[int], codes: Sequence[str]) -> tuple[int, ...] | None:
    """Return characters per level that suit all codes if separators are left out; None if none then do."""
    bare = ["".join(filter(str.isalnum, code)) for code in codes]
    fitting = fit_digits(levels, bare)
    return None if count_separators(fitting, codes) is None else fitting


def settle_digits(levels: Sequence[int], codes: Sequence[str], place: str | None = None) -> tuple[int, ...]:
    """Return characters per level that suit all codes: those given, or with separators that they left out.

    Raises
    ------
    HierarchyError
        A code ends between the levels; digits that suit all codes are among the options of the error.
    """
    cuts = [*accumulate(levels)]
    wrong = next((code for code in codes if len(code) not in cuts), None)
    if wrong is None:
        return tuple(levels)
    if (separated := count_separators(levels, codes)) is not None:
        return separated
    fitting = write_digits(_fit_without_separators(levels, codes) or fit_digits(levels, codes))
    raise HierarchyError(
        f"code {wrong!r} has {pluralize(len(wrong), 'character')}, but levels end at "
        f"{', '.join(map(str, cuts))}",
        place=place or "",
        remedy=f"Use {fitting}, which suits all codes.",
        options=[f"digits={fitting}"],
    )


def propose_digits(codes: Sequence[str]) -> tuple[int, ...]:
    """Return characters per level that suit all codes: a level at each separator, such as the point of
    ``10.11``, or without separators wherever further characters tell codes apart.

    There is none for codes that are words: of which none holds a digit.
    """
    if not any(character.isdigit() for code in codes for character in code):
        return ()
    ends = {at for code in codes for at, character in enumerate(code) if not character.isalnum()}
    if at_separators := sorted(end for end in ends if all(_is_separated(code, end) for code in codes)):
        return fit_digits([high - low for low, high in pairwise([0, *at_separators])], codes)
    kinds = [len({code[:cut] for code in codes}) for cut in range(1, max(map(len, codes)) + 1)]
    cuts = [cut for cut, (less, more) in enumerate(pairwise([1, *kinds]), 1) if more > less]
    return fit_digits([high - low for low, high in pairwise([0, *cuts])], codes)


def _is_separated(code: str, end: int) -> bool:
    """Return whether a code ends before this place, or has a separator between two of its parts there."""
    return len(code) <= end or (0 < end < len(code) - 1 and not code[end].isalnum())


def write_digits(levels: Sequence[int]) -> str:
    """Return characters per level as text such as ``2-1-1``."""
    return "-".join(map(str, levels))
