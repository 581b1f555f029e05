"""Refuses a built site that would load something from another host: python website/outside.py FOLDER"""

from __future__ import annotations

import re
import sys
from pathlib import Path

LOADING = re.compile(
    r"<(?:script|link|img|iframe|source|video|audio|object|embed|use)\b[^>]*>", re.IGNORECASE
)
SOURCE = re.compile(
    r"\b(?:src|srcset|href|data|poster)\s*=\s*[\"']?\s*((?:https?:)?//[^\s\"'>]+)", re.IGNORECASE
)
STYLE = re.compile(r"(?:url\(|@import)\s*[\"']?\s*((?:https?:)?//[^\s\"')]+)", re.IGNORECASE)


def find_outside(text: str) -> list[str]:
    """Return addresses of other hosts that a page or style sheet loads; links to click are none."""
    return [
        *(address for tag in LOADING.findall(text) for address in SOURCE.findall(tag)),
        *STYLE.findall(re.sub(r"<(?:code|pre)\b.*?</(?:code|pre)>", "", text, flags=re.DOTALL)),
    ]


def check_site(folder: Path) -> list[str]:
    """Return what pages and style sheets of a built site would load from other hosts, each with its page."""
    return [
        f"{path.relative_to(folder)}: {address}"
        for path in sorted(folder.rglob("*"))
        if path.suffix in (".html", ".css", ".svg")
        for address in find_outside(path.read_text(encoding="utf-8"))
    ]


if __name__ == "__main__":
    if faults := check_site(Path(sys.argv[1])):
        sys.exit("pages would load from other hosts:\n" + "\n".join(faults))
