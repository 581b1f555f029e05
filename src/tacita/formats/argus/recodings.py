"""Recodings of τ-ARGUS (``.grc``): codes that are joined to new ones, or branches of a tree that are closed.

    flat := [ "<MISSING>" code [code] ] [ "<CODELIST>" file ] ( new ":" item { "," item } )+
    item := code | low "-" high | "-" high | low "-"
    tree := "<TREERECODE>" code+                                  one per line: nothing below it is left

Codes that a flat recoding does not name stay as they are. Ends of ranges are compared as numbers if both
they and the code are, else as text.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from tacita.core.errors import FormatError, InputError, did_you_mean
from tacita.core.hierarchy import Hierarchy
from tacita.core.words import pluralize
from tacita.formats.argus.code_trees import CodeTree, read_labels
from tacita.formats.argus.tokens import Line, find_beside, format_token, read_lines
from tacita.storage.atomic import write_text

TREE = "<TREERECODE>"


@dataclass(frozen=True)
class Item:
    """Codes that a recoding joins: one (``low == high``), or all from ``low`` to ``high``; None: no end."""

    low: str | None
    high: str | None

    @classmethod
    def of(cls, code: str) -> Item:
        """Return the item of a recoding that is one code."""
        return cls(code, code)

    def holds(self, code: str) -> bool:
        """Return whether a code is the one, or lies in the range, of this part of a recoding."""
        if self.low == self.high:
            return code == self.low
        low_enough = self.high is None or _compare(code, self.high) <= 0
        return low_enough and (self.low is None or _compare(code, self.low) >= 0)


@dataclass(frozen=True)
class Recoding:
    """What a ``.grc`` file says.

    Attributes
    ----------
    groups
        New codes with what they join, in order.
    closed
        Codes of a tree below which nothing is left; a recoding has these or ``groups``.
    missing
        Codes that mean "missing" from then on.
    codelist
        The name of the ``.cdl`` file with labels of the new codes.
    """

    groups: tuple[tuple[str, tuple[Item, ...]], ...] = ()
    closed: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    codelist: str | None = None
    path: Path = field(default=Path(), compare=False)
    notes: tuple[str, ...] = field(default=(), compare=False)


def parse_recoding(path: str | os.PathLike[str]) -> Recoding:
    """Return the recoding in a ``.grc`` file; :class:`FormatError` names line and remedy of a fault."""
    read = read_lines(path)
    if not read.lines:
        raise FormatError("the file recodes nothing", place=path, remedy="Write one new code per line.")
    found = Recoding(path=read.path, notes=read.notes)
    if read.lines[0].keyword == TREE:
        codes = tuple(_read_code(line.text) for line in read.lines[1:])
        return replace(found, closed=tuple(dict.fromkeys(codes)))
    for line in read.lines:
        if line.keyword is not None:
            found = _take_keyword(line, found)
            continue
        new, sign, items = _partition(line.text, ":")
        if not sign or not new.strip():
            raise line.fault("no new code with a colon", "Write the new code, a colon, and what it joins.")
        code = _read_code(new)
        if code in dict(found.groups):
            raise line.fault(f"the new code '{code}' is there twice", "Join the two lines.")
        joined = tuple(_read_item(line, text) for text in _split_items(items))
        found = replace(found, groups=(*found.groups, (code, joined)))
    if not found.groups:
        raise FormatError("the file recodes nothing", place=path, remedy="Write one new code per line.")
    return found


def write_recoding(recoding: Recoding, path: str | os.PathLike[str]) -> Path:
    """Write a recoding as a ``.grc`` file, and return its path."""
    lines = []
    if recoding.closed:
        lines = [TREE, *(_write_code(code, path, "") for code in recoding.closed)]
    if recoding.missing:
        lines.append(" ".join(["<MISSING>", *(format_token(code, path) for code in recoding.missing)]))
    if recoding.codelist is not None:
        lines.append(f"<CODELIST> {format_token(recoding.codelist, path)}")
    for new, items in recoding.groups:
        joined = ",".join(_write_item(item, path) for item in items)
        lines.append(f"{_write_code(new, path, ':')}:{joined}")
    return write_text(path, "".join(f"{line}\n" for line in lines))


def _take_keyword(line: Line, found: Recoding) -> Recoding:
    texts = tuple(token.text for token in line.tokens[1:])
    if line.keyword == "<MISSING>" and 1 <= len(texts) <= 2:
        return replace(found, missing=texts)
    if line.keyword == "<CODELIST>" and len(texts) == 1:
        return replace(found, codelist=texts[0])
    raise line.fault(
        f"{line.keyword} with {pluralize(len(texts), 'text')} is none of what a recoding has",
        "Use <MISSING> with one or two codes, <CODELIST> with a file, or <TREERECODE> in the first line.",
    )


def _read_item(line: Line, text: str) -> Item:
    """Return a code or a range of codes that a line joins."""
    low, sign, high = _partition(text, "-")
    if not text.strip() or (sign and not low.strip() and not high.strip()):
        raise line.fault("a code that is joined is empty", "Fill it in, or take the comma off.")
    if not sign:
        return Item.of(_read_code(text))
    ends = [_read_code(end) if end.strip() else None for end in (low, high)]
    return Item(ends[0], ends[1])


def _partition(text: str, sign: str) -> tuple[str, str, str]:
    """Return a text before and after the first of a sign that stands outside of quotes."""
    quoted = False
    for k, letter in enumerate(text):
        quoted ^= letter == '"'
        if letter == sign and not quoted:
            return text[:k], sign, text[k + 1 :]
    return text, "", ""


def _split_items(text: str) -> Iterator[str]:
    rest, sign = text, ","
    while sign:
        item, sign, rest = _partition(rest, ",")
        yield item


def _read_code(text: str) -> str:
    plain = text.strip()
    return plain[1:-1] if len(plain) > 1 and plain[0] == plain[-1] == '"' else plain


def _write_code(code: str, path: str | os.PathLike[str], signs: str) -> str:
    quoted = not code or any(sign in code for sign in (*signs, "\t")) or format_token(code, path) != code
    if '"' in code:
        raise FormatError(f"code {code!r} holds a quote", place=path, remedy="Rename it.")
    return f'"{code}"' if quoted else code


def _write_item(item: Item, path: str | os.PathLike[str]) -> str:
    if item.low == item.high and item.low is not None:
        return _write_code(item.low, path, ":,-")
    return "-".join("" if end is None else _write_code(end, path, ":,-") for end in (item.low, item.high))


def _compare(one: str, other: str) -> int:
    first, second = one.strip(), other.strip()
    if first.isascii() and second.isascii() and first.isdecimal() and second.isdecimal():
        first, second = first.lstrip("0"), second.lstrip("0")
        first, second = first.rjust(len(second)), second.rjust(len(first))
    return (first > second) - (first < second)


def recode_tree(tree: CodeTree, recoding: Recoding | int) -> CodeTree:
    """Return the classification of a variable after a recoding, or with so many levels below its total.

    Raises
    ------
    InputError
        A code is not in the tree, or a flat recoding is applied to a hierarchy.
    """
    if isinstance(recoding, int):
        deepest = int(tree.hierarchy.depth.max())
        if not 0 <= recoding <= deepest:
            raise InputError(
                f"the classification has {pluralize(deepest, 'level')} below its total, and {recoding} are "
                "asked for",
                remedy="choose fewer",
            )
        codes = tree.hierarchy.codes
        return _close(
            tree, {c for c, depth in zip(codes, tree.hierarchy.depth, strict=True) if depth == recoding}
        )
    if recoding.closed:
        return _close(tree, {_find(tree, recoding, code) for code in recoding.closed})
    return _join(tree, recoding)


def _find(tree: CodeTree, recoding: Recoding, code: str) -> str:
    found = tree.find(code)
    if found is None:
        raise FormatError(
            f"code '{code}'{did_you_mean(code, tree.hierarchy.codes)} is not in the classification",
            place=recoding.path,
            remedy="Correct it.",
        )
    return found


def _close(tree: CodeTree, closed: set[str]) -> CodeTree:
    """Return the tree without all that is below some codes; data there count for the code that is closed."""
    hierarchy = tree.hierarchy
    above: dict[str, str] = {}
    keep = []
    for position, (code, parent) in enumerate(zip(hierarchy.codes, hierarchy.parents.tolist(), strict=True)):
        over = "" if parent < 0 else hierarchy.codes[parent]
        if over in above:
            above[code] = above[over]
        elif over in closed:
            above[code] = over
        else:
            keep.append(position)
    return tree.map_codes(above, _select(hierarchy, keep))


def _select(hierarchy: Hierarchy, keep: list[int]) -> Hierarchy:
    """Return the codes of a tree at some positions, which hold the parents of each."""
    place = {position: k for k, position in enumerate(keep)}
    parents = [place.get(int(hierarchy.parents[k]), -1) for k in keep]
    codes = tuple(hierarchy.codes[k] for k in keep)
    return Hierarchy(codes, np.array(parents, dtype=np.int32), hierarchy.labels)


def _join(tree: CodeTree, recoding: Recoding) -> CodeTree:
    """Return the flat classification in which groups of codes have become one code each."""
    hierarchy = tree.hierarchy
    if int(hierarchy.depth.max()) > 1:
        raise FormatError(
            "codes of a hierarchy cannot be joined by a flat recoding",
            place=recoding.path,
            remedy="Close branches of it with <TREERECODE>, or change its hierarchy file.",
        )
    parts: dict[str, str] = {}
    for new, items in recoding.groups:
        listed = {item.low for item in items if item.low == item.high and item.low is not None}
        single = {_find_any(tree, code) for code in listed}
        for code in hierarchy.codes[1:]:
            if code in single or any(item.low != item.high and item.holds(code) for item in items):
                if parts.get(code, new) != new:
                    raise FormatError(
                        f"code '{code}' is joined to '{parts[code]}' and to '{new}'",
                        place=recoding.path,
                        remedy="Keep one of them.",
                    )
                parts[code] = new
    codes = tuple(dict.fromkeys(parts.get(code, code) for code in hierarchy.codes))
    labels: Mapping[str, str] = {code: text for code, text in hierarchy.labels.items() if code not in parts}
    notes = (*tree.notes, *recoding.notes)
    if recoding.codelist is not None:
        own, more = read_labels(find_beside(recoding.codelist, recoding.path.parent))
        labels = {**labels, **{code.strip(): label for code, label in own.items()}}
        notes = (*notes, *more)
    parents = np.array([-1] + [0] * (len(codes) - 1), dtype=np.int32)
    recoded = tree.map_codes(parts, Hierarchy(codes, parents, labels))
    again = tuple(code.strip() for code in recoding.missing if code.strip() in codes)
    return replace(recoded, missing=again or recoded.missing, notes=notes)


def _find_any(tree: CodeTree, code: str) -> str:
    """Return the shown code for one of a recoding; one that the data do not have stays as it is."""
    return tree.find(code) or code
