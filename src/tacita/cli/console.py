"""Where words go: results to stdout, progress, notes and errors to stderr."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from tacita.report.record import finite

if TYPE_CHECKING:
    from rich.console import Console


def out() -> Console:
    """For results that people read."""
    from rich.console import Console

    return Console(highlight=False)


def err() -> Console:
    """For everything that is not the result."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def say(text: str, sign: str = "", style: str = "") -> None:
    """One line on stderr, whatever characters it holds."""
    from rich.text import Text

    err().print(Text.assemble((f"{sign} " if sign else "", style), text), soft_wrap=True)


def report_error(message: str) -> None:
    """What went wrong and what to do about it."""
    say(message, "error:", "bold red")


def print_json(content: dict[str, Any]) -> None:
    """Exactly one JSON object on stdout; numbers that JSON does not know become null."""
    sys.stdout.write(json.dumps(finite(content), allow_nan=False, ensure_ascii=False, indent=2) + "\n")
    sys.stdout.flush()
