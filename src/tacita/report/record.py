"""Results as plain data, ready for JSON.

The *audit object* holds numbers of cells only. Everything that lists cells is internal. Nothing heavy is
imported here, since the command line reports its errors in JSON too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tacita.auditing.audit import Audit
    from tacita.auditing.deduce import Deduction
    from tacita.auditing.explanation import Explanation
    from tacita.core.release import Release
    from tacita.core.tables.structure import Structure
    from tacita.problem.problem import Problem


def to_json_values(content: Any) -> Any:
    """Return the content of a JSON report with None for every number that JSON cannot write."""
    if isinstance(content, dict):
        return {str(key): to_json_values(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [to_json_values(value) for value in content]
    if isinstance(content, float) and not math.isfinite(content):
        return None
    return content


def build_cell_key(structure: Structure, cell: int) -> int | str | dict[str, str]:
    """Return how JSON reports name a cell: by its number in the file it is from, or code per dimension."""
    key = structure.key(cell)
    if structure.labels:
        return int(key[0]) if key[0].isdecimal() else key[0]
    return {d.name: code for d, code in zip(structure.dimensions, key, strict=True)}


def build_audit_object(audit: Audit) -> dict[str, Any]:
    """Return the verdict of an audit and its numbers of cells, as the audit object of JSON reports.

    ``safe`` is the verdict; the rest count cells: sensitive ones checked, proven, not safe, known exactly,
    and those that would be sensitive, had they not been exempt by hand; ``against`` names the attackers by
    kind and number.
    """
    counts = {k: n for k, n in audit.counts.items() if k != "safe"}
    problem = audit.problem
    return {
        "safe": audit.safe,
        **counts,
        "exempt": int(problem.exempt.sum()),
        "against": problem.considered.text,
    }


def build_audit_record(audit: Audit) -> dict[str, Any]:
    """Return everything an audit found as content of the report ``audit.json``, without true values.

    ``cells`` are the sensitive ones with their rules and their worst verdict over all attackers, ``findings``
    the pairs of cell and attacker that are not safe, ``exempt_cells`` those that were not checked.
    """
    from tacita.auditing.block_tasks import describe_bits

    problem, structure = audit.problem, audit.problem.table.structure
    rules = find_rules_by_cell(problem)
    return {
        **build_audit_object(audit),
        "verdict": audit.verdict,
        "attackers": list(problem.attackers),
        "already_published": list_earlier_releases(audit),
        "programs": audit.programs,
        "seconds": round(audit.seconds, 3),
        "made_by": dict(audit.release.made_by),
        "cells": [
            {"cell": build_cell_key(structure, cell), "rules": rules[cell], "verdict": describe_bits(bits)}
            for cell, bits in zip(problem.sensitive.tolist(), audit.worst.tolist(), strict=True)
        ],
        "findings": list_findings(audit),
        "exempt_cells": list_exempt_cells(problem),
    }


def list_earlier_releases(audit: Audit) -> list[dict[str, Any]]:
    """Return for JSON reports the earlier releases of an audit: file, and how many cells are not shared."""
    from tacita.core.windows import count_unshared_cells

    problem = audit.problem
    return [
        {"file": release.made_by.get("file"), "left_out": count_unshared_cells(problem.table, release)}
        for release in (*problem.already_published, *audit.earlier)
    ]


def list_exempt_cells(problem: Problem) -> list[int | str | dict[str, str]]:
    """Return for JSON reports the cells that would be sensitive, had they not been exempt by hand."""
    return [build_cell_key(problem.table.structure, cell) for cell in problem.exempt.nonzero()[0].tolist()]


def list_findings(audit: Audit) -> list[dict[str, Any]]:
    """Return for JSON reports the pairs of cell and attacker that are not safe, each with its verdict."""
    structure = audit.problem.table.structure
    return [
        {"cell": build_cell_key(structure, f.cell), "attacker": f.attacker, "verdict": f.verdict}
        for f in audit.findings(only_unsafe=True)
    ]


def list_intervals(deduction: Deduction) -> list[dict[str, Any]]:
    """Return for JSON reports the interval that an outsider deduces for each hidden cell."""
    return [
        {"cell": build_cell_key(deduction.structure, cell), "low": low, "high": high}
        for cell, low, high in zip(
            deduction.cells.tolist(), deduction.low.tolist(), deduction.high.tolist(), strict=True
        )
    ]


def find_rules_by_cell(problem: Problem) -> dict[int, list[str]]:
    """Return the names of the rules that hit each sensitive cell, by cell, as reports list them."""
    rules: dict[int, list[str]] = {cell: [] for cell in problem.sensitive.tolist()}
    for reason in problem.levels.reasons:
        for cell in reason.cells.tolist():
            if cell in rules:
                rules[cell].append(reason.rule)
    return rules


def compute_release_figures(problem: Problem, release: Release) -> dict[str, Any]:
    """Return figures of a release for reports: cells changed, and the sum of their absolute values."""
    table, changed = problem.table, release.changed
    value = int(abs(table.units[changed]).sum()) / 10**table.decimals
    return {
        "cells": len(table),
        "sensitive": len(problem.levels),
        "changed": int(changed.sum()),
        "changed_value": int(value) if value == int(value) else value,
    }


def build_explanation_record(found: Explanation, show_values: bool) -> dict[str, Any]:
    """Return an explanation of a cell for JSON reports; without ``show_values`` it holds what anyone can
    deduce, and no level.
    """
    problem, structure = found.problem, found.problem.table.structure

    def name(cells: Iterable[int]) -> list[Any]:
        return [build_cell_key(structure, cell) for cell in cells]

    record: dict[str, Any] = {
        "cell": build_cell_key(structure, found.cell),
        "role": found.role,
        "mark": found.mark.word,
        "deduced": {"low": found.deduced.low, "high": found.deduced.high},
        "derivation": list(found.derivation),
        "rules": problem.levels.why(found.cell),
        "must_hide": found.must_hide,
        "protected_by": name(found.protected_by.tolist()),
        "protects": [
            {
                "cell": build_cell_key(structure, own.cell),
                "attacker": own.attacker,
                "verdict": own.verdict,
                **({"low": own.low, "high": own.high} if show_values else {}),
            }
            for own in found.protects
        ],
        "replaceable": name(found.replaceable),
        "undecided": name(found.undecided),
        "unsafe": name(found.unsafe),
    }
    if show_values:
        record |= {"value": float(problem.table.values[found.cell])}
        record |= dict(zip(("lower", "upper", "sliding"), found.levels, strict=True))
        if (own := found.insider) is not None:
            record["insider"] = {"attacker": own.attacker, "low": own.low, "high": own.high}
    return record
