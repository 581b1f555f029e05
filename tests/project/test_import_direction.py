"""Imports point one way. The ``__init__.py`` of every room ends with the rooms that it may import.

Every import statement counts, also one deferred into a function or guarded by TYPE_CHECKING: the direction
says what a file may know of, not only what it loads.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
PACKAGE = SOURCE / "tacita"

# `Release.write` and `Hierarchy.from_csv` are doors from the core to the files, opened when they are called,
# and so is `tabulate` with metadata of records.
DOORS = {
    ("tacita.core.release", "tacita.publication.release_write"),
    ("tacita.core.release", "tacita.auditing.audit"),
    ("tacita.core.hierarchy.tree", "tacita.formats.code_trees"),
    ("tacita.tabulation.tabulate", "tacita.formats.records"),
}
# These see everything, hence nothing in a layer may import them.
EXEMPT = {"tacita", "tacita.__main__", "tacita.testing"}

HEAVY = {"numpy", "scipy", "highspy", "duckdb", "narwhals", "pandas", "polars", "pyarrow"}


def rooms_of(package: Path) -> dict[str, set[str]]:
    """Per room the rooms that it may import, itself included, as its docstring says."""
    said = {"verify": "nothing"}
    for path in sorted(package.glob("*/__init__.py")):
        doc = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        said[path.parent.name] = doc.splitlines()[-1].removeprefix("Imports: ").rstrip(".") if doc else ""
    rooms = {}
    for room, words in said.items():
        every = set(said) - set(words.removeprefix("everything but ").split(" and "))
        names = every if words.startswith("everything but ") else set(words.split(", ")) - {"nothing"}
        if names - set(said):
            raise LookupError(
                f"tacita.{room} does not say what it imports. Remedy: end the docstring of its __init__.py "
                "with 'Imports: core, rules.'"
            )
        rooms[room] = names | {room}
    return rooms


def require_one_way(rooms: dict[str, set[str]]) -> None:
    """Refuse rooms that may import each other, be it by way of others."""
    left = {room: below - {room} for room, below in rooms.items()}
    while ready := {room for room, below in left.items() if not below & set(left)}:
        left = {room: below for room, below in left.items() if room not in ready}
    assert not left, f"rooms import each other: {sorted(left)}"


def modules_in(package: Path) -> dict[str, Path]:
    """Dotted name -> file, for every module under the folder `package`."""
    modules = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return modules


def imports_of(module: str, path: Path) -> Iterator[tuple[int, str, str | None]]:
    """Every import statement in the file as (line, absolute module, name taken from it or None)."""
    package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            stem = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*stem, *([node.module] if node.module else [])])
            yield from ((node.lineno, source, alias.name) for alias in node.names)


def is_exempt(module: str) -> bool:
    return module in EXEMPT or module.startswith("tacita.testing.")


def violations(package: Path) -> list[str]:
    """Every import under `package` that points upwards or sideways, as `file:line: reason`."""
    modules, rooms = modules_in(package), rooms_of(package)
    require_one_way({room: below for room, below in rooms.items() if room != "testing"})
    found = []
    for module, path in modules.items():
        if is_exempt(module):
            continue
        room = module.split(".")[1]
        for line, source, name in imports_of(module, path):
            if source.split(".")[0] != "tacita" or (source, name) == ("tacita", "__version__"):
                continue
            target = f"{source}.{name}" if f"{source}.{name}" in modules else source
            place = f"{path.relative_to(package.parent)}:{line}"
            if is_exempt(target):
                found.append(f"{place}: imports {target}. Remedy: import from the file that defines the name")
            elif (module, target) not in DOORS and target.split(".")[1] not in rooms[room]:
                found.append(
                    f"{place}: {room} imports {target}; it may import {', '.join(sorted(rooms[room]))}"
                )
    return found


def test_imports_point_one_way() -> None:
    found = violations(PACKAGE)
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("solver", "file"), [("highspy", "solvers/highs.py"), ("pyscipopt", "solvers/scip.py")]
)
def test_one_file_talks_to_a_solver(solver: str, file: str) -> None:
    importing = {
        path.relative_to(PACKAGE).as_posix()
        for module, path in modules_in(PACKAGE).items()
        for _, source, _ in imports_of(module, path)
        if source.split(".")[0] == solver
    }
    assert importing == {file}


@pytest.mark.parametrize(
    ("file", "statement"),
    [
        ("core/table.py", "from tacita.solvers.highs import Session"),
        ("core/problem.py", "def write():\n    from tacita.formats import csv"),
        ("solvers/highs.py", "from tacita.engine import cuts"),
        ("methods/rounding.py", "from tacita.auditing.audit import audit"),
        ("methods/rounding.py", "from tacita.auditing import certificate"),
        ("methods/rounding.py", "from ..auditing import audit"),
        ("methods/rounding.py", "from .. import auditing"),
        ("engine/cuts.py", "import tacita.methods.rounding as rounding"),
        ("auditing/audit.py", "if TYPE_CHECKING:\n    from ..methods.rounding import Rounding"),
        ("auditing/worker.py", "from tacita.engine.cuts import capacity"),
        ("auditing/audit.py", "from tacita import Suppression"),
        ("auditing/audit.py", "import tacita"),
        ("auditing/audit.py", "from tacita.testing import check_method"),
        ("formats/csv.py", "from tacita.cli import main"),
    ],
)
def test_import_against_the_direction_is_found(tmp_path: Path, file: str, statement: str) -> None:
    package = plant(tmp_path, {file: statement})
    assert [line.split(":")[0] for line in violations(package)] == [f"tacita/{file}"]


@pytest.mark.parametrize(
    ("file", "statement"),
    [
        ("core/table.py", "from .errors import TacitaError\nimport numpy"),
        ("auditing/audit.py", "from tacita.solvers.highs import Session\nfrom tacita import __version__"),
        ("auditing/certificate.py", "from tacita.auditing import audit"),
        ("methods/rounding.py", "from ..engine import cuts\nfrom . import suppression"),
        ("cli/verbs.py", "from tacita.formats import csv\nfrom ..methods import rounding"),
        ("testing/oracle.py", "from tacita.cli import main\nfrom tacita.methods import rounding"),
    ],
)
def test_import_along_the_direction_is_allowed(tmp_path: Path, file: str, statement: str) -> None:
    assert violations(plant(tmp_path, {file: statement})) == []


PLANTED = {
    "core": "nothing",
    "solvers": "core",
    "engine": "core, solvers",
    "methods": "core, solvers, engine",
    "auditing": "core, solvers",
    "formats": "core",
    "cli": "everything but testing",
    "testing": "everything but cli",
}


def plant(folder: Path, files: dict[str, str]) -> Path:
    """A package `tacita` with some rooms and empty files, then `files` on top."""
    names = (
        "core/errors auditing/audit auditing/certificate solvers/highs engine/cuts methods/rounding "
        "methods/suppression formats/csv"
    )
    rooms = {
        f"{room}/__init__.py": f'"""A room.\n\nImports: {below}.\n"""' for room, below in PLANTED.items()
    }
    empty = {f"{stem}.py": "" for stem in ("__init__", *names.split())}
    for name, text in {**empty, **rooms, **files}.items():
        path = folder / "tacita" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "tacita"


def test_a_room_that_says_nothing_is_refused_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(LookupError, match=r"tacita\.novelty does not say .* Remedy: end the docstring"):
        violations(plant(tmp_path, {"novelty/__init__.py": '"""A room."""'}))


def test_rooms_that_import_each_other_are_refused(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="import each other"):
        violations(plant(tmp_path, {"core/__init__.py": '"""A room.\n\nImports: engine.\n"""'}))


def test_verify_needs_only_the_standard_library() -> None:
    foreign = [
        f"line {line}: {source or '.'}"
        for line, source, _ in imports_of("tacita.verify", PACKAGE / "verify.py")
        if source.split(".")[0] not in sys.stdlib_module_names
    ]
    assert foreign == []


def test_the_root_only_re_exports() -> None:
    """Imports, constants, and the two functions that make lazy attributes; no other code."""
    for node in ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            allowed = node.name in {"__getattr__", "__dir__"}
        elif isinstance(node, ast.If):
            allowed = ast.unparse(node.test).endswith("TYPE_CHECKING") and all(
                isinstance(inner, ast.Import | ast.ImportFrom) for inner in [*node.body, *node.orelse]
            )
        elif isinstance(node, ast.Expr):
            allowed = isinstance(node.value, ast.Constant)
        else:
            allowed = isinstance(node, ast.Import | ast.ImportFrom | ast.Assign | ast.AnnAssign)
        assert allowed, f"tacita/__init__.py:{node.lineno}: logic belongs in a module of its own"


def test_files_are_small_and_named_for_their_job() -> None:
    for path in PACKAGE.rglob("*.py"):
        assert path.stem != "utils", f"{path}: name the file after what it does"
        lines = len(path.read_text(encoding="utf-8").splitlines())
        assert lines <= 500, f"{path}: {lines} lines; split it by job"


def test_help_loads_nothing_heavy() -> None:
    """`tacita --help` succeeds and imports none of the numerical libraries."""
    program = (
        "import sys\n"
        "from tacita.cli import main\n"
        "sys.argv = ['tacita', '--help']\n"
        "try:\n"
        "    code = main()\n"
        "except SystemExit as end:\n"
        "    code = end.code\n"
        "print(*sorted({name.split('.')[0] for name in sys.modules}), file=sys.stderr)\n"
        "sys.exit(code)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Usage" in done.stdout
    assert HEAVY & set(done.stderr.splitlines()[-1].split()) == set()
