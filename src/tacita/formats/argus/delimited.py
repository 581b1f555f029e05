"""Lines of the files that tau-ARGUS writes: codes, which may be quoted, then numbers, then marks."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tacita.core.errors import InputError
from tacita.storage.atomic import replace_file


@dataclass(frozen=True)
class OutputOptions:
    """How an output of tau-ARGUS's kind is written.

    Attributes
    ----------
    status
        ``AS+``: in pivot and code-value files the true values, and the status of each cell. Such files are
        internal.
    levels
        ``HL+``: in SBS files the level of each code after it; the total has 0.
    short
        ``SO+``: intermediate files without the largest contributions.
    quotes
        ``QU+``: quotation marks around every code. Fields that need them have them always.
    decimal
        The decimal sign.
    """

    status: bool = False
    levels: bool = False
    short: bool = False
    quotes: bool = False
    decimal: Literal[".", ","] = "."

    def __post_init__(self) -> None:
        if self.decimal not in (".", ","):
            raise InputError(f"'{self.decimal}' is no decimal sign", remedy="choose the point or the comma")

    def write_number(self, text: str) -> str:
        """Return the text of a number in an output file with the decimal sign that is wanted."""
        return text.replace(".", self.decimal)


def write_lines(
    path: str | os.PathLike[str],
    columns: Sequence[Sequence[str]],
    options: OutputOptions,
    *,
    codes: int,
    separator: str = ",",
    header: Iterable[str] | None = None,
    public: bool = False,
) -> Path:
    """Write the columns of an output file, the first ``codes`` of them codes; return its path."""
    quoted = [_quote_all(column, separator, options.quotes and k < codes) for k, column in enumerate(columns)]
    with (
        replace_file(path, public=public) as temporary,
        temporary.open("w", encoding="utf-8", newline="") as out,
    ):
        if header is not None:
            out.write(separator.join(_quote(name, separator, False) for name in header) + "\n")
        out.writelines(separator.join(line) + "\n" for line in zip(*quoted, strict=True))
    return Path(path)


def _quote_all(texts: Sequence[str], separator: str, always: bool) -> list[str]:
    known = {text: _quote(text, separator, always) for text in set(texts)}
    return [known[text] for text in texts]


def _quote(text: str, separator: str, always: bool) -> str:
    needed = always or any(sign in text for sign in (separator, '"', "\n", "\r")) or text != text.strip()
    return '"' + text.replace('"', '""') + '"' if needed else text
