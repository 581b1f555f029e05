"""Messages are read in Python, on the command line and on the page: none speaks the language of one alone.

Outside of ``cli`` no message names an option of the command line (``--value``), an argument of a function
(``value=``) or a value of Python (``True``). The command line adds its options at its own edge.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import tacita
from tacita.cli.flags import WORDS, with_flags

SOURCE = Path(tacita.__file__).parent
FOREIGN = re.compile(r"(?<![\w-])--[a-z]|(?<![\w{.])[a-z_]+=(?![=A-Z{])|\b(True|False|None)\b|in Python")
WRITTEN = re.compile(r"'[a-z]+=[^']*'|\([a-z]+=[^)]*\)|option=value|argument=value")
"""Languages of our own: rules, subtotals, mixtures and cells are written so everywhere."""


def messages() -> Iterator[tuple[str, str]]:
    """The place and the text of what is raised, with a blank brace for each inserted value."""
    for path in sorted(SOURCE.rglob("*.py")):
        if "cli" in path.relative_to(SOURCE).parts:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                if not ast.unparse(node.exc.func).endswith("Error"):
                    continue
                for argument in node.exc.args:
                    yield f"{path.relative_to(SOURCE)}:{node.lineno}", _text(argument)


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(
            part.value if isinstance(part, ast.Constant) else "{}"
            for part in node.values
            if not isinstance(part, ast.Constant) or isinstance(part.value, str)
        )
    if isinstance(node, ast.Constant):
        return str(node.value)
    return " ".join(_text(part) for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr))


def test_no_message_speaks_python_or_the_command_line() -> None:
    found = list(messages())
    assert len(found) > 300
    assert [both for both in found if FOREIGN.search(WRITTEN.sub("", both[1]))] == []


@pytest.mark.parametrize(
    ("message", "parameters", "flags"),
    [
        ("t.csv: which column holds the values: a or b? Name the column of values", ["value"], "--value"),
        ("Name the columns of codes, or the column of values", ["value", "by"], "--value, --by"),
        ("Correct the values, or have wrong totals computed anew.", ["repair"], "--repair"),
        ("Use a larger base, switch protected off.", ["option"], "--option protected=no"),
        ("Switch margins on, so that totals may be hidden", ["option"], "--option margins=yes"),
    ],
)
def test_the_command_line_adds_its_options(message: str, parameters: list[str], flags: str) -> None:
    assert with_flags(message, parameters) == f"{message}\nOptions: {flags}"
    assert with_flags(message, []) == message


def test_every_word_that_has_an_option_is_said_somewhere() -> None:
    said = "\n".join(
        path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py") if path.name != "flags.py"
    )
    joined = re.sub(r'"\s*\n\s*f?"', "", said)
    assert [words for words, _, _ in WORDS if not re.search(words, joined)] == []
