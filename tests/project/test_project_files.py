"""The files around the package agree with each other: dependencies, hosted CI, hooks before commits."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from lowest import EXTRAS, FAST, floors

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_web_app_is_an_extra_and_developers_have_everything() -> None:
    extras = PROJECT["optional-dependencies"]
    assert not [text for text in PROJECT["dependencies"] if text.startswith("nicegui")]
    assert extras["app"][0].startswith("nicegui>=")
    assert f"tacita[{','.join(EXTRAS)}]" in extras["dev"]
    assert '".[dev]"' in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_the_lowest_run_has_every_floor_and_tests_that_exist() -> None:
    names = {re.split("[>=]", text)[0] for text in PROJECT["dependencies"]}
    names |= {"nicegui", "distributed", "pandas", "polars", "ibis-framework[postgres]", "psycopg[binary]"}
    assert {text.split("==")[0] for text in floors()} == names
    assert not [path for path in FAST if not (ROOT / path).exists()]


def test_check_all_prints_coverage_and_runs_the_floors() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    recipes = dict(re.findall(r"^([a-z-]+):.*\n((?:\t.*\n)+)", makefile, re.MULTILINE))
    assert recipes["check-all"].endswith("$(MAKE) --no-print-directory coverage lowest\n")
    assert "--cov=tacita --cov-report=term" in recipes["coverage"]
    assert "tests/lowest.py" in recipes["lowest"]


def test_hosted_ci_runs_the_same_check_on_every_supported_python() -> None:
    text = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    assert "run: bash .ci/run" in text
    assert '["3.11", "3.12", "3.13"]' in text
    assert PROJECT["requires-python"] == ">=3.11"
    assert "://" not in text


def test_hooks_before_commits_are_local() -> None:
    text = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    assert set(re.findall(r"repo: (\S+)", text)) == {"local"}
    assert re.findall(r"entry: \.venv/bin/(.*)", text) == ["ruff check", "ruff format", "mypy --strict src"]
