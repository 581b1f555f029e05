"""Output of the command line: results on stdout; notes, warnings and errors on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacita.report.record import to_json_values

if TYPE_CHECKING:
    from rich.console import Console


NOTE = "note:"
WARNING = "warning:"
_collected: ContextVar[list[tuple[str, str]] | None] = ContextVar("_collected", default=None)


@contextmanager
def collect_messages() -> Iterator[list[tuple[str, str]]]:
    """Yield a list that gets the sign and text of what the block would print on stderr, for one of many
    tables.
    """
    messages: list[tuple[str, str]] = []
    token = _collected.set(messages)
    try:
        yield messages
    finally:
        _collected.reset(token)


def make_console() -> Console:
    """Return the console on stdout, for results of commands that people read."""
    from rich.console import Console

    return Console(highlight=False)


def make_error_console() -> Console:
    """Return the console on stderr, for everything that is not the result of a command."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def print_message(text: str, sign: str = "", style: str = "") -> None:
    """Print one line on stderr for the user of the command line, whatever characters it holds."""
    if (messages := _collected.get()) is not None:
        messages.append((sign, text))
        return
    from rich.text import Text

    make_error_console().print(Text.assemble((f"{sign} " if sign else "", style), text), soft_wrap=True)


def print_notes(*notes: str) -> None:
    """Print on stderr what the user of the command line should know, a line each."""
    for note in notes:
        print_message(note, NOTE, "yellow")


def print_warnings(*warnings: str) -> None:
    """Print on stderr what the user of the command line may not have meant, a line each."""
    for warning in warnings:
        print_message(warning, WARNING, "bold yellow")


def print_written(path: object, why_internal: str = "") -> None:
    """Print on stderr the name of a file that a command has written, and why it is internal, if it is."""
    print_message(f"{path} (internal: {why_internal})" if why_internal else str(path), "written:", "green")


def describe_files(files: Sequence[Path]) -> str:
    """Return the folder of some files, and their names."""
    return f"{files[0].parent} ({', '.join(path.name for path in files)})"


def print_error(message: str) -> None:
    """Print on stderr why a command failed, and what to do about it."""
    print_message(message, "error:", "bold red")


def print_json(content: dict[str, Any]) -> None:
    """Print a command's answer as one JSON object on stdout; numbers that JSON lacks become null."""
    sys.stdout.write(
        json.dumps(to_json_values(content), allow_nan=False, ensure_ascii=False, indent=2) + "\n"
    )
    sys.stdout.flush()
