"""Names that can be searched for: a class of the solvers, the engine or the methods is defined once."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "tacita"
ROOMS = ("solvers", "engine", "methods")


def test_classes_of_solvers_engine_and_methods_have_names_of_their_own() -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(path.relative_to(PACKAGE).as_posix())
    shared = {
        name: files
        for name, files in homes.items()
        if len(files) > 1 and any(file.startswith(ROOMS) for file in files)
    }
    assert not shared, f"name them for what they are: {shared}"
