"""The documents tell the truth: every example in them runs, every name is mentioned, every link leads
somewhere.

How a document is read, block by block, in one temporary folder and one namespace per document:

* ``csv NAME``, ``toml NAME`` and other blocks with a file name are written to that file;
* ``python`` blocks are run; a ``text`` block that follows at once is what they print;
* ``console`` blocks hold commands after ``$ `` and what each prints; ``$ echo $?`` shows the exit code, which
  is 0 otherwise. Durations are not compared, and a line of three dots stands for any lines;
* ``sh`` blocks need several machines or start a server, ``py`` and ``r`` blocks are code for other programs:
  these are not run.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, fields
from itertools import zip_longest
from pathlib import Path
from typing import Any, get_type_hints

import pytest

import tacita
from tacita.cli import app, main
from tacita.cli import generate as generate_verbs
from tacita.methods import method_names, options_of
from tacita.methods.method import METHODS, method_class
from tacita.rules import RULES, argument_names, parse_rule
from tacita.specification.project_cells import LEVELS
from tacita.specification.sections import Section, SensitiveCell
from tacita.specification.specification import Specification

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
EVERYTHING = "\n".join(path.read_text(encoding="utf-8") for path in DOCUMENTS)

FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
DURATION = re.compile(r"\d+\.\d+(?= s\b)|(?<=\"seconds\": )[\d.]+|(?<=seconds)\s+\d[\d.]*")
LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")


@dataclass(frozen=True)
class Block:
    """A fenced block: the words after the fence, its text, its line, and whether it follows a block at
    once.
    """

    info: tuple[str, ...]
    body: str
    line: int
    adjacent: bool

    @property
    def language(self) -> str:
        return self.info[0] if self.info else ""


@dataclass(frozen=True)
class Shown:
    """What a document says is printed, and what is printed."""

    line: int
    expected: str
    actual: str


def blocks(text: str) -> list[Block]:
    found, end = [], 0
    for match in FENCE.finditer(text):
        adjacent = bool(found) and not text[end : match.start()].strip()
        line = text.count("\n", 0, match.start()) + 1
        found.append(Block(tuple(match["info"].split()), match["body"], line, adjacent))
        end = match.end()
    return found


def carried_out(path: Path) -> Iterator[Shown]:
    """Run a document in the current folder; each thing it shows, beside the truth."""
    namespace: dict[str, Any] = {"__name__": "document"}
    found = blocks(path.read_text(encoding="utf-8"))
    for block, following in zip_longest(found, found[1:]):
        if len(block.info) == 2:
            Path(block.info[1]).write_text(block.body, encoding="utf-8")
        elif block.language == "python":
            # Padded, so that a traceback names the line of the document.
            code = compile("\n" * block.line + block.body, str(path), "exec")
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(code, namespace)
            shown = following is not None and following.adjacent and following.language == "text"
            yield Shown(block.line, following.body if shown else "", out.getvalue())
        elif block.language == "console":
            yield from _console(block)


def _console(block: Block) -> Iterator[Shown]:
    before, *parts = re.split(r"^\$ ", block.body, flags=re.MULTILINE)
    assert not before.strip(), f"line {block.line}: a console block starts with a command after '$ '"
    told = 0
    for k, part in enumerate(parts):
        command, expected = _command(part)
        if command == "echo $?":
            yield Shown(block.line, expected, f"{told}\n")
            continue
        told, out, errors = _run(shlex.split(command))
        asked = k + 1 < len(parts) and parts[k + 1].startswith("echo $?")
        assert told == 0 or asked, f"line {block.line}: {command} ended with {told}: {errors}"
        if expected:
            yield Shown(block.line, expected, out if out else errors)


def _command(part: str) -> tuple[str, str]:
    """A command, lines joined where they end in a backslash, and what is shown below it."""
    lines = part.split("\n")
    command = lines.pop(0)
    while command.endswith("\\"):
        command = command[:-1] + lines.pop(0).strip()
    return command.strip(), "\n".join(lines).strip("\n")


def _run(words: list[str]) -> tuple[int, str, str]:
    if words[0] == "make":
        targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
        return (0 if words[1] in targets else 1), "", f"no target {words[1]}"
    if words[0] == "tacita":
        with (
            contextlib.redirect_stdout(io.StringIO()) as out,
            contextlib.redirect_stderr(io.StringIO()) as errors,
        ):
            code = main(words[1:])
        return code, out.getvalue(), errors.getvalue()
    if words[0] == "python":
        # A file that is run must need nothing but Python; a module is one of the package.
        words = [sys.executable, *(["-I", "-S"] if words[1] != "-m" else []), *words[1:]]
    package = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60, env=package)
    return done.returncode, done.stdout, done.stderr


def normal(text: str) -> list[str]:
    lines = [DURATION.sub("#", line.rstrip()) for line in text.strip("\n").split("\n")]
    return [line for line in lines if line]


def same(expected: str, actual: str) -> bool:
    """Equal but for durations, blank lines and what three dots stand for."""
    pattern = "\n".join(".*" if line == "..." else re.escape(line) for line in normal(expected))
    return re.fullmatch(pattern, "\n".join(normal(actual)), re.DOTALL) is not None


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_examples_run_and_print_what_is_shown(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    for shown in carried_out(path):
        assert same(shown.expected, shown.actual), (
            f"{path.name}, line {shown.line}: shown\n{shown.expected}\nbut printed\n{shown.actual}"
        )


def test_what_is_shown_is_compared() -> None:
    assert same("a 0.11 s\n...\nz", "a 0.25 s\nb\nc\nz\n")
    assert not same("2 safe", "3 safe")
    assert not same("a\n...\nz", "a\nb\n")


def test_the_picture_is_of_the_demo(tmp_path: Path) -> None:
    """The readme shows and counts 9 sensitive cells and 15 others; draw it anew if this changes."""
    _, out, _ = _run(["tacita", "demo", "--out", str(tmp_path / "demo"), "--json"])
    told = json.loads(out)
    assert (told["cells"], told["sensitive"], told["changed"]) == (118, 9, 9 + 15)
    assert "nine sensitive cells (■), fifteen more" in " ".join(EVERYTHING.split())


@pytest.mark.parametrize("path", [*DOCUMENTS, ROOT / "CHANGELOG.md"], ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    for target in LINK.findall(text):
        if re.match(r"https?://", target):
            continue
        file, _, anchor = target.partition("#")
        goal = (path.parent / file).resolve() if file else path
        assert goal.exists(), f"{path.name}: {target} does not exist"
        if anchor:
            assert anchor in _anchors(goal), f"{path.name}: {goal.name} has no heading for #{anchor}"


def _anchors(path: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", FENCE.sub("", path.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def test_the_list_of_the_how_to_names_every_section_in_its_order() -> None:
    page = (ROOT / "docs" / "how-to.md").read_text(encoding="utf-8")
    listed = re.search(r"^On this page:\n\n((?:- .*\n)+)", page, re.MULTILINE)
    assert listed is not None
    sections = re.findall(r"^## (.+)$", FENCE.sub("", page), re.MULTILINE)
    assert re.findall(r"^- \[(.+)\]\(#", listed[1], re.MULTILINE) == sections


def test_every_document_is_reached_from_the_readme() -> None:
    linked = {Path(target.partition("#")[0]).name for target in LINK.findall(DOCUMENTS[0].read_text("utf-8"))}
    assert {path.name for path in DOCUMENTS[1:]} <= linked


def test_every_public_name_is_mentioned() -> None:
    code = "\n".join(re.findall(r"`[^`\n]+`", EVERYTHING) + [b.body for b in blocks(EVERYTHING)])
    missing = [name for name in tacita.__all__ if not re.search(rf"\b{name}\b", code)]
    assert not missing


def test_every_rule_is_explained_with_its_arguments() -> None:
    page = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    for name, kind in RULES.items():
        start = page.find(f"\n## `{name}`")
        assert start >= 0, f"rules.md has no section on {name}"
        section = page[start : page.find("\n## ", start + 1)]
        shared = page[page.find("\n## Shared arguments") :]
        assert kind.__name__ in section
        missing = [a for a in argument_names(kind) if f"`{a}`" not in section and f"`{a}`" not in shared]
        assert not missing, f"rules.md does not explain {name}: {missing}"


def test_written_forms_of_rules_are_read() -> None:
    page = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    written = [
        form
        for forms in re.findall(r"Written:\s(.*?)\n\n", page, re.DOTALL)
        for form in re.findall(r"`([^`]+)`", forms)
    ]
    assert {type(parse_rule(form)) for form in written} == set(RULES.values())


def test_every_verb_and_method_is_mentioned() -> None:
    verbs = [f"tacita {command.name}" for command in app.registered_commands]
    verbs += [f"tacita generate {command.name}" for command in generate_verbs.registered_commands]
    missing = [verb for verb in verbs if verb not in EVERYTHING]
    for method in method_names():
        missing += [
            word for word in (method, *(o.name for o in options_of(method))) if f"`{word}`" not in EVERYTHING
        ]
    assert not missing


def test_every_option_of_a_method_is_explained_on_its_page() -> None:
    pages = {name: (ROOT / "docs" / "methods" / f"{name}.md").read_text(encoding="utf-8") for name in METHODS}
    missing = [
        (name, option.name)
        for name, page in pages.items()
        for option in options_of(name)
        if f"`{option.name}`" not in page
    ]
    assert not missing


@pytest.mark.parametrize("path", sorted((ROOT / "docs" / "methods").glob("*.md")), ids=lambda path: path.stem)
def test_every_method_says_what_it_does_its_mathematics_and_what_is_proven(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    title, does, *_ = text.split("\n\n")
    assert title.startswith("# ")
    assert does.endswith(".")
    places = [
        text.find(f"\n## {part}\n") for part in ("The mathematics", "What readers know", "What is proven")
    ]
    assert -1 not in places
    assert places == sorted(places)


def test_every_method_and_rule_is_public() -> None:
    classes = [*map(method_class, METHODS), *RULES.values()]
    assert {cls.__name__ for cls in classes} <= set(tacita.__all__)


def test_every_key_of_a_project_file_is_mentioned() -> None:
    page = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    keys = [*_keys(Specification), *LEVELS]
    missing = [key for key in keys if f"`{key}`" not in page and f"`[{key}]`" not in page]
    assert not missing


def _keys(section: type[Any]) -> Iterator[str]:
    hints = get_type_hints(section)
    for field in fields(section):
        yield field.name
        for inner in _sections(hints[field.name]):
            yield from _keys(inner)


def _sections(annotation: Any) -> Iterator[type[Any]]:
    # The file has its own names for the levels of a cell.
    if isinstance(annotation, type) and issubclass(annotation, Section) and annotation is not SensitiveCell:
        yield annotation
    for argument in getattr(annotation, "__args__", ()):
        yield from _sections(argument)


def test_the_design_names_every_room_and_every_dependency() -> None:
    page = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    package = ROOT / "src" / "tacita"
    rooms = [f"{room.parent.name}/" for room in sorted(package.glob("*/__init__.py"))]
    files = [path.name for path in sorted(package.glob("*.py")) if not path.name.startswith("__")]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = [f"`{re.split('[><=]', text)[0]}`" for text in project["dependencies"]]
    assert not [word for word in (*rooms, *files, *needed) if word not in page]


def test_commands_are_run_unless_their_language_says_otherwise() -> None:
    command = re.compile(r"^(?:\w*\$ |(?:tacita|python|make|pip) )", re.MULTILINE)
    for path in DOCUMENTS:
        for block in blocks(path.read_text(encoding="utf-8")):
            unrun = block.language in ("", "text") and not block.adjacent
            assert not (unrun and command.search(block.body)), f"{path.name}, line {block.line}"


def test_python_blocks_are_python() -> None:
    for path in DOCUMENTS:
        for block in blocks(path.read_text(encoding="utf-8")):
            if block.language == "python":
                ast.parse(block.body)
