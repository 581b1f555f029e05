"""The section of a specification that gives a classification: by a file, by digits, or written out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tacita.core.errors import HierarchyError, SpecificationError
from tacita.core.hierarchy import DEFAULT_TOTAL, Digits, Hierarchy
from tacita.core.hierarchy.digits import parse_digits
from tacita.specification.sections import Section


@dataclass(frozen=True)
class Classification(Section):
    """A classification: a file, the digits of the codes, a flat list of codes, or a tree of them.

    Attributes
    ----------
    file
        A file of codes: ``.csv`` (parent, child) or ``.hrc``.
    digits
        How many characters each level of the codes in the data adds: ``"2-1-1"`` for 01, 011 and 0111,
        or for 10, 10.1 and 10.11: points are not counted.
    codes, total
        All codes below the total, in order, and the code of the total.
    tree
        The codes below the total as nested tables, of which lists end a branch:
        ``{ North = ["N1", "N2"], South = ["S1", "S2"] }``.
    labels
        What codes mean, of a list or a tree.
    lead
        The sign in front of lower levels in a ``.hrc`` file.
    """

    file: str | None = None
    digits: str | None = None
    codes: tuple[str, ...] | None = None
    total: str | None = None
    lead: str | None = None
    tree: Mapping[str, Any] | None = None
    labels: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        if sum(given is not None for given in (self.file, self.digits, self.codes, self.tree)) != 1:
            raise SpecificationError("give either file, digits, codes or tree")
        if self.labels and self.file is not None:
            raise SpecificationError("a file has its own labels", place="labels", remedy="leave them out")
        if self.digits is not None:
            try:
                parse_digits(self.digits)
            except HierarchyError as error:
                raise SpecificationError(str(error), place="digits") from None

    @classmethod
    def of(cls, tree: Hierarchy) -> Classification:
        """Return the written form of a tree in the specification itself, without a file."""
        nested = _list_ends(tree.to_dict())
        if isinstance(nested, tuple):
            return cls(codes=nested, total=tree.total, labels=dict(tree.labels))
        return cls(tree=nested, total=tree.total, labels=dict(tree.labels))

    def build(self) -> Hierarchy | Digits:
        """Return the tree of a classification that is written in the specification itself, or its digits."""
        if self.digits is not None:
            return Digits(self.digits, self.total, self.labels)
        total = self.total or DEFAULT_TOTAL
        if self.tree is not None:
            return Hierarchy.from_dict(self.tree, total, self.labels)
        return Hierarchy.flat(self.codes or (), total, self.labels)


def _list_ends(nested: Mapping[str, Any]) -> Any:
    """Return nested codes of a classification with a tuple in place of codes without further ones."""
    if not any(nested.values()):
        return tuple(nested)
    return {code: _list_ends(below) for code, below in nested.items()}
