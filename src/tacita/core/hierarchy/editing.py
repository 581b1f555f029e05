"""Classifications that differ from another one in a few codes: moved, grouped, ungrouped, renamed.

Each function returns a new :class:`Hierarchy`. A code moves with everything below it. A group whose last code
moves away is left out: it would be the sum of nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tacita.core.errors import HierarchyError
from tacita.core.hierarchy.tree import Hierarchy
from tacita.core.words import list_names

Children = dict[str, list[str]]


def without_codes(tree: Hierarchy, codes: Sequence[str]) -> Hierarchy:
    """Return the tree without codes that stand above no others, and without groups of which none is left."""
    below = _list_children(tree)
    for code in codes:
        below[_require_parent(tree, code)].remove(code)
    return _build(tree, below)


def moved(tree: Hierarchy, codes: Sequence[str], under: str, after: str | None = None) -> Hierarchy:
    """Return the tree with codes, and what is below them, moved under another code.

    Parameters
    ----------
    after
        The code there that they follow; without it they come last.

    Raises
    ------
    HierarchyError
        A code is the total, or the other code is one of them or below one: they would form a cycle.
    """
    tops = _select_tops(tree, codes)
    for code in tops:
        if under == code or code in tree.ancestors(under):
            raise HierarchyError(
                f"{code!r} cannot move under {under!r}, which is part of it: a cycle",
                remedy="Move it under another code, or move that one out first.",
            )
    below = _list_children(tree)
    for code in tops:
        below[_require_parent(tree, code)].remove(code)
    siblings = below.setdefault(under, [])
    place = len(siblings) if after is None else siblings.index(after) + 1
    siblings[place:place] = tops
    return _build(tree, below)


def indented(tree: Hierarchy, code: str) -> Hierarchy:
    """Return the tree with a code moved under the code before it."""
    siblings = tree.children(_require_parent(tree, code))
    if code == siblings[0]:
        raise HierarchyError(
            f"No code stands before {code!r} at its level", remedy="Move it under a code by name instead."
        )
    return moved(tree, [code], siblings[siblings.index(code) - 1])


def outdented(tree: Hierarchy, code: str) -> Hierarchy:
    """Return the tree with a code moved out of its group, to the place after it."""
    group = _require_parent(tree, code)
    above = tree.parent(group)
    if above is None:
        raise HierarchyError(f"{code!r} stands directly under the total {group!r} already")
    return moved(tree, [code], above, after=group)


def grouped(tree: Hierarchy, codes: Sequence[str], name: str, label: str = "") -> Hierarchy:
    """Return the tree with codes put under a new code, where the first of them stood.

    Codes of several groups go under the nearest code that is above all of them. Without a name the new one is
    called by its label.
    """
    name, label = (name, label) if name else (label, "")
    if not name:
        raise HierarchyError("The group has neither a code nor a label", remedy="Give it one.")
    tops = _select_tops(tree, codes)
    _refuse_taken(tree, name)
    shared = [[*reversed(tree.ancestors(code))] for code in tops]
    home = [same[0] for same in zip(*shared, strict=False) if len({*same}) == 1][-1]
    first = next(code for code in (tops[0], *tree.ancestors(tops[0])) if tree.parent(code) == home)
    below = _list_children(tree)
    below[home].insert(below[home].index(first), name)
    for code in tops:
        below[_require_parent(tree, code)].remove(code)
    return _build(tree, {**below, name: tops}, {name: label})


def ungrouped(tree: Hierarchy, code: str) -> Hierarchy:
    """Return the tree without a group: what stood directly under it takes its place."""
    parts = tree.children(code)
    if not parts:
        raise HierarchyError(
            f"{code!r} has no codes under it, so it is no group", remedy="Only groups can be removed."
        )
    below = _list_children(tree)
    siblings = below[_require_parent(tree, code)]
    place = siblings.index(code)
    siblings[place : place + 1] = parts
    del below[code]
    return _build(tree, below)


def renamed(tree: Hierarchy, old: str, new: str) -> Hierarchy:
    """Return the tree with another name for one code, which keeps its place and its label."""
    tree.index(old)
    if old == new:
        return tree
    _refuse_taken(tree, new)
    codes = tuple(new if code == old else code for code in tree.codes)
    return Hierarchy(
        codes, tree.parents, {new if code == old else code: text for code, text in tree.labels.items()}
    )


def labelled(tree: Hierarchy, code: str, label: str) -> Hierarchy:
    """Return the tree with another label of one code; an empty one takes the label away."""
    tree.index(code)
    return Hierarchy(tree.codes, tree.parents, {**tree.labels, code: label})


def with_codes(tree: Hierarchy, codes: Sequence[str]) -> Hierarchy:
    """Return the tree with codes that it lacks directly under the total, after those that it has."""
    below = _list_children(tree)
    below.setdefault(tree.total, []).extend(code for code in dict.fromkeys(codes) if code not in tree)
    return _build(tree, below)


def refuse_parts(tree: Hierarchy, codes: Sequence[str]) -> None:
    """Refuse a tree with codes under those that records have, which would be no sums of their parts."""
    for code in codes:
        if code in tree and (parts := tree.children(code)):
            raise HierarchyError(
                f"{code!r} has records of its own, so {list_names(parts, 3)} cannot stand under it",
                remedy="Group them, this one among them, under a new code.",
                options=["parts"],
            )


def with_parts_grouped(tree: Hierarchy, codes: Sequence[str]) -> tuple[Hierarchy, list[str]]:
    """Return the tree with a new group in place of each of these codes that has others under it, and the
    groups' names; the code stands in its group, before the others.

    So ``1`` above ``11`` and ``12`` becomes ``1+`` above ``1``, ``11`` and ``12``: records of ``1`` are those
    that are assigned to no part of it.
    """
    below, own = _list_children(tree), {*codes}
    taken, groups = {*tree.codes}, dict[str, str]()
    for code in tree.codes[1:]:
        if code in own and code in below:
            groups[code] = f"{code}+"
            while groups[code] in taken:
                groups[code] += "+"
            taken.add(groups[code])

    def name(code: str) -> str:
        return groups.get(code, code)

    regrouped = {
        name(code): [*([code] if code in groups else ()), *map(name, parts)] for code, parts in below.items()
    }
    return _build(tree, regrouped), [*groups.values()]


def _select_tops(tree: Hierarchy, codes: Sequence[str]) -> list[str]:
    """Return the codes in their order in the tree, without those that others of them are above."""
    if not codes:
        raise HierarchyError("No code is selected", remedy="Select at least one in the tree.")
    chosen = {*codes}
    tops = [code for code in sorted(chosen, key=tree.index) if chosen.isdisjoint(tree.ancestors(code))]
    for code in tops:
        _require_parent(tree, code)
    return tops


def _require_parent(tree: Hierarchy, code: str) -> str:
    parent = tree.parent(code)
    if parent is None:
        raise HierarchyError(
            f"{code!r} is the total, which stands above all codes", remedy="Choose codes below it."
        )
    return parent


def _refuse_taken(tree: Hierarchy, name: str) -> None:
    if name in tree:
        raise HierarchyError(
            f"There is a code {name!r} already, and each code stands once", remedy="Choose another name."
        )


def _list_children(tree: Hierarchy) -> Children:
    return {code: list(parts) for code in tree.codes if (parts := tree.children(code))}


def _build(tree: Hierarchy, below: Children, labels: Mapping[str, str] | None = None) -> Hierarchy:
    """Return the tree of codes by parent, without groups that lost all their codes."""
    for code in reversed(tree.codes[1:]):
        if tree.children(code) and not below.get(code, True):
            del below[code]
            next(parts for parts in below.values() if code in parts).remove(code)

    def nest(code: str) -> dict[str, object]:
        return {part: nest(part) for part in below.get(code, ())}

    return Hierarchy.from_dict(nest(tree.total), tree.total, {**tree.labels, **(labels or {})})
