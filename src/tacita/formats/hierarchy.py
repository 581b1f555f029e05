"""Read and write classifications as files; the ending of the name chooses the format."""

from __future__ import annotations

import os
from pathlib import Path

from tacita.core.hierarchy import DEFAULT_TOTAL, Hierarchy
from tacita.formats.csv import write_rows
from tacita.formats.escape import escape_all


def read_hierarchy(
    path: str | os.PathLike[str], total: str | None = None, lead: str | None = None
) -> Hierarchy:
    """Return the classification of a ``.hrc`` file, with the lead string given or found, or of a CSV file."""
    if Path(path).suffix.lower() == ".hrc":
        return Hierarchy.from_hrc(path, lead=lead, total=total or DEFAULT_TOTAL)
    return Hierarchy.from_csv(path, total=total)


def write_hierarchy(tree: Hierarchy, path: str | os.PathLike[str]) -> Path:
    """Write a classification as a CSV file with columns parent, child and label, and return its path."""
    columns = [escape_all(list(column)) for column in zip(*tree.rows(), strict=True)]
    return write_rows(path, ("parent", "child", "label"), columns)
