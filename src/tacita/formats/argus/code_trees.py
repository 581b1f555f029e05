"""Classifications that τ-ARGUS metadata describe: by hierarchy files, digits per level, lists of codes.

Codes of fixed width are padded with blanks on the left, and a file may write them with or without: a code is
looked for exactly as it is written, then padded to the length of its variable. The table shows codes without
padding, unless two codes differ in nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from tacita.core.errors import FormatError, HierarchyError
from tacita.core.hierarchy import Hierarchy
from tacita.formats.argus.metadata import Metadata, Variable
from tacita.formats.argus.tokens import find_beside, note_encoding
from tacita.formats.textfile import read_text
from tacita.storage.atomic import write_text

LEAD = "@"
"""The lead string of hierarchy files unless the metadata name one."""
BLANK = "missing"
"""What the table calls a missing code of nothing but blanks."""


@dataclass(frozen=True)
class CodeTree:
    """The classification of a variable of τ-ARGUS, and what the codes of files are called in it.

    Attributes
    ----------
    hierarchy
        The tree of codes as the table shows them, with labels.
    shown
        The shown code of each code as files write it, trailing blanks taken off.
    length
        The width to which codes are padded on the left.
    missing
        The shown codes that stand for "missing"; they are parts of the total directly.
    """

    hierarchy: Hierarchy
    shown: Mapping[str, str]
    length: int
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def find(self, code: str) -> str | None:
        """Return the shown code for a code as files may write it, padded or not; None if unknown."""
        written = code.rstrip()
        found = self.shown.get(written, self.shown.get(written.rjust(self.length)))
        return found if found is not None or written not in self.hierarchy else written

    def map_codes(self, parts: Mapping[str, str], hierarchy: Hierarchy) -> CodeTree:
        """Return the tree over other codes: ``parts`` names the new one for shown codes that are replaced."""
        shown = {written: parts.get(code, code) for written, code in self.shown.items()}
        missing = tuple(code for code in self.missing if code in hierarchy)
        return replace(self, hierarchy=hierarchy, shown=shown, missing=missing)


def read_labels(path: str | os.PathLike[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the labels in a ``.cdl`` file, one ``code,label`` per line, by code; and notes on reading it."""
    text, encoding = read_text(path)
    labels: dict[str, str] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        code, comma, label = line.partition(",")
        if not comma:
            raise FormatError(
                f"no comma between code and label in '{line.strip()}'",
                place=f"{path}, line {number}",
                remedy="Write code,label.",
            )
        labels[_unquote(code.rstrip())] = _unquote(label.strip())
    return labels, note_encoding(path, encoding)


def write_labels(labels: Mapping[str, str], path: str | os.PathLike[str]) -> Path:
    """Write labels by code as a ``.cdl`` file, and return its path."""
    for code, label in labels.items():
        if "," in code or any(sign in code + label for sign in "\n\r"):
            raise FormatError(
                f"code {code!r} cannot be written to a .cdl file: it holds a comma or a line break",
                place=path,
                remedy="Rename it.",
            )
    return write_text(path, "".join(f"{code},{label}\n" for code, label in labels.items()))


def _unquote(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text


def build_code_tree(
    metadata: Metadata, variable: Variable, found: Sequence[str], folder: Path, keep_order: bool = False
) -> CodeTree:
    """Return the classification of a variable that spans tables.

    Parameters
    ----------
    found
        The different codes of the data, trailing blanks taken off.
    folder
        Where the data are: files that the metadata name are looked up there, then beside the metadata.
    keep_order
        Whether codes without a hierarchy stand in the order of ``found``, as in a table; else they are
        sorted. Those of a code list stand first, in its order.
    """
    folders = (folder, metadata.path.parent)
    labels: Mapping[str, str] = {}
    notes: tuple[str, ...] = ()
    if variable.codelist is not None:
        labels, notes = read_labels(find_beside(variable.codelist, *folders))
    try:
        written, widths = _read_tree(variable, found, labels, folders, keep_order)
    except HierarchyError as error:
        raise error.with_place(f"'{variable.name}'") if not error.place else error from None
    length = variable.length or max(widths, default=0)
    known = dict.fromkeys(written.codes)
    by_padded = {code.rjust(length): code for code in reversed(written.codes)}

    def match(code: str) -> str | None:
        return code if code in known else by_padded.get(code.rjust(length))

    lost = [code.rstrip() for code in variable.missing]
    if variable.hierarchy is not None and (clash := [code for code in lost if match(code) is not None]):
        raise HierarchyError(
            f"code {clash[0]!r} means 'missing' in '{variable.name}', and {variable.hierarchy} lists it",
            place=metadata.path,
            remedy="Take it off one of them.",
        )
    lost = [code for code in dict.fromkeys(lost) if match(code) is None]
    every = [*written.codes, *lost]
    names = {code: code.strip() or BLANK for code in every}
    if len(set(names.values())) < len(every):
        names = {code: code if code.strip() else BLANK for code in every}
    shown = {raw: names[code] for raw in found if (code := match(raw)) is not None}
    shown |= {raw: names[code] for raw in found for code in lost if raw.rjust(length) == code.rjust(length)}
    hierarchy = Hierarchy(
        tuple(names[code] for code in every),
        np.concatenate([written.parents, np.zeros(len(lost), dtype=np.int32)]),
        _label_codes(names, labels, length),
    )
    missing = tuple(names[code] for code in lost)
    return CodeTree(hierarchy, {**{code: names[code] for code in every}, **shown}, length, missing, notes)


def _read_tree(
    variable: Variable,
    found: Sequence[str],
    labels: Mapping[str, str],
    folders: tuple[Path, ...],
    keep_order: bool,
) -> tuple[Hierarchy, list[int]]:
    """Return the tree of a variable's codes as files write them, and the widths of its codes."""
    total = variable.total_code
    if variable.hierarchy is not None:
        path = find_beside(variable.hierarchy, *folders)
        tree = Hierarchy.from_hrc(path, lead=variable.lead or LEAD, total=total)
        return tree, [len(code) for code in tree.codes[1:]]
    lost = {code.rstrip() for code in variable.missing}
    codes = [code for code in found if code.strip() != total.strip() and code not in lost and code.strip()]
    if not keep_order:
        codes = sorted(codes)
    widths = [len(code) for code in codes]
    if not codes:
        # Only missing codes occur: the total is the sum of these.
        return Hierarchy((total,), np.array([-1], dtype=np.int32)), widths
    if variable.levels:
        lengths = [n for n in variable.levels if n]
        own = variable.length or sum(lengths)
        # In a table codes of all levels stand beside each other, and none of them is padded.
        padded = codes if keep_order else [code.rjust(own) for code in codes]
        return Hierarchy.from_levels(padded, lengths=lengths, total=total), widths
    rank = {code.strip(): k for k, code in enumerate(labels)}
    codes.sort(key=lambda code: rank.get(code.strip(), len(rank)))
    return Hierarchy.flat(codes, total=total), widths


def _label_codes(names: Mapping[str, str], labels: Mapping[str, str], length: int) -> dict[str, str]:
    """Return labels by shown code; a code list may write codes with or without padding."""
    padded = {code.rjust(length): label for code, label in reversed(list(labels.items()))}
    found = {name: labels.get(code, padded.get(code.rjust(length), "")) for code, name in names.items()}
    return {name: label for name, label in found.items() if label}
