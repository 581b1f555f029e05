"""Options that are small sentences: split at separators outside brackets and quotes."""

from __future__ import annotations

from tacita.core.errors import InputError


def split_text(text: str, at: str) -> list[str]:
    """Return the parts of a method's option between separators outside brackets and quotes, none empty."""
    pieces, depth, quote, start, i = [], 0, "", 0, 0
    while i < len(text):
        letter = text[i]
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter in "()":
            depth += 1 if letter == "(" else -1
        elif depth == 0 and text.startswith(at, i):
            pieces.append(text[start:i])
            i = start = i + len(at)
            continue
        i += 1
    if quote or depth:
        raise InputError(f"'{text}': a {'quote' if quote else 'bracket'} is not closed")
    pieces.append(text[start:])
    return [piece.strip() for piece in pieces if piece.strip()]


def quote_word(text: str) -> str:
    """Return a word of a method's option in quotes, unless it is a plain one."""
    if text.replace("_", "").isalnum():
        return text
    if "'" in text and '"' in text:
        raise InputError(
            "a name with both kinds of quotes cannot be written here", place=text, remedy="rename it"
        )
    return f'"{text}"' if "'" in text else f"'{text}'"


def unquote_word(text: str) -> str:
    """Return a word of a method's option without the quotes around it."""
    bare = text.strip()
    return bare[1:-1] if len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "'\"" else bare
