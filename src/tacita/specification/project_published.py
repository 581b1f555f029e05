"""Earlier releases in a project: ``[published]`` names their files.

A problem that is written keeps what they say of its cells, one file of windows for each; what they say of
other cells it never knew.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from tacita.core.exact import UNBOUNDED
from tacita.core.release import Mark, Release
from tacita.core.tables.table import Table
from tacita.core.windows import find_shared_windows
from tacita.problem.problem import Problem
from tacita.publication.release_write import write_csv
from tacita.specification.sections import Published
from tacita.verify import LABELS, RELEASE


def can_name_releases(table: Table) -> bool:
    """Return whether a project can keep earlier releases: no dimension is named like their columns."""
    return not {d.name for d in table.structure.dimensions} & {*RELEASE, *LABELS, "table"}


def write_published(
    problem: Problem, table: Table, folder: Path, free_name: Callable[[str], str]
) -> tuple[list[Path], Published]:
    """Write a project's earlier releases as files of intervals; return these and section ``[published]``.

    Parameters
    ----------
    table
        The cells of the problem, in their order, as the project calls them.
    free_name
        Makes a name for a file of the one that is wanted.
    """
    files: list[Path] = []
    for release in problem.already_published:
        wanted = Path(str(release.made_by.get("file", "published.csv"))).stem
        files.append(
            write_csv(_to_windows(problem.table, release, table), folder / f"{free_name(wanted)}.csv", {})
        )
    return files, Published(tuple(file.name for file in files))


def _to_windows(table: Table, release: Release, named: Table) -> Release:
    """Return an earlier release as intervals of the cells of ``named``, the table of the project."""
    low, high = find_shared_windows(table, release)
    silent = (low <= -UNBOUNDED) & (high >= UNBOUNDED)
    marks = np.where(silent, Mark.SUPPRESSED, Mark.INTERVAL).astype(np.uint8)
    return Release.mixed(named, low < high, marks, low, high)
