"""Links of a classification, taken from dictionaries, code lengths and frames.

Each reader turns its source into `Links` and remembers where every link was written, so that whatever is
wrong with the tree can be told by its place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from functools import partial
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from tacita.core.errors import HierarchyError, did_you_mean
from tacita.core.hierarchy.links import Links, position_place, row_place
from tacita.core.words import pluralize


def code_texts(values: Iterable[object], place: Callable[[int], str]) -> list[str]:
    """Text of each code: 43, 43.0 and "43" are all "43". Missing values and blanks are the empty text."""
    if isinstance(values, str):
        raise HierarchyError(f"A list of codes is needed, not the text {values!r}. Make it a list of one.")
    texts = []
    for position, value in enumerate(values):
        text = _code_text(value)
        if text is None:
            raise HierarchyError(
                f"{place(position)}: {value!r} is not a code. Codes are text or finite numbers."
            )
        texts.append(text)
    return texts


def _code_text(value: object) -> str | None:
    if isinstance(value, str):
        return "" if value.isspace() else str(value)
    if value is None:
        return ""
    if isinstance(value, np.generic):
        return _code_text(value.item())
    if isinstance(value, int | date):
        # pandas' missing date is a date that differs from itself.
        return str(value) if value == value else ""
    if isinstance(value, float | Decimal):
        if math.isnan(value):
            return ""
        if math.isfinite(value):
            return str(int(value)) if value == int(value) else str(value)
    return None


def nested_links(tree: Mapping[Any, Any], total: str, labels: Mapping[str, str]) -> Links:
    """Links of nested dictionaries; the place of a link is the path of codes that leads to it."""
    parents: list[str] = []
    children: list[str] = []
    above: list[int] = []

    def place(link: int) -> str:
        path = [children[link]]
        while (link := above[link]) >= 0:
            path.append(children[link])
        return "at " + " > ".join(reversed(path))

    seen: set[str] = set()
    waiting: list[tuple[str, int, Any]] = [(total, -1, tree)]
    while waiting:
        parent, parent_link, branch = waiting.pop()
        if branch is None:
            continue
        if not isinstance(branch, Mapping | list | tuple):
            raise HierarchyError(
                f"Under {parent!r} stands {branch!r:.60}, which is neither a dictionary nor a list of codes. "
                "Write a single code as a list of one, and nothing for no codes."
            )
        texts = code_texts(branch, partial(_branch_place, parent))
        inner = branch.values() if isinstance(branch, Mapping) else [None] * len(texts)
        for code, below in zip(texts, inner, strict=True):
            # A repeated code is an error further on; not descending ends a dictionary that holds itself.
            if code not in seen:
                waiting.append((code, len(children), below))
                seen.add(code)
            parents.append(parent)
            children.append(code)
            above.append(parent_link)
    return Links(parents, children, place, labels)


def _branch_place(parent: str, position: int) -> str:
    return f"code {position + 1} under {parent!r}"


def frame_columns(frame: Any, names: Sequence[str]) -> list[list[str]]:
    """Columns of a pandas, polars, arrow or duckdb frame as text."""
    import narwhals as nw

    try:
        wrapped = nw.from_native(frame)
    except TypeError:
        raise HierarchyError(
            f"A pandas, polars, arrow or duckdb frame is needed, not {type(frame).__name__}. "
            "Nested dictionaries go to Hierarchy.from_dict, lists of codes to Hierarchy.flat."
        ) from None
    present = wrapped.collect_schema().names()
    for name in names:
        if name not in present:
            raise HierarchyError(
                f"The frame has no column {name!r}{did_you_mean(name, present)}, only {', '.join(present)}."
            )
    selected = wrapped.select(list(dict.fromkeys(names)))
    collected = selected.collect() if isinstance(selected, nw.LazyFrame) else selected
    columns = []
    for name in names:
        series = collected[name]
        missing = series.is_null().to_list()
        values = series.to_list()
        columns.append(
            code_texts(
                (None if gone else value for gone, value in zip(missing, values, strict=True)), row_place
            )
        )
    return columns


def label_mapping(codes: Sequence[str], labels: Sequence[str]) -> dict[str, str]:
    """Labels that are not empty, by code."""
    return {code: label for code, label in zip(codes, labels, strict=True) if label}


def column_links(
    columns: Sequence[Sequence[str]],
    labels: Sequence[str] | None,
    total: str,
    place: Callable[[int], str],
) -> Links:
    """Links from one column per level, coarse to fine; each row is a path from the total to a code.

    A code repeated in the next column is the same code carried down. Empty cells at the end close the path.
    """
    parents: list[str] = []
    children: list[str] = []
    rows: list[int] = []
    parent_of: dict[str, str] = {}
    ends: dict[tuple[str, str], int] = {}
    carried: dict[str, int] = {}
    ending: list[str] = []
    for row, cells in enumerate(zip(*columns, strict=True)):
        path = [cell for cell in cells if cell]
        if not path:
            raise HierarchyError(f"{place(row)}: the row holds no code. Remove it or fill it in.")
        if not all(cells[: len(path)]):
            raise HierarchyError(
                f"{place(row)}: an empty cell stands before {path[-1]!r}. "
                "Repeat the coarser code in it to carry that code down."
            )
        above, end = "", total
        for code in path:
            if code == end:
                continue
            if parent_of.get(code) != end:
                parents.append(end)
                children.append(code)
                rows.append(row)
                parent_of.setdefault(code, end)
            above, end = end, code
        if (above, end) in ends:
            raise HierarchyError(
                f"Code {end!r} is repeated under {above!r}: {place(ends[above, end])} and {place(row)}. "
                "Keep one of them."
            )
        ends[above, end] = row
        ending.append(end)
        if len(path) > 1 and path[-1] == path[-2]:
            carried[end] = row
    for child, parent in parent_of.items():
        if parent in carried:
            raise HierarchyError(
                f"Code {parent!r} is carried down to the last level at {place(carried[parent])}, "
                f"yet {child!r} stands under it. Give the carried code a name of its own."
            )
    return Links(
        parents, children, lambda link: place(rows[link]), label_mapping(ending, labels or [""] * len(ending))
    )


def prefix_links(codes: Sequence[str], lengths: Sequence[int], total: str) -> Links:
    """Links between codes and their prefixes, where each level adds the given number of characters."""
    cuts = list(accumulate(lengths))
    while len(cuts) > 1 and cuts[-1] == cuts[-2]:
        cuts.pop()
    if not cuts or any(high <= low for low, high in pairwise([0, *cuts])):
        said = ", ".join(map(str, lengths)) or "nothing"
        raise HierarchyError(f"Lengths of levels are {said}: each level must add at least one character.")
    for position, code in enumerate(codes):
        if len(code) not in cuts:
            raise HierarchyError(
                f"{position_place(position)}: code {code!r} has {pluralize(len(code), 'character')}, but "
                "levels end at "
                f"{', '.join(map(str, cuts))}. Correct the code or the lengths of levels."
            )
    columns = [[code[:cut] if len(code) >= cut else "" for code in codes] for cut in cuts]
    return column_links(columns, None, total, position_place)
