"""Classifications of a column of codes as users give them: one or several, built or written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from tacita.core.errors import HierarchyError, InputError
from tacita.core.hierarchy.digits import Digits
from tacita.core.hierarchy.links import DEFAULT_TOTAL
from tacita.core.hierarchy.tree import Hierarchy

GivenTree: TypeAlias = Hierarchy | Digits | Mapping[Any, Any]
GivenTrees: TypeAlias = GivenTree | Sequence[GivenTree]


def build_trees(
    name: str,
    given: GivenTrees | str,
    codes: Sequence[str],
    total: str = DEFAULT_TOTAL,
    labels: Mapping[str, str] | None = None,
) -> tuple[Hierarchy, ...]:
    """Return the trees that are given for a column with these codes: hierarchies, digits (as text, too), or
    nested dictionaries of codes.
    """
    listed = _list_trees(given)
    if not listed:
        raise InputError(
            f"column '{name}' needs a hierarchy, a list of them, or nothing for the codes found in the data, "
            f"not a {type(given).__name__}",
            remedy="Give Hierarchy.from_columns(...), a nested dictionary, or Digits('2-1-1'), for example.",
        )
    return tuple(_build_tree(f"column '{name}'", tree, codes, total, labels) for tree in listed)


def _list_trees(given: Any) -> list[GivenTree]:
    """Return the trees that are given, one or several, as a list; empty if something else is among them."""
    if isinstance(given, str):
        given = Digits(given)
    listed = list(given) if isinstance(given, list | tuple) else [given]
    return listed if all(isinstance(tree, Hierarchy | Digits | Mapping) for tree in listed) else []


def _build_tree(
    place: str, given: GivenTree, codes: Sequence[str], total: str, labels: Mapping[str, str] | None
) -> Hierarchy:
    if isinstance(given, Hierarchy):
        return given
    if isinstance(given, Digits):
        return given.build(codes, total, labels, place)
    try:
        return Hierarchy.from_dict(given, total, labels)
    except HierarchyError as error:
        raise error.with_place(place) from None
