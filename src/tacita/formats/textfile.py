"""Text files, read whole: one way to find the encoding, one way to say that a file cannot be read."""

from __future__ import annotations

import os
from pathlib import Path

from tacita.core.errors import FormatError


def read_text(path: str | os.PathLike[str], encoding: str | None = None) -> tuple[str, str]:
    """Text of a file, lines ended by ``\\n`` and no byte order mark, and the encoding it was read in.

    Without ``encoding`` that is UTF-16 if the file is marked so, UTF-8, or else cp1252.

    Raises
    ------
    FormatError
        The file cannot be read, or is in no such encoding; the message names the first line that is not.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise FormatError(f"{path}: cannot be read ({error.strerror}); check the path") from None
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
            raise FormatError(f"{path}: the encoding '{candidate}' is unknown; try 'utf-8'") from None
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
        else:
            return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n"), candidate
    raise FormatError(
        f"{path}, line {line}: the bytes are not {' or '.join(candidates)}; name the file's encoding, "
        "or save it in UTF-8"
    )
