"""Examples of properties scale with the profile, so that `make check-all` draws more of them everywhere."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
PROFILES = TESTS / "conftest.py"
SETTING = "_".join(["max", "examples"])
"""The setting of hypothesis, spelled so that a search for it finds those who use it, and not this file."""


def pinned(text: str) -> list[int]:
    """Return the lines that set the number of examples to a value which does not follow the profile's."""
    keywords = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.keyword))
    return [
        keyword.value.lineno
        for keyword in keywords
        if keyword.arg == SETTING
        and not any(
            isinstance(part, ast.Attribute) and part.attr == SETTING for part in ast.walk(keyword.value)
        )
    ]


def test_no_test_pins_the_number_of_its_examples() -> None:
    files = [path for path in sorted(TESTS.rglob("*.py")) if path != PROFILES]
    found = [
        f"{path.relative_to(TESTS)}:{line}" for path in files for line in pinned(path.read_text("utf-8"))
    ]
    assert not found, (
        f"{', '.join(found)}: the profile is overridden. Remedy: @examples(N) of tests/budget.py"
    )


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (f"@settings({SETTING}=20)\ndef test(): ...", [1]),
        (f"N = 3\nSOME = settings(\n    {SETTING}=4 * N)", [3]),
        (f"settings({SETTING}=settings.default.{SETTING} // 2)", []),
        ("@examples(20)\ndef test(): ...", []),
    ],
)
def test_a_pinned_number_is_found(text: str, lines: list[int]) -> None:
    assert pinned(text) == lines
