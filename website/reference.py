"""Pages of the reference, made from the code: Python names, commands, methods and rules, project file."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
import types
import typing
from collections.abc import Iterator, Mapping
from typing import Any

import typer

import tacita
from docstrings import list_items, read_docstring, write_docstring, write_markdown
from tacita.cli import app
from tacita.methods import options_of
from tacita.methods.method import METHODS, method_class
from tacita.rules import RULES, argument_names
from tacita.specification.project_cells import LEVELS
from tacita.specification.sections import Section, SensitiveCell
from tacita.specification.specification import Specification

FIRST = ("core", "problem", "rules")
"""Rooms whose names readers of the reference meet first."""


def write_python() -> str:
    """Return the page of all public names, room by room, with signatures and docstrings."""
    rooms: dict[str, list[str]] = {}
    for name in tacita.__all__:
        thing = getattr(tacita, name)
        if not isinstance(thing, str):
            home = thing.__name__ if inspect.ismodule(thing) else thing.__module__
            rooms.setdefault(home.split(".")[1], []).append(name)
    parts = ["# Python names", "`import tacita as tc` gives these. This page is made from their docstrings."]
    for room in sorted(rooms, key=lambda room: (room not in FIRST, room)):
        names = rooms[room]
        about = (importlib.import_module(f"tacita.{room}").__doc__ or "").strip().splitlines()[0]
        parts += [f"## {room}", write_markdown(about)]
        for name in sorted(names, key=str.lower):
            parts += [f"### `{name}`", *_describe(name, getattr(tacita, name))]
    return "\n\n".join(parts) + "\n"


def _describe(name: str, thing: Any) -> Iterator[str]:
    """Yield signature and docstring of a public name and, of a class, of its own methods and properties."""
    if inspect.ismodule(thing):
        for inner in getattr(thing, "__all__", ()):
            if callable(own := getattr(thing, inner)):
                yield from _describe_member(f"{name}.{inner}", own)
        return
    if callable(thing) and not (inspect.isclass(thing) and issubclass(thing, BaseException)):
        yield f"```python\n{_write_signature(name, thing)}\n```"
    yield write_docstring(thing)
    if inspect.isclass(thing):
        for inner, own in inspect.getmembers_static(thing):
            if not inner.startswith("_") and inner in _find_own(thing):
                yield from _describe_member(f"{name}.{inner}", own)


def _find_own(cls: type[Any]) -> set[str]:
    """Return the names that a class, or a base of it that is ours too, defines; of errors, only its own."""
    if issubclass(cls, BaseException):
        return set(vars(cls))
    ours = (base for base in cls.__mro__ if base.__module__.startswith("tacita"))
    return {name for base in ours for name in vars(base)}


def _describe_member(name: str, member: Any) -> Iterator[str]:
    """Yield the page's text on a method, property or function of a name; nothing without a docstring."""
    own = (
        getattr(member, "__func__", None) or getattr(member, "fget", None) or getattr(member, "func", member)
    )
    if not inspect.isroutine(own) or not own.__doc__:
        return
    called = own is member or hasattr(member, "__func__")
    yield f"#### `{name}`" + ("" if called else " (property)")
    if called:
        yield f"```python\n{_write_signature(name, own)}\n```"
    yield write_docstring(own)


def _write_signature(name: str, thing: Any) -> str:
    """Return how something is called, an argument per line where they are many."""
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return name
    arguments = [
        re.sub(r"'([^']*)'", r"\1", str(argument), count=1)
        if isinstance(argument.annotation, str)
        else str(argument)
        for argument in _list_arguments(signature)
    ]
    result = signature.return_annotation
    arrow = (
        "" if result is signature.empty or result in (None, "None") else f" -> {str(result).strip(chr(39))}"
    )
    arguments = [argument.replace("<factory>", "...") for argument in arguments]
    short = f"{name}({', '.join(arguments)}){arrow}"
    if len(short) <= 90:
        return short
    return f"{name}(\n    " + ",\n    ".join(arguments) + f",\n){arrow}"


