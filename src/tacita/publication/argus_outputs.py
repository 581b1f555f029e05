"""Write releases as tau-ARGUS writes protected tables: for publication, after a passing audit.

| kind | holds |
|---|---|
| crosstab | codes of all dimensions but the last down, those of the last along the first line |
| pivot | a line of names; per cell its codes and its value |
| code-value | the same without the line of names |

A suppressed cell is ``x``, an empty one ``-``. What these files have no place for is refused: intervals, and
notices to readers. Files with true values are in :mod:`tacita.formats.argus.internal_outputs`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from tacita.core.errors import InputError
from tacita.core.release import Mark, Release
from tacita.core.tables.frames import list_rows
from tacita.formats.argus.delimited import OutputOptions, write_lines
from tacita.formats.escape import escape, escape_all
from tacita.formats.number_texts import format_numbers
from tacita.publication.release_write import refuse_unless_safe

if TYPE_CHECKING:
    from tacita.auditing.audit import Audit

PublicKind = Literal["crosstab", "pivot", "code-value"]
SUPPRESSED, EMPTY = "x", "-"


def write_public_output(
    release: Release,
    path: str | os.PathLike[str],
    kind: PublicKind,
    options: OutputOptions | None = None,
    part: int | str = 0,
    *,
    audit: Audit | None,
) -> Path:
    """Write a release, or one of its linked tables, for publication as tau-ARGUS does; return the path.

    Parameters
    ----------
    audit
        An audit of this release that found it safe.
    part
        Which of several linked tables.

    Raises
    ------
    UnsafeError
        There is no such audit.
    InputError
        The release has intervals or a notice, or the options ask for statuses, which are internal.
    """
    refuse_unless_safe(release, audit)
    options = options or OutputOptions()
    _refuse_without_place(release, kind, options)
    names, codes, cells = list_rows(release.structure, part)
    listed = [escape_all(column.to_pylist()) for column in codes]
    shown = list(map(options.write_number, format_numbers(release.value[cells], release.decimals)))
    # Readers may know of a structural zero that it is one, and of no other that nobody contributed to it.
    structural = None if audit is None else audit.problem.table.structural
    empty = np.zeros(cells.size, dtype=bool) if structural is None else structural[cells]
    hidden = release.marks[cells] == Mark.SUPPRESSED
    for k in np.flatnonzero(hidden | empty).tolist():
        shown[k] = SUPPRESSED if hidden[k] else EMPTY
    header = [escape(name) for name in names]
    if kind == "crosstab":
        return _write_crosstab(path, header, listed, shown, options)
    return write_lines(
        path,
        [*listed, shown],
        options,
        codes=len(names),
        header=[*header, "value"] if kind == "pivot" else None,
        public=True,
    )


def _refuse_without_place(release: Release, kind: PublicKind, options: OutputOptions) -> None:
    """Refuse to publish in a kind of output that has no place for what the release says."""
    if options.status:
        raise InputError(
            "with the status of cells the file holds true values and is internal",
            remedy="leave the status out (AS-), or write it as an internal file",
        )
    if (release.marks == Mark.INTERVAL).any():
        raise InputError(
            f"a file of the kind '{kind}' has no place for intervals", remedy="write it as csv or xlsx"
        )
    if release.notice:
        raise InputError(
            f"a file of the kind '{kind}' has no place for the notice to readers: {release.notice}",
            remedy="write it as csv or xlsx",
        )


def _write_crosstab(
    path: str | os.PathLike[str],
    names: list[str],
    codes: list[list[str]],
    shown: list[str],
    options: OutputOptions,
) -> Path:
    """Write a protected table, the codes of its last dimension along the first line, empty cells as -."""
    *down, last = codes if len(codes) > 1 else [codes[0], ["value"] * len(shown)]
    across = {code: k for k, code in enumerate(dict.fromkeys(last))}
    lines: dict[tuple[str, ...], list[str]] = {}
    for key, code, text in zip(zip(*down, strict=True), last, shown, strict=True):
        lines.setdefault(key, [EMPTY] * len(across))[across[code]] = text
    columns = [
        *map(list, zip(*lines, strict=True)),
        *map(list, zip(*lines.values(), strict=True)),
    ]
    return write_lines(
        path,
        columns,
        options,
        codes=len(down),
        header=[*names[: len(down)], *across],
        public=True,
    )
