"""A classification as a tree of codes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tacita.core.errors import HierarchyError, did_you_mean
from tacita.core.hierarchy.links import (
    DEFAULT_TOTAL,
    Links,
    assemble_tree,
    links_from_dict,
    links_from_distinct_rows,
    links_from_prefixes,
    list_frame_columns,
    map_labels,
    name_frame_row,
    name_position,
    read_frame_columns,
    to_code_texts,
)
from tacita.core.words import pluralize

Indices: TypeAlias = npt.NDArray[np.int32]
NestedCodes: TypeAlias = "dict[str, NestedCodes]"
FilePath: TypeAlias = "str | os.PathLike[str]"


@dataclass(frozen=True, eq=False, repr=False)
class Hierarchy:
    """A tree of codes: code `i` is part of code `parents[i]` and no other; the total is part of none (-1).

    In a table over this classification the value of a code with children is the sum of its children's values.
    Codes stand in depth-first order, so that a code and its descendants are neighbours. A code and its only
    child are the same cell; see `same_cell`.

    The constructors `flat` and `from_...` put codes in order and turn them into text.

    Parameters
    ----------
    codes
        All codes, depth-first; the first is the total.
    parents
        Index of each code's parent; copied, and read-only from then on.
    labels
        What codes mean. Labels of codes that are not in the tree are left out, and so are empty ones.

    Raises
    ------
    HierarchyError
        If a code is empty or repeated, or the order is not depth-first.
    """

    codes: tuple[str, ...]
    parents: Indices
    labels: Mapping[str, str] = field(default_factory=dict)
    depth: Indices = field(init=False)

    def __post_init__(self) -> None:
        codes = tuple(self.codes)
        parents = np.array(self.parents, dtype=np.int32)
        _require_codes(codes)
        if parents.shape != (len(codes),):
            raise HierarchyError(
                f"as many parents are needed as codes, {len(codes):,}, not an array of shape {parents.shape}."
            )
        depth = _compute_depths(codes, parents)
        for array in (parents, depth):
            array.flags.writeable = False
        object.__setattr__(self, "codes", codes)
        object.__setattr__(self, "parents", parents)
        object.__setattr__(self, "depth", depth)
        labels = {code: str(self.labels[code]) for code in codes if self.labels.get(code)}
        object.__setattr__(self, "labels", MappingProxyType(labels))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Hierarchy):
            return NotImplemented
        return (
            self.codes == other.codes
            and np.array_equal(self.parents, other.parents)
            and self.labels == other.labels
        )

    def __hash__(self) -> int:
        return hash((self.codes, self.parents.tobytes()))

    def __reduce__(self) -> tuple[type[Hierarchy], tuple[tuple[str, ...], Indices, dict[str, str]]]:
        return Hierarchy, (self.codes, self.parents, dict(self.labels))

    def __repr__(self) -> str:
        deepest = int(self.depth.max())
        codes, leaves = pluralize(len(self), "code"), pluralize(len(self.leaves), "leaf", "leaves")
        return f"Hierarchy({self.total!r}: {codes}, {leaves}, depth {deepest})"

    def __len__(self) -> int:
        return len(self.codes)

    def __contains__(self, code: object) -> bool:
        return code in self._index

    @property
    def total(self) -> str:
        """The root of the classification: the code that every other code is part of."""
        return self.codes[0]

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        """The codes without children, in depth-first order."""
        return tuple(self.codes[i] for i in np.flatnonzero(self._child_counts == 0))

    @cached_property
    def same_cell(self) -> Indices:
        """The code whose cell each code is, by index: the top of a chain of only children, else itself."""
        single = self._child_counts == 1
        cells = list(range(len(self)))
        for code, parent in enumerate(self.parents.tolist()):
            if parent >= 0 and single[parent]:
                cells[code] = cells[parent]
        representatives = np.array(cells, dtype=np.int32)
        representatives.flags.writeable = False
        return representatives

    def index(self, code: str) -> int:
        """Return the position of a code in the tree; refuse an unknown one, and name the nearest."""
        try:
            return self._index[code]
        except (KeyError, TypeError):
            raise HierarchyError(
                f"Code {code!r}{did_you_mean(code, self.codes)} is not among the codes under {self.total!r}",
                remedy="Correct the code or add it to the hierarchy.",
            ) from None

    def parent(self, code: str) -> str | None:
        """Return the code that this one is directly part of; None for the total."""
        above = self.parents[self.index(code)]
        return None if above < 0 else self.codes[above]

    def children(self, code: str) -> tuple[str, ...]:
        """Return the codes directly under this one, in order."""
        return tuple(self.codes[i] for i in self._children_of(self.index(code)))

    def ancestors(self, code: str) -> tuple[str, ...]:
        """Return all codes that this one is part of, the nearest first and the total last."""
        found = []
        above = int(self.parents[self.index(code)])
        while above >= 0:
            found.append(self.codes[above])
            above = int(self.parents[above])
        return tuple(found)

    def leaf_codes_of(self, code: str) -> frozenset[str]:
        """Return the leaves that this code is the sum of; a leaf is the sum of itself."""
        first = self.index(code)
        return frozenset(self.leaves[self._leaves_before[first] : self._leaves_before[self._ends[first]]])

    def families(self) -> Iterator[tuple[int, Indices]]:
        """Yield the index of each code with children, and their indices: one equation of a table each."""
        for parent in np.flatnonzero(self._child_counts).tolist():
            yield parent, self._children_of(parent)

    @cached_property
    def _index(self) -> dict[str, int]:
        return {code: i for i, code in enumerate(self.codes)}

    @cached_property
    def _child_counts(self) -> npt.NDArray[np.int64]:
        return np.bincount(self.parents[1:], minlength=len(self))

    @cached_property
    def _ends(self) -> list[int]:
        """The position after the last descendant of each code, in depth-first order."""
        ends = list(range(1, len(self) + 1))
        for code, parent in zip(range(len(self) - 1, 0, -1), self.parents[:0:-1].tolist(), strict=True):
            ends[parent] = max(ends[parent], ends[code])
        return ends

    @cached_property
    def _leaves_before(self) -> list[int]:
        return [0, *np.cumsum(self._child_counts == 0).tolist()]

    @cached_property
    def _by_parent(self) -> tuple[Indices, npt.NDArray[np.int64]]:
        """The positions of the children of all codes one after another, and where those of each end."""
        order = (np.argsort(self.parents[1:], kind="stable") + 1).astype(np.int32)
        order.flags.writeable = False
        return order, np.cumsum(self._child_counts)

    def _children_of(self, parent: int) -> Indices:
        order, ends = self._by_parent
        return order[ends[parent] - self._child_counts[parent] : ends[parent]]

    @classmethod
    def _from_links(cls, links: Links, total: str | None) -> Hierarchy:
        codes, parents = assemble_tree(links, total)
        return cls(codes, np.array(parents, dtype=np.int32), links.labels)

    @classmethod
    def _from_paths(
        cls,
        names: Sequence[str],
        columns: Sequence[Sequence[str]],
        labels: Sequence[str] | None,
        total: str,
        place: Callable[[int], str],
    ) -> Hierarchy:
        """Return the tree of codes in one column per level; where another order of columns makes one, the
        error says so.
        """
        links = partial(links_from_distinct_rows, total=total, place=place)
        try:
            return cls._from_links(links(columns, labels), total)
        except HierarchyError as error:
            order = sorted(range(len(columns)), key=lambda level: len(set(columns[level])))
            with suppress(HierarchyError):
                cls._from_links(links([columns[level] for level in order], labels), total)
                if order != list(range(len(columns))):
                    listed = ", ".join(names[level] for level in order)
                    remedy = f"Levels go from coarse to fine: list them as {listed}."
                    error = HierarchyError(error.fault, place=error.place, remedy=remedy)
            raise error from None

    @classmethod
    def flat(
        cls, codes: Iterable[object], total: str = DEFAULT_TOTAL, labels: Mapping[str, str] | None = None
    ) -> Hierarchy:
        """Return a classification of one level: every code directly under the total."""
        children = to_code_texts(codes, name_position)
        links = Links([total] * len(children), children, name_position, labels or {})
        return cls._from_links(links, total)

    @classmethod
    def from_dict(
        cls, tree: Mapping[Any, Any], total: str = DEFAULT_TOTAL, labels: Mapping[str, str] | None = None
    ) -> Hierarchy:
        """Return the tree of codes in nested dictionaries; a list, an empty one or None ends a branch.

        Examples
        --------
        >>> Hierarchy.from_dict({"North": {"N1": {}, "N2": {}}, "South": ["S1", "S2"]}).leaves
        ('N1', 'N2', 'S1', 'S2')
        """
        return cls._from_links(links_from_dict(tree, total, labels or {}), total)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        parent: str = "parent",
        child: str = "child",
        label: str | None = None,
        total: str | None = None,
    ) -> Hierarchy:
        """Return the tree of codes in a pandas, polars, arrow or duckdb frame: a row per code and parent.

        The code without a parent is the total. Where several have none, or `total` names another code,
        `total` (or "Total") is put above them. Once a row leaves its parent empty, all parents need a row.
        """
        names = [parent, child] + ([label] if label is not None else [])
        parents, children, *rest = read_frame_columns(frame, names)
        labels = map_labels(children, rest[0]) if rest else {}
        return cls._from_links(Links(parents, children, name_frame_row, labels), total)

    @classmethod
    def from_levels(
        cls,
        codes: Iterable[object],
        lengths: Sequence[int] = (1, 1, 2),
        total: str = DEFAULT_TOTAL,
        labels: Mapping[str, str] | None = None,
    ) -> Hierarchy:
        """Return the tree of codes by their lengths, as in NACE or NUTS: the parent of a code is its prefix.

        Parameters
        ----------
        codes
            Codes of the finest level, or of any level; missing prefixes are added.
        lengths
            Characters that each level adds. Unlike in :class:`~tacita.Digits` points are counted: (2, 2, 1)
            for 10, 10.1 and 10.11.

        Examples
        --------
        >>> Hierarchy.from_levels(["FR101", "FR102"], lengths=(2, 2, 1)).ancestors("FR102")
        ('FR10', 'FR', 'Total')
        """
        links = links_from_prefixes(to_code_texts(codes, name_position), lengths, total)
        return cls._from_links(replace(links, labels=labels or {}), total)

    @classmethod
    def from_columns(
        cls,
        frame: Any,
        columns: Sequence[str] | None = None,
        label: str | None = None,
        total: str = DEFAULT_TOTAL,
    ) -> Hierarchy:
        """Return the tree of codes in a frame with one column per level, coarse to fine.

        A row is a path of codes; it may come several times, as in records. Without `columns` all but `label`
        are levels. A code that is repeated in the next column is the same code carried down. A row may end
        early with empty cells. `label` names the column that says what the last code of each row means.

        Examples
        --------
        >>> import pyarrow as pa
        >>> stays = pa.table({"region": ["N1", "N2", "N1", "S1"], "state": ["N", "N", "N", "S"]})
        >>> Hierarchy.from_columns(stays, ["state", "region"]).to_dict()
        {'N': {'N1': {}, 'N2': {}}, 'S': {'S1': {}}}
        """
        if columns is None:
            columns = [name for name in list_frame_columns(frame) if name != label]
        names = [*_require_levels(columns)] + ([label] if label is not None else [])
        read = read_frame_columns(frame, names)
        labels = read.pop() if label is not None else None
        return cls._from_paths(columns, read, labels, total, name_frame_row)

    @classmethod
    def from_hrc(
        cls,
        path: FilePath,
        lead: str | None = None,
        total: str = DEFAULT_TOTAL,
        encoding: str | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> Hierarchy:
        """Return the tree of codes in a `.hrc` file: one per line, after a lead string for each ancestor.

        The total has no line, and no lead string. Without `lead` it is `@`, or the blanks by which codes are
        indented where no line begins with `@`.

        Blanks after the lead strings belong to the code, trailing blanks do not. Without `encoding` the file
        is read as UTF-8, or as cp1252 where it is not UTF-8.
        """
        from tacita.formats import code_trees

        links = code_trees.read_hrc(path, lead, total, encoding)
        return cls._from_links(replace(links, labels=labels or {}), total)

    @classmethod
    def from_csv(
        cls,
        path: FilePath,
        *,
        parent: str = "parent",
        child: str = "child",
        label: str = "label",
        columns: Sequence[str] | None = None,
        total: str | None = None,
        delimiter: str | None = None,
        encoding: str | None = None,
    ) -> Hierarchy:
        """Return the tree of codes in a CSV file with header.

        Columns are `parent` and `child` as in `from_frame`, else levels as in `from_columns`.

        The levels are `columns`, or all columns but `label`. Column names match in any case, and blanks
        around cells are dropped. Without `delimiter`, the header decides between comma, semicolon, tab and
        bar; without `encoding`, the file is read as UTF-8, or as cp1252 where it is not UTF-8.
        """
        from tacita.formats import code_trees

        table = code_trees.read_code_file(path, delimiter, encoding)
        named = table.find_column(label)
        labels = table.columns[named] if named else None
        if columns is None and (table.find_column(parent) or table.find_column(child)):
            parents, children = table.column(parent), table.column(child)
            mapping = map_labels(children, labels) if labels else {}
            return cls._from_links(Links(parents, children, table.place, mapping), total)
        levels = [name for name in table.columns if name != named] if columns is None else columns
        root = DEFAULT_TOTAL if total is None else total
        cells = [table.column(level) for level in _require_levels(levels)]
        return cls._from_paths(levels, cells, labels, root, table.place)

    def to_dict(self) -> NestedCodes:
        """Return nested dictionaries of the codes under the total, for `from_dict`."""
        nodes: list[NestedCodes] = [{} for _ in self.codes]
        for code, parent, node in zip(self.codes[1:], self.parents[1:].tolist(), nodes[1:], strict=True):
            nodes[parent][code] = node
        return nodes[0]

    def rows(self) -> list[tuple[str, str, str]]:
        """Return (parent, child, label) of each code, for `from_frame`; the total has an empty parent."""
        above = ["", *(self.codes[i] for i in self.parents[1:])]
        return [
            (parent, code, self.labels.get(code, "")) for parent, code in zip(above, self.codes, strict=True)
        ]

    def write_hrc(self, path: FilePath, lead: str = "@") -> None:
        """Write the codes to a UTF-8 `.hrc` file, which holds neither the total nor labels."""
        from tacita.formats import code_trees

        code_trees.write_hrc(path, self.codes[1:], self.depth[1:].tolist(), lead)


def _require_levels(columns: Sequence[str]) -> Sequence[str]:
    if isinstance(columns, str) or not columns:
        given = f"'{columns}'" if columns else "nothing"
        raise HierarchyError(
            f"Levels are a list of columns, coarse to fine, not {given}", remedy="List the columns."
        )
    return columns


def _require_codes(codes: tuple[object, ...]) -> None:
    """Refuse codes of a classification that are no text, empty, broken over lines or repeated."""
    seen: set[str] = set()
    for position, code in enumerate(codes):
        if not isinstance(code, str) or not code.strip():
            raise HierarchyError(
                f"{code!r} is not a code", place=name_position(position), remedy="Codes are non-empty text."
            )
        if not code.isprintable() and any(character in code for character in "\n\r\ufeff"):
            raise HierarchyError(
                f"Code {code!r} holds a line break or a byte order mark, which no file keeps",
                remedy="Remove it.",
            )
        if code in seen:
            raise HierarchyError(
                f"Code {code!r} is repeated at {name_position(position)}", remedy="Codes are unique."
            )
        seen.add(code)
    if not codes:
        raise HierarchyError("A hierarchy without codes", remedy="The first code is the total.")


def _compute_depths(codes: tuple[str, ...], parents: Indices) -> Indices:
    """Return the steps from the total to each code of a tree; refuse parents not in depth-first order."""
    depth = np.zeros(len(codes), dtype=np.int32)
    if parents[0] != -1:
        raise HierarchyError(
            f"The first code {codes[0]!r} is the total; its parent must be -1, not {parents[0]}."
        )
    path = [0]
    for position, parent in enumerate(parents[1:].tolist(), start=1):
        while path and path[-1] != parent:
            path.pop()
        if not path:
            raise HierarchyError(
                f"Code {codes[position]!r} at {name_position(position)} does not follow its parent "
                "depth-first",
                remedy="Build the hierarchy with from_dict or from_frame, which put codes in order.",
            )
        depth[position] = len(path)
        path.append(position)
    return depth