def _list_arguments(signature: inspect.Signature) -> Iterator[Any]:
    """Yield the arguments of a signature as they are called: without self, with the star of named ones."""
    named = False
    for argument in signature.parameters.values():
        if argument.name in ("self", "cls"):
            continue
        if argument.kind is argument.VAR_POSITIONAL:
            named = True
        if argument.kind is argument.KEYWORD_ONLY and not named:
            named = True
            yield _Star()
        yield argument


class _Star:
    """The star before arguments that must be named."""

    annotation = None

    def __str__(self) -> str:
        return "*"


def write_command_line() -> str:
    """Return the page of all commands with their arguments and options."""
    parts = [
        "# Command line",
        "Every command explains itself with `--help`; this page is made from the same texts. Exit codes: 0"
        " safe or done, 1 error, 2 not safe.",
        *_describe_command("tacita", typer.main.get_command(app)),
    ]
    return "\n\n".join(parts) + "\n"


def _describe_command(name: str, command: Any) -> Iterator[str]:
    inner = getattr(command, "commands", {})
    if not inner:
        yield f"## `{name}`"
        yield _write_help(command.help or "")
        rows = [
            (_name_parameter(each), _write_help(getattr(each, "help", "") or "")) for each in command.params
        ]
        yield _write_table(("argument or option", "means"), rows)
    for word in inner:
        yield from _describe_command(f"{name} {word}", inner[word])


def _name_parameter(parameter: Any) -> str:
    """Return an argument or option of the command line as it is typed."""
    if parameter.param_type_name == "argument":
        return f"`{(parameter.metavar or parameter.name.upper()).strip('[]')}`"
    words = ", ".join(f"`{own}`" for own in (*parameter.opts, *parameter.secondary_opts))
    if parameter.is_flag or not parameter.metavar:
        return words
    return f"{words} `{parameter.metavar}`"


def _write_help(text: str) -> str:
    """Return a text of the command line as Markdown: without marks of colours, options as code."""
    plain = re.sub(r"(?<!\\)\[/?[a-z ]+\]", "", inspect.cleandoc(text)).replace("\\[", "[")
    return re.sub(r"(?<![`\w-])(--[a-z][a-z-]+)", r"`\1`", plain)


def write_methods() -> str:
    """Return the page of methods with their options, and of rules with their arguments."""
    parts = [
        "# Methods and rules",
        "A method is an immutable set of options with `protect(problem, run)`. On the command line options"
        " are `--option NAME=VALUE`; a rule is written as in the examples. This page is made"
        " from the classes.",
    ]
    for name in METHODS:
        cls: Any = method_class(name)
        rows = [(f"`{own.name}`", _write_default(own.default), own.help) for own in options_of(name)]
        link = f"[Its mathematics](../methods/{name}.md)."
        parts += [f"## Method `{name}`", f"`tc.{cls.__name__}`. {cls.does} {cls.choose} {link}"]
        parts.append(_write_table(("option", "default", "means"), rows))
    for name, rule in RULES.items():
        arguments = ", ".join(f"`{argument}`" for argument in argument_names(rule))
        text = f"`tc.{rule.__name__}`, such as `{rule.example}`. {rule.does} Arguments: {arguments}."
        parts += [f"## Rule `{name}`", text + f" [Its definition](../rules.md#{name})."]
    return "\n\n".join(parts) + "\n"


