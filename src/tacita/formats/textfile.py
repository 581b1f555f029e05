"""Read text files as a whole, in an encoding that is found."""

from __future__ import annotations

import os
from pathlib import Path

from tacita.core.errors import FormatError, MissingFileError


def read_text(path: str | os.PathLike[str], encoding: str | None = None) -> tuple[str, str]:
    """Return the text of a file to be parsed, with plain line ends and no byte order mark, and its encoding.

    Without ``encoding`` that is UTF-16 if the file is marked so, UTF-8, or else cp1252.

    Raises
    ------
    FormatError
        The file cannot be read, or is in no such encoding; the message names the first line that is not.
    """
    try:
        data = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        # A name with a null byte is a ValueError.
        why = getattr(error, "strerror", None) or error
        raise MissingFileError(f"cannot be read ({why})", place=path, remedy="check the path") from None
    if encoding is not None:
        candidates: tuple[str, ...] = (encoding,)
    elif data.startswith((b"\xff\xfe", b"\xfe\xff")):
        candidates = ("utf-16",)
    else:
        candidates = ("utf-8", "cp1252")
    line = 1
    for candidate in candidates:
        try:
            text = data.decode(candidate)
        except LookupError:
            raise FormatError(
                f"the encoding '{candidate}' is unknown", place=path, remedy="try 'utf-8'"
            ) from None
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
        else:
            return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n"), candidate
    raise FormatError(
        f"the bytes are not {' or '.join(candidates)}",
        place=f"{path}, line {line}",
        remedy="name the file's encoding, or save it in UTF-8",
    )
