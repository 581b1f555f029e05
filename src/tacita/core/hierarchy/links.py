"""Links between codes, read from dictionaries, code lengths and frames, and the tree that they make.

A *link* puts one code directly under another. Links make a tree if every code has one parent, following
parents upwards never comes back to the same code, and one code, the total, is above all others. Each source
is read into `Links` that know where every link was written, so that errors name the place.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from functools import partial
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from tacita.core.errors import HierarchyError, did_you_mean
from tacita.core.words import pluralize

DEFAULT_TOTAL = "Total"
LONGEST_CYCLE_SHOWN = 12


@dataclass(frozen=True)
class Links:
    """Pairs (parent, child) in the order written; an empty parent means that the source names none.

    `place(i)` says where link `i` stands, such as ``regions.csv, line 4``.
    """

    parents: Sequence[str]
    children: Sequence[str]
    place: Callable[[int], str]
    labels: Mapping[str, str] = field(default_factory=dict)


def name_position(position: int) -> str:
    """Return what errors call a place in a list of codes: ``position 3``, counted from one."""
    return f"position {position + 1}"


def name_frame_row(row: int) -> str:
    """Return what errors call a row in a data frame of codes: ``row 3``, counted from one."""
    return f"row {row + 1}"


def assemble_tree(links: Links, total: str | None) -> tuple[tuple[str, ...], list[int]]:
    """Return a classification's codes, depth-first, and their parents' positions; refuse what is no tree.

    Siblings stand in the order of their first appearance.

    The root is `total`; without it, the only code that has no parent, or "Total" above several such codes.
    """
    if total is not None and not str(total).strip():
        raise HierarchyError("The total needs a name", remedy="Give it one.")
    link_of = _index_children(links, total)
    if not link_of:
        raise HierarchyError(
            "No codes were given", remedy="A hierarchy needs at least one code under its total."
        )
    tops, below = _find_tops(links, link_of)
    if not tops:
        raise _cycle_error(links, link_of, next(iter(link_of)))
    root = total or (next(iter(tops)) if len(tops) == 1 else DEFAULT_TOTAL)
    if root not in tops:
        if root in link_of:
            raise HierarchyError(
                f"The total {root!r} is also a code ({links.place(link_of[root])})",
                remedy="Choose another name for the total.",
            )
        below[root] = list(tops)
    elif len(tops) > 1:
        stray = next(code for code in tops if code != root)
        raise HierarchyError(
            f"Code {stray!r} ({links.place(tops[stray])}) has no parent, yet {root!r} is the total",
            remedy=f"Put it under {root!r} or under another code.",
        )
    codes, parents = _depth_first(root, below)
    reached = set(codes)
    for code in link_of:
        if code not in reached:
            raise _cycle_error(links, link_of, code)
    return tuple(codes), parents


def _find_tops(links: Links, link_of: Mapping[str, int]) -> tuple[dict[str, int], dict[str, list[str]]]:
    """Return the top codes of a classification with the link that names each, and the children by code."""
    declared = "" in links.parents
    tops: dict[str, int] = {}
    below: dict[str, list[str]] = {}
    for link, (parent, child) in enumerate(zip(links.parents, links.children, strict=True)):
        if not parent:
            tops[child] = link
            continue
        if parent not in link_of:
            if declared:
                raise HierarchyError(
                    f"the parent {parent!r}{did_you_mean(parent, link_of)} of {child!r} has no row "
                    "of its own",
                    place=links.place(link),
                    remedy=f"Correct it, or add a row with {parent!r} as the child.",
                )
            tops.setdefault(parent, link)
        below.setdefault(parent, []).append(child)
    return tops, below


def _index_children(links: Links, total: str | None) -> dict[str, int]:
    """Return the one link of each child code; refuse empty and repeated ones, and a total that is a child."""
    link_of: dict[str, int] = {}
    for link, (parent, child) in enumerate(zip(links.parents, links.children, strict=True)):
        if not child:
            raise HierarchyError(
                "the code is empty", place=links.place(link), remedy="Fill it in or remove it."
            )
        if parent and child == total:
            raise HierarchyError(
                f"the total {total!r} stands under {parent!r}, but it is above all",
                remedy="Remove it or choose another name for the total.",
                place=links.place(link),
            )
        if child == parent:
            raise HierarchyError(
                f"code {child!r} is its own parent, a cycle",
                place=links.place(link),
                remedy="Correct the parent.",
            )
        if child in link_of:
            first = link_of[child]
            before = links.parents[first]
            there, here = links.place(first), links.place(link)
            if parent == before:
                raise HierarchyError(
                    f"Code {child!r} is repeated: {there} and {here}", remedy="Keep one of them."
                )
            raise HierarchyError(
                f"Code {child!r} has two parents: {before or 'none'!r} ({there}) and "
                f"{parent or 'none'!r} ({here})",
                remedy="Keep one, or give the two codes different names.",
            )
        link_of[child] = link
    return link_of


def _depth_first(root: str, below: Mapping[str, Sequence[str]]) -> tuple[list[str], list[int]]:
    codes: list[str] = []
    parents: list[int] = []
    waiting = [(root, -1)]
    while waiting:
        code, parent = waiting.pop()
        waiting.extend((child, len(codes)) for child in reversed(below.get(code, ())))
        codes.append(code)
        parents.append(parent)
    return codes, parents


def _cycle_error(links: Links, link_of: Mapping[str, int], code: str) -> HierarchyError:
    """Return a HierarchyError that names the cycle which a code ends in when followed upwards."""
    path: dict[str, None] = {}
    while code not in path:
        path[code] = None
        code = links.parents[link_of[code]]
    cycle = list(path)
    cycle = cycle[cycle.index(code) :]
    above = [(code, links.parents[link_of[code]], links.place(link_of[code])) for code in cycle]
    steps = [f"{code!r} is under {parent!r} ({place})" for code, parent, place in above]
    hidden = len(steps) - LONGEST_CYCLE_SHOWN
    shown = steps if hidden <= 0 else [*steps[:LONGEST_CYCLE_SHOWN], f"and {hidden} more"]
    return HierarchyError(
        f"The codes form a cycle: {', '.join(shown)}", remedy="Correct one of these parents."
    )


def to_code_texts(values: Iterable[object], place: Callable[[int], str]) -> list[str]:
    """Return the text of each code of a classification: of 43 and 43.0 it is "43", of missing values ""."""
    if isinstance(values, str):
        raise HierarchyError(
            f"A list of codes is needed, not the text {values!r}", remedy="Make it a list of one."
        )
    texts = []
    for position, value in enumerate(values):
        text = _code_text(value)
        if text is None:
            raise HierarchyError(
                f"{value!r} is not a code", place=place(position), remedy="Codes are text or finite numbers."
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


def make_sort_key(code: str) -> tuple[list[tuple[int, str]], str]:
    """Return the key by which codes of records are sorted: numbers in them by size, as size classes are.

    Records have no order of codes, as tables have.

    >>> sorted(["50-249", "9", "10-49"], key=make_sort_key)
    ['9', '10-49', '50-249']
    """
    parts = re.split(r"([0-9]+)", code)
    # Of numbers without leading zeros the longer is larger; Python refuses to read those of 4,300 digits.
    digits = [part.lstrip("0") if k % 2 else part for k, part in enumerate(parts)]
    return [(len(part) if k % 2 else 0, part) for k, part in enumerate(digits)], code


def links_from_dict(tree: Mapping[Any, Any], total: str, labels: Mapping[str, str]) -> Links:
    """Return the links (parent, child) of nested dictionaries of codes; the place of one is its path."""
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
        if isinstance(branch, str):
            raise HierarchyError(
                f"Under {parent!r} stands {branch!r:.60}, where a dictionary or a list of codes is needed",
                remedy=f"If {branch!r:.60} is the group of {parent!r}, make a frame of two columns, groups "
                "and codes, and give it to Hierarchy.from_columns. A single part is a list of one.",
            )
        if not isinstance(branch, Mapping | list | tuple):
            raise HierarchyError(
                f"Under {parent!r} stands {branch!r:.60}, which is neither a dictionary nor a list of codes",
                remedy="Write a single code as a list of one, and nothing for no codes.",
            )
        texts = to_code_texts(branch, partial(_branch_place, parent))
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


def read_frame_columns(frame: Any, names: Sequence[str]) -> list[list[str]]:
    """Return columns of codes in a pandas, polars, arrow or duckdb frame, as lists of texts."""
    import narwhals as nw

    wrapped = _read_frame(frame)
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
            to_code_texts(
                (None if gone else value for gone, value in zip(missing, values, strict=True)), name_frame_row
            )
        )
    return columns


def list_frame_columns(frame: Any) -> list[str]:
    """Return the names of the columns of a frame that holds a classification."""
    names: list[str] = _read_frame(frame).collect_schema().names()
    return names


def _read_frame(frame: Any) -> Any:
    import narwhals as nw

    try:
        return nw.from_native(frame)
    except TypeError:
        raise HierarchyError(
            f"A pandas, polars, arrow or duckdb frame is needed, not {type(frame).__name__}",
            remedy="Nested dictionaries go to Hierarchy.from_dict, lists of codes to Hierarchy.flat.",
        ) from None


def map_labels(codes: Sequence[str], labels: Sequence[str]) -> dict[str, str]:
    """Return the labels of a classification by code, without the empty ones."""
    return {code: label for code, label in zip(codes, labels, strict=True) if label}


def links_from_columns(
    columns: Sequence[Sequence[str]], labels: Sequence[str] | None, total: str, place: Callable[[int], str]
) -> Links:
    """Return the links (parent, child) of codes in one column per level, coarse to fine; a row is a path.

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
            raise HierarchyError("the row holds no code", place=place(row), remedy="Remove it or fill it in.")
        if not all(cells[: len(path)]):
            raise HierarchyError(
                f"an empty cell stands before {path[-1]!r}",
                remedy="Repeat the coarser code in it to carry that code down.",
                place=place(row),
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
                f"Code {end!r} is repeated under {above!r}: {place(ends[above, end])} and {place(row)}",
                remedy="Keep one of them.",
            )
        ends[above, end] = row
        ending.append(end)
        if len(path) > 1 and path[-1] == path[-2]:
            carried[end] = row
    for child, parent in parent_of.items():
        if parent in carried:
            raise HierarchyError(
                f"Code {parent!r} is carried down to the last level at {place(carried[parent])}, yet "
                f"{child!r} stands under it",
                remedy="Give the carried code a name of its own.",
            )
    return Links(
        parents, children, lambda link: place(rows[link]), map_labels(ending, labels or [""] * len(ending))
    )