def write_project() -> str:
    """Return the page of all sections and keys of a project file."""
    parts = [
        "# Project file",
        "Sections and keys of `project.toml`, made from the specification that it is the written form of."
        " [Files](../formats.md#projecttoml) has examples.",
    ]
    hints = typing.get_type_hints(Specification)
    for each in dataclasses.fields(Specification):
        kinds = list(_find_sections(hints[each.name]))
        if each.name != "folder":
            title = f"[{each.name}.NAME]" if each.name == "tables" else f"[{each.name}]"
            parts.append(f"## `{title}`")
            parts.append(
                "Keys as in `[table]`, once for each of several linked tables."
                if each.name == "tables"
                else ""
            )
            parts += [part for kind in kinds if each.name != "tables" for part in _describe_section(kind)]
            if each.name == "hierarchies":
                parts.append(
                    'Each key is a name of your own, its value a file, `"found"`, or a table of these keys.'
                )
    return "\n\n".join(filter(None, parts)) + "\n"


def _describe_section(section: type[Any], title: str = "") -> Iterator[str]:
    text, _ = read_docstring(section)
    yield f"{title}{write_markdown(text)}"
    meanings = _collect_meanings(section)
    hints = typing.get_type_hints(section)
    levels = {field: name for name, field in LEVELS.items()}
    rows = []
    for own in dataclasses.fields(section):
        default = own.default if own.default_factory is dataclasses.MISSING else own.default_factory()
        meaning = own.metadata.get("help") or meanings.get(own.name, "")
        # In a list of cells codes stand beside the levels, which have names of their own there.
        key = levels.get(own.name, "DIMENSION") if section is SensitiveCell else own.name
        rows.append((f"`{key}`", _write_type(hints[own.name]), _write_default(default), meaning))
    yield _write_table(("key", "holds", "default", "means"), rows)
    inner: dict[type[Any], list[str]] = {}
    for own in dataclasses.fields(section):
        for kind in _find_sections(hints[own.name]):
            inner.setdefault(kind, []).append(f"`{own.name}`")
    for kind, names in inner.items():
        yield from _describe_section(kind, f"**{', '.join(names)}.** ")


def _collect_meanings(section: type[Any]) -> dict[str, str]:
    """Return what docstrings of a section and of its bases say on single keys."""
    found: dict[str, str] = {}
    for base in reversed(section.__mro__):
        for names, text in list_items(read_docstring(base)[1].get("Attributes", "")).items():
            found.update(dict.fromkeys(names.split(", "), " ".join(write_markdown(text).split())))
    return found


def _find_sections(kind: Any) -> Iterator[type[Any]]:
    """Yield the sections in a type, such as those in a list or in a mapping."""
    if isinstance(kind, type) and issubclass(kind, Section):
        yield kind
    for inner in typing.get_args(kind):
        yield from _find_sections(inner)


def _write_type(kind: Any) -> str:
    """Return in words what a key holds."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(dict.fromkeys(_write_type(own) for own in inner if own is not type(None)))
    if origin is typing.Literal:
        return " or ".join(f'`"{own}"`' for own in inner)
    if origin is tuple or (
        origin is not None and issubclass(origin, typing.Sequence) and origin is not Mapping
    ):
        return "list of " + _write_type(inner[0])
    if origin is not None and issubclass(origin, Mapping):
        return "table of " + _write_type(inner[1])
    words = {str: "text", int: "integer", float: "number", bool: "true or false", Any: "values"}
    return words.get(kind, "table")


def _write_default(value: Any) -> str:
    """Return a default as a project file or the command line would have it."""
    if value is dataclasses.MISSING:
        return "required"
    if value is None or value == () or value == {}:
        return "none"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _write_table(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Return a table of Markdown."""
    lines = [" | ".join(_write_cell(cell) for cell in row) for row in rows]
    return "\n".join(f"| {line} |" for line in (" | ".join(heads), "|".join(["---"] * len(heads)), *lines))


def _write_cell(text: str) -> str:
    """Return text as a cell of a table of Markdown: strokes part columns, unless they stand in code."""
    parts = text.replace("\n", " ").split("`")
    return "`".join(part if at % 2 else part.replace("|", "&#124;") for at, part in enumerate(parts))


PAGES_OF_CODE = {
    "reference/python.md": write_python,
    "reference/command-line.md": write_command_line,
    "reference/methods.md": write_methods,
    "reference/project.md": write_project,
}
