"""Lines and tokens of the text files of τ-ARGUS: what ``.rda``, ``.arb``, ``.hst`` and ``.grc`` files share.

Tabs are blanks, and blanks around a line mean nothing; empty lines and those that begin with ``//`` are left
out. A token is a text in quotes, without escapes; one of ``, | ( )``; or everything up to the next blank. A
token that begins with ``//`` ends the line. Words in angle brackets are keywords, in any case.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tacita.core.errors import FormatError
from tacita.formats.textfile import read_text

SIGNS = ",|()"
"""Signs that are a token by themselves where a token begins."""


@dataclass(frozen=True)
class Token:
    """A word of a line; one in quotes is never a keyword nor a sign."""

    text: str
    quoted: bool = False

    @property
    def keyword(self) -> str | None:
        """The token as a keyword in capitals, such as ``<NUMERIC>``; None if it is none."""
        named = not self.quoted and self.text.startswith("<") and self.text.endswith(">")
        return self.text.upper() if named and len(self.text) > 2 else None

    def is_sign(self, sign: str) -> bool:
        """Return whether the token is this sign, and not a text in quotes that looks like it."""
        return not self.quoted and self.text == sign


@dataclass(frozen=True)
class Line:
    """A line of a file that holds something: where it stands, its text and its tokens.

    ``place`` is its file and number, for messages.
    """

    place: str
    text: str
    tokens: tuple[Token, ...]

    @property
    def keyword(self) -> str | None:
        """The keyword with which the line begins, in capitals; None if it begins otherwise."""
        return self.tokens[0].keyword if self.tokens else None

    def fault(self, fault: str, remedy: str) -> FormatError:
        """Return the error of a line that does not follow its grammar."""
        return FormatError(fault, place=self.place, remedy=remedy)


@dataclass(frozen=True)
class ArgusText:
    """The lines of a τ-ARGUS text file that hold something, and notes on how it was read."""

    path: Path
    lines: tuple[Line, ...]
    notes: tuple[str, ...] = ()


def read_lines(path: str | os.PathLike[str], ends: str = "") -> ArgusText:
    """Return the lines of a τ-ARGUS text file with their tokens.

    The encoding is UTF-8, or else cp1252 with a note.

    Parameters
    ----------
    ends
        Signs that end a token besides the blank: ``",|()"`` in a batch file, where ``P(10,2)`` is six tokens.
    """
    text, encoding = read_text(path)
    found = []
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw.replace("\t", " ").strip()
        if not line or line.startswith("//"):
            continue
        place = f"{path}, line {number}"
        if "\0" in line:
            raise FormatError(
                "a null character stands here, so that this is no text",
                place=place,
                remedy="Check the file, or take it off.",
            )
        found.append(Line(place, line, split_tokens(line, ends, place)))
    return ArgusText(Path(path), tuple(found), note_encoding(path, encoding))


def note_encoding(path: str | os.PathLike[str], encoding: str) -> tuple[str, ...]:
    """Return a note on a τ-ARGUS file that is not in UTF-8, or nothing."""
    if encoding == "utf-8":
        return ()
    return (f"{Path(path).name} is not UTF-8 and was read as {encoding}",)


def split_tokens(line: str, ends: str = "", place: object = "") -> tuple[Token, ...]:
    """Return the tokens of a line, as the module describes them; ``ends`` as for :func:`read_lines`."""
    tokens: list[Token] = []
    here = 0
    while here < len(line):
        first = line[here]
        if first == " ":
            here += 1
        elif first == '"':
            end = line.find('"', here + 1)
            if end < 0:
                raise FormatError("a quote is opened and not closed", place=place, remedy="Close it.")
            tokens.append(Token(line[here + 1 : end], quoted=True))
            here = end + 1
        elif line.startswith("//", here):
            break
        elif first in SIGNS:
            tokens.append(Token(first))
            here += 1
        else:
            end = here
            while end < len(line) and line[end] != " " and line[end] not in ends:
                end += 1
            tokens.append(Token(line[here:end]))
            here = end
    return tuple(tokens)


def format_token(text: str, place: object = "") -> str:
    """Return a text as a token of a τ-ARGUS file, in quotes where needed; refuse what no token holds."""
    if any(sign in text for sign in "\t\n\r\0") or ('"' in text and _needs_quotes(text)):
        raise FormatError(
            f"{text!r} cannot be written: a token has no tab, line break or null, nor quotes beside blanks",
            place=place,
            remedy="Rename it.",
        )
    return f'"{text}"' if _needs_quotes(text) else text


def format_tokens(texts: Iterable[str], place: object = "") -> str:
    """Return several texts as tokens of one line; see :func:`format_token`."""
    return " ".join(format_token(text, place) for text in texts)


def _needs_quotes(text: str) -> bool:
    first_signs = (*SIGNS, '"', "<", "//")
    blank = any(sign.isspace() for sign in text) or text != text.strip()
    return not text or blank or text.startswith(first_signs)


def find_beside(name: str, *folders: Path) -> Path:
    """Return the path of a file that a τ-ARGUS file names: as given, or else by its bare name in a folder.

    Names may be written as on Windows, with backslashes and in any case. Where there is no such file, its
    place in the first folder is returned, so that reading it says what is missing.
    """
    plain = name.replace("\\", "/")
    bare = plain.rstrip("/").rsplit("/", 1)[-1]
    places = [folder / each for each in dict.fromkeys((plain, bare)) for folder in folders]
    for place in places:
        # These two are false of names that no file can have, where a Path raises.
        if os.path.isfile(place):
            return place
        if os.path.isdir(place.parent) and os.access(place.parent, os.R_OK):
            for other in sorted(place.parent.iterdir()):
                if other.name.casefold() == place.name.casefold() and other.is_file():
                    return other
    return folders[0] / bare