def links_from_distinct_rows(
    columns: Sequence[Sequence[str]], labels: Sequence[str] | None, total: str, place: Callable[[int], str]
) -> Links:
    """Return the links of codes in one column per level, of which records may repeat whole rows.

    Records have no order of codes: then those under the same code are sorted.
    """
    first: dict[tuple[str, ...], int] = {}
    for row, cells in enumerate(zip(*columns, *([labels] if labels else []), strict=True)):
        first.setdefault(cells, row)
    rows = list(first.values())
    if len(rows) < len(columns[0]):
        rows.sort(key=lambda row: [make_sort_key(column[row]) for column in columns])
    distinct = [[column[row] for row in rows] for column in columns]
    own = None if labels is None else [labels[row] for row in rows]
    return links_from_columns(distinct, own, total, lambda row: place(rows[row]))


def links_from_prefixes(codes: Sequence[str], lengths: Sequence[int], total: str) -> Links:
    """Return the links (parent, child) between codes and their prefixes, given characters per level."""
    cuts = list(accumulate(lengths))
    while len(cuts) > 1 and cuts[-1] == cuts[-2]:
        cuts.pop()
    if not cuts or any(high <= low for low, high in pairwise([0, *cuts])):
        given = ", ".join(map(str, lengths)) or "nothing"
        fault = f"Lengths of levels are {given}: each level must add at least one character."
        raise HierarchyError(fault)
    for position, code in enumerate(codes):
        if len(code) not in cuts:
            raise HierarchyError(
                f"code {code!r} has {pluralize(len(code), 'character')}, but levels end at "
                f"{', '.join(map(str, cuts))}",
                place=name_position(position),
                remedy="Correct the code or the lengths of levels.",
            )
    columns = [[code[:cut] if len(code) >= cut else "" for code in codes] for cut in cuts]
    return links_from_columns(columns, None, total, name_position)
