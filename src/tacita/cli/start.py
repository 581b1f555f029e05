"""The pattern that a search begins with: what an earlier release, or another program's, does not publish."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tacita.cli.case_options import ReleaseOptions, load_release, release_file
from tacita.core.errors import InputError
from tacita.core.exact import Mask

if TYPE_CHECKING:
    from tacita.problem.problem import Problem


def load_pattern(path: Path, problem: Problem, decimal: str) -> Mask:
    """Cells of the problem's table that a release does not publish.

    A release of ours may be last period's: its numbers are not looked at, cells that the table does not have
    are left out, and cells that it does not list count as published. Other files must be of this very table.
    """
    from tacita.core.release import Mark
    from tacita.formats.cell_rows import find_cells
    from tacita.formats.columns import read_columns

    if not path.exists():
        raise InputError(f"{path}: no such file or folder; check the path")
    structure = problem.table.structure
    source = read_columns(release_file(path), problem.table, decimal=decimal)
    if "mark" not in source.names or len(structure.parts) > 1:
        return load_release(path, problem, ReleaseOptions(), decimal).changed
    try:
        cells = find_cells(source, structure)
    except InputError as error:
        raise error.with_place(path) from None
    if (cells < 0).all():
        raise InputError(
            f"{path}: none of its cells is in the table; check that it is a release of this kind"
        )
    codes, words = source.codes("mark")
    published = [k for k, word in enumerate(words) if word.lower() == Mark.PUBLISHED.word]
    hidden = np.zeros(len(structure), dtype=bool)
    hidden[cells[(cells >= 0) & ~np.isin(codes, published)]] = True
    return hidden
