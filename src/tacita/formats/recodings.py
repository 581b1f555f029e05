"""Read recodings: CSV files with columns ``code`` and ``new`` (and ``label``), or ``.grc`` of τ-ARGUS."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tacita.core.errors import FormatError
from tacita.core.hierarchy import Hierarchy
from tacita.core.hierarchy.recoding import Recoding, RecodingLike
from tacita.formats import code_trees
from tacita.formats.argus.code_trees import read_labels
from tacita.formats.argus.recodings import parse_recoding
from tacita.formats.argus.tokens import find_beside


def read_recodings(given: Mapping[str, Any]) -> dict[str, RecodingLike]:
    """Return recodings by dimension, of which some may be paths of files."""
    return {
        dimension: read_recoding(one) if isinstance(one, str | os.PathLike) else one
        for dimension, one in given.items()
    }


def read_recoding(path: str | os.PathLike[str]) -> Recoding:
    """Return the recoding in a file: ``.grc`` of τ-ARGUS, or else CSV.

    In a CSV file each row says what one code becomes; an empty new code leaves it out.

    Raises
    ------
    FormatError, HierarchyError
        With the line of the fault.
    """
    if Path(path).suffix.lower() == ".grc":
        return _read_grc(path)
    file = code_trees.read_code_file(path, None, None)
    codes, new = file.column("code"), file.column("new")
    becomes: dict[str, str] = {}
    for row, (code, text) in enumerate(zip(codes, new, strict=True)):
        if becomes.setdefault(code, text) != text:
            fault = f"code '{code}' becomes '{becomes[code]}' and '{text}'"
            raise FormatError(fault, place=file.place(row), remedy="Keep one of them.")
    named = file.find_column("label")
    labels = zip(new, file.columns[named], strict=True) if named is not None else ()
    return Recoding(lambda tree: becomes, {code: label for code, label in labels if code and label})


def _read_grc(path: str | os.PathLike[str]) -> Recoding:
    """Return what a ``.grc`` file recodes; codes of joined ranges are those of the classification."""
    parsed = parse_recoding(path)
    if parsed.missing:
        raise FormatError(
            "<MISSING> means codes of records that are missing, which are errors here",
            place=path,
            remedy="Leave the line out, and records without a code out by a condition on them.",
            options=["where"],
        )
    labels: Mapping[str, str] = {}
    if parsed.codelist is not None:
        labels, _ = read_labels(find_beside(parsed.codelist, parsed.path.parent))

    def find(tree: Hierarchy) -> dict[str, str]:
        if parsed.closed:
            return {child: code for code in parsed.closed for child in tree.children(code)}
        becomes: dict[str, str] = {}
        for new, items in parsed.groups:
            for code in tree.codes[1:]:
                if any(item.holds(code) for item in items) and becomes.setdefault(code, new) != new:
                    fault = f"code '{code}' is joined to '{becomes[code]}' and to '{new}'"
                    raise FormatError(fault, place=path, remedy="Keep one of them.")
        return becomes

    return Recoding(find, {code.strip(): label for code, label in labels.items()})
