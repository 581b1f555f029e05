"""Less detail in a classification: levels that are cut off, codes that are joined, closed or left out.

A recoding says what codes become. Codes that become one must have the same parent, so that every total stays
the sum of its parts:

    C10, C11 -> C1x         joined: a new code in their place
    C10 -> C11              joined to a code beside it
    C10, C11 -> C           closed, if these are all codes under C: nothing below C is left
    C10 -> ""               left out: what has this code counts nowhere, not in totals either

What is below a code goes with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tacita.core.errors import HierarchyError, InputError, did_you_mean
from tacita.core.hierarchy.tree import Hierarchy
from tacita.core.words import list_names, pluralize


@dataclass(frozen=True)
class Recoding:
    """What codes become: found for a classification, since a file may name ranges of its codes.

    ``labels`` say what new codes mean.
    """

    find: Callable[[Hierarchy], Mapping[str, str]]
    labels: Mapping[str, str] = field(default_factory=dict)


RecodingLike = Mapping[str, str] | Recoding


@dataclass(frozen=True)
class Recoded:
    """A classification with less detail, and what the codes that it lacks count for; None: left out."""

    tree: Hierarchy
    codes: Mapping[str, str | None]

    def then(self, later: Recoded) -> Recoded:
        """Return the recoding of a classification that does one recoding after the other."""
        first = {code: new if new is None else later.codes.get(new, new) for code, new in self.codes.items()}
        return Recoded(later.tree, {**later.codes, **first})


def cut_tree(tree: Hierarchy, levels: int) -> Recoded:
    """Return a classification with so many levels below its total; finer codes count for those above."""
    deepest = int(tree.depth.max())
    if levels not in range(1, deepest + 1):
        raise HierarchyError(
            f"the classification has {pluralize(deepest, 'level')} below its total, not {levels}",
            remedy=f"choose from 1 to {deepest}, or leave the dimension out" if deepest else "leave it out",
            options=["levels"],
        )
    becomes: dict[str, str | None] = {}
    keep = []
    for position, (code, parent) in enumerate(zip(tree.codes, tree.parents.tolist(), strict=True)):
        if tree.depth[position] <= levels:
            keep.append(position)
        else:
            above = tree.codes[parent]
            becomes[code] = becomes.get(above, above)
    place = {position: k for k, position in enumerate(keep)}
    parents = np.array([place.get(int(tree.parents[k]), -1) for k in keep], dtype=np.int32)
    return Recoded(Hierarchy(tuple(tree.codes[k] for k in keep), parents, tree.labels), becomes)


def recode_tree(tree: Hierarchy, recoding: RecodingLike) -> Recoded:
    """Return a classification in which codes are joined, closed or left out; see the head of this file.

    Raises
    ------
    HierarchyError
        A code is not in the classification, or codes of different parents would become one.
    """
    given = dict(recoding) if isinstance(recoding, Mapping) else dict(recoding.find(tree))
    labels = {} if isinstance(recoding, Mapping) else recoding.labels
    becomes = _follow_down(tree, given)
    for new in dict.fromkeys(given.values()):
        if new:
            _refuse_apart(tree, becomes, new, [code for code, each in given.items() if each == new])
    codes: list[str] = []
    parents: list[int] = []
    place: dict[str, int] = {}
    staying = {code for code in tree.codes if code not in becomes}
    for code, parent in zip(tree.codes, tree.parents.tolist(), strict=True):
        shown = becomes.get(code, code)
        if shown is None or shown in place or (code in becomes and shown in staying):
            continue
        place[shown] = len(codes)
        codes.append(shown)
        parents.append(-1 if parent < 0 else place[tree.codes[parent]])
    kept = {code: label for code, label in tree.labels.items() if code in staying}
    return Recoded(Hierarchy(tuple(codes), np.array(parents, dtype=np.int32), kept | dict(labels)), becomes)


def _follow_down(tree: Hierarchy, given: Mapping[str, str]) -> dict[str, str | None]:
    """Return what every code that is recoded becomes, with all below it; None: left out."""
    if unknown := [code for code in given if code not in tree]:
        raise HierarchyError(
            f"{list_names(unknown)} in the recoding: no such code{did_you_mean(unknown[0], tree.codes)}",
            remedy="Correct it, or take it off.",
            options=["recode"],
        )
    if tree.total in given:
        raise HierarchyError(f"'{tree.total}' is the total of all codes and stays", options=["recode"])
    becomes: dict[str, str | None] = {}
    for code, parent in zip(tree.codes, tree.parents.tolist(), strict=True):
        above = "" if parent < 0 else tree.codes[parent]
        if above in becomes:
            if code in given and (given[code] or None) != becomes[above]:
                raise HierarchyError(
                    f"'{code}' is below '{above}', which is recoded otherwise",
                    remedy="Recode one of them.",
                    options=["recode"],
                )
            becomes[code] = becomes[above]
        elif code in given and given[code] != code:
            becomes[code] = given[code] or None
    for code in reversed(tree.codes):
        below = tree.children(code)
        if code not in becomes and below and all(becomes.get(child, child) is None for child in below):
            becomes[code] = None
    if tree.total in becomes:
        raise HierarchyError("the recoding leaves all codes out", remedy="Keep one.", options=["recode"])
    return becomes


def _refuse_apart(tree: Hierarchy, becomes: Mapping[str, str | None], new: str, parts: list[str]) -> None:
    """Refuse codes that become one with others that are not beside them in the classification."""
    above = {tree.parent(code) for code in parts}
    fault = ""
    if len(above) > 1:
        fault = f"{list_names(parts)} become '{new}', and are parts of {list_names(sorted(map(str, above)))}"
    elif new in tree and new not in becomes and new not in parts:
        (parent,) = above
        if new == parent:
            if open_codes := [code for code in tree.children(new) if becomes.get(code) != new]:
                fault = f"{list_names(parts)} become '{new}', which has other parts: {list_names(open_codes)}"
        elif tree.parent(new) != parent or tree.children(new):
            fault = f"{list_names(parts)} become '{new}', which is not a code beside them without parts"
    if fault:
        raise HierarchyError(
            fault, remedy="Join codes of the same parent, or all codes of it.", options=["recode"]
        )


@dataclass(frozen=True)
class Detail:
    """How much of each dimension is shown: codes are recoded first, then finer levels are cut off."""

    levels: Mapping[str, int] = field(default_factory=dict)
    recode: Mapping[str, RecodingLike] = field(default_factory=dict)

    def refuse_unknown(self, dimensions: Sequence[str]) -> None:
        """Refuse levels and recodings of dimensions that the table does not have."""
        for option, named in (("levels", self.levels), ("recode", self.recode)):
            if strange := [name for name in named if name not in dimensions]:
                hint = did_you_mean(strange[0], dimensions)
                raise InputError(
                    f"'{strange[0]}'{hint} is none of the dimensions {', '.join(dimensions)}",
                    place=option,
                    remedy="Correct the name.",
                    options=[option],
                )

    def find(self, dimension: str, trees: Sequence[Hierarchy]) -> Recoded | None:
        """Return the classification of a dimension at this detail; None if nothing is asked of it."""
        levels, recoding = self.levels.get(dimension), self.recode.get(dimension)
        if levels is None and recoding is None:
            return None
        if len(trees) > 1:
            raise InputError(
                f"'{dimension}' has {len(trees)} classifications, of which none alone can be made coarser",
                remedy="Leave out the others, or give coarser ones.",
                options=["hierarchy"],
            )
        found = Recoded(trees[0], {})
        try:
            if recoding is not None:
                found = recode_tree(found.tree, recoding)
            return found if levels is None else found.then(cut_tree(found.tree, levels))
        except HierarchyError as error:
            raise error.with_place(f"'{dimension}'") from None
