"""Imports point one way: core <- solvers <- engine <- methods | audit <- io, report <- cli, app.

Every import statement counts, also one deferred into a function or guarded by TYPE_CHECKING: the direction
says what a file may know of, not only what it loads.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
PACKAGE = SOURCE / "tacita"

# Layer -> patterns over the first name after `tacita.`
MEMBERS = {
    "core": (
        "words errors house atomic writing textfile compiled exact numerals hierarchy tables tabulation "
        "rules levels attackers problem release windows outcome run generate examples quality"
    ),
    "solvers": "solvers",
    "engine": "engine adjusting",
    "methods": "methods",
    "audit": "auditing verify",
    "files": "io report",
    "interface": "cli* app __main__",
}
# The audit must not know what made a release, and no method may lean on the audit: neither sees the other.
BELOW = {
    "core": set(),
    "solvers": {"core"},
    "engine": {"core", "solvers"},
    "methods": {"core", "solvers", "engine"},
    "audit": {"core", "solvers"},
    "files": {"core", "solvers", "engine", "methods", "audit"},
    "interface": {"core", "solvers", "engine", "methods", "audit", "files"},
}
# `Release.write` is the door through which a user reaches the files from the core; it is opened when called.
DOORS = {("tacita.release", "tacita.io"), ("tacita.release", "tacita.auditing.audit")}
# These see everything, hence nothing in a layer may import them.
EXEMPT = {"tacita", "tacita.testing"}

HEAVY = {"numpy", "scipy", "highspy", "duckdb", "narwhals", "pandas", "polars", "pyarrow"}


def layer_of(module: str) -> str:
    """The one layer that `module` is assigned to."""
    name = module.split(".")[1]
    layers = [
        layer
        for layer, patterns in MEMBERS.items()
        if any(fnmatchcase(name, pattern) for pattern in patterns.split())
    ]
    if len(layers) != 1:
        found = " and ".join(layers) or "no layer"
        raise LookupError(
            f"{module} is in {found}. Remedy: give `{name}` exactly one layer in MEMBERS of {__file__}"
        )
    return layers[0]


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
    modules = modules_in(package)
    found = []
    for module, path in modules.items():
        if is_exempt(module):
            continue
        layer = layer_of(module)
        for line, source, name in imports_of(module, path):
            if source.split(".")[0] != "tacita" or (source, name) == ("tacita", "__version__"):
                continue
            target = f"{source}.{name}" if f"{source}.{name}" in modules else source
            place = f"{path.relative_to(package.parent)}:{line}"
            if is_exempt(target):
                found.append(f"{place}: imports {target}. Remedy: import from the file that defines the name")
            elif (module, target) not in DOORS and layer_of(target) not in BELOW[layer] | {layer}:
                found.append(f"{place}: {layer} imports {target}, which is {layer_of(target)}")
    return found


def test_imports_point_one_way() -> None:
    found = violations(PACKAGE)
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("file", "statement"),
    [
        ("tables/table.py", "from tacita.solvers.highs import Session"),
        ("problem.py", "def write():\n    from tacita.io import csv"),
        ("solvers/highs.py", "from tacita.engine import cuts"),
        ("methods/rounding.py", "from tacita.auditing.audit import audit"),
        ("methods/rounding.py", "from tacita.auditing import certificate"),
        ("methods/rounding.py", "from ..auditing import audit"),
        ("methods/__init__.py", "from .. import auditing"),
        ("engine/cuts.py", "import tacita.methods.rounding as rounding"),
        ("auditing/audit.py", "if TYPE_CHECKING:\n    from ..methods.rounding import Rounding"),
        ("auditing/worker.py", "from tacita.engine.cuts import capacity"),
        ("auditing/audit.py", "from tacita import Suppression"),
        ("auditing/audit.py", "import tacita"),
        ("auditing/audit.py", "from tacita.testing import check_method"),
        ("io/csv.py", "from tacita.cli import main"),
    ],
)
def test_import_against_the_direction_is_found(tmp_path: Path, file: str, statement: str) -> None:
    package = plant(tmp_path, {file: statement})
    assert [line.split(":")[0] for line in violations(package)] == [f"tacita/{file}"]


@pytest.mark.parametrize(
    ("file", "statement"),
    [
        ("tables/table.py", "from ..errors import TacitaError\nimport numpy"),
        ("auditing/audit.py", "from tacita.solvers.highs import Session\nfrom tacita import __version__"),
        ("auditing/certificate.py", "from tacita.auditing import audit"),
        ("methods/rounding.py", "from ..engine import cuts\nfrom . import suppression"),
        (
            "io/csv.py",
            "from ..report import html\nfrom ..methods import rounding\nfrom ..auditing import audit",
        ),
        ("cli.py", "from tacita.io import csv"),
        ("testing.py", "from tacita.cli import main\nfrom tacita.methods import rounding"),
    ],
)
def test_import_along_the_direction_is_allowed(tmp_path: Path, file: str, statement: str) -> None:
    assert violations(plant(tmp_path, {file: statement})) == []


def plant(folder: Path, files: dict[str, str]) -> Path:
    """A package `tacita` with one empty file per layer, then `files` on top."""
    base = (
        "__init__ errors auditing/__init__ auditing/audit auditing/certificate cli testing tables/__init__ "
        "solvers/__init__ solvers/highs engine/__init__ "
        "engine/cuts methods/__init__ methods/rounding methods/suppression io/__init__ io/csv "
        "report/__init__ report/html"
    )
    for name, text in {**{f"{stem}.py": "" for stem in base.split()}, **files}.items():
        path = folder / "tacita" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "tacita"


def test_a_file_without_a_layer_is_refused_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(LookupError, match=r"tacita\.novelty is in no layer\. Remedy: .* MEMBERS"):
        violations(plant(tmp_path, {"novelty.py": ""}))


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
