"""Errors are data: place, fault, remedy and the options that help; their text is made of these."""

from __future__ import annotations

import ast
import inspect
import pickle
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import typer

import tacita as tc
from tacita.app.controls.remedies import PAGES
from tacita.cli import app, main
from tacita.cli.flags import add_flags
from tacita.core import errors
from tacita.methods.method import method_names, options_of

SOURCE = Path(tc.__file__).parent


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ({"fault": "it is wrong"}, "it is wrong"),
        ({"fault": "it is wrong", "place": Path("a.csv")}, "a.csv: it is wrong"),
        ({"fault": "it is wrong", "remedy": "mend it"}, "it is wrong: mend it"),
        ({"fault": "it is wrong", "remedy": "Mend it."}, "it is wrong. Mend it."),
        ({"fault": "which?", "remedy": "Name one"}, "which? Name one"),
        (
            {"fault": "it is wrong", "place": "a.csv, line 2", "remedy": "mend it"},
            "a.csv, line 2: it is wrong: mend it",
        ),
    ],
)
def test_the_text_is_made_of_the_parts(parts: dict[str, Any], text: str) -> None:
    error = tc.InputError(**parts)
    assert str(error) == text
    for name, part in parts.items():
        assert getattr(error, name) == str(part)


def test_a_place_is_added_and_options_stay() -> None:
    error = tc.FormatError("it is wrong", place="line 2", remedy="mend it", options=["value"])
    there = error.with_place("a.csv")
    assert (type(there), str(there)) == (tc.FormatError, "a.csv: line 2: it is wrong: mend it")
    assert (there.fault, there.remedy, there.options) == ("it is wrong", "mend it", ("value",))
    assert str(error) == "line 2: it is wrong: mend it"
    assert str(there.with_place("a.csv")) == str(there)
    other = there.with_remedy("Or name the sheet.", "sheet")
    assert str(other) == "a.csv: line 2: it is wrong: mend it. Or name the sheet."
    assert other.options == ("value", "sheet")
    assert str(tc.InputError("it is wrong").with_remedy("Mend it.")) == "it is wrong. Mend it."
    upper = other.map_parts(str.upper)
    assert (upper.place, upper.fault) == ("A.CSV: LINE 2", "IT IS WRONG")
    assert str(upper) == "A.CSV: LINE 2: IT IS WRONG. MEND IT. OR NAME THE SHEET."
    sums = tc.UndeclaredSumsError("sums", ("region",), options=["undeclared_sums=ignore"]).with_place("a.csv")
    assert sums.dimensions == ("region",)


def test_errors_come_back_from_other_processes() -> None:
    error = tc.UndeclaredSumsError("sums", ("region",), place="a.csv", remedy="mend it", options=["by"])
    back = pickle.loads(pickle.dumps(error))
    assert (str(back), back.__dict__) == (str(error), error.__dict__)


def test_the_tree_is_drawn_and_exported() -> None:
    drawn: dict[str, str | None] = {}
    above: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        if found := re.match(r"    ([│ ├└─]*)(\w+(?:Error|Warning)) ", line):
            depth = len(found[1]) // 4
            above[depth:] = [found[2]]
            drawn[found[2]] = above[depth - 1] if depth else None
    classes = {
        name: kind
        for name, kind in vars(errors).items()
        if inspect.isclass(kind) and kind.__module__ == errors.__name__
    }
    assert set(drawn) == set(classes) <= set(tc.__all__)
    for name, kind in classes.items():
        parent = drawn[name]
        assert getattr(tc, name) is kind
        if parent is not None:
            assert kind.__bases__[0].__name__ == parent


@pytest.mark.parametrize(
    ("options", "parameters", "flags"),
    [
        (["value"], ["value"], "--value"),
        (["value", "by"], ["by", "value"], "--value, --by"),
        (["repair", "repair"], ["repair"], "--repair"),
        (["protected=no"], ["option"], "--option protected=no"),
        (["margins=yes"], ["option", "value"], "--option margins=yes"),
        (["lower", "lower=-inf"], ["lower"], "--lower NUMBER, --lower=-inf"),
        (
            ["hierarchy", "hierarchy=region=found"],
            ["hierarchy"],
            "--hierarchy NAME=FILE, --hierarchy region=found",
        ),
        (["undeclared_sums=ignore"], ["undeclared_sums"], "--undeclared-sums ignore"),
    ],
)
def test_the_command_line_says_the_flags(options: list[str], parameters: list[str], flags: str) -> None:
    assert add_flags("it is wrong", options, parameters) == f"it is wrong\nOptions: {flags}"
    assert add_flags("it is wrong", options, []) == "it is wrong"


def options_said() -> Iterator[tuple[str, str]]:
    """Every option that the source gives to an error, with its place."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("Error"):
                for given in (keyword.value for keyword in node.keywords if keyword.arg == "options"):
                    for text in ast.walk(given):
                        if isinstance(text, ast.Constant) and isinstance(text.value, str):
                            yield f"{path.relative_to(SOURCE)}:{node.lineno}", text.value.partition("=")[0]


def test_every_option_of_an_error_is_one() -> None:
    commands = typer.main.get_command(app)
    flags = {p.name for command in commands.commands.values() for p in command.params}  # type: ignore[attr-defined]
    known = {*flags, *(option.name for name in method_names() for option in options_of(name)), ""}
    said = list(options_said())
    assert len(said) > 40
    # Tables are edited on pages and in Python only, and pasted on pages; the command line repeats digits in
    # words.
    pages = ("app/", "core/tables/editing.py", "core/hierarchy/digits.py", "formats/pasted.py")
    on_pages = {*PAGES, "reload", "contributors", "records", "file", "digits", "names"}
    assert [
        (place, name)
        for place, name in said
        if name not in known and not (place.startswith(pages) and name in on_pages)
    ] == []
    assert {field.name for field in fields(tc.ReadOptions)} & {name for _, name in said} >= {
        "value",
        "by",
        "count",
    }


def test_the_command_line_reads_no_texts() -> None:
    assert "import re" not in (SOURCE / "cli" / "flags.py").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("content", "flags"),
    [
        ("region,sex,a,b\nN,f,1,2\nN,m,5,6\nS,f,3,4\n", "--value"),
        ("region,value\nN,1\nS,-3\nTotal,-2\n", "--lower NUMBER, --lower=-inf"),
        ("region,value\nN,1\nS,3\nTotal,5\n", "--repair"),
    ],
)
def test_flags_stand_below_messages(
    content: str, flags: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "cells.csv"
    file.write_text(content, encoding="utf-8")
    assert main(["assess", str(file), "--rules", "threshold(3)"]) == 1
    assert f"Options: {flags}" in capsys.readouterr().err


def test_options_stay_where_readers_add_the_line(tmp_path: Path) -> None:
    from tacita.formats.nchs import _parse_number

    with pytest.raises(tc.FormatError, match=r"t.txt, line 3: '1,5' is not a number") as caught:
        _parse_number(tmp_path / "t.txt", 3, "1,5")
    assert caught.value.options == ("decimal",)
