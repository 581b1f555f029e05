"""Colours and fonts of hidden cells: kept where they belong to rows and columns, as stripes and totals do.

What somebody gave to single cells by hand, as in a heat map, tells of their values. So if the look of any
field of the table follows neither from its row nor from its column, hidden cells get that of most others.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Mapping
from typing import TypeVar

from tacita.publication.same_layout.input_sheet import Place

Look = TypeVar("Look", bound=Hashable)


def follows_lines(looks: Mapping[Place, Look]) -> bool:
    """Return whether the look of each field of a table, such as its fill, follows from its row or its column.

    It does if all fields of the row look alike, but for those in columns of one look, such as totals, and if
    these are more than half of the row; or likewise in the column.
    """
    if len(set(looks.values())) < 2:
        return True
    rows, columns = _split_lines(looks, 0), _split_lines(looks, 1)
    alike = [{k for k, line in lines.items() if _is_uniform(line)} for lines in (rows, columns)]

    def explains(line: Mapping[int, Look], across: Collection[int], own: int) -> bool:
        rest = {k: look for k, look in line.items() if k not in across}
        return own in rest and 2 * len(rest) > len(line) > 1 and _is_uniform(rest)

    return all(
        row in alike[0]
        or column in alike[1]
        or explains(rows[row], alike[1], column)
        or explains(columns[column], alike[0], row)
        for row, column in looks
    )


def find_usual_look(looks: Mapping[Place, Look], hidden: Collection[Place]) -> Look:
    """Return the look that most fields of a table have, of those with numbers if there are any."""
    shown = Counter(look for place, look in looks.items() if place not in hidden)
    return (shown or Counter(looks.values())).most_common(1)[0][0]


def _split_lines(looks: Mapping[Place, Look], axis: int) -> dict[int, dict[int, Look]]:
    lines: dict[int, dict[int, Look]] = defaultdict(dict)
    for place, look in looks.items():
        lines[place[axis]][place[1 - axis]] = look
    return lines


def _is_uniform(line: Mapping[int, Look]) -> bool:
    """Return whether two fields or more of a row or column look alike; one field follows from nothing."""
    return len(line) > 1 and len(set(line.values())) == 1
