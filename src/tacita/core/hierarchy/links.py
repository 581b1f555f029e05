"""From links to a tree.

A *link* says that one code stands directly under another. Links make a tree if every code has one parent,
following parents upwards never comes back to the same code, and one code, the total, is above all others.
Whatever is wrong is told by the places where the links were written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tacita.core.errors import HierarchyError, did_you_mean

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


def position_place(position: int) -> str:
    """Place in a sequence, counted from one."""
    return f"position {position + 1}"


def row_place(row: int) -> str:
    """Place in a frame, counted from one."""
    return f"row {row + 1}"


def assemble(links: Links, total: str | None) -> tuple[tuple[str, ...], list[int]]:
    """Codes of the tree of all links, depth-first, and the position of each one's parent; refuses what is no
    tree.

    Siblings stand in the order of their first appearance.

    The root is `total`; without it, the only code that has no parent, or "Total" above several such codes.
    """
    if total is not None and not str(total).strip():
        raise HierarchyError("The total needs a name. Give it one.")
    link_of = _link_of_each_child(links, total)
    if not link_of:
        raise HierarchyError("No codes were given. A hierarchy needs at least one code under its total.")
    tops, below = _tops_and_families(links, link_of)
    if not tops:
        raise _cycle_error(links, link_of, next(iter(link_of)))
    root = total or (next(iter(tops)) if len(tops) == 1 else DEFAULT_TOTAL)
    if root not in tops:
        if root in link_of:
            raise HierarchyError(
                f"The total {root!r} is also a code ({links.place(link_of[root])}). "
                "Choose another name for the total."
            )
        below[root] = list(tops)
    elif len(tops) > 1:
        stray = next(code for code in tops if code != root)
        raise HierarchyError(
            f"Code {stray!r} ({links.place(tops[stray])}) has no parent, yet {root!r} is the total. "
            f"Put it under {root!r} or under another code."
        )
    codes, parents = _depth_first(root, below)
    reached = set(codes)
    for code in link_of:
        if code not in reached:
            raise _cycle_error(links, link_of, code)
    return tuple(codes), parents


def _tops_and_families(
    links: Links, link_of: Mapping[str, int]
) -> tuple[dict[str, int], dict[str, list[str]]]:
    """Codes without a parent, with the link that shows each, and the children of every code that has some."""
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
                    f"{links.place(link)}: the parent {parent!r}{did_you_mean(parent, link_of)} of {child!r} "
                    f"has no row of its own. Correct it, or add a row with {parent!r} as the child."
                )
            tops.setdefault(parent, link)
        below.setdefault(parent, []).append(child)
    return tops, below


def _link_of_each_child(links: Links, total: str | None) -> dict[str, int]:
    """The one link of each child; refuses empty and repeated children, and a total that is a child."""
    link_of: dict[str, int] = {}
    for link, (parent, child) in enumerate(zip(links.parents, links.children, strict=True)):
        if not child:
            raise HierarchyError(f"{links.place(link)}: the code is empty. Fill it in or remove it.")
        if parent and child == total:
            raise HierarchyError(
                f"{links.place(link)}: the total {total!r} stands under {parent!r}, but it is above all. "
                "Remove it or choose another name for the total."
            )
        if child == parent:
            raise HierarchyError(
                f"{links.place(link)}: code {child!r} is its own parent, a cycle. Correct the parent."
            )
        if child in link_of:
            first = link_of[child]
            before = links.parents[first]
            there, here = links.place(first), links.place(link)
            if parent == before:
                raise HierarchyError(f"Code {child!r} is repeated: {there} and {here}. Keep one of them.")
            raise HierarchyError(
                f"Code {child!r} has two parents: {before or 'none'!r} ({there}) and {parent or 'none'!r} "
                f"({here}). Keep one, or give the two codes different names."
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
    """Name the cycle that a code ends in when followed upwards; no path from the total reaches it."""
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
    return HierarchyError(f"The codes form a cycle: {', '.join(shown)}. Correct one of these parents.")
