"""Tests with the oldest dependencies that pyproject.toml allows, in an environment apart: `make lowest`.

The floors are those of Python 3.11; later versions of Python have no builds of some of them.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXTRAS = ("app", "dask", "ibis", "pandas", "polars")
TOOLS = ("hatchling", "hypothesis", "joblib", "pytest", "pytest-xdist")
FAST = (
    *(f"tests/{room}" for room in ("contract", "seeds", "core", "rules", "tabulation", "solvers")),
    *(f"tests/{room}" for room in ("auditing", "formats", "publication", "specification", "report")),
    *(f"tests/methods/test_{name}.py" for name in ("suppression", "rounding", "convex_adjustment")),
    *(f"tests/cli/test_{name}.py" for name in ("basics", "case", "contract", "files")),
    *(f"tests/app/test_{name}.py" for name in ("parts_of_pages", "forms", "guard")),
)


def floors() -> list[str]:
    """Every dependency, also those of the extras, at the lowest version that is allowed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = [*project["dependencies"]]
    for extra in EXTRAS:
        needed += project["optional-dependencies"][extra]
    wrong = [text for text in needed if not re.fullmatch(r"[\w.-]+(\[\w+\])?>=[\d.]+", text)]
    assert not wrong, f"{wrong[0]}: write name>=version in pyproject.toml"
    return [text.replace(">=", "==") for text in needed]


def main(environment: Path) -> int:
    """Install the floors if they have changed, and run a fast part of the tests."""
    if sys.version_info[:2] != (3, 11):
        print("skipped: the floors are those of Python 3.11. Remedy: make lowest PYTHON=python3.11")
        return 0
    python, stamp, wanted = environment / "bin" / "python", environment / ".floors", floors()
    if not stamp.exists() or stamp.read_text(encoding="utf-8").split() != wanted:
        subprocess.run([sys.executable, "-m", "venv", "--clear", environment], check=True)
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, *wanted, *TOOLS, "--editable", ROOT], check=True)
        stamp.write_text("\n".join(wanted), encoding="utf-8")
    few = {**os.environ, "TACITA_HYPOTHESIS_PROFILE": "few"}
    tests = [python, "-m", "pytest", "-n", "2", "-m", "not slow", "-rs", *FAST]
    return subprocess.run(tests, cwd=ROOT, env=few, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).absolute()))
