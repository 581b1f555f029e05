"""Write the tables that a batch asks for: those for publication only if they are proven safe together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from tacita.auditing.audit import audit
from tacita.batch.results import BatchResult, OutputRequest, ProtectedTables
from tacita.batch.tables import BatchTable, Subject, pose_problem
from tacita.core.errors import InputError, TacitaError, UnsafeError
from tacita.core.release import Release
from tacita.core.run import Run
from tacita.formats.argus.batch import KINDS, WriteTable
from tacita.formats.argus.delimited import OutputOptions
from tacita.formats.argus.internal_outputs import InternalKind
from tacita.publication.argus_outputs import PublicKind
from tacita.publication.argus_results import write_internal_result, write_public_result

HONOURED = {
    "pivot": ("AS", "QU"),
    "code-value": ("AS", "QU"),
    "sbs": ("HL", "QU"),
    "intermediate": ("SO", "QU"),
    "crosstab": ("QU",),
}
"""Options that mean something, by kind of output; a minus turns them off, as they are without it."""


def write_outputs(
    outputs: Sequence[OutputRequest], find_output: Callable[[str], Path], run: Run
) -> BatchResult:
    """Write the tables that a batch asks for; return what was written and what is to be said.

    Parameters
    ----------
    find_output
        Gives the path that a name in the batch stands for.
    """
    together = [_find_release(output, run) for output in outputs if _is_public(output.command)]
    unsafe, remarks = _find_unsafe_together(together, run)
    result: dict[str, list[Any]] = {
        "written": [],
        "remarks": remarks,
        "warnings": [],
        "refused": [],
        "errors": [],
    }
    done = iter(together)
    for output in outputs:
        command = output.command
        place = command.place
        release = next(done) if _is_public(command) else output.protected
        result["remarks"] += [
            f"{place}: {text}" for text in _list_remarks(command, output.protected is not None)
        ]
        try:
            if KINDS[command.kind] == "cell-key":
                raise InputError(
                    "the cell key method is not carried out, so nothing is written",
                    remedy="protect the table with another method, and write another kind",
                )
            if release is not None and (not release.audit.safe or output.table in unsafe):
                alone = NOT_SAFE if output.protected else NOT_PROTECTED
                raise UnsafeError(unsafe.get(output.table, alone))
            written = _write(output, release, find_output(command.file))
        except UnsafeError as error:
            result["refused"].append(str(error.with_place(place)))
        except TacitaError as error:
            result["errors"].append(str(error.with_place(place)))
        else:
            result["written"] += written.paths
            result["remarks"] += [f"{place}: {note}" for note in written.notes]
            result["warnings"] += [f"{place}: {warning}" for warning in written.warnings]
    return BatchResult(**{name: tuple(texts) for name, texts in result.items()})


NOT_SAFE = "the release is not proven safe: it is not written"
NOT_PROTECTED = (
    "no method has protected the table, and to hide its sensitive cells alone is not proven safe: it is not "
    "written"
)


def _is_public(command: WriteTable) -> bool:
    kind = KINDS[command.kind]
    return kind == "crosstab" or (kind in ("pivot", "code-value") and not dict(command.options).get("AS"))


def _find_release(output: OutputRequest, run: Run) -> ProtectedTables:
    """Return the release that a batch would publish: of its method, or else with nothing but the sensitive
    cells hidden.
    """
    if output.protected is not None:
        return output.protected
    problem = output.problem
    release = Release.suppress(problem.table, problem.sensitive, primary=problem.sensitive)
    return ProtectedTables((output.table,), problem, release, audit(problem, release, run))


def _find_unsafe_together(
    releases: Sequence[ProtectedTables], run: Run
) -> tuple[dict[BatchTable, str], list[str]]:
    """Return the tables of a batch that other tables tell too much of, and why; and remarks.

    A reader has all of them: those about the same are one release of the linked tables.
    """
    unsafe: dict[BatchTable, str] = {}
    remarks: list[str] = []
    groups: dict[Subject, dict[int, ProtectedTables]] = {}
    for release in releases:
        if release.audit.safe:
            groups.setdefault(release.tables[0].subject, {})[id(release)] = release
    for subject, group in groups.items():
        if len(group) < 2:
            continue
        tables = tuple(dict.fromkeys(table for release in group.values() for table in release.tables))
        names = _name(tables)
        try:
            problem = pose_problem(tables, with_costs=False)
        except TacitaError as error:
            if type(error) is InputError and not subject.records:
                # Shared cells with different values: files of other years, say.
                remarks.append(f"{names} are not parts of one table, and judged apart: {error}")
            else:
                unsafe |= dict.fromkeys(tables, f"{names} cannot be audited together: {error}")
            continue
        nothing = Release.suppress(problem.table, np.ones(len(problem.table), dtype=bool))
        if not audit(problem, [*(release.release for release in group.values()), nothing], run).safe:
            unsafe |= dict.fromkeys(
                tables,
                f"{names} have the same response, and what is published of them tells more together than "
                "each may: they are not written. Protect them together, with MOD(0)",
            )
    return unsafe, remarks


def _name(tables: Sequence[BatchTable]) -> str:
    """Return the tables of a batch by the lines that specify them."""
    lines = [table.specified.place.rpartition(", ")[2] or f"table {table.number}" for table in tables]
    several = f"s of {', '.join(lines[:-1])} and {lines[-1]}" if len(lines) > 1 else f" of {lines[0]}"
    return f"the table{several}"


def _write(output: OutputRequest, release: ProtectedTables | None, file: Path) -> Any:
    """Write one output of a batch to the folder where it belongs; return what was written."""
    command = output.command
    kind, on = KINDS[command.kind], dict(command.options)
    options = OutputOptions(
        status=on.get("AS", False) and kind in ("pivot", "code-value"),
        levels=on.get("HL", False),
        short=on.get("SO", False),
        quotes=on.get("QU", False),
    )
    if _is_public(command):
        assert release is not None
        part = release.find_part(output.table)
        return write_public_result(release.audit, file, cast(PublicKind, kind), options, part)
    if release is None:
        problem = output.problem
        shown = Release.suppress(problem.table, problem.sensitive)
        return write_internal_result(problem, shown, file, cast(InternalKind, kind), options)
    part = release.find_part(output.table)
    return write_internal_result(
        release.problem, release.release, file, cast(InternalKind, kind), options, part
    )


def _list_remarks(command: WriteTable, protected: bool) -> list[str]:
    """Return what an output of a batch does not hold that its options ask for."""
    kind = KINDS[command.kind]
    known = HONOURED.get(kind, ())
    remarks = [
        f"{name}+ is not applied to files of the kind '{kind}'"
        for name, on in command.options
        if on and name not in known
    ]
    if not _is_public(command) and kind != "cell-key":
        state = "" if protected else ", unprotected as no method came before"
        remarks.append(f"'{command.file}' holds true values: it is internal{state}")
    return remarks
