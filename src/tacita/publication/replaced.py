"""A release that another one of the same table takes the place of: readers may have kept it.

Two releases of one table are one release to whoever has both (see :mod:`tacita.core.windows`). So a release
that says something else of its cells than the new one is not thrown away: a copy stays inside as
``internal/earlier-release.csv``, and a warning names it.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tacita.core.errors import TacitaError
from tacita.core.run import AVERAGES
from tacita.core.windows import same_windows
from tacita.storage.internal import INTERNAL, PUBLICATION

if TYPE_CHECKING:
    from tacita.auditing.audit import Audit

REPLACED = "earlier-release"
"""What copies are called, the first one without a number."""


def keep_replaced(
    audit: Audit, folder: Path, draft: Path, *, published: bool
) -> tuple[list[Path], tuple[str, ...]]:
    """Copy the release that the audited one takes the place of in ``folder`` to the ``draft`` of internal
    files; return the copy and a warning. If the new one is not ``published``, the old one goes all the same.

    Nothing is copied if there is none, if it is of another table or says the same, or if it was judged
    together with the new one.
    """
    from tacita.publication.release_read import read_release

    file, table = folder / PUBLICATION / "release.csv", audit.problem.table
    if not file.is_file():
        return [], ()
    try:
        old = read_release(file, table)
    except (TacitaError, OSError, ValueError):
        return [], ()
    known = (*audit.problem.already_published, *audit.earlier, *([audit.release] if published else ()))
    if any(same_windows(table, old, release) for release in known):
        return [], ()
    copy = draft / _free_name(folder / INTERNAL)
    shutil.copyfile(file, copy)
    same = np.array_equal(old.hidden, audit.release.hidden)
    happened = f"replaces a release of this table that {'said other numbers' if same else 'hid other cells'}"
    return [copy], (
        f"{file} {happened if published else 'was a release of this table, and is removed'}. Readers may "
        "have kept the old one, and two releases together tell more than each of them: if it was ever "
        f"published, protect the table again with {folder / INTERNAL / copy.name} as a "
        "release that is already published",
        *([AVERAGES] if "seed" in audit.release.made_by else []),
    )


def _free_name(folder: Path) -> str:
    number = 1
    while (folder / (name := f"{REPLACED}{'' if number == 1 else f'-{number}'}.csv")).exists():
        number += 1
    return name
